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
    assert!(done.out.contains("tests passed (0 tests ran)"), "{done:?}");
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
fn a_build_folder_that_nobody_ignores_is_no_progress() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "[ -f work ] || {{ echo work > work; git add work; git commit -qm work; }}; {PROMISE}"
    ));
    let check =
        "tests=mkdir -p build/$$ && touch build/$$/a build/$$/b && date +%N > build/stamp && test -f work";
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", check])
        .exits(4)
        .says("not done, no progress: uncommitted: build/ (left by the check tests)");
    assert!(!sandbox.prompt(2).contains("build/stamp, build/"), "{}", sandbox.prompt(2));
}

/// The next step ignores the folder, and pasted it lets the run finish.
#[test]
fn build_output_of_the_agent_is_ignored_by_the_next_step() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log");
    sandbox.commit("no newline at the end");
    let agent = sandbox.agent(&format!(
        "mkdir -p target/debug; echo x > target/debug/a; echo work > work; git add work; git commit -qm work; {PROMISE}"
    ));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let done = sandbox
        .run(&words)
        .exits(4)
        .says("uncommitted: target/debug/a (build output: add target/ to .gitignore)")
        .says("next: printf '\\ntarget/\\n' >> .gitignore && git add .gitignore && git commit -m \"ignore build output\" -- .gitignore && loop answer reset\n");
    let hint = done.err.lines().find_map(|it| it.strip_prefix("next: ")).expect("a hint");
    let (ignoring, _) = hint.split_once(" && loop ").expect("two commands");
    assert!(sandbox.prompt(2).contains("add target/ to .gitignore"), "{}", sandbox.prompt(2));
    let mut shell = std::process::Command::new("sh");
    let pasted = shell.args(["-c", ignoring]).current_dir(&sandbox.project).output().expect("a shell");
    assert!(pasted.status.success(), "{pasted:?}");
    assert_eq!(sandbox.read(".gitignore"), "*.log\ntarget/\n");
    sandbox.run(&["status"]).exits(0).says("next: loop answer reset\n");
    sandbox.run(&["answer", "reset"]).exits(0);
    sandbox.run(&["run"]).exits(0);
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
        let hints = hints(&done.out, &done.err);
        let starts_over = |it: &String| it.starts_with("loop run it ") && it.ends_with(" --fresh");
        assert!(hints.iter().any(starts_over), "{hints:?}");
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

#[test]
fn a_persons_files_that_an_agent_committed_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("notes.txt", "mine\n");
    let everything = format!("touch work; git add -A; git commit -qm work; {PROMISE}");
    let agent = sandbox.agent(&everything);
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "--allow-dirty"];
    sandbox.run(&words).exits(0).says("\ncommitted with it: notes.txt (uncommitted before the run)\n");

    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&everything);
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=touch lock; test -f work"];
    sandbox.run(&words).exits(0).says("\ncommitted with it: lock (written by the checks)\n");

    let sandbox = Sandbox::new();
    sandbox.write("notes.txt", "mine\n");
    let agent = sandbox.agent(&format!("touch work; git add work; git commit -qm work; {PROMISE}"));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "--allow-dirty"];
    let done = sandbox.run(&words).exits(0);
    assert!(!done.err.contains("committed with it"), "{}", done.err);
}

#[test]
fn without_a_commit_nothing_is_stashed() {
    let sandbox = Sandbox::empty();
    sandbox.git(&["init", "-q"]);
    sandbox.write("calc.py", "x = 1\n");
    let agent = sandbox.agent(PROMISE);
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]).exits(2);
    let told = hints(&done.out, &done.err);
    assert_eq!(told[1], "git add --all && git commit -m \"first commit\"");
    assert!(!done.err.contains("stash"), "{}", done.err);
}

#[test]
fn an_answer_that_nobody_has_taken_is_shown_and_can_be_changed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f none"]).exits(4);
    sandbox.run(&["answer", "reset"]).exits(0).says("saved; continue with: loop run");
    let status = sandbox.run(&["status"]).exits(0).out;
    assert!(status.contains("  question 1  answered: reset; loop run applies it\n"), "{status}");
    assert!(status.ends_with("next: loop run\n"), "{status}");
    assert_eq!(sandbox.status()["question"]["answered"], "reset");
    sandbox.run(&["answer"]).exits(0).says("question 1 is answered: reset; continue with: loop run");
    sandbox
        .run(&["answer", "modify", "try"])
        .exits(0)
        .says("saved instead of reset; continue with: loop run");
    let done = sandbox.run(&["run"]).exits(4).says("question 1 answered: modify \"try\"");
    assert!(!done.err.contains("answered: reset"), "{}", done.err);
}

