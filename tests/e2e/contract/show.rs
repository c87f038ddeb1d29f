//! `show`: the report of a run, and of one iteration its prompt, output, checks and diff.

use loop_harness::{COMMIT, PROMISE, Sandbox};

/// Two calls: the first is found out, the second is true.
fn completed() -> Sandbox {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "echo \"line $LOOP_CALL\" >> work; [ \"$LOOP_CALL\" = 2 ] && echo x > new-file; {COMMIT}; echo \"I am call $LOOP_CALL\"; {PROMISE}"
    ));
    let check = "tests=echo \"looked at $(wc -l < work 2>/dev/null || echo 0) lines\"; [ -f new-file ]";
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", check]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2]);
    sandbox
}

#[test]
fn show_the_whole_run_is_a_report() {
    let sandbox = completed();
    let report = sandbox.run(&["show"]).exits(0).out;
    for part in [
        "# ralph: completed",
        "- input: build it",
        "- iterations: 2, calls: 2",
        "## Phases",
        "## Checks",
        "## Changes",
        "- new-file",
        "- work",
        "## Commits",
        " call 1\n",
        " call 2\n",
        "## Calls",
        "- 1: WORK iteration 1, ",
        ", not done\n",
        "- 2: WORK iteration 2, ",
        ", passed\n",
    ] {
        assert!(report.contains(part), "no {part:?} in\n{report}");
    }
    let object: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["show", "--json"]).exits(0).out).expect("JSON");
    assert_eq!(object["report"].as_str().expect("text"), report);
}

#[test]
fn show_the_report_is_asked_for() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=exit 1"]).exits(4);
    assert_eq!(done.out, "");
    let report = sandbox.run(&["show"]).exits(0).out;
    assert!(report.starts_with("# ralph: halted"), "{report}");
    assert!(report.contains("## Open"), "{report}");
}

#[test]
fn show_an_iteration_has_its_parts() {
    let sandbox = completed();
    let prompt = sandbox.run(&["show", "2", "--prompt"]).exits(0).out;
    assert_eq!(prompt.trim_end(), sandbox.prompt(2).trim_end());
    let output = sandbox.run(&["show", "2", "--output"]).exits(0).out;
    assert!(output.starts_with("I am call 2\n"), "{output}");
    let checks = sandbox.run(&["show", "1", "--checks"]).exits(0).out;
    assert!(checks.contains("\nlooked at 1 lines"), "{checks}");
    let all = sandbox.run(&["show", "1"]).exits(0).out;
    for part in ["call 1 begins", "not done", "more: loop show 1 --prompt | --output | --checks | --diff"] {
        assert!(all.contains(part), "no {part:?} in\n{all}");
    }
    sandbox.run(&["show", "3"]).exits(2).says("calls are numbered 1 to 2");
    sandbox.run(&["show", "--diff"]).exits(2).says("which call?");
    let object: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["show", "1", "--json"]).exits(0).out).expect("JSON");
    assert_eq!((&object["call"], &object["phase"]), (&1.into(), &"WORK".into()));
}

/// The diff is between the trees that were recorded, whatever the files are like today.
#[test]
fn show_the_diff_of_an_iteration_is_what_that_call_changed() {
    let sandbox = completed();
    sandbox.write("work", "something else altogether\n");
    sandbox.commit("later");
    let first = sandbox.run(&["show", "1", "--diff"]).exits(0).out;
    assert!(first.contains("+line 1") && !first.contains("line 2") && !first.contains("new-file"), "{first}");
    let second = sandbox.run(&["show", "2", "--diff"]).exits(0).out;
    assert!(second.contains("+line 2") && second.contains("+++ b/new-file"), "{second}");
    assert!(!second.contains("+line 1") && !second.contains("something else"), "{second}");
}

#[test]
fn show_a_diff_that_git_has_forgotten_is_named() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" > loose; {PROMISE}"));
    sandbox.run(&["run", "it", "-n", "2", "--agent-cmd", &agent, "--check", "tests=true"]);
    sandbox.run(&["show", "1", "--diff"]).exits(0).says("+1");
    let snapshots = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/loop"]);
    for name in snapshots.lines() {
        sandbox.git(&["update-ref", "-d", name]);
    }
    sandbox.git(&["gc", "-q", "--prune=now"]);
    sandbox
        .run(&["show", "1", "--diff"])
        .exits(2)
        .says("is not in the repository any more")
        .says("loop restore");
}

/// A call that was cut short was measured by nobody.
#[test]
fn show_a_call_without_evidence_has_no_diff() {
    let sandbox = Sandbox::new();
    let at = sandbox.fifo("at");
    let agent = sandbox.agent("echo here > \"$OUT/at\"; exec sleep 600");
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]);
    assert_eq!(at.hear(), "here");
    sandbox.run(&["pause"]).exits(0);
    running.wait().exits(5);
    sandbox.run(&["show", "1", "--diff"]).exits(2).says("no tree was recorded after call 1");
}

#[test]
fn show_reading_where_there_is_nothing_to_read_is_no_mistake() {
    let sandbox = Sandbox::new();
    for command in ["show", "log", "why", "restore", "status", "runs", "answer", "evidence"] {
        sandbox.run(&[command]).exits(0);
    }
    assert_eq!(sandbox.run(&["log", "--json"]).exits(0).out.trim(), "{\"run\":null}");
    for command in [&["answer", "reset"][..], &["guide", "x"], &["approve"], &["resume"]] {
        sandbox.run(command).exits(2).says("loop run");
    }
}
