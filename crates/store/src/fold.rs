//! Reading what a run's journal implies, without owning the run: its workflow, its history. The
//! journal is read page by page, so a run of any age takes the memory of one page.

use super::error::StoreError;
use super::home::Home;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, History};
use loop_core::workflow::model::Workflow;

/// How many events are read from the journal at a time.
const PAGE: usize = 1000;

/// Folds the whole journal of a run.
pub fn history(home: &Home, run: &str, workflow: &Workflow) -> Result<History, StoreError> {
    let mut history = History::new(workflow);
    replay(home, run, |at, event| {
        history.follow(workflow, at, event);
    })?;
    Ok(history)
}

/// Hands over every event of a run in order.
pub(super) fn replay(
    home: &Home,
    run: &str,
    mut take: impl FnMut(Timestamp, &Event),
) -> Result<(), StoreError> {
    let mut next = 1;
    loop {
        let page = home.events(run, next, PAGE)?;
        for recorded in &page {
            let event: Event = serde_json::from_str(&recorded.body).map_err(|error| StoreError::Damaged {
                path: home.path().to_owned(),
                what: format!("event {} of run {run}: {error}", recorded.seq),
            })?;
            take(Timestamp(recorded.at), &event);
            next = recorded.seq + 1;
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}
