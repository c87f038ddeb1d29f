//! What we measured ourselves: results of checks, each about one tree, and the facts that the tree
//! and the input bring. It is written to the journal, so it only ever grows.

use crate::facts::FactName;
use crate::workflow::model::Millis;
use loop_base::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the checks said before the first call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub results: Vec<CheckResult>,
    pub facts: Facts,
    pub ms: Millis,
    /// The name under which the conditions of the opening are kept, for the proof at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
}

/// What we measured ourselves after a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub results: Vec<CheckResult>,
    pub facts: Facts,
    /// Deliverables that do not exist, are empty, or were not touched in this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Paths that the checks themselves changed, so that no result is about one tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<String>,
    /// Tests that passed at the opening and do not now, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratchet: Vec<String>,
    /// What is uncommitted and was not when the run began, where the exit rule asks about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<Uncommitted>,
    /// What was odd, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Tests that pass and did not when this visit to the phase began; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned_green: Vec<String>,
    /// Tests that show a requirement and do not pass any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_green: Vec<String>,
    /// Items that are done and whose work is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_work: Vec<String>,
    /// Committed work that the call changed although it was to report on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_work: Vec<String>,
    /// Plans that the call added and that do not count; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_plans: Vec<RefusedPlan>,
    pub ms: Millis,
}

/// A plan that is not worked on as long as it is what it was when it was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedPlan {
    /// The name of its file.
    pub name: String,
    /// SHA-256 of its text.
    pub digest: String,
    pub why: String,
}

/// Uncommitted files and folders of one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncommitted {
    pub paths: Vec<String>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: u32,
    /// The checks that left them behind, where the agent did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_by: Vec<String>,
    /// The filter of git that decides whether they are, where it is not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What the tree and the input look like: names that conditions may use, and their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    #[serde(default)]
    pub commit: String,
    #[serde(default)]
    pub tree: String,
    /// The branch, as far as somebody looked; empty where HEAD is on none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// Fact of `[facts]` that is so → SHA-256 of the changes in the files that it is about.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<String, String>,
    /// Files changed since the run began, for prompts and mirrors; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many files were created, changed and deleted; older journals do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Box<FilesChanged>>,
    /// Commits made since the call began, newest first; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// Commits that earlier calls on the same item made and that still stand, newest first; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_commits: Vec<String>,
    /// Where the branch that the work is for was moved while the call was running, by no run of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_moved: Option<Box<TargetMove>>,
}

impl Facts {
    /// Returns the commit that stands for what a call did: the one that its report names, else the newest.
    pub fn commit_of_call(&self, claimed: Option<&str>) -> Option<&str> {
        let made = self.values.get(FactName::CommitsMade.name()).and_then(Value::number);
        let names = self.commits.iter();
        // Where nobody asks for names, the last commit is the only one that is known.
        let last = Some(&self.commit).filter(|it| self.commits.is_empty() && !it.is_empty());
        made.filter(|it| 0.0 < *it)?;
        newest_or_claimed(names.chain(last), claimed)
    }

    /// Returns the commit that stands for the item that is done with this call, which may be of an earlier one.
    pub fn commit_of_item(&self, claimed: Option<&str>) -> Option<&str> {
        let names = self.commits.iter().chain(&self.earlier_commits);
        newest_or_claimed(names, claimed).or_else(|| self.commit_of_call(claimed))
    }
}

fn newest_or_claimed<'a>(
    mut names: impl Iterator<Item = &'a String> + Clone,
    claimed: Option<&str>,
) -> Option<&'a str> {
    let found = claimed.and_then(|claimed| names.clone().find(|it| it.starts_with(claimed)));
    found.or_else(|| names.next()).map(String::as_str)
}

/// A branch that somebody moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetMove {
    pub branch: String,
    pub from: String,
    pub to: String,
}

/// How many files differ from what was there before the call, and before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    pub call: FileCounts,
    pub run: FileCounts,
}

/// How many files differ between two trees, by how they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCounts {
    pub created: u32,
    pub modified: u32,
    pub deleted: u32,
}

/// What one check said, and about which tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub outcome: CheckOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// How often in a row it passed in this measurement. A check that fails only by tests which failed
    /// before the run began has passed in this sense, although it has not by its exit.
    #[serde(default)]
    pub passes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Tests>,
    /// Named numbers that it printed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Value>,
    /// SHA-256 of the command.
    #[serde(default)]
    pub command: String,
    #[serde(default)]
    pub commit: String,
    #[serde(default)]
    pub tree: String,
    /// The log's file in the run's folder, and its SHA-256.
    #[serde(default)]
    pub log: String,
    #[serde(default)]
    pub log_hash: String,
    /// Head and tail of the log, where it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    pub ms: Millis,
}

impl CheckResult {
    /// Whether the shell found no program that it could start.
    pub(crate) fn is_not_started(&self) -> bool {
        matches!((&self.outcome, self.exit), (CheckOutcome::Failed(_), Some(126 | 127)))
    }

    /// A result that says nothing but its outcome.
    pub fn plain(name: &str, outcome: CheckOutcome) -> CheckResult {
        CheckResult {
            name: name.to_owned(),
            outcome,
            exit: None,
            passes: 0,
            counts: None,
            metrics: BTreeMap::new(),
            command: String::new(),
            commit: String::new(),
            tree: String::new(),
            log: String::new(),
            log_hash: String::new(),
            excerpt: String::new(),
            ms: 0,
        }
    }
}

/// Why a check failed that exited with 0 and ran nothing.
pub const NO_TESTS_RAN: &str = "0 tests ran";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    Passed,
    /// Why, in words.
    Failed(String),
    /// It has no command.
    Skipped,
}

/// What a runner counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    pub total: u32,
    pub passing: u32,
    pub failing: u32,
    pub skipped: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}
