//! `system-queue.json`: the systems of a domain, their dependencies and how far each of them is. The file
//! is read and written; a person may edit it at any time, and what an edit may change is told in `merge`.
//! Whether the systems of a queue fit together is told in `graph`.

pub mod entry;
pub mod graph;
pub mod merge;
pub mod status;

pub use entry::{SystemEntry, SystemQueue};
pub use status::JobStatus;