/// A test that failed before the run is left out of the values that conditions use, not of what is shown.
#[test]
fn the_status_counts_tests_that_failed_before() {
    let sandbox = Sandbox::new();
    sandbox.write("said.txt", "not ok 1 - old\nok 2 - new\n1..2\n");
    sandbox.commit("what the runner prints");
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat said.txt; false"]).exits(4);
    sandbox.run(&["status"]).exits(0).says("iteration 2 | 1/2 tests passing | status: halted");
}

#[test]
fn a_command_that_means_one_of_several_runs_is_repeated_for_each() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let words = ["--agent-cmd", &agent, "--check", "tests=test -f none"];
    sandbox.run(&[&["run", "first"][..], &words, &["-n", "1"]].concat()).exits(6);
    sandbox.run(&[&["run", "second"][..], &words, &["--worktree"]].concat()).exits(4);
    let done = sandbox.run(&["guide", "be quick"]).exits(2);
    let told = hints(&done.out, &done.err);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|it| it.starts_with("loop guide \"be quick\" --run ")), "{told:?}");
    // Only one of them asks, so an answer needs no name.
    sandbox.run(&["answer"]).exits(0).says("question 1: ");
    sandbox.run(&["answer", "reset"]).exits(0).says("saved; continue with: loop run --run ");
}

#[test]
fn a_command_without_an_input_keeps_what_was_typed() {
    let sandbox = Sandbox::new();
    let expected = "next: loop run \"what to build\" --agent-cmd \"my agent\"";
    sandbox.run(&["run", "--agent-cmd", "my agent"]).exits(2).says(expected);
    let expected = "next: loop run \"what to build\" --preset ralph --agent-cmd fixer\n";
    sandbox.run(&["run", "--preset", "ralph", "--agent-cmd", "fixer"]).exits(2).says(expected);
}

#[test]
fn the_log_can_be_cut_by_lines_and_by_time() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f none"]).exits(4);
    let whole = sandbox.run(&["log"]).exits(0).out;
    let lines: Vec<&str> = whole.lines().collect();
    let last = sandbox.run(&["log", "-n", "2"]).exits(0).out;
    assert_eq!(last.lines().collect::<Vec<_>>(), lines[lines.len() - 2..]);
    assert_eq!(sandbox.run(&["log", "--since", "1h"]).exits(0).out, whole);
    assert_eq!(sandbox.run(&["log", "--since", "2999-01-01T00:00:00Z"]).exits(0).out, "");
    let json = sandbox.run(&["log", "--json", "-n", "1"]).exits(0).out;
    assert_eq!(json.lines().count(), 1, "{json}");
    sandbox.run(&["log", "--since", "soon"]).exits(2).says("write a time such as ");
    for words in [["show", "x"], ["why", "x"]] {
        sandbox.run(&words).exits(2).says("write a whole number from 1");
    }
}

#[test]
fn one_call_at_a_time_leads_to_the_next_one() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("date +%N > work; git add -A; git commit -qm work");
    let words = ["next", "it", "--agent-cmd", &agent, "--check", "tests=test -f none"];
    let done = sandbox.run(&words).exits(5).says("not finished; next is WORK, iteration 2\n");
    assert_eq!(hints(&done.out, &done.err), ["loop next"]);
}

#[test]
fn after_setup_the_next_step_is_a_run_only_where_one_could_begin() {
    let sandbox = Sandbox::new();
    sandbox.run(&["setup", "ralph", "--yes"]).exits(0).says("next: loop doctor\n");
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "test:\n\ttrue\n");
    let words = ["setup", "ralph", "--yes", "--agent", "claude"];
    sandbox.run(&words).exits(0).says("next: loop run \"what to build\"\n");
}

#[test]
fn the_doctor_names_an_input_where_one_of_several_agents_has_to_be_chosen() {
    let mut sandbox = Sandbox::new();
    let programs = sandbox.path("programs");
    std::fs::create_dir(&programs).expect("a folder");
    for name in ["claude", "codex"] {
        std::os::unix::fs::symlink("/bin/false", programs.join(name)).expect("a program");
    }
    sandbox.variables.push(("PATH", format!("{}:/usr/bin:/bin", programs.display()).into()));
    let told = sandbox.run(&["doctor"]).exits(0);
    told.says("several agents are installed: claude, codex\n         next: loop run \"what to build\" --agent claude\n");
}

