//! Which phase of a workflow the format calls GREEN. It is found by what it is for, so a workflow may call it
//! something else.

use loop_core::workflow::model::{Model, PhaseId, Workflow};

/// Returns the phase that `green_model` tells of: whose model a reviewer must not have, or else the one that repairs
/// what a review rejects.
pub(super) fn implementing_phase(workflow: &Workflow) -> Option<PhaseId> {
    let differs = workflow.phases.iter().find_map(|it| match &it.model {
        Some(Model::Differing { other_than, .. }) => Some(*other_than),
        Some(Model::Named(_)) | None => None,
    });
    differs.or_else(|| workflow.phases.iter().find_map(|it| it.reject.as_ref()).map(|it| it.go))
}
