//! What a log of a run tells: the few facts of its journal that a person would name.

use crate::engine::journal::calls::ending::How;
use crate::engine::journal::closing::landing::Landing;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::event::Event;
use crate::engine::journal::measured::evidence::CheckResult;
use crate::engine::journal::people::command::Command;
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::run_state::State;
use crate::engine::state::views::judged_turn::JudgedTurn;
use crate::engine::state::views::skill_history::GateRefusal;
use crate::workflow::model::PhaseId;

/// One thing that happened to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment<'a> {
    Opened,
    Entered {
        phase: PhaseId,
        /// A person skipped the phase before.
        is_skip: bool,
    },
    Verified {
        phase: PhaseId,
        results: &'a [CheckResult],
    },
    SkillEnded {
        skill: &'a str,
        phase: PhaseId,
        is_done: bool,
        why: &'a [String],
    },
    SkillSkipped {
        skill: &'a str,
        reason: Option<&'a str>,
    },
    GateRequested {
        gate: &'a str,
    },
    GateApproved {
        gate: &'a str,
        by: &'a str,
    },
    GateRefused {
        gate: &'a str,
        refusal: GateRefusal,
    },
    ItemDone {
        id: &'a str,
    },
    Landed(&'a Landing),
    Closed,
}

impl<'a> Moment<'a> {
    /// What a fact tells; `state` is the state after it.
    pub(super) fn of(state: &'a State, event: &'a Event) -> Option<Moment<'a>> {
        if let Some((gate, refusal)) = GateRefusal::of(state, event) {
            return Some(Moment::GateRefused { gate, refusal });
        }
        Some(match event {
            Event::Opened(_) => Moment::Opened,
            Event::Entered { phase, how } => {
                Moment::Entered { phase: *phase, is_skip: matches!(how, How::Skipped) }
            }
            Event::Measured(evidence) if !evidence.results.is_empty() => {
                Moment::Verified { phase: state.phase, results: &evidence.results }
            }
            Event::Commanded(Command::Skip { skill, reason }) => {
                Moment::SkillSkipped { skill, reason: Some(reason) }
            }
            Event::Known { skill, target: None } => {
                Moment::SkillSkipped { skill, reason: state.skipped.get(skill).map(String::as_str) }
            }
            Event::Began(Effect::Ask(question)) => match &question.kind {
                QuestionKind::Gate(gate) => Moment::GateRequested { gate },
                _ => return None,
            },
            Event::Approved { gate, by, .. } => Moment::GateApproved { gate, by },
            Event::ItemDone { id, .. } => Moment::ItemDone { id },
            Event::Landed(landing) => Moment::Landed(landing),
            Event::Closed(_) => Moment::Closed,
            _ => return None,
        })
    }

    /// What an iteration tells that was judged: the end of a skill, where it was for one.
    pub(super) fn of_turn(turn: &'a JudgedTurn) -> Option<Moment<'a>> {
        Some(Moment::SkillEnded {
            skill: turn.skill()?,
            phase: turn.call.phase,
            is_done: turn.is_done(),
            why: &turn.judgement.why,
        })
    }
}
