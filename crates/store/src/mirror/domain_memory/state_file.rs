//! The text of `loop-state.json`, as the schema of its seed has it, and the failure log.

use super::words::{BetweenStages, GATE_REJECTION, GateStatus, StageStatus};
use super::{Capabilities, SystemView, skills};
use loop_base::files;
use loop_base::secret::redact;
use loop_core::engine::{
    GateRefusal, GateState, History, PhaseStatus, QuestionKind, SkillHistory, State, Station, Status, Step,
};
use loop_core::workflow::model::Workflow;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Failures that the log of a domain holds, over all of its systems.
const FAILURES_MOST: usize = 1000;

pub(super) fn text(workflow: &Workflow, history: &History, project: &str) -> String {
    let (state, log) = (&history.state, &history.skills);
    let beginning = &state.opening.beginning;
    let told = beginning.told.as_deref();
    let worktree = state.opening.worktree.as_deref();
    let place = worktree.map(|it| it.place.as_str()).unwrap_or_default();
    let inside = place.strip_prefix(project).map(|it| it.trim_start_matches('/')).unwrap_or(place);
    let (retries, total) = retries_most(workflow);
    let (stage, between) = (workflow.phases[state.phase].name.as_str(), between_stages(state));
    let mut whole = json!({
        "systemId": state.opening.input,
        "systemName": beginning.title.as_deref().unwrap_or(&state.opening.input),
        "githubIssue": beginning.issue,
        "branch": worktree.map(|it| it.branch.as_str()).unwrap_or_default(),
        "worktree": inside,
        "state": stage_word(workflow, state),
        "stateEnteredAt": history.entered_at.to_string(),
        "capabilities": Capabilities::of(state).json(),
        "stages": stages(workflow, state),
        "failures": {
            "count": state.retry.count,
            "maxRetries": retries,
            "totalFailures": state.retry.total,
            "maxTotalFailures": total,
            "history": failures(workflow, state),
        },
        "gates": gates_json(workflow, state, log),
        "checkpoints": skills::checkpoints(told, log),
        "skillsUsage": skills::usage(told, log),
        "skillsLog": skills::log(told, log),
        "metrics": {
            "skillsInvoked": skills::usage(told, log).values().sum::<u32>(),
            "skillHistory": skills::velocity(told, log),
        },
        "skillExecution": execution(workflow, state, log),
        "prerequisites": prerequisites(workflow, state),
        "updatedAt": state.updated_at.to_string(),
    });
    if let Some(at) = history.verified_at {
        whole["lastVerification"] = at.to_string().into();
    }
    if Status::of(state) == Status::Halted {
        whole["blockedReason"] = state.reason(workflow).into();
    }
    if between.is_some() {
        whole["failedStage"] = stage.into();
    }
    let mut text = serde_json::to_string_pretty(&whole).expect("plain data");
    text.push('\n');
    redact(&text).into_owned()
}

/// The stage of a system, or what it is between two of them.
fn stage_word<'a>(workflow: &'a Workflow, state: &State) -> &'a str {
    between_stages(state).map_or(workflow.phases[state.phase].name.as_str(), |it| it.word())
}

/// Returns what a person is told of a system at once.
pub(super) fn view(workflow: &Workflow, history: &History) -> SystemView {
    let state = &history.state;
    let beginning = &state.opening.beginning;
    SystemView {
        name: beginning.title.clone().unwrap_or_else(|| state.opening.input.clone()),
        state: stage_word(workflow, state).to_owned(),
        capabilities: Capabilities::of(state),
        gates: gates(workflow, state, &history.skills)
            .map(|it| (it.name.to_owned(), it.required, it.status))
            .collect(),
        retries_most: retries_most(workflow).0,
    }
}

/// Retries of one failure, and of all failures of a system.
fn retries_most(workflow: &Workflow) -> (u32, u32) {
    workflow.retries.as_ref().map_or((3, 10), |it| (it.at_most, it.total))
}

/// Where a run is that is in no stage.
fn between_stages(state: &State) -> Option<BetweenStages> {
    if Status::of(state) == Status::Halted {
        return Some(BetweenStages::Blocked);
    }
    let is_fix = matches!(&state.station, Station::Working(call) if matches!(call.step, Step::Fix(_)));
    match (is_fix, state.visit.fix_due) {
        (true, _) => Some(BetweenStages::Retry),
        (false, true) => Some(BetweenStages::Failed),
        (false, false) => None,
    }
}

