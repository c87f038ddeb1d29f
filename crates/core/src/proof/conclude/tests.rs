//! Each test is a story: what was red and green in which step, and what the proof says about it.

use super::{FindingKind, ProofEvidence, conclude};
use crate::proof::conclude::locate::ProtectedChange;
use crate::proof::overlay::plan::NotJudged;
use crate::proof::record::finding::Waiver;
use crate::proof::record::proof_record::{Level, NewTest, Proof, ProvenTest};
use crate::proof::record::sentence::closing_sentence;
use crate::proof::record::steps::{CanaryOutcome, NotRun, StepOutcome};
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};
use crate::proof::testing::{results, run};
use std::collections::BTreeMap;

const P: TestOutcome = TestOutcome::Passed;
const F: TestOutcome = TestOutcome::Failed;
const S: TestOutcome = TestOutcome::Skipped;
const SUB: &str = "tests/test_calc.py::test_sub";
const ADD: &str = "tests/test_calc.py::test_add";

fn ran(exit: Exit, tests: &[(&str, TestOutcome)]) -> StepOutcome {
    StepOutcome::Ran(run(vec![vec![results("tests", exit, tests)]]))
}

fn twice(exit: Exit, tests: &[(&str, TestOutcome)]) -> StepOutcome {
    let results = vec![results("tests", exit, tests)];
    StepOutcome::Ran(run(vec![results.clone(), results]))
}

/// Nothing but code changed, and every test is green on both sides.
fn evidence() -> ProofEvidence {
    let green = [(ADD, P), (SUB, P)];
    ProofEvidence {
        protected_line: StepOutcome::NotRun(NotRun::NotNeeded),
        canary_run: StepOutcome::NotRun(NotRun::NotNeeded),
        tree: "f1e2".to_owned(),
        commit: None,
        opening: Vec::new(),
        in_place: vec![results("tests", Exit::Green, &green)],
        baseline: ran(Exit::Green, &green),
        clean: ran(Exit::Green, &green),
        overlay: StepOutcome::NotRun(NotRun::NotNeeded),
        old_code: StepOutcome::NotRun(NotRun::NotNeeded),
        canary: BTreeMap::from([("tests".to_owned(), CanaryOutcome::Seen)]),
        not_judged: Vec::new(),
        changed_protected: Vec::new(),
        changed_folders: Vec::new(),
        left_out_programs: Vec::new(),
        changed_tools: Vec::new(),
        waivers: Vec::new(),
        allowed: Vec::new(),
        nothing_changed: false,
        approved: false,
        cost_s: 2.5,
    }
}

fn changed_test() -> Vec<ProtectedChange> {
    vec![ProtectedChange { path: "tests/test_calc.py".to_owned(), ..ProtectedChange::default() }]
}

fn kinds(proof: &Proof) -> Vec<FindingKind> {
    proof.findings.iter().map(|it| it.kind).collect()
}

fn waiver(what: &str) -> Waiver {
    Waiver { what: what.to_owned(), reason: "wanted".to_owned(), by: Some("ann".to_owned()) }
}

#[test]
fn the_first_tests_of_a_project_are_no_finding() {
    let proof = conclude(&ProofEvidence {
        baseline: ran(Exit::Red, &[]),
        overlay: ran(Exit::Red, &[]),
        old_code: twice(Exit::Red, &[(ADD, F), (SUB, F)]),
        changed_protected: changed_test(),
        ..evidence()
    });
    assert_eq!((kinds(&proof), proof.level), (vec![], Level::NewTest));
}

#[test]
fn a_fix_is_red_to_green() {
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let proof = conclude(&ProofEvidence { baseline, ..evidence() });
    assert_eq!((proof.level, proof.verified(), proof.still_green), (Level::RedToGreen, true, 1));
    let expected =
        "proven: test tests/test_calc.py::test_sub failed before and passes now, in a clean checkout";
    assert_eq!(closing_sentence(&proof), expected);
}

