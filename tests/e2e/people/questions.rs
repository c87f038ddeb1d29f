//! Questions, and what people answer: with a controller that waits, and with none.

use loop_harness::{COMMIT, PROMISE, Sandbox, stuck, within};
use serde_json::{Value, json};
use std::time::Duration;

/// A run that is halted by its breaker after two calls; `$OUT/mended` gets its agent going.
fn halted() -> Sandbox {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&stuck());
    let check = "tests=echo broken; test -f work";
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", check]).exits(4);
    assert_eq!(sandbox.calls(), [1, 2]);
    sandbox
}

fn mend(sandbox: &Sandbox) {
    std::fs::write(sandbox.note("mended"), "").expect("a file");
}

#[test]
fn answers_a_halted_run_stays_halted_until_it_is_answered() {
    let sandbox = halted();
    for _ in 0..2 {
        sandbox.run(&["run", "build it"]).exits(4).says("loop answer reset");
        sandbox.run(&["resume"]).exits(4);
        sandbox.run(&["next", "build it"]).exits(4);
    }
    assert_eq!(sandbox.calls(), [1, 2]);
    let asked: Value = serde_json::from_str(&sandbox.run(&["answer", "--json"]).exits(0).out).expect("JSON");
    assert_eq!(asked[0]["choices"], json!(["reset", "skip", "abort", "modify"]), "{asked}");
    assert_eq!((&asked[0]["id"], &asked[0]["kind"]), (&json!(1), &json!("breaker")), "{asked}");
    let shown = sandbox.run(&["answer"]).exits(0).out;
    assert!(shown.contains("last lines of tests:\n  | broken\n"), "{shown}");
    let choices: Vec<&str> = shown.lines().skip(3).filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(choices, ["reset", "skip", "abort", "modify"], "{shown}");
    sandbox.run(&["answer", "perhaps"]).exits(2).says("reset, skip, abort, modify");
    sandbox.run(&["answer", "7", "reset"]).exits(2).says("question 7 is not open");
    sandbox.run(&["answer", "modify"]).exits(2).says("needs a text");
}

#[test]
fn answers_reset_goes_on() {
    let sandbox = halted();
    mend(&sandbox);
    sandbox.run(&["answer", "1", "r"]).exits(0).says("saved; continue with: loop run");
    assert_eq!(sandbox.calls(), [1, 2], "an answer starts nothing");
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"completed".into(), &true.into()));
}

#[test]
fn answers_reset_gives_the_breaker_its_whole_length_again() {
    let sandbox = halted();
    sandbox.run(&["resume", "--reset"]).exits(4);
    assert_eq!(sandbox.calls(), [1, 2, 3, 4]);
}

#[test]
fn answers_modify_reaches_the_next_prompt() {
    let sandbox = halted();
    mend(&sandbox);
    sandbox.run(&["answer", "modify", "use the", "blue lever"]).exits(0);
    sandbox.run(&["run", "build it"]).exits(0);
    assert_eq!(sandbox.run(&["answer", "--json"]).exits(0).out, "[]\n");
    assert!(sandbox.prompt(3).contains("use the blue lever"), "{}", sandbox.prompt(3));
    assert!(!sandbox.prompt(2).contains("blue lever"));
}

#[test]
fn answers_skip_completes_what_is_not_verified() {
    let sandbox = halted();
    sandbox.run(&["answer", "skip"]).exits(0);
    let done = sandbox.run(&["run", "build it"]).exits(0).says("not proven: a person skipped WORK");
    let (_, end) = done.err.split_once("completed (unverified): ").expect("an end");
    assert!(end.lines().count() <= 8 && !end.contains("warning: WORK was skipped"), "{end}");
    assert!(done.err.contains("\nphase skipped by a person\n"), "{}", done.err);
    let report = sandbox.run(&["show"]).exits(0).out;
    assert!(report.contains("skipped by a person"), "{report}");
    let status = sandbox.status();
    assert_eq!(status["status"], "completed");
    assert_eq!(status["verified"], false);
    assert_eq!(status["phases"][0]["status"], "forced");
    assert!(!status["warnings"].as_array().expect("a list").is_empty(), "{status}");
    assert_eq!(sandbox.calls(), [1, 2]);
}

#[test]
fn answers_abort_leaves_it_halted() {
    let sandbox = halted();
    sandbox.run(&["answer", "abort"]).exits(0).says("saved; continue with: loop resume --reset");
    let status_before = sandbox.status();
    assert_eq!(status_before["status"], "halted");
    sandbox.run(&["run", "build it"]).exits(4).says("aborted by user");
    assert_eq!(sandbox.calls(), [1, 2]);
    assert_eq!(sandbox.status()["status"], "halted");
    sandbox.run(&["run", "build it"]).exits(4);
    assert_eq!(sandbox.calls(), [1, 2]);
}

#[test]
fn answers_an_answer_reaches_a_controller_that_waits() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&stuck());
    let check = "tests=echo broken; test -f work";
    let running =
        sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", check, "--on-question", "wait"]);
    assert!(within(Duration::from_secs(30), || sandbox.status()["status"] == "halted"));
    mend(&sandbox);
    sandbox.run(&["answer", "reset"]).exits(0).says("saved; the run applies it now");
    running.wait().exits(0);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
}

#[test]
fn g28_an_agent_answers_nothing() {
    let sandbox = Sandbox::new();
    let loop_path = format!("{}' --home \"$OUT/../home\" '-q", loop_harness::program());
    let program = loop_harness::program();
    // Two calls open the question; the third run of the agent is another run, which tries to help.
    let agent = sandbox.agent(&format!(
        "[ -f \"$OUT/helping\" ] || {{ {PROMISE}; exit 0; }}\n\
         '{loop_path}' answer skip --run \"$(cat \"$OUT/helping\")\" >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\"\n\
         env -u LOOP_RUN '{loop_path}' answer skip --run \"$(cat \"$OUT/helping\")\" >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\"\n\
         env -i sh -c '\"$0\" --home \"$1\" answer skip --run \"$2\"' '{program}' \"$OUT/../home\" \"$(cat \"$OUT/helping\")\" >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\"\n\
         '{loop_path}' guide hello --run \"$(cat \"$OUT/helping\")\" >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\"\n\
         '{loop_path}' run other --agent-cmd true --check tests=true >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\""
    ));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=false"]).exits(4);
    let first = sandbox.status()["run"].as_str().expect("an id").to_owned();
    std::fs::write(sandbox.note("helping"), &first).expect("a file");
    sandbox.run(&["run", "help", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"]);
    assert_eq!(sandbox.notes("codes"), ["2", "2", "2", "2", "2"], "{:?}", sandbox.notes("tried"));
    let refused = sandbox.notes("tried").iter().filter(|it| it.contains("only a person may answer")).count();
    assert_eq!(refused, 4, "{:?}", sandbox.notes("tried"));
    let done = sandbox.run(&["status", "--json", "--run", &first]).exits(0);
    assert!(done.out.contains("\"halted\""), "{}", done.out);
}

#[test]
fn answers_guidance_is_in_the_next_prompt_and_only_there() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1"];
    sandbox.run(&[&command[..], &["-n", "1"]].concat()).exits(6);
    sandbox.run(&["guide", "mind the gap"]).exits(0).says("saved; continue with: loop run");
    sandbox.run(&["guide", ""]).exits(2);
    sandbox.run(&[&command[..], &["-n", "3"]].concat()).exits(6);
    assert!(sandbox.prompt(2).contains("mind the gap"), "{}", sandbox.prompt(2));
    assert!(!sandbox.prompt(3).contains("mind the gap"), "{}", sandbox.prompt(3));
}
