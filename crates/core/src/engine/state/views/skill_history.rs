//! What each skill was called for, how long it took and what it left behind, how the gates stand, and what was
//! reached on the way: the part of a run's history that a workflow of stages and skills is read by.

use crate::engine::journal::effect::{Call, Effect, Step};
use crate::engine::journal::event::Event;
use crate::engine::journal::people::command::{Choice, Command};
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::parts::station::Station;
use crate::engine::state::run_state::State;
use crate::engine::state::views::judged_turn::JudgedTurn;
use crate::engine::state::views::next_call::of_phase;
use crate::report::NestedSkill;
use crate::workflow::model::{PhaseId, Workflow};
use loop_base::time::Timestamp;
use std::collections::{BTreeMap, VecDeque};

/// Calls of skills that are kept; a system of more is seldom worth reading in full.
const CALLS_KEPT: usize = 1000;

const MILESTONES_KEPT: usize = 500;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillHistory {
    /// In the order of the calls.
    pub calls: VecDeque<SkillCall>,
    /// Phase → skills that were completed in it.
    pub completed: BTreeMap<PhaseId, Vec<String>>,
    pub gates: BTreeMap<String, GateState>,
    pub milestones: VecDeque<(Timestamp, Milestone)>,
    /// The commit that the last milestone of that kind was looked for at.
    commit: String,
}

/// One call of a skill, or its being skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillCall {
    pub skill: String,
    pub reason: String,
    pub started_at: Timestamp,
    /// `None` while it works.
    pub ended: Option<(Timestamp, SkillEnd)>,
    pub deliverables: Vec<String>,
    pub references: Vec<String>,
    /// Skills that it called itself.
    pub nested: Vec<NestedSkill>,
}

/// How a skill ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillEnd {
    Complete,
    Failed,
    Skipped,
}

/// How a gate stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateState {
    pub requested_at: Option<Timestamp>,
    /// By whom, and when.
    pub approved: Option<(String, Timestamp)>,
    /// What was said there in place of an approval.
    pub refused: Option<GateRefusal>,
}

/// How a gate was not passed.
#[derive(Clone, Debug, PartialEq)]
pub enum GateRefusal {
    Rejected {
        by: String,
        text: String,
    },
    /// It is asked again once they are made.
    Changes {
        text: String,
    },
    /// Nobody answered in time.
    TimedOut,
}

impl GateRefusal {
    /// Returns the gate that a fact says this of; `state` is the state after it.
    pub(super) fn of<'a>(state: &'a State, event: &'a Event) -> Option<(&'a str, GateRefusal)> {
        let Station::Waiting { question, answer: Some(answer) } = &state.station else { return None };
        let QuestionKind::Gate(gate) = &question.kind else { return None };
        let is_answer = matches!(
            event,
            Event::Commanded(Command::Answer(_))
                | Event::Heard { answer: Some(_), .. }
                | Event::Expired { .. }
        );
        let (by, text) = (answer.by.clone(), answer.text.clone());
        let refusal = match &answer.choice {
            Choice::Reject => GateRefusal::Rejected { by, text },
            Choice::Changes => GateRefusal::Changes { text },
            Choice::Expired => GateRefusal::TimedOut,
            _ => return None,
        };
        is_answer.then_some((gate.as_str(), refusal))
    }

    /// Returns what happened, as a word and as a note for people.
    pub fn words(&self) -> (&'static str, String) {
        match self {
            GateRefusal::Rejected { by, text } => {
                let by = if by.is_empty() { "somebody" } else { by };
                let text = if text.is_empty() { String::new() } else { format!(": {text}") };
                ("rejected", format!("rejected by {by}{text}"))
            }
            GateRefusal::Changes { text } => ("changes-requested", format!("changes asked for: {text}")),
            GateRefusal::TimedOut => ("timed-out", "nobody answered in time".to_owned()),
        }
    }
}

/// Something that was reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Milestone {
    Approved {
        gate: String,
        by: String,
    },
    Entered {
        phase: String,
    },
    Committed {
        commit: String,
        /// The agent's own summary of it.
        said: String,
    },
}

