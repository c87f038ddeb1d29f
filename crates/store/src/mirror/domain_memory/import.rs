//! Reads the `loop-state.json` that another controller left for a system, once: every field that is used is
//! validated, and the first one that is wrong is named. Nothing is written.

use super::told_work;
use super::words::{BetweenStages, GATE_REJECTION, GateStatus, StageStatus};
use crate::mirror::prp_session::import::Invalid;
use crate::mirror::prp_session::import::fields::Fields;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::entry;
use loop_core::engine::{Effect, Event, How, Item, Listing, Question, QuestionKind, ToldFailure, ToldWork};
use loop_core::workflow::model::{PhaseId, Workflow};
use std::path::Path;

/// No system has more capabilities, failures or retries than this; a larger number is a mistake.
const COUNT_MOST: u64 = 10_000;

/// A system that another controller had begun, and that can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSystem {
    pub branch: String,
    /// Its worktree, relative to the project.
    pub worktree: String,
    pub started_at: Timestamp,
    pub failures: Vec<ToldFailure>,
    /// Retries that were used in the failure that is not resolved.
    pub retries: u32,
    pub failures_total: u32,
    /// How many capabilities are done; the file does not name them.
    pub done: usize,
    /// Those that are not, in their order.
    pub open: Vec<String>,
    /// Gates that somebody asked for.
    pub required: Vec<String>,
    /// What was logged of the work.
    pub told: ToldWork,
    /// What is said when it is taken over.
    pub notes: Vec<String>,
    /// Where it continues.
    stage: PhaseId,
    /// When each stage before that was left.
    passed: Vec<Timestamp>,
    blocked: Option<String>,
}

/// Reads the state of a system; `None` where the file is about another one, or there is none.
pub fn read(
    folder: &Path,
    system: &str,
    workflow: &Workflow,
    now: Timestamp,
) -> Result<Option<ImportedSystem>, Invalid> {
    let Some(file) = Fields::read(folder, super::STATE)? else { return Ok(None) };
    let id = file.text("systemId")?;
    if entry::number(&id).is_none() {
        return Err(file.wrong("systemId", "is not of the form sys-001"));
    }
    if id != system {
        return Ok(None);
    }
    let entered_at = file.moment("stateEnteredAt", now)?;
    file.moment("updatedAt", now)?;
    let mut notes = Vec::new();
    let state = file.text("state")?;
    let stage = stage(&file, workflow, &state, &mut notes)?;
    let passed = passed(&file, workflow, stage, entered_at, now)?;
    let (done, open) = capabilities(&file, workflow, stage)?;
    let failures = file.section("failures")?.ok_or_else(|| file.wrong("failures", "is missing"))?;
    let history = history(&failures, workflow, now)?;
    let count = |name: &str| Ok::<_, Invalid>(failures.count(name, COUNT_MOST)?.unwrap_or(0) as u32);
    let (told, left_out) = told_work::read(&file, now);
    if 0 < left_out {
        notes.push(format!(
            "what does not fit the schema of its logs is only in the copy (entries left out: {left_out})"
        ));
    }
    let is_open = history.iter().any(|it| it.resolution.is_none()) || BetweenStages::named(&state).is_some();
    Ok(Some(ImportedSystem {
        branch: file.text("branch")?,
        worktree: file.text("worktree")?,
        started_at: passed.first().copied().unwrap_or(entered_at).min(entered_at),
        // Retries belong to a failure that is not resolved; the file keeps their number after it.
        retries: if is_open { count("count")? } else { 0 },
        failures_total: count("totalFailures")?.max(history.len() as u32),
        failures: history,
        done,
        open,
        told,
        required: gates(&file, workflow, stage, &mut notes)?,
        notes,
        stage,
        passed,
        blocked: match BetweenStages::named(&state) == Some(BetweenStages::Blocked) {
            true => Some(
                file.optional_text("blockedReason")?
                    .unwrap_or_else(|| "blocked before it came here".to_owned()),
            ),
            false => None,
        },
    }))
}