impl Capabilities {
    /// Completed, current and remaining ones add up to the total at every step.
    fn of(state: &State) -> Capabilities {
        let all: Vec<(&str, bool)> = state
            .item_list()
            .map(|list| list.all().map(|(item, done)| (item.name.as_str(), done)).collect())
            .unwrap_or_default();
        if all.is_empty() {
            return Capabilities::unlisted(state);
        }
        let current = state.item.as_ref().map(|it| it.name.clone());
        let completed = all.iter().filter(|it| it.1).count();
        let remaining = all.iter().filter(|it| !it.1 && Some(it.0) != current.as_deref());
        let remaining: Vec<String> = remaining.map(|it| it.0.to_owned()).collect();
        let total = completed + usize::from(current.is_some()) + remaining.len();
        Capabilities { total, completed, current, remaining }
    }

    /// Before the list is read, and in workflows without one: what the queue lists, else one that is named like the
    /// system.
    fn unlisted(state: &State) -> Capabilities {
        let beginning = &state.opening.beginning;
        let mut remaining = beginning.capabilities.clone();
        if remaining.is_empty() {
            remaining.push(beginning.title.clone().unwrap_or_else(|| state.opening.input.clone()));
        }
        let total = remaining.len();
        if Status::of(state) == Status::Completed {
            remaining.clear();
        }
        Capabilities { total, completed: total - remaining.len(), current: None, remaining }
    }

    fn json(self) -> Value {
        json!({
            "total": self.total, "completed": self.completed, "current": self.current, "remaining": self.remaining,
        })
    }
}

fn stages(workflow: &Workflow, state: &State) -> Value {
    let mut stages = Map::new();
    for (phase, log) in workflow.phases.iter().zip(&state.phases) {
        let is_here = workflow.phases[state.phase].name == phase.name;
        let failed = is_here && (state.visit.fix_due || Status::of(state) == Status::Halted);
        let status = match log.status {
            PhaseStatus::Pending => StageStatus::Pending,
            PhaseStatus::Active if failed => StageStatus::Failed,
            PhaseStatus::Active => StageStatus::InProgress,
            PhaseStatus::Completed => StageStatus::Complete,
            PhaseStatus::Skipped | PhaseStatus::Forced => StageStatus::Skipped,
        };
        let mut stage = json!({ "status": status.word() });
        if let Some(at) = log.started_at {
            stage["startedAt"] = at.to_string().into();
        }
        if let Some(at) = log.completed_at {
            stage["completedAt"] = at.to_string().into();
        }
        if failed && let Some(last) = state.troubles.failures.last() {
            stage["error"] = last.text.as_str().into();
        }
        stages.insert(phase.name.clone(), stage);
    }
    Value::Object(stages)
}

fn failures(workflow: &Workflow, state: &State) -> Vec<Value> {
    let entry = |it: &loop_core::engine::FailureEntry| {
        let stage = match &it.gate {
            Some(_) => GATE_REJECTION,
            None => workflow.phases[it.phase].name.as_str(),
        };
        let mut value = json!({ "stage": stage, "error": it.text, "timestamp": it.at.to_string() });
        if let Some(item) = &it.item {
            value["capability"] = item.as_str().into();
        }
        if let Some(resolution) = &it.resolution {
            value["resolution"] = resolution.as_str().into();
        }
        if let Some(at) = it.resolved_at {
            value["resolvedAt"] = at.to_string().into();
        }
        value
    };
    state.troubles.failures.iter().map(entry).collect()
}

/// A gate of a system.
struct GateView<'a> {
    name: &'a str,
    required: bool,
    status: GateStatus,
    known: Option<&'a GateState>,
}

