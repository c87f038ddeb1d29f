//! Every rule of the TDD loop and what proves it: a story, or a test. A rule without a proof, and a
//! proof that is gone, fail here.

use std::path::Path;

/// Number, what it says, and its proofs: `name.story`, or `file.rs name_of_the_test`.
const RULES: [(&str, &str, &[&str]); 72] = [
    (
        "BP-01",
        "a session begins in RED at iteration 0 under a UUID",
        &["tests/tdd/session.rs bp01_bp02_bp03_a_session_is_there_while_its_first_call_runs"],
    ),
    (
        "BP-02",
        "the breaker begins closed and empty",
        &["crates/store/src/mirror/prp_session/tests.rs bp02_bp03_a_session_begins_empty"],
    ),
    (
        "BP-03",
        "the window begins with 0 of 100 calls",
        &["crates/store/src/mirror/prp_session/tests.rs bp02_bp03_a_session_begins_empty"],
    ),
    (
        "BP-04",
        "the environment names the limit",
        &["tests/tdd/limits.rs bp04_bp75_bp77_the_calls_of_an_hour_are_counted_over_restarts_and_runs"],
    ),
    (
        "BP-06",
        "a completed session says so and starts nothing",
        &["tests/tdd/input.rs bp06_bp24_a_run_that_rests_goes_on_by_its_own_rules"],
    ),
    (
        "BP-07",
        "a paused session goes on with its next iteration",
        &["tests/tdd/session.rs bp07_a_session_of_another_controller_goes_on_where_it_was"],
    ),
    (
        "BP-08",
        "a new session begins in RED",
        &["tests/tdd/session.rs bp08_a_new_run_begins_at_the_beginning"],
    ),
    (
        "BP-10",
        "a halted session needs a reset",
        &["bp10-halted-needs-a-reset.story", "tests/tdd/session.rs bp10_bp11_breakers_are_taken_over"],
    ),
    ("BP-11", "a half-open breaker goes on", &["bp11-half-open-goes-on.story"]),
    (
        "BP-12",
        "a missing breaker file is a closed breaker",
        &["tests/tdd/session.rs bp12_bp14_companions_may_be_missing_and_every_phase_resumes"],
    ),
    (
        "BP-14",
        "QA resumes too",
        &["tests/tdd/session.rs bp12_bp14_companions_may_be_missing_and_every_phase_resumes"],
    ),
    (
        "BP-15",
        "a missing field is named",
        &["tests/tdd/session.rs bp15_a_field_that_is_wrong_is_named_and_nothing_changes"],
    ),
    (
        "BP-16",
        "the environment names the place",
        &["tests/tdd/session.rs bp16_the_environment_names_the_place"],
    ),
    ("BP-18", "signals pause", &["tests/tdd/trouble.rs bp18_a_signal_pauses_and_the_run_goes_on_later"]),
    ("BP-20", "RED is left with enough failing tests", &["bp20-red-leaves.story"]),
    ("BP-21", "more tests than criteria will do", &["bp21-red-more-tests-than-criteria.story"]),
    ("BP-22", "too few tests keep RED", &["bp22-red-stays.story"]),
    ("BP-23", "a test that passes keeps RED", &["bp22-red-stays.story"]),
    ("BP-24", "no test keeps RED", &["bp22-red-stays.story"]),
    ("BP-25", "no signal keeps RED", &["bp22-red-stays.story"]),
    ("BP-27", "GREEN is left after two green runs", &["bp27-green-leaves.story", "wf08-green-runs.story"]),
    ("BP-29", "a signal without its condition is noted", &["bp29-green-not-close-enough.story"]),
    ("BP-30", "nearly all is not all", &["bp29-green-not-close-enough.story"]),
    (
        "BP-32",
        "what is measured wins",
        &["bp32-measured-wins.story", "tests/tdd/trouble.rs bp32_a_liar_does_not_leave_green"],
    ),
    ("BP-34", "REFACTOR is left at its fifth iteration", &["bp34-refactor-leaves.story"]),
    ("BP-35", "not before, and not with failing tests", &["bp34-refactor-leaves.story"]),
    ("BP-36", "or when it is complete", &["bp36-refactor-complete.story"]),
    ("BP-37", "DOCUMENT is left with three documents and a record", &["bp37-document-leaves.story"]),
    ("BP-38", "not with fewer", &["bp37-document-leaves.story"]),
    ("BP-39", "QA approves and the run is completed", &["bp39-qa-approves.story"]),
    (
        "BP-41",
        "COMPLETE is no signal",
        &[
            "bp41-status-is-no-signal.story",
            "crates/core/src/report/prp_status.rs bp_41_complete_is_no_signal",
        ],
    ),
    (
        "BP-43",
        "five phases in order, each in the history",
        &["bp43-happy-path.story", "tests/tdd/greenfield.rs rust_from_nothing_to_completed"],
    ),
    ("BP-44", "a phase begins at iteration 0", &["bp43-happy-path.story"]),
    (
        "BP-45",
        "every call is counted",
        &["bp43-happy-path.story", "tests/tdd/greenfield.rs compare_companions"],
    ),
    ("BP-46", "a hundred iterations cap a phase", &["bp46-phase-cap.story"]),
    ("BP-47", "progress in RED", &["bp47-red-progress.story"]),
    ("BP-48", "progress in GREEN", &["bp48-green-progress.story"]),
    ("BP-50", "progress in QA", &["bp50-qa-progress.story"]),
    ("BP-51", "RED opens at 3", &["bp51-breaker-red.story"]),
    ("BP-53", "REFACTOR opens at 5", &["bp53-breaker-refactor.story"]),
    ("BP-54", "DOCUMENT opens at 3", &["bp54-breaker-document.story"]),
    ("BP-55", "progress closes", &["bp55-breaker-closes.story"]),
    (
        "BP-56",
        "an open breaker says why, when and how it came",
        &["tests/tdd/trouble.rs bp56_bp65_a_stuck_phase_halts_and_guidance_helps"],
    ),
    ("BP-57", "the same error three times opens GREEN", &["bp57-same-error.story"]),
    ("BP-58", "and five times RED", &["bp58-same-error-red.story"]),
    ("BP-61", "fifty errors of 500 characters are kept", &["bp61-error-history.story"]),
    ("BP-64", "silence in GREEN opens", &["bp64-silence-in-green.story"]),
    (
        "BP-65",
        "reset, skip, abort, modify",
        &["bp65-reset.story", "bp65-skip.story", "bp65-abort.story", "bp65-modify.story"],
    ),
    (
        "BP-66",
        "the last block counts",
        &["crates/core/src/report/prp_status.rs bp_66_the_last_complete_block_counts"],
    ),
    (
        "BP-68",
        "an unclosed block is none",
        &["crates/core/src/report/prp_status.rs bp_68_an_unclosed_or_hidden_or_absent_block_is_no_report"],
    ),
    (
        "BP-69",
        "the seed's own block is read",
        &["crates/core/src/report/prp_status.rs bp_69_the_full_block_of_the_seed_is_read"],
    ),
    (
        "BP-70",
        "blockers are a list",
        &["crates/core/src/report/prp_status.rs bp_70_blockers_are_listed_and_none_is_empty"],
    ),
    ("BP-71", "impossible counts are not believed", &["bp71-broken-counts.story"]),
    (
        "BP-73",
        "the log has each iteration once",
        &["tests/tdd/trouble.rs bp73_after_a_crash_the_log_has_each_iteration_once"],
    ),
    (
        "BP-74",
        "the hourly limit pauses",
        &["bp74-hourly-ask.story", "tests/tdd/trouble.rs bp74_the_hourly_limit_pauses"],
    ),
    ("BP-75", "to wait is to go on in the next window", &["bp74-hourly-ask.story"]),
    (
        "BP-77",
        "to continue holds for the window, to abort is resumable",
        &["bp77-hourly-continue.story", "bp77-hourly-wait-and-pause.story"],
    ),
    (
        "BP-78",
        "a provider that refuses is waited for",
        &[
            "bp78-provider-limit.story",
            "tests/tdd/limits.rs bp78_bp79_a_provider_that_refuses_is_waited_for_over_a_restart",
        ],
    ),
    (
        "BP-79",
        "and the run goes on by itself",
        &[
            "bp78-provider-limit.story",
            "tests/tdd/limits.rs a_run_that_was_refused_goes_on_by_itself_also_after_a_crash",
        ],
    ),
    (
        "BP-82",
        "an impossible window begins again",
        &["bp82-clock-set-back.story", "tests/tdd/session.rs bp82_an_impossible_window_begins_again"],
    ),
    (
        "BP-83",
        "a missing rate file is an empty window",
        &["tests/tdd/input.rs bp83_files_that_are_damaged_or_missing_come_back_and_decide_nothing"],
    ),
    (
        "BP-84",
        "two rejections are repaired, the third asks",
        &[
            "bp84-qa-rejects.story",
            "bp84-qa-remembers.story",
            "tests/tdd/trouble.rs bp84_a_review_sends_the_work_back_twice_and_then_asks",
        ],
    ),
    (
        "BP-87",
        "QA has another model than GREEN",
        &["bp87-qa-model.story", "bp87-qa-model-other.story", "bp87-qa-model-unknown.story"],
    ),
    ("BP-88", "blocking issues keep QA, warnings do not", &["bp39-qa-approves.story"]),
    ("BP-89", "the percentage follows the weights", &["bp89-percent.story"]),
    ("BP-91", "the status line", &["tests/tdd/trouble.rs bp91_the_status_says_where_it_stands"]),
    (
        "BP-92",
        "a pause from outside, and when there is nothing to pause",
        &["tests/tdd/session.rs bp92_a_pause_from_outside_ends_the_call"],
    ),
    (
        "BP-93",
        "branch and commit are named after the document",
        &[
            "crates/core/src/delivery_names.rs bp93_a_branch_is_named_after_the_document",
            "tests/tdd/ship.rs bp93_a_completed_run_becomes_a_branch_a_commit_and_one_request",
        ],
    ),
    (
        "BP-94",
        "a dry run and a refusal change nothing",
        &["tests/tdd/ship.rs bp94_a_dry_run_and_a_refusal_change_nothing"],
    ),
    (
        "BP-95",
        "criteria are counted in the document",
        &["bp95-criteria-are-ours.story", "tests/tdd/session.rs bp95_a_document_without_criteria_is_refused"],
    ),
    (
        "BP-96",
        "nothing is pushed unasked",
        &["tests/tdd/delivery.rs bp96_nothing_is_pushed_unless_the_workflow_says_so"],
    ),
    (
        "BP-1.7",
        "the contradictions that were settled",
        &["tests/tdd/rules.rs every_contradiction_is_settled_by_a_test"],
    ),
];

