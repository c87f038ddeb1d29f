//! Every rule of the plan loop and what proves it: stories where the engine decides it, and tests of the real
//! program. A rule without a proof, a proof that is gone, and a story that no rule names fail here.

use std::path::Path;

/// What the engine has to do with a rule.
enum Stories {
    Told(&'static [&'static str]),
    /// It is about files or the command line alone, and nothing is left for a story to tell.
    FilesOnly,
}

use Stories::{FilesOnly, Told};

const SEVEN: &str = "plan/iterations.rs a_phase_of_seven_tasks_is_worked_through_verified_and_closed";
const LIES: &str = "plan/iterations.rs lies_are_found_one_by_one";
const LAYER: &str = "plan/opening.rs lp05_the_configuration_is_a_layer_and_flags_win";
const MISTAKES: &str = "plan/opening.rs lp39_a_configuration_with_mistakes_is_named_and_left_alone";
const MISSING: &str =
    "plan/opening.rs lp38_a_missing_position_is_rebuilt_and_missing_learnings_are_a_warning";
const SILENT: &str =
    "plan/iterations.rs lp11_three_calls_without_a_signal_are_stuck_and_a_person_may_say_running";
const MODELS: &str = "agents/planning.rs claude_is_asked_for_the_models_of_the_budget_profile";
const CAP: &str =
    "plan/iterations.rs lp18_the_cap_names_what_is_left_and_a_phase_done_by_the_last_iteration_is_verified";
const STOPPING: &str = "plan/state_file.rs lp19_stopping_in_the_file_stops_after_the_iteration";
const PERSON: &str = "plan/closing.rs lp28_what_only_a_person_can_judge_waits_or_is_left_open";

