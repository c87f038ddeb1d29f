//! What somebody did to `LOOP-STATE.md` while nobody drove its run. The file is compared with what the journal
//! says it was at any time: one that a crash left behind its run is ours all the same.

use super::loop_status::LoopStatus;
use super::{LoopState, NAME};
use crate::{Home, StoreError, fold};
use loop_base::files;
use loop_core::digest::sha256;
use loop_core::engine::{News, Status};
use loop_core::workflow::model::Workflow;
use std::path::Path;

/// What became of the file of a run that nobody drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestEdit {
    Removed,
    Changed,
    /// It asks for a stop, and nothing was running.
    Stopping,
    /// A person's word that a run which rests is to continue; `more` says more than that.
    Running {
        more: bool,
    },
}

/// Lines that go with the word that a run is to continue.
const OF_RUNNING: [&str; 4] = ["Status:", "Consecutive failures:", "Stuck reason:", "Gap closure cycle:"];

impl RestEdit {
    /// Says what becomes of it when the run is driven again; nothing where all of it is taken over.
    pub fn news(self) -> Option<News> {
        let text = match self {
            RestEdit::Removed => format!("{NAME} was removed while nothing was running; it is written again"),
            RestEdit::Changed => format!(
                "{NAME} was changed by somebody else while nothing was running; it is written again, and \
                 the edit was ignored"
            ),
            RestEdit::Stopping => {
                format!(
                    "{NAME} said stopping while nothing was running; it is written again, and there is nothing to stop"
                )
            }
            RestEdit::Running { more: true } => {
                format!("{NAME} was changed by somebody else; only its status running was applied")
            }
            RestEdit::Running { more: false } => return None,
        };
        Some(News::Noted(text))
    }

    /// Says to whoever looks that the file is not what we wrote.
    pub fn told(self) -> Option<String> {
        match self {
            RestEdit::Removed => None,
            RestEdit::Running { .. } => Some(format!("{NAME} says running; loop run applies it")),
            RestEdit::Changed | RestEdit::Stopping => {
                Some(format!("{NAME} was changed by somebody else; the next loop run writes it again"))
            }
        }
    }
}

impl LoopState {
    /// Returns what somebody did to the file since this run was driven.
    pub fn rest_edit(
        &self,
        home: &Home,
        run: &str,
        workflow: &Workflow,
    ) -> Result<Option<RestEdit>, StoreError> {
        let state = &self.history.state;
        if state.calls_total == 0 || !self.path.parent().is_some_and(Path::is_dir) {
            return Ok(None);
        }
        let ours = self.text(workflow, LoopStatus::of(state));
        let found = files::text(&self.path).unwrap_or_default();
        use Status::{Capped, Halted, Paused, Stopped};
        let rests = matches!(Status::of(state), Halted | Capped | Stopped | Paused);
        // The word alone makes the file what it was before the run came to rest. Where we wrote that it rests, somebody
        // else wrote the word.
        let says_running =
            rests && LoopStatus::in_text(&found) == Some(LoopStatus::Running) && self.was_last(&ours);
        if found == ours || self.is_committed(&found) {
            return Ok(None);
        }
        if !says_running && self.was_written(home, run, workflow, &found)? {
            return Ok(None);
        }
        Ok(Some(match LoopStatus::in_text(&found) {
            _ if found.is_empty() => RestEdit::Removed,
            Some(LoopStatus::Running) if rests => {
                RestEdit::Running { more: without(&found) != without(&ours) }
            }
            Some(LoopStatus::Stopping) => RestEdit::Stopping,
            Some(_) | None => RestEdit::Changed,
        }))
    }

    /// Whether this is the text that was written last.
    fn was_last(&self, text: &str) -> bool {
        files::text(&self.note).is_ok_and(|it| it == sha256(text))
    }

    /// Whether this run had written the file like this at some time, or found it so when it began.
    fn was_written(
        &self,
        home: &Home,
        run: &str,
        workflow: &Workflow,
        found: &str,
    ) -> Result<bool, StoreError> {
        let mut past = LoopState::unread(home, run, workflow, self.path.clone());
        let mut is_ours = !found.is_empty() && past.imported == found;
        fold::replay(home, run, workflow, |workflow, at, event| {
            past.take(workflow, at, event);
            let state = &past.history.state;
            let line = format!("\nIteration: {}\n", state.iterations_numbered());
            is_ours =
                is_ours || (found.contains(&line) && past.text(workflow, LoopStatus::of(state)) == found);
        })?;
        Ok(is_ours)
    }
}

/// The lines that do not go with the word that a run is to continue.
fn without(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !OF_RUNNING.iter().any(|it| line.trim().starts_with(it))).collect()
}
