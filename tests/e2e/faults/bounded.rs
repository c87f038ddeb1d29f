//! What a home may grow to, what is deleted from it, and what happens when a disk is full or when
//! something odd lies where a file should be.

use super::starved::Mounted;
use loop_harness::{COMMIT, PROMISE, Sandbox, skipped};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Forty calls of 20 kB each, with room for ten of them.
#[test]
fn home_a_long_run_keeps_its_last_calls_and_says_what_is_gone() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "head -c 20000 /dev/zero | tr '\\0' a; echo; echo $LOOP_CALL >> work; {COMMIT}; [ $LOOP_CALL -lt 40 ] || {{ {PROMISE}; }}"
    ));
    let mut command =
        sandbox.command(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "45"]);
    command.env("LOOP_RUN_BYTES", "200000");
    sandbox.start(command).wait().exits(0);
    assert_eq!(sandbox.calls().len(), 40);
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let folder = sandbox.home.join("runs").join(&run);
    let size: u64 = sandbox.contents(&folder).iter().map(|it| it.1.len() as u64).sum();
    assert!(size < 800_000, "{size} bytes: at most ten calls, those since the last look, and the books");
    assert!(folder.join("call-40.out").exists() && folder.join("call-38.out").exists());
    assert!(!folder.join("call-2.out").exists());
    sandbox.run(&["show", "2"]).exits(0).says("were removed to limit the size");
    let kept = sandbox.run(&["show", "40"]).exits(0);
    assert!(!kept.out.contains("were removed"), "{}", kept.out);
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn home_pruning_takes_finished_runs_with_their_snapshots_and_nothing_else() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo $LOOP_CALL >> work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "done", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    sandbox.run(&["run", "open", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"]).exits(6);
    let snapshots =
        || sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/loop/snap"]).lines().count();
    assert_eq!(snapshots(), 2);
    sandbox.run(&["runs", "--prune", "--older-than", "30d"]).exits(0).says("0 runs deleted");
    sandbox.run(&["runs", "--prune", "--down-to", "1G"]).exits(0).says("0 runs deleted");
    sandbox.run(&["runs", "--prune", "--dry-run"]).exits(0).says("would be deleted: 1 run,");
    sandbox.run(&["runs", "--prune", "--down-to", "many"]).exits(2);
    assert_eq!(snapshots(), 2);
    sandbox.run(&["runs", "-v"]).exits(0).says(" kB in ");
    sandbox.run(&["runs", "--prune", "--yes"]).exits(0).says("1 run deleted");
    assert_eq!(snapshots(), 1);
    let left = sandbox.run(&["runs"]).exits(0);
    assert!(left.out.contains("open") && !left.out.contains("done"), "{}", left.out);
    sandbox.run(&["verify"]).exits(0);
    // A repository that is gone is no reason to keep its runs.
    sandbox.run(&["cancel", "--yes"]).exits(0);
    std::fs::rename(&sandbox.project, sandbox.root().join("moved")).expect("moved");
    std::fs::create_dir(&sandbox.project).expect("a folder");
    sandbox.run(&["runs", "--prune", "--yes"]).exits(0).says("1 run deleted");
}

#[test]
fn g07_no_call_begins_on_a_disk_that_is_almost_full() {
    const NAME: &str = "g07_no_call_begins_on_a_disk_that_is_almost_full";
    for full in ["home", "tree"] {
        let mut sandbox = Sandbox::new();
        let at = if full == "home" { sandbox.home.clone() } else { sandbox.project.join("big") };
        let place = if full == "home" { at.clone() } else { sandbox.project.clone() };
        if full == "tree" {
            std::fs::rename(&sandbox.project, sandbox.root().join("kept")).expect("moved");
        }
        let Some(disk) = Mounted::new(&place, "size=200m,mode=0700") else {
            return skipped(NAME, "a file system cannot be mounted here");
        };
        if full == "tree" {
            let copied = Command::new("cp").arg("-a").arg(sandbox.root().join("kept/.")).arg(&place).status();
            assert!(copied.expect("cp").success());
        }
        let ballast = place.join(".git/ballast");
        let ballast = if full == "tree" { ballast } else { place.join("ballast") };
        std::fs::write(&ballast, vec![1; 193 << 20]).expect("room for it");
        // A home holds nothing but its own files.
        sandbox.home = if full == "home" { place.join("home") } else { sandbox.home.clone() };
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; {PROMISE}"));
        let command = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
        let done = sandbox.run(&command).exits(5);
        assert!(done.err.contains("the disk of ") && done.err.contains(" free"), "{}", done.err);
        assert!(sandbox.calls().is_empty(), "{full}");
        assert_eq!(sandbox.status()["status"], "paused");
        std::fs::remove_file(ballast).expect("removed");
        // A proof alone needs 256 MB.
        disk.change("size=600m");
        sandbox.run(&["run"]).exits(0);
        assert_eq!(sandbox.calls(), [1], "{full}");
        drop(disk);
    }
}

fn pipe(path: &Path) {
    let _may_be_absent = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// A pipe in place of a file would be waited for; a device has no end. Each is refused by name.
#[test]
fn g35_what_is_no_file_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let run = |input: &str| {
        sandbox.run(&["run", input, "--preset", "ralph", "--agent-cmd", &agent, "--check", "tests=true"])
    };
    pipe(&sandbox.project.join("DESIGN-20260101-000000.md"));
    let done = run("DESIGN-20260101-000000.md").exits(2);
    assert!(done.err.contains("DESIGN-20260101-000000.md"), "{}", done.err);
    std::fs::remove_file(sandbox.project.join("DESIGN-20260101-000000.md")).expect("removed");
    symlink("/dev/zero", sandbox.project.join("DESIGN-20260102-000000.md")).expect("a link");
    run("DESIGN-20260102-000000.md").exits(2).says("DESIGN-20260102-000000.md");
    std::fs::remove_file(sandbox.project.join("DESIGN-20260102-000000.md")).expect("removed");
    for target in ["a pipe", "/dev/zero"] {
        let path = sandbox.project.join(".loop/workflow.toml");
        if target == "a pipe" {
            pipe(&path);
        } else {
            std::fs::remove_file(&path).expect("removed");
            symlink(target, &path).expect("a link");
        }
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]).exits(2);
        assert!(done.err.contains("workflow.toml"), "{}", done.err);
        sandbox.run(&["check"]).exits(2);
    }
    std::fs::remove_dir_all(sandbox.project.join(".loop")).expect("removed");
    let exclude = sandbox.project.join(".git/info/exclude");
    pipe(&exclude);
    let done = run("it");
    assert!(done.code != 0 && done.err.contains("info/exclude"), "{done:?}");
    std::fs::remove_file(&exclude).expect("removed");
    symlink(sandbox.note("stolen"), &exclude).expect("a link");
    let done = run("it");
    assert!(done.code != 0 && done.err.contains("info/exclude"), "{done:?}");
    assert!(!sandbox.note("stolen").exists());
    assert!(sandbox.calls().is_empty());
}

