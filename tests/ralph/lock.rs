//! What a run does with its design: which one it takes, how it locks it, what it says about it.

use super::session::{CHECK, DESIGN, Sandbox};
use serde_json::json;

const OLD: &str = "DESIGN-20260101-000000.md";
const YOUNG: &str = "DESIGN-20260102-000000.md";

#[test]
fn rt01_without_a_design_nothing_begins() {
    let sandbox = Sandbox::new();
    for command in ["run", "next"] {
        let done =
            sandbox.run(&[command, "--preset", "ralph", "--agent-cmd", "true", "--check", "tests=true"]);
        assert_eq!(done.code, 2, "{done:?}");
    }
    assert!(!sandbox.has(".claude-task-state.json"));
    assert_eq!(sandbox.status(), json!({ "run": null }));
}

#[test]
fn rt02_the_newest_design_is_taken_unless_one_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write(YOUNG, DESIGN);
    sandbox.write(OLD, DESIGN);
    let init = |name: &[&str]| {
        sandbox.run(&[&["init", "--preset", "ralph", "--hook", "--check", CHECK], name].concat())
    };
    assert_eq!(init(&[]).code, 0);
    assert_eq!(sandbox.state_file()["designFile"], YOUNG);
    sandbox.run(&["cancel", "--yes"]);
    assert_eq!(init(&[OLD]).code, 0);
    assert_eq!(sandbox.state_file()["designFile"], OLD);
}

