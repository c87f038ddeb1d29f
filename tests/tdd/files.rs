//! The files of a session say what is so: of one run, with the reviewer's own numbers, our times, and
//! counts that were measured.

use loop_harness::{PRP, Scripted};
use serde_json::Value;

/// `loop run` of another document in the same project.
fn second(sandbox: &Scripted, more: &[&str]) -> loop_harness::Done {
    let agent = sandbox.path("agent").display().to_string();
    let check = format!("tests={}", sandbox.path("check").display());
    let words = ["run", "docs/PRPs/second.md", "--preset", "tdd", "--agent-cmd", &agent, "--check", &check];
    sandbox.run(&[&words[..], more].concat())
}

/// What `loop ship` leaves in a session.
const SHIPPED: [&str; 4] =
    ["current-prp.txt", "preflight-result.json", "ship-config.json", "ship-result.json"];

#[test]
fn a_folder_never_mixes_two_runs() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&[]).exits(0);
    let first = sandbox.session_json("loop-state.json")["session_id"].as_str().expect("an id").to_owned();
    assert_eq!(sandbox.session_json("qa-state.json")["last_verdict"], "APPROVE");
    let folder = "user/.bp-sessions/project";
    for name in SHIPPED {
        sandbox.file(&format!("{folder}/{name}"), "{}");
    }

    sandbox.write("docs/PRPs/second.md", PRP);
    sandbox.commit("another document");
    sandbox.step("RED", "report false </dev/null\n");
    second(&sandbox, &["--max", "1"]).exits(6);
    let state = sandbox.session("loop-state.json");
    assert!(!state.contains(&first), "{state}");
    for old in SHIPPED.iter().chain(&["qa-state.json", "qa-report-1.md"]) {
        assert!(!sandbox.path(&format!("{folder}/{old}")).exists(), "{old} is of the first run");
        assert!(sandbox.path(&format!("home/runs/{first}/session/{old}")).exists(), "{old} is lost");
    }
    assert_eq!(sandbox.session("phase-status.log").matches("---PRP_PHASE_STATUS---").count(), 1);

    // Whoever asks for the first run reads; the files stay those of the second.
    sandbox.run(&["status", "--run", &first]).exits(0).says("completed");
    assert_eq!(sandbox.session("loop-state.json"), state);
    assert!(!sandbox.path(&format!("{folder}/qa-state.json")).exists());

    second(&sandbox, &["--fresh", "--max", "1"]).exits(6);
    assert_eq!(sandbox.session("phase-status.log").matches("---PRP_PHASE_STATUS---").count(), 1);
}

#[test]
fn a_block_has_the_reviewers_numbers_our_time_and_measured_files() {
    let sandbox = Scripted::with_lines();
    sandbox.step(
        "QA",
        "report true <<E\nTIMESTAMP: 1999-12-31T23:59:59Z\nQA_METRICS:\n  CHECKS_TOTAL: 11\n  CHECKS_PASSING: 9\n  \
         CHECKS_FAILING: 2\n  BLOCKING_ISSUES: 0\n  WARNING_ISSUES: 2\nMEMORY_CONTEXT:\n  QUERIES_EXECUTED: 4\nVERDICT: APPROVE\nE\n",
    );
    let green = "printf 'greets\\nworld\\n' > done.txt; commit green; report true <<E\nFILES:\n  CREATED: 7\n  \
                 MODIFIED: 7\nE\n";
    sandbox.step("GREEN", green);
    sandbox.drive_lines(&[]).exits(0);
    let log = sandbox.session("phase-status.log");
    assert!(log.contains("  CHECKS_PASSING: 9\n  CHECKS_FAILING: 2\n"), "{log}");
    assert!(!log.contains("1999"), "{log}");
    assert!(log.contains("MEMORY_CONTEXT:\n  QUERIES_EXECUTED: 4\n"), "{log}");
    for file in ["metrics.json", "circuit-breaker.json"] {
        let text = sandbox.session(file);
        assert!(!text.contains("1999"), "{file}: {text}");
    }
    let block = |phase: &str| {
        let all = log.split("---END_PRP_PHASE_STATUS---");
        all.into_iter().find(|it| it.contains(&format!("PHASE: {phase}\n"))).unwrap_or_default().to_owned()
    };
    assert!(block("RED").contains("FILES:\n  CREATED: 0\n  MODIFIED: 1\n  DELETED: 0\n"), "{log}");
    assert!(block("GREEN").contains("FILES:\n  CREATED: 1\n  MODIFIED: 0\n  DELETED: 0\n"), "{log}");
    let metrics = sandbox.session_json("metrics.json");
    assert_eq!(metrics["phases"]["GREEN"]["final_metrics"]["files_created"], 1, "{metrics}");
    assert_eq!(metrics["phases"]["GREEN"]["history"][0]["files_modified"], 0, "{metrics}");
    let told = sandbox.run(&["log"]).exits(0).out;
    assert!(!told.contains("CHECKS_FAILING") && !told.contains("failing checks"), "{told}");
    let report = sandbox.session("qa-report-1.md");
    assert!(report.contains("| qa_checks_failing | 2 | claimed |"), "{report}");
}

