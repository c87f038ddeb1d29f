//! Commands before and beside a run: what is installed and allowed on this machine, the files that a
//! project gets, workflows that are read, explained and played. None of them works on a run; the hooks
//! that an agent calls are here because they are part of its settings.

mod agent_test;
pub(super) mod agents;
pub(super) mod check;
pub(super) mod completions;
pub(super) mod design;
pub(super) mod doctor;
mod findings;
pub(super) mod hook;
pub(super) mod limits;
pub(super) mod man;
mod new_files;
mod planning_files;
pub(super) mod presets;
pub(super) mod setup;
pub(super) mod simulate;
