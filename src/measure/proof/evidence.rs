//! All steps together, as what a proof is concluded from. The engine takes the steps one by one, with
//! an event for each; whoever has their results, or wants them taken at once, comes here.

use super::borrow::Lent;
use super::overlay::Trees;
use super::pure::{Class, Evidence, NotRun, ProtectedChange, Side, Step, StepOutcome};
use super::request::{ProofError, StepResult};
use super::steps::Prover;
use std::collections::BTreeSet;

impl Prover {
    /// Returns the evidence of the steps that were taken; the others count as skipped. What the run
    /// adds (checks in place, waivers, approval, the commit) is left for the caller to fill in.
    pub(crate) fn evidence(&self) -> Result<Evidence, ProofError> {
        let known: Vec<StepResult> = Step::ALL.iter().filter_map(|it| self.last(*it)).collect();
        let outcome = |step: Step| {
            let found = known.iter().find(|it| it.step == step);
            found.map_or(StepOutcome::NotRun(NotRun::Skipped), |it| it.outcome.clone())
        };
        let canary = known.iter().find(|it| it.step == Step::Canary);
        let overlay = known.iter().find(|it| it.step == Step::Overlay);
        // The run of G may be E's own, which cost nothing more.
        let is_shared = canary.zip(overlay).is_some_and(|(one, other)| one.logs == other.logs);
        let costly =
            known.iter().filter(|it| it.step != Step::Baseline && !(is_shared && it.step == Step::Canary));
        Ok(Evidence {
            tree: self.request.tree.clone(),
            commit: None,
            opening: Vec::new(),
            in_place: Vec::new(),
            baseline: outcome(Step::Baseline),
            clean: outcome(Step::Clean),
            overlay: outcome(Step::Overlay),
            old_code: outcome(Step::OldCode),
            protected_line: StepOutcome::NotRun(NotRun::NotNeeded),
            canary: canary.map(|it| it.canary.clone()).unwrap_or_default(),
            not_judged: overlay.map(|it| it.not_judged.clone()).unwrap_or_default(),
            changed_protected: self.changed_protected()?,
            changed_folders: known
                .iter()
                .find(|it| it.step == Step::Clean)
                .map(changed_folders)
                .unwrap_or_default(),
            changed_tools: changed_tools(&known),
            waivers: Vec::new(),
            allowed: Vec::new(),
            nothing_changed: self.request.tree == self.request.base,
            approved: false,
            cost_s: costly.map(|it| it.seconds).sum(),
        })
    }

    /// Protected files, and files with protected parts, that differ, with their texts.
    fn changed_protected(&self) -> Result<Vec<ProtectedChange>, ProofError> {
        let trees = Trees::read(&self.repository, &self.request)?;
        let text = |side, path: &str| trees.contents(side, path).and_then(|it| String::from_utf8(it).ok());
        let changed = trees.changes.iter().filter(|it| match trees.class(&it.path) {
            Class::Test | Class::Control | Class::Mixed(_) => true,
            Class::Ordinary => false,
        });
        let changed = changed.map(|it| ProtectedChange {
            path: it.path.clone(),
            base: text(Side::Base, &it.path),
            finally: text(Side::Final, &it.path),
            is_control: trees.class(&it.path) == Class::Control,
        });
        Ok(changed.collect())
    }
}

/// Folders of dependencies that were not what they were at the opening.
fn changed_folders(clean: &StepResult) -> Vec<String> {
    let changed = clean.folders.iter().filter(|(_, lent)| *lent == Lent::Changed);
    changed.map(|(path, _)| path.display().to_string()).collect()
}

/// Files of the tools that any step saw changed.
fn changed_tools(known: &[StepResult]) -> Vec<String> {
    let all: BTreeSet<&String> = known.iter().flat_map(|it| &it.changed_tools).collect();
    all.into_iter().cloned().collect()
}
