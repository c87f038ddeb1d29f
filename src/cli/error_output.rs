//! Prints what could not be done: the thing, the next step, and as JSON the exit code too.

use super::{context, hint, json};
use crate::desk::{NO_INPUT_STEP, NextStep, Refusal, WORKTREE_STEP};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use loop_base::secret::is_printable_whole;
use loop_base::text::{sanitise, shell_word};
use loop_core::engine::Status;
use loop_core::workflow::problem::nearest_of_few_letters;
use loop_store::subcommands;
use std::error::Error;
use std::process::ExitCode;

/// Prints an error and returns its exit code.
pub(crate) fn tell(error: anyhow::Error, is_json: bool) -> ExitCode {
    let Refusal { text, next, exit } = Refusal::from(error);
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let next = next.map(|it| match it {
        NextStep::Paste(commands) if is_about_others(&commands, &typed) => about_each(&commands, &typed),
        NextStep::Paste(commands) if repeats_a_secret(&commands, &typed) => {
            let flags: Vec<&str> = commands.iter().filter_map(|it| it.strip_prefix("loop run ")).collect();
            NextStep::by_hand(format!(
                "type the command again, with its secret and with {}",
                flags.join(" or ")
            ))
        }
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
        context::say(&sanitise(&line));
    }
    ExitCode::from(exit)
}

/// Prints why a command line cannot be read, and the help that says what can be typed; help that was asked
/// for is printed as it is.
pub(crate) fn tell_misuse(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if is_help || !error.use_stderr() {
        error.exit();
    }
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let is_json = typed.iter().take_while(|it| *it != "--").any(|it| it == "--json");
    let refusal =
        Refusal::usage(misuse(error, &typed), format!("loop help {}", named_commands(&typed)).trim_end());
    tell(refusal, is_json)
}

/// What is wrong with a command line, in one sentence.
fn misuse(error: &clap::Error, typed: &[String]) -> String {
    let words = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        Some(_) | None => Vec::new(),
    };
    let flag = words(ContextKind::InvalidArg).join(" and ");
    // A flag is named by what was typed, without the name of its value.
    let flag_name = match flag.starts_with('-') {
        true => flag.split([' ', '[']).next().unwrap_or_default(),
        false => flag.trim_matches(['<', '>', '[', ']', '.']),
    };
    let value = shell_word(&words(ContextKind::InvalidValue).concat());
    // The most similar one is the last.
    let perhaps = |kind| match words(kind).last() {
        Some(word) => format!("; did you mean {word}?"),
        None => String::new(),
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = words(ContextKind::InvalidSubcommand).concat();
            let known = named_command(typed).0;
            let known = known.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
            let help = match nearest_of_few_letters(&name, known) {
                None => "; usage: loop [OPTIONS] [COMMAND]".to_owned(),
                Some(similar) => format!("; did you mean {similar}?"),
            };
            format!("there is no command \"{name}\"{help}")
        }
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            format!("there is no flag {flag} here{}", perhaps(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("\"{flag}\" is one word too many; put a sentence into quotes"),
        ErrorKind::MissingRequiredArgument => {
            format!("missing: {}", words(ContextKind::InvalidArg).join(", "))
        }
        ErrorKind::ArgumentConflict => {
            let other = words(ContextKind::PriorArg).join(" and ");
            let name = |it: &str| it.split(' ').next().unwrap_or_default().to_owned();
            format!("{} and {} do not go together", name(&flag), name(&other))
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            format!("{flag_name} {value}: {why}")
        }
        ErrorKind::InvalidValue => {
            let known = words(ContextKind::ValidValue).join(", ");
            match words(ContextKind::InvalidValue).concat().as_str() {
                "" if known.is_empty() => format!("{flag_name} needs a value"),
                "" => format!("{flag_name} needs a value, one of {known}"),
                _ => format!("{flag_name} {value}: write one of {known}"),
            }
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    }
}

/// Returns the names of the commands that were typed, as far as there are such commands.
fn named_commands(typed: &[String]) -> String {
    named_command(typed).1.join(" ")
}

/// Returns the command that was typed, as far as there is such a one, with its names.
fn named_command(typed: &[String]) -> (clap::Command, Vec<String>) {
    let mut at = super::Cli::command();
    let mut names: Vec<String> = Vec::new();
    for word in subcommands(typed.iter().map(String::as_str)) {
        let Some(found) = at.find_subcommand(word).filter(|it| !it.is_hide_set()).cloned() else { break };
        names.push(word.to_owned());
        at = found;
    }
    (at, names)
}

/// Puts the person's own words into a step that only adds flags to `loop run`: the command works when
/// it is pasted, and loses nothing of what was typed.
fn repeated(next: &str, typed: &[String]) -> String {
    if next == NO_INPUT_STEP && opens_a_run(typed) {
        let behind = typed.iter().position(|it| Some(it.as_str()) == command(typed)).map_or(0, |it| it + 1);
        // An input without words is what is missing.
        let mut words: Vec<String> = typed.iter().map(|it| shell_word(it)).collect();
        words.retain(|it| it != &shell_word(""));
        words.insert(behind, "\"what to build\"".to_owned());
        return format!("loop {}", sanitise(&words.join(" ")));
    }
    if let Some(before) = next.strip_suffix(" && loop run").filter(|_| opens_a_run(typed)) {
        let words: Vec<String> = typed.iter().map(|it| shell_word(it)).collect();
        return format!("{before} && loop {}", sanitise(&words.join(" ")));
    }
    // A run that is named in answer to an input works on another one: it continues with its own words.
    let is_another = next.starts_with("loop run --run ") && names_input(typed);
    match next.strip_prefix("loop run --") {
        Some(flags) if opens_a_run(typed) && !is_another => {
            let words = without_replaced(flags, typed);
            let words: Vec<String> = words.iter().map(|it| shell_word(it)).collect();
            let flag = format!("--{flags}");
            let is_typed = typed.contains(&flag);
            let missing = if is_typed { String::new() } else { format!(" {flag}") };
            format!("loop {}{missing}", sanitise(&words.join(" ")))
        }
        _ => next.to_owned(),
    }
}

/// Returns what was typed without the command of a check that the proposed flag gives another one.
fn without_replaced<'a>(flags: &str, typed: &'a [String]) -> Vec<&'a String> {
    let Some((name, _)) = flags.strip_prefix("check ").and_then(|it| it.split_once('=')) else {
        return typed.iter().collect();
    };
    let begins = |it: &str| it.strip_prefix(name).is_some_and(|it| it.starts_with('='));
    let is_flag = |at: usize| typed[at] == "--check" && typed.get(at + 1).is_some_and(|it| begins(it));
    let is_value = |at: usize| 0 < at && is_flag(at - 1);
    let is_both = |at: usize| typed[at].strip_prefix("--check=").is_some_and(begins);
    let stays = |at: &usize| !is_flag(*at) && !is_value(*at) && !is_both(*at);
    (0..typed.len()).filter(stays).map(|at| &typed[at]).collect()
}

