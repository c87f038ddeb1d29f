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
        LoopStatus::ALL.into_iter().find(|it| it.word().eq_ignore_ascii_case(word))
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
        // A person who wants it to stop may write the line as other documents have it: `**Status:** Stopping`.
        let rest = |line: &str| {
            let rest = line.trim().trim_start_matches('*').strip_prefix("Status")?;
            rest.trim_start_matches('*')
                .strip_prefix(':')
                .map(|it| it.trim().trim_matches(['*', ' ', '`']).to_owned())
        };
        LoopStatus::named(&text.lines().find_map(rest)?)
    }
}

#[cfg(test)]
mod tests {
    use super::LoopStatus;

    #[test]
    fn a_status_is_read_however_a_person_writes_it() {
        for line in [
            "Status: stopping",
            "Status:stopping\r",
            "**Status:** Stopping",
            "**Status**: stopping",
            "Status: `stopping`",
        ] {
            let text = format!("# Loop State\n{line}\nIteration: 1\n");
            assert_eq!(LoopStatus::in_text(&text), Some(LoopStatus::Stopping), "{line}");
        }
        for line in ["Status: stop", "Statuses: stopping", "Status: stopping soon", ""] {
            assert_eq!(LoopStatus::in_text(line), None, "{line}");
        }
    }
}
