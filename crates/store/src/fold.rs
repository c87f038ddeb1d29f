//! What a run's journal implies, for whoever reads a run: its workflow, its state, its history. A
//! state is read from its snapshot; one of another version is never interpreted, and the events are
//! folded again. The journal is read page by page, so a run of any age takes the memory of one page.

use super::error::StoreError;
use super::home::Home;
use crate::accounts::spending::micro_usd;
use crate::journal::rows::Recorded;
use crate::journal::run_list::Row;
use crate::journal::run_records::{Definition, Listed};
use loop_base::secret;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, History, ItemList, State, Status};
use loop_core::workflow::model::{DEFINITION_VERSION, Workflow};

/// How many events are read from the journal at a time.
const PAGE: usize = 1000;

/// Returns the workflow that a run was opened with, or last reloaded.
pub fn workflow(home: &Home, run: &str) -> Result<Workflow, StoreError> {
    workflow_of(home, run, &home.definition(run)?)
}

/// Returns where a run stands; the beginning before its first commit.
pub fn state(home: &Home, run: &str, workflow: &Workflow) -> Result<State, StoreError> {
    let Some(snapshot) = home.snapshot(run)? else { return refold(home, run, workflow) };
    let Some(text) = snapshot.state() else { return refold(home, run, workflow) };
    let state = state_of(home, run, text)?;
    // What the list says is compared with what the events led to, and never followed.
    if let Some(what) = listed_fault(&state, &snapshot.listed).filter(|_| snapshot.is_sealed) {
        return Err(unreadable(home, format!("run {run}, event {}: {what}", snapshot.seq)));
    }
    Ok(state)
}

/// Returns what a line of the list says that the run's own state does not: nothing that a list shows is
/// believed by itself. Columns that follow from the workflow too are compared by `verify`.
pub fn row_fault(home: &Home, row: &Row) -> Result<Option<String>, StoreError> {
    let Some(snapshot) = home.snapshot(&row.id)?.filter(|it| it.is_sealed) else { return Ok(None) };
    let Some(text) = snapshot.state() else { return Ok(None) };
    let state = state_of(home, &row.id, text)?;
    if let Some(what) = listed_fault(&state, &snapshot.listed) {
        return Ok(Some(what));
    }
    let tokens = i64::try_from(state.spent.tokens.total()).unwrap_or(i64::MAX);
    let pairs = [
        ("iterations", row.iterations_total, state.iterations_total.into()),
        ("calls", row.calls_total, state.calls_total.into()),
        ("tokens", row.tokens, tokens),
        ("micro-dollars", row.micro_usd.unwrap_or(0), state.spent.amount().map_or(0, micro_usd)),
        ("a change at", row.updated_at, state.updated_at.0),
    ];
    // An owner may have committed between the list and the snapshot.
    let is_same_moment = home.run(&row.id)?.is_some_and(|it| it == *row);
    let wrong = pairs.into_iter().find(|(_, listed, right)| listed != right).filter(|_| is_same_moment);
    Ok(wrong.map(|(name, listed, right)| format!("the list says {name} {listed}, the events say {right}")))
}

/// Returns the first column of the list that does not say what the state says.
pub(super) fn listed_fault(state: &State, listed: &Listed) -> Option<String> {
    let place = state.place.as_ref().or(state.opening.place.as_ref());
    let says = |name: &str, wrong: &str, right: &str| {
        Some(format!("the list says {name} {wrong:?}, the events say {right:?}"))
    };
    let status = Status::of(state).word();
    if listed.status != status {
        return says("status", &listed.status, status);
    }
    if (listed.verified != 0) != state.verified() {
        return says("verified", &listed.verified.to_string(), &state.verified().to_string());
    }
    match place.filter(|it| **it != listed.place) {
        Some(place) => says("place", &listed.place, place),
        None if u64::try_from(listed.epoch).is_ok_and(|it| state.epoch <= it) => None,
        None => says("epoch", &listed.epoch.to_string(), &state.epoch.to_string()),
    }
}

