//! The words the engine speaks: facts in the past tense ([`Event`]), wishes as verbs ([`Effect`]),
//! and the three kinds of [`Decision`]. All of it is written to the journal, so it only ever grows:
//! a field that is added has a default.

use super::answer::Command;
use super::evidence::{Baseline, Evidence};
use super::item_list::{Item, Listing};
use super::limits::Wait;
use super::metrics::Metric;
use super::proving::StepTaken;
use super::question::{CheckpointKind, Question};
use super::requirements::Requirement;
use crate::proof::{Proof, Step as ProofStep, Waiver};
use crate::report::Report;
use crate::workflow::condition::Truth;
use crate::workflow::model::{Millis, PhaseId};
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A conclusion that follows from what is already known.
    Record(Event),
    /// Something that only the world can do.
    Perform(Effect),
    /// Nothing to do until a person or another moment comes along.
    Rest(Rest),
}

/// Why there is nothing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Rest {
    Held(Hold),
    Waiting(Question),
    Closed(Outcome),
    /// Somebody else has the work: a hook's own agent, another host.
    Elsewhere,
}

/// What only the world can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Make the branch and the worktree.
    Workspace,
    /// Run every check once, before the first call.
    Baseline,
    /// Read the list of items.
    List,
    /// Send an agent out for one iteration.
    Work(Call),
    /// Wait for a call that is under way, or find out what became of it.
    Collect(Call),
    /// End what a call left running.
    Contain,
    /// Run these checks, look at the tree and for these files.
    Measure { checks: Vec<String>, deliverables: Vec<String> },
    /// Take one step of the proof of the tree as it was judged last.
    Prove(ProofStep),
    /// Conclude from the steps what is proven.
    Conclude,
    /// Do nothing until this moment, or until a command comes.
    Sleep { until: Timestamp, why: String },
    /// Tell a person that there is a question.
    Ask(Question),
    /// Tell a person that the run rests, or waits for a provider.
    Tell,
    /// What the workflow does at the end.
    Finish,
}

impl Effect {
    /// Whether it must never happen twice, so that its intent is written down first.
    pub fn happens_once(&self) -> bool {
        match self {
            Effect::Work(_) | Effect::Ask(_) | Effect::Tell | Effect::Workspace | Effect::Finish => true,
            Effect::Baseline
            | Effect::List
            | Effect::Collect(_)
            | Effect::Contain
            | Effect::Measure { .. }
            | Effect::Prove(_)
            | Effect::Conclude
            | Effect::Sleep { .. } => false,
        }
    }
}

/// One agent call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// 1-based in the run.
    pub number: u32,
    /// 1 for the first try to start it; a try that was never started leaves its number to the next.
    pub attempt: u32,
    pub phase: PhaseId,
    /// 1-based in the visit to the phase.
    pub iteration: u32,
    pub step: Step,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<Item>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The epoch of the controller that meant to start it; names the shim.
    pub epoch: u64,
}

impl Call {
    /// Returns what its files are called.
    pub fn stem(&self) -> String {
        match self.attempt {
            1 => format!("call-{}", self.number),
            attempt => format!("call-{}.{attempt}", self.number),
        }
    }
}

/// Which of a phase's calls this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The phase's own prompt.
    Main,
    Skill(String),
    /// The skill that looks at a failure before the next try.
    Fix(String),
}

