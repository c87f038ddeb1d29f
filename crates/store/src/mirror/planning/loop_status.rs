//! The words behind `Status:` in `LOOP-STATE.md`, as they are written and read.

use loop_core::engine::{State, Status, Wish};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopStatus {
    Running,
    /// A person wants it to stop after this iteration.
    Stopping,
    Stopped,
    Complete,
    Stuck,
    MaxReached,
}

impl LoopStatus {
    pub(super) const ALL: [LoopStatus; 6] = [
        LoopStatus::Running,
        LoopStatus::Stopping,
        LoopStatus::Stopped,
        LoopStatus::Complete,
        LoopStatus::Stuck,
        LoopStatus::MaxReached,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            LoopStatus::Running => "running",
            LoopStatus::Stopping => "stopping",
            LoopStatus::Stopped => "stopped",
            LoopStatus::Complete => "complete",
            LoopStatus::Stuck => "stuck",
            LoopStatus::MaxReached => "max_reached",
        }
    }

    pub(super) fn named(word: &str) -> Option<LoopStatus> {
        LoopStatus::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Returns the status that a run in this state has.
    pub(super) fn of(state: &State) -> LoopStatus {
        match Status::of(state) {
            Status::Ready | Status::Running if state.wish == Some(Wish::Stop) => LoopStatus::Stopping,
            Status::Ready | Status::Running => LoopStatus::Running,
            Status::Waiting | Status::Paused | Status::Stopped | Status::Cancelled => LoopStatus::Stopped,
            Status::Halted => LoopStatus::Stuck,
            Status::Capped => LoopStatus::MaxReached,
            Status::Completed => LoopStatus::Complete,
        }
    }

    /// Returns the status in the text of a file; `None` for a word that is none.
    pub(super) fn in_text(text: &str) -> Option<LoopStatus> {
        let line = text.lines().find_map(|it| it.trim().strip_prefix("Status:"))?;
        LoopStatus::named(line.trim())
    }
}
