//! Agents that say more than is so. Nothing that one writes completes a run; only checks, a clean
//! tree and ticked criteria do, and even those only together with a promise.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};

const FAILING: &str = "tests=echo the moon is not cheese; exit 1";

#[test]
fn g21_a_liar_without_progress_is_halted() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox
        .run(&["run", "build it", "--agent-cmd", &agent, "--check", FAILING])
        .exits(4)
        .says("halted: WORK: no progress in 2 iterations: tests: exit 1");
    let status = sandbox.status();
    assert_eq!(status["status"], "halted");
    assert_eq!(status["verified"], false, "nothing is proven before the end");
    assert_eq!(status["question"]["kind"], "breaker");
    assert_eq!(status["calls_total"], 2, "two iterations without progress are enough");
    sandbox.assert_nothing_runs();
}

/// The error differs each time and something is committed each time, so only the cap ends it.
#[test]
fn rt32_a_progressing_liar_gets_25_calls_each_a_process_of_its_own() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" > step; {COMMIT}; {PROMISE}"));
    let check = "tests=tr 0-9 a-j < step; exit 1";
    sandbox
        .run(&["run", "build it", "--agent-cmd", &agent, "--check", check])
        .exits(6)
        .says("loop run --max");
    assert_eq!(sandbox.calls(), (1..=25).collect::<Vec<u32>>());
    let mut processes: Vec<String> = sandbox.notes("starts");
    processes.iter_mut().for_each(|it| *it = it.split(' ').nth(1).expect("a pid").to_owned());
    processes.sort();
    processes.dedup();
    assert_eq!(processes.len(), 25, "each call is a process of its own");
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"capped".into(), &25.into()));
    sandbox.run(&["run", "build it"]).exits(6);
    assert_eq!(sandbox.calls().len(), 25, "a capped run makes no call");
    sandbox.run(&["run", "build it", "--max", "27"]).exits(6);
    assert_eq!(sandbox.calls(), (1..=27).collect::<Vec<u32>>());
    sandbox.assert_nothing_runs();
}

#[test]
fn ralph_a_promise_in_the_last_turn_counts() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "echo \"$LOOP_CALL\" > step; {COMMIT}; [ \"$LOOP_CALL\" = 3 ] && {{ {PROMISE}; }}; exit 0"
    ));
    sandbox
        .run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=grep 3 step", "-n", "3"])
        .exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn rt10_a_promise_that_holds_completes_in_that_turn() {
    let sandbox = Sandbox::new();
    let design = "# Build it\n\n**Task Type**: Feature\n\n## Acceptance Criteria\n\n- [ ] it is there\n";
    sandbox.write("DESIGN-1.md", design);
    sandbox.commit("a design");
    let agent = sandbox.agent(&format!(
        "ls .claude-task-state.json >> $OUT/mirror\nsed -i 's/\\[ \\]/[x]/' DESIGN-1.md; touch it; {COMMIT}\n\
         echo '<promise>FEATURE_COMPLETE</promise>'"
    ));
    sandbox.run(&["run", "--agent-cmd", &agent, "--check", "tests=test -f it"]).exits(0);
    let report = sandbox.run(&["show"]).exits(0).out;
    assert_eq!(sandbox.notes("mirror"), [".claude-task-state.json"]);
    assert!(report.contains("iterations: 1"), "{report}");
    assert!(report.contains("tests passed"), "{report}");
    assert!(!sandbox.project.join(".claude-task-state.json").exists());
    assert!(sandbox.read("DESIGN-1.md").contains("[x]"));
    assert_eq!(sandbox.calls(), [1]);
    assert_eq!(sandbox.status()["verified"], true);
}

#[test]
fn rt11_the_next_prompt_shows_what_failed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", FAILING, "-n", "2"]).exits(6);
    assert!(!sandbox.prompt(1).contains("the moon is not cheese"));
    let second = sandbox.prompt(2);
    assert!(second.contains("the moon is not cheese"), "{second}");
    assert!(second.contains("exit 1"), "{second}");
    assert_eq!(sandbox.status()["iterations_total"], 2);
}

#[test]
fn rt13_an_untracked_file_keeps_it_from_completing() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > \"stray $LOOP_CALL.rs\"; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true", "-n", "2"]).exits(6);
    assert!(sandbox.prompt(2).contains("uncommitted: stray 1.rs"), "{}", sandbox.prompt(2));
    let staged = sandbox.agent(&format!("echo x > other.rs; git add -A; {PROMISE}"));
    sandbox
        .run(&["run", "again", "--agent-cmd", &staged, "--check", "tests=true", "-n", "1", "--allow-dirty"])
        .exits(6);
    let ignored =
        sandbox.agent(&format!("echo '*.rs' > .gitignore; git rm -q --cached other.rs; {COMMIT}; {PROMISE}"));
    sandbox
        .run(&[
            "run",
            "third",
            "--agent-cmd",
            &ignored,
            "--check",
            "tests=test -f .gitignore",
            "--allow-dirty",
        ])
        .exits(0);
}