/// A fact. The state of a run is the fold of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Opened(Opening),
    /// A controller took the run.
    Owned {
        epoch: u64,
    },
    /// The work is done by a session of the agent that calls us whenever it stops.
    Joined(Session),
    /// Something that happens once is about to be done.
    Began(Effect),
    /// The working tree is ready.
    Placed {
        place: String,
        branch: Option<String>,
    },
    Baselined(Baseline),
    /// The list of items was read. It is journaled as what changed since the last time.
    Listed(Listing),
    Ended(Box<Ended>),
    Contained {
        left: Vec<Left>,
    },
    Measured(Box<Evidence>),
    Judged(Box<Judgement>),
    /// A step of the proof was taken.
    StepTaken(Box<StepTaken>),
    /// What was proven.
    Proved(Box<Proof>),
    /// A person accepts findings of the proof.
    Waived(Waiver),
    /// A person takes this tree as it is, though less is proven than asked for.
    Accepted {
        tree: String,
        reason: String,
        by: String,
    },
    /// A person gave the command that prepares a clean checkout, or goes without a proof.
    Prepared {
        command: Option<String>,
    },
    /// The iteration is over and its phase goes on.
    Repeated,
    /// A phase was left and another entered.
    Entered {
        phase: PhaseId,
        how: How,
    },
    /// A person let the phase go although its exit rule does not hold.
    Skipped {
        why: String,
    },
    /// A checkpoint that an agent stopped at is settled, by a person or by the autonomous mode.
    Settled {
        text: String,
        automatic: bool,
        /// The item itself was the checkpoint, so it is done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        done: bool,
    },
    /// A person gave the command of a check that had none.
    Supplied {
        check: String,
        command: String,
    },
    ItemDone {
        id: String,
        /// Items of the same group that the agent called complete with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
    },
    /// What only a person can judge stays open; the run goes on without them.
    LeftToPerson {
        items: Vec<String>,
    },
    /// A wait begins.
    Waits {
        until: Timestamp,
        why: String,
        wait: Wait,
    },
    Woke,
    /// The person was told, or could not be.
    Told {
        trouble: Option<String>,
    },
    /// A question's time ran out.
    Expired {
        question: u32,
    },
    /// The breaker was closed by a person, or by one fresh call with a summary of what was tried.
    Reset {
        guidance: Option<String>,
    },
    Pivoted,
    Approved {
        gate: String,
        by: String,
    },
    /// Other runs of the project have made calls in the same window.
    Counted {
        start: Timestamp,
        made: u32,
    },
    /// Calls beyond the window's limit are allowed until then.
    Granted {
        until: Timestamp,
    },
    /// A failure will be tried again.
    Retried,
    Held(Hold),
    Commanded(Command),
    /// A person had the workflow read again, or gave other values for these keys.
    Reloaded {
        keys: Vec<String>,
    },
    Refused {
        command: Command,
        why: String,
    },
    /// The end of the workflow was seen to; a run that is closed already may be handed in later.
    Finished {
        trouble: Option<String>,
        /// Where the work went, if it left the house.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shipped: Option<String>,
        /// The commit that holds what was handed in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The command that goes on after this run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    /// Something that a person should know.
    Noted {
        text: String,
    },
    Closed(Outcome),
}

impl Event {
    /// Returns the word that lists show.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Opened(_) => "opened",
            Event::Owned { .. } => "owned",
            Event::Joined(_) => "joined",
            Event::Began(_) => "began",
            Event::Placed { .. } => "placed",
            Event::Baselined(_) => "baselined",
            Event::Listed(_) => "listed",
            Event::Ended(_) => "ended",
            Event::Contained { .. } => "contained",
            Event::Measured(_) => "measured",
            Event::Judged(_) => "judged",
            Event::StepTaken(_) => "step-taken",
            Event::Proved(_) => "proved",
            Event::Waived(_) => "waived",
            Event::Accepted { .. } => "accepted",
            Event::Prepared { .. } => "prepared",
            Event::Repeated => "repeated",
            Event::Entered { .. } => "entered",
            Event::Skipped { .. } => "skipped",
            Event::Settled { .. } => "settled",
            Event::Supplied { .. } => "supplied",
            Event::ItemDone { .. } => "item-done",
            Event::LeftToPerson { .. } => "left-to-person",
            Event::Waits { .. } => "waits",
            Event::Woke => "woke",
            Event::Told { .. } => "told",
            Event::Expired { .. } => "expired",
            Event::Reset { .. } => "reset",
            Event::Pivoted => "pivoted",
            Event::Approved { .. } => "approved",
            Event::Granted { .. } => "granted",
            Event::Counted { .. } => "counted",
            Event::Retried => "retried",
            Event::Held(_) => "held",
            Event::Commanded(_) => "commanded",
            Event::Reloaded { .. } => "reloaded",
            Event::Refused { .. } => "refused",
            Event::Finished { .. } => "finished",
            Event::Noted { .. } => "noted",
            Event::Closed(_) => "closed",
        }
    }
}

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
    /// What came before was told by the files of another controller, and measured by nobody here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// Where the run is to work, if it has a worktree to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<Worktree>>,
    /// What the input is called by people: `Phase 3: Accounts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
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
    /// How often phases had rejected the work under another controller, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejections: BTreeMap<String, u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
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
}

