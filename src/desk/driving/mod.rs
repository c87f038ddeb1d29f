//! Runs that are begun or gone on with: opened, adopted, resumed, reloaded, looked at again, driven
//! until they stop, or worked on by a session of the agent. What may speak against it was settled in
//! `obstacles`.

mod adopt;
pub(super) mod detached;
pub(super) mod driver;
mod git_programs;
pub(super) mod open;
mod prerequisites;
pub(super) mod recheck;
mod reload;
pub(super) mod resume;
pub(super) mod session;
pub(super) mod verify_record;
mod workflow_edits;
