//! Every rule of the engineering loop and what proves it: stories where the engine decides it, and tests of the real
//! program where files, git or the command line have a part in it. A rule without a proof, a proof that is gone, and a
//! story that no rule names fail here.

use std::path::Path;

const OPENING: &str = "engineering/opening.rs or01_init_next_claims_the_next_ready_system";
const EDITS: &str = "engineering/queue.rs what_a_person_writes_into_the_queue_while_a_run_works_is_kept";
const QUEUE: &str = "engineering/queue.rs systems_are_added_and_changed_along_legal_edges";
const ORDER: &str =
    "engineering/queue.rs or03_the_lowest_priority_comes_first_and_then_the_order_of_the_queue";
const SCHEMA: &str = "engineering/memory.rs or44_the_state_file_fits_its_schema_at_every_step";
const DEPLOY: &str =
    "engineering/people.rs or28_the_deploy_gate_waits_for_a_person_with_what_there_is_to_see";
const CHANGES: &str = "engineering/people.rs or29_changes_at_a_gate_go_back_and_a_rejection_blocks";
const BLOCKED: &str = "engineering/people.rs or23_a_blocked_system_goes_on_when_a_person_says_so";
const TOLD: &str = "engineering/moving_in.rs or39_the_logs_of_another_controller_begin_the_new_file";
const RED: &str = "engineering/liars.rs or11_tests_that_fail_keep_the_stage";

/// Rules that no story can tell, and what of them the engine, which plays the stories, never sees. Tests of the real
/// program prove them.
const WITHOUT_STORY: [(&str, &str); 6] = [
    ("OR-01", "a job is claimed in the queue before there is a run"),
    ("OR-02", "the command refuses before there is a run"),
    ("OR-03", "the queue says which job is next"),
    ("OR-04", "the states of a job are checked where the queue is changed"),
    ("OR-42", "the command begins the next system when this run is over"),
    ("OR-44", "the schema is that of a file, which is written from the journal"),
];

