//! Hints are followed in every test by the harness. Here a hint that does not work is caught, and the
//! hints of situations that no other test brings about are printed.

use loop_harness::hints::hints;
use loop_harness::{PROMISE, Sandbox};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_hint_that_does_not_work_is_caught() {
    if !loop_harness::hints::can_follow() {
        return loop_harness::skipped("hints", "this machine has no namespaces");
    }
    let sandbox = Sandbox::new();
    for (hint, works) in [
        ("loop frobnicate", false),
        ("loop status --no-such-flag", false),
        ("loop status, or loop demo", false),
        ("loop run --check", false),
        ("loopp status", false),
        ("loop status", true),
        ("git log --oneline", true),
    ] {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            loop_harness::hints::follow(&sandbox, &["status"], 0, &format!("next: {hint}\n"));
        }));
        assert_eq!(caught.is_ok(), works, "{hint}");
    }
}

#[test]
fn hints_are_found_wherever_they_stand() {
    let out = "{\"next_step\": \"loop answer reset\"}\n";
    let err = "loop: no check\nnext: loop run it --check tests=\"npm test\"\n  or: loop run it --unverified\n\
               saved; continue with: loop run\nthe next: thing\n";
    let expected = [
        "loop run it --check tests=\"npm test\"",
        "loop run it --unverified",
        "loop run",
        "loop answer reset",
    ];
    assert_eq!(hints(out, err), expected);
}

/// Two runs that wait for something: no hint may leave open which one it means.
#[test]
fn with_two_unfinished_runs_every_hint_names_its_run() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    for (input, place) in [("first", "."), ("second", "--worktree")] {
        let mut words = vec!["run", input, "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"];
        words.extend((place != ".").then_some(place));
        let done = sandbox.run(&words).exits(6);
        assert!(hints(&done.out, &done.err)[0].starts_with("loop run --max 11"), "{}", done.err);
    }
    for line in sandbox.run(&["runs", "--json"]).exits(0).out.lines() {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(id) = row["run"].as_str() else { continue };
        let status = sandbox.run(&["status", "--run", id]).exits(0);
        let hint = &hints(&status.out, &status.err)[0];
        assert!(hint.ends_with(&format!("--run {}", &id[..8])), "{hint}");
    }
}