impl Opening {
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

/// One process for ever: pids are used again, and machines restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionProcess {
    pub pid: i32,
    pub start: u64,
    pub boot: String,
}

/// How a phase came to be entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The phase before was left by its exit rule.
    Passed,
    /// The rejecting phase sent the work back.
    Rejected,
    /// A person skipped the phase before.
    Skipped,
    /// A person at a gate asked for changes.
    Changes { gate: String, text: String },
    /// A person answered a rejection with guidance.
    Fixed { text: String },
    /// The proof found something, or a person wants more than was proven.
    Unproven { why: Vec<String>, by_person: bool },
    /// The body begins with its next item.
    NextItem,
    /// The body has no item left.
    NoItems,
    /// A person named the phase.
    Moved,
}

/// How a call ended, and what it said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub call: u32,
    pub ending: Ending,
    pub report: Report,
    #[serde(default)]
    pub usage: Usage,
    pub ms: Millis,
    pub bytes: u64,
    /// How many processes it had left behind, which were ended.
    #[serde(default)]
    pub swept: u32,
    /// What could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
    /// The end of what it said, for people and for the next prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// How much of the plan is used up, where the agent warns of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The documents that its prompt brought along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Briefing>,
}

/// How a call came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It ended by itself and well.
    Done,
    /// It ended by itself and badly: what the agent or its exit status says.
    Failed { why: String },
    /// One of its time limits ran out.
    TimedOut { why: String },
    /// It fell silent and was ended, and there was evidence that it waited for a person.
    WaitedForInput { why: String },
    /// A person or a signal ended it.
    Interrupted,
    /// It was never started; nothing was spent.
    NotStarted,
    /// It was started, and nobody knows how it ended.
    Lost { why: String },
    /// The provider refused it; it did no work.
    Limited { why: String, until: Option<Timestamp> },
    /// The provider refused it, and only a person can change that: no login, no money.
    Refused { why: String },
    /// It was never started, because where it was to work is not fit for it; a person has to look.
    Barred { why: String },
    /// The provider could not be reached, or was lost on the way.
    Unreachable { why: String },
}

/// The documents that a prompt brought along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Briefing {
    /// SHA-256 of the text.
    pub hash: String,
    pub bytes: u64,
    /// What was left out for want of room, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// What a call used up, as far as the agent says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens: u64,
    pub usd: f64,
}

/// A process that could not be ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub pid: i32,
    pub name: String,
}

/// What an iteration comes to, with everything that decided it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// First half of the exit rule: the condition.
    pub exit: Truth,
    /// Second half: the agent asked to leave.
    pub signal: bool,
    /// What keeps the phase from being left, in words with values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    pub progress: bool,
    /// The iteration brought no report, or a claim that did not hold.
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub metrics: BTreeMap<String, Metric>,
    /// What a checkpoint lists to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Full passes of the tests since the last failure.
    #[serde(default)]
    pub green_runs: u32,
    /// What was odd about the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Both halves of the exit rule hold.
    Leave,
    /// The phase's next skill is due.
    Step,
    Again,
    /// A failure that `[retries]` deals with.
    Fail,
    Reject,
    /// The agent says that it cannot go on.
    Stuck(String),
    /// The agent stopped at a checkpoint of this kind.
    Checkpoint(CheckpointKind),
}

/// What went wrong in an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: String,
    pub signature: String,
    /// The first 500 characters.
    pub text: String,
}

/// A run that could go on but does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub kind: HoldKind,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldKind {
    Stopped,
    Paused,
    Capped,
    Halted,
}

/// How a run ended for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Completed,
    Cancelled,
}