#[test]
fn rt16_a_promise_may_have_air_inside() {
    for promise in ["<promise>  TASK_COMPLETE </promise>", "<promise>\\nTASK_COMPLETE\\n</promise>"] {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; printf 'done\\n{promise}\\n'"));
        sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    }
}

#[test]
fn rt18_open_criteria_keep_it_from_completing_and_are_listed() {
    let sandbox = Sandbox::new();
    let boxes =
        "- [x] one\n- [x] two\n- [x] three\n- [x] four\n- [x] five\n- [ ] six is round\n- [ ] seven sings\n";
    sandbox.write("DESIGN-1.md", format!("# It\n\n## Acceptance Criteria\n\n{boxes}"));
    sandbox.commit("a design");
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "--agent-cmd", &agent, "--check", "tests=true", "-n", "2"]).exits(6);
    let second = sandbox.prompt(2);
    for line in ["acceptance criteria not ticked: 2", "DESIGN-1.md: six is round", "DESIGN-1.md: seven sings"]
    {
        assert!(second.contains(line), "no {line:?} in\n{second}");
    }
}

#[test]
fn rt19_the_same_error_three_times_is_stuck() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let done = sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", FAILING]).exits(4);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    let done = done.says("the same error 3 times in a row");
    assert!(done.err.contains("next: loop answer"), "{}", done.err);
}

#[test]
fn rt29_every_line_of_the_validation_block_is_run() {
    let sandbox = Sandbox::new();
    let design = "# It\n\n## Validation Checks\n\n```bash\n# a comment\n./scripts/test.sh\nmake check\n```\n";
    sandbox.write("DESIGN-1.md", design);
    sandbox.write("scripts/test.sh", "#!/bin/sh\necho script >> ${OUT:?}/ran\n");
    sandbox.write("Makefile", "check:\n\techo make >> $${OUT:?}/ran\n");
    make_executable(&sandbox, "scripts/test.sh");
    sandbox.commit("a design");
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(
        sandbox.notes("ran"),
        ["script", "make", "script", "make"],
        "at the baseline and after the call"
    );
}

fn make_executable(sandbox: &Sandbox, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = sandbox.project.join(name);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn rt30_without_checks_only_a_word_of_the_user_starts_it() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let done = sandbox.run(&["run", "build it", "--agent-cmd", &agent]).exits(2);
    let project = sandbox.project.display();
    let refusal = format!(
        "no check found in {project}: nothing could prove that the work is done; --unverified takes the agent's \
         word\nnext: loop run \"build it\" --agent-cmd "
    );
    let help = " --unverified\nhelp: add --check tests=\"COMMAND\" with a command that passes when the work is done\n";
    assert!(done.err.contains(&refusal) && done.err.ends_with(help), "{}", done.err);
    assert!(sandbox.calls().is_empty());
    assert_eq!(sandbox.status(), serde_json::json!({ "run": null }));

    let done = sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--unverified"]).exits(0);
    assert!(done.err.contains("completed (unverified): "), "{}", done.err);
    let report = sandbox.run(&["show"]).exits(0).out;
    assert!(report.contains("completed (unverified)"), "{report}");
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"completed".into(), &false.into()));
    sandbox.run(&["status"]).exits(0).says("unverified");
}

#[test]
fn rt04_numbers_are_taken_in_both_forms_and_nothing_else() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let check = "tests=cat work; exit 1";
    sandbox.run(&["run", "a", "--agent-cmd", &agent, "--check", check, "--max=1"]).exits(6);
    sandbox.run(&["run", "b", "--agent-cmd", &agent, "--check", check, "--max", "1"]).exits(6);
    for wrong in ["0", "-1", "abc", "", "1.5", "99999999999"] {
        sandbox
            .run(&["run", "c", "--agent-cmd", &agent, "--check", check, &format!("--max={wrong}")])
            .exits(2);
    }
    sandbox.run(&["run", "c", "--agent-cmd", &agent, "--check", check, "--maximum", "3"]).exits(2);
    sandbox.run(&["run", "c", "--agent-cmd", &agent, "--check", "no command"]).exits(2);
    assert_eq!(sandbox.calls(), [1, 1]);
}

/// The prompt tells the agent to promise only when all is done; an iteration without a promise that
/// brings something forward is no error.
#[test]
fn ralph_an_honest_agent_may_take_many_turns_before_it_promises() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "echo \"$LOOP_CALL\" > step; {COMMIT}; [ \"$LOOP_CALL\" = 6 ] && {{ {PROMISE}; }}; echo >> /dev/null"
    ));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f step"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3, 4, 5, 6]);
}
