//! What a proof is asked and what a step of it answers: plain data, written to disk as JSON.

use super::pure::{CanaryOutcome, NotJudged, NotRun, ProofStep, StepOutcome, StepRun};
use crate::measure::proof::storage::dependency_folders::BorrowOutcome;
use crate::measure::proof::storage::files;
use crate::tree::git::GitError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Results that an older program wrote are not read.
const VERSION: u32 = 2;

/// Everything that decides what a proof finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProofRequest {
    /// The working tree whose snapshot is proven.
    pub(crate) place: PathBuf,
    /// The tree that has the dependency folders: `place`, or the main tree of a worktree. The checkout
    /// is seen at its path where the kernel allows it.
    pub(crate) borrow_from: PathBuf,
    /// The trees at the opening and now, as object ids, and the commits that they lie on.
    pub(crate) base: String,
    pub(crate) base_commit: Option<String>,
    pub(crate) tree: String,
    pub(crate) tree_commit: Option<String>,
    /// The name of the opening's conditions.
    pub(crate) opening: String,
    /// When the run was opened, in milliseconds since 1970.
    #[serde(default)]
    pub(crate) opened_at_ms: Option<i64>,
    /// From when to when agents and the checks of their work were running, in the same unit. Tools that
    /// changed then are named.
    #[serde(default)]
    pub(crate) agent_times: Vec<(i64, i64)>,
    pub(crate) checks: Vec<ProofCheck>,
    /// Runs once in every checkout before its checks.
    pub(crate) prepare: Option<String>,
    /// Variables that checks may see beyond the usual ones.
    pub(crate) variables: Vec<String>,
    /// Globs of further protected files.
    pub(crate) protect: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProofCheck {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) prepare: Option<String>,
    pub(crate) timeout_ms: u64,
}

impl ProofRequest {
    /// The name under which the result of a step is kept: steps with equal keys have equal results.
    pub(crate) fn key(&self, step: ProofStep) -> String {
        // The later steps look whether the tools changed since the run was opened, so another run's
        // results are not this one's.
        let tree = match step {
            ProofStep::Baseline => None,
            ProofStep::Clean | ProofStep::Overlay | ProofStep::OldCode | ProofStep::Canary => {
                Some((&self.tree, self.opened_at_ms))
            }
        };
        let parts = (
            VERSION,
            step,
            tree,
            &self.base,
            &self.opening,
            &self.checks,
            &self.prepare,
            &self.variables,
            &self.protect,
        );
        files::hash(&serde_json::to_vec(&parts).expect("plain data"))[..32].to_owned()
    }
}

impl ProofRequest {
    /// The trees of both sides and the commits that they lie on.
    pub(super) fn objects(&self) -> Vec<String> {
        let commits = [&self.base_commit, &self.tree_commit].into_iter().flatten();
        [&self.base, &self.tree].into_iter().chain(commits).cloned().collect()
    }
}

/// What a step found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepResult {
    pub(crate) step: ProofStep,
    pub(crate) key: String,
    pub(crate) outcome: StepOutcome,
    /// The canary of each check, where this step planted one.
    pub(crate) canary: BTreeMap<String, CanaryOutcome>,
    /// A0 only: the word of this project's canaries. Empty where no test file can carry one.
    pub(crate) canary_word: String,
    /// A0 only: the names under which each check reported canaries.
    #[serde(default)]
    pub(crate) canary_names: BTreeMap<String, BTreeSet<String>>,
    /// A0 only: the test programs whose canary each check reported, where it names no tests.
    #[serde(default)]
    pub(crate) canary_programs: BTreeMap<String, BTreeSet<String>>,
    /// A0 only: files of the tree that its checks write, seen while no agent was at work.
    #[serde(default)]
    pub(crate) written_by_checks: Vec<String>,
    /// A0 only: no agent was at work while it was taken.
    #[serde(default)]
    pub(crate) is_undisturbed: bool,
    /// A0 only: the fingerprint of the caches that it left.
    pub(crate) cache: Option<String>,
    pub(crate) not_judged: Vec<NotJudged>,
    pub(crate) changed_protected: Vec<String>,
    /// Dependency folders and what became of them.
    pub(crate) folders: Vec<(PathBuf, BorrowOutcome)>,
    /// The checkout was seen at the path of the original tree.
    pub(crate) is_mounted: bool,
    /// Programs and folders of PATH that are not as at the opening.
    pub(crate) left_out: Vec<String>,
    /// Files of toolchains and interpreters that were changed since the run was opened.
    #[serde(default)]
    pub(crate) changed_tools: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// The folder with the logs of every check.
    pub(crate) logs: PathBuf,
    /// With everything around the checks.
    pub(crate) seconds: f64,
}

impl StepResult {
    pub(super) fn not_run(step: ProofStep, key: String, why: NotRun) -> StepResult {
        StepResult {
            step,
            key,
            outcome: StepOutcome::NotRun(why),
            canary: BTreeMap::new(),
            canary_word: String::new(),
            canary_names: BTreeMap::new(),
            canary_programs: BTreeMap::new(),
            written_by_checks: Vec::new(),
            is_undisturbed: false,
            cache: None,
            not_judged: Vec::new(),
            changed_protected: Vec::new(),
            folders: Vec::new(),
            is_mounted: false,
            left_out: Vec::new(),
            changed_tools: Vec::new(),
            notes: Vec::new(),
            logs: PathBuf::new(),
            seconds: 0.0,
        }
    }

    pub(super) fn run_mut(&mut self) -> Option<&mut StepRun> {
        match &mut self.outcome {
            StepOutcome::Ran(run) => Some(run),
            StepOutcome::NotRun(_) => None,
        }
    }

    pub(crate) fn run(&self) -> Option<&StepRun> {
        match &self.outcome {
            StepOutcome::Ran(run) => Some(run),
            StepOutcome::NotRun(_) => None,
        }
    }
}

/// Why a step could not be taken at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProofError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the proof cannot work: {0}")]
    File(#[from] std::io::Error),
    #[error("[proof] protect: {0}")]
    Protect(String),
    #[error("the prover ended without a result: {0}")]
    Prover(String),
    /// Somebody killed it, the kernel for instance, which does so where memory runs out.
    #[error("the prover was killed before it had a result")]
    ProverKilled,
    /// What was written down when the run was opened is gone or changed.
    #[error("{} {what}", path.display())]
    Opening { path: PathBuf, what: String },
    #[error("{0}")]
    DiskFull(String),
}

impl ProofError {
    /// Returns what is said where there is no room for a step, which is nothing that the work is to blame
    /// for: it continues when there is.
    pub(crate) fn disk_full(&self) -> Option<String> {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            ProofError::DiskFull(text) => Some(text.clone()),
            ProofError::File(error) if matches!(error.kind(), StorageFull | QuotaExceeded) => {
                Some(error.to_string())
            }
            ProofError::Git(error) => {
                Some(error.to_string()).filter(|it| it.contains("No space left on device"))
            }
            ProofError::File(_)
            | ProofError::Protect(_)
            | ProofError::Prover(_)
            | ProofError::ProverKilled
            | ProofError::Opening { .. } => None,
        }
    }
}