/// Number, what it says, its stories, and its tests: `file name_of_the_test`, below `tests/`.
const RULES: [(&str, &str, Stories, &[&str]); 35] = [
    (
        "LP-01",
        "without a planning folder or a roadmap there is no project",
        FilesOnly,
        &["plan/opening.rs lp01_without_a_roadmap_there_is_no_project"],
    ),
    (
        "LP-02",
        "an unknown command is answered with the usage",
        FilesOnly,
        &["plan/opening.rs lp02_a_word_that_is_no_command_is_answered_with_the_usage"],
    ),
    (
        "LP-03",
        "a phase without plans is refused; one without open plans goes to its verifier",
        Told(&["lp03-nothing-is-left"]),
        &["plan/opening.rs lp03_a_phase_that_is_missing_or_has_no_plans_is_refused"],
    ),
    ("LP-04", "missing learnings are a warning", Told(&["lp04-a-warning-stops-nothing"]), &[MISSING]),
    (
        "LP-05",
        "the state file as it begins",
        Told(&["lp05-the-beginning"]),
        &["plan/opening.rs lp05_the_state_file_is_there_before_the_first_call"],
    ),
    ("LP-06", "the limit: flag, configuration, 50", Told(&["lp06-default-limit"]), &[LAYER]),
    ("LP-07", "the plan in force is in the prompt", Told(&["lp07-tasks-and-plans"]), &[SEVEN]),
    ("LP-08", "the last plan calls the verifier", Told(&["lp08-the-last-plan"]), &[SEVEN]),
    (
        "LP-10",
        "STUCK halts at once and is no failure",
        Told(&["lp10-stuck"]),
        &["plan/iterations.rs lp10_stuck_halts_at_once_and_says_what_to_do"],
    ),
    (
        "LP-11",
        "failures in a row are stuck, also those of another controller; a task starts again at 0",
        Told(&["lp11-no-signal", "lp11-failures-of-another-controller"]),
        &[SILENT, "plan/moving_in.rs failures_in_a_row_are_taken_over"],
    ),
    ("LP-12", "a threshold of 1 is reached by the first", Told(&["lp12-threshold"]), &[LAYER]),
    (
        "LP-15",
        "a task needs its commit",
        Told(&["lp15-task-without-commit", "lp15-another-commit", "lp15-work-is-gone"]),
        &[
            LIES,
            "plan/iterations.rs lp15_commits_that_leave_everything_as_it_was_are_none",
            "plan/closing.rs code_left_uncommitted_keeps_the_phase_open",
            "plan/lost_work.rs tasks_whose_commits_an_agent_takes_away_are_done_again",
            "plan/lost_work.rs work_that_the_verifier_takes_away_is_brought_back",
        ],
    ),
    ("LP-16", "a task needs passing validation", Told(&["lp16-validation-fails"]), &[LIES]),
    ("LP-18", "the limit ends it, and what is left is named", Told(&["lp18-max"]), &[CAP]),
    (
        "LP-19",
        "a stop lets the iteration finish",
        Told(&["lp19-stop"]),
        &[STOPPING, "e2e/people/control.rs lp19_stop_lets_the_iteration_finish"],
    ),
    (
        "LP-21",
        "a stop without anything to stop",
        Told(&["lp21-stop-of-what-is-over"]),
        &["plan/state_file.rs lp21_a_stop_without_a_run_changes_nothing"],
    ),
    (
        "LP-22",
        "numbers go on after a stop; --fresh begins again",
        Told(&["lp22-numbers-go-on", "lp44-lost-does-not-count"]),
        &["plan/iterations.rs lp22_after_a_stop_it_goes_on_and_fresh_begins_again"],
    ),
    (
        "LP-23",
        "a phase that passed is closed",
        Told(&["lp23-passed"]),
        &["plan/closing.rs lp23_a_phase_that_passed_is_ticked_and_the_position_moves_on"],
    ),
    (
        "LP-24",
        "documents are committed only where that is wanted",
        FilesOnly,
        &["plan/closing.rs lp24_documents_stay_uncommitted_where_that_is_wanted"],
    ),
    (
        "LP-25",
        "gaps become plans, twice at most",
        Told(&["lp25-gaps-closed", "lp25-gaps"]),
        &["plan/closing.rs lp25_gaps_become_plans_and_the_loop_goes_on"],
    ),
    (
        "LP-27",
        "a planner without a plan is stuck",
        Told(&["lp13-planner-without-a-plan"]),
        &["plan/closing.rs lp27_plans_that_close_no_gap_are_none_and_gaps_that_stay_are_stuck"],
    ),
    (
        "LP-28",
        "what only a person can verify",
        Told(&["lp23-human-needed", "lp23-human-needed-autonomous"]),
        &[PERSON],
    ),
    (
        "LP-29",
        "a verifier without a report runs once more",
        Told(&["lp29-verifier-without-report"]),
        &["plan/closing.rs lp29_a_report_that_cannot_be_read_is_asked_for_once_more_and_then_it_is_stuck"],
    ),
    (
        "LP-30",
        "models by profile",
        Told(&["lp30-models", "lp30-models-quality", "lp30-models-budget"]),
        &[MODELS, MISTAKES],
    ),
    ("LP-33", "tasks come in their order", Told(&["lp33-in-order", "lp43-skip-a-task"]), &[SEVEN]),
    (
        "LP-34",
        "checkpoints",
        Told(&["lp34-checkpoints", "lp34-checkpoints-attended", "lp34-checkpoints-autonomous"]),
        &[
            "plan/checkpoints.rs lp34_checkpoints_are_questions_by_the_type_of_the_task",
            "plan/checkpoints.rs lp34_what_has_to_be_looked_at_waits_where_a_check_fails",
        ],
    ),
    (
        "LP-36",
        "the status",
        Told(&["lp36-counts"]),
        &["plan/state_file.rs lp36_the_status_has_plans_tasks_and_the_last_rows"],
    ),
    ("LP-37", "setup", FilesOnly, &["setup.rs lp37_setup_plan_adds_to_the_planning_folder"]),
    ("LP-38", "a missing position is rebuilt", Told(&["lp38-a-position-that-was-rebuilt"]), &[MISSING]),
    ("LP-39", "a configuration that is no JSON", FilesOnly, &[MISTAKES]),
    ("LP-40", "one line an iteration", Told(&["lp40-one-line-an-iteration"]), &[SEVEN]),
    ("LP-41", "the next call is told of a missing signal", Told(&["lp41-told-of-no-signal"]), &[SILENT]),
    (
        "LP-42",
        "without a verifier it ends unverified",
        Told(&["lp42-verifier-off"]),
        &["plan/closing.rs lp42_without_a_verifier_the_phase_ends_unverified"],
    ),
    (
        "PLAN_COMPLETE",
        "a plan needs its summary",
        Told(&["lp17-plan-without-summary"]),
        &[LIES, "plan/summaries.rs a_summary_that_is_not_written_is_a_failure_whatever_was_committed"],
    ),
    (
        "PHASE_COMPLETE",
        "a phase with plans left goes on",
        Told(&["lp17-phase-too-early"]),
        &["plan/iterations.rs lp17_a_phase_that_is_called_complete_too_early_goes_on_with_a_warning"],
    ),
];