#[test]
fn a_fix_outside_of_the_tree_is_found() {
    let red = [(ADD, P), (SUB, F)];
    let opening = vec![results("tests", Exit::Red, &red)];
    let (baseline, clean) = (ran(Exit::Red, &red), ran(Exit::Red, &red));
    let proof =
        conclude(&ProofEvidence { opening, baseline: baseline.clone(), clean: clean.clone(), ..evidence() });
    assert_eq!((kinds(&proof), proof.verified()), (vec![FindingKind::RedInClean], false));
    // A test that was green in place all the time needs something that a clean checkout has not.
    let opening = vec![results("tests", Exit::Green, &[(ADD, P), (SUB, P)])];
    let proof = conclude(&ProofEvidence { opening, baseline, clean, ..evidence() });
    assert_eq!((kinds(&proof), proof.not_reproducible.len()), (Vec::new(), 1));
}

#[test]
fn all_green_before_and_after_proves_nothing() {
    let proof = conclude(&evidence());
    assert_eq!((proof.level, proof.verified(), proof.still_green), (Level::UnchangedGreen, false, 2));
    let expected =
        "not proven: every check was green before the run and is green now; nothing measures this task";
    assert_eq!(closing_sentence(&proof), expected);
    let liar = conclude(&ProofEvidence { nothing_changed: true, ..evidence() });
    let expected = "not proven: nothing changed; every check was green before the run and is green now";
    assert_eq!(closing_sentence(&liar), expected);
    let approved = conclude(&ProofEvidence { approved: true, ..evidence() });
    assert_eq!((approved.level, approved.verified()), (Level::Approved, true));
}

#[test]
fn a_new_test_must_be_seen_failing_twice_on_the_old_code() {
    let clean = ran(Exit::Green, &[(ADD, P), (SUB, P), ("tests/test_calc.py::test_mul", P)]);
    let overlay = ran(Exit::Green, &[(ADD, P), (SUB, P)]);
    let failing = [(ADD, P), (SUB, P), ("tests/test_calc.py::test_mul", F)];
    let with = |old_code| {
        let changed_protected = changed_test();
        let (clean, overlay) = (clean.clone(), overlay.clone());
        conclude(&ProofEvidence { clean, overlay, old_code, changed_protected, ..evidence() })
    };
    let proof = with(twice(Exit::Red, &failing));
    assert_eq!((proof.level, proof.verified(), proof.new_tests.len()), (Level::NewTest, true, 1));
    let expected = "proven by a test of this run: tests/test_calc.py::test_mul fails on the code as it was and passes now, in a clean checkout";
    assert_eq!(closing_sentence(&proof), expected);
    assert_eq!(with(ran(Exit::Red, &failing)).level, Level::UnchangedGreen);
    let not_built = StepOutcome::Ran(run(vec![
        vec![Results {
            build_failed: true,
            complete: false,
            ..results("tests", Exit::Red, &[])
        }];
        2
    ]));
    let proof = with(not_built);
    assert!(proof.level == Level::NewTest && proof.new_tests[0].only_build_failed);
    assert!(closing_sentence(&proof).contains("does not build with the code as it was"));
}

#[test]
fn a_test_that_did_not_change_shows_nothing_by_failing_on_the_mixture() {
    let old_code = twice(Exit::Red, &[(ADD, F), (SUB, P)]);
    let overlay = ran(Exit::Green, &[(ADD, P), (SUB, P)]);
    let other = vec![ProtectedChange { path: "tests/other.py".to_owned(), ..ProtectedChange::default() }];
    let proof = conclude(&ProofEvidence { overlay, old_code, changed_protected: other, ..evidence() });
    assert_eq!(proof.level, Level::UnchangedGreen);
}

