//! All steps together, as what a proof is concluded from. The engine takes the steps one by one, with
//! an event for each; whoever has their results, or wants them taken at once, comes here.

use super::pure::{
    Class, Mixed, NotRun, ProofEvidence, ProofStep, ProtectedChange, Side, StepOutcome, brings_back,
};
use super::request::{ProofError, ProofRequest, StepResult};
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::prover::Prover;
use crate::measure::proof::storage::dependency_folders::BorrowOutcome;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Prover {
    /// Returns the evidence of the steps that were taken; the others count as skipped. What the run
    /// adds (checks in place, waivers, approval, the commit) is left for the caller to fill in.
    pub(crate) fn evidence(&self) -> Result<ProofEvidence, ProofError> {
        let known: Vec<StepResult> = ProofStep::ALL.iter().filter_map(|it| self.last(*it)).collect();
        let outcome = |step: ProofStep| {
            let found = known.iter().find(|it| it.step == step);
            found.map_or(StepOutcome::NotRun(NotRun::Skipped), |it| it.outcome.clone())
        };
        let clean = known.iter().find(|it| it.step == ProofStep::Clean);
        let canary = known.iter().find(|it| it.step == ProofStep::Canary);
        let overlay = known.iter().find(|it| it.step == ProofStep::Overlay);
        // The run of G may be E's own, which cost nothing more.
        let is_shared = canary.zip(overlay).is_some_and(|(one, other)| one.logs == other.logs);
        let costly = known
            .iter()
            .filter(|it| it.step != ProofStep::Baseline && !(is_shared && it.step == ProofStep::Canary));
        Ok(ProofEvidence {
            tree: self.request.tree.clone(),
            commit: None,
            opening: Vec::new(),
            in_place: Vec::new(),
            baseline: outcome(ProofStep::Baseline),
            clean: outcome(ProofStep::Clean),
            overlay: outcome(ProofStep::Overlay),
            old_code: outcome(ProofStep::OldCode),
            canary_run: match is_shared {
                true => StepOutcome::NotRun(NotRun::NotNeeded),
                false => outcome(ProofStep::Canary),
            },
            protected_line: StepOutcome::NotRun(NotRun::NotNeeded),
            canary: canary.map(|it| it.canary.clone()).unwrap_or_default(),
            not_judged: overlay.map(|it| it.not_judged.clone()).unwrap_or_default(),
            changed_protected: self.changed_protected()?,
            changed_folders: clean.map(|it| changed_folders(it, &self.request)).unwrap_or_default(),
            left_out_programs: clean.map(|it| it.left_out.clone()).unwrap_or_default(),
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
        // A manifest or lock file changes with every dependency; what counts is what comes back.
        let is_protected = |path: &str| match trees.class(path) {
            Class::Test | Class::Control => true,
            Class::Mixed(Mixed::RustSource) => true,
            Class::Mixed(kind) => {
                let [base, now] = [Side::Base, Side::Final].map(|it| text(it, path).unwrap_or_default());
                brings_back(kind, &base, &now)
            }
            Class::Ordinary => false,
        };
        let changed = trees.changes.iter().filter(|it| is_protected(&it.path));
        let changed = changed.map(|it| ProtectedChange {
            path: it.path.clone(),
            base: text(Side::Base, &it.path),
            finally: text(Side::Final, &it.path),
            is_deleted: trees.contents(Side::Final, &it.path).is_none(),
            is_control: trees.class(&it.path) == Class::Control,
        });
        Ok(changed.collect())
    }
}

/// Folders of dependencies that were not what they were at the opening, in words.
fn changed_folders(clean: &StepResult, request: &ProofRequest) -> Vec<String> {
    let prepared = request.prepare.is_some();
    let in_words = |(path, lent): &(PathBuf, BorrowOutcome)| {
        let what = match lent {
            BorrowOutcome::Changed => "changed since the opening",
            BorrowOutcome::Added => "was not there at the opening",
            BorrowOutcome::Copied | BorrowOutcome::Leads(_) => return None,
        };
        let beside = request.place.join(path.parent().unwrap_or(Path::new("")));
        let command = install_command(&|name| beside.join(name).is_file()).filter(|_| !prepared);
        let hint = command.map(|it| format!(" and needs [proof] prepare = \"{it}\""));
        Some(format!("{} {what}{}", path.display(), hint.unwrap_or_default()))
    };
    clean.folders.iter().filter_map(in_words).collect()
}

/// Returns the command by which a package manager installs what its lock file names.
fn install_command(has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    const LOCKS: [(&str, &str); 8] = [
        ("package-lock.json", "npm ci"),
        ("npm-shrinkwrap.json", "npm ci"),
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn install --frozen-lockfile"),
        ("bun.lock", "bun install --frozen-lockfile"),
        ("bun.lockb", "bun install --frozen-lockfile"),
        ("uv.lock", "uv sync --frozen"),
        ("poetry.lock", "poetry install"),
    ];
    LOCKS.iter().find(|(name, _)| has(name)).map(|(_, command)| *command)
}

/// Files of the tools that any step saw changed.
fn changed_tools(known: &[StepResult]) -> Vec<String> {
    let all: BTreeSet<&String> = known.iter().flat_map(|it| &it.changed_tools).collect();
    all.into_iter().cloned().collect()
}