impl ImportedSystem {
    /// Returns what leads from the opening of a run to where the system stands. `capabilities` are all of its
    /// capabilities, those that are done first.
    pub fn events(
        &self,
        workflow: &Workflow,
        capabilities: &[String],
        now: Timestamp,
    ) -> Vec<(Timestamp, Event)> {
        let entered = |phase: PhaseId| Event::Entered { phase, how: How::Passed };
        let stages = self.passed.iter().enumerate().map(|(phase, at)| (*at, entered(phase + 1)));
        let mut events: Vec<(Timestamp, Event)> = stages.collect();
        if workflow.phases[self.stage].each.is_some() && !self.open.is_empty() {
            let items = capabilities.iter().map(|it| Item::new(it, it)).collect();
            events.push((now, Event::Listed(Listing::Whole(items))));
        }
        events.extend(self.notes.iter().map(|it| (now, Event::Noted { text: it.clone() })));
        if let Some(reason) = &self.blocked {
            let text = format!("{}: {reason}", workflow.phases[self.stage].name);
            let kind = QuestionKind::Blocked;
            let question = Question { id: 1, kind, text, options: Vec::new(), about: None, deadline: None };
            events.push((now, Event::Began(Effect::Ask(question))));
        }
        events
    }
}

/// Where the system continues. What was handed in elsewhere was not proven here, so the review is taken again.
fn stage(
    file: &Fields,
    workflow: &Workflow,
    state: &str,
    notes: &mut Vec<String>,
) -> Result<PhaseId, Invalid> {
    let phase_id = |name: &str| workflow.phases.iter().position(|it| it.name == name);
    let unknown = |field: &str| {
        let stages = workflow.phases.iter().map(|it| it.name.as_str());
        let names: Vec<&str> = stages.chain(BetweenStages::ALL.map(BetweenStages::word)).collect();
        file.wrong(field, &format!("is not one of {}", names.join(", ")))
    };
    let stage = match BetweenStages::named(state) {
        Some(_) => failed_stage(file, workflow)?,
        None => phase_id(state).ok_or_else(|| unknown("state"))?,
    };
    if stage + 1 == workflow.phases.len() {
        return Err(file.wrong("state", "says that the system is complete: there is nothing to build"));
    }
    let proven_at = workflow.proof.at.unwrap_or(stage);
    if proven_at < stage {
        let name = &workflow.phases[proven_at].name;
        notes.push(format!(
            "{state} was reached elsewhere, and nothing was proven here: the run continues with {name}"
        ));
    }
    Ok(stage.min(proven_at))
}

/// The stage that failed, where the state only says that one did.
fn failed_stage(file: &Fields, workflow: &Workflow) -> Result<PhaseId, Invalid> {
    if let Some(name) = file.optional_text("failedStage")? {
        let found = workflow.phases.iter().position(|it| it.name == name);
        return found.ok_or_else(|| file.wrong("failedStage", "is not a stage"));
    }
    for wanted in [StageStatus::Failed, StageStatus::InProgress] {
        for (id, phase) in workflow.phases.iter().enumerate() {
            let stage = file.inner("stages", &phase.name)?;
            if stage.map(|it| it.text("status")).transpose()?.as_deref() == Some(wanted.word()) {
                return Ok(id);
            }
        }
    }
    Err(file.wrong("failedStage", "is missing, and no stage is failed or in progress"))
}

/// When each stage before this one was left. Those of the body are gone through once for each capability, so what
/// the file says about them is about the current one.
fn passed(
    file: &Fields,
    workflow: &Workflow,
    stage: PhaseId,
    entered_at: Timestamp,
    now: Timestamp,
) -> Result<Vec<Timestamp>, Invalid> {
    let in_body = |id: PhaseId| workflow.phases[id].each.is_some();
    let mut passed = Vec::new();
    for (id, phase) in workflow.phases.iter().enumerate() {
        let Some(entry) = file.inner("stages", &phase.name)? else {
            if id < stage {
                return Err(file.wrong(&format!("stages.{}", phase.name), "is missing"));
            }
            continue;
        };
        let status = entry.text("status")?;
        let Some(known) = StageStatus::named(&status) else {
            let words = StageStatus::ALL.map(StageStatus::word).join(", ");
            return Err(entry.wrong("status", &format!("is not one of {words}")));
        };
        let ended = entry.optional_moment("completedAt", now)?;
        let is_over = matches!(known, StageStatus::Complete | StageStatus::Skipped);
        if id < stage && !is_over && !(in_body(id) && in_body(stage)) {
            let name = &workflow.phases[stage].name;
            return Err(entry.wrong("status", &format!("is {status}, and the state is {name}")));
        }
        if id < stage {
            passed.push(ended.unwrap_or(entered_at).min(entered_at));
        }
    }
    Ok(passed)
}

