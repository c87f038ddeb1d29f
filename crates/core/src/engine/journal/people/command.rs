//! What people say to a run, as it is written down: commands, answers, and the words that answer a
//! question. Whether a command is acceptable is told in `answer.rs`.

use super::approval::Signature;
use super::question::{Question, QuestionKind};
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

/// How a question is answered. In journals it is the word itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Choice {
    Reset,
    Skip,
    Abort,
    Modify,
    Fix,
    Wait,
    Continue,
    Approve,
    Changes,
    Reject,
    Resume,
    Done,
    Command,
    Waive,
    Accept,
    Back,
    Retry,
    Model,
    /// Nobody answered in time.
    Expired,
    /// One of the options that the question lists; before [`acceptable`], whatever a person typed.
    Other(String),
}

impl Choice {
    pub fn word(&self) -> &str {
        match self {
            Choice::Reset => "reset",
            Choice::Skip => "skip",
            Choice::Abort => "abort",
            Choice::Modify => "modify",
            Choice::Fix => "fix",
            Choice::Wait => "wait",
            Choice::Continue => "continue",
            Choice::Approve => "approve",
            Choice::Changes => "changes",
            Choice::Reject => "reject",
            Choice::Resume => "resume",
            Choice::Done => "done",
            Choice::Command => "command",
            Choice::Waive => "waive",
            Choice::Accept => "accept",
            Choice::Back => "back",
            Choice::Retry => "retry",
            Choice::Model => "model",
            Choice::Expired => "expired",
            Choice::Other(word) => word,
        }
    }
}

impl From<String> for Choice {
    fn from(word: String) -> Choice {
        match word.as_str() {
            "reset" => Choice::Reset,
            "skip" => Choice::Skip,
            "abort" => Choice::Abort,
            "modify" => Choice::Modify,
            "fix" => Choice::Fix,
            "wait" => Choice::Wait,
            "continue" => Choice::Continue,
            "approve" => Choice::Approve,
            "changes" => Choice::Changes,
            "reject" => Choice::Reject,
            "resume" => Choice::Resume,
            "done" => Choice::Done,
            "command" => Choice::Command,
            "waive" => Choice::Waive,
            "accept" => Choice::Accept,
            "back" => Choice::Back,
            "retry" => Choice::Retry,
            "model" => Choice::Model,
            "expired" => Choice::Expired,
            _ => Choice::Other(word),
        }
    }
}

impl From<Choice> for String {
    fn from(choice: Choice) -> String {
        choice.to_string()
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
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
