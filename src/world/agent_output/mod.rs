//! What an agent leaves behind and what is read from it: its output while it works, its last message,
//! the logs of its own program, and how long all of that is kept. Starting and ending a call belongs
//! to `effects`.

pub(crate) mod call_cause;
pub(crate) mod codex_rollout;
pub(crate) mod final_message;
pub(crate) mod live_output;
pub(crate) mod trim_logs;
