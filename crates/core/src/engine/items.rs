//! What a body of phases repeats over. Consecutive phases with the same `each` form a body; when
//! its last phase is left the item is done, and the list is read again before the next.

use super::event::Item;
use super::state::State;
use crate::workflow::model::{ItemSource, PhaseId, Workflow};

/// How the ids of items begin that no list has: work that was sent back when every item was done.
pub(super) const FEEDBACK: &str = "gate feedback ";

/// Returns the first and the last phase of the body that `phase` belongs to.
pub(super) fn body(workflow: &Workflow, phase: PhaseId) -> Option<(PhaseId, PhaseId)> {
    let each = workflow.phases[phase].each.as_ref()?;
    let belongs = |id: &PhaseId| workflow.phases[*id].each.as_ref() == Some(each);
    let first = (0..=phase).rev().take_while(belongs).last()?;
    let last = (phase..workflow.phases.len()).take_while(belongs).last()?;
    Some((first, last))
}

/// Returns the whole list. A job whose queue entry names no items has those that a report proposed,
/// else one that is named like the job.
pub(super) fn all(workflow: &Workflow, state: &State, listed: &[Item]) -> Vec<Item> {
    let from_queue = workflow.items.as_ref().is_some_and(|it| matches!(it.from, ItemSource::Queue(_)));
    if !listed.is_empty() || !from_queue {
        return listed.to_vec();
    }
    let named = |name: &String| Item { id: name.clone(), name: name.clone() };
    if state.items_proposed.is_empty() {
        return vec![named(&state.opening.input)];
    }
    state.items_proposed.iter().map(named).collect()
}

/// Returns how many items of the list are done.
pub(super) fn completed(state: &State) -> usize {
    state.items_done.iter().filter(|it| !it.starts_with(FEEDBACK)).count()
}
