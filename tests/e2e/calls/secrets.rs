//! Secrets of the environment reach the agent, which needs them, and no file of ours.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};

const CANARY: &str = "canary-7f3a9c51-do-not-write-me-down";

#[test]
fn en13_secrets_of_the_environment_are_not_written_down() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "[ \"$FOO_API_KEY\" = {CANARY} ] && touch \"$OUT/has-it\"; echo \"$FOO_API_KEY\" > \"$LOOP_RESULT_FILE\"; echo \"$LOOP_CALL\" > work; {COMMIT}; {PROMISE}"
    ));
    let mut command =
        sandbox.command(&["run", "it", "--agent-cmd", &agent, "--check", "tests=echo no; grep 2 work", "-v"]);
    command.env("FOO_API_KEY", CANARY);
    let done = sandbox.start(command).wait().exits(0);
    assert!(sandbox.note("has-it").exists(), "the agent needs its key");
    assert!(!done.out.contains(CANARY) && !done.err.contains(CANARY));
    for folder in [&sandbox.home, &sandbox.project, &sandbox.root().join("tmp"), &sandbox.root().join("user")]
    {
        for (path, bytes) in sandbox.contents(folder) {
            let found = bytes.windows(CANARY.len()).any(|it| it == CANARY.as_bytes());
            assert!(!found, "it stands in {}", path.display());
        }
    }
    for command in [&["log", "--json"][..], &["status", "--json"], &["show", "1"], &["why"]] {
        assert!(!sandbox.run(command).out.contains(CANARY), "{command:?}");
    }
}

/// It is shut while a call is under way, too: nothing is put down and taken away again.
#[test]
fn en13_nor_while_a_call_is_under_way() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let mut command = sandbox.command(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    command.env("FOO_API_KEY", CANARY);
    let running = sandbox.start(command);
    at.hear();
    let contents = sandbox.contents(&sandbox.home);
    go.say();
    running.wait().exits(0);
    for (path, bytes) in contents {
        assert!(
            !bytes.windows(CANARY.len()).any(|it| it == CANARY.as_bytes()),
            "it stands in {}",
            path.display()
        );
    }
}

#[test]
fn en13_the_home_is_nobody_elses() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    let mode = std::fs::metadata(&sandbox.home).expect("a home").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
