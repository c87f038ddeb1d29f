//! A session of the agent does the work, and its stop hook asks us what comes next.

use super::session::{CHECK, PROMISE, Sandbox, answer};
use loop_harness::program;
use serde_json::{Value, json};

fn reason(answer: &Option<Value>) -> &str {
    let answer = answer.as_ref().expect("the session goes on");
    assert_eq!(answer["decision"], "block");
    answer["reason"].as_str().expect("a text")
}

#[test]
fn rt23_a_stop_without_a_promise_is_answered_with_the_prompt() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    assert_eq!(sandbox.state_file()["status"], "running");
    sandbox.write("notes.txt", "something was done\n");
    let told = sandbox.stop("one", false, "I have begun");
    assert!(reason(&told).starts_with("# Work on DESIGN-20260101-000000.md\n\nIteration 2 of at most 25."));
    assert_eq!(reason(&told), sandbox.state_file()["prompt"].as_str().expect("a text"));
    assert_eq!(sandbox.state_file()["currentIteration"], 1);
    assert_eq!(sandbox.status()["iterations_total"], 1);
    let message = told.expect("an answer")["systemMessage"].clone();
    let expected = "loop: iteration 2 of at most 25 of DESIGN-20260101-000000.md; loop status shows it, loop cancel ends it";
    assert_eq!(message, expected);
}

#[test]
fn rt11_rt24_a_false_promise_comes_back_with_its_failure_and_a_true_one_ends_the_loop() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    let told = sandbox.stop("one", false, PROMISE);
    assert!(reason(&told).contains("hello.txt does not say it"), "{told:?}");
    assert!(
        reason(&told).contains("not ticked in DESIGN-20260101-000000.md: hello.txt says hello"),
        "{told:?}"
    );

    sandbox.fulfil();
    sandbox.write("left-over.txt", "x\n");
    let told = sandbox.stop("one", true, PROMISE);
    assert!(reason(&told).contains("\n- uncommitted: left-over.txt\n"), "{told:?}");

    std::fs::remove_file(sandbox.project.join("left-over.txt")).expect("removed");
    assert_eq!(sandbox.stop("one", true, PROMISE), None);
    assert_eq!(sandbox.status()["status"], "completed");
    assert_eq!(sandbox.status()["verified"], true);
    assert!(!sandbox.has(".claude-task-state.json"));
    assert!(sandbox.has("DESIGN-20260101-000000.md"));
    assert_eq!(sandbox.stop("one", false, "and now something else"), None);
}

#[test]
fn rt26_without_a_loop_every_session_may_stop() {
    let sandbox = Sandbox::new();
    let input = sandbox.stop_input("one", false, PROMISE).to_string();
    let done = sandbox.hook(&input);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
    // A run that we drive ourselves is no session's business.
    let agent = sandbox.agent("echo x >> work");
    sandbox.run(&["next", "build it", "--preset", "ralph", "--agent-cmd", &agent, "--check", "tests=false"]);
    let done = sandbox.hook(&input);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
}

#[test]
fn another_session_in_the_same_folder_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    let before = sandbox.run(&["log", "--json"]).out;
    for said in ["bye", PROMISE] {
        assert_eq!(sandbox.stop("two", false, said), None);
    }
    assert_eq!(sandbox.run(&["log", "--json"]).out, before, "nothing is recorded of it");
    sandbox.write("b.txt", "1");
    assert!(sandbox.stop("one", true, "still working").is_some());
}

#[test]
fn a_loop_may_be_bound_to_its_session_from_the_start_and_given_to_another() {
    let sandbox = Sandbox::new();
    sandbox.write("DESIGN-20260101-000000.md", super::session::DESIGN);
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook", "--session", "one", "--check", CHECK]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(sandbox.stop("two", false, "bye"), None);
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());

    assert_eq!(sandbox.run(&["hook", "join", "--session", "two"]).code, 0);
    assert_eq!(sandbox.stop("one", true, "working"), None);
    sandbox.write("b.txt", "1");
    assert!(sandbox.stop("two", false, "working").is_some());

    assert_eq!(sandbox.run(&["hook", "join"]).code, 0);
    sandbox.write("c.txt", "1");
    assert!(sandbox.stop("three", false, "working").is_some(), "whoever stops first");
    assert_eq!(sandbox.stop("two", false, "bye"), None);
}