#[test]
fn a_weakened_test_is_found_by_its_original_text() {
    let overlay = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let cheat = ProofEvidence { overlay, changed_protected: changed_test(), ..evidence() };
    let proof = conclude(&cheat);
    assert_eq!((kinds(&proof), proof.level), (vec![FindingKind::ChangedTest], Level::None));
    let expected =
        "test tests/test_calc.py::test_sub passed before the run and fails in its original version";
    assert_eq!(proof.findings[0].line, expected);
    assert_eq!(proof.findings[0].file.as_deref(), Some("tests/test_calc.py"));
    for what in [SUB, "test_sub", "tests/test_calc.py", "tests/**", "*"] {
        let waived = conclude(&ProofEvidence { waivers: vec![waiver(what)], ..cheat.clone() });
        assert!(waived.findings.is_empty() && !waived.weakened && waived.waived.len() == 1, "{what}");
        assert_eq!(waived.level, Level::UnchangedGreen, "{what}");
    }
    assert_eq!(
        conclude(&ProofEvidence { waivers: vec![waiver("test_add")], ..cheat.clone() }).findings.len(),
        1
    );
    let allowed = conclude(&ProofEvidence { allowed: vec!["tests/*.py".to_owned()], ..cheat });
    assert_eq!(allowed.waived[0].reason, "allowed before the run by --allow-test-change");
}

#[test]
fn a_failing_test_that_was_edited_or_deleted_is_still_red() {
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let overlay = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    for clean in [ran(Exit::Green, &[(ADD, P), (SUB, P)]), ran(Exit::Green, &[(ADD, P)])] {
        let (baseline, overlay) = (baseline.clone(), overlay.clone());
        let proof = conclude(&ProofEvidence {
            baseline,
            clean,
            overlay,
            changed_protected: changed_test(),
            ..evidence()
        });
        assert_eq!((kinds(&proof), proof.level), (vec![FindingKind::StillRed], Level::None));
    }
    // Without an overlay (a parameter in the code made it disappear) it is gone.
    let clean = ran(Exit::Green, &[(ADD, P)]);
    let proof = conclude(&ProofEvidence { baseline, clean, ..evidence() });
    assert_eq!(kinds(&proof), [FindingKind::Vanished]);
}

#[test]
fn a_moved_test_is_a_note_and_a_lost_one_a_question() {
    let clean = ran(Exit::Green, &[(ADD, P), ("tests/test_new.py::test_sub", P)]);
    let overlay = ran(Exit::Green, &[(ADD, P), (SUB, P)]);
    let proof = conclude(&ProofEvidence {
        clean: clean.clone(),
        overlay,
        changed_protected: changed_test(),
        ..evidence()
    });
    assert!(proof.findings.is_empty());
    assert_eq!(proof.notes, ["test tests/test_calc.py::test_sub is gone; its original text still passes"]);
    let lost = conclude(&ProofEvidence { clean, ..evidence() });
    assert_eq!(lost.findings[0].line, "test tests/test_calc.py::test_sub passed before the run and is gone");
}

#[test]
fn skipped_and_emptied_tests_are_found() {
    let skipped = conclude(&ProofEvidence { clean: ran(Exit::Green, &[(ADD, P), (SUB, S)]), ..evidence() });
    assert_eq!(kinds(&skipped), [FindingKind::Skipped]);
    let emptied = conclude(&ProofEvidence { clean: ran(Exit::Green, &[]), ..evidence() });
    assert!(kinds(&emptied).contains(&FindingKind::NoTestsRan) && !emptied.verified());
}

#[test]
fn red_in_the_clean_checkout_is_a_finding_unless_the_baseline_was_red_there_too() {
    let poisoned = conclude(&ProofEvidence { clean: ran(Exit::Red, &[(ADD, P), (SUB, F)]), ..evidence() });
    assert_eq!((kinds(&poisoned), poisoned.level), (vec![FindingKind::RedInClean], Level::None));
    let waived = ProofEvidence {
        clean: ran(Exit::Red, &[(ADD, P), (SUB, F)]),
        waivers: vec![waiver(SUB)],
        ..evidence()
    };
    let waived = conclude(&waived);
    assert!(waived.weakened && !waived.verified());
    // A test that needs the user's home directory.
    let both = [(ADD, P), (SUB, F)];
    let proof = conclude(&ProofEvidence {
        baseline: ran(Exit::Red, &both),
        clean: ran(Exit::Red, &both),
        ..evidence()
    });
    assert!(proof.findings.is_empty());
    assert_eq!(proof.not_reproducible[0].why, "fails in a clean checkout of the baseline too");
    assert_eq!(proof.level, Level::UnchangedGreen);
    // Another test of the same check is proven all the same.
    let mul = "tests/test_calc.py::test_mul";
    let baseline = ran(Exit::Red, &[(ADD, F), (SUB, F), (mul, P)]);
    let clean = ran(Exit::Red, &[(ADD, P), (SUB, F), (mul, P)]);
    assert_eq!(conclude(&ProofEvidence { baseline, clean, ..evidence() }).level, Level::RedToGreen);
}