impl SkillHistory {
    pub(super) fn follow(
        &mut self,
        workflow: &Workflow,
        state: &State,
        at: Timestamp,
        event: &Event,
        turn: Option<&JudgedTurn>,
    ) {
        match event {
            Event::Began(Effect::Work(call)) => self.begin(workflow, at, call),
            Event::Began(Effect::Ask(question)) => {
                if let QuestionKind::Gate(gate) = &question.kind {
                    let asked = GateState { requested_at: Some(at), ..GateState::default() };
                    self.gates.insert(gate.clone(), asked);
                }
            }
            Event::Approved { gate, by, .. } => {
                self.gate(gate).approved = Some((by.clone(), at));
                self.reach(at, Milestone::Approved { gate: gate.clone(), by: by.clone() });
            }
            Event::Voided { gate, .. } => self.gate(gate).approved = None,
            Event::Entered { phase, how: _ } => {
                self.reach(at, Milestone::Entered { phase: workflow.phases[*phase].name.clone() });
            }
            Event::Commanded(Command::Skip { skill, reason }) => {
                self.add(at, skill, reason.clone(), Some((at, SkillEnd::Skipped)));
            }
            _ => (),
        }
        if let Some((gate, refusal)) = GateRefusal::of(state, event) {
            self.gate(gate).refused = Some(refusal);
        }
        if let Some(turn) = turn {
            self.end(workflow, state, at, turn);
            if !state.seen.commit.is_empty() && state.seen.commit != self.commit {
                let summary = turn.report.summary.clone();
                let said = summary.unwrap_or_else(|| format!("call {}", turn.call.number));
                self.reach(at, Milestone::Committed { commit: state.seen.commit.clone(), said });
            }
            self.commit.clone_from(&state.seen.commit);
        }
    }

    fn begin(&mut self, workflow: &Workflow, at: Timestamp, call: &Call) {
        match &call.step {
            Step::Fix(skill) => self.add(at, skill, "a failure is to be diagnosed".to_owned(), None),
            Step::Skill(skill) => {
                let phase = &workflow.phases[call.phase];
                let item = call.item.as_ref().map(|it| format!(", {}", it.name)).unwrap_or_default();
                self.add(at, skill, format!("{}: {}{item}", phase.name, phase.goal), None);
            }
            Step::Main => (),
        }
    }

    fn end(&mut self, workflow: &Workflow, state: &State, at: Timestamp, turn: &JudgedTurn) {
        let (Some(skill), report) = (turn.skill(), &turn.report) else { return };
        let is_done = turn.is_done();
        let open = self.calls.iter_mut().rev().find(|it| it.skill == skill && it.ended.is_none());
        if let Some(call) = open {
            call.ended = Some((at, if is_done { SkillEnd::Complete } else { SkillEnd::Failed }));
            call.deliverables.clone_from(&report.deliverables);
            if is_done {
                // They were looked for before the skill counted as done.
                // The last call of a phase answers for those of the phase.
                let phase = &workflow.phases[turn.call.phase];
                let is_last = phase.skills.last().is_some_and(|it| it == skill);
                let of_phase = of_phase(phase, state).iter().filter(|_| is_last);
                let verified = workflow.skills.get(skill).into_iter().flat_map(|it| &it.deliverables);
                let verified = verified.chain(of_phase);
                let missing = verified.filter(|it| !report.deliverables.contains(it));
                call.deliverables.extend(missing.cloned());
            }
            call.references.clone_from(&report.references);
            call.nested.clone_from(&report.skills);
        }
        let done = self.completed.entry(turn.call.phase).or_default();
        if is_done && matches!(turn.call.step, Step::Skill(_)) && !done.iter().any(|it| it == skill) {
            done.push(skill.to_owned());
        }
    }

    fn add(&mut self, at: Timestamp, skill: &str, reason: String, ended: Option<(Timestamp, SkillEnd)>) {
        self.calls.push_back(SkillCall {
            skill: skill.to_owned(),
            reason,
            started_at: at,
            ended,
            deliverables: Vec::new(),
            references: Vec::new(),
            nested: Vec::new(),
        });
        if CALLS_KEPT < self.calls.len() {
            self.calls.pop_front();
        }
    }

    fn reach(&mut self, at: Timestamp, what: Milestone) {
        self.milestones.push_back((at, what));
        if MILESTONES_KEPT < self.milestones.len() {
            self.milestones.pop_front();
        }
    }

    fn gate(&mut self, name: &str) -> &mut GateState {
        self.gates.entry(name.to_owned()).or_default()
    }
}
