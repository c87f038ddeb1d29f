//! Reads the session of another controller once: every field that is used is validated, and the
//! first one that is wrong is named. Companion files may be missing. Nothing is written; `told.rs`
//! makes a journal of what was found.

use fields::Fields;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{Failure, Metric, Source};
use loop_core::workflow::model::{ErrorClass, PhaseId, Workflow};
use std::collections::BTreeMap;
use std::path::Path;

pub(in crate::mirror) mod fields;
mod import_report;

/// The largest value that the format allows.
const ITERATIONS_MOST: u64 = 100;

/// No run makes more calls than this; a larger number is a mistake.
const CALLS_MOST: u64 = 1_000_000;

/// Clocks of two machines differ; a time further ahead than this is wrong.
const CLOCK_SKEW_MS: u64 = 120_000;

/// A session that was found and can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSession {
    pub session: String,
    /// The PRP as the file names it.
    pub input: String,
    /// The project that it says it belongs to.
    pub project: Option<String>,
    pub is_unfinished: bool,
    pub started_at: Timestamp,
    pub notes: Vec<String>,
    phase: PhaseId,
    iteration: u32,
    status: SessionStatus,
    phases: BTreeMap<PhaseId, Past>,
    errors: Vec<(PhaseId, u32, Failure)>,
    calls: u64,
    rejections: u32,
    green_model: Option<String>,
    last_activity: Timestamp,
    breaker: BreakerCounts,
    metrics: BTreeMap<String, Metric>,
    window: Option<(Timestamp, u64)>,
    waits_until: Option<Timestamp>,
}

impl ImportedSession {
    /// A run of a workflow of which only the first phase is known.
    pub(in crate::mirror) fn of_one_phase(
        session: String,
        input: String,
        started_at: Timestamp,
        iteration: u32,
        status: SessionStatus,
    ) -> ImportedSession {
        ImportedSession {
            session,
            input,
            project: None,
            is_unfinished: status != SessionStatus::Completed,
            started_at,
            notes: Vec::new(),
            phase: 0,
            iteration,
            status,
            phases: BTreeMap::new(),
            errors: Vec::new(),
            calls: u64::from(iteration),
            rejections: 0,
            green_model: None,
            last_activity: started_at,
            breaker: BreakerCounts::default(),
            metrics: BTreeMap::new(),
            window: None,
            waits_until: None,
        }
    }
}

/// What is wrong with a session's files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}: {field} {why}")]
pub struct Invalid {
    pub file: &'static str,
    pub field: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::mirror) enum SessionStatus {
    Running,
    Paused(String),
    Halted(String),
    Capped(String),
    Completed,
}

