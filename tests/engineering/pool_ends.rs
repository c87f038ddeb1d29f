//! How a pool ends, what it proposes then, and what it leaves to people.

use crate::domain::{Domain, system};
use loop_harness::Fifo;
use rustix::process::Signal;

/// Puts a git first in PATH whose commands begin with these lines of shell; `$*` is the command.
fn git_that(domain: &mut Domain, lines: &str) {
    let path = std::env::var_os("PATH").expect("a path");
    let git = std::env::split_paths(&path).map(|it| it.join("git")).find(|it| it.exists());
    let out = domain.sandbox.note("").display().to_string();
    let lines = lines.replace("NOTES/", &out);
    let script = format!("#!/bin/sh\n{lines}\nexec '{}' \"$@\"\n", git.expect("git").display());
    domain.sandbox.program("bin/git", &script);
    domain.sandbox.path_first.push(domain.sandbox.path("bin"));
}

/// A run is stopped while the pool is busy with opening another system.
#[test]
fn a_run_that_is_stopped_while_another_system_is_opened_stays_stopped() {
    let mut domain = Domain::new(&[1, 2, 3].map(|it| system(&format!("sys-00{it}"), it, &[])));
    // The next git of the pool itself waits.
    git_that(
        &mut domain,
        "if [ -e NOTES/hold ] && grep -q -- --jobs /proc/$PPID/cmdline; then rm NOTES/hold; echo pool > NOTES/here; \
         read -r _ < NOTES/go-pool; fi",
    );
    let [_first, second, opened]: [Fifo; 3] = ["sys-001", "sys-002", "pool"].map(|it| domain.held(it));
    let pool = domain.pool(2, "honest", &[]);
    domain.hear();
    domain.hear();
    let run = domain.run_that_is("sys-001", "running");
    std::fs::write(domain.sandbox.note("hold"), "").expect("written");
    second.say();
    assert_eq!(domain.hear(), "pool");
    domain.sandbox.run(&["stop", "--now", "--run", &run]).exits(0);
    domain.run_that_is("sys-001", "paused");
    opened.say();
    let done = pool.wait().exits(5).says("sys-001  paused").says("sys-003  completed");
    done.says("stopped: 2 of 3 systems complete");
    assert_eq!(domain.built(), ["sys-001", "sys-002", "sys-003"], "it was not begun again");
    domain.sandbox.assert_nothing_runs();
}

/// Wherever a pool is killed while it claims a system, the next one builds it.
#[test]
fn a_pool_that_is_killed_while_it_claims_leaves_nothing_that_stays_claimed() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        let test = "a_pool_that_is_killed_while_it_claims_leaves_nothing_that_stays_claimed";
        return loop_harness::skipped(test, "strace is not installed");
    }
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    let agent = domain.agent("honest");
    let file = sandbox.project.join("domain-memory/shop/system-queue.json").display().to_string();
    for (call, most) in [("rename", 2), ("statx", 12)] {
        for time in 1..=most {
            let kill = format!("inject={call}:signal=KILL:when={time}");
            let words = ["-qq", "-o", "/dev/null", "-P", &file, "-e", "trace=rename,statx", "-e", &kill];
            let mut traced = sandbox.furnished("strace", &words);
            traced.arg(loop_harness::program()).args(["run", "--jobs", "1", "--agent-cmd", &agent]);
            drop(traced.output().expect("strace"));
        }
    }
    domain.pool(1, "honest", &[]).wait().exits(0).says("1 of 1 system complete");
    domain.assert_nothing_left();
}

/// Whoever answers says what to, where only one question has that answer.
#[test]
fn an_answer_is_for_the_run_that_can_take_it() {
    let mut systems = [1, 2].map(|it| system(&format!("sys-00{it}"), it, &[]));
    systems[0]["autonomy"] = serde_json::json!({ "mode": "hybrid" });
    let domain = Domain::new(&systems);
    let sandbox = &domain.sandbox;
    let script =
        "case $id in sys-002) [ -e \"$OUT/mended\" ] || { stuck 'the key is missing'; exit; };; esac; honest";
    domain.pool(2, script, &[]).wait().exits(4);
    sandbox.run(&["approve", "security", "--by", "ann"]).exits(0);
    std::fs::write(sandbox.note("mended"), "").expect("written");
    sandbox.run(&["answer", "resume"]).exits(0);
    domain.pool(2, script, &[]).wait().exits(0);
    domain.assert_nothing_left();
}