#[test]
fn a_check_without_ids_is_judged_by_its_exit_code() {
    let by_exit = |exit| StepOutcome::Ran(run(vec![vec![Results::by_exit("lint", exit)]]));
    let with = |before, clean, overlay| {
        conclude(&ProofEvidence {
            baseline: by_exit(before),
            clean: by_exit(clean),
            overlay: by_exit(overlay),
            canary: BTreeMap::from([("lint".to_owned(), CanaryOutcome::NotOnBaseline)]),
            ..evidence()
        })
    };
    let fixed = with(Exit::Red, Exit::Green, Exit::Green);
    assert_eq!(
        closing_sentence(&fixed),
        "proven: check lint failed before and passes now, in a clean checkout (no test that must fail fits this check)"
    );
    let canary = BTreeMap::from([("lint".to_owned(), CanaryOutcome::Seen)]);
    let seen = ProofEvidence {
        baseline: by_exit(Exit::Red),
        clean: by_exit(Exit::Green),
        overlay: by_exit(Exit::Green),
        canary,
        ..evidence()
    };
    assert!(closing_sentence(&conclude(&seen)).ends_with("passes now, in a clean checkout"));
    let loosened = with(Exit::Green, Exit::Green, Exit::Red);
    assert_eq!(kinds(&loosened), [FindingKind::RedInOverlay]);
    let edited = with(Exit::Red, Exit::Green, Exit::Red);
    assert_eq!(kinds(&edited), [FindingKind::RedInOverlay]);
    let missing = with(Exit::NotStarted, Exit::Green, Exit::Green);
    assert_eq!(missing.level, Level::None);
    assert_eq!(with(Exit::Green, Exit::Green, Exit::Green).level, Level::UnchangedGreen);
}

#[test]
fn where_only_failures_are_named_numbers_decide() {
    let counted = |exit, failing: &[&str], passed, skipped| {
        let tests: Vec<(&str, TestOutcome)> = failing.iter().map(|it| (*it, F)).collect();
        let results =
            Results { listing: NamedTests::Failures, passed, skipped, ..results("tests", exit, &tests) };
        StepOutcome::Ran(run(vec![vec![results]]))
    };
    let test = "tests.test_calc.TestCalc.test_sub";
    let baseline = counted(Exit::Red, &[test], 3, 0);
    let fixed = counted(Exit::Green, &[], 4, 0);
    let with = |clean: StepOutcome, overlay: StepOutcome| {
        conclude(&ProofEvidence {
            baseline: baseline.clone(),
            clean,
            overlay,
            changed_protected: changed_test(),
            ..evidence()
        })
    };
    assert_eq!(with(fixed.clone(), fixed.clone()).level, Level::RedToGreen);
    let deleted = with(counted(Exit::Green, &[], 3, 0), baseline.clone());
    assert_eq!((kinds(&deleted), deleted.level), (vec![FindingKind::StillRed], Level::None));
    let gone = ProtectedChange { is_deleted: true, ..changed_test().remove(0) };
    let (clean, overlay) = (counted(Exit::Green, &[], 3, 0), baseline.clone());
    let changed_protected = vec![gone];
    let evidence =
        ProofEvidence { baseline: baseline.clone(), clean, overlay, changed_protected, ..evidence() };
    let expected =
        format!("tests/test_calc.py was deleted; its test {test} failed before the run and still fails");
    assert_eq!(conclude(&evidence).findings[0].line, expected);
    let skipped = with(counted(Exit::Green, &[], 3, 1), counted(Exit::Green, &[], 3, 1));
    assert_eq!((kinds(&skipped), skipped.level), (vec![FindingKind::Skipped], Level::None));
}

