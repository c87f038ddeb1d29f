//! The JSON files of a session as their seed spells them: names, types and order. Where the seed has
//! two spellings for one thing both are written. Keys of our own come last; readers of the seed's
//! format ignore them.

use super::block::{breaker_word, verdict};
use super::implementing_phase::implementing_phase;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{
    Activity, BreakerChange, History, HistoryLimit, PhaseStatus, State, Status, breaker, limit, open_reason,
    review_attempt,
};
use loop_core::workflow::condition::Truth;
use loop_core::workflow::model::{PhaseId, Workflow};
use serde::Serialize;
use serde_json::{Map, json};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct LoopStateFile<'a> {
    session_id: &'a str,
    prp_file: &'a str,
    started_at: String,
    current_phase: &'a str,
    current_iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    green_model: Option<&'a str>,
    last_activity: String,
    status: &'static str,
    halt_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    phases_completed: Vec<&'a str>,
    phase_history: Map<String, serde_json::Value>,
    error_history: Vec<serde_json::Value>,
    total_agent_calls: u32,
    qa_attempts: u32,
    /// Ours from here on.
    phases_skipped: Vec<&'a str>,
    verified: bool,
    project: &'a str,
}

/// Returns `loop-state.json`.
pub(super) fn loop_state(run: &str, project: &str, workflow: &Workflow, history: &History) -> String {
    let state = &history.state;
    let activity = Activity::of(state);
    let green = implementing_phase(workflow);
    let named = |phases: &mut dyn Iterator<Item = PhaseId>| -> Vec<&str> {
        phases.map(|it| workflow.phases[it].name.as_str()).collect()
    };
    let errors = state.troubles.errors.iter().map(|it| {
        json!({
            "timestamp": it.at.to_string(), "phase": workflow.phases[it.phase].name, "iteration": it.iteration,
            "error": it.text, "hash": it.hash,
        })
    });
    pretty(&LoopStateFile {
        session_id: run,
        prp_file: &state.opening.input,
        started_at: state.opened_at.to_string(),
        current_phase: &workflow.phases[state.phase].name,
        current_iteration: state.visit.iteration,
        green_model: green.and_then(|it| state.models.get(&it)).map(String::as_str),
        last_activity: state.updated_at.to_string(),
        status: word(activity),
        halt_reason: (activity == Activity::Halted).then(|| halt_reason(workflow, state)),
        pause_reason: (activity == Activity::Paused).then(|| state.reason(workflow)),
        paused_at: time(history.paused_at),
        resumed_at: time(history.resumed_at),
        completed_at: time(history.completed_at),
        phases_completed: named(&mut (0..workflow.phases.len()).filter(|it| history.state.is_done(*it))),
        phase_history: phase_history(workflow, history),
        error_history: errors.collect(),
        total_agent_calls: state.calls_total,
        qa_attempts: state.rejections.values().sum(),
        phases_skipped: named(&mut (0..workflow.phases.len()).filter(|it| history.state.is_forced(*it))),
        verified: state.verified(),
        project,
    })
}

/// Whether a `loop-state.json` says what the state does. Times have seconds only, so they alone would
/// not tell.
pub(super) fn agrees(found: &serde_json::Value, workflow: &Workflow, state: &State) -> bool {
    let activity = Activity::of(state);
    let reason = match activity {
        Activity::Halted => found["halt_reason"] == halt_reason(workflow, state),
        Activity::Paused => found["pause_reason"] == state.reason(workflow),
        Activity::Running | Activity::Completed => true,
    };
    reason
        && found["status"] == word(activity)
        && found["last_activity"] == state.updated_at.to_string()
        && found["current_phase"] == workflow.phases[state.phase].name
        && found["current_iteration"] == state.visit.iteration
        && found["total_agent_calls"] == state.calls_total
}

fn halt_reason(workflow: &Workflow, state: &State) -> String {
    match Status::of(state) {
        Status::Cancelled => "aborted by user".to_owned(),
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Halted
        | Status::Stopped
        | Status::Capped
        | Status::Completed => state.reason(workflow),
    }
}

fn phase_history(workflow: &Workflow, history: &History) -> Map<String, serde_json::Value> {
    let mut entries = Map::new();
    for (id, (phase, log)) in workflow.phases.iter().zip(&history.state.phases).enumerate() {
        let Some(started_at) = log.started_at else { continue };
        let completed_at = log.completed_at.filter(|_| history.state.is_done(id));
        let mut entry = json!({
            "started_at": started_at.to_string(), "completed_at": time(completed_at),
            "iterations": log.iterations, "visits": log.visits,
        });
        if let Some(reason) = &log.exit_reason {
            let passed = log.status == PhaseStatus::Completed;
            entry["exit_reason"] = json!(if passed { "Dual-Gate satisfied" } else { reason.as_str() });
        }
        if history.state.is_forced(id) {
            entry["forced_exit"] = json!(true);
        }
        entries.insert(phase.name.clone(), entry);
    }
    entries
}

/// Returns `circuit-breaker.json`.
pub(super) fn circuit_breaker(workflow: &Workflow, history: &History) -> String {
    let state = &history.state;
    let entries = history.breaker.iter().map(|it| {
        json!({
            "timestamp": it.at.to_string(), "event": breaker_change(it.what), "from_state": breaker_word(it.from),
            "to_state": breaker_word(it.to), "reason": it.reason,
        })
    });
    #[derive(Serialize)]
    struct CircuitBreaker<'a> {
        state: &'static str,
        no_progress_count: u32,
        same_error_count: u32,
        last_progress_metric: &'a BTreeMap<String, Value>,
        last_error_hash: Option<&'a String>,
        opened_at: Option<String>,
        open_reason: Option<String>,
        history: Vec<serde_json::Value>,
    }
    pretty(&CircuitBreaker {
        state: breaker_word(breaker(workflow, state)),
        no_progress_count: state.visit.breaker.no_progress,
        same_error_count: state.visit.breaker.same_error,
        last_progress_metric: &history.last_progress,
        last_error_hash: state.visit.breaker.errors.last(),
        opened_at: time(history.breaker_opened_at),
        open_reason: open_reason(workflow, state),
        history: entries.collect(),
    })
}

