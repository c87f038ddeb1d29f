//! A clean checkout that is ready for its checks, and what is known about it so far: the one place in
//! which a step prepares, runs, repeats and looks whether its tree was changed.

use crate::measure::proof::conditions::environment::CheckEnvironment;
use crate::measure::proof::pure::{Canary, NotRun, Results, StepOutcome, StepRun, needs_repeat};
use crate::measure::proof::request::{ProofError, ProofRequest, StepResult};
use crate::measure::proof::steps::changed_files::Manifest;
use crate::measure::proof::steps::overlay::{self, Trees};
use crate::measure::proof::steps::session::{ProofSession, Ran};
use crate::measure::proof::storage::dependency_folders::BorrowOutcome;
use crate::measure::proof::storage::files;
use loop_base::files::private_folder;
use std::fs;
use std::path::Path;

/// Installing the dependencies of a large project takes minutes.
const PREPARE_MS: u64 = 30 * 60 * 1000;

/// A checkout that is ready, and what is known about it so far.
pub(crate) struct PreparedCheckout {
    pub(crate) session: ProofSession,
    pub(crate) environment: CheckEnvironment,
    pub(crate) result: StepResult,
    /// The tree that the checkout holds.
    pub(crate) tree: String,
    pub(crate) manifest: Manifest,
    /// What the baseline's own checks write is this project's habit.
    pub(crate) baseline_touched: Vec<String>,
    pub(crate) touched_with_canaries: Vec<String>,
}

impl PreparedCheckout {
    /// Prepares the checkout; returns why it could not be.
    pub(crate) fn prepare(&mut self, request: &ProofRequest) -> Result<Option<String>, ProofError> {
        let commands =
            request.prepare.iter().chain(request.checks.iter().filter_map(|it| it.prepare.as_ref()));
        let mut done: Vec<&String> = Vec::new();
        for command in commands {
            if done.contains(&command) {
                continue;
            }
            done.push(command);
            if let Some(why) = self.session.prepare(command, &self.environment, PREPARE_MS)? {
                return Ok(Some(why));
            }
        }
        if !done.is_empty() {
            self.note_files();
        }
        Ok(None)
    }

    /// From here on, what is changed of its files is told from what they are now.
    pub(super) fn note_files(&mut self) {
        let checkout = &self.session.checkout;
        self.manifest = Manifest::of(&checkout.listing, &checkout.path);
    }

    /// Runs every check but these.
    pub(crate) fn checks(
        &mut self,
        request: &ProofRequest,
        without: &[String],
    ) -> Result<Vec<Ran>, ProofError> {
        let mut ran = Vec::new();
        for check in request.checks.iter().filter(|it| !without.contains(&it.name)) {
            ran.push(self.session.check(check, &self.environment)?);
        }
        Ok(ran)
    }

    /// Repeats checks with something red, on the same tree, as long as that can tell more.
    pub(crate) fn repeat(
        &mut self,
        request: &ProofRequest,
        attempts: &mut Vec<Vec<Ran>>,
        baseline: Option<&StepRun>,
    ) -> Result<(), ProofError> {
        loop {
            let so_far = attempts.iter().map(|it| it.iter().map(|it| it.results.clone()).collect()).collect();
            let run = step_run(&self.tree, so_far, Vec::new());
            let again = needs_repeat(self.result.step, &run, baseline);
            if again.is_empty() {
                return Ok(());
            }
            let without: Vec<String> =
                request.checks.iter().map(|it| it.name.clone()).filter(|it| !again.contains(it)).collect();
            attempts.push(self.checks(request, &without)?);
        }
    }

    /// Runs every check, repeats what is red, and looks whether the tree was changed.
    pub(crate) fn run(
        &mut self,
        request: &ProofRequest,
        baseline: Option<&StepRun>,
        trees: &Trees,
    ) -> Result<StepRun, ProofError> {
        let mut attempts = vec![self.checks(request, &[])?];
        self.repeat(request, &mut attempts, baseline)?;
        let touched = self.touched(trees);
        Ok(self.ran(attempts, touched))
    }