/// What the seed leaves open or contradicts, by its number, and the test of how it was settled.
const SETTLED: [&str; 33] = [
    "plan/iterations.rs lp22_after_a_stop_it_goes_on_and_fresh_begins_again",
    "plan/state_file.rs stopping_in_the_file_of_a_run_that_rests_stops_nothing",
    STOPPING,
    "plan/state_file.rs other_edits_are_undone_and_told_of",
    "plan/crash.rs what_a_crashed_iteration_left_is_put_back_and_kept_and_does_not_count",
    "plan/iterations.rs a_prompt_says_once_how_to_end",
    CAP,
    "plan/opening.rs tasks_that_another_controller_did_are_not_done_again",
    "plan/checkpoints.rs lp34_checkpoints_are_questions_by_the_type_of_the_task",
    PERSON,
    "plan/summaries.rs a_summary_that_is_not_written_is_a_failure_whatever_was_committed",
    MISTAKES,
    "../crates/core/src/documents/planning/roadmap.rs phases_are_found_by_their_exact_number",
    "plan/moving_in.rs phases_are_found_by_their_number_and_not_by_how_it_begins",
    "../crates/store/src/mirror/planning/import.rs the_whole_word_of_a_status_is_read",
    LIES,
    "plan/summaries.rs a_plan_whose_tasks_are_done_is_asked_for_its_summary",
    LIES,
    "plan/opening.rs validation_commands_run_in_their_order",
    "plan/crash.rs what_a_crashed_iteration_left_is_put_back_and_kept_and_does_not_count",
    "plan/opening.rs waves_are_worked_on_in_turn_and_said_so",
    "plan/closing.rs lp25_gaps_become_plans_and_the_loop_goes_on",
    "plan/closing.rs lp27_plans_that_close_no_gap_are_none_and_gaps_that_stay_are_stuck",
    "plan/changed_plans.rs a_plan_for_gaps_that_cannot_be_read_is_no_plan",
    "plan/closing.rs lp29_a_report_that_cannot_be_read_is_asked_for_once_more_and_then_it_is_stuck",
    "plan/closing.rs the_report_that_was_verified_last_wins",
    "plan/iterations.rs lp10_stuck_halts_at_once_and_says_what_to_do",
    "plan/closing.rs the_commit_of_the_documents_has_the_trailer_that_is_configured",
    PERSON,
    "plan/closing.rs lp42_without_a_verifier_the_phase_ends_unverified",
    STOPPING,
    SILENT,
    "plan/briefing.rs what_does_not_fit_is_cut_and_named_and_the_plan_is_never",
];

fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

fn is_there(proof: &str) -> bool {
    let (file, test) = proof.split_once(' ').expect("a file and a test");
    let text = std::fs::read_to_string(tests().join(file)).unwrap_or_default();
    text.contains(&format!("#[test]\nfn {test}(")) || text.contains(&format!("#[test]\n    fn {test}("))
}

fn stories(rule: &Stories) -> &'static [&'static str] {
    match rule {
        Told(stories) => stories,
        FilesOnly => &[],
    }
}

#[test]
fn every_rule_is_proved() {
    for (rule, says, stories_of, proofs) in &RULES {
        assert!(!proofs.is_empty(), "{rule} ({says}) has no test");
        for proof in *proofs {
            assert!(is_there(proof), "{rule} ({says}): {proof} is gone");
        }
        for story in stories(stories_of) {
            let path = tests().join("stories").join(format!("{story}.story"));
            assert!(path.is_file(), "{rule} ({says}): {story} is gone");
        }
    }
    let told: Vec<&str> = RULES.iter().flat_map(|it| stories(&it.2)).copied().collect();
    for entry in std::fs::read_dir(tests().join("stories")).expect("stories").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let story = name.strip_suffix(".story").filter(|it| it.starts_with("lp"));
        assert!(story.is_none_or(|it| told.contains(&it)), "no rule names {name}");
    }
}

#[test]
fn every_contradiction_is_settled_by_a_test() {
    for (index, proof) in SETTLED.iter().enumerate() {
        assert!(is_there(proof), "{}: {proof} is gone", index + 1);
    }
}
