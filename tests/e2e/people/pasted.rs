//! What a person pastes or types as it was printed: it does what it says, or is refused with words, and
//! never starts or records something that nobody meant.

use loop_harness::hints::hints;
use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_wait_for_a_session_that_has_not_come_is_no_success() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "it", "--preset", "ralph", "--hook", "--check", "tests=true"]).exits(0);
    let done = sandbox.run(&["wait"]).exits(5);
    assert_eq!(
        done.out,
        "running: WORK: no session has taken it yet; start the agent here\nnext: loop status\n"
    );
    sandbox.run(&["pause"]).exits(0);
    sandbox.run(&["wait"]).exits(5).says("paused: ");
}

#[test]
fn with_several_unfinished_runs_the_own_command_is_repeated() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    for (input, place) in [("first", None), ("second", Some("--worktree"))] {
        let mut words = vec!["run", input, "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"];
        words.extend(place);
        sandbox.run(&words).exits(6);
    }
    for words in
        [&["next"][..], &["resume", "--reset"], &["resume", "--max", "40", "--reset"], &["run", "--max", "9"]]
    {
        let done = sandbox.run(words).exits(2).says("several runs are unfinished");
        let expected = format!("loop {} --run ", words.join(" "));
        let found = hints(&done.out, &done.err);
        assert!(found.len() == 2 && found.iter().all(|it| it.starts_with(&expected)), "{found:?}");
    }
}

#[test]
fn words_that_stand_for_ones_own_are_refused() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("touch work; {COMMIT}; {PROMISE}"));
    let flags = ["--agent-cmd", &agent, "--check", CHECK];
    for command in [&["run"][..], &["init"], &["next"]] {
        let words: Vec<&str> = command.iter().copied().chain(["what to build"]).chain(flags).collect();
        sandbox.run(&words).exits(2).says("help: say what to build, such as ");
    }
    sandbox.run(&["design", "what to build"]).exits(2).says("help: say what to build, such as ");
    assert!(sandbox.calls().is_empty(), "no agent was called");
    sandbox.run(&["answer", "waive", "REASON"]).exits(2).says("help: write the reason in its place");
    sandbox
        .run(&["waive", "a.py", "--reason", "REASON"])
        .exits(2)
        .says("help: write the reason in its place");
    sandbox.run(&["answer", "modify", "TEXT"]).exits(2).says("help: write your own words in its place");
}

/// What is printed has a mark where a secret stood: no hint contains it, and no command takes it for the secret.
#[test]
fn a_secret_of_a_command_line_is_not_replaced_by_a_pasted_hint() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo 'fatal: the key was refused' >&2; exit 1");
    let secret = format!("{agent} sk-ant-api03-{}", "Ab3dEf6hIj".repeat(9));
    let done = sandbox.run(&["run", "it", "--agent-cmd", &secret, "--check", "tests=test -f work"]).exits(4);
    let found = hints(&done.out, &done.err);
    assert_eq!(found, ["loop answer reset"], "{}", done.err);
    sandbox.run(&["cancel"]).exits(0);
    let done = sandbox.run(&["status"]).exits(0).says("next: loop run it\n");
    assert!(!done.out.contains("sk-ant"), "{}", done.out);
    let marked = format!("{agent} [redacted]");
    sandbox
        .run(&["run", "it", "--agent-cmd", &marked, "--check", CHECK])
        .exits(2)
        .says("write the secret itself");
    sandbox.run(&["run", "it", "--check", "tests=./t [redacted]"]).exits(2).says("write the secret itself");
}

#[test]
fn a_file_that_is_not_there_is_no_sentence() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.write(
        "own.toml",
        "name = \"own\"\ninput = { kind = \"text\" }\n[checks.tests]\nrun = \"true\"\n[[phase]]\nname = \"DO\"\nprompt = \"do\"\nreport = \"none\"\nsignal = \"none\"\nchecks = [\"tests\"]\n",
    );
    for input in ["nosuch.md", "docs/plan"] {
        let words = ["run", input, "--workflow", "own.toml", "--agent-cmd", &agent, "--allow-dirty"];
        sandbox.run(&words).exits(2).says(&format!("there is no file {input}\nhelp: "));
    }
    assert!(sandbox.calls().is_empty(), "no agent was called");
    let done = sandbox.run(&["check", "nosuch.toml"]).exits(2).says("nosuch.toml does not exist");
    assert!(!done.err.contains("os error"), "{}", done.err);
    let done = sandbox
        .run(&["run", "nosuch.md", "--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK])
        .exits(2);
    assert!(done.err.contains("nosuch.md does not exist"), "{}", done.err);
    let done = sandbox.run(&["verify", "nosuch.json"]).exits(2).says("nosuch.json does not exist");
    assert!(!done.err.contains("os error"), "{}", done.err);
}

#[test]
fn a_mistyped_command_is_told_the_one_that_was_meant() {
    let sandbox = Sandbox::new();
    sandbox.run(&["rn"]).exits(2).says("there is no command \"rn\"; did you mean run?");
    sandbox.run(&["statsu"]).exits(2).says("did you mean status?");
    let done = sandbox.run(&["foo"]).exits(2);
    assert!(!done.err.contains("did you mean"), "{}", done.err);
}

/// Nobody looks at a run without a terminal but at its words: a wait is told once more when it is continued.
#[test]
fn a_run_that_waits_for_its_provider_says_so_when_it_is_continued() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo LOOP_LIMIT until=2199-01-01T00:00:00Z; exit 75");
    sandbox.run(&["next", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(5);
    let mut command = sandbox.command(&["run"]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let told = lines.map(|it| it.expect("text")).find(|it| it.starts_with("waiting until "));
    let told = told.expect("the run says that it waits");
    child.kill().expect("it is our child");
    child.wait().expect("a status");
    assert!(told.starts_with("waiting until 2199-01-01T00:00:00Z: "), "{told}");
    assert!(told.ends_with("; loop resume --now asks again"), "{told}");
}
