//! What a newcomer meets in the first ten minutes: a project without a check, an agent whose promise is
//! in the wrong place, files that checks leave behind, and a run that is over.

use loop_harness::hints::hints;
use loop_harness::{PROMISE, Sandbox};

#[test]
fn without_a_check_the_command_of_the_stack_is_proposed() {
    let rows: [(&[(&str, &str)], &str); 4] = [
        (&[("package.json", "{}")], "node --test"),
        (&[("calc.py", "x = 1\n")], "python3 -m unittest -v"),
        (&[("api/go.mod", "module api\n"), ("web/index.html", "")], "(cd api && go test -v ./...)"),
        (&[("test.sh", ""), ("notes.txt", "")], "./test.sh"),
    ];
    for (files, command) in rows {
        let sandbox = Sandbox::new();
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox.commit("a project");
        let agent = sandbox.agent(PROMISE);
        let hint = format!("next: loop run it --agent-cmd \"{agent}\" --check tests=\"{command}\"\n");
        sandbox.run(&["run", "it", "--agent-cmd", &agent]).exits(2).says(&hint);
        sandbox.run(&["checks"]).exits(2).says(&format!("next: loop checks --check tests=\"{command}\"\n"));
        sandbox.run(&["doctor"]).says(&format!("loop checks --check tests=\"{command}\""));
    }
}

#[test]
fn where_no_command_is_known_none_is_proposed_for_pasting() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let help = "help: add --check tests=\"COMMAND\" with a command that passes when the work is done\n";
    sandbox.run(&["run", "it", "--agent-cmd", &agent]).exits(2).says(help);
    sandbox.run(&["checks"]).exits(2).says(help);
    sandbox.run(&["doctor"]).says("help: loop checks --check tests=\"COMMAND\" tries a command of yours");
}

#[test]
fn the_hint_of_a_capped_run_whose_breaker_is_open_makes_a_call() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("date +%N > work; git add -A; git commit -qm work");
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=echo broken; false", "--max", "3"];
    let done = sandbox.run(&words).exits(6);
    let hint = hints(&done.out, &done.err).remove(0);
    assert_eq!(hint, "loop run --max 13 --reset");
    let pasted: Vec<&str> = hint.split(' ').skip(1).collect();
    sandbox.run(&pasted).exits(4);
    assert_eq!(sandbox.calls(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_stop_hook_that_setup_wrote_is_no_uncommitted_change() {
    let theirs = "{\n  \"model\": \"opus\"\n}\n";
    for committed in [None, Some(theirs)] {
        let sandbox = Sandbox::new();
        if let Some(text) = committed {
            sandbox.write(".claude/settings.json", text);
            sandbox.commit("settings");
        }
        sandbox.run(&["setup", "--hook"]).exits(0).says("next: loop init --preset ralph --hook ");
        let begin = ["init", "--preset", "ralph", "--hook", "say hello", "--check", "tests=true"];
        sandbox.run(&begin).exits(0);
        sandbox.run(&["cancel", "--yes"]).exits(0);
        let path = sandbox.project.join(".claude/settings.json");
        let text = std::fs::read_to_string(&path).expect("settings");
        sandbox.write(".claude/settings.json", text.replacen('{', "{ \"theme\": \"dark\",", 1));
        sandbox.run(&begin).exits(2).says("uncommitted changes: .claude/settings.json");
    }
}

#[test]
fn a_program_that_promises_nothing_is_told_what_to_print() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo work > work; git add -A; git commit -qm work");
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"];
    let why = "the agent did not say that it is done: its final message must end with \
               <promise>TASK_COMPLETE</promise> on a line of its own";
    sandbox.run(&words).exits(6).says(why);
    sandbox.run(&["why"]).exits(0).says(why);
}

#[test]
fn what_a_person_must_fill_in_is_help_and_not_a_command() {
    let sandbox = Sandbox::new();
    sandbox.run(&["presets"]).exits(0).says("help: loop setup NAME");
    sandbox.run(&["run", "--preset", "tdd"]).exits(2).says("help: name it in the same command");
    sandbox
        .run(&["run", "it", "--agent", "foo"])
        .exits(2)
        .says("one of: claude, ")
        .says("next: loop agents\n");
    sandbox.run(&["setup", "tdd", "--yes"]).exits(0).says("help: write docs/PRPs/NAME.md");
}

#[test]
fn a_dry_run_after_a_cancelled_run_says_that_a_new_one_is_opened() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("date +%N > work; git add -A; git commit -qm work");
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f none", "--max", "1"];
    sandbox.run(&words).exits(6);
    sandbox.run(&["cancel", "--dry-run"]).exits(0).says("would cancel run ");
    sandbox.run(&["cancel", "--yes"]).exits(0);
    let dry = [&words[..], &["--dry-run"]].concat();
    sandbox
        .run(&dry)
        .exits(0)
        .says("next decision: open a new run, because run ")
        .says(" is cancelled; then ");
}

