//! Prints what could not be done: the thing, the next step, and as JSON the exit code too.

use super::{context, hint, json};
use crate::desk::{NO_INPUT_STEP, NextStep, Refusal, WORKTREE_STEP};
use loop_base::text::{sanitise, shell_word};
use std::process::ExitCode;

/// Prints an error and returns its exit code.
pub(crate) fn tell(error: anyhow::Error, is_json: bool) -> ExitCode {
    let Refusal { text, next, exit } = Refusal::from(error);
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let next = next.map(|it| match it {
        NextStep::Paste(commands) if is_about_others(&commands, &typed) => about_each(&commands, &typed),
        NextStep::Paste(commands) => {
            // Without the words of a run there is nothing that could be run elsewhere.
            let fits = |it: &&String| *it != WORKTREE_STEP || opens_a_run(&typed);
            let commands = commands.iter().filter(fits);
            NextStep::Paste(commands.map(|it| hint::pasteable(&repeated(it, &typed))).collect())
        }
        NextStep::ByHand(words) => NextStep::ByHand(words),
        NextStep::PasteOrByHand(command, words) => {
            NextStep::PasteOrByHand(hint::pasteable(&repeated(&command, &typed)), words)
        }
    });
    let text = sanitise(&text);
    if is_json {
        let object = serde_json::json!({
            "status": status(exit), "reason": text, "next_step": next.as_ref().and_then(NextStep::command),
            "help": next.as_ref().and_then(NextStep::words), "exit": exit, "error": text,
        });
        println!("{}", json::line(&object));
    }
    let told = format!("loop: {text}");
    context::say(&told);
    for line in next.iter().flat_map(NextStep::lines) {
        eprintln!("{}", sanitise(&line));
    }
    ExitCode::from(exit)
}

/// Puts the person's own words into a step that only adds flags to `loop run`: the command works when
/// it is pasted, and loses nothing of what was typed.
fn repeated(next: &str, typed: &[String]) -> String {
    if next == NO_INPUT_STEP && opens_a_run(typed) {
        let behind = typed.iter().position(|it| Some(it.as_str()) == command(typed)).map_or(0, |it| it + 1);
        let mut words: Vec<String> = typed.iter().map(|it| shell_word(it)).collect();
        words.insert(behind, "\"what to build\"".to_owned());
        return format!("loop {}", sanitise(&words.join(" ")));
    }
    match next.strip_prefix("loop run --") {
        Some(flags) if opens_a_run(typed) => {
            let words: Vec<String> = typed.iter().map(|it| shell_word(it)).collect();
            let flag = format!("--{flags}");
            let is_typed = typed.contains(&flag);
            let missing = if is_typed { String::new() } else { format!(" {flag}") };
            format!("loop {}{missing}", sanitise(&words.join(" ")))
        }
        _ => next.to_owned(),
    }
}

/// Whether these commands continue one of several runs each, and something else was to be done with one.
fn is_about_others(commands: &[String], typed: &[String]) -> bool {
    let continues = |it: &String| it.starts_with("loop run --run ");
    commands.iter().all(continues) && !matches!(command(typed), Some("run" | "init" | "next" | "resume"))
}

/// Returns what was typed, once for each of these runs.
fn about_each(commands: &[String], typed: &[String]) -> NextStep {
    // Behind two dashes a flag would be a word of the answer.
    if typed.iter().any(|it| it == "--") {
        return NextStep::by_hand("name one with --run ID");
    }
    let words = typed.iter().map(|it| shell_word(it)).collect::<Vec<_>>().join(" ");
    let runs = commands.iter().filter_map(|it| it.strip_prefix("loop run --run "));
    NextStep::Paste(runs.map(|it| hint::pasteable(&sanitise(&format!("loop {words} --run {it}")))).collect())
}

/// Whether a command line is one of those that take the flags of `loop run`.
fn opens_a_run(typed: &[String]) -> bool {
    matches!(command(typed), Some("run" | "init"))
}

/// Returns the command of a command line, behind the flags that may stand before it.
fn command(typed: &[String]) -> Option<&str> {
    let mut words = typed.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" | "--home" | "--run" => drop(words.next()),
            flag if flag.starts_with('-') => (),
            command => return Some(command),
        }
    }
    None
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
    use super::{NO_INPUT_STEP, about_each, repeated};

    #[test]
    fn what_was_typed_stands_in_the_next_step() {
        let next = |step: &str, typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|it| (*it).to_owned()).collect();
            repeated(step, &typed)
        };
        let step = "loop run --agent-cmd \"./agent.sh\"";
        assert_eq!(
            next(step, &["run", "fix the dates", "--max", "3"]),
            "loop run \"fix the dates\" --max 3 --agent-cmd \"./agent.sh\""
        );
        assert_eq!(next(step, &["run", "$HOME's"]), "loop run '$HOME'\\''s' --agent-cmd \"./agent.sh\"");
        assert_eq!(next(step, &["-C", "x", "init", "it"]), "loop -C x init it --agent-cmd \"./agent.sh\"");
        assert_eq!(next(step, &["resume"]), step);
        assert_eq!(next("loop status", &["run", "it"]), "loop status");
        let check = "loop run --check tests=\"go test -v\"";
        let typed = ["run", "it", "-v", "--check", "lint=true"];
        assert_eq!(next(check, &typed), "loop run it -v --check lint=true --check tests=\"go test -v\"");
        assert_eq!(next("loop run --run 1f", &["run", "--max", "3"]), "loop run --max 3 --run 1f");
        assert_eq!(next("loop run --fresh", &["run", "it", "--fresh"]), "loop run it --fresh");
        assert_eq!(
            next(NO_INPUT_STEP, &["-C", "x", "run", "--agent-cmd", "my agent"]),
            "loop -C x run \"what to build\" --agent-cmd \"my agent\""
        );
    }

    #[test]
    fn what_was_typed_is_repeated_for_each_run() {
        let runs = ["loop run --run 1f", "loop run --run 2a"].map(str::to_owned);
        let typed = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let lines = about_each(&runs, &typed(&["answer", "modify", "try it again"])).lines();
        assert_eq!(
            lines,
            [
                "next: loop answer modify \"try it again\" --run 1f",
                "  or: loop answer modify \"try it again\" --run 2a"
            ]
        );
        let lines = about_each(&runs, &typed(&["answer", "--", "modify", "-x"])).lines();
        assert_eq!(lines, ["help: name one with --run ID"]);
    }
}