/// The settled contradictions of the seeds by their number, and what holds each.
const SETTLED: [(u32, &str); 40] = [
    (1, "crates/store/src/mirror/prp_session/place.rs bp16_the_folder_is_chosen_in_order"),
    (2, "bp43-happy-path.story"),
    (3, "bp48-green-progress.story"),
    (4, "wf09-gate-before-breaker.story"),
    (5, "bp49-progress-is-compared-with-what-is-known.story"),
    (6, "crates/core/src/report/prp_status.rs bp_rule_5_metrics_are_laid_over_the_block"),
    (7, "bp27-green-leaves.story"),
    (8, "bp84-qa-rejects.story"),
    (9, "bp84-qa-remembers.story"),
    (10, "bp84-qa-rejects.story"),
    (11, "bp84-qa-rejects.story"),
    (12, "tests/tdd/trouble.rs bp65_a_skipped_phase_is_completed_with_warnings"),
    (13, "bp77-hourly-continue.story"),
    (14, "bp87-qa-model-other.story"),
    (15, "bp76-hourly-expires.story"),
    (16, "crates/store/src/mirror/prp_session/tests.rs bp78_bp79_a_provider_that_refuses_is_waited_for"),
    (17, "crates/core/src/agents/tests/limits.rs the_corpus_is_judged_right"),
    (18, "bp78-provider-limit.story"),
    (19, "bp61-error-history.story"),
    (20, "bp59-an-iteration-without-an-error.story"),
    (
        21,
        "crates/core/src/report/prp_status.rs bp_rule_9_the_error_is_its_line_or_the_first_blocker_of_a_blocked_phase",
    ),
    (22, "tests/tdd/session.rs bp12_bp14_companions_may_be_missing_and_every_phase_resumes"),
    (23, "tests/tdd/session.rs bp12_bp14_companions_may_be_missing_and_every_phase_resumes"),
    (24, "tests/tdd/input.rs bp06_bp24_a_run_that_rests_goes_on_by_its_own_rules"),
    (25, "bp46-phase-cap.story"),
    (26, "bp89-percent.story"),
    (27, "tests/tdd/session.rs bp92_a_pause_from_outside_ends_the_call"),
    (28, "tests/tdd/greenfield.rs read_until"),
    (29, "bp31-green-vacuous.story"),
    (30, "tests/tdd/ship.rs what_was_uncommitted_before_stays_uncommitted_and_hooks_do_not_run"),
    (31, "tests/tdd/greenfield.rs compare_log"),
    (32, "bp43-happy-path.story"),
    (33, "bp74-hourly-ask.story"),
    (34, "bp49-progress-is-compared-with-what-is-known.story"),
    (35, "tests/tdd/delivery.rs bp96_nothing_is_pushed_unless_the_workflow_says_so"),
    (36, "tests/tdd/greenfield.rs compare_companions"),
    (37, "bp87-qa-model.story"),
    (38, "tests/tdd/trouble.rs bp91_the_status_says_where_it_stands"),
    (39, "tests/tdd/session.rs bp95_a_document_without_criteria_is_refused"),
    (40, "tests/tdd/rules.rs every_prompt_asks_for_a_judgement_of_its_own"),
];

