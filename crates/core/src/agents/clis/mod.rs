//! One file for each CLI: how its command line is made, and what the lines of its stream mean. `command.rs` is
//! any program, `described.rs` one that a file describes. What a CLI needs that others need too (finding the
//! program, counting tokens, judging a failure) is outside.

pub(super) mod claude;
pub(super) mod codex;
pub(super) mod command;
pub(super) mod described;
pub(super) mod gemini;
pub(super) mod opencode;
