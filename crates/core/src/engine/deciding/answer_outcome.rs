//! What an answer leads to, for every kind of question and every word that answers it.

use super::ask::ask;
use crate::engine::journal::calls::ending::How;
use crate::engine::journal::closing::landing::LandingStep;
use crate::engine::journal::decision::Decision;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Hold, HoldKind, Wait};
use crate::engine::journal::people::command::{Answer, Choice};
use crate::engine::journal::people::question::{CheckpointKind, Question, QuestionKind};
use crate::engine::judging::judge::ISSUES;
use crate::engine::state::run_state::State;
use crate::proof::Waiver;
use crate::workflow::model::{Phase, Workflow};
use loop_base::time::Timestamp;

pub(crate) fn answered(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    question: &Question,
    answer: &Answer,
    now: Timestamp,
) -> Decision {
    let text = (!answer.text.trim().is_empty()).then(|| answer.text.clone());
    let aborted = |kind| Decision::Record(Event::Held(Hold { kind, reason: "aborted by user".to_owned() }));
    // Whether it is merged, and whether what was merged holds, is looked at and not believed.
    if question.kind == QuestionKind::Checkpoint(CheckpointKind::Merge) {
        return Decision::Perform(Effect::Look);
    }
    // Whoever says that nothing is in the way any more, or that it ends here, is not overruled by the command that
    // continues the run.
    let decides = question.kind == QuestionKind::Landing
        && match answer.choice {
            Choice::Abort => true,
            Choice::Retry => state.move_to.is_none(),
            _ => false,
        };
    if state.withdrawn && !decides {
        return Decision::Record(Event::Repeated);
    }
    match (&question.kind, &answer.choice) {
        (QuestionKind::Breaker | QuestionKind::Rejected, Choice::Skip) => {
            Decision::Record(Event::Skipped { why: text.unwrap_or_else(|| question.text.clone()) })
        }
        (QuestionKind::Breaker | QuestionKind::Rejected, Choice::Abort) => aborted(HoldKind::Halted),
        (QuestionKind::Breaker | QuestionKind::Blocked, _) => {
            Decision::Record(Event::Reset { guidance: text })
        }
        (QuestionKind::Agent | QuestionKind::Landing, Choice::Abort) => aborted(HoldKind::Halted),
        (QuestionKind::Landing, _) => Decision::Record(Event::LandingStep(LandingStep::Again)),
        (QuestionKind::Agent, Choice::Model) => {
            Decision::Record(Event::CalledAgain { model: text.map(|it| it.trim().to_owned()) })
        }
        (QuestionKind::Agent, _) => Decision::Record(Event::CalledAgain { model: None }),
        (QuestionKind::Rejected, _) => {
            let target = phase.reject.as_ref().expect("a rejecting phase has a route").go;
            Decision::Record(Event::Entered { phase: target, how: How::Fixed { text: answer.text.clone() } })
        }
        (QuestionKind::Hourly, Choice::Wait) => {
            let until = question.deadline.unwrap_or(now);
            Decision::Record(Event::Waits { until, why: question.text.clone(), wait: Wait::Window })
        }
        (QuestionKind::Hourly, Choice::Abort) => aborted(HoldKind::Paused),
        // The window is over.
        (QuestionKind::Hourly, Choice::Expired) => Decision::Record(Event::Repeated),
        (QuestionKind::Hourly, _) => {
            Decision::Record(Event::Granted { until: question.deadline.unwrap_or(now) })
        }
        (QuestionKind::Gate(gate), _) => at_gate(workflow, state, gate, answer, text),
        (QuestionKind::Check(check), _) => {
            Decision::Record(Event::Supplied { check: check.clone(), command: answer.text.clone() })
        }
        (QuestionKind::Proof, Choice::Waive) => {
            let by = (!answer.by.is_empty()).then(|| answer.by.clone());
            Decision::Record(Event::Waived(Waiver { what: "*".to_owned(), reason: answer.text.clone(), by }))
        }
        (QuestionKind::Unproven, Choice::Accept) => Decision::Record(Event::Accepted {
            tree: state.seen.tree.clone(),
            reason: answer.text.clone(),
            by: answer.by.clone(),
        }),
        (QuestionKind::Proof | QuestionKind::Unproven, Choice::Abort) => aborted(HoldKind::Halted),
        (QuestionKind::Proof | QuestionKind::Unproven, _) => {
            let why = [question.text.clone()].into_iter().chain(text).collect();
            let how = How::Unproven { why, by_person: true };
            Decision::Record(Event::Entered { phase: workflow.proof.go, how })
        }
        (QuestionKind::Prepare, Choice::Skip) => Decision::Record(Event::Prepared { command: None }),
        (QuestionKind::Prepare, _) => Decision::Record(Event::Prepared { command: text }),
        (QuestionKind::Prerequisite(skill), choice) => {
            let target = text.filter(|_| *choice != Choice::Skip);
            Decision::Record(Event::Known { skill: skill.clone(), target })
        }
        (QuestionKind::Checkpoint(kind), _) => settled(state, kind, answer, text),
    }
}

fn at_gate(
    workflow: &Workflow,
    state: &State,
    gate: &str,
    answer: &Answer,
    text: Option<String>,
) -> Decision {
    let blocked = |why: String| ask(state, QuestionKind::Blocked, why, None);
    match answer.choice {
        Choice::Approve => Decision::Perform(Effect::Confirm),
        Choice::Changes => {
            let target = workflow.gates[gate].changes_to.unwrap_or(state.phase);
            let how = How::Changes { gate: gate.to_owned(), text: answer.text.clone() };
            Decision::Record(Event::Entered { phase: target, how })
        }
        Choice::Expired => blocked(format!("gate approval timeout: {gate}")),
        _ => {
            let reason = text.map(|it| format!(": {it}")).unwrap_or_default();
            blocked(format!("the gate \"{gate}\" was not passed{reason}"))
        }
    }
}

fn settled(state: &State, kind: &CheckpointKind, answer: &Answer, text: Option<String>) -> Decision {
    let said = match text {
        Some(text) if answer.choice == Choice::Done => text,
        Some(text) => format!("{}: {text}", answer.choice),
        None => answer.choice.to_string(),
    };
    let item = state.item.as_ref().filter(|it| it.checkpoint().is_some());
    let has_issues = answer.choice.word() == ISSUES;
    let text = match item {
        Some(_) if has_issues => {
            format!("a person looked at it and found {said}; repair that, and the person looks again")
        }
        Some(item) => format!("the checkpoint \"{}\" ({kind}) is settled: {said}", item.name),
        None => format!("the checkpoint ({kind}) is settled: {said}"),
    };
    Decision::Record(Event::Settled { text, automatic: false, done: item.is_some() && !has_issues })
}