#[test]
fn rt06_a_second_loop_is_refused_by_name() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    for input in [&[][..], &["another thing"]] {
        let words =
            [&["init", "--preset", "ralph", "--hook", "--allow-dirty", "--check", CHECK], input].concat();
        let done = sandbox.run(&words);
        assert_eq!(done.code, 7, "{done:?}");
        assert!(done.err.contains("DESIGN-20260101-000000.md, iteration 1/25"), "{done:?}");
    }
    assert_eq!(sandbox.designs().len(), 1);
}

#[test]
fn rt21_after_cancel_the_next_stop_is_let_go() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(&["cancel", "--yes"]);
    assert_eq!((none.code, none.out.as_str()), (0, "no active loop in this project\n"));
    sandbox.begin(CHECK);
    sandbox.write("deep/er/file", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    // From a folder below, and from anywhere by -C.
    let deep = sandbox.project.join("deep/er").to_string_lossy().into_owned();
    let status = sandbox.run(&["-C", &deep, "status"]);
    assert!(status.out.contains("1/25 in the run"), "{status:?}");
    let done = sandbox.run(&["-C", &deep, "cancel", "--yes"]);
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "cancelled at iteration 1/25: DESIGN-20260101-000000.md\n")
    );
    let done = sandbox.hook(&sandbox.stop_input("one", true, "working").to_string());
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
    assert_eq!(sandbox.state_file()["status"], "cancelled");
}

#[test]
fn a_paused_loop_lets_go_and_goes_on_when_it_is_resumed() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    assert_eq!(sandbox.run(&["pause"]).code, 0);
    assert_eq!(sandbox.stop("one", false, "working"), None);
    assert_eq!(sandbox.state_file()["status"], "paused");
    let done = sandbox.run(&["resume"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("next: loop wait"), "{done:?}");
    assert!(reason(&sandbox.stop("one", false, "working")).contains("Iteration 1 of"));
    sandbox.fulfil();
    assert_eq!(sandbox.stop("one", true, PROMISE), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn rt19_a_session_that_gets_nowhere_is_let_go_and_the_run_is_stuck() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    assert!(sandbox.stop("one", false, "hm").is_some());
    let done = sandbox.hook(&sandbox.stop_input("one", true, "hm").to_string());
    assert_eq!((done.code, done.out.as_str()), (0, ""));
    let said = "loop: halted: question 1: WORK: no progress in 2 iterations: \
        acceptance criteria not ticked: 1; the agent did not say that it is done: its final message must end with ";
    assert!(done.err.starts_with(said), "{}", done.err);
    assert_eq!(sandbox.state_file()["status"], "stuck");
    // A person's answer counts at the next stop.
    sandbox.run(&["answer", "modify", "look at hello.txt"]);
    assert!(reason(&sandbox.stop("one", false, "hm")).contains("look at hello.txt"));
}

#[test]
fn g28_a_session_speaks_for_no_person_and_may_end_its_own_run() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    assert!(sandbox.stop("one", false, "hm").is_some());
    let tries = ["answer modify later", "skip docs --reason none", "resume --reset", "cancel --yes"];
    let script: Vec<String> = tries
        .iter()
        .map(|it| format!("'{}' {it} >> \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/codes\"", program()))
        .collect();
    sandbox.session(&script.join("\n"), &sandbox.stop_input("one", true, "hm").to_string());
    let read =
        |name: &str| std::fs::read_to_string(sandbox.root().join("out").join(name)).unwrap_or_default();
    assert_eq!(read("codes"), "2\n2\n2\n0\n", "{}", read("tried"));
    assert!(read("tried").contains("only a person may use loop answer"), "{}", read("tried"));
    assert_eq!(sandbox.status()["status"], "cancelled");
}

