//! Turns the results of the steps into a proof. Each check is compared with itself on the baseline:
//! first in the clean checkout (what became red or skipped), then in the overlay (what fails with its
//! original text, what is gone), then on the old code (what a new test shows). What is red on the
//! baseline and on the final tree says nothing, and what is flaky counts for nothing.

use crate::finding::{Finding, FindingKind, Waiver};
use crate::ids::{Exit, Listing, Outcome, Results, TestId};
use crate::locate::{ProtectedChange, file_of};
use crate::overlay::NotJudged;
use crate::record::{
    CheckRecord, CheckState, Level, NewTest, Proof, ProvenTest, Unreproducible, WaivedFinding,
};
use crate::steps::{CanaryOutcome, NotRun, Settled, Step, StepOutcome, settled};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a proof stands on.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub tree: String,
    pub commit: Option<String>,
    /// The final tree's checks in place, which tell a test that fails only in the clean checkout.
    pub in_place: Vec<Results>,
    pub baseline: StepOutcome,
    pub clean: StepOutcome,
    /// `NotNeeded` if the overlay is the final tree itself.
    pub overlay: StepOutcome,
    /// `NotNeeded` if no test text changed.
    pub old_code: StepOutcome,
    /// The canary of each check.
    pub canary: BTreeMap<String, CanaryOutcome>,
    /// Files that no try of the overlay could judge.
    pub not_judged: Vec<NotJudged>,
    pub changed_protected: Vec<ProtectedChange>,
    pub waivers: Vec<Waiver>,
    /// The globs of `--allow-test-change`.
    pub allowed: Vec<String>,
    /// Tree and baseline are the same.
    pub nothing_changed: bool,
    /// A person approved this tree, though nothing measures the task.
    pub approved: bool,
    pub cost_s: f64,
}

pub fn conclude(evidence: &Evidence) -> Proof {
    let mut judge = Judge::new(evidence);
    for it in &evidence.not_judged {
        let what = format!("changed and could not be judged: {}", it.why);
        judge.find(Finding::of_file(FindingKind::NotJudged, Step::Overlay, &it.path, &what));
    }
    for check in judge.check_names() {
        judge.check(&check);
    }
    judge.proof().bounded()
}

struct Judge<'a> {
    evidence: &'a Evidence,
    baseline: Option<Settled>,
    clean: Option<Settled>,
    /// The overlay, or the clean run where they are the same tree.
    overlay: Option<Settled>,
    overlay_is_clean: bool,
    old_code: Option<Settled>,
    findings: Vec<Finding>,
    red_to_green: Vec<ProvenTest>,
    new_tests: Vec<NewTest>,
    not_reproducible: Vec<Unreproducible>,
    still_green: u32,
    notes: Vec<String>,
    flaky: BTreeSet<TestId>,
    /// Something in the clean checkout is red in a way that the baseline was not.
    red: bool,
}

/// One check in all steps.
struct Check<'a> {
    name: &'a str,
    before: Option<Results>,
    clean: Results,
    overlay: Option<Results>,
}

