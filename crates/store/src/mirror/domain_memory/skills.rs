//! What each skill was called for, how long it took and what it left behind, in the order of the calls.

use loop_base::time::Timestamp;
use loop_core::engine::{Command, Effect, Event, How, JudgedTurn, State, Step, Verdict};
use loop_core::workflow::model::{PhaseId, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Entries that the state file holds; a system of more calls is seldom worth reading in it.
const ENTRIES_MOST: usize = 1000;

/// Checkpoints that the state file holds.
const CHECKPOINTS_MOST: usize = 500;

/// One call of a skill.
pub(super) struct SkillEntry {
    skill: String,
    reason: String,
    started_at: Timestamp,
    completed_at: Option<Timestamp>,
    status: &'static str,
    deliverables: Vec<String>,
    references: Vec<String>,
    children: Vec<Value>,
}

/// How a gate stands.
#[derive(Clone, Default)]
pub(super) struct GateState {
    pub requested_at: Option<Timestamp>,
    pub approved: Option<(String, Timestamp)>,
    pub rejected: bool,
}

#[derive(Default)]
pub(super) struct SkillsLog {
    pub entries: Vec<SkillEntry>,
    /// Phase → skills that were completed in it.
    pub completed: BTreeMap<PhaseId, Vec<String>>,
    pub gates: BTreeMap<String, GateState>,
    pub checkpoints: Vec<Value>,
    pub last_verification: Option<Timestamp>,
    /// When the phase was entered that the run is in.
    pub entered_at: Timestamp,
    commit: String,
}

impl SkillsLog {
    pub(super) fn follow(
        &mut self,
        workflow: &Workflow,
        state: &State,
        at: Timestamp,
        event: &Event,
        turn: Option<&JudgedTurn>,
    ) {
        match event {
            Event::Opened(_) => self.entered_at = at,
            Event::Began(Effect::Work(call)) => {
                let phase = &workflow.phases[call.phase];
                if let Step::Skill(skill) | Step::Fix(skill) = &call.step {
                    let item = call.item.as_ref().map(|it| format!(", {}", it.name)).unwrap_or_default();
                    let why = match &call.step {
                        Step::Fix(_) => "a failure is to be diagnosed".to_owned(),
                        Step::Skill(_) | Step::Main => format!("{}: {}{item}", phase.name, phase.goal),
                    };
                    self.entries.push(SkillEntry {
                        skill: skill.clone(),
                        reason: why,
                        started_at: at,
                        completed_at: None,
                        status: "failed",
                        deliverables: Vec::new(),
                        references: Vec::new(),
                        children: Vec::new(),
                    });
                    let over = self.entries.len().saturating_sub(ENTRIES_MOST);
                    self.entries.drain(..over);
                }
            }
            Event::Began(Effect::Ask(question)) => {
                if let loop_core::engine::QuestionKind::Gate(gate) = &question.kind {
                    let gate = self.gates.entry(gate.clone()).or_default();
                    *gate = GateState { requested_at: Some(at), ..GateState::default() };
                }
            }
            Event::Approved { gate, by, .. } => {
                self.gates.entry(gate.clone()).or_default().approved = Some((by.clone(), at));
                self.checkpoint("approval", None, &format!("{gate} approved by {by}"), at);
            }
            Event::Voided { gate, .. } => self.gates.entry(gate.clone()).or_default().approved = None,
            Event::Entered { phase, how } => {
                self.entered_at = at;
                if let How::Changes { gate, .. } = how {
                    self.gates.entry(gate.clone()).or_default().rejected = true;
                }
                let name = &workflow.phases[*phase].name;
                self.checkpoint("milestone", None, &format!("entered {name}"), at);
            }
            Event::Measured(evidence) if !evidence.results.is_empty() => self.last_verification = Some(at),
            Event::Commanded(Command::Skip { skill, reason }) => {
                self.entries.push(SkillEntry {
                    skill: skill.clone(),
                    reason: reason.clone(),
                    started_at: at,
                    completed_at: Some(at),
                    status: "skipped",
                    deliverables: Vec::new(),
                    references: Vec::new(),
                    children: Vec::new(),
                });
            }
            _ => (),
        }
        if let Some(turn) = turn {
            self.close(workflow, at, turn);
            if !state.seen.commit.is_empty() && state.seen.commit != self.commit {
                let said =
                    turn.report.summary.clone().unwrap_or_else(|| format!("call {}", turn.call.number));
                let commit = state.seen.commit.clone();
                self.checkpoint("commit", Some(&commit), &said, at);
            }
            self.commit.clone_from(&state.seen.commit);
        }
    }

    fn close(&mut self, workflow: &Workflow, at: Timestamp, turn: &JudgedTurn) {
        let (Step::Skill(skill) | Step::Fix(skill)) = &turn.call.step else { return };
        let is_complete = match &turn.judgement.verdict {
            Verdict::Leave | Verdict::Step | Verdict::Reject | Verdict::Checkpoint(_) => true,
            Verdict::Again | Verdict::Fail | Verdict::Stuck(_) => false,
        };
        let open = self.entries.iter_mut().rev().find(|it| it.skill == *skill && it.completed_at.is_none());
        if let Some(entry) = open {
            entry.completed_at = Some(at);
            entry.status = if is_complete { "complete" } else { "failed" };
            entry.deliverables.clone_from(&turn.report.deliverables);
            if is_complete {
                // They were looked for before the skill counted as done.
                let verified = workflow.skills.get(skill).into_iter().flat_map(|it| &it.deliverables);
                let missing = verified.filter(|it| !turn.report.deliverables.contains(it));
                entry.deliverables.extend(missing.cloned());
            }
            entry.references.clone_from(&turn.report.references);
            entry.children = turn.report.skills.iter().map(|it| json!(it)).collect();
        }
        let done = self.completed.entry(turn.call.phase).or_default();
        if is_complete && matches!(turn.call.step, Step::Skill(_)) && !done.contains(skill) {
            done.push(skill.clone());
        }
    }

    fn checkpoint(&mut self, kind: &str, hash: Option<&str>, message: &str, at: Timestamp) {
        let mut entry = json!({ "type": kind, "message": message, "at": at.to_string() });
        if let Some(hash) = hash {
            entry["hash"] = hash.into();
        }
        self.checkpoints.push(entry);
        let over = self.checkpoints.len().saturating_sub(CHECKPOINTS_MOST);
        self.checkpoints.drain(..over);
    }

    /// Returns how often each skill was completed.
    pub(super) fn usage(&self) -> BTreeMap<&str, u32> {
        let mut usage: BTreeMap<&str, u32> = BTreeMap::new();
        for entry in self.entries.iter().filter(|it| it.status == "complete" && it.completed_at.is_some()) {
            *usage.entry(&entry.skill).or_default() += 1;
        }
        usage
    }

    pub(super) fn log(&self) -> Vec<Value> {
        let entry = |it: &SkillEntry| {
            let mut value = json!({
                "skill": it.skill,
                "reason": it.reason,
                "startedAt": it.started_at.to_string(),
                "deliverables": it.deliverables,
                "referencesRead": it.references,
                "children": it.children,
            });
            if let Some(done) = it.completed_at {
                value["completedAt"] = done.to_string().into();
                value["durationMs"] = done.since(it.started_at).into();
                value["status"] = it.status.into();
            }
            value
        };
        self.entries.iter().map(entry).collect()
    }

    /// Returns what velocity is read from: every skill that was completed.
    pub(super) fn velocity(&self) -> Vec<Value> {
        let done = self.entries.iter().filter(|it| it.status == "complete");
        done.filter_map(|it| {
            let at = it.completed_at?;
            let ms = at.since(it.started_at);
            Some(json!({ "skill": it.skill, "timestamp": at.to_string(), "durationMs": ms }))
        })
        .collect()
    }
}
