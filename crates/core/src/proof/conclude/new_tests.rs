//! The final tests on the baseline's code: a test that fails there and passes on the final tree shows
//! that the code does something that it did not do.

use super::judge::{CheckSteps, Judge};
use crate::proof::conclude::locate::file_of;
use crate::proof::defence::Defence;
use crate::proof::record::proof_record::NewTest;
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// F: tests that pass on the final tree and fail, each time, on the baseline's code.
    pub(super) fn judge_new_tests(&mut self, check: &CheckSteps<'_>) {
        if !Defence::OldCode.is_on() {
            let was_there = |name: &&str| check.before.as_ref().is_some_and(|it| it.ids.contains_key(*name));
            let new = check.clean.names(TestOutcome::Passed).filter(|it| !was_there(it));
            self.new_tests.extend(new.map(|it| NewTest { id: check.clean.id(it), only_build_failed: false }));
            return;
        }
        let Some(step) = &self.old_code else { return };
        let Some(old_code) = step.check(check.name).cloned() else { return };
        if step.attempts_of(check.name) < 2 || old_code.exit != Exit::Red || !self.is_sound_in_clean(check) {
            return;
        }
        let proven: BTreeSet<TestId> = self.red_to_green.iter().map(|it| it.id.clone()).collect();
        let passes = |name: &str| match check.clean.listing {
            NamedTests::All => check.clean.outcome(name) == Some(TestOutcome::Passed),
            NamedTests::Failures => check.clean.exit == Exit::Green && check.clean.complete,
            NamedTests::Nothing => false,
        };
        let mut found: Vec<NewTest> = Vec::new();
        for name in old_code.names(TestOutcome::Failed).filter(|it| passes(it)) {
            found.push(NewTest { id: old_code.id(name), only_build_failed: false });
        }
        if found.is_empty() && old_code.build_failed {
            found = self.unbuilt_tests(check, &old_code);
        }
        let before_green = check.before.as_ref().is_some_and(|it| it.exit == Exit::Green);
        // With another Makefile the whole check may fail on the old code for any reason.
        let same_control = !self.evidence.changed_protected.iter().any(|it| it.is_control);
        if found.is_empty()
            && same_control
            && old_code.listing == NamedTests::Nothing
            && before_green
            && check.clean.exit == Exit::Green
        {
            found.push(NewTest { id: TestId::exit(check.name), only_build_failed: old_code.build_failed });
        }
        found.retain(|it| {
            !proven.contains(&it.id) && !self.is_flaky(&it.id) && self.is_new_or_changed(check, &it.id)
        });
        self.new_tests.extend(found);
    }

    /// A test that passed on the baseline and whose text did not change shows nothing by failing on a
    /// mixture of old code and new tests.
    fn is_new_or_changed(&self, check: &CheckSteps<'_>, id: &TestId) -> bool {
        let passed =
            check.before.as_ref().is_some_and(|it| it.outcome(&id.name) == Some(TestOutcome::Passed));
        !passed || self.is_in_changed_file(&id.name)
    }

    fn is_in_changed_file(&self, test: &str) -> bool {
        let changed = &self.evidence.changed_protected;
        file_of(test, changed).is_some_and(|file| changed.iter().any(|it| it.path == file))
    }

    /// The final tests do not build on the old code: new ones are evidence, though a weaker one; where
    /// none are new, those in changed files.
    fn unbuilt_tests(&self, check: &CheckSteps<'_>, old_code: &Results) -> Vec<NewTest> {
        let was_there = |name: &str| check.before.as_ref().is_some_and(|it| it.outcome(name).is_some());
        let missing = |name: &&str| old_code.outcome(name).is_none();
        let of = |name: &str| NewTest { id: check.clean.id(name), only_build_failed: true };
        let passing: Vec<&str> = check.clean.names(TestOutcome::Passed).filter(missing).collect();
        let known_before =
            check.before.as_ref().is_some_and(|it| it.listing == NamedTests::All && !it.build_failed);
        let new: Vec<NewTest> = match known_before {
            true => passing.iter().filter(|it| !was_there(it)).map(|it| of(it)).collect(),
            false => Vec::new(),
        };
        if !new.is_empty() {
            return new;
        }
        let extended: Vec<NewTest> =
            passing.iter().filter(|it| self.is_in_changed_file(it)).map(|it| of(it)).collect();
        if extended.is_empty() && check.clean.listing != NamedTests::All && check.clean.exit == Exit::Green {
            return vec![NewTest { id: TestId::exit(check.name), only_build_failed: true }];
        }
        extended
    }
}
