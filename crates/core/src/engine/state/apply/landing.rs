//! How far the work has come outside.

use crate::engine::journal::command::Answer;
use crate::engine::journal::landing::Landing;
use crate::engine::state::parts::station::{Leave, Station};
use crate::engine::state::run_state::State;
use loop_base::time::Timestamp;

/// How often somebody looks whether the work was merged: as often as the seed does. A merge waits for a
/// person, who takes longer than that.
pub(crate) const LOOK_EVERY_MS: u64 = 60_000;

impl State {
    /// Work that is merged lets its phase be left; a question that waits for that is looked at again later.
    pub(super) fn land(&mut self, at: Timestamp, landing: &Landing) {
        let was = self.landing.replace(landing.clone());
        match landing {
            Landing::Merged { into: _, commit } => {
                self.delivered = Some(commit.clone());
                self.station = Station::Leaving { how: Leave::Passed };
            }
            Landing::Requested { .. } => {
                if let Station::Waiting { question, .. } = &mut self.station {
                    question.deadline = Some(at.plus(LOOK_EVERY_MS));
                }
            }
            Landing::Not { .. } => {
                // The question that waited for a merge is over; what stands against it is asked instead.
                if was.is_some_and(|it| matches!(it, Landing::Requested { .. })) {
                    self.visit.looked = false;
                    self.station = Station::Ready;
                }
            }
        }
    }

    /// A gate that is asked outside was looked at there. What somebody said is an answer like any other.
    pub(super) fn hear_from_outside(
        &mut self,
        at: Timestamp,
        place: Option<&String>,
        answer: Option<&Answer>,
        trouble: Option<&String>,
    ) {
        self.look_at = Some(at.plus(LOOK_EVERY_MS));
        self.asked_at = place.cloned().or(self.asked_at.take());
        self.look_trouble = trouble.cloned();
        if let Some(answer) = answer {
            self.take_answer(answer);
        }
    }
}
