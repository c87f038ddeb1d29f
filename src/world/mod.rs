//! The real `World`: joins the supervisor, the working tree, measuring and delivery. It decides
//! nothing; whatever goes wrong with an agent, a check or git becomes an event.

mod agent_times;
pub(crate) mod approval;
mod before_call;
mod beside;
mod briefing;
mod call_cause;
pub(crate) mod calls;
mod codex_rollout;
mod final_message;
mod finish_run;
pub(crate) mod live_output;
mod opencode_log;
pub(crate) mod proving;
pub(crate) mod question_text;
pub(crate) mod real;
pub(crate) mod shim;
pub(crate) mod trim_logs;
mod undo_lost;
pub(crate) mod wait;
