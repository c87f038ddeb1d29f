//! The first page of help: commands in groups, in the order in which people need them, and what the
//! names mean that are easily mixed up. The words about each command are those of its own help.

use clap::Command;
use std::fmt::Write;

/// Every command that is shown, once.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start", &["demo", "doctor", "agents", "setup", "run"]),
    ("Watch", &["status", "attach", "wait", "log", "show", "why", "runs"]),
    ("Answer", &["answer", "approve", "changes", "reject", "waive", "guide", "skip"]),
    ("Stop and continue", &["stop", "pause", "cancel", "resume", "next", "restore", "limits"]),
    ("Check and deliver", &["checks", "evidence", "verify", "ship"]),
    ("Prepare the work", &["queue", "design", "refine", "init", "presets", "check", "simulate", "hook"]),
    ("This program", &["completions", "man", "help"]),
];

/// Commands that are easily confused, and what each does.
pub(super) const NAMES: [(&str, &str); 8] = [
    ("setup", "writes .loop/workflow.toml, once per project"),
    ("init INPUT", "opens a run without starting an agent; without INPUT the same as setup"),
    ("check", "validates a workflow file"),
    ("checks", "runs the project's checks once, without an agent"),
    ("verify", "checks that a run's journal, or a record, is complete and unchanged"),
    ("stop", "lets the iteration finish; continue with run"),
    ("pause", "ends the agent call now, the same as stop --now; continue with run"),
    ("cancel", "ends the run for good; its files and commits stay"),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Returns the command line with its commands in groups.
pub(super) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let found = command.find_subcommand(name).and_then(Command::get_about);
            let about = found.map_or_else(|| "Print the help of a command".to_owned(), ToString::to_string);
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "Easily confused:");
    for (name, does) in NAMES {
        let _ = writeln!(text, "  {name:<12} {does}");
    }
    // The list of clap would stand beside ours.
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let hidden = names.into_iter().fold(command, |it, name| it.mut_subcommand(name, |it| it.hide(true)));
    hidden.override_usage("loop [OPTIONS] [COMMAND]").before_help(text).help_template(TEMPLATE)
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use clap::CommandFactory;

    #[test]
    fn every_command_that_is_shown_stands_in_one_group() {
        let command = crate::cli::Cli::command();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|it| !it.is_hide_set()).map(|it| it.get_name()).collect();
        shown.push("help");
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|it| it.1).copied().collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
    }
}
