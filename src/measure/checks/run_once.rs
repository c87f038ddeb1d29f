//! Checks that are run once, outside of a run: for a person who wants to see them, and for a second
//! look at work that is finished. They are judged as in a run; nothing of them is recorded.

use crate::measure::checks::run_checks::{judged, tests};
use crate::measure::counts::CountReader;
use loop_core::engine::{CheckOutcome, Tests};
use loop_core::event_line;
use loop_core::workflow::model::{Check, Workflow};
use loop_supervise::foreground;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// What one check came to.
pub(crate) struct Once {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) outcome: CheckOutcome,
    pub(crate) tests: Option<Tests>,
    pub(crate) seconds: f64,
    /// What it printed, both streams together.
    pub(crate) output: String,
}

impl Once {
    pub(crate) fn is_passed(&self) -> bool {
        self.outcome == CheckOutcome::Passed
    }

    /// Returns the tests that failed and are known by name.
    pub(crate) fn failed(&self) -> &[String] {
        self.tests.as_ref().map_or(&[], |it| &it.failed)
    }

    /// Returns what it came to, in a few words.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.name, event_line::result(&self.outcome, self.tests.as_ref(), ""))
    }
}

/// The mark of checks that belong to no run.
pub(crate) const NO_RUN: &str = "no-run";

/// Runs every check that a phase uses and that has a command, in its workflow or among these. They carry
/// the mark of this run.
pub(crate) fn run_once(
    workflow: &Workflow,
    commands: &BTreeMap<String, String>,
    place: &Path,
    id: &str,
) -> io::Result<Vec<Once>> {
    let used = |name: &String| workflow.phases.iter().any(|it| it.checks.contains(name));
    let mut found = Vec::new();
    for (name, check) in workflow.checks.iter().filter(|(name, _)| used(name)) {
        if let Some(command) = check.run.as_ref().or(commands.get(name)) {
            found.push(run(name, check, command, place, id)?);
        }
    }
    Ok(found)
}

fn run(name: &str, check: &Check, command: &str, place: &Path, id: &str) -> io::Result<Once> {
    let begun = Instant::now();
    let whole = format!("exec 2>&1\n{command}");
    let answer = foreground::run_check(&whole, id, place, Duration::from_millis(check.timeout))?;
    let counts = check.counts.and_then(|format| {
        let mut reader = CountReader::new(format);
        answer.output.lines().for_each(|it| reader.line(it.as_bytes()));
        reader.finish()
    });
    let tests = counts.as_ref().map(tests);
    let outcome = match judged(check, answer.is_done.then_some(0), tests.as_ref()) {
        CheckOutcome::Failed(_) if !answer.is_done && tests.as_ref().is_none_or(|it| it.failing == 0) => {
            CheckOutcome::Failed(answer.trouble.trim_end_matches([':', ' ']).to_owned())
        }
        outcome => outcome,
    };
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Once {
        name: name.to_owned(),
        command: command.to_owned(),
        outcome,
        tests,
        seconds,
        output: answer.output,
    })
}
