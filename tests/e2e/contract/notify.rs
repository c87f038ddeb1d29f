//! `[notify]` and `--notify`: a person is told at a question, a halt, a provider limit and the end; each once,
//! whatever is killed in between, and nothing of what is told is ever part of a command line.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK, within};
use std::time::Duration;

/// Leaves one line for each time somebody was told.
const RING: &str = "printf '%s|%s|%s|%s\\n' \"$LOOP_RUN\" \"$LOOP_STATUS\" \"$LOOP_REASON\" \"$LOOP_NEXT_STEP\" >> \"$OUT/rings\"";

/// The status and the next step of every time.
fn rings(sandbox: &Sandbox) -> Vec<(String, String)> {
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let lines = sandbox.notes("rings");
    let read = |line: &String| {
        let parts: Vec<&str> = line.split('|').collect();
        assert_eq!((parts.len() >= 4, parts[0]), (true, run.as_str()), "{line}");
        assert!(!parts[2].is_empty(), "a reason: {line}");
        (parts[1].to_owned(), parts[3..].join("|"))
    };
    lines.iter().map(read).collect()
}

fn words(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(status, _)| status.as_str()).collect()
}

#[test]
fn the_end_is_told_once() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    let command = ["run", "it", "--agent-cmd", &agent, "--check", CHECK, "--notify", RING];
    sandbox.run(&command).exits(0);
    assert_eq!(rings(&sandbox), [("completed".to_owned(), "loop show".to_owned())]);
    sandbox.run(&command).exits(0);
    sandbox.run(&["status"]).exits(0);
    assert_eq!(rings(&sandbox).len(), 1, "a completed run ends once");
}

#[test]
fn a_question_and_a_halt_are_told_once() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", format!("extends = \"ralph\"\n[notify]\nrun = '''{RING}'''\n"));
    sandbox.commit("a workflow");
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=echo no; exit 1"]).exits(4);
    let told = rings(&sandbox);
    assert_eq!(words(&told), ["halted"]);
    assert!(told[0].1.starts_with("loop answer"), "{told:?}");
    sandbox.run(&["run", "it"]).exits(4);
    sandbox.run(&["resume"]).exits(4);
    assert_eq!(rings(&sandbox).len(), 1, "the same question is not told again");
    sandbox.run(&["answer", "abort"]).exits(0);
    sandbox.run(&["run", "it"]).exits(4);
    assert_eq!(words(&rings(&sandbox)), ["halted", "halted"], "that it was aborted is another thing");
}

#[test]
fn a_gate_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".loop/workflow.toml",
        "name = \"gated\"\n[[phase]]\nname = \"ONE\"\nprompt = \"do\"\nreport = \"none\"\nsignal = \"none\"\n\
         gates = [\"look\"]\n[gates.look]\nask = \"good?\"\n",
    );
    sandbox.commit("a workflow");
    let agent = sandbox.agent("true");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--notify", RING]).exits(3);
    assert_eq!(words(&rings(&sandbox)), ["waiting"]);
    sandbox.run(&["approve"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(words(&rings(&sandbox)), ["waiting", "completed"]);
}

/// A cap, a stop and a used-up budget are rests that nobody asked about; each is an end of its own.
#[test]
fn other_rests_are_told() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}"));
    let command = ["run", "it", "-n", "1", "--agent-cmd", &agent, "--check", "tests=true", "--notify", RING];
    sandbox.run(&command).exits(6);
    sandbox.run(&["next", "--max", "5"]).exits(5);
    assert_eq!(words(&rings(&sandbox)), ["capped"], "one iteration of several is no end");
    sandbox.run(&["run", "--max", "3"]).exits(6);
    assert_eq!(words(&rings(&sandbox)), ["capped", "capped"]);
}

/// The provider says no: the run holds, and the person hears of it before the wait and not after.
#[test]
fn a_hold_is_told_once() {
    let sandbox = Sandbox::new();
    let claude = sandbox.root().join("bin/claude");
    std::fs::create_dir_all(claude.parent().expect("a folder")).expect("a folder");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    let later = later.duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs().to_string();
    let refusal =
        include_str!("../../fixtures/agents/claude/v325-limit-5h.stdout").replace("1794747347", &later);
    std::fs::write(sandbox.note("refusal"), refusal).expect("a file");
    // An agent that is known by name is given no variable of ours but its own.
    let script = format!("#!/bin/sh\ncat > /dev/null\ncat '{}'\nexit 1\n", sandbox.note("refusal").display());
    std::fs::write(&claude, script).expect("a program");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", sandbox.root().join("bin").display(), std::env::var("PATH").expect("a path"));
    let told = sandbox.fifo("told");
    let ring = format!("{RING}; echo told > \"$OUT/told\"");
    let mut command =
        sandbox.command(&["run", "it", "--agent", "claude", "--check", "tests=true", "--notify", &ring]);
    command.env("PATH", &path);
    let running = sandbox.start(command);
    assert_eq!(told.hear(), "told");
    let status = sandbox.status();
    assert!(status["limits"]["waiting_until"].is_string(), "{status}");
    assert_eq!(rings(&sandbox).len(), 1);
    running.kill();
    let mut command = sandbox.command(&["run", "it"]);
    command.env("PATH", &path);
    let running = sandbox.start(command);
    assert!(within(Duration::from_secs(60), || sandbox.is_driven()), "it goes on holding");
    sandbox.run(&["pause"]).exits(0);
    assert_eq!(told.hear(), "told");
    running.wait().exits(5);
    assert_eq!(words(&rings(&sandbox)), ["running", "paused"], "the hold was told once, then the pause");
}

/// What agents say is data: it reaches the command as variables and never as words of a shell.
#[test]
fn g35_nothing_that_is_told_is_run() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let input = "it'; touch \"$OUT/pwned\"; $(touch \"$OUT/pwned\") `touch \"$OUT/pwned\"`";
    let check = "tests=echo '$(touch \"$OUT/pwned\")'; exit 1";
    sandbox.run(&["run", input, "--agent-cmd", &agent, "--check", check, "--notify", RING]).exits(4);
    assert_eq!(sandbox.notes("rings").len(), 1);
    assert!(!sandbox.note("pwned").exists());
}

#[test]
fn a_command_that_fails_is_a_fact_and_harms_nothing() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK, "--notify", "exit 7"]).exits(0);
    let told: Vec<_> = sandbox.events().into_iter().filter(|it| it["kind"] == "told").collect();
    assert_eq!(told.len(), 1);
    assert!(told[0]["event"].to_string().contains("exit 7"), "{told:?}");
    assert!(sandbox.status()["warnings"].to_string().contains("the notification failed"));
}