#[test]
fn a_worktree_that_somebody_deleted_is_told_with_what_brings_it_back() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    let go = domain.held("sys-001");
    let pool = domain.pool(1, "case $LOOP_PHASE in BUILD) hold;; esac; say done built", &[]);
    domain.hear();
    let place = sandbox.project.join(".worktrees/feature-sys-001");
    std::fs::remove_dir_all(&place).expect("it is there");
    go.say();
    let done = pool.wait().exits(4).says("is not what it was: it is gone");
    let help = done.err.lines().rfind(|it| it.starts_with("help: ")).expect("help").to_owned();
    assert!(help.contains("git worktree add --force"), "{help}");
    let again = sandbox.run(&["resume"]).exits(4);
    assert!(again.err.contains(&help), "{}", again.err);
}

#[test]
fn several_runs_that_stopped_are_continued_by_the_pool_that_had_them() {
    let domain = Domain::new(&[1, 2].map(|it| system(&format!("sys-00{it}"), 1, &[])));
    let sandbox = &domain.sandbox;
    let go = ["sys-001", "sys-002"].map(|it| domain.held(it));
    let pool = domain.pool(2, "honest", &[]);
    domain.hear();
    domain.hear();
    for id in ["sys-001", "sys-002"] {
        let run = domain.run_that_is(id, "running");
        sandbox.run(&["stop", "--run", &run]).exits(0);
    }
    go.iter().for_each(Fifo::say);
    pool.wait()
        .exits(5)
        .says("stopped: 0 of 2 systems complete")
        .says("next: loop run --jobs 2 --agent-cmd ");
    ["go-sys-001", "go-sys-002"]
        .iter()
        .for_each(|it| std::fs::remove_file(sandbox.note(it)).expect("a pipe"));
    domain.pool(2, "honest", &[]).wait().exits(0).says("2 of 2 systems complete");
    domain.assert_nothing_left();
}

/// What a pool in the background proposes is what a person types.
#[test]
fn a_pool_in_the_background_proposes_what_people_type() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    let _go = domain.held("sys-001");
    let agent = domain.agent("honest");
    let words = ["run", "--jobs", "2", "--detach", "--agent-cmd", &agent];
    let started = sandbox.run(&words).exits(0);
    domain.hear();
    let refused = sandbox.run(&words).exits(7).says("loop run --jobs 2 --agent-cmd ");
    assert!(!format!("{refused:?}").contains("pool-without-terminal"), "{refused:?}");
    let status = sandbox.run(&["status"]).exits(0).says("(loop run --jobs 2 --agent-cmd ");
    assert!(!status.out.contains("/proc/self/exe"), "{}", status.out);
    let pid = started.out.lines().find_map(|it| it.strip_prefix("to pause it: kill -INT "));
    let pid = pid.and_then(|it| rustix::process::Pid::from_raw(it.trim().parse().ok()?)).expect("a pid");
    rustix::process::kill_process(pid, Signal::INT).expect("it is there");
    sandbox.assert_nothing_runs();
    let log = started.out.lines().find_map(|it| it.strip_prefix("messages: ")).expect("a log").trim();
    let log = std::fs::read_to_string(log).expect("text");
    let next =
        log.lines().find(|it| it.starts_with("next: loop run --jobs 2 --agent-cmd ")).expect("a next step");
    assert!(next.ends_with(" --detach") && !next.contains("terminal"), "{log}");
}

#[test]
fn a_git_that_is_killed_while_it_removes_a_worktree_is_tried_again() {
    let mut domain = Domain::new(&[system("sys-001", 1, &[])]);
    git_that(
        &mut domain,
        "case \"$*\" in *'worktree remove --force -- '*.worktrees*) [ -e NOTES/killed ] || { : > NOTES/killed; kill -9 $$; };; esac",
    );
    domain.pool(1, "honest", &[]).wait().exits(0);
    assert!(domain.sandbox.note("killed").exists());
    domain.assert_nothing_left();
}
