//! What the work shows: tests and checks that failed before it and pass now, and how many passed all along.

use super::judge::{CheckSteps, Judge};
use super::original_tests;
use crate::proof::record::proof_record::ProvenTest;
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};

impl Judge<'_> {
    pub(super) fn judge_red_to_green(&mut self, check: &CheckSteps<'_>) {
        let (Some(before), Some(overlay)) = (&check.before, &check.overlay) else { return };
        if !self.is_sound_in_clean(check) {
            return;
        }
        let mut any_red = false;
        for name in before.names(TestOutcome::Failed).filter(|it| !original_tests::stands_for_a_file(it)) {
            any_red = true;
            let id = before.id(name);
            if self.is_flaky(&id) || self.is_not_judged(name) || self.passed_at_opening(check.name, name) {
                continue;
            }
            let green = match overlay.listing {
                NamedTests::All => overlay.outcome(name) == Some(TestOutcome::Passed),
                // Not named among the failures of a run that had as many tests: it passed.
                NamedTests::Failures => {
                    overlay.exit == Exit::Green
                        && overlay.complete
                        && overlay.executed() >= before.executed()
                        && overlay.skipped <= before.skipped
                }
                NamedTests::Nothing => false,
            };
            if green && check.clean.outcome(name).is_none_or(|it| it == TestOutcome::Passed) {
                let is_gone =
                    check.clean.listing == NamedTests::All && check.clean.outcome(&id.name).is_none();
                self.red_to_green.push(ProvenTest { id, is_gone });
            }
        }
        // A flaky test may be what made the whole check red.
        let flaky = self.flaky.iter().any(|it| it.check == check.name);
        let whole = before.exit == Exit::Red && !any_red && !flaky;
        let green = overlay.exit == Exit::Green && check.clean.exit == Exit::Green;
        let judged = self.evidence.not_judged.is_empty();
        let opening = self.evidence.opening.iter().find(|it| it.check == check.name);
        let was_green = opening.is_some_and(|it| it.exit == Exit::Green);
        if whole && green && judged && !was_green {
            self.red_to_green.push(ProvenTest { id: TestId::exit(check.name), is_gone: false });
        }
    }

    /// Whether a test passed in place before the first call. The clean baseline runs beside that call, which
    /// can make it fail (a port that is taken, a lock file): only a test that failed without the agent
    /// has failed before.
    pub(super) fn passed_at_opening(&self, check: &str, test: &str) -> bool {
        let Some(opening) = self.evidence.opening.iter().find(|it| it.check == check) else { return false };
        match opening.listing {
            NamedTests::All => opening.outcome(test) == Some(TestOutcome::Passed),
            NamedTests::Failures | NamedTests::Nothing => opening.exit == Exit::Green,
        }
    }

    fn is_unjudged(&self, overlay: &Results) -> bool {
        overlay.build_failed && !self.evidence.not_judged.is_empty()
    }

    pub(super) fn count_green(&mut self, check: &CheckSteps<'_>) {
        let (Some(before), Some(overlay)) = (&check.before, &check.overlay) else { return };
        // Original tests that do not build are named, and a person decides on them; the others are those of
        // the final tree.
        let overlay = if self.is_unjudged(overlay) { &check.clean } else { overlay };
        let number = match (before.listing, overlay.listing) {
            (NamedTests::All, NamedTests::All) => {
                let green = |name: &&str| overlay.outcome(name) == Some(TestOutcome::Passed);
                before.names(TestOutcome::Passed).filter(green).count() as u32
            }
            (NamedTests::Nothing, _) | (_, NamedTests::Nothing) => {
                let all = [before.exit, overlay.exit, check.clean.exit];
                u32::from(all.iter().all(|it| *it == Exit::Green))
            }
            (NamedTests::All | NamedTests::Failures, NamedTests::All | NamedTests::Failures) => {
                before.passed.min(overlay.passed)
            }
        };
        self.still_green = self.still_green.saturating_add(number);
    }
}
