//! The reference of the command line, made of the same declarations that the parser reads by.
//! `LOOP_REGENERATE=1` writes it.

use crate::whole::generated;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

#[test]
fn the_reference_is_the_command_line() {
    let mut command = super::Cli::command().term_width(100);
    command.build();
    let mut text = "# Commands\n\n\
        Generated from the command-line definitions. Data goes to standard output, messages to standard error; without a \
        terminal nothing is asked; commands that only read exit 0. The exit codes are explained in \
        [troubleshooting](../guide/troubleshooting.md).\n\n\
        ## Commands that are easily confused\n\n"
        .to_owned();
    text.push_str("| command | does |\n|---|---|\n");
    for (name, does) in super::help::NAMES {
        let _ = writeln!(text, "| `loop {name}` | {does} |");
    }
    text.push_str("\n## Options of every command\n\n");
    let common: Vec<&Arg> = command.get_arguments().filter(|it| it.is_global_set()).collect();
    arguments(&mut text, &common);
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    for below in shown {
        section(&mut text, below, &format!("loop {}", below.get_name()), 2);
    }
    text.push_str("\n## What comes with a later version\n\nThese names are reserved (exit 2): ");
    let later = command.get_subcommands().filter(|it| it.is_hide_set() && !it.get_name().starts_with('_'));
    let later: Vec<String> = later.map(|it| format!("`loop {}`", it.get_name())).collect();
    let _ = writeln!(text, "{}.", later.join(", "));
    generated("docs/reference/commands.md", &text);
}

fn section(text: &mut String, command: &Command, name: &str, depth: usize) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n{} `{name}`\n\n{about}.\n\n", "#".repeat(depth));
    let own: Vec<&Arg> =
        command.get_arguments().filter(|it| !it.is_global_set() && !it.is_hide_set()).collect();
    let own: Vec<&Arg> = own.into_iter().filter(|it| it.get_id() != "help").collect();
    if !own.is_empty() {
        arguments(text, &own);
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines: Vec<&str> =
            examples.lines().skip(1).map(|it| it.strip_prefix("  ").unwrap_or(it)).collect();
        let _ = write!(
            text,
            "\n```sh\n{}\n```\n",
            lines.iter().map(|it| commented(it)).collect::<Vec<_>>().join("\n")
        );
    }
    for below in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        section(text, below, &format!("{name} {}", below.get_name()), depth + 1);
    }
}

/// What stands behind a gap of two spaces explains the command before it.
fn commented(line: &str) -> String {
    match line.split_once("   ") {
        Some((command, about)) => {
            let width = line.len() - about.trim_start().len();
            format!("{command:<width$}# {}", about.trim())
        }
        None => line.to_owned(),
    }
}

fn arguments(text: &mut String, arguments: &[&Arg]) {
    text.push_str("| word | meaning |\n|---|---|\n");
    for argument in arguments {
        let value =
            argument.get_value_names().and_then(|it| it.first()).map(|it| it.to_string()).unwrap_or_default();
        let takes = argument.get_action().takes_values();
        let word = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) if takes => format!("`-{short}`, `--{long} {value}`"),
            (Some(short), Some(long)) => format!("`-{short}`, `--{long}`"),
            (None, Some(long)) if takes => format!("`--{long} {value}`"),
            (None, Some(long)) => format!("`--{long}`"),
            (Some(_), None) | (None, None) => format!("`{value}`"),
        };
        let about = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|it| format!("`{}`", it.get_name())).collect();
        let values =
            if values.is_empty() || !takes { String::new() } else { format!(": {}", values.join(", ")) };
        let default = argument.get_default_values().first().filter(|_| takes);
        let default = default.map(|it| format!(" (default `{}`)", it.to_string_lossy())).unwrap_or_default();
        let line = format!("| {word} | {about}{values}{default} |").replace("\\|", "|");
        let _ = writeln!(text, "{line}");
    }
}
