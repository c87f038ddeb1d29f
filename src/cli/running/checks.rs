//! `loop checks`: runs the checks once, without an agent, and prints what they came to.

use super::flags::named_command;
use super::run::TellOnce;
use crate::cli::context::Context;
use crate::desk::{self, RunRequest};
use clap::Args;
use loop_base::text::sanitise;
use loop_supervise::interruption;
use serde_json::json;
use std::path::PathBuf;

/// Lines of a failing check that are shown; the command shows all of them.
const LINES_SHOWN: usize = 20;

/// Failed tests that are named.
const TESTS_NAMED: usize = 10;

#[derive(Args)]
pub(crate) struct ChecksFlags {
    /// What a run would work on: its document may name checks of its own
    input: Option<String>,
    /// The checks of a built-in workflow: tdd, engineering, plan, ralph
    #[arg(long, value_name = "NAME", conflicts_with = "workflow")]
    preset: Option<String>,
    /// The checks of a workflow file
    #[arg(long, value_name = "FILE")]
    workflow: Option<PathBuf>,
    /// A check to run; repeatable, overrides detected checks
    #[arg(long = "check", value_name = "NAME=COMMAND", value_parser = named_command)]
    checks: Vec<(String, String)>,
    /// The domain whose queue is meant (default: the only folder below domain-memory/)
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
}

pub(crate) fn run(context: &Context, flags: &ChecksFlags) -> anyhow::Result<u8> {
    let request = RunRequest {
        input: flags.input.clone(),
        preset: flags.preset.clone(),
        workflow: flags.workflow.clone(),
        checks: flags.checks.clone(),
        domain: flags.domain.clone(),
        ..RunRequest::default()
    };
    interruption::end_checks_first()?;
    let results =
        TellOnce::default().with(context, |notes| desk::checks(&context.caller, &request, notes))?;
    let exit = if results.iter().all(|it| it.is_passed()) { 0 } else { 4 };
    if context.json {
        let list: Vec<_> = results
            .iter()
            .map(|it| {
                json!({
                    "name": it.name, "command": it.command, "passed": it.is_passed(), "result": it.words(),
                    "tests": it.tests, "seconds": it.seconds,
                })
            })
            .collect();
        println!("{}", crate::cli::json::pretty(&list));
        return Ok(exit);
    }
    for result in &results {
        let command = result.command.replace('\n', "; ");
        println!("{}", sanitise(&format!("{}, {:.1} s ({command})", result.words(), result.seconds)));
        if !result.is_passed() && !context.quiet {
            let failed = result.failed();
            for name in failed.iter().take(TESTS_NAMED) {
                println!("{}", sanitise(&format!("  failed: {name}")));
            }
            if TESTS_NAMED < failed.len() {
                println!("  and {} more failed", failed.len() - TESTS_NAMED);
            }
            let lines: Vec<&str> = result.output.lines().collect();
            for line in &lines[lines.len().saturating_sub(LINES_SHOWN)..] {
                println!("  | {}", sanitise(line));
            }
        }
    }
    Ok(exit)
}
