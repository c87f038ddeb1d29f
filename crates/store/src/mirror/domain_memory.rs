//! The memory of a domain: `loop-state.json` of a system in the format of its seed, the journey log, the
//! failure log, and the queue, which follows the run. They lie in the project itself, not in the worktree,
//! so that people and other tools find them in one place. All of it is output; the database knows it all.

pub mod import;
mod journey;
mod skills;
mod state_file;
mod told_work;
mod words;

use super::replace;
use crate::fold;
use crate::queue::jobs::JobMove;
use crate::queue::rows::QueueKey;
use crate::{Home, StoreError};
use journey::Journey;
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::{Event, History, Landing, News, State, Status};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use std::path::{Path, PathBuf};
pub use words::GateStatus;

/// Where the memory of every domain lies, in the project.
pub const FOLDER: &str = "domain-memory";

/// The queue of a domain.
pub const QUEUE: &str = "system-queue.json";

/// Where a system stands.
pub const STATE: &str = "loop-state.json";
const JOURNEY: &str = "journey-log.jsonl";
const FAILURES: &str = "failure-log.json";

/// Returns what is written by us in every domain, as patterns of git.
pub(super) fn patterns() -> Vec<String> {
    let names = [STATE, JOURNEY, FAILURES];
    let at_domain = names.iter().map(|it| format!("/{FOLDER}/*/{it}"));
    let of_system = [format!("/{FOLDER}/*/systems/*/{STATE}")];
    at_domain.chain(of_system).flat_map(|it| [format!("{it}.*.tmp"), it]).collect()
}

/// Returns what we write into the memory of a domain, as paths in the project: state, queue, logs, handoffs,
/// and the documents of its systems. A tree that holds them uncommitted is as clean as without them.
pub fn written_paths() -> Vec<String> {
    let names = [STATE, JOURNEY, FAILURES, QUEUE].map(|it| format!("{FOLDER}/*/{it}"));
    let folders = ["sessions", "systems"].map(|it| format!("{FOLDER}/*/{it}/"));
    names.iter().map(|it| format!("{it}.*.tmp")).chain(names.clone()).chain(folders).collect()
}

/// Returns the file of a domain's queue.
pub fn queue_file(project: &Path, domain: &str) -> PathBuf {
    project.join(FOLDER).join(domain).join(QUEUE)
}

/// Returns the folder of a system, relative to the project.
pub fn system_folder(domain: &str, id: &str) -> String {
    format!("{FOLDER}/{domain}/systems/{id}")
}

/// Where a system stands, for a person.
pub struct SystemView {
    pub name: String,
    /// The stage, or what it is between two of them.
    pub state: String,
    pub capabilities: Capabilities,
    /// Each gate, whether somebody wants it, and what became of it.
    pub gates: Vec<(String, bool, GateStatus)>,
    /// Retries of one failure.
    pub retries_most: u32,
}

/// What a system is to be able to do.
pub struct Capabilities {
    pub total: usize,
    pub completed: usize,
    pub current: Option<String>,
    pub remaining: Vec<String>,
}

/// A run of a system, and what is written about it.
pub struct DomainMemory {
    run: String,
    project: String,
    history: History,
    journey: Journey,
    /// What we wrote last.
    written: Option<String>,
}

impl DomainMemory {
    /// Reads what a run has come to. `None` when it has no such memory.
    pub fn open(home: &Home, run: &str, workflow: &Workflow) -> Result<Option<DomainMemory>, StoreError> {
        if workflow.mirror.format != Some(MirrorFormat::DomainMemory) {
            return Ok(None);
        }
        let Some(row) = home.run(run)? else { return Ok(None) };
        let mut found = DomainMemory {
            run: run.to_owned(),
            project: row.project,
            history: History::new(workflow),
            journey: Journey::new(run),
            written: None,
        };
        fold::replay(home, run, workflow, |workflow, at, event| found.take(workflow, at, event))?;
        Ok(Some(found).filter(|it| !it.domain().is_empty()))
    }

    fn take(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) {
        let turn = self.history.follow(workflow, at, event);
        if let Some(moment) = self.history.moment(event, turn.as_ref()) {
            self.journey.add(workflow, &self.history.state.opening.input, at, &moment);
        }
    }

    /// Takes into account what has become durable, and writes it down. Returns what somebody else had done
    /// to the state file, which is undone.
    pub fn follow(&mut self, home: &Home, workflow: &Workflow, facts: &[(Timestamp, Event)]) -> Vec<News> {
        let edited = self.edits(workflow);
        facts.iter().for_each(|(at, event)| self.take(workflow, *at, event));
        let now = facts.last().map_or(self.history.state.updated_at, |it| it.0);
        self.move_job(home, workflow, now);
        // The folder may be read-only, or the disk full: the database knows everything that is in here.
        let _harmless = self.write(workflow);
        edited.into_iter().collect()
    }

    /// Writes everything that is not as it should be.
    pub fn write(&mut self, workflow: &Workflow) -> std::io::Result<()> {
        if workflow.mirror.off {
            return Ok(());
        }
        let domain = self.folder();
        let system = Path::new(&self.project).join(self.system_folder());
        std::fs::create_dir_all(&system)?;
        let text = self.text(workflow);
        replace(&system.join(STATE), &text)?;
        // The domain shows the system that was worked on last.
        replace(&domain.join(STATE), &text)?;
        self.journey.write(&domain.join(JOURNEY))?;
        state_file::write_failures(&domain.join(FAILURES), &self.run, workflow, &self.history.state)?;
        self.written = Some(text);
        Ok(())
    }

