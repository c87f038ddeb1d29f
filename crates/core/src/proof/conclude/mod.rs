//! Turns the results of the steps into a proof. Each check is compared with itself on the baseline:
//! first in the clean checkout (what became red or skipped), then in the overlay (what fails with its
//! original text, what is gone), then on the old code (what a new test shows). What is red on the
//! baseline and on the final tree says nothing, and what is flaky counts for nothing.

mod final_tree;
pub(super) mod locate;
pub(super) mod merged;
mod new_tests;
mod original_tests;
#[cfg(test)]
mod tests;

use crate::proof::conclude::locate::{ProtectedChange, file_of};
use crate::proof::defence::Defence;
use crate::proof::overlay::plan::NotJudged;
use crate::proof::record::finding::{Finding, FindingKind, Waiver};
use crate::proof::record::proof_record::{
    CheckRecord, CheckState, Level, NewTest, Proof, ProvenTest, Unreproducible, WaivedFinding,
};
use crate::proof::record::steps::{CanaryOutcome, NotRun, ProofStep, Settled, StepOutcome, settled};
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a proof stands on.
#[derive(Clone, Debug)]
pub struct ProofEvidence {
    pub tree: String,
    pub commit: Option<String>,
    /// The checks in place at the opening: a test that was red there and in every clean checkout was not
    /// made green by the tree.
    pub opening: Vec<Results>,
    /// The final tree's checks in place, which tell a test that fails only in the clean checkout.
    pub in_place: Vec<Results>,
    pub baseline: StepOutcome,
    pub clean: StepOutcome,
    /// `NotNeeded` if the overlay is the final tree itself.
    pub overlay: StepOutcome,
    /// `NotNeeded` if no test text changed.
    pub old_code: StepOutcome,
    /// The final code with the tests as a phase left them that had to write failing ones; `NotNeeded`
    /// if there is no such phase or it left the same tests.
    pub protected_line: StepOutcome,
    /// The other tests beside the canaries, where that was a run of its own; they are those of the clean
    /// checkout.
    pub canary_run: StepOutcome,
    /// The canary of each check.
    pub canary: BTreeMap<String, CanaryOutcome>,
    /// Files that no try of the overlay could judge.
    pub not_judged: Vec<NotJudged>,
    pub changed_protected: Vec<ProtectedChange>,
    /// Folders of dependencies that changed since the opening and were not used.
    pub changed_folders: Vec<String>,
    /// Programs in PATH that are not as they were at the opening and that the final tree's checks went
    /// without, each with what became of it.
    pub left_out_programs: Vec<String>,
    /// Files of toolchains and interpreters that were changed since the opening and take part in every
    /// check.
    pub changed_tools: Vec<String>,
    pub waivers: Vec<Waiver>,
    /// The globs of `--allow-test-change`.
    pub allowed: Vec<String>,
    /// Tree and baseline are the same.
    pub nothing_changed: bool,
    /// A person approved this tree, though nothing measures the task.
    pub approved: bool,
    pub cost_s: f64,
}

pub fn conclude(evidence: &ProofEvidence) -> Proof {
    let evidence = &defended(evidence.clone());
    let mut judge = Judge::new(evidence);
    for it in &evidence.not_judged {
        let what = format!("changed and could not be judged: {}", it.why);
        judge.find(Finding::of_file(FindingKind::NotJudged, ProofStep::Overlay, &it.path, &what));
    }
    for path in &evidence.changed_tools {
        let what = "changed since the run began, and the checks run with it, so they show nothing: take the \
                    change back, or begin again with it";
        judge.find(Finding::of_file(FindingKind::Touched, ProofStep::Clean, path, what));
    }
    for check in judge.check_names() {
        judge.check(&check);
    }
    if Defence::Ratchet.is_on() {
        judge.judge_flaky();
    }
    judge.proof().bounded()
}

