//! Where a run stands: the fold of its journal, what is kept beside it (breaker, retries, lists,
//! history), what it is called outside, and the call that would come next. Nothing is decided here.

pub(super) mod again;
mod apply;
pub(super) mod breaker;
pub(super) mod call;
mod call_window;
pub(super) mod feedback;
pub(super) mod history;
pub(super) mod item_list;
pub(super) mod items;
mod model_family;
mod proof_taken;
mod requirements;
pub(super) mod retry;
pub(super) mod state;
pub(super) mod station;
pub(super) mod status;
mod subject;
pub(super) mod troubles;
pub(super) mod turn;
pub(super) mod visit;

pub(super) use apply::LOOK_EVERY_MS;
