//! How far a run has come, for people: one line that says where it stands, one line for each phase,
//! a bar, and at the end what the whole of it took. Nothing here is particular to a workflow.

use crate::cli::terminal::time_taken;
use loop_base::text::counted;
use loop_core::engine::{CheckResult, History, PhaseStatus, State, Status, Tests};
use loop_core::facts::FactName;
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Row, fold};
use std::fmt::Write;

/// Cells of the bar: each stands for five percent.
const CELLS: u32 = 20;

/// Returns the line that says where a run stands.
pub(crate) fn line(workflow: &Workflow, state: &State) -> String {
    let tests = match tests(workflow, state) {
        Some((passing, total)) => format!(" | {passing}/{total} tests passing"),
        None => String::new(),
    };
    format!(
        "[{}] iteration {}{tests} | status: {}",
        workflow.phases[state.phase].name,
        state.iterations_shown(workflow),
        Status::of(state).word()
    )
}

/// Returns how many tests pass, of how many: all that the checks counted, also those that failed before
/// the run began; else what counts in their place.
fn tests(workflow: &Workflow, state: &State) -> Option<(String, String)> {
    let metrics = &state.visit.metrics;
    // The value `tests_total` leaves out what failed before the run; what a failed check counted does not.
    let failing = state.feedback.iter().flat_map(|it| &it.failing);
    let failing: Vec<&CheckResult> = failing.collect();
    let count = |check: &str, suffix: &str, counted: fn(&Tests) -> u32| -> Option<f64> {
        let known = metrics.get(&format!("{check}_{suffix}"))?.value.number();
        let failed = failing.iter().find(|it| it.name == check).and_then(|it| it.counts.as_ref());
        failed.map(|it| f64::from(counted(it))).or(known)
    };
    let sum = |suffix: &str, counted: fn(&Tests) -> u32| -> Option<f64> {
        let counts = workflow.checks.keys().filter_map(|it| count(it, suffix, counted));
        counts.reduce(|one, other| one + other)
    };
    if let (Some(passing), Some(total)) = (sum("passing", |it| it.passing), sum("total", |it| it.total)) {
        return Some((passing.to_string(), total.to_string()));
    }
    let count = |fact: FactName| metrics.get(fact.name()).map(|it| it.value.to_string());
    Some((count(FactName::TestsPassing)?, count(FactName::TestsTotal)?))
}

/// Returns the phases and the bar, where there is more than one phase to tell of.
pub(crate) fn phases(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> String {
    let mut out = String::new();
    if workflow.phases.len() < 2 {
        return out;
    }
    // The past is read only where it is shown.
    let past = past(home, &row.id, workflow, state);
    let width = workflow.phases.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for (id, (phase, log)) in workflow.phases.iter().zip(&state.phases).enumerate() {
        let iterations = counted(state.iterations_of(workflow, id), "iteration");
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
        let _ = writeln!(
            out,
            "  took        {}, {}, {}, breaker opened {}, {} changed",
            time_taken(state),
            counted(state.iterations_told(workflow), "iteration"),
            counted(state.calls_total, "call"),
            counted(past.breaker_incidents, "time"),
            counted(state.seen.files.len(), "file")
        );
    }
    out
}

/// Reads the past of a run that is completed; one that cannot be read says so elsewhere.
pub(crate) fn past(home: &Home, run: &str, workflow: &Workflow, state: &State) -> Option<History> {
    let is_completed = Status::of(state) == Status::Completed;
    is_completed.then(|| fold::history(home, run, workflow).ok()).flatten()
}

/// The first value by which a phase measures its progress.
pub(crate) fn headline(workflow: &Workflow, past: &History, phase: usize) -> Option<String> {
    let last = past.visits.get(&phase)?.back()?;
    let progress = &workflow.phases[phase].progress;
    // What counts for one iteration alone says nothing about a phase.
    let names = progress.up.iter().chain(&progress.down).filter(|it| !FactName::is_of_one_iteration(it));
    let (name, value) = names.filter_map(|it| Some((it, last.metrics.get(it)?))).next()?;
    Some(format!(", {} {value}", name.replace('_', " ")))
}

#[cfg(test)]
mod tests {
    use super::line;
    use loop_base::time::Timestamp;
    use loop_base::value::Value;
    use loop_core::engine::{Event, Hold, HoldKind, Metric, Opening, Source, State};
    use loop_core::workflow::resolve::{Layers, resolve};

    #[test]
    fn bp91_the_line_says_phase_iteration_tests_and_status() {
        let layers = Layers { preset: Some("tdd".to_owned()), ..Layers::default() };
        let workflow = resolve(&layers, &|_| Err("no file is read".to_owned())).expect("the preset is sound");
        let mut state = State::new(&workflow);
        state.apply(&workflow, Timestamp(0), &Event::Opened(Opening::default()));
        assert_eq!(line(&workflow, &state), "[RED] iteration 0 | status: ready");
        state.phase = 1;
        state.visit.iteration = 5;
        for (name, count) in [("tests_passing", 6), ("tests_total", 10)] {
            let metric = Metric { value: Value::Int(count), source: Source::Measured, claimed: None };
            state.visit.metrics.insert(name.to_owned(), metric);
        }
        let hold = Hold { kind: HoldKind::Paused, reason: "User interrupt".to_owned() };
        state.apply(&workflow, Timestamp(0), &Event::Held(hold));
        assert_eq!(line(&workflow, &state), "[GREEN] iteration 5 | 6/10 tests passing | status: paused");
    }
}
