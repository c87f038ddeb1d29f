//! What a run is opened with, and the session that works on it. It is written to the journal, so it
//! only ever grows.

use super::requirement::Requirement;
use super::told_work::ToldWork;
use crate::workflow::model::PhaseId;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was known when the run was opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub input: String,
    /// The document, where the input is one or became one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What that document is called, where the input itself is a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The promise that must be kept, where the workflow has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// Counted in the input, or given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<u32>,
    /// The agent's word is taken where nothing is measured.
    #[serde(default)]
    pub unverified: bool,
    /// A hash of the input's locked text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// A hash of the document's text; ticks do not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What came before was from the files of another controller, and measured by nobody here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// The working tree that the run works in, where it has none to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Where the run is to work, if it has a worktree to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<Worktree>>,
    /// What was known before, where the input has such things.
    #[serde(flatten)]
    pub beginning: Box<Beginning>,
}

/// What a planning folder, or the files of another controller, say about a run that begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The run's own id, which its agents are told; runs of older versions do not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What the input is called by people: `Phase 3: Accounts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the phase of a roadmap is to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// SHA-256 of the configuration of a planning folder, of nothing where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The domain that a system of the queue belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// What the queue says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Its issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// What the queue lists to be built, for readers of the state before the list is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Interfaces that the systems changed which it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// Ids of items that were done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// Phases that the project's own configuration turns off, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<(String, String)>,
    /// Iterations that another controller had counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iterations: u32,
    /// How many of them in a row had failed at the end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_in_a_row: u32,
    /// How often phases had rejected the work under another controller, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejections: BTreeMap<String, u32>,
    /// What went wrong under another controller, and the retries that it had used for what is not mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<ToldFailure>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures_total: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// What it logged of its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Box<ToldWork>>,
    /// Gates that somebody required there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// Skill → what it needs, as a person answered for another run of the project; nothing where it is skipped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prerequisites: BTreeMap<String, Option<String>>,
    /// The code host that the work goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<CodeHost>>,
    /// The remote that a merge is pushed to, where it goes through no code host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The programs that git's configuration named, by their hashes; runs of older versions do not know them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_programs: Option<Vec<String>>,
}

/// A failure that another controller wrote down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldFailure {
    pub at: Timestamp,
    /// The phase; nothing where a person at a gate asked for changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}

/// The program that talks to a code host, as it was when the run was opened, and the remote that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeHost {
    pub program: String,
    /// How its file looked.
    pub stamp: String,
    pub remote: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A worktree as it was planned before anything of it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The working tree that it belongs to.
    pub root: String,
    pub place: String,
    pub branch: String,
    /// The commit that the branch begins at.
    pub base: String,
    /// The branch that the project was on, which the work is merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The branch was there before the run, and its worktree may be, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
}

impl Opening {
    /// Returns the programs that git's configuration named, where that was written down.
    pub fn git_programs(&self) -> Option<&[String]> {
        self.beginning.git_programs.as_deref()
    }

    /// Returns what the work is called when agents and other tools are told of it.
    pub fn document(&self) -> &str {
        self.document.as_deref().unwrap_or(&self.input)
    }
}

/// A session of the agent that has the work, as it was at its last stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Empty while any session of the project may take the work.
    pub id: String,
    /// What the agent said about this stop: it follows one that was blocked.
    #[serde(default)]
    pub active: bool,
    /// How many stops in a row the agent has counted, this one included.
    #[serde(default)]
    pub stops: u32,
    /// How often the checks of this iteration were cut short by the hook's time limit.
    #[serde(default)]
    pub cuts: u32,
    /// How often a stop met a proof that was not done.
    #[serde(default)]
    pub proofs: u32,
    /// The process that called the hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<SessionProcess>,
}

/// One process forever: pids are used again, and machines restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionProcess {
    pub pid: i32,
    pub start: u64,
    pub boot: String,
}