#[derive(Clone, Debug, PartialEq)]
struct Past {
    iterations: u32,
    started_at: Timestamp,
    completed_at: Option<Timestamp>,
    is_skipped: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct BreakerCounts {
    no_progress: u32,
    same_error: u32,
    hash: Option<String>,
}

/// Reads the session in a folder; `None` when there is none.
pub fn read(folder: &Path, workflow: &Workflow, now: Timestamp) -> Result<Option<ImportedSession>, Invalid> {
    let Some(state) = Fields::read(folder, "loop-state.json")? else { return Ok(None) };
    let phase_id = |name: &str| workflow.phases.iter().position(|it| it.name == name);
    let names: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
    let session = state.text("session_id")?;
    if uuid::Uuid::parse_str(&session)
        .map_or(true, |it| it.get_version_num() != 4 || it.to_string() != session)
    {
        return Err(state.wrong("session_id", "is not a UUID of version 4"));
    }
    let input = state.text("prp_file")?;
    let started_at = state.moment("started_at", now)?;
    let phase_name = state.text("current_phase")?;
    let phase = phase_id(&phase_name)
        .ok_or_else(|| state.wrong("current_phase", &format!("is not one of {}", names.join(", "))))?;
    let iteration = state.count("current_iteration", ITERATIONS_MOST)?.unwrap_or(0);
    let status = session_status(&state)?;
    let last_activity = state.optional_moment("last_activity", now)?.unwrap_or(started_at);
    let completed = state.texts("phases_completed")?;
    if let Some(unknown) = completed.iter().find(|it| phase_id(it).is_none()) {
        return Err(state.wrong("phases_completed", &format!("has \"{unknown}\", which is not a phase")));
    }
    let rejections = match state.count("qa_attempts", 3)? {
        Some(count) => count,
        None => rejections_told(folder)?,
    };
    let phases = past(&state, workflow, &completed, started_at, now)?;
    let first_open = (0..phase).find(|it| phases.get(it).is_none_or(|it| it.completed_at.is_none()));
    if let Some(open) = first_open.filter(|_| rejections == 0) {
        let why = format!("lacks {}, and the phase is {phase_name}", names[open]);
        return Err(state.wrong("phases_completed", &why));
    }
    if status == SessionStatus::Completed && completed.len() != names.len() {
        return Err(state.wrong("phases_completed", "lacks a phase, and the status is completed"));
    }
    let mut found = ImportedSession {
        session,
        input,
        project: state.optional_text("project")?,
        is_unfinished: status != SessionStatus::Completed,
        started_at,
        notes: Vec::new(),
        phase,
        iteration: u32::try_from(iteration).unwrap_or(0),
        status,
        errors: errors(&state, workflow)?,
        phases,
        calls: state.count("total_agent_calls", CALLS_MOST)?.unwrap_or(0),
        rejections: u32::try_from(rejections).unwrap_or(0),
        green_model: state.optional_text("green_model")?,
        last_activity,
        breaker: BreakerCounts::default(),
        metrics: BTreeMap::new(),
        window: None,
        waits_until: None,
    };
    companions(folder, workflow, now, &mut found)?;
    Ok(Some(found))
}

/// A session without a count of its own may have one beside it: the attempt, from 1, and its verdict.
fn rejections_told(folder: &Path) -> Result<u64, Invalid> {
    let Some(review) = Fields::read(folder, "qa-state.json")? else { return Ok(0) };
    let attempt = review.count("attempt", 3)?.unwrap_or(0);
    let is_rejected = review.optional_text("last_verdict")?.as_deref() == Some("REJECT");
    Ok(if is_rejected { attempt } else { attempt.saturating_sub(1) })
}

fn session_status(state: &Fields) -> Result<SessionStatus, Invalid> {
    let reason = |field: &str, otherwise: &str| {
        Ok::<_, Invalid>(state.optional_text(field)?.unwrap_or_else(|| otherwise.to_owned()))
    };
    match state.text("status")?.as_str() {
        "running" => Ok(SessionStatus::Running),
        "paused" | "suspended" => Ok(SessionStatus::Paused(reason("pause_reason", "paused")?)),
        "halted" => Ok(SessionStatus::Halted(reason("halt_reason", "halted")?)),
        "aborted" => Ok(SessionStatus::Halted("aborted by user".to_owned())),
        "completed" => Ok(SessionStatus::Completed),
        _ => Err(state.wrong("status", "is not one of running, paused, completed, halted")),
    }
}

fn past(
    state: &Fields,
    workflow: &Workflow,
    completed: &[String],
    started_at: Timestamp,
    now: Timestamp,
) -> Result<BTreeMap<PhaseId, Past>, Invalid> {
    let skipped = state.texts("phases_skipped")?;
    let mut phases = BTreeMap::new();
    for (id, phase) in workflow.phases.iter().enumerate() {
        let is_done = completed.contains(&phase.name);
        let entry = state.inner("phase_history", &phase.name)?;
        if !is_done && entry.is_none() {
            continue;
        }
        let told = |field: &str| entry.as_ref().map(|it| it.optional_moment(field, now)).transpose();
        let begun = told("started_at")?.flatten().unwrap_or(started_at);
        let ended = told("completed_at")?.flatten();
        let count = entry.as_ref().map(|it| it.count("iterations", ITERATIONS_MOST)).transpose()?.flatten();
        phases.insert(
            id,
            Past {
                iterations: u32::try_from(count.unwrap_or(u64::from(is_done))).unwrap_or(1),
                started_at: begun,
                completed_at: is_done.then(|| ended.unwrap_or(begun)),
                is_skipped: skipped.contains(&phase.name),
            },
        );
    }
    Ok(phases)
}

fn errors(state: &Fields, workflow: &Workflow) -> Result<Vec<(PhaseId, u32, Failure)>, Invalid> {
    let mut errors = Vec::new();
    for entry in state.entries("error_history")? {
        let name = entry.text("phase")?;
        let Some(phase) = workflow.phases.iter().position(|it| it.name == name) else {
            return Err(entry.wrong("phase", "is not a phase"));
        };
        let iteration = entry.count("iteration", ITERATIONS_MOST)?.unwrap_or(1).max(1);
        let text: String = entry.text("error")?.chars().take(500).collect();
        let signature = entry.optional_text("hash")?.unwrap_or_else(|| loop_core::engine::signature(&text));
        let failure = Failure { class: ErrorClass::Other, signature, text };
        errors.push((phase, u32::try_from(iteration).unwrap_or(1), failure));
    }
    Ok(errors)
}

/// Files beside `loop-state.json`, each of which may be missing.
fn companions(
    folder: &Path,
    workflow: &Workflow,
    now: Timestamp,
    found: &mut ImportedSession,
) -> Result<(), Invalid> {
    if let Some(breaker) = Fields::read(folder, "circuit-breaker.json")? {
        if !["CLOSED", "HALF_OPEN", "OPEN"].contains(&breaker.text("state")?.as_str()) {
            return Err(breaker.wrong("state", "is not one of CLOSED, HALF_OPEN, OPEN"));
        }
        let count = |name: &str| {
            Ok::<_, Invalid>(u32::try_from(breaker.count(name, ITERATIONS_MOST)?.unwrap_or(0)).unwrap_or(0))
        };
        found.breaker = BreakerCounts {
            no_progress: count("no_progress_count")?,
            same_error: count("same_error_count")?,
            hash: breaker.optional_text("last_error_hash")?,
        };
        found.metrics = breaker.values("last_progress_metric")?;
    }
    if let Some(metrics) = Fields::read(folder, "metrics.json")? {
        let name = &workflow.phases[found.phase].name;
        if let Some(phase) = metrics.inner("phases", name)? {
            let current = phase.values("current_metrics")?;
            if !current.is_empty() {
                found.metrics = current;
            }
        }
    }
    if let Some(rate) = Fields::read(folder, "rate-limit.json")? {
        if let Some(hourly) = rate.section("hourly")? {
            let made = hourly.count("calls_made", CALLS_MOST)?.unwrap_or(0);
            let start = hourly.optional_moment("window_start", Timestamp(i64::MAX - 1_000_000))?;
            let reset = hourly.optional_moment("next_reset", Timestamp(i64::MAX - 1_000_000))?;
            match (start, reset) {
                (Some(start), Some(reset)) if start <= now && start < reset => {
                    found.window = Some((start, made)).filter(|_| now < reset);
                }
                (Some(_), Some(_)) => {
                    found.notes.push("the window of calls was impossible and starts over".to_owned());
                }
                (_, None) | (None, _) => (),
            }
        }
        if let Some(provider) = rate.section("anthropic_5h")? {
            let until = provider.optional_moment("resume_at", Timestamp(i64::MAX - 1_000_000))?;
            found.waits_until = until.filter(|it| provider.is_true("waiting") && now < *it);
        }
    }
    Ok(())
}

fn claimed(value: Value) -> Metric {
    Metric { value, source: Source::Claimed, claimed: None }
}