#[test]
fn the_checks_name_the_tests_that_failed_above_what_they_printed() {
    let sandbox = Sandbox::new();
    let tap = "TAP version 13\nok 1 - adds\nnot ok 2 - subtracts\n1..2\n";
    sandbox.write("out.tap", tap);
    sandbox.write("tests.sh", "cat out.tap; seq 100 130; exit 1\n");
    sandbox.commit("tests");
    let done = sandbox.run(&["checks", "--check", "tests=sh tests.sh"]).exits(4);
    let at = |text: &str| done.out.find(text).unwrap_or_else(|| panic!("{text}: {}", done.out));
    assert!(at("  failed: subtracts\n") < at("  | 130\n"), "{}", done.out);
}

#[test]
fn tests_that_were_not_reached_before_are_not_called_added() {
    let sandbox = Sandbox::new();
    for (package, passes) in [("one", "os.path.exists('../work')"), ("two", "True")] {
        let case =
            format!("class T(unittest.TestCase):\n    def test_{package}(self): self.assertTrue({passes})\n");
        sandbox.write(&format!("{package}/test_{package}.py"), format!("import os, unittest\n{case}"));
    }
    sandbox.write(".gitignore", "__pycache__/\n");
    sandbox.commit("two packages");
    let agent = sandbox.agent(&format!("echo work > work; git add -A; git commit -qm work\n{PROMISE}"));
    let check = "tests=(cd one && python3 -m unittest -v) && (cd two && python3 -m unittest -v)";
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", check]).exits(0);
    let done =
        done.says("before the first call: tests failed (1 of 1)").says("checks: tests passed (2 of 2)");
    assert!(!done.err.contains("added"), "{}", done.err);
}

/// A reset would call the same program again, so the next step names the flag that changes it.
#[test]
fn a_program_that_fails_by_itself_is_changed_by_the_next_step() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo 'fatal: no API key' >&2; exit 1");
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(4);
    let step = format!("loop run --agent-cmd \"{}\" --reset", agent.replace('\'', ""));
    let before = "help: repair what the agent says first, then:\n";
    done.says(&format!("{before}next: {step}\n"))
        .says("another agent: loop run --agent-cmd \"PROGRAM ARGS\" --reset")
        .says("reset        try WORK again with the same agent, all counters at 0");
    assert_eq!(sandbox.status()["next_step"], step);
    sandbox.run(&["status"]).exits(0).says(&format!("{before}next: {step}\n"));
    let other = sandbox.root().join("other.sh");
    loop_harness::put(
        &other,
        format!(
            "#!/bin/sh\ncat > /dev/null\necho work > work; git add work; git commit -qm work; {PROMISE}\n"
        ),
    );
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
    let other = other.to_string_lossy().into_owned();
    sandbox.run(&["run", "--agent-cmd", &other, "--reset"]).exits(0);
}

#[test]
fn a_check_that_cannot_start_is_refused_before_the_first_call() {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "test:\n\ttest -f work\n");
    sandbox.commit("a check");
    let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=no-such-runner -q"];
    let refused = "the check tests cannot start: \"no-such-runner\" was not found";
    sandbox.run(&words).exits(2).says(refused).says("--check \"tests=make test\"\n");
    // What a run would be refused for is no next decision.
    let dry = [&words[..], &["--dry-run"]].concat();
    let done = sandbox.run(&dry).exits(2).says(refused);
    assert!(!done.out.contains("next decision"), "{done:?}");
    let lint = ["run", "it", "--agent-cmd", &agent, "--check", "lint=no-such-linter"];
    sandbox
        .run(&lint)
        .exits(2)
        .says("help: install no-such-linter, or give the check another command: --check lint=\"COMMAND\"");
    sandbox.run(&["runs"]).exits(0);
    assert!(sandbox.calls().is_empty());
    // What the agent may yet write is no reason to refuse the run; where it does not, the next step changes the check.
    let other = Sandbox::new();
    let lazy = other.agent(PROMISE);
    let done = other.run(&["run", "it", "--agent-cmd", &lazy, "--check", "tests=./nothing"]).exits(4);
    done.says("the check tests cannot start; another command: loop run --check tests=\"COMMAND\" --reset")
        .says("next: loop run --check tests=./nothing --reset\n");
    let later = sandbox.agent(&format!(
        "printf '#!/bin/sh\\ntest -f work\\n' > runner; chmod +x runner; echo work > work; git add -A; git commit -qm work; {PROMISE}"
    ));
    sandbox.run(&["run", "that", "--agent-cmd", &later, "--check", "tests=./runner", "-n", "2"]);
    assert!(!sandbox.calls().is_empty());
}

#[test]
fn a_question_shows_the_last_words_of_an_agent_that_did_not_report() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo 'I looked around.'; echo 'Should it use tabs?'");
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(4);
    done.says("the agent's last words: Should it use tabs?");
    sandbox.run(&["answer"]).exits(0).says("the agent's last words: Should it use tabs?");
}

