//! How far a system of the queue is, and which way it may go from there.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobStatus {
    #[default]
    Discovered,
    Specified,
    Ready,
    InProgress,
    Review,
    Blocked,
    Complete,
}

impl JobStatus {
    pub const ALL: [JobStatus; 7] = [
        JobStatus::Discovered,
        JobStatus::Specified,
        JobStatus::Ready,
        JobStatus::InProgress,
        JobStatus::Review,
        JobStatus::Blocked,
        JobStatus::Complete,
    ];

    /// Returns the word of the file.
    pub fn word(self) -> &'static str {
        match self {
            JobStatus::Discovered => "discovered",
            JobStatus::Specified => "specified",
            JobStatus::Ready => "ready",
            JobStatus::InProgress => "in-progress",
            JobStatus::Review => "review",
            JobStatus::Blocked => "blocked",
            JobStatus::Complete => "complete",
        }
    }

    pub fn named(word: &str) -> Option<JobStatus> {
        JobStatus::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Returns where a system can go from here.
    pub fn edges(self) -> &'static [JobStatus] {
        use JobStatus::{Blocked, Complete, Discovered, InProgress, Ready, Review, Specified};
        match self {
            Discovered => &[Specified, Blocked],
            Specified => &[Ready, InProgress, Blocked],
            Ready => &[InProgress, Blocked],
            InProgress => &[Review, Blocked],
            Review => &[Complete, InProgress, Blocked],
            Blocked => &[Discovered, Specified, Ready, InProgress],
            Complete => &[],
        }
    }

    pub fn may_become(self, next: JobStatus) -> bool {
        self.edges().contains(&next)
    }

    /// Whether it can be begun, once everything that it depends on is complete.
    pub fn is_startable(self) -> bool {
        matches!(self, JobStatus::Specified | JobStatus::Ready)
    }
}

impl std::fmt::Display for JobStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::JobStatus;

    #[test]
    fn or04_a_system_is_never_complete_by_leaving_out_the_work() {
        assert!(!JobStatus::Discovered.may_become(JobStatus::Complete));
        assert!(JobStatus::ALL.iter().all(|it| !JobStatus::Complete.may_become(*it)));
        assert!(JobStatus::Review.may_become(JobStatus::Complete));
        let written = JobStatus::ALL.map(|it| serde_json::to_string(&it).expect("a word"));
        assert_eq!(written, JobStatus::ALL.map(|it| format!("{:?}", it.word())));
    }
}