#[test]
fn rt03_a_run_locks_its_design_and_says_where_it_stands() {
    let sandbox = Sandbox::new();
    sandbox.write(OLD, DESIGN);
    let agent = sandbox.agent("cp .claude-task-state.json $OUT/state.json");
    let open = ["--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK];
    assert_eq!(sandbox.run(&[&["init", OLD], &open[..]].concat()).code, 0);
    let locked =
        DESIGN.replace("# Say hello\n", "# Say hello\n\n**Status**: LOCKED ✅ - Ready for Implementation\n");
    assert_eq!(sandbox.read(OLD), locked);
    let mut state = sandbox.state_file();
    assert!(state["prompt"].as_str().is_some_and(|it| it.contains(OLD)), "{state}");
    assert!(state["startedAt"].as_str().is_some_and(|it| it.ends_with('Z')), "{state}");
    (state["prompt"], state["startedAt"]) = (json!(null), json!(null));
    let expected = json!({
        "designFile": OLD, "currentIteration": 0, "maxIterations": 25,
        "completionPromise": "FEATURE_COMPLETE", "status": "initializing", "validation": {},
        "prompt": null, "startedAt": null, "filesModified": [], "lastValidation": {},
    });
    assert_eq!(state, expected);

    assert_eq!(sandbox.run(&[&["next", OLD], &open[..]].concat()).code, 5);
    let working: serde_json::Value = serde_json::from_str(&sandbox.noted("state.json")).expect("JSON");
    assert_eq!((&working["status"], &working["currentIteration"]), (&json!("running"), &json!(0)));
    let after = sandbox.state_file();
    let gone = json!({ "testsPass": false, "buildSucceeds": null, "gitClean": true });
    for (field, moment) in [("validation", "lastRun"), ("lastValidation", "timestamp")] {
        let mut known = after[field].clone();
        known.as_object_mut().expect("an object").remove(moment).expect("a moment");
        assert_eq!(known, gone);
    }
    assert_eq!(after["currentIteration"], 1);
}

#[test]
fn rt04_the_limit_takes_both_ways_of_writing_and_only_numbers() {
    let sandbox = Sandbox::new();
    sandbox.write(OLD, DESIGN);
    let init = |max: &[&str]| {
        sandbox.run(&[&["init", "--preset", "ralph", "--hook", "--fresh", "--check", CHECK], max].concat())
    };
    for written in [&["--max=30"][..], &["--max", "30"], &["-n", "30"]] {
        assert_eq!(init(written).code, 0);
        assert_eq!(sandbox.state_file()["maxIterations"], 30);
    }
    for wrong in ["--max=0", "--max=-1", "--max=abc", "--max-iterations=3"] {
        assert_eq!(init(&[wrong]).code, 2, "{wrong}");
    }
}

#[test]
fn rt05_the_type_of_the_task_makes_the_promise() {
    let types = [
        ("Feature", "FEATURE_COMPLETE"),
        ("Bug Fix", "BUG_FIXED"),
        ("Testing", "TESTS_COMPLETE"),
        ("Performance", "OPTIMIZED"),
        ("Refactoring", "REFACTORED"),
        ("Security", "SECURITY_FIXED"),
        ("Documentation", "DOCS_COMPLETE"),
        ("API", "API_COMPLETE"),
        ("API Testing", "TESTS_COMPLETE"),
        ("none", "TASK_COMPLETE"),
    ];
    let sandbox = Sandbox::new();
    for (kind, promise) in types {
        sandbox.write(OLD, DESIGN.replace("Feature", kind));
        sandbox.run(&["init", "--preset", "ralph", "--hook", "--fresh", "--check", CHECK]);
        assert_eq!(sandbox.state_file()["completionPromise"], promise, "{kind}");
    }
    sandbox.run(&[
        "init",
        "--preset",
        "ralph",
        "--hook",
        "--fresh",
        "--check",
        CHECK,
        "--promise",
        "SHIPPED",
    ]);
    assert_eq!(sandbox.state_file()["completionPromise"], "SHIPPED");
}

#[test]
fn rt27_the_prompt_points_at_the_design_and_repeats_none_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write(OLD, DESIGN);
    let agent = sandbox.agent("true");
    sandbox.run(&["next", OLD, "--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK]);
    let hooked = {
        let sandbox = Sandbox::new();
        sandbox.write(OLD, DESIGN);
        sandbox.run(&["init", "--preset", "ralph", "--hook", "--check", CHECK]).out
    };
    for prompt in [sandbox.noted("prompt-1"), hooked] {
        let lines = prompt.lines().count();
        assert!((40..=100).contains(&lines), "{lines} lines");
        assert!(
            prompt.contains(OLD) && prompt.contains("\n<promise>FEATURE_COMPLETE</promise>\n"),
            "{prompt}"
        );
        for requirement in ["unmistakable", "says hello", "Say hello"] {
            assert!(!prompt.contains(requirement), "{prompt}");
        }
    }
}

#[test]
fn rt18_a_promise_hears_which_criteria_are_open() {
    let sandbox = Sandbox::new();
    let boxes: String =
        (1..=7).map(|it| format!("- [{}] number {it}\n", if it < 6 { 'x' } else { ' ' })).collect();
    sandbox.write(OLD, DESIGN.replace("- [ ] hello.txt says hello\n", &boxes));
    let agent = sandbox
        .agent("echo x >> work; git add -A; git commit -qm w; echo '<promise>FEATURE_COMPLETE</promise>'");
    let done = sandbox.run(&[
        "run",
        OLD,
        "--preset",
        "ralph",
        "--agent-cmd",
        &agent,
        "--check",
        "tests=true",
        "-n",
        "2",
    ]);
    assert_eq!(done.code, 6, "{done:?}");
    let prompt = sandbox.noted("prompt-2");
    let named: Vec<&str> = prompt.lines().filter(|it| it.contains("not ticked")).collect();
    let criteria = [6, 7].map(|it| format!("- not ticked in {OLD}: number {it}"));
    assert_eq!(named[0], "- acceptance criteria not ticked: 2");
    assert_eq!(named[1..], criteria);
}

#[test]
fn an_edit_of_a_locked_design_is_noticed_and_a_tick_is_none() {
    for (script, halts, code, noticed) in [
        ("sed -i 's/\\[ \\]/[x]/' DESIGN*", false, 0, false),
        ("sed -i 's/unmistakable/faint/; s/\\[ \\]/[x]/' DESIGN*", false, 0, true),
        ("sed -i 's/unmistakable/faint/; s/\\[ \\]/[x]/' DESIGN*", true, 4, true),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(OLD, DESIGN);
        if halts {
            sandbox.write(".loop/workflow.toml", "extends = \"ralph\"\ninput = { halt_on_edit = true }\n");
        }
        sandbox.commit("a design");
        let agent = sandbox.agent(&format!(
            "{script}; echo hello > hello.txt; git add -A; git commit -qm w; echo '<promise>FEATURE_COMPLETE</promise>'"
        ));
        let done = sandbox.run(&["run", OLD, "--agent-cmd", &agent, "--check", CHECK, "-n", "3"]);
        assert_eq!(done.code, code, "{done:?}");
        let log = sandbox.run(&["log", "--json"]).out;
        assert_eq!(log.contains("was changed beyond its checkboxes"), noticed, "{log}");
    }
}