#[test]
fn what_a_finding_names_can_be_waived_and_the_whole_command_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("t.sh", "test \"$(cat work)\" = 1\n");
    sandbox.write("work", "0\n");
    sandbox.commit("a red check");
    let agent = sandbox.agent(&format!("echo true > t.sh; git add -A; git commit -qm work; {PROMISE}"));
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=sh t.sh"]).exits(3);
    done.says("(the run changed t.sh)").says("next: loop show --diff\n  or: loop answer waive \"REASON\"\n");
    sandbox.run(&["status"]).exits(0).says("next: loop show --diff\n  or: loop answer waive \"REASON\"\n");
    // The check is what was found, and there may be more to it than the file.
    sandbox
        .run(&["waive", "t.sh", "--reason", "it asked for too much"])
        .exits(2)
        .says("can be waived: tests");
    sandbox.run(&["waive", "tests", "--reason", "it asked for too much"]).exits(0);
    sandbox.run(&["run"]).exits(0).says("completed (unverified)");
}

#[test]
fn a_dry_run_says_what_the_flags_and_the_answers_lead_to() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo no");
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"];
    sandbox.run(&words).exits(6);
    sandbox.run(&["run", "--dry-run"]).exits(0).says("next decision: capped: 1 of 1 iterations used");
    let higher = "next decision: start call 2: WORK iteration 2\n";
    sandbox.run(&["run", "--dry-run", "--max", "5"]).exits(0).says(higher);
    sandbox.run(&["run", "it", "--dry-run", "--max", "5"]).exits(0).says(higher);
    sandbox
        .run(&["run", "it", "--dry-run", "--fresh", "--agent-cmd", &agent, "--check", "tests=test -f work"])
        .exits(0)
        .says("and open a new one; then run every check once");
    let told = sandbox.run(&["run", "--dry-run", "--max", "5", "--json"]).exits(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told, serde_json::json!({ "next_decision": "start call 2: WORK iteration 2" }));
    sandbox.run(&["run", "--max", "5"]).exits(4);
    sandbox.run(&["run", "--dry-run"]).exits(0).says("next decision: halted: WORK: no progress");
    sandbox.run(&["answer", "reset"]).exits(0);
    sandbox.run(&["run", "--dry-run"]).exits(0).says("next decision: start call 3: WORK iteration 3");
    assert_eq!(sandbox.calls(), [1, 2]);
}

#[test]
fn without_an_agent_the_program_of_the_last_run_is_proposed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo no");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"]).exits(6);
    sandbox.run(&["cancel", "--yes"]).exits(0);
    let mut command = sandbox.command(&["run", "it", "--check", "tests=test -f work"]);
    command.env("PATH", "/usr/bin:/bin");
    let shown = agent.replace('\'', "");
    let step = format!("next: loop run it --check \"tests=test -f work\" --agent-cmd \"{shown}\"\n");
    let done = sandbox.start(command).wait().exits(2).says("no supported agent found");
    done.says("the last run here used one of your own").says(&step);
}

#[test]
fn a_program_that_is_not_there_is_told_with_what_to_write() {
    let sandbox = Sandbox::new();
    let missing = ["run", "it", "--agent-cmd", "./nothing.sh", "--check", "tests=true"];
    sandbox
        .run(&missing)
        .exits(2)
        .says("nothing.sh\" was not found")
        .says("help: install it, or name another program");
    let tilde = ["run", "it", "--agent-cmd", "~/agent.sh --fast", "--check", "tests=true"];
    sandbox.run(&tilde).exits(2).says("~ is not expanded between quotes").says("/agent.sh\"\n");
    sandbox
        .run(&["simulate", "--preset", "tdx"])
        .exits(2)
        .says("unknown preset \"tdx\"")
        .says("did you mean \"tdd\"?");
    let help = sandbox.run(&["next", "--help"]).exits(0).out;
    assert!(!help.contains("--detach") && !help.contains("--jobs"), "{help}");
}

#[test]
fn the_doctor_names_uncommitted_changes_and_prices_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    loop_harness::put(&sandbox.root().join("user/.config/loop/prices.toml"), "[[[");
    sandbox.write("notes", "mine\n");
    let told = sandbox.run(&["doctor"]).exits(0).out;
    assert!(told.contains("problem  tree        uncommitted changes: notes\n"), "{told}");
    assert!(told.contains("next: loop run \"what to build\" --allow-dirty\n"), "{told}");
    assert!(told.contains("problem  prices ") && told.contains("prices.toml: line 1: "), "{told}");
}