/// Number, what it says, its stories, and its tests: `file name_of_the_test`, below `tests/`.
const RULES: [(&str, &str, &[&str], &[&str]); 43] = [
    ("OR-01", "init --next claims the next ready system", &[], &[OPENING]),
    ("OR-02", "a system that waits is refused, and nothing is created", &[], &[OPENING]),
    ("OR-03", "priority, then the order of the queue", &[], &[ORDER]),
    ("OR-04", "only legal edges of a status, and edits that count", &[], &[QUEUE, EDITS]),
    (
        "OR-06",
        "INIT does its own work",
        &["or06-init-does-its-own-work"],
        &["engineering/opening.rs or06_the_first_call_does_the_work_of_init"],
    ),
    (
        "OR-07",
        "the stages of each capability",
        &["or07-capabilities", "or07-capabilities-of-the-spec", "or07-one-capability"],
        &[SCHEMA, "engineering/queue.rs or07_a_system_without_capabilities_is_one_that_is_named_like_it"],
    ),
    (
        "OR-08",
        "status in the seed's five lines",
        &["or08-where-a-system-stands"],
        &["engineering/moving_in.rs or08_the_seeds_example_goes_on_where_it_was"],
    ),
    ("OR-09", "a scaffold that does not build", &["or09-scaffold-build-fails"], &[]),
    ("OR-10", "code that does not build", &["or10-implement-build-fails"], &[]),
    ("OR-11", "failing tests keep TEST", &["or11-test-to-verify"], &[RED]),
    ("OR-12", "VERIFY needs lint and types", &["or12-verify-needs-lint-and-types"], &[]),
    ("OR-13", "failing tests keep DOCUMENT", &["or13-document-to-review"], &[]),
    ("OR-14", "a check without a command is skipped", &["or14-no-lint-command"], &[]),
    (
        "OR-15",
        "each verification is logged",
        &["or15-no-test-command", "or15-unverified"],
        &[SCHEMA, "engineering/hints.rs a_check_without_a_command_is_asked_for_with_a_proposal"],
    ),
    ("OR-16", "a different error begins anew", &["or16-distinct-errors"], &[]),
    (
        "OR-17",
        "the third equal error blocks",
        &["or17-same-error"],
        &["engineering/hints.rs a_halt_names_the_deliverable_that_is_missing"],
    ),
    ("OR-18", "three retries", &["or18-retries"], &[]),
    ("OR-19", "ten failures in all", &["or19-total"], &[]),
    ("OR-20", "two errors in turn", &["or20-alternation"], &[]),
    (
        "OR-21",
        "security is never retried",
        &["or21-debug-assist-finds-it", "or21-findings", "or21-security"],
        &["engineering/liars.rs or21_an_audit_with_a_critical_finding_blocks_at_once"],
    ),
    ("OR-22", "external failures back off", &["or22-backoff", "or22-backoff-recovers"], &[]),
    (
        "OR-23",
        "debug-assist before the next try, and what resolved the failure",
        &["or23-debug-assist", "or23-repair-of-proven-work"],
        &[BLOCKED, "engineering/repairing.rs a_repair_is_a_commit_that_the_failure_names"],
    ),
    ("OR-24", "nothing happens to a blocked system", &["or24-blocked"], &[RED]),
    ("OR-25", "a skip passes no gate", &["or25-skip-does-not-pass-a-gate"], &[]),
    ("OR-26", "what is decided first", &["or26-order"], &[]),
    ("OR-28", "the deploy gate", &["or28-deploy-gate"], &[DEPLOY]),
    ("OR-29", "changes and rejection at a gate", &["or29-changes", "or29-reject"], &[CHANGES]),
    ("OR-30", "a gate times out", &["or30-gate-timeout"], &[]),
    (
        "OR-31",
        "gates of a body, and of what the change touches after their boundary",
        &["or31-gates-of-a-body", "or31-gate-changes-in-a-body", "or31-late-gates"],
        &["engineering/people.rs or31_what_the_change_touches_later_is_asked_before_anything_leaves"],
    ),
    (
        "OR-32",
        "autonomous asks for deploy, and for what is required",
        &["or32-autonomous", "or32-autonomous-without-deploy", "or32-required"],
        &[DEPLOY],
    ),
    (
        "OR-33",
        "gates by mode, and by what the change touches",
        &["or33-supervised", "or33-detected", "or33-agent-asks"],
        &["engineering/hints.rs a_gate_says_why_it_is_asked"],
    ),
    ("OR-34", "every skill of a stage", &["or34-mandatory-skills"], &[SCHEMA]),
    (
        "OR-35",
        "a skip has a reason",
        &["or35-skip-a-skill", "or35-skipped-claims", "or35-skipped-skills-and-a-failing-check"],
        &["engineering/people.rs or35_a_skill_is_skipped_only_with_a_reason"],
    ),
    (
        "OR-36",
        "unknown is neither approved nor zero",
        &["or36-not-usable", "or36-review-without-a-verdict", "or36-targets"],
        &[
            "engineering/liars.rs a_review_without_a_verdict_does_not_ship",
            "engineering/liars.rs an_audit_that_reports_nothing_is_not_zero",
        ],
    ),
    (
        "OR-37",
        "deliverables are there, not empty, and changed",
        &["or37-deliverables"],
        &["engineering/liars.rs or37_a_deliverable_that_is_missing_empty_or_foreign_is_none"],
    ),
    (
        "OR-38",
        "a repository, and a deploy target that is asked for once",
        &["or38-prerequisite", "or38-prerequisite-skipped"],
        &[
            "engineering/opening.rs or38_without_a_repository_it_says_what_to_do",
            "engineering/moving_in.rs or38_a_deploy_target_is_asked_for_once",
        ],
    ),
    (
        "OR-39",
        "the log of skills and how often each was completed",
        &["or39-skills"],
        &[SCHEMA, BLOCKED, TOLD],
    ),
    (
        "OR-40",
        "SHIP is left when the work is merged",
        &["or40-merge", "or40-merged-by-word"],
        &["engineering/github.rs or40_the_run_waits_until_people_have_merged_and_asks_the_host_each_time"],
    ),
    ("OR-41", "a review that asks for changes", &["or41-review-changes"], &[]),
    (
        "OR-42",
        "the next system, or the domain's progress",
        &[],
        &["engineering/continuing.rs or42_the_next_system_is_begun_only_if_the_workflow_says_so"],
    ),
    (
        "OR-43",
        "a kill loses nothing",
        &["or43-two-of-three"],
        &["engineering/whole.rs or43_killed_at_every_stage_it_goes_on_where_it_was"],
    ),
    ("OR-44", "the state file fits its schema", &[], &[SCHEMA]),
    (
        "OR-46 to 48",
        "the cap, the report of a block, and going on at a stage",
        &["or46-cap", "or47-blocked-report", "or48-resume-at-a-stage"],
        &[
            "engineering/memory.rs a_state_that_a_person_writes_is_a_command_and_never_one_that_was_not_reached",
        ],
    ),
];

fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

fn is_there(proof: &str) -> bool {
    let (file, test) = proof.split_once(' ').expect("a file and a test");
    let text = std::fs::read_to_string(tests().join(file)).unwrap_or_default();
    text.contains(&format!("#[test]\nfn {test}("))
}

#[test]
fn every_rule_is_proved() {
    for (rule, says, stories, proofs) in &RULES {
        assert!(!stories.is_empty() || !proofs.is_empty(), "{rule} ({says}) has no proof");
        let has_reason = WITHOUT_STORY.iter().any(|it| it.0 == *rule);
        assert_eq!(
            stories.is_empty(),
            has_reason,
            "{rule} ({says}): a story, or the reason why there is none"
        );
        for proof in *proofs {
            assert!(is_there(proof), "{rule} ({says}): {proof} is gone");
        }
        for story in *stories {
            let path = tests().join("stories").join(format!("{story}.story"));
            assert!(path.is_file(), "{rule} ({says}): {story} is gone");
        }
    }
    for entry in std::fs::read_dir(tests().join("stories")).expect("stories").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let story = name.strip_suffix(".story").filter(|it| it.starts_with("or"));
        let is_named = |it: &str| RULES.iter().any(|rule| rule.2.contains(&it));
        assert!(story.is_none_or(is_named), "no rule names {name}");
    }
}