#[test]
fn a_flaky_test_is_no_proof_and_no_alarm() {
    let red = results("tests", Exit::Red, &[(ADD, P), (SUB, F)]);
    let green = results("tests", Exit::Green, &[(ADD, P), (SUB, P)]);
    let mixed = StepOutcome::Ran(run(vec![vec![red.clone()], vec![green.clone()]]));
    let alarm = conclude(&ProofEvidence { clean: mixed.clone(), baseline: mixed.clone(), ..evidence() });
    assert!(alarm.findings.is_empty() && alarm.flaky == [TestId::new("tests", SUB)]);
    // More runs of the baseline showed that it was so before.
    let mut again = run(vec![vec![red.clone()], vec![green.clone()]]);
    again.baseline_again = vec![vec![green.clone()], vec![red.clone()]];
    let alarm = conclude(&ProofEvidence { clean: StepOutcome::Ran(again), ..evidence() });
    assert!(alarm.findings.is_empty() && alarm.flaky == [TestId::new("tests", SUB)]);
    let proof = conclude(&ProofEvidence { baseline: mixed, ..evidence() });
    assert_eq!((proof.level, proof.findings.len()), (Level::UnchangedGreen, 0));
    let once = conclude(&ProofEvidence { baseline: StepOutcome::Ran(run(vec![vec![red]])), ..evidence() });
    assert_eq!(once.level, Level::RedToGreen);
}

#[test]
fn a_test_that_the_run_made_flaky_is_a_question() {
    let red = results("tests", Exit::Red, &[(ADD, P), (SUB, F)]);
    let green = results("tests", Exit::Green, &[(ADD, P), (SUB, P)]);
    let mut mixed = run(vec![vec![red], vec![green.clone()]]);
    mixed.baseline_again = vec![vec![green]];
    let proof = conclude(&ProofEvidence { clean: StepOutcome::Ran(mixed), ..evidence() });
    assert_eq!(kinds(&proof), [FindingKind::Flaky]);
    assert!(proof.findings[0].line.contains("passes and fails on the same tree"), "{:?}", proof.findings);
}

#[test]
fn an_unseen_canary_is_a_question_and_never_verified() {
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let canary = BTreeMap::from([("tests".to_owned(), CanaryOutcome::Unseen)]);
    let cheat = ProofEvidence { baseline, canary, ..evidence() };
    let proof = conclude(&cheat);
    assert_eq!((kinds(&proof), proof.verified()), (vec![FindingKind::CanaryUnseen], false));
    let waived = conclude(&ProofEvidence { waivers: vec![waiver("tests")], ..cheat });
    assert!(waived.findings.is_empty() && !waived.verified());
    assert!(closing_sentence(&waived).starts_with("not proven: check tests did not report the canary"));
}

#[test]
fn a_test_that_fails_beside_canaries_alone_is_a_finding() {
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let twice = |first, second| {
        let attempt = |it| vec![results("tests", Exit::Red, &[(ADD, P), (SUB, it)])];
        StepOutcome::Ran(run(vec![attempt(first), attempt(second)]))
    };
    let with = |canary_run| conclude(&ProofEvidence { baseline: baseline.clone(), canary_run, ..evidence() });
    let cheat = with(twice(F, F));
    assert_eq!((kinds(&cheat), cheat.verified()), (vec![FindingKind::RedInClean], false));
    assert!(cheat.findings[0].line.contains("fails on the same tree"), "{}", cheat.findings[0].line);
    assert!(with(twice(P, P)).verified());
    assert!(with(twice(F, P)).findings.is_empty());
}

#[test]
fn an_accepted_change_of_a_red_test_is_not_called_unchanged() {
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let overlay = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let waivers = vec![waiver("*")];
    let proof = conclude(&ProofEvidence { baseline, overlay, waivers, ..evidence() });
    assert_eq!((proof.level, proof.findings.len(), proof.waived.len()), (Level::None, 0, 1));
    assert!(closing_sentence(&proof).contains("this was accepted"), "{}", closing_sentence(&proof));
}

