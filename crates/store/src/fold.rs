//! What a run's journal implies, for whoever reads a run: its workflow, its state, its history. A
//! state is read from its snapshot; one of another version is never interpreted, and the events are
//! folded again. The journal is read page by page, so a run of any age takes the memory of one page.

use super::error::StoreError;
use super::home::Home;
use super::index::Definition;
use super::journal::Recorded;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, History, ItemList, State};
use loop_core::workflow::model::{DEFINITION_VERSION, Workflow};

/// How many events are read from the journal at a time.
const PAGE: usize = 1000;

/// Returns the workflow that a run was opened with, or last reloaded.
pub fn workflow(home: &Home, run: &str) -> Result<Workflow, StoreError> {
    workflow_of(home, run, &home.definition(run)?)
}

/// Returns where a run stands; the beginning before its first commit.
pub fn state(home: &Home, run: &str, workflow: &Workflow) -> Result<State, StoreError> {
    match home.snapshot(run)?.as_ref().and_then(|it| it.state()) {
        Some(text) => state_of(home, run, text),
        None => refold(home, run, workflow),
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

/// Folds the whole journal of a run into its state.
pub(super) fn refold(home: &Home, run: &str, workflow: &Workflow) -> Result<State, StoreError> {
    let mut state = State::new(workflow);
    replay(home, run, workflow, |workflow, at, event| state.apply(workflow, at, event))?;
    Ok(state)
}

/// Reads a snapshot of this version.
pub(super) fn state_of(home: &Home, run: &str, text: &str) -> Result<State, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| unreadable(home, format!("the state of run {run} cannot be read: {error}")))
}

pub(super) fn event_of(home: &Home, run: &str, recorded: &Recorded) -> Result<Event, StoreError> {
    serde_json::from_str(&recorded.body)
        .map_err(|error| unreadable(home, format!("event {} of run {run}: {error}", recorded.seq)))
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
    serde_json::from_str(&definition.body).map_err(|error| match definition.version == DEFINITION_VERSION {
        true => unreadable(home, format!("the workflow of run {run} cannot be read: {error}")),
        false => other(error.to_string()),
    })
}

fn unreadable(home: &Home, what: String) -> StoreError {
    StoreError::Damaged { path: home.path().to_owned(), what }
}
