//! What is kept beside the journal for lists and for other runs: the columns of a run, its questions, what a
//! call cost. All of it follows from events, so it can be compared with them.

use crate::accounts::spending::{Spend, micro_usd};
use crate::error::StoreError;
use crate::fold;
use crate::home::Home;
use crate::journal::rows::QuestionRow;
use crate::journal::writer::{QuestionChange, RowUpdate};
use loop_base::time::Timestamp;
use loop_core::engine::{Command, Effect, Event, Question, State, Status, Void, choices};
use loop_core::workflow::model::Workflow;

/// Compares what is kept beside the journal with what the journal says: the list's columns and the open
/// question. Returns the first difference. The journal is folded from its first event.
pub fn derived_fault(home: &Home, id: &str) -> Result<Option<String>, StoreError> {
    let Some(listed) = home.run(id)? else { return Ok(None) };
    // Before the first commit there is nothing to compare, and an earlier version of the program may
    // have meant something else by the columns of its list.
    if !home.snapshot(id)?.is_some_and(|it| it.is_sealed) {
        return Ok(None);
    }
    let workflow = fold::workflow(home, id)?;
    let folded = fold::refold(home, id, &workflow)?;
    let journal = row(&workflow, &folded, &listed.place);
    let kept = row(&workflow, &fold::state(home, id, &workflow)?, &listed.place);
    // A program that knew nothing of these columns left them as they were.
    let is_ours = home.snapshot(id)?.is_some_and(|it| it.state().is_some());
    let money = |it: &RowUpdate| match is_ours {
        true => format!("{} {:?} {} {}", it.tokens, it.micro_usd, it.computed, it.unknown_calls),
        false => String::new(),
    };
    // Texts for people may be worded differently by another build of the same version.
    let facts = |it: &RowUpdate| {
        [
            ("status", it.status.word().to_owned()),
            ("phase", it.phase.clone().unwrap_or_default()),
            ("iterations", it.iterations_total.to_string()),
            ("calls", it.calls_total.to_string()),
            ("verified", it.verified.to_string()),
            ("branch", it.branch.clone().unwrap_or_default()),
            ("place", it.place.clone()),
            ("iteration", it.iteration.to_string()),
            ("progress", it.progress.unwrap_or_default().to_string()),
            ("exit", it.exit.unwrap_or_default().to_string()),
            ("tokens, cost and calls of unknown cost", money(it)),
        ]
    };
    let shown = RowUpdate {
        status: listed.status,
        phase: listed.phase.clone(),
        iterations_total: listed.iterations_total,
        calls_total: listed.calls_total,
        verified: listed.verified,
        branch: listed.branch.clone(),
        place: listed.place.clone(),
        iteration: listed.iteration,
        progress: listed.progress,
        exit: listed.exit,
        tokens: listed.tokens,
        micro_usd: listed.micro_usd,
        computed: listed.computed,
        unknown_calls: listed.unknown_calls,
        ..RowUpdate::default()
    };
    for (whose, found) in [("the snapshot", &kept), ("the list", &shown)] {
        let pairs = facts(&journal).into_iter().zip(facts(found));
        if let Some(((name, right), (_, wrong))) = pairs.into_iter().find(|(right, found)| right != found) {
            return Ok(Some(format!("{whose} says {name} {wrong:?}, the events say {right:?}")));
        }
    }
    if listed.updated_at != folded.updated_at.0 {
        let (wrong, right) = (Timestamp(listed.updated_at), folded.updated_at);
        return Ok(Some(format!("the list says that the run changed at {wrong}, the events say {right}")));
    }
    if let Some(what) = question_fault(home, id, &workflow)? {
        return Ok(Some(what));
    }
    let asked = folded.question().map(|it| (it.id.to_string(), it.kind.word()));
    let open = home.open_questions(id)?;
    Ok(match asked {
        Some((id, kind)) if !open.iter().any(|it| it.id == id && it.kind == kind) => {
            Some(format!("question {id} is open, and the list of questions does not have it"))
        }
        Some(_) | None => None,
    })
}

