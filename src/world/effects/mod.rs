//! One file for each kind of effect that [`super::real::Host`] performs: calls with their caps and their
//! ending, worktrees, items, notifications, proof steps, landings, approvals, the end of a run, undoing a lost call. Which effect comes next is
//! decided in the core; what agents wrote is read in `agent_output`.

mod agent_times;
pub(crate) mod approval;
mod briefing;
mod call_ending;
pub(crate) mod calls;
pub(crate) mod caps;
mod finish_run;
mod foreign;
mod items;
mod landing;
mod notify;
pub(crate) mod proving;
pub(crate) mod slots;
mod undo_lost;
mod workspace;
