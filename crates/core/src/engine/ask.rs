//! Questions as decisions.

use super::decision::Decision;
use super::effect::Effect;
use super::question::{Question, QuestionKind};
use super::state::State;
use loop_base::time::Timestamp;

pub(super) fn ask(state: &State, kind: QuestionKind, text: String, deadline: Option<Timestamp>) -> Decision {
    ask_among(state, kind, text, deadline, Vec::new())
}

/// Asks a question that has its own choices.
pub(super) fn ask_among(
    state: &State,
    kind: QuestionKind,
    text: String,
    deadline: Option<Timestamp>,
    options: Vec<String>,
) -> Decision {
    Decision::Perform(Effect::Ask(Question { id: state.questions + 1, kind, text, options, deadline }))
}
