//! One file for each kind of effect that [`super::real::Host`] performs: `calling/` an agent call from its prompt to
//! its end, `closing/` proof steps, landings and the end of a run; beside them worktrees, items, notifications and
//! approvals. Which effect comes next is decided in the core; what agents wrote is read in `agent_output`.

mod agent_times;
pub(crate) mod approval;
pub(crate) mod calling;
pub(crate) mod closing;
mod foreign;
mod items;
mod notify;
mod workspace;
