//! Prints what could not be done: the thing, the next step, and as JSON the exit code too.

use super::json;
use crate::desk::Refusal;
use loop_base::text::sanitise;
use std::process::ExitCode;

/// Prints an error and returns its exit code.
pub(crate) fn tell(error: anyhow::Error, is_json: bool) -> ExitCode {
    let Refusal { text, next, exit } = Refusal::from(error);
    let text = sanitise(&text);
    if is_json {
        let object = serde_json::json!({
            "status": status(exit), "reason": text, "next_step": next, "exit": exit, "error": text,
        });
        println!("{}", json::line(&object));
    }
    eprintln!("loop: {text}");
    if let Some(next) = next {
        eprintln!("next: {next}");
    }
    ExitCode::from(exit)
}

/// Returns the word of the run that an exit code speaks of; the other codes speak of none.
fn status(exit: u8) -> Option<&'static str> {
    match exit {
        3 => Some("waiting"),
        4 => Some("halted"),
        5 => Some("paused"),
        6 => Some("capped"),
        7 => Some("running"),
        _ => None,
    }
}
