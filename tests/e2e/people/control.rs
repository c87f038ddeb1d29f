//! Stopping, cancelling, beginning anew, looking without touching: what people do with runs.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK, within};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

#[test]
fn lp19_stop_lets_the_iteration_finish() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "[ \"$LOOP_CALL\" = 1 ] && {{ echo here > \"$OUT/at\"; read x < \"$OUT/go\"; }}; date +%N > work; [ \"$LOOP_CALL\" = 1 ] || touch second; {COMMIT}; {PROMISE}"
    ));
    let check = "tests=[ -z \"$OUT\" ] || echo checked >> $OUT/checked; cat work; [ -f second ]";
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", check];
    let running = sandbox.spawn(&command);
    at.hear();
    sandbox.run(&["stop"]).exits(0).says("after this iteration");
    go.say();
    let done = running.wait().exits(5).says("stopped");
    assert!(done.err.contains("next: loop run"), "{}", done.err);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"stopped".into(), &1.into()));
    assert_eq!(sandbox.notes("checked").len(), 2, "the iteration was measured to its end");
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2]);
}

/// A run that ended by itself is not called stopped, and the command behind it continues it.
#[test]
fn lp19_stop_of_a_run_that_has_ended_names_what_continues_it() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("true");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK, "-n", "1"]).exits(6);
    for command in ["stop", "pause"] {
        let said = sandbox.run(&[command]).exits(0).out;
        assert_eq!(said, "the run has ended already: it reached its cap; continue with: loop run --max 11\n");
    }
    let told = sandbox.run(&["stop", "--json"]).exits(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["next_step"], "loop run --max 11");
    sandbox.run(&["run", "--max", "11"]).exits(4);
    for command in ["stop", "pause"] {
        let said = sandbox.run(&[command]).exits(0).out;
        assert_eq!(said, "the run is halted already\nnext: loop answer reset\n");
        assert_eq!(sandbox.status()["status"], "halted", "{command}");
    }
}

#[test]
fn lp19_stop_now_ends_the_call() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent("echo here > \"$OUT/at\"; read x < \"$OUT/go\"");
    let running = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"]);
    at.hear();
    sandbox.run(&["stop", "--now"]).exits(0);
    running.wait().exits(5);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"paused".into(), &0.into()));
    sandbox.assert_nothing_runs();
}

#[test]
fn rt21_cancel_says_where_it_was_and_a_cancelled_run_is_over() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cancel"]).exits(0).says("no active loop");
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"];
    sandbox.run(&command).exits(6);
    sandbox.run(&["cancel"]).exits(0).says("cancelled at iteration 1/1: build it");
    let status = sandbox.status();
    assert_eq!(status["status"], "cancelled");
    let mirror: serde_json::Value =
        serde_json::from_str(&sandbox.read(".claude-task-state.json")).expect("JSON");
    assert_eq!(mirror["status"], "cancelled");
    sandbox.run(&["resume"]).exits(2).says("cancelled");
    sandbox.run(&["cancel"]).exits(0).says("no active loop");
    sandbox.run(&["guide", "more"]).exits(2);
    sandbox.run(&command).exits(6);
    assert_ne!(sandbox.status()["run"], status["run"], "run opens another");
    assert_eq!(sandbox.calls(), [1, 1]);
}

#[test]
fn rt21_cancel_ends_a_call_that_is_under_way() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent("echo here > \"$OUT/at\"; read x < \"$OUT/go\"");
    let running = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"]);
    at.hear();
    sandbox.run(&["cancel"]).exits(0);
    running.wait().exits(5).says("cancelled");
    assert_eq!(sandbox.status()["status"], "cancelled");
    sandbox.assert_nothing_runs();
}

#[test]
fn runs_a_completed_run_says_so_and_fresh_begins_anew() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    sandbox.run(&command).exits(0);
    let first = sandbox.status();
    sandbox.run(&command).exits(0).says("already done");
    sandbox.run(&["resume"]).exits(0).says("already done");
    sandbox.run(&["stop"]).exits(0).says("no active loop");
    assert_eq!(sandbox.calls(), [1]);
    sandbox.undo();
    sandbox.run(&[&command[..], &["--fresh"]].concat()).exits(0);
    assert_eq!(sandbox.calls(), [1, 1]);
    let second = sandbox.status();
    assert_ne!(first["run"], second["run"]);
    assert_eq!(second["status"], "completed");
}

#[test]
fn runs_fresh_cancels_what_was_unfinished() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"];
    sandbox.run(&command).exits(6);
    let first = sandbox.status()["run"].as_str().expect("an id").to_owned();
    sandbox.run(&[&command[..], &["--fresh"]].concat()).exits(6);
    let before = sandbox.run(&["status", "--json", "--run", &first]).exits(0);
    assert!(before.out.contains("\"cancelled\""), "{}", before.out);
    assert_ne!(sandbox.status()["run"], first.as_str());
}

#[test]
fn runs_several_unfinished_runs_are_listed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let flags = ["--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"];
    sandbox.run(&[&["run", "build one"], &flags[..]].concat()).exits(6);
    let first = sandbox.status()["run"].as_str().expect("an id").to_owned();
    sandbox.run(&[&["run", "build two"], &flags[..]].concat()).exits(6);
    for command in [&["cancel"][..], &["stop"], &["resume"], &["run"], &["guide", "x"], &["pause"]] {
        let done = sandbox.run(command).exits(2).says("build one").says("build two");
        done.says(&format!("or: loop {} --run {}\n", command.join(" "), &first[..8]));
    }
    sandbox.run(&["answer", "reset"]).exits(2).says("no question is open");
    sandbox.run(&["status"]).exits(0).says("build two");
    sandbox.run(&["cancel", "--run", &first[..8]]).exits(0).says("build one");
    sandbox.run(&["cancel"]).exits(0).says("build two");
    sandbox.run(&["status", "--run", "ffffffffffff"]).exits(2);
}

