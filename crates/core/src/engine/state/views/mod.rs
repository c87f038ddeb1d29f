//! What others want to know about a state: its status and exit code, its history and forecast, what it
//! would be approved for, which call is due. Views change nothing.

mod approval_subject;
mod capped_cost;
pub(crate) mod forecast;
pub(crate) mod history;
pub(crate) mod judged_turn;
pub(crate) mod moment;
pub(crate) mod next_call;
pub(crate) mod run_command;
pub(crate) mod skill_history;
pub(crate) mod status;