/// Leaves out the steps of defences that this build does not have.
fn defended(mut evidence: ProofEvidence) -> ProofEvidence {
    if !Defence::Overlay.is_on() {
        evidence.overlay = StepOutcome::NotRun(NotRun::NotNeeded);
        evidence.not_judged.clear();
    }
    if !Defence::Canary.is_on() {
        evidence.canary.clear();
        evidence.canary_run = StepOutcome::NotRun(NotRun::NotNeeded);
    }
    if let (false, StepOutcome::Ran(run)) = (Defence::Clean.is_on(), &mut evidence.clean) {
        run.attempts = vec![evidence.in_place.clone()];
        run.touched.clear();
        // The tests beside the canaries ran in a clean checkout, too.
        evidence.canary_run = StepOutcome::NotRun(NotRun::NotNeeded);
    }
    evidence
}

/// The baseline with the attempts that later steps took of it.
fn with_more_attempts(evidence: &ProofEvidence) -> StepOutcome {
    let mut baseline = evidence.baseline.clone();
    for step in [&evidence.clean, &evidence.overlay] {
        if let (StepOutcome::Ran(baseline), StepOutcome::Ran(run)) = (&mut baseline, step) {
            baseline.attempts.extend(run.baseline_again.iter().cloned());
        }
    }
    baseline
}

/// A finding names so many changed files; the diff has the others.
const SUSPECTS_MOST: usize = 5;

/// An update of the system changes many programs at once.
const PROGRAMS_NAMED: usize = 2;

struct Judge<'a> {
    evidence: &'a ProofEvidence,
    baseline: Option<Settled>,
    clean: Option<Settled>,
    /// The overlay, or the clean run where they are the same tree.
    overlay: Option<Settled>,
    overlay_is_clean: bool,
    old_code: Option<Settled>,
    canary_run: Option<Settled>,
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
struct CheckSteps<'a> {
    name: &'a str,
    before: Option<Results>,
    clean: Results,
    overlay: Option<Results>,
}