/// Folds the whole journal of a run.
pub fn history(home: &Home, run: &str, workflow: &Workflow) -> Result<History, StoreError> {
    let mut history = History::new(workflow);
    replay(home, run, workflow, |workflow, at, event| {
        history.follow(workflow, at, event);
    })?;
    Ok(history)
}

/// Returns those events of a run that somebody asks for, in order.
pub fn chosen(
    home: &Home,
    run: &str,
    workflow: &Workflow,
    is_meant: impl Fn(&Event) -> bool,
) -> Result<Vec<(Timestamp, Event)>, StoreError> {
    let mut found = Vec::new();
    replay(home, run, workflow, |_, at, event| {
        if is_meant(event) {
            found.push((at, event.clone()));
        }
    })?;
    Ok(found)
}

/// Folds the whole journal of a run into its state.
pub(super) fn refold(home: &Home, run: &str, workflow: &Workflow) -> Result<State, StoreError> {
    let mut state = State::new(workflow);
    replay(home, run, workflow, |workflow, at, event| state.apply(workflow, at, event))?;
    Ok(state)
}

/// Reads a snapshot of this version.
pub(super) fn state_of(home: &Home, run: &str, text: &str) -> Result<State, StoreError> {
    serde_json::from_str(text)
        .map_err(|_| unreadable(home, format!("the state of run {run} is not what was stored")))
}

pub(super) fn event_of(home: &Home, run: &str, recorded: &Recorded) -> Result<Event, StoreError> {
    serde_json::from_str(&recorded.body).map_err(|_| {
        unreadable(home, format!("run {run}, event {}: it is not what was stored", recorded.seq))
    })
}

/// Folds the list of items from the few events that tell of it.
pub fn item_list(home: &Home, run: &str) -> Result<ItemList, StoreError> {
    let mut list = ItemList::default();
    for recorded in home.list_events(run)? {
        list.follow(&event_of(home, run, &recorded)?);
    }
    Ok(list)
}

/// Hands over every event of a run in order, with the workflow that was in force: a person may have
/// had it reloaded since.
pub(super) fn replay(
    home: &Home,
    run: &str,
    last: &Workflow,
    mut take: impl FnMut(&Workflow, Timestamp, &Event),
) -> Result<(), StoreError> {
    let mut earlier = Vec::new();
    for (until, definition) in home.earlier_definitions(run)? {
        earlier.push((until, workflow_of(home, run, &definition)?));
    }
    let mut next = 1;
    loop {
        let page = home.events(run, next, PAGE)?;
        for recorded in &page {
            let in_force = earlier.iter().find(|(until, _)| recorded.seq <= *until);
            let event = event_of(home, run, recorded)?;
            take(in_force.map_or(last, |it| &it.1), Timestamp(recorded.at), &event);
            next = recorded.seq + 1;
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}

/// A definition of an earlier version is read where its fields have defaults. One of a later version
/// may mean something else by the same words, so it is refused.
fn workflow_of(home: &Home, run: &str, definition: &Definition) -> Result<Workflow, StoreError> {
    let other = |why: String| StoreError::OtherVersion {
        run: run.to_owned(),
        found: definition.version,
        known: DEFINITION_VERSION,
        why,
    };
    if DEFINITION_VERSION < definition.version {
        return Err(other("it may mean something else by the same words".to_owned()));
    }
    let read = serde_json::from_str::<Workflow>(&definition.body);
    let mut workflow = read.map_err(|error| match definition.version == DEFINITION_VERSION {
        true => unreadable(home, format!("the workflow of run {run} is not what was stored")),
        false => other(error.to_string()),
    })?;
    workflow.agent.cli.look_up(home.agents());
    // Whatever is shown or written about the run from here on goes without them.
    let set = workflow.agent.env.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
    secret::learn(set);
    workflow.checks.values().filter_map(|it| it.run.as_deref()).for_each(secret::learn_command);
    Ok(workflow)
}

fn unreadable(home: &Home, what: String) -> StoreError {
    StoreError::Damaged { path: home.path().to_owned(), what }
}
