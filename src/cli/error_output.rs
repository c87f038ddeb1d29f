//! Prints what could not be done: the thing, the next step, and as JSON the exit code too.

use super::json;
use crate::desk::Refusal;
use loop_base::text::sanitise;
use std::process::ExitCode;

/// Prints an error and returns its exit code.
pub(crate) fn tell(error: anyhow::Error, is_json: bool) -> ExitCode {
    let Refusal { text, next, exit } = Refusal::from(error);
    let next = next.map(|it| repeated(&it, std::env::args().skip(1)));
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

/// Puts the person's own words into a step that only adds flags to `loop run`: the command works when
/// it is pasted, and loses nothing of what was typed.
fn repeated(next: &str, typed: impl Iterator<Item = String>) -> String {
    let typed: Vec<String> = typed.collect();
    match next.strip_prefix("loop run --") {
        Some(flags) if typed.first().is_some_and(|it| it == "run") => {
            let words: Vec<String> = typed.iter().map(|it| shell_word(it)).collect();
            format!("loop {} --{flags}", sanitise(&words.join(" ")))
        }
        _ => next.to_owned(),
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+,:@%=".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    match word.contains(['"', '$', '`', '\\', '!']) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => format!("\"{word}\""),
    }
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

#[cfg(test)]
mod tests {
    use super::repeated;

    #[test]
    fn what_was_typed_stands_in_the_next_step() {
        let next = |step: &str, typed: &[&str]| repeated(step, typed.iter().map(|it| (*it).to_owned()));
        let step = "loop run --agent-cmd \"PROGRAM ARGS\"";
        assert_eq!(
            next(step, &["run", "fix the dates", "--max", "3"]),
            "loop run \"fix the dates\" --max 3 --agent-cmd \"PROGRAM ARGS\""
        );
        assert_eq!(next(step, &["run", "$HOME's"]), "loop run '$HOME'\\''s' --agent-cmd \"PROGRAM ARGS\"");
        assert_eq!(next(step, &["init", "it"]), step);
        assert_eq!(next("loop status", &["run", "it"]), "loop status");
    }
}
