//! A check whose program is not installed proves nothing, however often an agent is called, so it is refused before
//! the first call. Only a plain name that the shell looks up in PATH is certain: a script of the project may be what
//! the agent is to write, and of several commands another one may decide.

use crate::desk::refusal::{NextStep, Refusal};
use crate::measure::detect::detect;
use loop_base::text::shell_word;
use loop_core::workflow::model::{InputKind, Workflow};
use loop_supervise::which::executable;
use std::collections::BTreeMap;
use std::path::Path;

/// What a shell does itself, without a program in PATH.
const BUILT_IN: [&str; 40] = [
    "alias", "bg", "break", "case", "cd", "command", "continue", "declare", "do", "echo", "eval", "exec",
    "exit", "export", "false", "fg", "for", "getopts", "hash", "if", "jobs", "kill", "local", "printf",
    "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "time", "trap", "true", "type",
    "ulimit", "umask", "unset", "until",
];

/// Refuses a check that the shell could not start. `answered` are commands that a person gave to the run.
pub(crate) fn refuse_unstartable(
    workflow: &Workflow,
    answered: &BTreeMap<String, String>,
    project: &Path,
) -> anyhow::Result<()> {
    // The project of a system may not exist yet, and what it needs may be installed with it.
    if workflow.input.kind == InputKind::Job {
        return Ok(());
    }
    let is_used = |name: &String| workflow.phases.iter().any(|it| it.checks.contains(name));
    for (name, check) in workflow.checks.iter().filter(|it| is_used(it.0)) {
        let command = check.run.as_ref().or(answered.get(name));
        let Some(program) = command.and_then(|it| missing_program(it)) else { continue };
        let text = format!("the check {name} cannot start: \"{program}\" was not found");
        let found = detect(project).into_iter().find(|it| it.name == name);
        let next = match found.filter(|it| missing_program(&it.run).is_none()) {
            Some(found) => {
                format!("loop run --check {}", shell_word(&format!("{name}={}", found.run))).into()
            }
            None => NextStep::by_hand(format!(
                "install {program}, or give the check another command: --check {name}=\"COMMAND\""
            )),
        };
        return Err(Refusal::usage(text, next));
    }
    Ok(())
}

/// Returns the program that a command cannot do without and that is not there.
pub(crate) fn missing_program(command: &str) -> Option<&str> {
    // Where another command follows whatever this one came to, that one may decide.
    let is_one = !command.trim().contains(['|', ';', '\n']) && !command.replace("&&", "").contains('&');
    let program = command.split_whitespace().next().filter(|_| is_one)?;
    let is_plain = program.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.+".contains(&it));
    let is_looked_up = is_plain && program != "." && !BUILT_IN.contains(&program);
    (is_looked_up && executable(program, None).is_none()).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::missing_program;

    #[test]
    fn only_what_the_shell_cannot_start_is_missing() {
        for command in ["foo-missing -x", " foo-missing", "foo-missing && true"] {
            assert_eq!(missing_program(command), Some("foo-missing"), "{command}");
        }
        let others = [
            "true",
            "sh -c foo-missing",
            "./foo-missing",
            "foo-missing || true",
            "foo-missing | cat",
            "foo-missing; true",
            "set -e\nfoo-missing",
            "A=1 foo-missing",
            "$FOO x",
            "( foo-missing )",
            "",
            "[ -f x ]",
            "cd x && foo-missing",
            "foo-missing & true",
            "! foo-missing",
        ];
        for command in others {
            assert_eq!(missing_program(command), None, "{command}");
        }
    }
}
