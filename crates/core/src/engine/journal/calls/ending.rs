//! How a call ended and what it left: it is written to the journal, so it only ever grows.

use super::usage::Usage;
use crate::report::Report;
use crate::workflow::model::Millis;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

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
    /// What was merged in the meantime and the work do not go together.
    Collided { why: Vec<String> },
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
    /// Whether something of it may live that nobody can find: those who would know were killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncontained: bool,
    /// What could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftProcess>,
    /// The end of what it said, for people and for the next prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// How much of the plan is used up, where the agent warns of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The documents that its prompt brought along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Briefing>,
    /// The model that answered, as the agent's stream names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's own name for the session, with which its CLI opens it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The last line on standard error of a call that did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    /// Which tools it was not allowed to use, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
    /// Commits of work that it made, newest first, where nobody judges it; capped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

impl Ended {
    /// A call that ended like this and of which nothing else is known: it took no time and left nothing.
    pub fn plain(call: u32, ending: Ending, report: Report) -> Ended {
        Ended {
            call,
            ending,
            report,
            usage: Usage::default(),
            ms: 0,
            bytes: 0,
            swept: 0,
            uncontained: false,
            left: Vec::new(),
            tail: String::new(),
            warning: None,
            context: None,
            model: None,
            session: None,
            complaint: None,
            denied: None,
            commits: Vec::new(),
        }
    }

    /// Whether a call may have cost something. A provider that refused a call did no work for it, unless
    /// the agent counted some.
    pub fn is_charged(&self) -> bool {
        match &self.ending {
            Ending::NotStarted | Ending::Barred { .. } => false,
            Ending::Limited { .. } | Ending::Refused { .. } | Ending::Unreachable { .. } => {
                self.usage.tokens.total() != 0
            }
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::CutOff { .. }
            | Ending::WaitedForInput { .. }
            | Ending::Interrupted
            | Ending::Lost { .. } => true,
        }
    }
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
    /// It used up what it was allowed to, and was ended: tokens, money, turns, or the run's time.
    CutOff { why: String },
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
    /// It could not work, and another try cannot mend that: no login, no money, no such model.
    Refused { why: String },
    /// It was never started, because where it was to work is not fit for it; a person has to look.
    Barred { why: String },
    /// The provider could not be reached, was lost on the way, or cannot serve anybody at the moment.
    Unreachable { why: String },
}

impl Ending {
    /// Returns what kept the call from ending well, where that is known.
    pub fn why(&self) -> Option<&str> {
        match self {
            Ending::Done | Ending::Interrupted | Ending::NotStarted => None,
            Ending::Failed { why }
            | Ending::TimedOut { why }
            | Ending::CutOff { why }
            | Ending::WaitedForInput { why }
            | Ending::Lost { why }
            | Ending::Limited { why, .. }
            | Ending::Refused { why }
            | Ending::Barred { why }
            | Ending::Unreachable { why } => Some(why),
        }
    }
}

/// A process that could not be ended. Pid, start time and boot name it; its name is for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftProcess {
    pub pid: i32,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}