#[test]
fn the_last_turn_counts_and_the_limit_lets_go() {
    let sandbox = Sandbox::new();
    sandbox.write("DESIGN-20260101-000000.md", super::session::DESIGN);
    sandbox.run(&["init", "--preset", "ralph", "--hook", "--max", "2", "--check", CHECK]);
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    sandbox.write("b.txt", "1");
    assert_eq!(sandbox.stop("one", true, "working"), None);
    let file = sandbox.state_file();
    assert_eq!(file["status"], "max_iterations");
    assert!(!file["prompt"].as_str().expect("a prompt").contains("of at most"), "{file}");
    assert_eq!(sandbox.run(&["run", "--max", "3"]).code, 0);
    assert!(sandbox.stop("one", false, "go on").is_some());
    sandbox.fulfil();
    assert_eq!(sandbox.stop("one", true, PROMISE), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn before_the_agent_stops_listening_it_is_said_how_to_lift_its_limit() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    for block in 1..=8 {
        sandbox.write("steps.txt", block.to_string());
        let told = sandbox.stop("one", 1 < block, "working").expect("the session goes on");
        let says =
            told["systemMessage"].as_str().is_some_and(|it| it.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"));
        assert_eq!(says, 7 <= block, "block {block}: {told}");
    }
    sandbox.write("steps.txt", "a person said something");
    let told = sandbox.stop("one", false, "working").expect("the session goes on");
    assert!(!told["systemMessage"].as_str().is_some_and(|it| it.contains("in a row")), "{told}");
}

#[test]
fn where_no_message_is_sent_the_transcript_tells() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.fulfil();
    let transcript = sandbox.root().join("session.jsonl");
    let said = json!({ "type": "assistant", "message": { "id": "m", "content": [{ "type": "text", "text": PROMISE }] } });
    std::fs::write(&transcript, format!("{{\"type\":\"user\"}}\n{said}\n")).expect("written");
    let mut input = sandbox.stop_input("one", false, "");
    input["transcript_path"] = json!(transcript);
    input.as_object_mut().expect("an object").remove("last_assistant_message");
    assert_eq!(answer(&sandbox.hook(&input.to_string())), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn checks_that_take_too_long_are_carried_over() {
    let sandbox = Sandbox::new();
    sandbox.begin(
        "tests=grep -q hello hello.txt || exit 1; test -z \"$OUT\" || test -e $OUT/warm || exec sleep 60",
    );
    sandbox.fulfil();
    let input = sandbox.stop_input("one", false, PROMISE).to_string();
    let told = answer(&sandbox.finish(sandbox.command(&["hook", "stop", "--timeout", "1"]), &input));
    assert!(reason(&told).contains("carried over"), "{told:?}");
    assert_eq!(sandbox.status()["iterations_total"], 0, "nothing was judged");
    std::fs::write(sandbox.note("warm"), "").expect("written");
    // With all of its time: what is carried over is the check, and the proof comes on top of it.
    assert_eq!(sandbox.stop("one", true, "done, as I said"), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn checks_that_never_fit_into_the_hook_fail_in_the_end() {
    let sandbox = Sandbox::new();
    sandbox.begin("tests=test ! -e $OUT/cold || exec sleep 60; exit 1");
    sandbox.fulfil();
    std::fs::write(sandbox.note("cold"), "").expect("written");
    let input = sandbox.stop_input("one", true, PROMISE).to_string();
    let told: Vec<Option<Value>> = (0..3)
        .map(|_| answer(&sandbox.finish(sandbox.command(&["hook", "stop", "--timeout", "1"]), &input)))
        .collect();
    assert!(reason(&told[1]).contains("carried over"), "{told:?}");
    assert!(reason(&told[2]).contains("it takes longer than the 1s that the hook may take"), "{told:?}");
    assert_eq!(sandbox.status()["iterations_total"], 1);
}
