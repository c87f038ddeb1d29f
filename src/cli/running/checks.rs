//! `loop checks`: runs the checks once, without an agent, and prints what they came to.

use super::flags::RunFlags;
use super::run::TellOnce;
use crate::cli::context::Context;
use crate::desk::{self, CarriedOutBy};
use loop_base::text::sanitise;
use serde_json::json;

/// Lines of a failing check that are shown; the command shows all of them.
const LINES_SHOWN: usize = 20;

pub(crate) fn run(context: &Context, flags: &RunFlags) -> anyhow::Result<u8> {
    let request = flags.request(CarriedOutBy::Us);
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
            let lines: Vec<&str> = result.output.lines().collect();
            for line in &lines[lines.len().saturating_sub(LINES_SHOWN)..] {
                println!("  | {}", sanitise(line));
            }
        }
    }
    Ok(exit)
}