/// Compares every question that was ever asked with its row.
fn question_fault(home: &Home, id: &str, workflow: &Workflow) -> Result<Option<String>, StoreError> {
    let rows = home.all_questions(id)?;
    let mut fault = None;
    fold::replay(home, id, workflow, |_, _, event| {
        let Event::Began(Effect::Ask(question)) = event else { return };
        let QuestionChange::Asked(right) = asked(Timestamp(0), question) else { return };
        let found = rows.iter().find(|it| it.id == right.id);
        let is_same = |it: &QuestionRow| {
            (&it.kind, &it.text, &it.choices) == (&right.kind, &right.text, &right.choices)
        };
        if !found.is_some_and(is_same) {
            fault.get_or_insert_with(|| format!("question {} is not in the list as it was asked", right.id));
        }
    })?;
    Ok(fault)
}

pub(crate) fn row(workflow: &Workflow, state: &State, place: &str) -> RowUpdate {
    let status = Status::of(state);
    RowUpdate {
        status,
        reason: Some(state.reason(workflow)),
        next_step: Some(state.next_step(workflow)),
        phase: Some(workflow.phases[state.phase].name.clone()),
        iteration: state.visit.iteration.into(),
        iterations_total: state.iterations_total.into(),
        calls_total: state.calls_total.into(),
        progress: Some(state.progress_percent(workflow).into()),
        verified: state.verified(),
        tokens: i64::try_from(state.spent.tokens.total()).unwrap_or(i64::MAX),
        micro_usd: state.spent.amount().map(micro_usd),
        computed: 0 < state.spent.computed_calls,
        unknown_calls: state.spent.unknown_calls.into(),
        place: state.place.clone().unwrap_or_else(|| place.to_owned()),
        branch: state.branch.clone(),
        exit: Some(status.exit().into()),
    }
}

pub(crate) fn questions(facts: &[(Timestamp, Event)], state: &State) -> Vec<QuestionChange> {
    let mut changes = Vec::new();
    for (at, event) in facts {
        match event {
            Event::Began(Effect::Ask(question)) => changes.push(asked(*at, question)),
            // What was answered did not count, and the question stays open.
            Event::Voided { void: Void::Unsigned, .. } => {
                changes.extend(state.question().map(|it| asked(*at, it)));
            }
            // A gate that can no longer be approved is asked again.
            Event::Voided { void: Void::Expired | Void::Changed { .. }, .. } => {
                changes.push(QuestionChange::Answered { id: state.questions.to_string(), at: at.0 });
            }
            Event::Commanded(Command::Answer(answer)) => {
                changes.push(QuestionChange::Answered { id: answer.question.to_string(), at: at.0 });
            }
            // What is waived may have been asked about; whatever remains is asked again.
            Event::Commanded(Command::Waive { .. }) if state.question().is_none() => {
                changes.push(QuestionChange::Answered { id: state.questions.to_string(), at: at.0 });
            }
            Event::Expired { question } => {
                changes.push(QuestionChange::Answered { id: question.to_string(), at: at.0 });
            }
            _ => (),
        }
    }
    changes
}

fn asked(at: Timestamp, question: &Question) -> QuestionChange {
    QuestionChange::Asked(QuestionRow {
        id: question.id.to_string(),
        kind: question.kind.word().to_owned(),
        text: question.text.clone(),
        choices: serde_json::to_string(&choices(question)).expect("words are plain data"),
        asked_at: at.0,
    })
}

pub(crate) fn call_at((at, event): &(Timestamp, Event)) -> Option<i64> {
    matches!(event, Event::Began(Effect::Work(_))).then_some(at.0)
}

pub(crate) fn ended_call((_, event): &(Timestamp, Event)) -> Option<u32> {
    if let Event::Ended(ended) = event { Some(ended.call) } else { None }
}

/// What the call cost that ended; a commit holds the end of one call at most.
pub(crate) fn spend(facts: &[(Timestamp, Event)], workflow: &Workflow, state: &State) -> Option<Spend> {
    facts.iter().find_map(|(at, event)| match event {
        Event::Ended(ended) => Spend::of(*at, ended, workflow, state),
        _ => None,
    })
}