#[test]
fn a_runner_that_finds_no_test_is_said_to_have_run_none() {
    let sandbox = Sandbox::new();
    sandbox.write("said.txt", format!("\n{}\nRan 0 tests in 0.000s\n\nOK\n", "-".repeat(70)));
    sandbox.commit("what the runner prints");
    let done = sandbox.run(&["checks", "--check", "tests=cat said.txt"]).exits(0);
    assert!(done.out.contains("tests passes (0 tests ran)"), "{done:?}");
}

#[test]
fn a_run_that_still_waits_is_not_called_resumed_and_its_checks_are_shown() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(4);
    let again = sandbox.run(&["run"]).exits(4);
    assert!(!again.err.contains("resumed"), "{}", again.err);
    let again = sandbox.run(&["run", "--reset"]).exits(4);
    assert!(again.err.contains("resumed, counters at 0\n"), "{}", again.err);
    let shown = sandbox.run(&["show", "1", "--checks"]).exits(0).out;
    assert_eq!(
        shown.trim_start(),
        "--- check tests ---\n$ test -f work\n(it printed nothing)\nexit code 1\n"
    );
}

#[test]
fn the_next_step_of_evidence_names_the_folder_that_was_named() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    sandbox.run(&["-C", ".", "evidence"]).exits(0).says("next: loop -C . verify ");
}

#[test]
fn a_promise_inside_a_line_is_seen_and_the_reason_says_why_it_does_not_count() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(
        "echo work > work; git add -A; git commit -qm work; echo 'All done: <promise>TASK_COMPLETE</promise>.'",
    );
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "2"];
    let why =
        "the agent's promise does not count: it is inside a line of text, but must be alone on its own line";
    sandbox
        .run(&words)
        .exits(6)
        .says("call 1 finished in")
        .says("the agent's promise does not count\n")
        .says(why);
    assert!(sandbox.prompt(2).contains(why), "{}", sandbox.prompt(2));
    sandbox.run(&["why"]).exits(0).says(why);
}

#[test]
fn a_completed_run_names_what_its_checks_left_uncommitted() {
    for (ignored, state) in
        [("", "uncommitted: left.txt (left by the checks)"), ("left.txt\n", "git status clean")]
    {
        let sandbox = Sandbox::new();
        sandbox.write(".gitignore", ignored);
        sandbox.commit("what git ignores");
        let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
        let check = "tests=touch left.txt; test -f work";
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", check]).exits(0);
        assert!(done.err.contains(&format!(".md, {state}\n")), "{}", done.err);
    }
}

#[test]
fn guidance_for_a_run_that_is_over_says_so_and_how_to_start_another() {
    let sandbox = Sandbox::new();
    sandbox.run(&["guide", "look again"]).exits(2).says("no run in this project").says("next: loop run ");
    let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    sandbox.run(&words).exits(0);
    let over = "the run is completed: there is no next prompt for this guidance";
    for (said, exit, why) in
        [(&["guide", "look again"], 2, over), (&["resume", "--reset"], 0, "already done")]
    {
        let done = sandbox.run(said).exits(exit).says(why);
        let hint = hints(&done.out, &done.err).remove(0);
        assert!(hint.starts_with("loop run it ") && hint.ends_with(" --fresh"), "{hint}");
    }
}

#[test]
fn guidance_for_a_halted_run_names_the_command_that_continues_it() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    sandbox.run(&words).exits(4).says("next: loop answer reset\n");
    sandbox.run(&["guide", "write the file work"]).exits(0).says("saved; continue with: loop answer reset\n");
    sandbox.run(&["answer", "reset"]).exits(0).says("saved; continue with: loop run\n");
    let calls = u32::try_from(sandbox.calls().len()).expect("a few");
    sandbox.run(&["run"]).exits(4);
    assert!(sandbox.prompt(calls + 1).contains("write the file work"));
}
