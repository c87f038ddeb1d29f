//! The words of `loop-state.json`, as it is written and read.

/// How a stage stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StageStatus {
    Pending,
    InProgress,
    Complete,
    Failed,
    Skipped,
}

impl StageStatus {
    pub(super) const ALL: [StageStatus; 5] = [
        StageStatus::Pending,
        StageStatus::InProgress,
        StageStatus::Complete,
        StageStatus::Failed,
        StageStatus::Skipped,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            StageStatus::Pending => "pending",
            StageStatus::InProgress => "in-progress",
            StageStatus::Complete => "complete",
            StageStatus::Failed => "failed",
            StageStatus::Skipped => "skipped",
        }
    }

    pub(super) fn named(word: &str) -> Option<StageStatus> {
        StageStatus::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// How a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStatus {
    Pending,
    Requested,
    Approved,
    Rejected,
    NotApplicable,
}

impl GateStatus {
    pub(super) const ALL: [GateStatus; 5] = [
        GateStatus::Pending,
        GateStatus::Requested,
        GateStatus::Approved,
        GateStatus::Rejected,
        GateStatus::NotApplicable,
    ];

    pub fn word(self) -> &'static str {
        match self {
            GateStatus::Pending => "pending",
            GateStatus::Requested => "requested",
            GateStatus::Approved => "approved",
            GateStatus::Rejected => "rejected",
            GateStatus::NotApplicable => "not-applicable",
        }
    }

    pub fn named(word: &str) -> Option<GateStatus> {
        GateStatus::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// A state of a system that is no stage: what failed stands elsewhere in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BetweenStages {
    Failed,
    Retry,
    Blocked,
}

impl BetweenStages {
    pub(super) const ALL: [BetweenStages; 3] =
        [BetweenStages::Failed, BetweenStages::Retry, BetweenStages::Blocked];

    pub(super) fn word(self) -> &'static str {
        match self {
            BetweenStages::Failed => "FAILED",
            BetweenStages::Retry => "RETRY",
            BetweenStages::Blocked => "BLOCKED",
        }
    }

    pub(super) fn named(word: &str) -> Option<BetweenStages> {
        BetweenStages::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// What stands in place of a failure's stage where a person at a gate asked for changes.
pub(super) const GATE_REJECTION: &str = "gate-rejection";
