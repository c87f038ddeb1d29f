//! What people and agents hand in that is not as it should be: documents, status blocks, and the files
//! of a session. Each is named, and nothing is lost by it.

use loop_harness::{PRP, Scripted};
use serde_json::{Value, json};

const DOCUMENT: &str = "project/docs/PRPs/2026-01-13-greetings.md";

#[test]
fn a_document_that_is_none_is_refused_by_name_and_starts_nothing() {
    let sandbox = Scripted::with_lines();
    let refused = |words: &str| {
        let done = sandbox.drive_lines(&["--allow-dirty"]).exits(2);
        assert!(done.err.contains(words) && done.err.contains("\nhelp: "), "{words}: {}", done.err);
        assert_eq!(sandbox.phase_calls(), Vec::<String>::new(), "{words}");
        assert!(sandbox.run(&["status", "--json"]).out.contains("\"run\":null"), "{words}");
    };
    std::fs::remove_file(sandbox.path(DOCUMENT)).expect("removed");
    refused("does not exist");
    std::fs::create_dir(sandbox.path(DOCUMENT)).expect("a folder");
    refused("is not a file");
    std::fs::remove_dir(sandbox.path(DOCUMENT)).expect("removed");
    sandbox.file(DOCUMENT, " \n\t\n");
    refused("is empty");
    sandbox.file(DOCUMENT, format!("{PRP}{}", "word ".repeat(2 << 20)));
    refused("is larger than 4 MB");
    sandbox.file(DOCUMENT, "no heading at all\n- [ ] a box that belongs to nothing\n");
    refused("lists no success criteria");
    std::fs::write(sandbox.path(DOCUMENT), b"# Success Criteria\n- [ ] \xff\xfe\n").expect("written");
    refused("cannot be read: it is not UTF-8");
}

#[test]
fn blocks_that_are_none_leave_no_phase_and_the_next_prompt_says_why() {
    let sandbox = Scripted::with_lines();
    // Each call adds a failing test, so only the block decides.
    let add = "echo \"test $LOOP_CALL\" >> tests/cases.txt; commit more\n";
    let block = "---PRP_PHASE_STATUS---\\nPHASE: RED\\nEXIT_SIGNAL: true\\n";
    let end = "---END_PRP_PHASE_STATUS---\\n";
    let counts = "TESTS:\\n  TOTAL: 11\\n  PASSING: 5\\n  FAILING: -5\\nEXIT";
    let impossible = block.replace("EXIT", counts).replace("true", "false");
    let quoted = block.replace("\\n", "\\n> ");
    // Five silent calls in a row would be one error too many, so others stand between them.
    let cases = [
        ("quoted", format!("printf -- '> {quoted}{end}'\n"), "has no status block"),
        ("fenced", format!("printf -- '```\\n{block}{end}```\\nas above\\n'\n"), "was not read"),
        (
            "with impossible counts",
            format!("printf -- '{impossible}{end}'\n"),
            "the test counts contradict themselves",
        ),
        ("truncated", format!("printf -- '{block}'\n"), "is not closed by"),
        (
            "of another phase",
            format!("printf -- '{}{end}'\n", block.replace("RED", "GREEN")),
            "is of phase \"GREEN\"",
        ),
        (
            "doubled, the last without a signal",
            format!("printf -- '{block}{end}{}{end}'\n", block.replace("true", "false")),
            "did not say that it is done",
        ),
        ("absent", "echo 'All done.'\n".to_owned(), "has no status block"),
    ];
    for (index, (_, script, _)) in cases.iter().enumerate() {
        sandbox.step(&(index + 1).to_string(), &format!("{add}{script}"));
    }
    // With CRLF and trailing spaces it is a block all the same.
    let last = cases.len() + 1;
    sandbox.step(
        &last.to_string(),
        &format!("{add}printf -- '{}'\n", format!("{block}{end}").replace("\\n", " \\r\\n")),
    );
    sandbox.step("GREEN", "cp tests/cases.txt done.txt; commit green; report true </dev/null\n");
    sandbox.drive_lines(&[]).exits(0);
    let calls = sandbox.phase_calls();
    for (index, (name, _, words)) in cases.iter().enumerate() {
        assert_eq!(calls[index], format!("RED {} none", index + 1), "{name}");
        let prompt = sandbox.text(&format!("prompts/{}", index + 2));
        assert!(prompt.contains(words), "{name}: {prompt}");
    }
    assert_eq!(calls[last - 1], format!("RED {last} none"));
    assert_eq!(calls[last], "GREEN 1 none");
    let log = sandbox.session("phase-status.log");
    assert_eq!(log.matches("---PRP_PHASE_STATUS---").count(), calls.len());
}

#[test]
fn bp06_bp24_a_run_that_rests_goes_on_by_its_own_rules() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    // An open breaker is not passed by going on, neither way, and says how it is.
    for words in [&["resume"][..], &["run"]] {
        let refused = sandbox.run(words).exits(4);
        assert!(refused.err.contains("next: loop answer reset"), "{}", refused.err);
    }
    assert_eq!(sandbox.phase_calls().len(), 4);
    sandbox.step("GREEN", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
    sandbox.run(&["resume", "--reset"]).exits(0);
    // A completed one says so, starts nothing, and cannot be stopped.
    let calls = sandbox.phase_calls().len();
    for words in [&["run", "docs/PRPs/2026-01-13-greetings.md", "--preset", "tdd"][..], &["resume"]] {
        let done = sandbox.run(words).exits(0);
        assert!(done.out.contains("already done"), "{}", done.out);
    }
    assert_ne!(sandbox.run(&["stop", "--now"]).code, 0);
    assert_eq!(sandbox.phase_calls().len(), calls);
}

#[test]
fn bp83_files_that_are_damaged_or_missing_come_back_and_decide_nothing() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&["--max", "2"]).exits(6);
    let before = sandbox.session_json("loop-state.json");
    let folder = sandbox.path("user/.bp-sessions/project");
    for (name, text) in [
        ("loop-state.json", Some("{\"status\": \"completed\"")),
        ("circuit-breaker.json", Some("{\"state\": \"OPEN\", \"no_progress_count\": 9}")),
        ("rate-limit.json", None),
        ("metrics.json", Some("")),
        ("dual-gate.json", None),
    ] {
        match text {
            Some(text) => std::fs::write(folder.join(name), text).expect("written"),
            None => std::fs::remove_file(folder.join(name)).expect("removed"),
        }
    }
    sandbox.run(&["status"]).exits(0);
    assert_eq!(sandbox.session_json("loop-state.json"), before);
    assert_eq!(sandbox.session_json("circuit-breaker.json")["state"], "CLOSED");
    std::fs::write(folder.join("loop-state.json"), "{}").expect("written");
    sandbox.drive_lines(&["--max", "20"]).exits(0);
    assert_eq!(sandbox.phase_calls().len(), 5);
    let state: Value = sandbox.session_json("loop-state.json");
    assert_eq!([&state["session_id"], &state["status"]], [&before["session_id"], &json!("completed")]);
}
