//! The ways out of a phase: its gates, then the next phase, the next item, or back to where the work
//! was rejected.

use super::ask::ask;
use super::{gate, proving};
use crate::engine::journal::calls::ending::How;
use crate::engine::journal::decision::Decision;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::event::Event;
use crate::engine::journal::measured::metric::Source;
use crate::engine::journal::people::approval::Subject;
use crate::engine::journal::people::question::{Question, QuestionKind};
use crate::engine::journal::task::item::Item;
use crate::engine::state::items;
use crate::engine::state::parts::station::Leave;
use crate::engine::state::run_state::State;
use crate::facts::{FactName, FactWords};
use crate::proof::closing_sentence;
use crate::workflow::model::{Back, Next, Phase, PhaseId, RejectThen, ShownKind, SignalWord, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;
use loop_base::value::Value;

/// The exit rule holds, or a person let the phase go: the item is done, or the gates are asked and
/// then the way on is taken. Gates at the end of a body stand where its last item is done.
pub(crate) fn leave(workflow: &Workflow, state: &State, how: Leave, now: Timestamp) -> Decision {
    let straight_back = straight_back(workflow, state);
    let ends_body = ends_body(workflow, state);
    match &state.item {
        Some(item) if ends_body && straight_back.is_none() => {
            let also = match how {
                Leave::Passed => closed_with(state, item),
                // A person accepted this one as it is, and no other.
                Leave::Skipped => Vec::new(),
            };
            return Decision::Record(Event::ItemDone { id: item.id.clone(), also });
        }
        Some(_) | None => (),
    }
    if how == Leave::Passed
        && let Some(proof) = proving::before_leaving(workflow, state)
    {
        return proof;
    }
    if let Some(question) = gate_question(workflow, state, state.phase, now) {
        return question;
    }
    if how == Leave::Passed && !state.visit.for_person.is_empty() && state.approved.is_empty() {
        let items = state.visit.for_person.clone();
        return Decision::Record(Event::LeftToPerson { items });
    }
    let how = match how {
        Leave::Passed if ends_body && straight_back.is_none() => How::NoItems,
        Leave::Passed => How::Passed,
        Leave::Skipped => How::Skipped,
    };
    match straight_back {
        Some(phase) => Decision::Record(Event::Entered { phase, how }),
        None => go(workflow.phases[state.phase].next, how),
    }
}

/// Returns the phase that sent the work back, if it is entered again from here.
pub(super) fn straight_back(workflow: &Workflow, state: &State) -> Option<PhaseId> {
    state.back_to.filter(|it| goes_straight_back(workflow, state, *it))
}

fn ends_body(workflow: &Workflow, state: &State) -> bool {
    items::body(workflow, state.phase).is_some_and(|(_, last)| last == state.phase)
}

/// Returns the item that is done when a person skips this phase, if others are open after it.
pub(super) fn item_before_others<'a>(workflow: &Workflow, state: &'a State) -> Option<&'a Item> {
    let item = state.item.as_ref()?;
    let is_done = ends_body(workflow, state) && straight_back(workflow, state).is_none();
    (is_done && 1 < state.items_left).then_some(item)
}

/// The other items of a group that an agent called complete together with this one.
fn closed_with(state: &State, item: &Item) -> Vec<String> {
    let said = state.visit.metrics.get(FactName::Signal.name()).map(|it| it.value.clone());
    let closes = said == Some(Value::from(SignalWord::PlanComplete.word()));
    match &item.group {
        Some(group) if closes => state.open_work_of(group).filter(|it| *it != item.id).collect(),
        Some(_) | None => Vec::new(),
    }
}

/// An item is done: the list says whether another one follows.
pub(crate) fn between(workflow: &Workflow, state: &State, now: Timestamp) -> Decision {
    let (first, _) = items::body(workflow, state.phase).expect("a phase with items belongs to a body");
    match (&state.item, state.listed) {
        (Some(_), _) => Decision::Record(Event::Entered { phase: first, how: How::NextItem }),
        (None, false) => Decision::Perform(Effect::List),
        (None, true) => leave(workflow, state, Leave::Passed, now),
    }
}

/// A body that was entered with an empty list is passed over, its gates are not.
pub(crate) fn pass_over_body(workflow: &Workflow, state: &State, now: Timestamp) -> Decision {
    let (_, last) = items::body(workflow, state.phase).expect("a phase with items belongs to a body");
    gate_question(workflow, state, last, now).unwrap_or_else(|| go(workflow.phases[last].next, How::NoItems))
}

