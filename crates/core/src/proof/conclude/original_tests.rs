//! The overlay against the baseline: what fails, is skipped or is gone although its original text was
//! put back.

use super::judge::{CheckSteps, Judge};
use crate::proof::conclude::locate::{ProtectedChange, file_of, is_added};
use crate::proof::defence::Defence;
use crate::proof::record::finding::{Finding, FindingKind};
use crate::proof::record::steps::ProofStep;
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};

/// Whether a name stands for a test file that could not be loaded. Once it can, its tests have names of
/// their own; as long as it cannot, the name is there and red.
pub(super) fn stands_for_a_file(name: &str) -> bool {
    name.contains("unittest.loader._FailedTest")
}

impl Judge<'_> {
    /// E against A0: green before must be green with its original text, red must not be gone.
    pub(super) fn judge_overlay(&mut self, check: &CheckSteps<'_>) {
        let Some(overlay) = check.overlay.as_ref().filter(|_| !self.overlay_is_clean) else { return };
        let before = check.before.as_ref();
        let was = |name: &str| before.and_then(|it| it.outcome(name));
        let mut explained = false;
        for name in overlay.names(TestOutcome::Failed) {
            let id = overlay.id(name);
            let red_in_clean = check.clean.outcome(name) == Some(TestOutcome::Failed);
            explained = true;
            // Its file is named as not judged.
            if stands_for_a_file(name) && !self.evidence.not_judged.is_empty() {
                continue;
            }
            // An added test that a later try of the overlay kept is not the baseline's.
            // What the baseline did not show may be one that it did not get to: make stops early.
            let added = was(name).is_none() && is_added(name, &self.evidence.changed_protected);
            if red_in_clean || added || self.is_flaky(&id) {
                continue;
            }
            match was(name) {
                Some(TestOutcome::Failed) => {
                    self.find_still_red(&id);
                }
                Some(TestOutcome::Passed) => {
                    let what = "passed before the run and fails in its original version";
                    self.find_test(FindingKind::ChangedTest, ProofStep::Overlay, &id, what);
                }
                Some(TestOutcome::Skipped) | None => {
                    let what = "fails in its original version and passes in the version of the run";
                    self.find_test(FindingKind::ChangedTest, ProofStep::Overlay, &id, what);
                }
            }
        }
        for name in overlay.names(TestOutcome::Skipped).filter(|_| Defence::Ratchet.is_on()) {
            if matches!(was(name), Some(TestOutcome::Passed | TestOutcome::Failed)) {
                let what = "ran before the run and is skipped now, even in its original version";
                self.find_test(FindingKind::Skipped, ProofStep::Overlay, &overlay.id(name), what);
            }
        }
        // What did not build was left out of the last try and is named as not judged.
        let left_out = overlay.build_failed && !self.evidence.not_judged.is_empty();
        // A runner without a single test may say so by failing: there was no original test to pass.
        let no_test = |it: &Results| it.exit == Exit::Red && !it.build_failed && it.executed() == Some(0);
        let empty = before.is_some_and(no_test) && no_test(overlay) && check.clean.executed() > Some(0);
        let explained = explained || left_out || empty;
        if overlay.exit != Exit::Green && check.clean.exit == Exit::Green && !explained {
            let was_red = before.is_some_and(|it| it.exit == Exit::Red);
            let what = match overlay.build_failed && !was_red {
                true => "does not build with the original tests",
                false => "is red with the original tests and check files",
            };
            self.find_check(FindingKind::RedInOverlay, ProofStep::Overlay, check.name, what);
        }
    }

    /// A test that failed at the opening fails with its original text.
    fn find_still_red(&mut self, id: &TestId) {
        let file = file_of(&id.name, &self.evidence.changed_protected);
        let is_deleted = |it: &ProtectedChange| it.is_deleted && file.as_ref() == Some(&it.path);
        let (kind, step) = (FindingKind::StillRed, ProofStep::Overlay);
        if let Some(deleted) = self.evidence.changed_protected.iter().find(|it| is_deleted(it)) {
            let path = &deleted.path;
            let mut finding = Finding::of_test(kind, step, id, Some(path.clone()), "");
            finding.line =
                format!("{path} was deleted; its test {} failed before the run and still fails", id.name);
            self.find(finding);
            return;
        }
        self.find_test(kind, step, id, "failed before the run and still fails in its original version");
    }

    /// Tests that the baseline had and that are gone now.
    pub(super) fn judge_gone(&mut self, check: &CheckSteps<'_>) {
        let Some(before) = &check.before else { return };
        let overlay = check.overlay.as_ref();
        for (name, outcome) in before.ids.iter().filter(|(_, it)| **it != TestOutcome::Skipped) {
            let id = before.id(name);
            if self.is_flaky(&id) || self.is_not_judged(name) || stands_for_a_file(name) {
                continue;
            }
            let in_clean = check.clean.outcome(name);
            let in_overlay = overlay.and_then(|it| it.outcome(name));
            let word = if *outcome == TestOutcome::Failed { "failed" } else { "passed" };
            let shown = |it: &Results| it.listing == NamedTests::All && it.complete;
            if in_overlay.is_none() && overlay.is_some_and(shown) {
                let what = match in_clean {
                    Some(_) => format!("{word} before the run and does not run in its original version"),
                    None => format!("{word} before the run and is gone"),
                };
                self.find_test(FindingKind::Vanished, ProofStep::Overlay, &id, &what);
            } else if in_clean.is_none() && shown(&check.clean) {
                match in_overlay {
                    Some(TestOutcome::Passed) => {
                        self.notes.push(format!("test {name} is gone; its original text still passes"));
                    }
                    Some(TestOutcome::Failed | TestOutcome::Skipped) => {}
                    None => {
                        let what = format!("{word} before the run, is gone and could not be judged");
                        self.find_test(FindingKind::Vanished, ProofStep::Clean, &id, &what);
                    }
                }
            }
        }
        self.judge_numbers(check, before);
    }

    /// Where tests are not named, fewer of them, or more skipped ones, are all that can be seen.
    fn judge_numbers(&mut self, check: &CheckSteps<'_>, before: &Results) {
        let Some(judged) = check.overlay.as_ref().or(Some(&check.clean)) else { return };
        let step = if self.overlay_is_clean || check.overlay.is_none() {
            ProofStep::Clean
        } else {
            ProofStep::Overlay
        };
        if before.listing == NamedTests::All && judged.listing == NamedTests::All {
            return;
        }
        let (Some(then), Some(ran)) = (before.executed(), judged.executed()) else { return };
        if step == ProofStep::Overlay && check.clean.executed().is_some_and(|it| it < then) {
            let now = check.clean.executed().unwrap_or(0);
            self.notes.push(format!(
                "{} runs {now} tests, {then} before the run; the original ones pass",
                check.name
            ));
        }
        if judged.skipped > before.skipped {
            let (more, less) = (judged.skipped, before.skipped);
            let what = format!("skips {more} tests, {less} before the run");
            self.find_check(FindingKind::Skipped, step, check.name, &what);
        } else if ran < then && ran > 0 && judged.complete {
            let what = format!("runs {ran} tests, {then} before the run");
            self.find_check(FindingKind::Vanished, step, check.name, &what);
        }
    }
}
