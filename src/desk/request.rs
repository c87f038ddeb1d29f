//! What is asked of the desk: a run of some input, by some workflow, with these changes. It is the
//! same whoever asks, and answers to the desk's own questions come back in it.

use super::question::PersonReply;
use loop_core::proof::Level;
use std::path::PathBuf;

/// Who carries the calls of a run out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CarriedOutBy {
    /// An agent that we start.
    #[default]
    Us,
    /// A session of the agent that calls us.
    Session,
}

/// A run that is to be opened or continued.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRequest {
    pub by: CarriedOutBy,
    /// A file, a phase, a job or a sentence, as the workflow says.
    pub input: Option<String>,
    /// The domain whose queue is meant.
    pub domain: Option<String>,
    /// The next ready system of the queue is meant, whatever is unfinished.
    pub next_job: bool,
    pub preset: Option<String>,
    /// A workflow file.
    pub workflow: Option<PathBuf>,
    pub agent: Option<String>,
    /// Any program as the agent, as one line of words.
    pub agent_cmd: Option<String>,
    pub model: Option<String>,
    /// Maximum number of iterations, counted over all restarts.
    pub max: Option<u32>,
    /// Checks by name and command.
    pub checks: Vec<(String, String)>,
    pub unverified: bool,
    /// Start over; an unfinished run of the same input is cancelled.
    pub fresh: bool,
    /// Reset the counters (iterations, breaker) to 0.
    pub reset: bool,
    /// Read the workflow file again for a run that has begun.
    pub reload: bool,
    pub budget: Option<f64>,
    pub tokens: Option<u64>,
    /// In milliseconds.
    pub time: Option<u64>,
    pub worktree: bool,
    /// How many success criteria the input has.
    pub criteria: Option<u32>,
    pub promise: Option<String>,
    /// Where the state files for other tools are written.
    pub mirror: Option<PathBuf>,
    pub notify: Option<String>,
    /// Only the next decision is asked for; nothing is started or written.
    pub dry_run: bool,
    /// A run inside an agent call of another run is meant.
    pub nested: bool,
    /// The least that must be proven; less is a question.
    pub require_proof: Option<Level>,
    /// Globs of protected files that the run may change.
    pub allow_test_change: Vec<String>,
    /// The person's word that a tree with uncommitted changes will do.
    pub allow_dirty: bool,
    /// The person's word that an unfinished run of another input makes way.
    pub replace_other: bool,
    /// The phase to continue in, which must have been reached before.
    pub phase: Option<String>,
    /// The person's word that what blocked the run is gone.
    pub unblock: bool,
    /// A wait for the provider is over, by the person's word.
    pub now: bool,
    /// A run that stopped is a question first.
    pub ask_before_resuming: bool,
}

impl RunRequest {
    /// Returns the same request with the answer to a question in it; none where the person wants
    /// nothing more.
    pub(crate) fn answered(
        mut self,
        choice: PersonReply,
        about: super::question::About,
    ) -> Option<RunRequest> {
        use super::question::About;
        match (about, choice) {
            (About::Resume, PersonReply::Resume) => self.ask_before_resuming = false,
            (About::Resume, PersonReply::New) => self.fresh = true,
            (About::Dirty, PersonReply::Go) => self.allow_dirty = true,
            (About::OtherInput, PersonReply::New) => self.replace_other = true,
            (About::Resume | About::Dirty | About::OtherInput | About::Cancel, _) => return None,
        }
        Some(self)
    }
}