impl<'a> Judge<'a> {
    fn new(evidence: &'a ProofEvidence) -> Judge<'a> {
        let mut judge = Judge {
            evidence,
            baseline: None,
            clean: None,
            overlay: None,
            overlay_is_clean: evidence.overlay == StepOutcome::NotRun(NotRun::NotNeeded),
            old_code: None,
            canary_run: None,
            findings: Vec::new(),
            red_to_green: Vec::new(),
            new_tests: Vec::new(),
            not_reproducible: Vec::new(),
            still_green: 0,
            notes: Vec::new(),
            flaky: BTreeSet::new(),
            red: false,
        };
        judge.baseline = judge.step(ProofStep::Baseline, &with_more_attempts(evidence));
        judge.clean = judge.step(ProofStep::Clean, &evidence.clean);
        judge.overlay = match judge.overlay_is_clean {
            true => judge.clean.clone(),
            false => judge.step(ProofStep::Overlay, &evidence.overlay),
        };
        judge.old_code = judge.step(ProofStep::OldCode, &evidence.old_code);
        judge.canary_run = judge.step(ProofStep::Canary, &evidence.canary_run);
        judge
    }

    /// Takes a step unless it did not run or was touched, which voids it.
    fn step(&mut self, step: ProofStep, outcome: &StepOutcome) -> Option<Settled> {
        match outcome {
            StepOutcome::Ran(run) if run.touched.is_empty() => {
                let settled = settled(run);
                self.flaky.extend(settled.flaky.iter().cloned());
                Some(settled)
            }
            StepOutcome::Ran(run) => {
                for path in &run.touched {
                    let what = format!("changed while {} ran, so its result does not count", step.words());
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
        let is_said = match finding.test {
            Some(_) => self.findings.iter().any(same),
            None => self.findings.iter().any(|it| same(it) && it.line == finding.line),
        };
        if !is_said {
            self.findings.push(finding);
        }
    }

    fn find_test(&mut self, kind: FindingKind, step: ProofStep, id: &TestId, what: &str) {
        let changed = &self.evidence.changed_protected;
        let file = file_of(&id.name, changed);
        let explains = |file: &String| changed.iter().any(|it| it.path == *file);
        let what = match file.as_ref().is_some_and(explains) || kind == FindingKind::RedInClean {
            true => format!("{what}{}", self.left_out(kind)),
            false => format!("{what}{}", self.suspects()),
        };
        let mut finding = Finding::of_test(kind, step, id, file, &what);
        if let (None, [only]) = (&finding.file, changed.as_slice()) {
            finding.file = Some(only.path.clone());
        }
        self.find(finding);
    }

    fn find_check(&mut self, kind: FindingKind, step: ProofStep, check: &str, what: &str) {
        let what = format!("{what}{}", self.suspects());
        self.find(Finding::of_check(kind, step, check, &what));
    }

    /// What a clean checkout went without.
    fn left_out(&self, kind: FindingKind) -> String {
        if kind != FindingKind::RedInClean {
            return String::new();
        }
        let (folders, programs) = (&self.evidence.changed_folders, &self.evidence.left_out_programs);
        let mut left_out = String::new();
        if !folders.is_empty() {
            left_out = format!(" ({} changed since the opening and was not used)", folders.join(", "));
        }
        if !programs.is_empty() {
            let named: Vec<&str> = programs.iter().take(PROGRAMS_NAMED).map(String::as_str).collect();
            let more = match programs.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            left_out.push_str(&format!("; left out of PATH there: {}{more}", named.join(", ")));
        }
        left_out
    }

    /// The tests and check files that the run changed, for a finding that no file of its own explains.
    fn suspects(&self) -> String {
        let changed = &self.evidence.changed_protected;
        let named: Vec<&str> = changed.iter().take(SUSPECTS_MOST).map(|it| it.path.as_str()).collect();
        match (named.is_empty(), changed.len() - named.len()) {
            (true, _) => String::new(),
            (false, 0) => format!(" (the run changed {})", named.join(", ")),
            (false, more) => format!(" (the run changed {} and {more} more)", named.join(", ")),
        }
    }

    fn check_names(&self) -> Vec<String> {
        let steps = [&self.baseline, &self.clean];
        let names = steps.into_iter().flatten().flat_map(|it| &it.results).map(|it| it.check.clone());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    fn check(&mut self, name: &str) {
        let of = |step: &Option<Settled>| step.as_ref().and_then(|it| it.check(name)).cloned();
        let Some(clean) = of(&self.clean) else { return };
        let check = CheckSteps { name, before: of(&self.baseline), clean, overlay: of(&self.overlay) };
        self.judge_clean(&check);
        self.judge_overlay(&check);
        if Defence::Ratchet.is_on() {
            self.judge_gone(&check);
        }
        self.judge_line(&check);
        self.judge_red_to_green(&check);
        self.judge_new_tests(&check);
        self.count_green(&check);
        // A program that fails with the original tests does not get to its end.
        let is_red = |it: &Results| it.listing == NamedTests::Nothing && it.exit == Exit::Red;
        let has_ended = !is_red(&check.clean) && !check.overlay.as_ref().is_some_and(is_red);
        if has_ended && self.evidence.canary.get(name) == Some(&CanaryOutcome::Unseen) {
            let what = match check.clean.listing {
                NamedTests::Nothing => {
                    "did not report the canary, a statement at the end of a test program that must fail: the \
                     program ends before it, or its failures are not reported"
                }
                NamedTests::All | NamedTests::Failures => {
                    "did not report the canary, a test that must fail, which it reported on the baseline"
                }
            };
            self.find_check(FindingKind::CanaryUnseen, ProofStep::Canary, name, what);
        }
        self.judge_canary_run(&check);
    }

    /// The run with canaries has the same tree, so that code which behaves otherwise there tells runs apart.
    fn judge_canary_run(&mut self, check: &CheckSteps<'_>) {
        let Some(results) = self.canary_run.as_ref().and_then(|it| it.check(check.name)).cloned() else {
            return;
        };
        for name in results.names(TestOutcome::Failed) {
            let id = results.id(name);
            if check.clean.outcome(name) == Some(TestOutcome::Passed) && !self.is_flaky(&id) {
                self.red = true;
                let what = "passes in a clean checkout, and fails on the same tree in the run with tests that \
                            must fail";
                self.find_test(FindingKind::RedInClean, ProofStep::Canary, &id, what);
            }
        }
    }

    /// Tests that were written first must pass with the text that they had then.
    fn judge_line(&mut self, check: &CheckSteps<'_>) {
        let StepOutcome::Ran(run) = &self.evidence.protected_line else { return };
        let settled = settled(run);
        let Some(line) = settled.check(check.name) else { return };
        let changed: Vec<TestId> = line
            .names(TestOutcome::Failed)
            .filter(|name| check.clean.outcome(name) != Some(TestOutcome::Failed))
            .map(|name| line.id(name))
            .collect();
        let what = "fails with the text that it had when the tests were written first";
        if changed.is_empty() && line.exit == Exit::Red && check.clean.exit == Exit::Green {
            self.find(Finding::of_check(FindingKind::RedInOverlay, ProofStep::Overlay, check.name, what));
        }
        for id in changed.iter().filter(|it| !settled.flaky.contains(it)) {
            self.find_test(FindingKind::ChangedTest, ProofStep::Overlay, id, what);
        }
    }

    fn judge_red_to_green(&mut self, check: &CheckSteps<'_>) {
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
                self.red_to_green.push(ProvenTest { id });
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
            self.red_to_green.push(ProvenTest { id: TestId::exit(check.name) });
        }
    }

    /// Whether a test passed in place before the first call. The clean baseline runs beside that call, which
    /// can make it fail (a port that is taken, a lock file): only a test that failed without the agent
    /// has failed before.
    fn passed_at_opening(&self, check: &str, test: &str) -> bool {
        let Some(opening) = self.evidence.opening.iter().find(|it| it.check == check) else { return false };
        match opening.listing {
            NamedTests::All => opening.outcome(test) == Some(TestOutcome::Passed),
            NamedTests::Failures | NamedTests::Nothing => opening.exit == Exit::Green,
        }
    }

    fn count_green(&mut self, check: &CheckSteps<'_>) {
        let (Some(before), Some(overlay)) = (&check.before, &check.overlay) else { return };
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

    /// Tells whether a check is green in D, or red only by what was red on the baseline too.
    fn is_sound_in_clean(&self, check: &CheckSteps<'_>) -> bool {
        let known = |name: &str| {
            check.before.as_ref().is_some_and(|it| it.outcome(name) == Some(TestOutcome::Failed))
        };
        let mut reds = check.clean.names(TestOutcome::Failed).peekable();
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
            () if all_green && !self.was_red() => Level::UnchangedGreen,
            () => Level::None,
        }
    }

    /// Whether something failed before the run that does not fail now, and is not proven: its test was changed,
    /// and a person accepted that.
    fn was_red(&self) -> bool {
        let step = |step: &Option<Settled>| step.as_ref().map(|it| it.results.clone()).unwrap_or_default();
        let clean = step(&self.clean);
        step(&self.baseline).iter().any(|before| {
            let Some(now) = clean.iter().find(|it| it.check == before.check) else { return false };
            let healed = |name: &&str| {
                now.outcome(name) != Some(TestOutcome::Failed) && !self.passed_at_opening(&before.check, name)
            };
            let opening = self.evidence.opening.iter().find(|it| it.check == before.check);
            let is_silent = before.names(TestOutcome::Failed).next().is_none();
            let by_exit = is_silent && before.exit == Exit::Red && now.exit == Exit::Green;
            before.names(TestOutcome::Failed).any(|it| healed(&it))
                || by_exit && opening.is_none_or(|it| it.exit != Exit::Green)
        })
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