fn is_there(proof: &str) -> bool {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    match proof.split_once(' ') {
        None => top.join("tests/stories").join(proof).is_file(),
        Some((file, test)) => {
            let text = std::fs::read_to_string(top.join(file)).unwrap_or_default();
            text.contains(&format!("fn {test}("))
        }
    }
}

#[test]
fn every_rule_is_proved() {
    for (rule, says, proofs) in RULES {
        assert!(!proofs.is_empty(), "{rule} ({says}) has no proof");
        for proof in proofs {
            assert!(is_there(proof), "{rule} ({says}): {proof} is gone");
        }
    }
    let mut numbers: Vec<&str> = RULES.iter().map(|it| it.0).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), RULES.len(), "each rule once");
}

#[test]
fn every_contradiction_is_settled_by_a_test() {
    for (index, (number, proof)) in SETTLED.iter().enumerate() {
        assert_eq!(usize::try_from(*number).expect("small"), index + 1);
        assert!(is_there(proof), "{number}: {proof} is gone");
    }
}

/// The signal would be an echo of the numbers if the prompt asked for one.
#[test]
fn every_prompt_asks_for_a_judgement_of_its_own() {
    for phase in ["red", "green", "refactor", "document", "qa"] {
        let path = format!("{}/presets/tdd/prompts/{phase}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a prompt");
        assert!(
            text.contains("EXIT_SIGNAL is your own judgement and not a summary of the numbers"),
            "{phase}"
        );
    }
}
