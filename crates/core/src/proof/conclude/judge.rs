//! The steps side by side, and what is found while they are compared. Which comparison finds what, the files
//! beside this one say.

use super::evidence::{ProofEvidence, with_more_attempts};
use crate::proof::conclude::locate::file_of;
use crate::proof::record::finding::{Finding, FindingKind};
use crate::proof::record::proof_record::{NewTest, ProvenTest, Unreproducible};
use crate::proof::record::steps::{NotRun, ProofStep, Settled, StepOutcome, settled};
use crate::proof::results::ids::{Exit, Results, TestId, TestOutcome};
use std::collections::BTreeSet;

/// A finding names so many changed files; the diff has the others.
pub(super) const SUSPECTS_MOST: usize = 5;

/// An update of the system changes many programs at once.
const PROGRAMS_NAMED: usize = 2;

pub(super) struct Judge<'a> {
    pub(super) evidence: &'a ProofEvidence,
    pub(super) baseline: Option<Settled>,
    pub(super) clean: Option<Settled>,
    /// The overlay, or the clean run where they are the same tree.
    pub(super) overlay: Option<Settled>,
    pub(super) overlay_is_clean: bool,
    pub(super) old_code: Option<Settled>,
    pub(super) canary_run: Option<Settled>,
    pub(super) findings: Vec<Finding>,
    pub(super) red_to_green: Vec<ProvenTest>,
    pub(super) new_tests: Vec<NewTest>,
    pub(super) not_reproducible: Vec<Unreproducible>,
    pub(super) still_green: u32,
    pub(super) notes: Vec<String>,
    pub(super) flaky: BTreeSet<TestId>,
    /// Something in the clean checkout is red in a way that the baseline was not.
    pub(super) red: bool,
}

/// One check in all steps.
pub(super) struct CheckSteps<'a> {
    pub(super) name: &'a str,
    pub(super) before: Option<Results>,
    pub(super) clean: Results,
    pub(super) overlay: Option<Results>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(evidence: &'a ProofEvidence) -> Judge<'a> {
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

    pub(super) fn find(&mut self, finding: Finding) {
        let same =
            |it: &Finding| it.check == finding.check && it.test == finding.test && it.file == finding.file;
        // One line for each test: the first says it best, because the clean run is judged first. Of a test that
        // two checks run, the same is said once.
        let is_said = match finding.test {
            Some(_) => self.findings.iter().any(|it| same(it) || it.line == finding.line),
            None => self.findings.iter().any(|it| same(it) && it.line == finding.line),
        };
        if !is_said {
            self.findings.push(finding);
        }
    }

    pub(super) fn find_test(&mut self, kind: FindingKind, step: ProofStep, id: &TestId, what: &str) {
        let changed = &self.evidence.changed_protected;
        let file = file_of(&id.name, changed);
        let explains = |file: &String| changed.iter().any(|it| it.path == *file);
        let what = match file.as_ref().is_some_and(explains) || kind == FindingKind::RedInClean {
            true => format!("{what}{}", self.left_out(kind)),
            false => format!("{what}{}", self.suspects()),
        };
        let mut finding = Finding::of_test(kind, step, id, file, &what);
        // What does not run right in a clean checkout is not the change of a file that a person accepts.
        if let (None, [only], false) = (&finding.file, changed.as_slice(), kind.weakens()) {
            finding.file = Some(only.path.clone());
        }
        self.find(finding);
    }

    pub(super) fn find_check(&mut self, kind: FindingKind, step: ProofStep, check: &str, what: &str) {
        let what = format!("{what}{}", self.suspects());
        self.find(Finding::of_check(kind, step, check, &what));
    }

    /// What a clean checkout went without.
    pub(super) fn left_out(&self, kind: FindingKind) -> String {
        if kind != FindingKind::RedInClean {
            return String::new();
        }
        let (folders, programs) = (&self.evidence.changed_folders, &self.evidence.left_out_programs);
        let mut left_out = String::new();
        if !folders.is_empty() {
            left_out = format!(" ({}, and is not used there)", folders.join(", "));
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

    pub(super) fn check_names(&self) -> Vec<String> {
        let steps = [&self.baseline, &self.clean];
        let names = steps.into_iter().flatten().flat_map(|it| &it.results).map(|it| it.check.clone());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Tells whether a check is green in D, or red only by what was red on the baseline too.
    pub(super) fn is_sound_in_clean(&self, check: &CheckSteps<'_>) -> bool {
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

    pub(super) fn is_flaky(&self, id: &TestId) -> bool {
        self.flaky.contains(id)
    }

    /// A test in a file that was not judged; where the file of a test is unknown, any such file may
    /// be its own.
    pub(super) fn is_not_judged(&self, test: &str) -> bool {
        let left = &self.evidence.not_judged;
        match file_of(test, &self.evidence.changed_protected) {
            _ if left.is_empty() => false,
            Some(file) => left.iter().any(|it| it.path == file),
            None => true,
        }
    }
}
