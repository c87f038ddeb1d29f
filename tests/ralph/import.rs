//! A `.claude-task-state.json` of another controller is read once, by `run`, `resume` and `init`.

use super::session::{CHECK, DESIGN, PROMISE, Sandbox};
use serde_json::{Value, json};

const NAME: &str = "DESIGN-20260101-000000.md";
const FILE: &str = ".claude-task-state.json";

fn state(status: &str) -> Value {
    json!({
        "designFile": NAME, "currentIteration": 3, "maxIterations": 5, "completionPromise": "SHIPPED",
        "status": status, "validation": {}, "prompt": "do it", "startedAt": "2026-01-01T00:00:00Z",
        "filesModified": [], "lastValidation": { "testsPass": true },
    })
}

fn sandbox(state: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(NAME, DESIGN);
    sandbox.commit("a design");
    sandbox.write(FILE, state.to_string());
    sandbox
}

fn kept(sandbox: &Sandbox, folder: &str) -> Option<Value> {
    let run = sandbox.status()["run"].as_str().expect("a run").to_owned();
    let path = sandbox.root().join("home/runs").join(run).join(folder).join(FILE);
    Some(serde_json::from_str(&std::fs::read_to_string(path).ok()?).expect("JSON"))
}

#[test]
fn a_loop_goes_on_where_another_controller_left_it() {
    let told = state("running");
    let sandbox = sandbox(&told);
    let agent = sandbox.agent("date +%N > work; git add -A; git commit -qm work");
    let words = ["--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK];
    let done = sandbox.run(&[&["run"], &words[..]].concat());
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("imported from"), "{done:?}");
    let status = sandbox.status();
    assert_eq!((&status["iterations_total"], &status["status"]), (&json!(5), &json!("capped")));
    assert!(sandbox.noted("prompt-4").contains("Iteration 4 of at most 5."));
    assert!(sandbox.noted("prompt-4").contains("<promise>SHIPPED</promise>"));
    assert!(sandbox.read(NAME).contains("LOCKED"));
    assert_eq!(kept(&sandbox, "imported"), Some(told));

    // From then on the file is output.
    sandbox.write(FILE, state("paused").to_string());
    assert_eq!(sandbox.run(&[&["run", "--max", "6"], &words[..]].concat()).code, 6);
    assert_eq!(sandbox.status()["iterations_total"], 6);
}

#[test]
fn each_status_is_gone_on_with_as_it_was() {
    for (told, status, code) in
        [("paused", "paused", 5), ("stuck", "halted", 4), ("max_iterations", "capped", 6)]
    {
        let mut told = state(told);
        told["currentIteration"] = json!(5);
        let sandbox = sandbox(&told);
        let done = sandbox.run(&["init", NAME, "--preset", "ralph", "--agent-cmd", "true", "--check", CHECK]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(sandbox.status()["status"], status);
        if code != 5 {
            assert_eq!(sandbox.run(&["resume"]).code, code);
        }
    }
}

#[test]
fn a_session_may_take_it_over() {
    let sandbox = sandbox(&state("running"));
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook", "--session", "one", "--check", CHECK]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("Iteration 4 of at most 5."), "{done:?}");
    sandbox.fulfil();
    assert_eq!(sandbox.stop("one", false, &PROMISE.replace("FEATURE_COMPLETE", "SHIPPED")), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn tools_count_as_changed_from_when_it_was_taken_over() {
    let sandbox = sandbox(&state("running"));
    let tools = sandbox.user.join(".nvm/versions/node");
    std::fs::create_dir_all(&tools).expect("folders");
    // Both are newer than the beginning that the file tells of.
    for name in ["before.js", "after.js"] {
        std::fs::write(tools.join(name), "").expect("a tool");
    }
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook", "--session", "one", "--check", CHECK]);
    assert_eq!(done.code, 0, "{done:?}");
    sandbox.fulfil();
    std::fs::write(tools.join("after.js"), "1").expect("a change");
    let told = sandbox.stop("one", false, &PROMISE.replace("FEATURE_COMPLETE", "SHIPPED"));
    let told = told.expect("an answer")["reason"].to_string();
    assert!(told.contains("after.js changed since the run began"), "{told}");
    assert!(!told.contains("before.js"), "{told}");
}

#[test]
fn resume_finds_it_without_being_told_what_it_is() {
    let sandbox = sandbox(&state("running"));
    sandbox.write("Makefile", "test:\n\tfalse\n");
    sandbox
        .write(".loop/workflow.toml", "extends = \"ralph\"\n[agent]\ncli = \"command\"\nargs = [\"true\"]\n");
    sandbox.commit("a project");
    let done = sandbox.run(&["resume"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert_eq!(sandbox.status()["iterations_total"], 5);
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_changed() {
    let mut told = state("running");
    told["maxIterations"] = json!("many");
    let sandbox = sandbox(&told);
    let words = ["--preset", "ralph", "--agent-cmd", "true", "--check", CHECK];
    for command in [&["run", NAME][..], &["init", NAME]] {
        let done = sandbox.run(&[command, &words].concat());
        assert_eq!(done.code, 8, "{done:?}");
        assert!(
            done.err.contains(".claude-task-state.json: maxIterations is not a whole number"),
            "{done:?}"
        );
    }
    assert_eq!(sandbox.run(&["resume"]).code, 8);
    assert_eq!(sandbox.state_file(), told);
    assert_eq!(sandbox.read(NAME), DESIGN);
    assert_eq!(sandbox.status(), json!({ "run": null }));
    // `--fresh` leaves the past alone, and a copy of it with the run.
    let done = sandbox.run(&[&["init", NAME, "--fresh"], &words[..]].concat());
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(kept(&sandbox, "before"), Some(told));
}

#[test]
fn a_loop_on_another_design_is_a_question_and_one_that_is_over_is_none() {
    let mut told = state("running");
    told["designFile"] = json!("DESIGN-20250101-000000.md");
    let sandbox = sandbox(&told);
    let words = ["init", NAME, "--preset", "ralph", "--agent-cmd", "true", "--check", CHECK];
    let done = sandbox.run(&words);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.err.contains("unfinished loop on DESIGN-20250101-000000.md"), "{done:?}");
    assert_eq!(sandbox.state_file(), told);
    for over in ["cancelled", "completed"] {
        sandbox.write(FILE, state(over).to_string());
        let done = sandbox.run(&[&words[..], &["--fresh"]].concat());
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(sandbox.status()["iterations_total"], 0);
    }
}
