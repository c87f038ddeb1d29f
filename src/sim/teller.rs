//! What is known of a story while it is told.

use super::Sim;
use loop_core::engine::Opening;
use loop_core::workflow::model::Workflow;
use loop_store::run::Run;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) struct Teller {
    pub(super) opening: Opening,
    pub(super) run: Option<Run>,
    pub(super) workflow: Workflow,
    pub(super) sim: Sim,
    /// The prompt of the last call.
    pub(super) prompt: Rc<RefCell<String>>,
    pub(super) from: Option<String>,
}
