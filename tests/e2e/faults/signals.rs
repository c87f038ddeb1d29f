//! SIGINT, SIGTERM and SIGHUP: saved at once, ended gently, and nothing is lost.

use loop_harness::{CHECK, Sandbox, WORK, stuck, within};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const SIGNALS: [(Signal, i32, &str); 3] = [
    (Signal::INT, 130, "User interrupt"),
    (Signal::TERM, 143, "Graceful shutdown"),
    (Signal::HUP, 129, "Graceful shutdown"),
];

#[test]
fn signals_a_signal_during_a_call_pauses_the_run() {
    for (signal, code, reason) in SIGNALS {
        let sandbox = Sandbox::new();
        let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
        let agent = sandbox.agent(&format!(
            "[ \"$LOOP_CALL\" = 1 ] || {{ {WORK}; exit 0; }}\n\
             for it in INT TERM HUP; do trap \"echo $it >> \\\"$OUT/signals\\\"; exit 1\" $it; done\n\
             echo here > \"$OUT/at\"; read x < \"$OUT/go\""
        ));
        let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK, "--json"];
        let running = sandbox.spawn(&command);
        at.hear();
        let began = Instant::now();
        running.signal(signal);
        let done = running.wait().exits(code);
        assert!(began.elapsed() < Duration::from_secs(9), "a willing agent needs no grace");
        assert_eq!(sandbox.notes("signals"), ["INT"], "SIGINT comes first, and is enough");
        let last: serde_json::Value =
            serde_json::from_str(done.out.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&last["status"], &last["exit"]), (&"paused".into(), &code.into()));
        let status = sandbox.status();
        assert_eq!(status["status"], "paused");
        assert_eq!(status["reason"], reason);
        assert_eq!(status["calls_total"], 1, "it was a call");
        assert_eq!(status["iterations_total"], 0, "and no iteration");
        assert_eq!(status["breaker"]["no_progress"], 0);
        assert_eq!(status["next_step"], "loop run");
        sandbox.assert_nothing_runs();
        sandbox.run(&command).exits(0);
        assert_eq!(sandbox.calls(), [1, 2]);
        assert_eq!(sandbox.status()["iterations_total"], 1);
    }
}

#[test]
fn signals_a_second_signal_skips_the_grace() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(
        "trap 'echo stubborn > \"$OUT/at\"' INT TERM HUP\necho here > \"$OUT/at\"\n\
         while :; do read x < \"$OUT/go\"; done",
    );
    let running = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"]);
    at.hear();
    let began = Instant::now();
    running.signal(Signal::INT);
    assert_eq!(at.hear(), "stubborn");
    running.signal(Signal::INT);
    running.wait().exits(130);
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    assert_eq!(sandbox.status()["status"], "paused");
    sandbox.assert_nothing_runs();
}

#[test]
fn signals_a_signal_during_a_check_pauses_the_run_and_the_check_is_run_again() {
    for (signal, code, reason) in SIGNALS {
        let sandbox = Sandbox::new();
        let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
        let agent = sandbox.agent(WORK);
        let check = "tests=test -f work || exit 1; [ -z \"$OUT\" ] || [ -f $OUT/seen ] && exit 0; touch $OUT/seen; \
                     echo here > $OUT/at; read x < $OUT/go";
        let command = ["run", "build it", "--agent-cmd", &agent, "--check", check];
        let running = sandbox.spawn(&command);
        at.hear();
        running.signal(signal);
        running.wait().exits(code);
        let status = sandbox.status();
        assert_eq!((&status["status"], &status["reason"]), (&"paused".into(), &reason.into()));
        assert_eq!(status["iterations_total"], 0);
        sandbox.assert_nothing_runs();
        sandbox.run(&command).exits(0);
        assert_eq!(sandbox.calls(), [1], "the call that ended is not repeated");
        assert_eq!(sandbox.status()["iterations_total"], 1);
    }
}

#[test]
fn signals_a_signal_during_the_first_check_pauses_the_run() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(WORK);
    let check = "tests=[ -z \"$OUT\" ] || [ -f $OUT/seen ] && exec test -f work; touch $OUT/seen; echo here > $OUT/at; read x < $OUT/go";
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", check];
    let running = sandbox.spawn(&command);
    at.hear();
    running.signal(Signal::TERM);
    running.wait().exits(143);
    assert_eq!(sandbox.status()["status"], "paused");
    assert!(sandbox.calls().is_empty());
    sandbox.run(&command).exits(0);
}

/// Somebody waits for an answer, and is asked to go.
#[test]
fn signals_a_signal_during_a_wait_for_an_answer_leaves_the_question_open() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&stuck());
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK, "--on-question", "wait"];
    let running = sandbox.spawn(&command);
    assert!(within(Duration::from_secs(30), || sandbox.status()["status"] == "halted"));
    running.signal(Signal::INT);
    running.wait().exits(130);
    let status = sandbox.status();
    assert_eq!(status["status"], "paused");
    assert_eq!(status["question"]["kind"], "breaker", "{status}");
    std::fs::write(sandbox.note("mended"), "").expect("a file");
    let running = sandbox.spawn(&command);
    sandbox.run(&["answer", "reset"]).exits(0);
    running.wait().exits(0);
    sandbox.assert_nothing_runs();
}

#[test]
fn g14_a_reader_that_goes_away_does_not_end_the_run() {
    use std::io::Read;
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    for words in [&["--json"][..], &[]] {
        sandbox.undo();
        let arguments = ["run", &format!("build it {words:?}"), "--agent-cmd", &agent, "--check", CHECK];
        let mut command = sandbox.command(&arguments);
        command.args(words).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().expect("the program");
        at.hear();
        let mut first = [0];
        let _one_byte = if words.is_empty() {
            child.stderr.as_mut().expect("a pipe").read(&mut first)
        } else {
            child.stdout.as_mut().expect("a pipe").read(&mut first)
        };
        drop(child.stdout.take());
        drop(child.stderr.take());
        go.say();
        let status = child.wait().expect("a status");
        assert_eq!(status.code(), Some(0), "{words:?}");
        assert_eq!(sandbox.status()["status"], "completed");
    }
}