/// A reviewer may put its own number below any heading: it is no claim about the commands that we run.
#[test]
fn a_qa_report_has_the_reviewers_numbers_and_none_of_ours() {
    let sandbox = Scripted::with_lines();
    let block = "report true <<E\nMETRICS:\n  CHECKS_TOTAL: 11\n  CHECKS_PASSING: 10\n  CHECKS_FAILING: 1\n  \
                 BLOCKING_ISSUES: 0\n  WARNING_ISSUES: 1\nVERDICT: APPROVE\nE\n";
    sandbox.step("QA", block);
    sandbox.drive_lines(&[]).exits(0);
    let report = sandbox.session("qa-report-1.md");
    assert!(report.contains("| qa_checks_failing | 1 | claimed |"), "{report}");
    assert!(!report.contains("the agent claimed"), "{report}");
    for ours in ["item_commits", "summary_due", "iteration", "checks_failing", "tree_changed", "autonomous"] {
        assert!(!report.contains(&format!("| {ours} |")), "{ours}: {report}");
    }
}

#[test]
fn every_prompt_names_the_session() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&[]).exits(0);
    let id = sandbox.session_json("loop-state.json")["session_id"].as_str().expect("an id").to_owned();
    for call in 1..=5 {
        let prompt = sandbox.text(&format!("prompts/{call}"));
        assert!(prompt.contains(&id), "{prompt}");
    }
}

#[test]
fn a_reset_keeps_the_history() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    let before = sandbox.session_json("circuit-breaker.json")["history"].as_array().expect("a list").clone();
    assert!(!before.is_empty());
    let log = sandbox.session("phase-status.log");
    sandbox.step("GREEN", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
    sandbox.run(&["resume", "--reset"]).exits(0);
    let after = sandbox.session_json("circuit-breaker.json")["history"].as_array().expect("a list").clone();
    assert!(after.starts_with(&before), "{before:?}\n{after:?}");
    assert!(sandbox.session("phase-status.log").starts_with(&log));
    let history: Value = sandbox.session_json("loop-state.json")["phase_history"].clone();
    assert_eq!(history["RED"]["exit_reason"], "Dual-Gate satisfied");
}

#[test]
fn the_review_list_means_what_its_ids_mean() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&[]).exits(0);
    let prompt = sandbox.text("prompts/5");
    let row = |id: &str| prompt.lines().find(|it| it.starts_with(&format!("| {id} |"))).unwrap_or_default();
    let expected = [
        ("F1", "end-to-end tests", "yes"),
        ("F2", "success criterion", "yes"),
        ("C1", "linter", "yes"),
        ("C2", "complexity", "yes"),
        ("C3", "duplicated", "no"),
        ("C4", "names", "no"),
        ("D1", "README", "yes"),
        ("D2", "decision record", "yes"),
        ("D3", "API", "no"),
        ("D4", "complex functions", "no"),
        ("D5", "changelog", "yes"),
    ];
    for (id, about, blocking) in expected {
        let row = row(id);
        assert!(row.contains(about) && row.ends_with(&format!("| {blocking} |")), "{id}: {row}");
    }
}

/// What a prompt calls measured was measured, and it asks for the signal of its own protocol.
#[test]
fn a_prompt_keeps_claims_apart_and_never_asks_for_a_promise() {
    let sandbox = Scripted::with_lines();
    let first = "if [ -f done.txt ]; then printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null; \
                 else echo greets > done.txt; commit half; report false <<E\nPROGRESS_PERCENT: 99\nE\nfi\n";
    sandbox.step("GREEN", first);
    let lines = sandbox.drive_lines(&[]).exits(0).err;
    let why = "the agent did not say that it is done: its status block does not say EXIT_SIGNAL: true";
    assert!(lines.contains(why), "{lines}");
    let prompt = sandbox.text("prompts/3");
    assert!(prompt.contains(why) && !prompt.contains("<promise>"), "{prompt}");
    let (measured, rest) = prompt.split_once("Claimed by the agent, and not measured:").expect("two lists");
    let (claimed, _) = rest.split_once("## Your task").expect("a task");
    assert!(measured.contains("tests_failing: 1\n") && !measured.contains("progress_percent"), "{measured}");
    assert!(claimed.contains("progress_percent: 99\n") && !claimed.contains("tests_failing"), "{claimed}");
}

#[test]
fn a_rejection_is_told_with_what_the_reviewer_found() {
    let sandbox = Scripted::with_lines();
    let qa = "if [ -f fixed.txt ]; then report true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 0\nVERDICT: APPROVE\nE\n\
              elif [ -f once.txt ]; then report true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 1\nVERDICT: REJECT\nE\n\
              else report false <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 1\nVERDICT: REJECT\n\
              BLOCKERS:\n  - D5: the changelog has no entry\nE\nfi\n";
    sandbox.step("QA", qa);
    let green = "printf 'greets\\nworld\\n' > done.txt; [ ! -f once.txt ] || touch fixed.txt; \
                 [ ! -d docs/adr ] || touch once.txt; commit green; \
                 report true </dev/null\n";
    sandbox.step("GREEN", green);
    let lines = sandbox.drive_lines(&[]).exits(0).err;
    assert!(lines.contains("QA rejected the work: D5: the changelog has no entry\n"), "{lines}");
    let prompt = sandbox.text("prompts/6");
    assert!(prompt.contains("QA rejected the work.\n"), "{prompt}");
    assert!(
        prompt.contains("QA has rejected this work once; the third rejection asks a person."),
        "{prompt}"
    );
    assert!(!prompt.contains("<promise>") && !prompt.contains("blocking_issues"), "{prompt}");
    let report = sandbox.session("qa-report-2.md");
    assert!(report.contains("- 1, as the reviewer counts; the end of the message says which\n"), "{report}");
    assert!(!report.contains("but it is not"), "{report}");
}
