//! What people say to a run, as it is written down: commands, answers, and the words that answer a
//! question. Whether a command is acceptable is told in `answer.rs`.

use super::approval::Signature;
use super::question::{Question, QuestionKind};
use crate::open_words::open_words;
use crate::workflow::model::PhaseId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    Answer(Answer),
    Guide {
        text: String,
    },
    /// Accepts what a proof found: a test id, a path, a glob, a requirement, or `*` for everything.
    Waive {
        what: String,
        reason: String,
        #[serde(default)]
        by: String,
    },
    Skip {
        skill: String,
        reason: String,
    },
    /// After this iteration.
    Stop,
    /// The provider is asked again at once.
    Unhold,
    /// At once; the call is ended.
    Pause {
        reason: String,
    },
    Cancel,
    /// Something was tried from inside an agent call and refused.
    Tried {
        what: String,
    },
    Resume {
        reset: bool,
        phase: Option<PhaseId>,
        most: Option<u32>,
        /// How many retries of the failure count as used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retries: Option<u32>,
    },
}

impl Command {
    /// Whether a call that is under way ends because of it.
    pub fn is_urgent(&self) -> bool {
        match self {
            Command::Pause { .. } | Command::Cancel => true,
            Command::Answer(_)
            | Command::Guide { .. }
            | Command::Waive { .. }
            | Command::Skip { .. }
            | Command::Stop
            | Command::Unhold
            | Command::Tried { .. }
            | Command::Resume { .. } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub question: u32,
    pub choice: Choice,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub by: String,
    /// For a gate that asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Box<Signature>>,
}

open_words! {
    /// How a question is answered. In journals it is the word itself.
    pub enum Choice {
        Reset = "reset",
        Skip = "skip",
        Abort = "abort",
        Modify = "modify",
        Fix = "fix",
        Wait = "wait",
        Continue = "continue",
        Approve = "approve",
        Changes = "changes",
        Reject = "reject",
        Resume = "resume",
        Done = "done",
        Command = "command",
        Waive = "waive",
        Accept = "accept",
        Back = "back",
        Retry = "retry",
        Model = "model",
        /// Nobody answered in time.
        Expired = "expired",
        ;
        /// One of the options that the question lists; before [`acceptable`], whatever a person typed.
        Other
    }
}

impl Answer {
    /// What stands for the answer of a question whose time ran out.
    pub(crate) fn expired() -> Answer {
        Answer {
            question: 0,
            choice: Choice::Expired,
            text: String::new(),
            by: String::new(),
            signature: None,
        }
    }
}

/// Returns the words that answer a question; the first letter of each will do where no other has it.
pub fn choices(question: &Question) -> Vec<&str> {
    if !question.options.is_empty() {
        return question.options.iter().map(String::as_str).collect();
    }
    choices_of(&question.kind).iter().map(Choice::word).collect()
}

/// Returns the words that answer a question of this kind.
pub(crate) fn choices_of(kind: &QuestionKind) -> &'static [Choice] {
    match kind {
        QuestionKind::Breaker => &[Choice::Reset, Choice::Skip, Choice::Abort, Choice::Modify],
        QuestionKind::Rejected => &[Choice::Fix, Choice::Skip, Choice::Abort],
        QuestionKind::Hourly => &[Choice::Wait, Choice::Continue, Choice::Abort],
        QuestionKind::Gate(_) => &[Choice::Approve, Choice::Changes, Choice::Reject],
        QuestionKind::Blocked => &[Choice::Resume],
        QuestionKind::Checkpoint(_) => &[Choice::Done],
        QuestionKind::Check(_) => &[Choice::Command],
        QuestionKind::Proof => &[Choice::Waive, Choice::Back, Choice::Abort],
        QuestionKind::Unproven => &[Choice::Accept, Choice::Back, Choice::Abort],
        QuestionKind::Prepare | QuestionKind::Prerequisite(_) => &[Choice::Command, Choice::Skip],
        QuestionKind::Agent => &[Choice::Retry, Choice::Model, Choice::Abort],
        QuestionKind::Landing => &[Choice::Retry, Choice::Abort],
    }
}
