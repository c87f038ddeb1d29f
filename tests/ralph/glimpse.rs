//! A stop without a promise starts no process, and still knows what the session did.

use super::session::{CHECK, PROMISE, Sandbox, answer};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A stop of session "one" in which git, if it were called, would leave a note.
fn stop(sandbox: &Sandbox, said: &str) -> Option<Value> {
    let folder = sandbox.root().join("no-git");
    std::fs::create_dir_all(&folder).expect("a folder");
    let git = folder.join("git");
    std::fs::write(&git, "#!/bin/sh\necho called >> \"$OUT/git\"\nexit 1\n").expect("a script");
    std::fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).expect("a mode");
    let mut command = sandbox.command(&["hook", "stop"]);
    command.env("PATH", folder);
    answer(&sandbox.finish(command, &sandbox.stop_input("one", true, said).to_string()))
}

/// What a session does.
type Act<'a> = &'a dyn Fn(&Sandbox);

fn metrics(sandbox: &Sandbox) -> (Value, Value) {
    let metrics = &sandbox.status()["metrics"];
    (metrics["files_changed"]["value"].clone(), metrics["commits_made"]["value"].clone())
}

#[test]
fn what_a_session_did_is_seen_without_git() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\ntarget/\n");
    sandbox.write("old.txt", "old\n");
    sandbox.begin(CHECK);
    let commit = |_: &Sandbox| sandbox.commit("work");
    let steps: [(&str, Act, i64, i64); 8] = [
        ("a file is written", &|it| it.write("a.txt", "1"), 1, 0),
        ("it is written again, and another", &|it| (it.write("a.txt", "12"), it.write("src/b", "1")).1, 2, 0),
        ("two are committed", &commit, 0, 1),
        ("one is changed and committed", &|it| (it.write("src/b", "12"), it.commit("b")).1, 1, 1),
        ("two commits", &|it| (it.commit("c"), it.write("c", "1"), it.commit("d")).2, 1, 2),
        ("one is deleted", &|it| std::fs::remove_file(it.project.join("old.txt")).expect("there"), 1, 0),
        (
            "what is ignored is written, and one file",
            &|it| (it.write("target/x", "1"), it.write("d", "1")).1,
            1,
            0,
        ),
        ("the design is ticked, and one file", &|it| (it.fulfil(), it.write("e", "1")).1, 2, 1),
    ];
    for (what, act, files, commits) in steps {
        act(&sandbox);
        assert!(stop(&sandbox, "working").is_some(), "{what}");
        assert_eq!(metrics(&sandbox), (json!(files), json!(commits)), "{what}");
    }
    assert!(!sandbox.note("git").exists(), "git was called");
    let files: Vec<String> =
        serde_json::from_value(sandbox.state_file()["filesModified"].clone()).expect("texts");
    assert_eq!(files, ["a.txt", "c", "d", "e", "hello.txt", "old.txt", "src/b"]);
}

#[test]
fn two_stops_at_which_nothing_was_done_are_too_many_also_after_others() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.write("a.txt", "1");
    assert!(stop(&sandbox, "working").is_some());
    // What is ignored, and our own files, are no progress.
    sandbox.write(".loop/notes", "1");
    assert!(stop(&sandbox, "working").is_some());
    assert_eq!(stop(&sandbox, "working"), None);
    assert_eq!(sandbox.status()["status"], "halted");
    assert!(!sandbox.note("git").exists(), "git was called");
}

#[test]
fn a_false_promise_after_quick_stops_is_measured_against_the_last_of_them() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    assert!(sandbox.stop("one", true, PROMISE).is_some());
    assert_eq!(metrics(&sandbox), (json!(0), json!(0)));
    assert_eq!(sandbox.stop("one", true, PROMISE), None, "nothing was done twice in a row");
    assert_eq!(sandbox.status()["status"], "halted");
}

#[test]
fn without_marks_git_tells() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.write("a.txt", "1");
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let marks = sandbox.root().join("home/runs").join(run).join("marks.json");
    std::fs::write(&marks, "{").expect("written");
    assert!(sandbox.stop("one", false, "working").is_some());
    assert_eq!(metrics(&sandbox), (json!(1), json!(0)));
    // A rewound branch is no plain commit.
    sandbox.commit("a");
    assert!(sandbox.stop("one", true, "working").is_some());
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(sandbox.stop("one", true, "working").is_some());
    assert_eq!(metrics(&sandbox), (json!(1), json!(0)));
}
