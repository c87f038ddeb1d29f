//! An honest agent is not blamed for what it did not do, and is not kept from doing its work.

use loop_harness::{COMMIT, Fifo, PROMISE, Sandbox};
use std::process::{Command, Stdio};

fn said(sandbox: &Sandbox, text: &str) -> bool {
    sandbox.events().iter().any(|it| it.to_string().contains(text))
}

#[test]
fn what_was_uncommitted_before_does_not_count_against_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "a project\nand a line of mine\n");
    sandbox.write("draft", "mine\n");
    sandbox.write("vanished", "mine\n");
    sandbox.git(&["add", "vanished"]);
    std::fs::remove_file(sandbox.project.join("vanished")).expect("a file");
    let inner = sandbox.project.join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let mut init = Command::new("git");
    sandbox.furnish(&mut init);
    assert!(init.args(["init", "-q"]).current_dir(&inner).status().expect("git").success());
    let agent = sandbox.agent(&format!("echo x > work; git add work; git commit -qm work work; {PROMISE}"));
    let command = ["run", "it", "--allow-dirty", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    sandbox.run(&command).exits(0);
    assert_eq!(sandbox.calls(), [1]);
    assert_eq!(sandbox.read("draft"), "mine\n");
}

#[test]
fn what_the_agent_adds_to_uncommitted_work_counts() {
    let sandbox = Sandbox::new();
    sandbox.write("draft", "mine\n");
    let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" >> draft; {PROMISE}"));
    let command = ["run", "it", "--allow-dirty", "--agent-cmd", &agent, "--check", "tests=true", "-n", "2"];
    sandbox.run(&command).exits(6);
    assert!(sandbox.prompt(2).contains("uncommitted: draft"), "{}", sandbox.prompt(2));
}

/// A repository that can be a submodule.
fn library(sandbox: &Sandbox) -> String {
    let path = sandbox.root().join("library");
    std::fs::create_dir(&path).expect("a folder");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        sandbox.furnish(&mut command);
        let identity = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"];
        command.args(identity).args(arguments).current_dir(&path);
        assert!(command.status().expect("git").success());
    };
    git(&["init", "-q", "-b", "main"]);
    std::fs::write(path.join("lib.txt"), "one\n").expect("a file");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "the library"]);
    path.to_str().expect("text").to_owned()
}

#[test]
fn a_submodule_that_is_added_and_committed_is_clean() {
    let sandbox = Sandbox::new();
    let from = library(&sandbox);
    let agent = sandbox.agent(&format!(
        "git -c protocol.file.allow=always submodule add -q '{from}' sub; git commit -qm sub; {PROMISE}"
    ));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f sub/lib.txt"]).exits(0);
    assert_eq!(sandbox.calls(), [1]);
}

#[test]
fn changes_inside_a_submodule_count() {
    let sandbox = Sandbox::new();
    let from = library(&sandbox);
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &from, "sub"]);
    sandbox.commit("a submodule");
    let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" >> sub/lib.txt; {PROMISE}"));
    let command = ["run", "it", "--agent-cmd", &agent, "--check", "tests=grep -q 1 sub/lib.txt"];
    sandbox.run(&[&command[..], &["-n", "2"]].concat()).exits(6);
    assert!(sandbox.prompt(2).contains("sub/"), "{}", sandbox.prompt(2));
    let commit = "git -c user.name=t -c user.email=t@localhost commit -qam";
    let tidy = sandbox.agent(&format!("(cd sub && {commit} inner); git commit -qam outer; {PROMISE}"));
    sandbox.run(&["run", "--agent-cmd", &tidy, "--max", "5"]).exits(0);
}

/// Python leaves compiled files beside what it imports, and nobody adds an ignore file to a library of others.
#[test]
fn compiled_files_in_a_submodule_without_an_ignore_file_stop_nobody() {
    let sandbox = Sandbox::new();
    let from = library(&sandbox);
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &from, "sub"]);
    sandbox.commit("a submodule");
    let check = "tests=mkdir -p sub/__pycache__; date +%N > sub/__pycache__/lib.cpython-314.pyc; \
                 grep -q one sub/lib.txt && test -f work";
    let agent = sandbox.agent(&format!("echo x > work; git add work; git commit -qm work; {PROMISE}"));
    let command = ["run", "it", "--agent-cmd", &agent, "--check", check];
    sandbox.run(&command).exits(0);
    assert_eq!(
        (sandbox.calls(), sandbox.status()["proof"]["level"].clone()),
        (vec![1], "red-to-green".into())
    );
    sandbox.run(&command).exits(0).says("already done");
}

