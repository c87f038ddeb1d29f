//! The pieces of the state: where a run is within an iteration, what it has spent, how often it failed, its
//! list of items. Each is a value that can be read, stored and compared alone. What needs the whole state
//! does not belong here.

pub(crate) mod breaker;
pub(crate) mod call_window;
pub(crate) mod feedback;
pub(crate) mod item_list;
pub(crate) mod retry;
pub(crate) mod spent;
pub(crate) mod station;
pub(crate) mod troubles;
pub(crate) mod visit;