fn capabilities(file: &Fields, workflow: &Workflow, stage: PhaseId) -> Result<(usize, Vec<String>), Invalid> {
    let Some(found) = file.section("capabilities")? else { return Ok((0, Vec::new())) };
    let count = |name: &str| Ok::<_, Invalid>(found.count(name, COUNT_MOST)?.unwrap_or(0) as usize);
    let (total, done) = (count("total")?, count("completed")?);
    let remaining = found.texts("remaining")?;
    let open: Vec<String> = found.optional_text("current")?.into_iter().chain(remaining).collect();
    if total != done + open.len() {
        let why =
            format!("is {total}, and {done} completed and {} open make {}", open.len(), done + open.len());
        return Err(found.wrong("total", &why));
    }
    let is_after_body = (0..stage).rev().any(|it| workflow.phases[it].each.is_some())
        && workflow.phases[stage].each.is_none();
    if let Some(left) = open.first().filter(|_| is_after_body) {
        let name = &workflow.phases[stage].name;
        return Err(found.wrong("remaining", &format!("has {left:?}, and the state is {name}")));
    }
    Ok((done, open))
}

fn history(failures: &Fields, workflow: &Workflow, now: Timestamp) -> Result<Vec<ToldFailure>, Invalid> {
    let mut found = Vec::new();
    for entry in failures.entries("history")? {
        let name = entry.text("stage")?;
        let phase = workflow.phases.iter().position(|it| it.name == name);
        if phase.is_none() && name != GATE_REJECTION {
            return Err(entry.wrong("stage", "is not a stage"));
        }
        found.push(ToldFailure {
            at: entry.moment("timestamp", now)?,
            phase,
            item: entry.optional_text("capability")?,
            text: entry.text("error")?.chars().take(500).collect(),
            resolution: entry.optional_text("resolution")?,
            resolved_at: entry.optional_moment("resolvedAt", now)?,
        });
    }
    Ok(found)
}

/// Returns the gates that somebody required. An approval is for one commit and its changes, which no file of
/// another controller names, so a gate that was approved there is asked again unless its stage is passed.
fn gates(
    file: &Fields,
    workflow: &Workflow,
    stage: PhaseId,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, Invalid> {
    let mut required = Vec::new();
    for name in workflow.gates.keys() {
        let Some(gate) = file.inner("gates", name)? else { continue };
        let status = gate.optional_text("status")?.unwrap_or_default();
        let known = GateStatus::named(&status);
        if !status.is_empty() && known.is_none() {
            let words = GateStatus::ALL.map(GateStatus::word).join(", ");
            return Err(gate.wrong("status", &format!("is not one of {words}")));
        }
        let is_approved = known == Some(GateStatus::Approved) || gate.is_true("approved");
        let is_ahead = workflow.phases[stage..].iter().any(|it| it.gates.iter().any(|it| it.gate == *name));
        if is_approved {
            let by = gate.optional_text("approvedBy")?.unwrap_or_else(|| "somebody".to_owned());
            let then = match is_ahead {
                true => "what was approved is not known here, so it is asked again where it is due",
                false => "the run continues behind it",
            };
            notes.push(format!("the gate {name} was approved by {by} elsewhere; {then}"));
        }
        if gate.is_true("required") && (is_ahead || !is_approved) {
            required.push(name.clone());
        }
    }
    Ok(required)
}