    /// Returns where the system stands.
    pub fn view(&self, workflow: &Workflow) -> SystemView {
        state_file::view(workflow, &self.history)
    }

    /// Returns the text of the state file.
    pub fn text(&self, workflow: &Workflow) -> String {
        state_file::text(workflow, &self.history, &self.project)
    }

    /// Returns the state that somebody wrote into the file of a run which nobody drives, where it is another
    /// than the run's own: a person's word that it is to continue from there.
    pub fn edited_state(&self, workflow: &Workflow) -> Option<String> {
        let said = self.edited(workflow, |it| Some(it["state"].clone()))?;
        said.as_str().map(str::to_owned)
    }

    /// The same for the retries that a failure has used.
    pub fn edited_retries(&self, workflow: &Workflow) -> Option<u32> {
        let said = self.edited(workflow, |it| it["failures"].get("count").cloned())?;
        said.as_u64().and_then(|it| u32::try_from(it).ok())
    }

    /// What one of the two files says that is not what we wrote: that of the system, or that of the domain where it is
    /// about this system.
    fn edited(
        &self,
        workflow: &Workflow,
        part: impl Fn(&serde_json::Value) -> Option<serde_json::Value>,
    ) -> Option<serde_json::Value> {
        if workflow.mirror.off {
            return None;
        }
        let ours: serde_json::Value = serde_json::from_str(&self.text(workflow)).ok()?;
        let system = Path::new(&self.project).join(self.system_folder());
        [system, self.folder()].into_iter().find_map(|folder| {
            let text = files::text(&folder.join(STATE)).ok()?;
            let found: serde_json::Value = serde_json::from_str(&text).ok()?;
            let is_about_it = found["systemId"] == ours["systemId"];
            part(&found).filter(|it| is_about_it && part(&ours).as_ref() != Some(it))
        })
    }

    /// Writes what a run that nobody drives has come to, unless a person has said where it is to continue.
    pub(super) fn restore(&mut self, home: &Home, workflow: &Workflow) {
        let now = self.history.state.updated_at;
        self.move_job(home, workflow, now);
        let rests = !matches!(Status::of(&self.history.state), Status::Running | Status::Completed);
        let is_edited = self.edited_state(workflow).is_some() || self.edited_retries(workflow).is_some();
        if !(rests && is_edited) {
            let _harmless = self.write(workflow);
        }
    }

    fn domain(&self) -> &str {
        self.history.state.opening.beginning.domain.as_deref().unwrap_or_default()
    }

    fn folder(&self) -> PathBuf {
        Path::new(&self.project).join(FOLDER).join(self.domain())
    }

    /// Returns the folder of the system, relative to the project.
    fn system_folder(&self) -> String {
        system_folder(self.domain(), &self.history.state.opening.input)
    }

    /// What somebody did to the state file since we wrote it.
    fn edits(&self, workflow: &Workflow) -> Option<News> {
        let written = self.written.as_ref().filter(|_| !workflow.mirror.off)?;
        let path = Path::new(&self.project).join(self.system_folder()).join(STATE);
        let found = files::text(&path).unwrap_or_default();
        let name = format!("{}/{STATE}", self.system_folder());
        (found != *written).then(|| {
            News::Noted(if found.is_empty() {
                format!("{name} was removed; it is written again")
            } else {
                format!("{name} was changed by somebody else; the edit was undone and had no effect")
            })
        })
    }

    /// Brings the job to where its run is.
    fn move_job(&self, home: &Home, workflow: &Workflow, now: Timestamp) {
        let file = queue_file(Path::new(&self.project), self.domain());
        let queue = QueueKey { project: &self.project, domain: self.domain(), file: &file };
        let state = &self.history.state;
        let reason = state.reason(workflow);
        let to = target(workflow, state, &reason);
        // A queue that cannot be written is reported by the next command that reads it.
        let _told_later = home.move_job(queue, &self.run, to, now);
    }
}

/// Why a system is blocked that was landed and taken out again.
pub const REVERTED: &str = "reverted";

/// Where the job of a run belongs.
fn target<'a>(workflow: &Workflow, state: &State, reason: &'a str) -> JobMove<'a> {
    let keeps = |status, reason| JobMove { status, reason, frees: false };
    match Status::of(state) {
        Status::Completed | Status::Cancelled if matches!(state.landing, Some(Landing::Reverted { .. })) => {
            JobMove { status: JobStatus::Blocked, reason: Some(REVERTED), frees: true }
        }
        Status::Completed if state.is_proven() || workflow.proof.accept_unverified => {
            keeps(JobStatus::Complete, None)
        }
        // Work that nothing proves is looked at by a person before others build on it.
        Status::Completed => keeps(JobStatus::Review, None),
        Status::Cancelled => JobMove { status: JobStatus::Blocked, reason: Some("cancelled"), frees: true },
        Status::Halted => keeps(JobStatus::Blocked, Some(reason)),
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Stopped
        | Status::Capped => {
            let is_proven = workflow.proof.at.is_some_and(|it| it < state.phase);
            keeps(if is_proven { JobStatus::Review } else { JobStatus::InProgress }, None)
        }
    }
}