#[test]
fn runs_without_an_input_the_only_unfinished_run_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run"]).exits(2);
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox
        .run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"])
        .exits(6);
    sandbox.run(&["run"]).exits(6);
    sandbox.run(&["run", "--max", "2"]).exits(6);
    sandbox.run(&["run", "--preset", "ralph", "--max", "3"]).exits(6);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    let id = sandbox.status()["run"].as_str().expect("an id").to_owned();
    sandbox.run(&["run", "--run", &id[..8], "--max", "4"]).exits(6);
    assert_eq!(sandbox.calls(), [1, 2, 3, 4]);
}

#[test]
fn en14_a_dry_run_writes_nothing_and_starts_nothing() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"];
    let dry: Vec<&str> = [&command[..], &["--dry-run"]].concat();
    let before = sandbox.contents(&sandbox.project);
    sandbox.run(&dry).exits(0).says("next decision: run every check once, before the first call");
    assert_eq!(sandbox.contents(&sandbox.project), before);
    assert!(!sandbox.home.exists(), "{:?}", sandbox.contents(&sandbox.home));
    sandbox.run(&command).exits(6);
    let before = (sandbox.contents(&sandbox.project), sandbox.contents(&sandbox.home));
    sandbox.run(&dry).exits(0).says("next decision: capped: 1 of 1 iterations used");
    sandbox.run(&["run", "--dry-run"]).exits(0);
    assert!(
        before == (sandbox.contents(&sandbox.project), sandbox.contents(&sandbox.home)),
        "something was written"
    );
    assert_eq!(sandbox.calls(), [1]);
}

/// Reading commands leave the journal alone.
#[test]
fn en14_looking_changes_nothing() {
    let sandbox = Sandbox::new();
    for command in [
        &[][..],
        &["status"],
        &["runs"],
        &["log"],
        &["show"],
        &["why"],
        &["answer"],
        &["verify"],
        &["restore"],
    ] {
        let done = sandbox.run(command);
        assert!(matches!(done.code, 0 | 2), "{command:?}: {done:?}");
        assert!(!sandbox.home.exists(), "{command:?} made a home");
    }
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=false"]).exits(4);
    let before = sandbox.events();
    for command in [
        &[][..],
        &["status"],
        &["runs"],
        &["log"],
        &["show"],
        &["show", "1"],
        &["why"],
        &["answer"],
        &["verify"],
        &["restore"],
    ] {
        sandbox.run(command).exits(0);
    }
    assert_eq!(sandbox.events(), before);
}

#[test]
fn runs_next_makes_one_call() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
    let command =
        ["next", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; [ $(wc -l < work) = 3 ]"];
    sandbox.run(&command).exits(5);
    assert_eq!(sandbox.calls(), [1]);
    let status = sandbox.status();
    assert_eq!(status["iterations_total"], 1, "the iteration is judged");
    sandbox.run(&command).exits(5);
    assert_eq!(sandbox.calls(), [1, 2]);
    sandbox.run(&["next"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    sandbox.run(&command).exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    sandbox.assert_nothing_runs();
}

#[test]
fn runs_a_run_inside_a_call_needs_a_word() {
    let sandbox = Sandbox::new();
    let program = loop_harness::program();
    let agent = sandbox.agent(&format!(
        "mkdir -p inner; cd inner; git init -q; git config user.name a; git config user.email a@b\n\
         git commit -q --allow-empty -m x; echo \"{WORK}\" > \"$OUT/inner.sh\"\n\
         for it in '' --nested; do '{program}' run inner --agent-cmd \"sh $OUT/inner.sh\" \
         --check 'tests=test -f work' --home \"$OUT/inner-home\" $it >> \"$OUT/said\" 2>&1; echo $? >> \"$OUT/codes\"; done\n\
         cd ..; rm -rf inner; {WORK}"
    ));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(sandbox.notes("codes"), ["2", "0"], "{:?}", sandbox.notes("said"));
    sandbox.assert_nothing_runs();
}

/// Whoever follows a log is woken by what is written, and leaves with the run or at a signal.
#[test]
fn a_followed_log_ends_with_its_run() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let running = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]);
    at.hear();
    let (leaving, staying) = (sandbox.spawn(&["log", "-f"]), sandbox.spawn(&["log", "-f", "--json"]));
    for follower in [&leaving, &staying] {
        let fds = format!("/proc/{}/fd", follower.pid().as_raw_nonzero());
        let watches = || {
            let mut open = std::fs::read_dir(&fds).expect("a process").flatten();
            open.any(|it| std::fs::read_link(it.path()).is_ok_and(|it| it.ends_with("anon_inode:inotify")))
        };
        assert!(within(Duration::from_secs(60), watches), "nobody watches");
    }
    leaving.signal(Signal::INT);
    leaving.wait().exits(130);
    go.say();
    running.wait().exits(0);
    let lines = staying.wait().exits(0).out;
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["kind"], sandbox.events().last().expect("an event")["kind"]);
}
