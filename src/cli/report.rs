//! A run as a Markdown report: only what was measured, and what is open. It is printed at every
//! end, and by `loop show`.

use super::{Context, progress};
use crate::engine::{PhaseStatus, State, Status};
use crate::line::results;
use crate::store::Home;
use crate::store::mirror::prp_session::Chronicle;
use crate::store::run::Run;
use crate::text::sanitise;
use crate::time::length;
use crate::workflow::model::Workflow;
use std::fmt::Write;

pub(super) fn at_end(context: &Context, home: &Home, run: &Run) {
    if context.json || context.quiet {
        return;
    }
    let past = progress::past(home, &run.id, &run.workflow, &run.state);
    print!("{}", sanitise(&markdown(&run.id, &run.workflow, &run.state, past.as_ref())));
}

/// `past` is what a completed run tells beyond its state.
pub(super) fn markdown(id: &str, workflow: &Workflow, state: &State, past: Option<&Chronicle>) -> String {
    let mut out = String::new();
    let status = Status::of(state);
    let verified = if state.verified() { "" } else { " (unverified)" };
    let _ = writeln!(out, "# {}: {}{verified}\n", workflow.name, status.word());
    let _ = writeln!(out, "- run: {}", &id[..8]);
    let _ = writeln!(out, "- input: {}", state.opening.input.lines().next().unwrap_or(""));
    let _ = writeln!(out, "- reason: {}", state.reason(workflow));
    let _ = writeln!(out, "- iterations: {}, calls: {}", state.iterations_total, state.calls_total);
    if let Some(past) = past {
        let _ = writeln!(out, "- took: {}", length(state.updated_at.since(state.opened_at)));
        let _ = writeln!(out, "- breaker: opened {} times", past.breaker_incidents);
    }
    let _ = writeln!(out, "- time in calls and checks: {}", length(state.spent.ms));
    if state.spent.usd != 0.0 || state.spent.tokens != 0 {
        let _ = writeln!(out, "- spent: ${:.2}, {} tokens", state.spent.usd, state.spent.tokens);
    }
    if let Some(shipped) = &state.shipped {
        let _ = writeln!(out, "- shipped: {shipped}");
    }
    let _ = writeln!(out, "\n## Phases\n");
    for (id, (phase, log)) in workflow.phases.iter().zip(&state.phases).enumerate() {
        let word = match log.status {
            PhaseStatus::Pending => "not begun",
            PhaseStatus::Active => "in progress",
            PhaseStatus::Completed => "completed",
            PhaseStatus::Skipped => "skipped",
            PhaseStatus::Forced => "skipped by a person",
        };
        let plural = if log.iterations == 1 { "" } else { "s" };
        let headline = past.and_then(|it| progress::headline(workflow, it, id)).unwrap_or_default();
        let _ = writeln!(out, "- {}: {word}, {} iteration{plural}{headline}", phase.name, log.iterations);
    }
    if let Some(baseline) = &state.baseline {
        let _ = writeln!(out, "\n## Checks\n");
        let _ = writeln!(out, "- before the first call: {}", results(&baseline.results));
        let last: Vec<String> = workflow
            .checks
            .keys()
            .filter_map(|name| {
                let ok = state.visit.metrics.get(&format!("{name}_ok"))?;
                Some(format!("{name} {}", if ok.value == true.into() { "passed" } else { "failed" }))
            })
            .collect();
        if !last.is_empty() {
            let _ = writeln!(out, "- after the last call: {}", last.join(", "));
        }
        let base = &baseline.facts;
        if !base.commit.is_empty() && base.commit != state.seen.commit {
            let _ = writeln!(out, "\n## Changes\n");
            let _ = writeln!(out, "- commits: {}..{}", short(&base.commit), short(&state.seen.commit));
            for file in state.seen.files.iter().take(20) {
                let _ = writeln!(out, "- {file}");
            }
            if 20 < state.seen.files.len() {
                let _ = writeln!(out, "- and {} more", state.seen.files.len() - 20);
            }
        }
    }
    let open: Vec<&String> = match (&state.feedback, status) {
        (
            Some(feedback),
            Status::Halted | Status::Capped | Status::Paused | Status::Stopped | Status::Waiting,
        ) => feedback.why.iter().collect(),
        _ => Vec::new(),
    };
    if !open.is_empty() || !state.warnings.is_empty() {
        let _ = writeln!(out, "\n## Open\n");
        for line in open.into_iter().chain(&state.warnings) {
            let _ = writeln!(out, "- {line}");
        }
    }
    let _ = writeln!(out, "\nnext: {}", state.next_step(workflow));
    out
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