fn gates<'a>(
    workflow: &'a Workflow,
    state: &'a State,
    log: &'a SkillHistory,
) -> impl Iterator<Item = GateView<'a>> {
    let listed = workflow.mode.as_ref().and_then(|it| workflow.modes.get(it));
    let open = match state.question().map(|it| &it.kind) {
        Some(QuestionKind::Gate(gate)) => Some(gate),
        Some(_) | None => None,
    };
    workflow.gates.iter().map(move |(name, gate)| {
        let known = log.gates.get(name);
        let required = gate.required
            || listed.is_some_and(|it| it.contains(name))
            || state.gates_wanted.contains(name)
            || known.is_some_and(|it| it.requested_at.is_some());
        let is_approved = known.is_some_and(|it| it.approved.is_some());
        let refused = known.and_then(|it| it.refused.as_ref());
        let status = match (is_approved, refused, open == Some(name)) {
            (_, _, true) => GateStatus::Requested,
            (true, _, false) => GateStatus::Approved,
            (false, Some(GateRefusal::Rejected { .. }), false) => GateStatus::Rejected,
            // Nobody has answered yet.
            (false, Some(GateRefusal::TimedOut), false) => GateStatus::Requested,
            // It is asked again after the changes.
            (false, Some(GateRefusal::Changes { .. }) | None, false) if required => GateStatus::Pending,
            (false, Some(GateRefusal::Changes { .. }) | None, false) => GateStatus::NotApplicable,
        };
        GateView { name, required, status, known }
    })
}

fn gates_json(workflow: &Workflow, state: &State, log: &SkillHistory) -> Value {
    let mut all = Map::new();
    for gate in gates(workflow, state, log) {
        let mut value = json!({ "required": gate.required, "status": gate.status.word() });
        if let Some(at) = gate.known.and_then(|it| it.requested_at) {
            value["requestedAt"] = at.to_string().into();
        }
        if let Some((by, at)) = gate.known.and_then(|it| it.approved.as_ref()) {
            value["approvedBy"] = by.as_str().into();
            value["approvedAt"] = at.to_string().into();
        }
        if let Some(refused) = gate.known.and_then(|it| it.refused.as_ref()) {
            value["notes"] = refused.words().1.into();
        }
        all.insert(gate.name.to_owned(), value);
    }
    Value::Object(all)
}

fn execution(workflow: &Workflow, state: &State, log: &SkillHistory) -> Value {
    let mut phases = Map::new();
    for (id, phase) in workflow.phases.iter().enumerate() {
        let skipped: Vec<Value> = phase
            .skills
            .iter()
            .filter_map(|it| Some(json!({ "skill": it, "reason": state.skipped.get(it)? })))
            .collect();
        let completed = log.completed.get(&id).cloned().unwrap_or_default();
        let value = json!({ "required": phase.skills, "completed": completed, "skipped": skipped });
        phases.insert(phase.name.clone(), value);
    }
    Value::Object(phases)
}

/// What was asked once. Git is always there: a run needs a repository.
fn prerequisites(workflow: &Workflow, state: &State) -> Value {
    let mut whole = json!({ "git": { "status": "configured", "prompted": false } });
    for (name, skill) in workflow.skills.iter().filter(|it| it.1.needs.is_some()) {
        let said = state.prerequisites.get(name);
        let target = skill.target.as_ref().or(said.and_then(Option::as_ref));
        let is_skipped = target.is_none() && state.skipped.contains_key(name);
        let status = match (target, is_skipped) {
            (Some(_), _) => "configured",
            (None, true) => "skipped",
            // Nobody has been asked yet.
            (None, false) => continue,
        };
        whole[name] = json!({ "status": status, "prompted": said.is_some() });
        if let Some(target) = target {
            whole[name]["target"] = target.as_str().into();
        }
    }
    whole
}

/// Writes the failures of this run into the log of its domain, in place of what it said about them.
pub(super) fn write_failures(
    path: &Path,
    run: &str,
    workflow: &Workflow,
    state: &State,
) -> std::io::Result<()> {
    let before: Vec<Value> =
        files::text(path).ok().and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
    let is_ours = |it: &Value| it["run"].as_str() == Some(run);
    let mut entries: Vec<Value> = before.iter().filter(|it| !is_ours(it)).cloned().collect();
    for failure in &state.troubles.failures {
        let seconds = failure.resolved_at.map(|it| it.since(failure.at) / 1000);
        entries.push(json!({
            "run": run,
            "timestamp": failure.at.to_string(),
            "system": state.opening.input,
            "stage": workflow.phases[failure.phase].name,
            "error": failure.text,
            "errorType": failure.class.to_string(),
            "retries": failure.retries,
            "resolution": failure.resolution,
            "resolutionTime": seconds,
            "wasEscalated": failure.escalated,
        }));
    }
    let over = entries.len().saturating_sub(FAILURES_MOST);
    entries.drain(..over);
    if entries.is_empty() || entries == before {
        return Ok(());
    }
    let mut text = serde_json::to_string_pretty(&entries).expect("plain data");
    text.push('\n');
    super::super::replace(path, &redact(&text))
}
