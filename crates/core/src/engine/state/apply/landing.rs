//! How far the work has come outside.

use crate::engine::journal::closing::landing::{Landing, LandingStep};
use crate::engine::journal::people::command::Answer;
use crate::engine::journal::people::question::{CheckpointKind, QuestionKind};
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
                self.train = None;
                self.delivered = Some(commit.clone());
                self.station = Station::Leaving { how: Leave::Passed };
            }
            Landing::Requested { at: seen } | Landing::Waits { why: seen } => {
                // What was merged and proven is not what will be landed.
                self.forget_merge();
                let mut said = None;
                if let Station::Waiting { question, answer } = &mut self.station {
                    question.deadline = Some(at.plus(LOOK_EVERY_MS));
                    said = answer.take();
                }
                if let Some(said) = said {
                    self.warn(format!("{} answered {}, but it is not merged: {seen}", said.by, said.choice));
                }
            }
            Landing::Not { .. }
            | Landing::Red { .. }
            | Landing::Collides { .. }
            | Landing::Foreign { .. } => {
                self.forget_merge();
                // The question that waited for a merge is over; what stands against it is asked instead.
                let waited =
                    was.is_some_and(|it| matches!(it, Landing::Requested { .. } | Landing::Waits { .. }));
                if waited || self.asks_for_merge() {
                    self.land_again();
                }
            }
            Landing::Clear => self.land_again(),
            Landing::Reverted { .. } => (),
        }
    }

    /// Whether a person is asked to merge, also by an older program that knew of no landing.
    fn asks_for_merge(&self) -> bool {
        let merge = QuestionKind::Checkpoint(CheckpointKind::Merge);
        matches!(&self.station, Station::Waiting { question, .. } if question.kind == merge)
    }

    /// A step of the landing was taken.
    pub(super) fn step_landing(&mut self, step: &LandingStep) {
        let train = self.train.get_or_insert_default();
        match step {
            LandingStep::Queued { behind } => train.behind = Some(behind.clone()),
            LandingStep::Merged(merge) => {
                train.behind = None;
                train.proven = false;
                train.merge = Some(merge.clone());
            }
            LandingStep::Proven { by: _ } => train.proven = true,
            LandingStep::StartedOver { why, rejected } => {
                train.rejections.extend(rejected.then(|| why.clone()));
                self.forget_merge();
            }
            LandingStep::Again => {
                train.rejections.clear();
                if let Some(Landing::Foreign { to, .. }) = &self.landing {
                    self.target_trusted = Some(to.clone());
                }
                self.land_again();
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

    fn forget_merge(&mut self) {
        if let Some(train) = &mut self.train {
            (train.merge, train.proven) = (None, false);
        }
    }

    /// The phase is looked at once more, and then the work is landed.
    fn land_again(&mut self) {
        self.forget_merge();
        self.visit.looked = false;
        self.withdrawn = false;
        if !matches!(self.landing, Some(Landing::Not { .. } | Landing::Red { .. } | Landing::Collides { .. }))
        {
            self.landing = None;
        }
        self.station = Station::Ready;
    }
}
