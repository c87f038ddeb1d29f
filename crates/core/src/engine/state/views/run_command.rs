//! The command that opens another run like this one. What was given on the command line is kept with
//! the workflow, so the command can repeat it and works when it is pasted.

use crate::workflow::model::Workflow;
use loop_base::text::shell_word;
use std::fmt::Write;

/// Returns `loop run` with the input and the flags that a run was given.
pub fn run_again(workflow: &Workflow, input: &str) -> String {
    let mut words = format!("loop run {}", shell_word(input));
    let Some(given) = &workflow.given else { return words };
    let mut add = |flag: &str, value: &str| {
        let _ = write!(words, " {flag} {}", shell_word(value));
    };
    if let Some(file) = &given.file {
        add("--workflow", file);
    }
    if let Some(preset) = &given.preset {
        add("--preset", preset);
    }
    let over = &given.overrides;
    if let Some(agent) = &over.agent {
        add("--agent", agent);
    }
    if let Some(program) = &over.agent_args {
        let program: Vec<String> = program.iter().map(|it| shell_word(it)).collect();
        add("--agent-cmd", &program.join(" "));
    }
    if let Some(model) = &over.model {
        add("--model", model);
    }
    for (name, command) in &over.checks {
        add("--check", &format!("{name}={command}"));
    }
    words
}
