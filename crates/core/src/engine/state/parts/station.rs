//! Where a run is within an iteration, and what it waits for.

use crate::engine::journal::calls::ending::Ended;
use crate::engine::journal::effect::Call;
use crate::engine::journal::hold::{Outcome, Wait};
use crate::engine::journal::measured::evidence::Evidence;
use crate::engine::journal::measured::judgement::Judgement;
use crate::engine::journal::people::command::Answer;
use crate::engine::journal::people::question::Question;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The stations of one iteration, in the order they are visited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Station {
    #[default]
    Ready,
    Working(Call),
    Reported(Turn),
    Measured(Turn, Box<Evidence>),
    Judged(Box<Judgement>),
    /// An item is done; the list says whether the body begins again.
    Between,
    /// The exit rule holds; gates and the route are left.
    Leaving {
        how: Leave,
    },
    Waiting {
        question: Question,
        answer: Option<Answer>,
    },
    Finishing,
    Finished,
    Closed(Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leave {
    Passed,
    Skipped,
}

/// A call that ended, and what it said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub call: Call,
    pub ended: Box<Ended>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub until: Timestamp,
    pub why: String,
    pub wait: Wait,
}

/// What a person wants to happen as soon as it can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    Stop,
    Pause { reason: String },
    Cancel,
}