/// Whether one of these steps would repeat what was typed, and with it a secret, which is never printed.
fn repeats_a_secret(commands: &[String], typed: &[String]) -> bool {
    let repeats = |it: &String| it.starts_with("loop run --") && !it.starts_with("loop run --run ");
    opens_a_run(typed) && commands.iter().any(repeats) && !typed.iter().all(|it| is_printable_whole(it))
}

/// Whether these commands continue one of several runs each, and something else was to be done with one.
fn is_about_others(commands: &[String], typed: &[String]) -> bool {
    let continues = |it: &String| it.starts_with("loop run --run ");
    // An input that is typed belongs to another run than the one that is named.
    let opens = opens_a_run(typed) || names_input(typed);
    commands.iter().all(continues) && !opens
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

/// Whether a command line says what to work on.
fn names_input(typed: &[String]) -> bool {
    let words = std::iter::once("loop").chain(typed.iter().map(String::as_str));
    let Ok(read) = super::Cli::command().try_get_matches_from(words) else { return false };
    let words = read.subcommand().map(|it| it.1);
    words.is_some_and(|it| it.try_contains_id("input").unwrap_or(false))
}

/// Returns the command of a command line, behind the flags that may stand before it.
fn command(typed: &[String]) -> Option<&str> {
    subcommands(typed.iter().map(String::as_str)).next()
}

/// Returns the word of the run that an exit code speaks of; the other codes speak of none.
fn status(exit: u8) -> Option<&'static str> {
    let status = match exit {
        3 => Status::Waiting,
        4 => Status::Halted,
        5 => Status::Paused,
        6 => Status::Capped,
        7 => Status::Running,
        _ => return None,
    };
    Some(status.word())
}

