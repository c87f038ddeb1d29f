//! A phase: what it asks, when it may be left and where it leads, who stands at its boundary, and when
//! it is stopped. What the whole workflow shares is in `model.rs`.

use super::{Millis, Model, PhaseId, Protocol};
use crate::facts::FactName;
use crate::open_words::open_words;
use crate::workflow::grammar::condition::Condition;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    pub goal: String,
    pub role: String,
    /// Its calls, in order; empty: one call with the phase's own prompt.
    pub skills: Vec<String>,
    /// Files that must exist, not be empty, and have changed in this run.
    pub deliverables: Vec<String>,
    /// Template of the prompt.
    pub prompt: String,
    /// Documents that its prompts bring along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    pub model: Option<Model>,
    pub report: Protocol,
    pub signal: Signal,
    pub checks: Vec<String>,
    /// A failing check is expected here and is not an error.
    pub expect_failing: bool,
    /// `None`: left when its skills are done and `checks_failing == 0`.
    pub exit: Option<Condition>,
    pub progress: Progress,
    pub breaker: BreakerLimits,
    pub weight: u32,
    /// The name of the items that it runs once for.
    pub each: Option<String>,
    pub gates: Vec<GateUse>,
    pub next: Next,
    pub reject: Option<Reject>,
    /// Failures here follow `[retries]`.
    pub retries: bool,
    /// Names from its report that conditions may use.
    pub claims: Vec<String>,
    /// Iterations count against the run's limit.
    pub counted: bool,
    /// Its own limit, instead of `limits.phase_iterations`.
    pub iterations: Option<u32>,
    pub proof: PhaseProof,
    /// Checks that must have a command before it is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<String>,
}

impl Phase {
    /// Whether one of its conditions uses this name, or its progress is seen in it.
    pub fn asks_for(&self, name: &str) -> bool {
        let conditions = self.exit.iter().chain(self.reject.iter().map(|it| &it.when));
        let mut named = conditions.flat_map(Condition::names).map(|it| it.0);
        let without_condition = self.exit.is_none() && name == FactName::ChecksFailing.name();
        without_condition
            || named.any(|it| it == name)
            || self.progress.up.iter().chain(&self.progress.down).any(|it| it == name)
    }

    /// Whether its iterations are known by their number in the run: each item has a visit of its own, and the
    /// block that the agent ends with names that number.
    pub fn is_numbered_by_run(&self) -> bool {
        self.counted && self.report == Protocol::ExitSignal
    }
}

/// What the agent must say to leave a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// The evidence alone decides.
    None,
    /// The word of the report's protocol.
    Own,
    /// One of these.
    Words(Vec<SignalWord>),
}

open_words! {
    /// A word by which a report asks to leave a phase. In files and journals it is the word itself.
    pub enum SignalWord {
        /// `EXIT_SIGNAL: true` of a `prp-status` block.
        Exit = "exit",
        /// The status of a `json` report.
        Done = "done",
        TaskComplete = "TASK_COMPLETE",
        PlanComplete = "PLAN_COMPLETE",
        PhaseComplete = "PHASE_COMPLETE",
        ;
        /// The text of a promise, or a word that a user wrote in a way of their own.
        Other
    }
}

impl SignalWord {
    /// Returns the words that a report of this protocol can give; none where any text can be one.
    pub fn of(protocol: &Protocol) -> &'static [SignalWord] {
        match protocol {
            Protocol::ExitSignal => {
                &[SignalWord::TaskComplete, SignalWord::PlanComplete, SignalWord::PhaseComplete]
            }
            Protocol::PrpStatus => &[SignalWord::Exit],
            Protocol::Json => &[SignalWord::Done],
            Protocol::Promise | Protocol::None | Protocol::Frontmatter(_) => &[],
        }
    }

    /// Whether both are the same word; people write it in either case.
    pub fn is(&self, other: &SignalWord) -> bool {
        self.word().eq_ignore_ascii_case(other.word())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub up: Vec<String>,
    pub down: Vec<String>,
}

/// When a phase without progress is stopped; `None`: never for that reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerLimits {
    pub no_progress: Option<u32>,
    pub same_error: Option<u32>,
    pub failures: Option<u32>,
    pub pivot: bool,
    /// The reason shown when it opens, instead of what it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    Phase(PhaseId),
    Done,
}

/// The way back when a phase rejects what came before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reject {
    pub when: Condition,
    pub go: PhaseId,
    /// The route is taken this often; the next match does `then`.
    pub at_most: u32,
    pub then: RejectThen,
    pub back: Back,
    /// The reason that is shown when it has gone back too often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectThen {
    Ask,
    Halt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Back {
    /// Straight to the rejecting phase once the target is left.
    Direct,
    /// Through every phase between.
    Full,
}

/// A gate at the end of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateUse {
    pub gate: String,
    /// `None`: as the mode says; a mode that does not name it leaves it open.
    pub when: Option<Condition>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub ask: String,
    pub by: String,
    /// Whatever the mode and the conditions say, a person is asked.
    pub required: bool,
    pub timeout: Option<Millis>,
    /// Where "changes" sends the work.
    pub changes_to: Option<PhaseId>,
    /// Only a signed approval counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sign: bool,
    /// Of the signed ones only those for which a person had to be there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub presence: bool,
    /// The file that names who may sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<String>,
    /// What that file said when the run was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signers: Option<String>,
    /// How long what is asked here may be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Millis>,
    /// Accounts of the code host whose answer on the pull request counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logins: Vec<String>,
    /// Who is asked for a review there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseProof {
    /// Checks run in place and leave the tree as it was.
    Tree,
    /// Checks run in a fresh checkout of that tree.
    Clean,
}
