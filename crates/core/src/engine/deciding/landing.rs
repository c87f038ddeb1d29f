//! The merge train: what follows when only the merge is left. The work is merged, the merged tree is proven,
//! the target is moved; work that does not go together with what others have landed goes back to be done
//! again, and what is in the way is asked about.

use super::ask::ask;
use crate::engine::journal::calls::ending::How;
use crate::engine::journal::closing::landing::{Landing, Train};
use crate::engine::journal::decision::Decision;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::event::Event;
use crate::engine::journal::people::question::{CheckpointKind, Question, QuestionKind};
use crate::engine::state::apply::LOOK_EVERY_MS;
use crate::engine::state::run_state::State;
use crate::workflow::model::{Phase, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;

/// So often work goes back by itself because it conflicts with what was merged since it began.
pub(crate) const LANDING_RETURNS_MOST: u32 = 3;

/// How often a merge that the remote refused is made again without asking.
pub(crate) const REJECTIONS_MOST: usize = 3;

/// Only the merge is left: the work is brought there, or somebody else is asked to, and then asked again
/// whether it was done.
pub(super) fn land(workflow: &Workflow, phase: &Phase, state: &State, now: Timestamp) -> Decision {
    let name = &phase.name;
    let landing = |why: &str, again| {
        ask(state, QuestionKind::Landing, format!("{name}: the merge waits: {why}"), again)
    };
    let rejections = state.train.as_ref().map_or(&[][..], |it| &it.rejections);
    if REJECTIONS_MOST <= rejections.len() && state.landing.is_none() {
        let told: Vec<String> =
            rejections.iter().enumerate().map(|(at, it)| format!("\n  {}. {it}", at + 1)).collect();
        let times = counted(rejections.len(), "time");
        return landing(&format!("the remote refused it {times}:{}", told.concat()), None);
    }
    match &state.landing {
        None | Some(Landing::Merged { .. } | Landing::Clear | Landing::Reverted { .. }) => {
            Decision::Perform(next_step(state.train.as_ref()))
        }
        Some(Landing::Requested { at }) => {
            let text = format!("{name}: the pull request is not merged: {at}");
            let again = Some(now.plus(LOOK_EVERY_MS));
            ask(state, QuestionKind::Checkpoint(CheckpointKind::Merge), text, again)
        }
        Some(Landing::Not { why, .. }) => {
            ask(state, QuestionKind::Blocked, format!("{name}: not merged: {why}"), None)
        }
        Some(Landing::Red { why, .. }) => ask(state, QuestionKind::Blocked, format!("{name}: {why}"), None),
        Some(Landing::Waits { why }) => landing(why, Some(now.plus(LOOK_EVERY_MS))),
        Some(Landing::Foreign { why, .. }) => landing(why, None),
        Some(Landing::Collides { why }) if state.landing_returns < LANDING_RETURNS_MOST => {
            Decision::Record(Event::Entered {
                phase: workflow.proof.go,
                how: How::Collided { why: why.clone() },
            })
        }
        Some(Landing::Collides { why }) => {
            let times = counted(state.landing_returns, "time");
            let text = format!("{name}: not merged, and sent back {times} for nothing: {}", why.join("; "));
            ask(state, QuestionKind::Blocked, text, None)
        }
    }
}

fn next_step(train: Option<&Train>) -> Effect {
    match train.and_then(|it| Some((it.merge.clone()?, it.proven))) {
        None => Effect::Land,
        Some((_, false)) => Effect::ProveMerge,
        Some((merge, true)) => Effect::Move(merge),
    }
}

/// Whether a look at the world may answer the question.
pub(super) fn waits_for_merge(state: &State, question: &Question) -> bool {
    match (&question.kind, &state.landing) {
        (QuestionKind::Checkpoint(CheckpointKind::Merge), Some(Landing::Requested { .. })) => true,
        (QuestionKind::Landing, Some(Landing::Waits { .. })) => true,
        (_, _) => false,
    }
}
