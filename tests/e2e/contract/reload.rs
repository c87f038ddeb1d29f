//! A run keeps the workflow it was opened with; `--reload` and flags with values are recorded acts of
//! a person.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox};

const FILE: &str = ".loop/workflow.toml";

/// A run that is capped after one iteration of a workflow that a file says.
fn capped(extra: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, format!("extends = \"ralph\"\n[limits]\niterations = 1\n{extra}"));
    sandbox.commit("a workflow");
    let agent =
        sandbox.agent(&format!("date +%N > work; {COMMIT}; if [ \"$LOOP_CALL\" -gt 2 ]; then {PROMISE}; fi"));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(6);
    sandbox
}

#[test]
fn reload_a_changed_file_is_said_and_not_taken() {
    let sandbox = capped("");
    sandbox.run(&["run"]).exits(6);
    assert!(!sandbox.run(&["run"]).err.contains("has changed"), "nothing has");
    sandbox
        .write(FILE, "extends = \"ralph\"\n[limits]\niterations = 9\nusd = 3\n[agent]\ntimeout = \"7m\"\n");
    sandbox.commit("other limits");
    for command in ["run", "resume"] {
        let done = sandbox.run(&[command]).exits(6);
        assert!(
            done.err.contains("the workflow file has changed: agent.timeout, limits.iterations, limits.usd"),
            "{}",
            done.err
        );
        assert!(done.err.contains("--reload"), "{}", done.err);
    }
    assert_eq!(sandbox.calls(), [1]);
}

#[test]
fn reload_takes_the_file_as_a_recorded_act() {
    for command in ["run", "resume"] {
        let sandbox = capped("");
        sandbox.write(
            FILE,
            "extends = \"ralph\"\n[limits]\niterations = 9\n[checks.tests]\nrun = \"echo from-the-file\"\n",
        );
        sandbox.commit("another limit");
        sandbox.run(&[command, "--reload"]).exits(0).says("changed: limits.iterations");
        assert_eq!(sandbox.calls(), [1, 2, 3]);
        let reloaded: Vec<_> = sandbox.events().into_iter().filter(|it| it["kind"] == "reloaded").collect();
        assert_eq!(reloaded.len(), 1);
        assert!(reloaded[0]["event"].to_string().contains("limits.iterations"), "{reloaded:?}");
        sandbox.run(&["verify"]).exits(0);
        sandbox.run(&["log"]).exits(0).says("changed by a person: limits.iterations");
        // What was given beside the file still wins over the file.
        assert!(!sandbox.run(&["show", "3", "--checks"]).exits(0).out.contains("from-the-file"));
    }
}

#[test]
fn reload_refuses_what_a_run_that_has_begun_cannot_take() {
    let sandbox = capped("");
    let id = sandbox.status()["run"].as_str().expect("an id").to_owned();
    for (text, why) in [
        ("extends = \"ralph\"\n[limits]\niteratoins = 9\n", "did you mean \"iterations\"?"),
        ("extends = \"tdd\"\n", "another workflow"),
        (
            "extends = \"ralph\"\n[[phase]]\nname = \"MORE\"\nafter = \"WORK\"\nprompt = \"x\"\n",
            "other phases",
        ),
    ] {
        sandbox.write(FILE, text);
        sandbox.commit("a change");
        sandbox.run(&["run", "--reload"]).exits(2).says(why);
        sandbox.run(&["run", "--run", &id]).exits(6);
    }
    // Without the id, the file would say which workflow is meant, and it describes another one.
    sandbox.write(FILE, "extends = \"tdd\"\n");
    sandbox.commit("a change");
    let hint = format!("next: loop resume --run {}\n", &id[..8]);
    sandbox.run(&["run", "--reload"]).exits(2).says(&hint);
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&["verify"]).exits(0);
}

/// A run that spent what it may goes on when it may spend more; the value is recorded.
#[test]
fn reload_a_higher_limit_lets_it_go_on() {
    let sandbox = Sandbox::new();
    let agent =
        sandbox.agent(&format!("date +%N > work; {COMMIT}; if [ \"$LOOP_CALL\" -gt 1 ]; then {PROMISE}; fi"));
    // The first check alone takes longer than the whole run may.
    let check = "tests=i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
    let done = sandbox.run(&["run", "it", "--time", "1ms", "--agent-cmd", &agent, "--check", check]).exits(5);
    assert!(
        done.err.contains("the time limit of") && done.err.contains("next: loop run --time"),
        "{}",
        done.err
    );
    assert_eq!(sandbox.status()["status"], "stopped");
    sandbox.run(&["run"]).exits(5);
    sandbox.run(&["run", "--time", "1h"]).exits(0).says("changed: limits.time");
    assert_eq!(sandbox.status()["budget"]["seconds_limit"], 3600);
}

#[test]
fn reload_flags_change_what_a_run_may_change_and_nothing_else() {
    let sandbox = capped("");
    sandbox.run(&["run", "--tokens", "100"]).exits(2).says("does not report what it uses");
    sandbox.run(&["run", "--budget", "5"]).exits(2).says("call_usd");
    sandbox.run(&["run", "--unverified"]).exits(2).says("--unverified is fixed");
    let refused = sandbox.run(&["run", "--promise", "OTHER"]).exits(2).says("--promise is fixed");
    let hint = refused.err.lines().find(|it| it.starts_with("next: loop run ")).unwrap_or_default();
    assert!(hint.contains("--agent-cmd ") && hint.ends_with(" --promise OTHER --fresh"), "{}", refused.err);
    sandbox.run(&["run", "--check", "tets=true"]).exits(2).says("did you mean \"tests\"?");
    sandbox.run(&["run", "--agent", "cluade"]).exits(2).says("did you mean \"claude\"?");
    sandbox.run(&["run", "--time", "2h", "--notify", "true"]).exits(6).says("changed: limits.time, notify");
    assert_eq!(sandbox.status()["budget"]["seconds_limit"], 7200);
    sandbox.run(&["run", "--max", "9", "--check", "tests=echo other; true"]).exits(0);
    assert!(sandbox.run(&["show", "3", "--checks"]).exits(0).out.contains("other"));
}