/// Returns `rate-limit.json`. A workflow without a window has no limit, which reads as null.
pub(super) fn rate_limit(workflow: &Workflow, history: &History) -> String {
    let state = &history.state;
    let window = workflow.limits.window.as_ref();
    let calls = window.map_or(state.calls, |it| state.calls.at(it, state.updated_at));
    let limit = limit(state);
    let provider = limit == Some(HistoryLimit::Provider);
    let paused = limit == Some(HistoryLimit::Window);
    let hourly = json!({
        "calls_made": calls.made,
        "limit": window.map(|it| it.calls),
        "window_start": calls.start.to_string(),
        "next_reset": window.map_or(calls.start, |it| calls.start.plus(it.every)).to_string(),
    });
    let anthropic_5h = json!({
        "detected": provider,
        "detected_at": time(history.limited_at.filter(|_| provider)),
        "resume_at": time(state.wait.as_ref().filter(|_| provider).map(|it| it.until)),
        "waiting": provider,
    });
    pretty(&json!({
        "hourly": hourly,
        "anthropic_5h": anthropic_5h,
        "paused": paused,
        "pause_reason": paused.then(|| state.reason(workflow)),
        "paused_at": time(history.limited_at.filter(|_| paused)),
    }))
}

/// Returns `metrics.json`.
pub(super) fn metrics(run: &str, workflow: &Workflow, history: &History) -> String {
    let state = &history.state;
    let mut phases = Map::new();
    for (id, (phase, log)) in workflow.phases.iter().zip(&state.phases).enumerate() {
        let Some(started_at) = log.started_at else {
            phases.insert(phase.name.clone(), json!(null));
            continue;
        };
        let visit = history.visits.get(&id);
        let last = visit.and_then(|it| it.back()).map(|it| it.metrics.clone()).unwrap_or_default();
        let entries = visit.into_iter().flatten().map(|it| {
            let mut entry = json!({ "iteration": it.number, "timestamp": it.at.to_string() });
            for (name, value) in
                it.metrics.iter().filter(|it| !["iteration", "timestamp"].contains(&it.0.as_str()))
            {
                entry[name] = json!(value);
            }
            entry
        });
        let is_done = history.state.is_done(id);
        let label = if is_done { "final_metrics" } else { "current_metrics" };
        phases.insert(
            phase.name.clone(),
            json!({
                "started_at": started_at.to_string(),
                "completed_at": time(log.completed_at.filter(|_| is_done)),
                "iterations": log.iterations,
                (label): last,
                "history": entries.collect::<Vec<_>>(),
            }),
        );
    }
    pretty(&json!({
        "session_id": run,
        "prp_file": state.opening.input,
        "started_at": state.opened_at.to_string(),
        "current_phase": workflow.phases[state.phase].name,
        "phases": phases,
    }))
}

/// Returns `dual-gate.json`, once an exit rule was judged.
pub(super) fn dual_gate(workflow: &Workflow, history: &History) -> Option<String> {
    let exit = history.exit.as_ref()?;
    let phase = &workflow.phases[exit.phase];
    let condition = phase.exit.as_ref();
    let names: Vec<&str> =
        condition.map_or_else(|| vec!["checks_failing"], |it| it.names().iter().map(|it| it.0).collect());
    let value = |name: &str| exit.judgement.metrics.get(name).map(|it| it.value.clone());
    let values: BTreeMap<&str, Option<Value>> = names.into_iter().map(|it| (it, value(it))).collect();
    let source = if exit.judgement.signal && exit.is_signalled { "explicit_signal" } else { "none" };
    Some(pretty(&json!({
        "phase": phase.name,
        "iteration": exit.iteration,
        "gate_1": {
            "satisfied": exit.judgement.exit == Truth::True,
            "condition": condition.map_or("checks_failing == 0", |it| it.source()),
            "values": values,
        },
        "gate_2": { "satisfied": exit.judgement.signal, "source": source },
        "can_exit": exit.judgement.verdict == loop_core::engine::Verdict::Leave,
        "timestamp": exit.at.to_string(),
        "evaluated_at": exit.at.to_string(),
    })))
}

/// Returns `qa-state.json`, once a review has been judged.
pub(super) fn qa_state(workflow: &Workflow, history: &History) -> Option<String> {
    let review = history.last_review.as_ref()?;
    let memory: BTreeMap<&str, &Value> = review
        .said
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("memory_context_")?, value)))
        .collect();
    Some(pretty(&json!({
        "attempt": review.attempt,
        "max_attempts": review_attempt(workflow, &history.state, review.phase).1,
        "last_verdict": verdict(review.verdict.as_ref()),
        "report_path": format!("qa-report-{}.md", review.number),
        "memory_context": memory,
    })))
}

/// Returns the word that the format has for where a run stands.
fn word(activity: Activity) -> &'static str {
    match activity {
        Activity::Running => "running",
        Activity::Paused => "paused",
        Activity::Halted => "halted",
        Activity::Completed => "completed",
    }
}

fn breaker_change(what: BreakerChange) -> &'static str {
    match what {
        BreakerChange::Progress => "progress",
        BreakerChange::Error => "error",
        BreakerChange::State => "state_change",
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|it| it.to_string())
}

fn pretty(object: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(object).expect("a mirror is plain data");
    text.push('\n');
    text
}