#[test]
fn a_touched_run_counts_for_nothing() {
    let mut touched = run(vec![vec![results("tests", Exit::Green, &[(ADD, P), (SUB, P)])]]);
    touched.touched = vec!["tests/test_calc.py".to_owned()];
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let proof = conclude(&ProofEvidence { baseline, clean: StepOutcome::Ran(touched), ..evidence() });
    assert_eq!((kinds(&proof), proof.level), (vec![FindingKind::Touched], Level::None));
}

#[test]
fn what_the_overlay_could_not_judge_is_a_question_with_its_file() {
    let why = "its original version does not build with the final code".to_owned();
    let not_judged = vec![NotJudged { path: "tests/test_calc.py".to_owned(), why }];
    let baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let overlay = ran(Exit::Green, &[(ADD, P), (SUB, P)]);
    let changed_protected = changed_test();
    let renamed = ProofEvidence { baseline, overlay, not_judged, changed_protected, ..evidence() };
    let proof = conclude(&renamed);
    let expected = "tests/test_calc.py changed and could not be judged: its original version does not build with the final code";
    assert_eq!((proof.findings[0].line.as_str(), proof.red_to_green.len()), (expected, 0));
    let waived = conclude(&ProofEvidence { waivers: vec![waiver("tests/test_calc.py")], ..renamed });
    assert_eq!((waived.level, waived.findings.len()), (Level::None, 0));
}

#[test]
fn a_skipped_proof_has_no_level() {
    let none = StepOutcome::NotRun(NotRun::Skipped);
    let proof =
        conclude(&ProofEvidence { baseline: none.clone(), clean: none.clone(), overlay: none, ..evidence() });
    assert_eq!((proof.level, proof.verified()), (Level::None, false));
    assert_eq!(closing_sentence(&proof), "not proven: no check ran in a clean checkout");
}

#[test]
fn the_record_has_the_fields_of_the_status() {
    let baseline = ran(Exit::Red, &[(ADD, F), (SUB, F)]);
    let clean = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let overlay = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    let proof = conclude(&ProofEvidence {
        baseline,
        clean,
        overlay,
        changed_protected: changed_test(),
        ..evidence()
    });
    insta::assert_snapshot!("record", serde_json::to_string_pretty(&proof).expect("JSON"));
    let text = serde_json::to_string(&proof).expect("JSON");
    assert_eq!(serde_json::from_str::<Proof>(&text).expect("a proof"), proof);
}

#[test]
fn a_sentence_reads_well_whatever_the_number() {
    let proof = |ids: &[(&str, &str)]| {
        let ids = ids.iter().map(|(check, name)| TestId::new(*check, *name));
        let red_to_green = ids.map(|id| ProvenTest { id, is_gone: false }).collect();
        let checks = Vec::new();
        Proof { level: Level::RedToGreen, red_to_green, checks, ..conclude(&evidence()) }
    };
    let subject = |ids: &[(&str, &str)]| {
        let sentence = closing_sentence(&proof(ids));
        let (named, _) = sentence.split_once(" now, in a clean checkout").expect("the end");
        named.strip_prefix("proven: ").expect("the beginning").to_owned()
    };
    let [one, two, three] = [("tests", "adds"), ("tests", "takes away"), ("tests", "counts")];
    let [lint, types] = [("lint", ""), ("types", "")];
    for (ids, expected) in [
        (&[one][..], "test adds failed before and passes"),
        (&[one, two], "tests adds and takes away failed before and pass"),
        (&[one, two, three], "test adds and 2 others failed before and pass"),
        (&[lint], "check lint failed before and passes"),
        (&[lint, types], "checks lint and types failed before and pass"),
        (&[lint, one], "check lint and test adds failed before and pass"),
    ] {
        assert_eq!(subject(ids), expected);
    }
    let new_tests = |names: &[&str]| {
        let id = |it: &&str| NewTest { id: TestId::new("tests", *it), only_build_failed: false };
        let new_tests = names.iter().map(id).collect();
        closing_sentence(&Proof { level: Level::NewTest, new_tests, ..conclude(&evidence()) })
    };
    let ending = "on the code as it was and pass now, in a clean checkout";
    assert_eq!(new_tests(&["a", "b"]), format!("proven by tests of this run: a and b fail {ending}"));
    assert_eq!(
        new_tests(&["a", "b", "c"]),
        format!("proven by tests of this run: a and 2 others fail {ending}")
    );
}

