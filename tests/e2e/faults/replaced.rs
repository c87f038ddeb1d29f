//! An agent knows the folder of its run. Whatever it puts in place of the files that we read after
//! its call (a pipe that nobody writes to, a folder, a device without end), its call is over and the
//! run goes on.

use loop_harness::{COMMIT, PROMISE, Sandbox};

const WORKFLOW: &str = r#"
name = "told"
input = { kind = "none", about = "" }
[limits]
iterations = 9
[[phase]]
name = "ONLY"
prompt = "Say that it is done."
report = "json"
breaker = {}
"#;

#[test]
fn g35_what_replaces_the_files_of_a_call_does_not_hold_the_controller() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(
        "own=\"${LOOP_RESULT_FILE%.result.json}\"
         for name in \"$LOOP_RESULT_FILE\" \"$own.out\" \"$own.err\"; do
           case $LOOP_CALL in
           1) rm -f \"$name\"; mkfifo \"$name\";;
           2) rm -f \"$name\"; mkdir \"$name\";;
           3) rm -f \"$name\"; ln -s /dev/zero \"$name\";;
           4) rm -f \"$name\"; ln -s \"$name\" \"$name\";;
           esac
         done
         [ $LOOP_CALL != 5 ] || echo '{\"status\": \"done\", \"summary\": \"it is said\"}' > \"$LOOP_RESULT_FILE\"",
    );
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3, 4, 5]);
    for call in ["1", "2", "3", "4"] {
        sandbox.run(&["show", call]).exits(0);
    }
    sandbox.run(&["log"]).exits(0);
    sandbox.assert_nothing_runs();
}

/// A repository that was deleted and made again is not the one of the run, and what is proposed works in it.
#[test]
fn another_repository_in_the_place_of_the_runs_own_is_named() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"];
    sandbox.run(&words).exits(6);
    std::fs::remove_dir_all(sandbox.project.join(".git")).expect("removed");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["config", "user.name", "Tester"]);
    sandbox.git(&["config", "user.email", "t@example.org"]);
    sandbox.commit("another beginning");
    for words in [&["resume", "-n", "2"][..], &["run"], &words] {
        let done = sandbox.run(words).exits(4);
        assert!(done.err.contains("has nothing of what run "), "{words:?}: {done:?}");
        assert!(
            done.err.contains("\nnext: loop run it ") && done.err.contains(" --fresh"),
            "{words:?}: {done:?}"
        );
    }
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&[&words[..], &["--fresh"]].concat()).exits(6);
}
