//! Commands that come from inside an agent call, or from what outlived one: everything that changes
//! something is refused, and the run remembers that it was tried.

use loop_harness::{COMMIT, PROMISE, Sandbox, program};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const TRIED: [&str; 15] = [
    "answer skip",
    "approve",
    "changes more",
    "reject no",
    "guide hello",
    "skip docs --reason none",
    "stop",
    "stop --now",
    "cancel --yes",
    "runs --prune --yes",
    "ship",
    "resume",
    "resume --reset",
    "restore 1",
    "run other --agent-cmd true --check tests=true",
];

#[test]
fn g28_nothing_is_changed_from_inside_a_call() {
    let program = program();
    for clean in ["", "env -i PATH=\"$PATH\""] {
        let sandbox = Sandbox::new();
        let tries: Vec<String> = TRIED
            .iter()
            .map(|words| {
                format!(
                    "{clean} '{program}' --home \"$OUT/../home\" {words} >> \"$OUT/tried\" 2>&1; \
                     echo \"$? {words}\" >> \"$OUT/codes\""
                )
            })
            .collect();
        let agent = sandbox.agent(&format!("{}\necho x > work; {COMMIT}; {PROMISE}", tries.join("\n")));
        sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
        let expected: Vec<String> = TRIED.iter().map(|words| format!("2 {words}")).collect();
        assert_eq!(sandbox.notes("codes"), expected, "{:?}", sandbox.notes("tried"));
        let log = sandbox.run(&["log"]).exits(0).out;
        for word in ["answer", "guide", "cancel", "runs --prune", "ship", "resume", "restore"] {
            let line = format!("refused inside an agent call: loop {word}");
            assert!(log.contains(&line), "no {line:?} in\n{log}");
        }
        let status = sandbox.status();
        assert_eq!(status["status"], "completed");
        assert!(status["warnings"].to_string().contains("refused inside an agent call"), "{status}");
    }
}

/// The agent kills controller and shim, and a process of it that cleared its environment tries later.
#[test]
fn g28_what_outlived_its_call_is_refused_too() {
    let sandbox = Sandbox::new();
    let program = program();
    let (go, end) = (sandbox.fifo("go"), sandbox.fifo("end"));
    let agent = sandbox.agent(&format!(
        "env -i PATH=\"$PATH\" OUT=\"$OUT\" sh -c 'read go < \"$OUT/go\"\n\
         \"$0\" --home \"$OUT/../home\" -C \"$1\" stop > \"$OUT/tried\" 2>&1\n\
         echo $? > \"$OUT/end\"' '{program}' \"$PWD\" < /dev/null > /dev/null 2>&1 &\n\
         shim=$PPID; controller=$(ps -o ppid= -p $shim); kill -9 $controller $shim"
    ));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"]).exits(1009);
    go.say();
    assert_eq!(end.hear(), "2", "{:?}", sandbox.notes("tried"));
    assert!(
        sandbox.notes("tried").join("\n").contains("inside an agent call"),
        "{:?}",
        sandbox.notes("tried")
    );
    assert_ne!(sandbox.status()["status"], "stopped");
}

#[test]
fn pruning_needs_a_yes_and_stays_in_the_project() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    let elsewhere = sandbox.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let other = elsewhere.to_str().expect("text");
    sandbox.run(&["runs", "--prune"]).exits(2).says("--yes");
    sandbox.run(&["runs", "--prune", "--yes", "-C", other]).exits(0).says("0 runs deleted");
    assert_eq!(sandbox.status()["status"], "completed");
    sandbox.run(&["runs", "--prune", "--yes", "--all", "-C", other]).exits(0).says("1 run deleted");
}

#[test]
fn diagnostics_are_asked_for_and_hold_no_secret() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    let file = sandbox.note("diagnostics");
    let check = "tests=API_TOKEN=zq81-Hm27x-Pq40 sh -c 'echo $API_TOKEN; test -f work'";
    let mut command = sandbox.command(&["run", "build it", "--agent-cmd", &agent, "--check", check]);
    command.env("LOOP_LOG", format!("trace,{}", file.display()));
    sandbox.start(command).wait().exits(0);
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains("performs") && text.contains("git"), "{text}");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    // The workflow keeps its commands as they were written, because they have to be run.
    for (path, bytes) in sandbox.contents(&sandbox.home.join("runs")) {
        let has_secret = bytes.windows(15).any(|it| it == b"zq81-Hm27x-Pq40");
        assert!(!has_secret, "{} holds the secret of a check", path.display());
    }
    assert!(!text.contains("zq81-Hm27x-Pq40"), "{text}");
}