#[test]
fn lists_are_bounded_and_say_what_they_leave_out() {
    let names: Vec<String> = (0..60).map(|it| format!("tests/test_calc.py::test_{it:02}")).collect();
    let all = |outcome| names.iter().map(|it| (it.as_str(), outcome)).collect::<Vec<_>>();
    let proof = conclude(&ProofEvidence {
        baseline: ran(Exit::Red, &all(F)),
        clean: ran(Exit::Green, &all(P)),
        ..evidence()
    });
    assert_eq!((proof.red_to_green.len(), proof.more["red_to_green"]), (50, 10));
    assert!(closing_sentence(&proof).contains("test_00 and 59 others failed before and pass now"));
}

/// A test file that cannot be loaded is red and names none of its tests.
#[test]
fn a_red_check_without_a_failing_test_names_the_tests_that_did_not_run() {
    let mut evidence = evidence();
    evidence.baseline = ran(Exit::Red, &[(ADD, P), (SUB, F)]);
    evidence.clean = ran(Exit::Red, &[(ADD, P)]);
    let proof = conclude(&evidence);
    let lines: Vec<&str> = proof.findings.iter().map(|it| it.line.as_str()).collect();
    let expected = format!("is red in a clean checkout; tests that did not run there: {SUB}");
    assert!(lines.iter().any(|it| it.contains(&expected)), "{lines:#?}");
}

#[test]
fn a_clean_run_that_went_without_programs_says_so() {
    let left_out =
        ["/usr/bin/sh", "/usr/bin/git", "/usr/bin/cp"].map(|it| format!("{it} (changed since the opening)"));
    let proof = conclude(&ProofEvidence {
        clean: ran(Exit::Red, &[]),
        left_out_programs: left_out.into(),
        ..evidence()
    });
    let line = &proof.findings[0].line;
    let expected = "; left out of PATH there: /usr/bin/sh (changed since the opening), /usr/bin/git (changed since the opening) and 1 more";
    assert!(line.starts_with("check tests is red in a clean checkout") && line.ends_with(expected), "{line}");
}

/// A design's own check often runs the tests that were found in the project too.
#[test]
fn a_test_that_two_checks_run_is_said_once() {
    let both = |exit: Exit, tests: &[(&str, TestOutcome)]| {
        StepOutcome::Ran(run(vec![vec![results("tests", exit, tests), results("validation", exit, tests)]]))
    };
    let (red, green) = ([(ADD, P), (SUB, F)], [(ADD, P), (SUB, P)]);
    let proof = conclude(&ProofEvidence {
        baseline: both(Exit::Red, &red),
        clean: both(Exit::Green, &green),
        ..evidence()
    });
    let expected =
        "proven: test tests/test_calc.py::test_sub failed before and passes now, in a clean checkout";
    assert_eq!((closing_sentence(&proof).as_str(), proof.red_to_green.len()), (expected, 2));
    let proof = conclude(&ProofEvidence {
        baseline: both(Exit::Green, &green),
        clean: both(Exit::Red, &red),
        ..evidence()
    });
    assert_eq!(kinds(&proof), [FindingKind::RedInClean]);
}

#[test]
fn a_clean_run_that_went_without_a_folder_of_packages_says_so() {
    let proof = conclude(&ProofEvidence {
        clean: ran(Exit::Red, &[(ADD, P), (SUB, F)]),
        changed_folders: vec!["node_modules was not there at the opening".to_owned()],
        ..evidence()
    });
    let expected =
        "fails in a clean checkout (node_modules was not there at the opening, and is not used there)";
    assert!(proof.findings[0].line.ends_with(expected), "{}", proof.findings[0].line);
}
