//! How far a run has come, for people: one line that says where it stands, one line for each phase,
//! a bar, and at the end what the whole of it took. Nothing here is particular to a workflow.

use crate::engine::{PhaseStatus, State, Status};
use crate::store::mirror::prp_session::{self, Chronicle};
use crate::store::{Home, Row};
use crate::time::length;
use crate::workflow::model::Workflow;
use std::fmt::Write;

/// Cells of the bar: each stands for five percent.
const CELLS: u32 = 20;

/// Returns the line that says where a run stands.
pub(super) fn line(workflow: &Workflow, state: &State) -> String {
    let count = |name: &str| state.visit.metrics.get(name).map(|it| it.value.to_string());
    let tests = match (count("tests_passing"), count("tests_total")) {
        (Some(passing), Some(total)) => format!(" | {passing}/{total} tests passing"),
        (None, _) | (_, None) => String::new(),
    };
    format!(
        "[{}] iteration {}{tests} | status: {}",
        workflow.phases[state.phase].name,
        state.visit.iteration,
        Status::of(state).word()
    )
}

/// Returns the phases and the bar, where there is more than one phase to tell of.
pub(super) fn phases(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> String {
    let mut out = String::new();
    if workflow.phases.len() < 2 {
        return out;
    }
    let is_completed = Status::of(state) == Status::Completed;
    // The past is read only where it is shown; a run that cannot be read says so elsewhere.
    let past = is_completed.then(|| prp_session::chronicle(home, &row.id, workflow).ok()).flatten();
    let width = workflow.phases.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for (id, (phase, log)) in workflow.phases.iter().zip(&state.phases).enumerate() {
        let plural = if log.iterations == 1 { "" } else { "s" };
        let iterations = format!("{} iteration{plural}", log.iterations);
        let text = match log.status {
            PhaseStatus::Pending => "pending".to_owned(),
            PhaseStatus::Active => format!("in progress, {iterations}"),
            PhaseStatus::Completed => format!("completed, {iterations}"),
            PhaseStatus::Skipped => "skipped by a person".to_owned(),
            PhaseStatus::Forced => format!("skipped by a person after {iterations}"),
        };
        let headline = past.as_ref().and_then(|it| headline(workflow, it, id)).unwrap_or_default();
        let _ = writeln!(out, "    {:width$}  {text}{headline}", phase.name);
    }
    let percent = state.progress_percent(workflow);
    let filled = (percent * CELLS / 100).min(CELLS) as usize;
    let empty = CELLS as usize - filled;
    let _ = writeln!(out, "    {}{} {percent} %", "#".repeat(filled), ".".repeat(empty));
    if let Some(past) = past {
        let took = state.updated_at.since(state.opened_at);
        let _ = writeln!(
            out,
            "  took        {}, {} iterations, {} calls, breaker opened {} times, {} files changed",
            length(took),
            state.iterations_total,
            state.calls_total,
            past.breaker_incidents,
            state.seen.files.len()
        );
    }
    out
}

/// The first value by which a phase measures its progress.
fn headline(workflow: &Workflow, past: &Chronicle, phase: usize) -> Option<String> {
    let last = past.visits.get(&phase)?.back()?;
    let progress = &workflow.phases[phase].progress;
    let names = progress.up.iter().chain(&progress.down);
    let (name, value) = names.filter_map(|it| Some((it, last.metrics.get(it)?))).next()?;
    Some(format!(", {} {value}", name.replace('_', " ")))
}