impl<'a> Judge<'a> {
    fn new(evidence: &'a Evidence) -> Judge<'a> {
        let mut judge = Judge {
            evidence,
            baseline: None,
            clean: None,
            overlay: None,
            overlay_is_clean: evidence.overlay == StepOutcome::NotRun(NotRun::NotNeeded),
            old_code: None,
            findings: Vec::new(),
            red_to_green: Vec::new(),
            new_tests: Vec::new(),
            not_reproducible: Vec::new(),
            still_green: 0,
            notes: Vec::new(),
            flaky: BTreeSet::new(),
            red: false,
        };
        judge.baseline = judge.step(Step::Baseline, &evidence.baseline);
        judge.clean = judge.step(Step::Clean, &evidence.clean);
        judge.overlay = match judge.overlay_is_clean {
            true => judge.clean.clone(),
            false => judge.step(Step::Overlay, &evidence.overlay),
        };
        judge.old_code = judge.step(Step::OldCode, &evidence.old_code);
        judge
    }

    /// Takes a step unless it did not run or was touched, which voids it.
    fn step(&mut self, step: Step, outcome: &StepOutcome) -> Option<Settled> {
        match outcome {
            StepOutcome::Ran(run) if run.touched.is_empty() => {
                let settled = settled(run);
                self.flaky.extend(settled.flaky.iter().cloned());
                Some(settled)
            }
            StepOutcome::Ran(run) => {
                for path in &run.touched {
                    let what = format!("changed while {} ran, so that run counts for nothing", step.words());
                    self.find(Finding::of_file(FindingKind::Touched, step, path, &what));
                }
                None
            }
            StepOutcome::NotRun(NotRun::Failed(why)) => {
                self.notes.push(format!("{} did not run: {why}", step.words()));
                None
            }
            StepOutcome::NotRun(NotRun::NotNeeded | NotRun::Skipped) => None,
        }
    }

    fn find(&mut self, finding: Finding) {
        let same =
            |it: &Finding| it.check == finding.check && it.test == finding.test && it.file == finding.file;
        // One line for each test: the first says it best, because the clean run is judged first.
        if finding.test.is_none() || !self.findings.iter().any(same) {
            self.findings.push(finding);
        }
    }

    fn find_test(&mut self, kind: FindingKind, step: Step, id: &TestId, what: &str) {
        let file = file_of(&id.name, &self.evidence.changed_protected);
        self.find(Finding::of_test(kind, step, id, file, what));
    }

    fn check_names(&self) -> Vec<String> {
        let steps = [&self.baseline, &self.clean];
        let names = steps.into_iter().flatten().flat_map(|it| &it.results).map(|it| it.check.clone());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    fn check(&mut self, name: &str) {
        let of = |step: &Option<Settled>| step.as_ref().and_then(|it| it.check(name)).cloned();
        let Some(clean) = of(&self.clean) else { return };
        let check = Check { name, before: of(&self.baseline), clean, overlay: of(&self.overlay) };
        self.judge_clean(&check);
        self.judge_overlay(&check);
        self.judge_gone(&check);
        self.judge_red_to_green(&check);
        self.judge_new_tests(&check);
        self.count_green(&check);
        if self.evidence.canary.get(name) == Some(&CanaryOutcome::Unseen) {
            let what = "did not report a test that must fail, which it reported on the baseline";
            self.find(Finding::of_check(FindingKind::CanaryUnseen, Step::Canary, name, what));
        }
    }

    /// D against A0: what became red or skipped in the clean checkout.
    fn judge_clean(&mut self, check: &Check<'_>) {
        let in_place = self.evidence.in_place.iter().find(|it| it.check == check.name);
        let is_green_here = |name: &str| match in_place {
            Some(results) if name.is_empty() => results.exit == Exit::Green,
            Some(results) => results.outcome(name) != Some(Outcome::Failed),
            None => true,
        };
        let unreproducible = |id: TestId| {
            let why = match is_green_here(&id.name) {
                true => "fails in a clean checkout of the baseline too",
                false => "failed at the opening and fails now",
            };
            Unreproducible { id, why: why.to_owned() }
        };
        let before = check.before.as_ref();
        for name in check.clean.names(Outcome::Failed) {
            let id = check.clean.id(name);
            match before.and_then(|it| it.outcome(name)) {
                Some(Outcome::Failed) => self.not_reproducible.push(unreproducible(id)),
                Some(Outcome::Passed | Outcome::Skipped) | None => {
                    self.red = true;
                    self.find_test(FindingKind::RedInClean, Step::Clean, &id, "fails in a clean checkout");
                }
            }
        }
        for name in check.clean.names(Outcome::Skipped) {
            if before.and_then(|it| it.outcome(name)) == Some(Outcome::Passed) {
                let id = check.clean.id(name);
                let what = "passed at the opening and is skipped now";
                self.find_test(FindingKind::Skipped, Step::Clean, &id, what);
            }
        }
        let ran_before = before.and_then(Results::executed).unwrap_or(0);
        if ran_before > 0 && check.clean.executed().unwrap_or(0) == 0 && check.clean.exit == Exit::Green {
            let what = format!("ran 0 tests in a clean checkout, {ran_before} on the baseline");
            self.find(Finding::of_check(FindingKind::NoTestsRan, Step::Clean, check.name, &what));
        }
        let explained = check.clean.names(Outcome::Failed).next().is_some();
        let same_before = before.is_some_and(|it| it.exit == check.clean.exit && !explains_red(it));
        match check.clean.exit {
            Exit::Green => {}
            Exit::Red | Exit::NotStarted if explained => {}
            Exit::Red | Exit::NotStarted if same_before => {
                self.not_reproducible.push(unreproducible(TestId::exit(check.name)));
            }
            Exit::Red | Exit::NotStarted | Exit::Interrupted => {
                self.red = true;
                let what = match check.clean.exit {
                    Exit::NotStarted => "could not start in a clean checkout",
                    Exit::Interrupted => "did not end in a clean checkout",
                    Exit::Green | Exit::Red => "is red in a clean checkout",
                };
                self.find(Finding::of_check(FindingKind::RedInClean, Step::Clean, check.name, what));
            }
        }
    }

    /// E against A0: green before must be green with its original text, red must not be gone.
    fn judge_overlay(&mut self, check: &Check<'_>) {
        let Some(overlay) = check.overlay.as_ref().filter(|_| !self.overlay_is_clean) else { return };
        let before = check.before.as_ref();
        let was = |name: &str| before.and_then(|it| it.outcome(name));
        let mut explained = false;
        for name in overlay.names(Outcome::Failed) {
            let id = overlay.id(name);
            let red_in_clean = check.clean.outcome(name) == Some(Outcome::Failed);
            explained = true;
            // An added test that a later try of the overlay kept is not the baseline's.
            let added =
                was(name).is_none() && before.is_some_and(|it| it.listing == Listing::All && it.complete);
            if red_in_clean || added || self.is_flaky(&id) {
                continue;
            }
            match was(name) {
                Some(Outcome::Failed) => {
                    let what = "failed at the opening and still fails with its original text";
                    self.find_test(FindingKind::StillRed, Step::Overlay, &id, what);
                }
                Some(Outcome::Passed) => {
                    let what = "passed at the opening and fails with its original text";
                    self.find_test(FindingKind::ChangedTest, Step::Overlay, &id, what);
                }
                Some(Outcome::Skipped) | None => {
                    let what = "fails with its original text and passes as the run left it";
                    self.find_test(FindingKind::ChangedTest, Step::Overlay, &id, what);
                }
            }
        }
        for name in overlay.names(Outcome::Skipped) {
            if matches!(was(name), Some(Outcome::Passed | Outcome::Failed)) {
                let what = "ran at the opening and is skipped now, even with its original text";
                self.find_test(FindingKind::Skipped, Step::Overlay, &overlay.id(name), what);
            }
        }
        // What did not build was left out of the last try and is named as not judged.
        let left_out = overlay.build_failed && !self.evidence.not_judged.is_empty();
        if overlay.exit != Exit::Green && check.clean.exit == Exit::Green && !explained && !left_out {
            let what = match overlay.build_failed {
                true => "does not build with the original tests",
                false => "is red with the original tests and check files",
            };
            self.find(Finding::of_check(FindingKind::RedInOverlay, Step::Overlay, check.name, what));
        }
    }

    /// Tests that the baseline had and that are gone now.
    fn judge_gone(&mut self, check: &Check<'_>) {
        let Some(before) = &check.before else { return };
        let overlay = check.overlay.as_ref();
        for (name, outcome) in before.ids.iter().filter(|(_, it)| **it != Outcome::Skipped) {
            let id = before.id(name);
            if self.is_flaky(&id) || self.is_not_judged(name) {
                continue;
            }
            let in_clean = check.clean.outcome(name);
            let in_overlay = overlay.and_then(|it| it.outcome(name));
            let word = if *outcome == Outcome::Failed { "failed" } else { "passed" };
            let shown = |it: &Results| it.listing == Listing::All && it.complete;
            if in_overlay.is_none() && overlay.is_some_and(shown) {
                let what = match in_clean {
                    Some(_) => format!("{word} at the opening and does not run with its original text"),
                    None => format!("{word} at the opening and is gone"),
                };
                self.find_test(FindingKind::Vanished, Step::Overlay, &id, &what);
            } else if in_clean.is_none() && shown(&check.clean) {
                match in_overlay {
                    Some(Outcome::Passed) => {
                        self.notes.push(format!("{name} is gone; its original text still passes"));
                    }
                    Some(Outcome::Failed | Outcome::Skipped) => {}
                    None => {
                        let what = format!("{word} at the opening, is gone and could not be judged");
                        self.find_test(FindingKind::Vanished, Step::Clean, &id, &what);
                    }
                }
            }
        }
        self.judge_numbers(check, before);
    }

    /// Where tests are not named, fewer of them, or more skipped ones, are all that can be seen.
    fn judge_numbers(&mut self, check: &Check<'_>, before: &Results) {
        let Some(judged) = check.overlay.as_ref().or(Some(&check.clean)) else { return };
        let step = if self.overlay_is_clean || check.overlay.is_none() { Step::Clean } else { Step::Overlay };
        if before.listing == Listing::All && judged.listing == Listing::All {
            return;
        }
        let (Some(then), Some(ran)) = (before.executed(), judged.executed()) else { return };
        if step == Step::Overlay && check.clean.executed().is_some_and(|it| it < then) {
            let now = check.clean.executed().unwrap_or(0);
            self.notes.push(format!(
                "{} runs {now} tests, {then} at the opening; the original ones pass",
                check.name
            ));
        }
        if judged.skipped > before.skipped {
            let (more, less) = (judged.skipped, before.skipped);
            let what = format!("skips {more} tests, {less} at the opening");
            self.find(Finding::of_check(FindingKind::Skipped, step, check.name, &what));
        } else if ran < then && ran > 0 && judged.complete {
            let what = format!("runs {ran} tests, {then} at the opening");
            self.find(Finding::of_check(FindingKind::Vanished, step, check.name, &what));
        }
    }

    fn judge_red_to_green(&mut self, check: &Check<'_>) {
        let (Some(before), Some(overlay)) = (&check.before, &check.overlay) else { return };
        if !self.is_sound_in_clean(check) {
            return;
        }
        let mut any_red = false;
        for name in before.names(Outcome::Failed) {
            any_red = true;
            let id = before.id(name);
            if self.is_flaky(&id) || self.is_not_judged(name) {
                continue;
            }
            let green = match overlay.listing {
                Listing::All => overlay.outcome(name) == Some(Outcome::Passed),
                // Not named among the failures of a run that had as many tests: it passed.
                Listing::Failures => {
                    overlay.exit == Exit::Green
                        && overlay.complete
                        && overlay.executed() >= before.executed()
                        && overlay.skipped <= before.skipped
                }
                Listing::Nothing => false,
            };
            if green && check.clean.outcome(name).is_none_or(|it| it == Outcome::Passed) {
                self.red_to_green.push(ProvenTest { id });
            }
        }
        // A flaky test may be what made the whole check red.
        let flaky = self.flaky.iter().any(|it| it.check == check.name);
        let whole = before.exit == Exit::Red && !any_red && !flaky;
        let green = overlay.exit == Exit::Green && check.clean.exit == Exit::Green;
        let judged = self.evidence.not_judged.is_empty();
        if whole && green && judged {
            self.red_to_green.push(ProvenTest { id: TestId::exit(check.name) });
        }
    }

    /// F: tests that pass on the final tree and fail, each time, on the baseline's code.
    fn judge_new_tests(&mut self, check: &Check<'_>) {
        let Some(step) = &self.old_code else { return };
        let Some(old_code) = step.check(check.name).cloned() else { return };
        if step.attempts_of(check.name) < 2 || old_code.exit != Exit::Red || !self.is_sound_in_clean(check) {
            return;
        }
        let proven: BTreeSet<TestId> = self.red_to_green.iter().map(|it| it.id.clone()).collect();
        let passes = |name: &str| match check.clean.listing {
            Listing::All => check.clean.outcome(name) == Some(Outcome::Passed),
            Listing::Failures => check.clean.exit == Exit::Green && check.clean.complete,
            Listing::Nothing => false,
        };
        let mut found: Vec<NewTest> = Vec::new();
        for name in old_code.names(Outcome::Failed).filter(|it| passes(it)) {
            found.push(NewTest { id: old_code.id(name), only_build_failed: false });
        }
        if found.is_empty() && old_code.build_failed {
            found = self.unbuilt_tests(check, &old_code);
        }
        let before_green = check.before.as_ref().is_some_and(|it| it.exit == Exit::Green);
        if found.is_empty()
            && old_code.listing == Listing::Nothing
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
    fn is_new_or_changed(&self, check: &Check<'_>, id: &TestId) -> bool {
        let passed = check.before.as_ref().is_some_and(|it| it.outcome(&id.name) == Some(Outcome::Passed));
        !passed || self.is_in_changed_file(&id.name)
    }

    fn is_in_changed_file(&self, test: &str) -> bool {
        let changed = &self.evidence.changed_protected;
        file_of(test, changed).is_some_and(|file| changed.iter().any(|it| it.path == file))
    }

    /// The final tests do not build on the old code: new ones are evidence, though a weaker one; where
    /// none are new, those in changed files.
    fn unbuilt_tests(&self, check: &Check<'_>, old_code: &Results) -> Vec<NewTest> {
        let was_there = |name: &str| check.before.as_ref().is_some_and(|it| it.outcome(name).is_some());
        let missing = |name: &&str| old_code.outcome(name).is_none();
        let of = |name: &str| NewTest { id: check.clean.id(name), only_build_failed: true };
        let passing: Vec<&str> = check.clean.names(Outcome::Passed).filter(missing).collect();
        let known_before =
            check.before.as_ref().is_some_and(|it| it.listing == Listing::All && !it.build_failed);
        let new: Vec<NewTest> = match known_before {
            true => passing.iter().filter(|it| !was_there(it)).map(|it| of(it)).collect(),
            false => Vec::new(),
        };
        if !new.is_empty() {
            return new;
        }
        let extended: Vec<NewTest> =
            passing.iter().filter(|it| self.is_in_changed_file(it)).map(|it| of(it)).collect();
        if extended.is_empty() && check.clean.listing != Listing::All && check.clean.exit == Exit::Green {
            return vec![NewTest { id: TestId::exit(check.name), only_build_failed: true }];
        }
        extended
    }

    fn count_green(&mut self, check: &Check<'_>) {
        let (Some(before), Some(overlay)) = (&check.before, &check.overlay) else { return };
        let number = match (before.listing, overlay.listing) {
            (Listing::All, Listing::All) => {
                let green = |name: &&str| overlay.outcome(name) == Some(Outcome::Passed);
                before.names(Outcome::Passed).filter(green).count() as u32
            }
            (Listing::Nothing, _) | (_, Listing::Nothing) => {
                let all = [before.exit, overlay.exit, check.clean.exit];
                u32::from(all.iter().all(|it| *it == Exit::Green))
            }
            (Listing::All | Listing::Failures, Listing::All | Listing::Failures) => {
                before.passed.min(overlay.passed)
            }
        };
        self.still_green = self.still_green.saturating_add(number);
    }

    /// Tells whether a check is green in D, or red only by what was red on the baseline too.
    fn is_sound_in_clean(&self, check: &Check<'_>) -> bool {
        let known =
            |name: &str| check.before.as_ref().is_some_and(|it| it.outcome(name) == Some(Outcome::Failed));
        let mut reds = check.clean.names(Outcome::Failed).peekable();
        match check.clean.exit {
            Exit::Green => reds.all(known),
            Exit::Red => reds.peek().is_some() && reds.all(known),
            Exit::NotStarted | Exit::Interrupted => false,
        }
    }

    fn is_flaky(&self, id: &TestId) -> bool {
        self.flaky.contains(id)
    }

    /// A test in a file that was not judged; where the file of a test is unknown, any such file may
    /// be its own.
    fn is_not_judged(&self, test: &str) -> bool {
        let left = &self.evidence.not_judged;
        match file_of(test, &self.evidence.changed_protected) {
            _ if left.is_empty() => false,
            Some(file) => left.iter().any(|it| it.path == file),
            None => true,
        }
    }

    fn proof(mut self) -> Proof {
        let (findings, waived, weakened) = self.sort_findings();
        let level = self.level(&findings);
        let checks = self.check_names().iter().map(|it| self.record(it)).collect();
        let mut not_reproducible = self.not_reproducible;
        not_reproducible.sort_by(|left, right| left.id.cmp(&right.id));
        Proof {
            level,
            tree: self.evidence.tree.clone(),
            commit: self.evidence.commit.clone(),
            red_to_green: self.red_to_green,
            new_tests: self.new_tests,
            still_green: self.still_green,
            not_judged: self.evidence.not_judged.clone(),
            not_reproducible,
            checks,
            waived,
            findings,
            cost_s: self.evidence.cost_s,
            weakened,
            flaky: self.flaky.into_iter().collect(),
            notes: self.notes,
            nothing_changed: self.evidence.nothing_changed,
            more: BTreeMap::new(),
        }
    }

    /// Divides findings into open and waived ones, and tells whether a waiver weakens the proof.
    fn sort_findings(&mut self) -> (Vec<Finding>, Vec<WaivedFinding>, bool) {
        let changed: Vec<&str> = self.evidence.changed_protected.iter().map(|it| it.path.as_str()).collect();
        let (mut open, mut waived, mut weakened) = (Vec::new(), Vec::new(), false);
        for finding in std::mem::take(&mut self.findings) {
            let waiver = self.evidence.waivers.iter().find(|it| finding.is_named_by(&it.what));
            let allowed = finding.is_allowed(&self.evidence.allowed, &changed);
            let reason = match waiver {
                Some(waiver) => waiver.reason.clone(),
                None if allowed => "allowed before the run by --allow-test-change".to_owned(),
                None => {
                    open.push(finding);
                    continue;
                }
            };
            weakened |= finding.kind.weakens();
            waived.push(WaivedFinding { finding, reason, by: waiver.and_then(|it| it.by.clone()) });
        }
        (open, waived, weakened)
    }

    fn level(&self, findings: &[Finding]) -> Level {
        let ran = |step: &Option<Settled>| step.as_ref().is_some_and(|it| !it.results.is_empty());
        let all_green = !self.red && findings.is_empty() && self.still_green > 0;
        let skips_clean = self.evidence.clean == StepOutcome::NotRun(NotRun::Skipped);
        match () {
            () if !self.red_to_green.is_empty() => Level::RedToGreen,
            () if !self.new_tests.is_empty() => Level::NewTest,
            () if self.evidence.approved && !self.red => Level::Approved,
            () if skips_clean || !ran(&self.baseline) || !ran(&self.clean) => Level::None,
            () if all_green => Level::UnchangedGreen,
            () => Level::None,
        }
    }

    fn record(&self, name: &str) -> CheckRecord {
        let of = |step: &Option<Settled>| CheckState::of(step.as_ref().and_then(|it| it.check(name)));
        let clean = self.clean.as_ref().and_then(|it| it.check(name));
        CheckRecord {
            name: name.to_owned(),
            baseline: of(&self.baseline),
            clean: of(&self.clean),
            overlay: if self.overlay_is_clean { CheckState::NotRun } else { of(&self.overlay) },
            old_code: of(&self.old_code),
            canary: self.evidence.canary.get(name).copied().unwrap_or(CanaryOutcome::None),
            tests: clean.and_then(Results::executed),
        }
    }
}

/// Tells whether a failing test says why the check is red.
fn explains_red(results: &Results) -> bool {
    results.names(Outcome::Failed).next().is_some()
}

#[cfg(test)]
mod tests;