/// The agent puts pipes and links where we read and write while it works.
#[test]
fn g35_an_agent_cannot_make_us_wait_or_write_elsewhere() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "case $LOOP_CALL in
         1) rm -f DESIGN*.md; mkfifo $(ls -d DESIGN*.md 2>/dev/null || echo DESIGN-20260101-000000.md);;
         2) rm -f .claude-task-state.json; ln -s \"$OUT/stolen\" .claude-task-state.json; mkfifo \"$LOOP_RESULT_FILE\";;
         3) rm -f .claude-task-state.json; mkfifo .claude-task-state.json;;
         esac; touch work-$LOOP_CALL; git add work-*; git commit -q -m x; {PROMISE}"
    ));
    sandbox.write("DESIGN-20260101-000000.md", "# it\n\n## Acceptance criteria\n\n- [ ] works\n");
    sandbox.commit("a design");
    let done = sandbox.run(&[
        "run",
        "DESIGN-20260101-000000.md",
        "--agent-cmd",
        &agent,
        "--check",
        "tests=false",
        "-n",
        "3",
    ]);
    assert!(matches!(done.code, 4 | 6), "{done:?}");
    assert!(!sandbox.note("stolen").exists(), "a mirror was written through a link");
    sandbox.run(&["status"]).exits(0);
    assert!(!sandbox.note("stolen").exists());
}