pub(crate) fn reject(phase: &Phase, state: &State) -> Decision {
    let route = phase.reject.as_ref().expect("a rejecting phase has a route");
    let taken = state.rejections.get(&state.phase).copied().unwrap_or(0);
    if taken < route.at_most {
        return Decision::Record(Event::Entered { phase: route.go, how: How::Rejected });
    }
    let usual = || format!("{} rejected the work {}", phase.name, counted(taken + 1, "time"));
    let text = route.reason.clone().unwrap_or_else(usual);
    match route.then {
        RejectThen::Ask => ask(state, QuestionKind::Rejected, text, None),
        RejectThen::Halt => ask(state, QuestionKind::Breaker, text, None),
    }
}

fn gate_question(workflow: &Workflow, state: &State, boundary: PhaseId, now: Timestamp) -> Option<Decision> {
    let name = gate::due(workflow, boundary, state)?;
    let rules = &workflow.gates[&name];
    let mut text =
        if rules.by.is_empty() { rules.ask.clone() } else { format!("{} ({})", rules.ask, rules.by) };
    let reason = gate::reason(workflow, state, &name).unwrap_or_default();
    if !reason.is_empty() {
        text = format!("{text}\n{reason}");
    }
    for item in &state.visit.for_person {
        text.push_str(&format!("\n- {item}"));
    }
    for line in gate_summary(workflow, state, &reason) {
        text = format!("{text}\n{line}");
    }
    if let Some(proof) = state.proof() {
        text = format!("{text}\n{}", closing_sentence(proof));
    }
    let about = Subject::of(workflow, state, gate::expiry(rules, now)).map(Box::new);
    if let Some(about) = &about {
        text = format!("{text}\n{}", about.line());
    }
    Some(Decision::Perform(Effect::Ask(Question {
        id: state.questions + 1,
        kind: QuestionKind::Gate(name),
        text,
        options: Vec::new(),
        about,
        deadline: rules.timeout.map(|it| now.plus(it)),
    })))
}

/// Files that a gate's question names; the rest is in the diff.
const FILES_SHOWN: usize = 5;

/// Notes of the proof that it shows; the record has all of them.
const NOTES_SHOWN: usize = 5;

/// What the phases came to about security and performance, so far.
fn findings(state: &State) -> Vec<String> {
    let kinds = [
        (ShownKind::Security, "security"),
        (ShownKind::Performance, "performance"),
        (ShownKind::NoPerformanceTarget, "performance"),
    ];
    let last = |kind: ShownKind| state.phases[..=state.phase].iter().rev().find_map(|it| it.shown.get(&kind));
    kinds.iter().filter_map(|(kind, name)| Some(format!("{name}: {}", last(*kind)?))).collect()
}

/// What changed, what was measured last, and what makes it worth a look.
fn gate_summary(workflow: &Workflow, state: &State, reason: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let files = state.changed_files(workflow);
    if !files.is_empty() {
        let shown = files.iter().take(FILES_SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = files.len().saturating_sub(FILES_SHOWN);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        lines.push(format!("changes: {}: {shown}{more}", counted(files.len(), "file")));
    }
    let outcome = |name: &str| name.strip_suffix("_ok").map(str::to_owned);
    let checks: Vec<String> = state
        .visit
        .metrics
        .iter()
        .filter(|(_, it)| it.source != Source::Claimed)
        .filter_map(|(name, it)| {
            let word = if it.value == Value::Bool(true) { "passed" } else { "failed" };
            outcome(name).map(|check| format!("{check} {word}"))
        })
        .collect();
    lines.extend((!checks.is_empty()).then(|| format!("checks: {}", checks.join(", "))));
    lines.extend(findings(state));
    let notes = state.proof().into_iter().flat_map(|it| &it.notes).take(NOTES_SHOWN);
    lines.extend(notes.map(|it| format!("note: {it}")));
    let risks =
        [FactName::TouchesSecurity, FactName::SchemaChanges, FactName::ExternalApis, FactName::NewPatterns];
    let risks: Vec<&str> = risks
        .into_iter()
        .filter(|it| state.seen.values.get(it.name()) == Some(&Value::Bool(true)))
        .filter_map(|it| match it.row().words {
            FactWords::State { is, .. } => Some(is),
            FactWords::Count { .. } | FactWords::Text { .. } => None,
        })
        .filter(|it| !reason.contains(it))
        .collect();
    lines.extend((!risks.is_empty()).then(|| format!("risk: {}", risks.join("; "))));
    lines
}

fn goes_straight_back(workflow: &Workflow, state: &State, rejecting: PhaseId) -> bool {
    let route = workflow.phases[rejecting].reject.as_ref();
    state.phase != rejecting && route.is_some_and(|it| it.back == Back::Direct && it.go == state.phase)
}

fn go(next: Next, how: How) -> Decision {
    match next {
        Next::Phase(phase) => Decision::Record(Event::Entered { phase, how }),
        Next::Done => Decision::Perform(Effect::Finish),
    }
}
