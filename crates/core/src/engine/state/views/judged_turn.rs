//! An iteration that was judged, for whoever writes about it.

use crate::engine::journal::effect::{Call, Step};
use crate::engine::journal::measured::judgement::{Judgement, Verdict};
use crate::facts::FactName;
use crate::report::Report;
use loop_base::value::Value;

/// An iteration that was judged just now, with what its call had said.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTurn {
    pub call: Call,
    pub report: Report,
    /// The end of what the agent said; empty unless its call ended well.
    pub tail: String,
    pub judgement: Judgement,
    pub opens_breaker: bool,
    /// The number of the review that it was.
    pub review: Option<u32>,
}

impl JudgedTurn {
    /// Returns the skill that the call was for.
    pub(crate) fn skill(&self) -> Option<&str> {
        match &self.call.step {
            Step::Skill(skill) | Step::Fix(skill) => Some(skill),
            Step::Main => None,
        }
    }

    /// Whether the call did what it was for.
    pub(crate) fn is_done(&self) -> bool {
        match &self.judgement.verdict {
            Verdict::Leave | Verdict::Step | Verdict::Reject | Verdict::Checkpoint(_) => true,
            Verdict::Again | Verdict::Fail | Verdict::Stuck(_) => false,
        }
    }

    /// Returns the reviewer's own word, where it gave one.
    pub fn verdict(&self) -> Option<&Value> {
        self.judgement.metrics.get(FactName::Verdict.name()).map(|it| &it.value)
    }
}