#[test]
fn what_the_checks_left_is_named_as_theirs_and_ignored_where_git_ignores_it() {
    let sandbox = Sandbox::new();
    let check = "tests=test -f work || exit 1; mkdir -p target; date +%N > target/a; date +%N > target/b";
    let agent = sandbox.agent(&format!("echo x > work; git add work; git commit -qm work; {PROMISE}"));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", check, "-n", "2"]).exits(6);
    assert!(
        sandbox.prompt(2).contains("uncommitted: target/ (left by the check tests)"),
        "{}",
        sandbox.prompt(2)
    );
    let tidy = sandbox.agent(&format!("echo target/ > .gitignore; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "--agent-cmd", &tidy, "--max", "5"]).exits(0);
}

/// The clean checkout of the baseline is tested beside the first call, and an agent may stop test runs by their
/// name.
#[test]
fn a_baseline_that_the_agent_stopped_is_taken_again() {
    let sandbox = Sandbox::new();
    let (begun, never, killed) = (sandbox.path("begun"), sandbox.path("never"), sandbox.path("killed"));
    let _both_ends = [Fifo::new(&begun), Fifo::new(&never)];
    let (begun, never, killed) = (begun.display(), never.display(), killed.display());
    let check = format!(
        "tests=[ \"$HOME\" = {} ] || [ -e {killed} ] || {{ echo $$ > {begun}; read it < {never}; }}; test -e work",
        sandbox.user.display()
    );
    let agent = sandbox.agent(&format!(
        "read pid < {begun}; touch {killed}; kill -9 $pid; echo x > work; {COMMIT}; {PROMISE}"
    ));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", &check]).exits(0);
    assert_eq!(sandbox.status()["proof"]["level"], "red-to-green", "{}", sandbox.status());
}

#[test]
fn a_git_lock_whose_owner_is_dead_is_removed_and_named() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "if [ \"$LOOP_CALL\" = 1 ]; then touch .git/index.lock; else echo x > work; {COMMIT}; fi; {PROMISE}"
    ));
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]);
    done.exits(0).says("removed .git/index.lock, a git lock whose owner is dead");
    assert_eq!(sandbox.calls(), [1, 2]);
    assert!(sandbox.prompt(2).contains("removed .git/index.lock"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_git_lock_that_is_held_stays_and_its_owner_is_named() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let lock = sandbox.project.join(".git/index.lock");
    let file = std::fs::File::create(&lock).expect("a lock");
    // Somebody who has it open, as git has while it writes.
    let mut holder = Command::new("cat").stdin(Stdio::piped()).stdout(file).spawn().expect("cat");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"]).exits(6);
    assert!(lock.exists());
    let held = format!(".git/index.lock is in use by process {} (cat)", holder.id());
    assert!(said(&sandbox, &held));
    sandbox.run(&["log"]).exits(0).says(&held);
    drop(holder.stdin.take());
    holder.wait().expect("an end");
}

/// As in a pipeline, where nobody has configured git.
#[test]
fn who_commits_and_how_a_remote_is_reached_is_passed_on() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "--unset", "user.name"]);
    sandbox.git(&["config", "--unset", "user.email"]);
    sandbox.git(&["config", "user.useConfigOnly", "true"]);
    let note = "env | grep '^GIT_' | sort >";
    let agent = sandbox.agent(&format!("{note} \"$OUT/agent\"; echo x > work; {COMMIT}; {PROMISE}"));
    let check = format!("tests={note} \"$OUT/check\"; test -f work");
    let mut command = sandbox.command(&["run", "it", "--agent-cmd", &agent, "--check", &check]);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "pipeline").env(format!("GIT_{who}_EMAIL"), "ci@localhost");
    }
    command.env("GIT_SSH_COMMAND", "ssh -i key").env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z");
    for astray in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_GLOBAL"]
    {
        command.env(astray, "/nonexistent");
    }
    command.env("GIT_CONFIG_COUNT", "0");
    sandbox.start(command).wait().exits(0);
    for who in ["agent", "check"] {
        let names: Vec<String> =
            sandbox.notes(who).iter().filter_map(|it| Some(it.split_once('=')?.0.to_owned())).collect();
        let kept = [
            "AUTHOR_DATE",
            "AUTHOR_EMAIL",
            "AUTHOR_NAME",
            "COMMITTER_EMAIL",
            "COMMITTER_NAME",
            "SSH_COMMAND",
        ];
        assert_eq!(names, kept.map(|it| format!("GIT_{it}")), "{who}");
    }
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an %ce"]), "pipeline ci@localhost");
}
