//! The texts that each iteration adds to a session: its status block, and its review. They are
//! written once, so they are kept only until they are written. Also which facts change the files.

use super::{block, review};
use loop_base::time::Timestamp;
use loop_core::engine::{Command, Effect, Ending, Event, JudgedTurn, State};
use loop_core::workflow::model::Workflow;

/// Texts that nobody has written yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fresh {
    pub blocks: String,
    /// Number and text.
    pub reviews: Vec<(u32, String)>,
}

impl Fresh {
    /// Adds the texts of an iteration; `state` is the one that its judgement led to.
    pub(super) fn add(&mut self, workflow: &Workflow, state: &State, at: Timestamp, turn: &JudgedTurn) {
        if let Some(number) = turn.review {
            self.reviews.push((number, review::text(workflow, state, at, turn)));
        }
        self.blocks.push_str(&block::text(workflow, state, at, turn));
    }
}

/// Whether the files change with this fact.
pub(super) fn is_shown(event: &Event) -> bool {
    match event {
        Event::Opened(_)
        | Event::Judged(_)
        | Event::Entered { .. }
        | Event::Waits { .. }
        | Event::Woke
        | Event::Reset { .. }
        | Event::Granted { .. }
        | Event::Skipped { .. }
        | Event::Held(_)
        | Event::Closed(_)
        | Event::Began(Effect::Work(_) | Effect::Ask(_) | Effect::Finish) => true,
        Event::Commanded(command) => !matches!(command, Command::Guide { .. } | Command::Skip { .. }),
        Event::Ended(ended) => {
            matches!(
                ended.ending,
                Ending::Limited { .. }
                    | Ending::Unreachable { .. }
                    | Ending::NotStarted
                    | Ending::Barred { .. }
            )
        }
        _ => false,
    }
}
