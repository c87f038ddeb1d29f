//! Questions as decisions.

use crate::engine::journal::decision::Decision;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::people::question::{Question, QuestionKind};
use crate::engine::state::run_state::State;
use loop_base::time::Timestamp;

pub(crate) fn ask(state: &State, kind: QuestionKind, text: String, deadline: Option<Timestamp>) -> Decision {
    ask_among(state, kind, text, deadline, Vec::new())
}

/// Asks a question that has its own choices.
pub(crate) fn ask_among(
    state: &State,
    kind: QuestionKind,
    text: String,
    deadline: Option<Timestamp>,
    options: Vec<String>,
) -> Decision {
    let (id, about) = (state.questions + 1, None);
    Decision::Perform(Effect::Ask(Question { id, kind, text, options, about, deadline }))
}