#[cfg(test)]
mod tests {
    use super::{NO_INPUT_STEP, about_each, named_commands, repeated};
    use clap::CommandFactory;
    use loop_store::OPTIONS_WITH_VALUE;

    #[test]
    fn every_option_of_all_commands_that_has_a_value_is_known() {
        let command = crate::cli::Cli::command();
        let options =
            command.get_arguments().filter(|it| it.is_global_set() && it.get_action().takes_values());
        let mut names: Vec<String> = options
            .flat_map(|it| {
                let short = it.get_short().map(|it| format!("-{it}"));
                short.into_iter().chain(it.get_long().map(|it| format!("--{it}")))
            })
            .collect();
        names.sort();
        assert_eq!(names, OPTIONS_WITH_VALUE);
    }

    #[test]
    fn what_was_typed_stands_in_the_next_step() {
        let next = |step: &str, typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|it| (*it).to_owned()).collect();
            repeated(step, &typed)
        };
        assert_eq!(
            next("ulimit -n 1024 && loop run", &["--home", "h", "run", "fix it", "-n", "3"]),
            "ulimit -n 1024 && loop --home h run \"fix it\" -n 3"
        );
        assert_eq!(next("ulimit -n 1024 && loop run", &["resume"]), "ulimit -n 1024 && loop run");
        let step = "loop run --agent-cmd \"./agent.sh\"";
        assert_eq!(
            next(step, &["run", "fix the dates", "--max", "3"]),
            "loop run \"fix the dates\" --max 3 --agent-cmd \"./agent.sh\""
        );
        assert_eq!(next(step, &["run", "$HOME's"]), "loop run '$HOME'\\''s' --agent-cmd \"./agent.sh\"");
        assert_eq!(next(step, &["-C", "x", "init", "it"]), "loop -C x init it --agent-cmd \"./agent.sh\"");
        assert_eq!(
            next(step, &["--dir", "x", "run", "it"]),
            "loop --dir x run it --agent-cmd \"./agent.sh\""
        );
        assert_eq!(next(step, &["resume"]), step);
        assert_eq!(next("loop status", &["run", "it"]), "loop status");
        let check = "loop run --check tests=\"go test -v\"";
        let replaced = "loop run --check lint=./lint";
        assert_eq!(
            next(replaced, &["run", "it", "--check", "lint=lnt", "--check", "tests=t"]),
            "loop run it --check tests=t --check lint=./lint"
        );
        assert_eq!(next(replaced, &["run", "it", "--check=lint=lnt"]), "loop run it --check lint=./lint");
        let typed = ["run", "it", "-v", "--check", "lint=true"];
        assert_eq!(next(check, &typed), "loop run it -v --check lint=true --check tests=\"go test -v\"");
        assert_eq!(next("loop run --run 1f", &["run", "--max", "3"]), "loop run --max 3 --run 1f");
        assert_eq!(next("loop run --run 1f", &["run", "it", "--max", "3"]), "loop run --run 1f");
        assert_eq!(next("loop run --fresh", &["run", "it", "--fresh"]), "loop run it --fresh");
        assert_eq!(next(NO_INPUT_STEP, &["run", "", "-n", "3"]), "loop run \"what to build\" -n 3");
        assert_eq!(
            next(NO_INPUT_STEP, &["-C", "x", "run", "--agent-cmd", "my agent"]),
            "loop -C x run \"what to build\" --agent-cmd \"my agent\""
        );
    }

    #[test]
    fn the_help_that_is_named_is_that_of_the_command() {
        let help = |typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|it| (*it).to_owned()).collect();
            named_commands(&typed)
        };
        assert_eq!(help(&["--dir", "run", "queue", "--json", "add", "x"]), "queue add");
        assert_eq!(help(&["--run", "status", "nothing"]), "");
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