    /// Returns what these attempts came to on this tree.
    pub(crate) fn ran(&self, attempts: Vec<Vec<Ran>>, touched: Vec<String>) -> StepRun {
        step_run(&self.tree, results(attempts), touched)
    }

    /// Runs every check with canaries in the test files, which are then as before.
    pub(crate) fn with_canaries(
        &mut self,
        request: &ProofRequest,
        planned: &[Canary],
        trees: &Trees,
    ) -> Result<Vec<(String, Ran)>, ProofError> {
        self.with_canaries_but(request, planned, trees, &[])
    }

    /// The same without some of the checks.
    pub(crate) fn with_canaries_but(
        &mut self,
        request: &ProofRequest,
        planned: &[Canary],
        trees: &Trees,
        without: &[String],
    ) -> Result<Vec<(String, Ran)>, ProofError> {
        let checkout = self.session.checkout.path.clone();
        let mut before = Vec::new();
        for canary in planned {
            before.push((canary.path.clone(), fs::read_to_string(checkout.join(&canary.path))?));
            overlay::write_text(&checkout, &canary.path, &canary.text)?;
        }
        self.note_files();
        let ran = self.checks(request, without)?;
        // Seen before the canaries are taken out again, which touches their files.
        self.touched_with_canaries.extend(self.manifest.touched(&checkout, trees));
        for (path, text) in before {
            overlay::write_text(&checkout, &path, &text)?;
        }
        self.note_files();
        Ok(ran.into_iter().map(|it| (it.results.check.clone(), it)).collect())
    }

    pub(crate) fn touched(&mut self, trees: &Trees) -> Vec<String> {
        let mut touched = std::mem::take(&mut self.touched_with_canaries);
        touched.extend(self.manifest.touched(&self.session.checkout.path, trees));
        let (usual, unusual): (Vec<String>, Vec<String>) =
            touched.into_iter().partition(|it| self.baseline_touched.contains(it));
        if !usual.is_empty() {
            self.result.notes.push(format!("the checks write {}, on the baseline too", usual.join(", ")));
        }
        unusual
    }

    pub(crate) fn failed(mut self, why: String) -> StepResult {
        self.result.outcome = StepOutcome::NotRun(NotRun::Failed(why));
        self.result
    }

    /// Keeps the logs and returns the result.
    pub(crate) fn finish(mut self, run: StepRun) -> Result<(ProofSession, StepResult), ProofError> {
        let logs = &self.result.logs;
        files::remove(logs)?;
        private_folder(logs)?;
        for entry in fs::read_dir(self.session.work.run())?.flatten() {
            if entry.path().extension().is_some_and(|it| it == "log") {
                fs::rename(entry.path(), logs.join(entry.file_name()))?;
            }
        }
        self.result.outcome = StepOutcome::Ran(run);
        let refused = self.result.folders.iter().filter(|(_, lent)| *lent != BorrowOutcome::Copied);
        let notes: Vec<String> = refused.map(|(path, lent)| in_words(path, lent)).collect();
        self.result.notes.extend(notes);
        Ok((self.session, self.result))
    }
}

fn step_run(tree: &str, attempts: Vec<Vec<Results>>, touched: Vec<String>) -> StepRun {
    StepRun { tree: tree.to_owned(), attempts, seconds: 0.0, touched, baseline_again: Vec::new() }
}

pub(crate) fn results(attempts: Vec<Vec<Ran>>) -> Vec<Vec<Results>> {
    attempts.into_iter().map(|it| it.into_iter().map(|it| it.results).collect()).collect()
}

fn in_words(path: &Path, lent: &BorrowOutcome) -> String {
    let path = path.display();
    match lent {
        BorrowOutcome::Copied => format!("{path} was copied"),
        BorrowOutcome::Changed => {
            format!("{path} changed since the opening and is not used; set prepare to install it")
        }
        BorrowOutcome::Added => {
            format!("{path} was not there at the opening and is not used; set prepare to install it")
        }
        BorrowOutcome::Leads(file) => {
            format!("{path} leads into the working tree by {file} and is not used; set prepare to install it")
        }
    }
}
