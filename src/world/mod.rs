//! The real `World`: joins the supervisor, the working tree, measuring and delivery. It decides
//! nothing; whatever goes wrong with an agent, a check or git becomes an event.

mod agent_times;
pub(crate) mod approval;
mod asked_for;
mod before_call;
mod beside;
mod briefing;
mod call_cause;
mod call_ending;
pub(crate) mod calls;
pub(crate) mod caps;
mod codex_rollout;
mod final_message;
mod finish_run;
pub(crate) mod live_output;
mod money;
mod opencode_log;
pub(crate) mod price_list;
pub(crate) mod proving;
pub(crate) mod question_text;
pub(crate) mod real;
pub(crate) mod shim;
pub(crate) mod trim_logs;
mod undo_lost;
pub(crate) mod wait;
