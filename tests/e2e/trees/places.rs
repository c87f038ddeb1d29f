//! Odd places: no git, no repository, names that break shells and terminals, two homes.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[test]
fn places_without_git_it_says_so() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["run", "it", "--agent-cmd", "/bin/true", "--check", "tests=true"]);
    let empty = sandbox.root().join("tmp");
    command.env("PATH", &empty);
    let done = sandbox.start(command).wait().exits(2);
    assert!(done.err.contains("git"), "{}", done.err);
    let mut command = sandbox.command(&["demo"]);
    command.env("PATH", &empty);
    sandbox.start(command).wait().exits(2);
    assert!(sandbox.contents(&empty).is_empty());
}

#[test]
fn places_outside_of_a_repository_it_says_so() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["run", "it", "--agent-cmd", "true", "--check", "tests=true"]);
    command.current_dir(sandbox.root().join("tmp"));
    let done = sandbox.start(command).wait().exits(2);
    assert!(done.err.contains("git"), "{}", done.err);
    sandbox
        .run(&["run", "it", "-C", "/no/such/folder", "--agent-cmd", "true", "--check", "tests=true"])
        .exits(2);
}

/// A repository in which nothing was ever committed.
#[test]
fn places_an_empty_repository_is_a_place_to_work() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir_all(sandbox.project.join(".git")).expect("a repository");
    std::fs::remove_file(sandbox.project.join("README.md")).expect("a file");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["config", "user.name", "tester"]);
    sandbox.git(&["config", "user.email", "tester@localhost"]);
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    assert_eq!(sandbox.subjects(), ["call 1"]);
}

#[test]
fn g35_names_of_folders_are_only_names() {
    let names = [
        "with spaces",
        "quote's \"and\" `ticks`",
        "$(touch pwned);&|*?[a]",
        "-n --max 1",
        "grün \u{202e}txt",
        "back\\slash",
    ];
    for name in names {
        let sandbox = Sandbox::called(name.as_ref());
        let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
        let command = ["run", "it", "--agent-cmd", &agent, "--check", "tests=[ $(wc -l < work) = 2 ]"];
        sandbox.run(&[&command[..], &["-n", "1"]].concat()).exits(6);
        sandbox.run(&["run", "--max", "5"]).exits(0);
        let status = sandbox.status();
        assert_eq!(status["project"], sandbox.project.to_str().expect("text"), "{name:?}");
        sandbox.run(&["restore"]).exits(0);
        sandbox.run(&["show", "2"]).exits(0);
        assert_eq!(sandbox.calls(), [1, 2], "{name:?}");
        assert!(!sandbox.project.join("pwned").exists());
        sandbox.assert_nothing_runs();
    }
}

/// What cannot be kept as text, or told apart in git's answers, is refused by name before anything
/// begins: a run that could be begun and not continued would be worse.
#[test]
fn g35_a_path_that_cannot_be_written_down_is_refused_by_name() {
    for (name, shown) in [(&b"not\xfftext"[..], "not\u{fffd}text"), (b"line\nbreak", "line\nbreak")] {
        let sandbox = Sandbox::called(Path::new(OsStr::from_bytes(name)));
        let agent = sandbox.agent(PROMISE);
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]).exits(2);
        assert!(done.err.contains(shown), "{}", done.err);
        assert!(sandbox.calls().is_empty());
        sandbox.run(&["status"]).exits(0);
    }
}

#[test]
fn places_two_homes_know_nothing_of_each_other() {
    let sandbox = Sandbox::new();
    let other = sandbox.root().join("other-home");
    let other = other.to_str().expect("plain");
    let agent = sandbox.agent(WORK);
    let command = ["run", "it", "--agent-cmd", &agent, "--check", CHECK];
    sandbox.run(&command).exits(0);
    assert_eq!(sandbox.run(&["status", "--json", "--home", other]).exits(0).out.trim(), "{\"run\":null}");
    sandbox.undo();
    sandbox.run(&[&command[..], &["--home", other]].concat()).exits(0);
    assert_eq!(sandbox.calls(), [1, 1]);
    let mut by_variable = sandbox.command(&["status", "--json"]);
    by_variable.env("LOOP_HOME", other);
    let seen = sandbox.start(by_variable).wait().exits(0);
    assert!(!seen.out.contains(sandbox.status()["run"].as_str().expect("an id")));
    sandbox.undo();
    let mut by_state_home = sandbox.command(&["run", "that", "--agent-cmd", &agent, "--check", CHECK]);
    by_state_home.env_remove("LOOP_HOME").env("XDG_STATE_HOME", sandbox.root().join("state"));
    sandbox.start(by_state_home).wait().exits(0);
    assert!(sandbox.root().join("state/loop/loop.db").exists());
}

/// The project is the nearest folder above that has a repository or a workflow.
#[test]
fn places_it_works_from_a_folder_below() {
    let sandbox = Sandbox::new();
    sandbox.write("deep/down/file", "x");
    sandbox.commit("a folder");
    let agent = sandbox.agent(&format!("pwd > \"$OUT/where\"; {WORK}"));
    sandbox
        .run(&[
            "run",
            "it",
            "-C",
            "deep/down",
            "--agent-cmd",
            &agent,
            "--check",
            "tests=test -d deep && test -f work",
        ])
        .exits(0);
    assert_eq!(sandbox.notes("where"), [sandbox.project.to_str().expect("plain")]);
    assert_eq!(sandbox.status()["status"], "completed");
}
