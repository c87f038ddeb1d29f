//! How a pool ended: every system of the queue, and what to exit with.

use super::follow::Followed;
use crate::desk::{NextStep, Queue, Refusal, lost_worktree, next_step};
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::Status;
use loop_store::Job;
use std::collections::BTreeMap;

pub(crate) struct PoolEnd {
    pub systems: Vec<SystemEnd>,
    /// The cap that was reached.
    pub capped: Option<String>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub exit: u8,
}

pub(crate) struct SystemEnd {
    pub id: String,
    pub run: Option<String>,
    /// The status of its run, else of the system.
    pub status: &'static str,
    pub is_done: bool,
    pub verified: bool,
    pub reason: String,
    /// What continues it.
    pub next: Option<NextStep>,
}

/// Says how every system of the queue stands.
pub(super) fn report(
    queue: &Queue,
    followed: &[Followed],
    refused: &BTreeMap<String, Refusal>,
    capped: Option<String>,
    signal: Option<i32>,
) -> Result<PoolEnd, Refusal> {
    let mut systems = Vec::new();
    let mut has = Has::default();
    for job in queue.jobs()? {
        let id = &job.system.id;
        // What a run landed may have been taken out again since then: the system has no run any more.
        let run = followed.iter().find(|it| job.run.as_ref() == Some(&it.row.id));
        let mut end = match run {
            Some(it) => of_run(queue, it, &mut has)?,
            None => of_job(queue, &job, &mut has)?,
        };
        if let Some(refusal) = refused.get(id).filter(|_| !end.is_done) {
            has.refused.get_or_insert(refusal.exit);
            end.reason = refusal.text.clone();
            end.next.clone_from(&refusal.next);
        }
        has.left |= !end.is_done;
        systems.push(end);
    }
    let exit = match signal {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => has.exit(capped.is_some()),
    };
    Ok(PoolEnd { systems, capped, signal, exit })
}

fn of_run(queue: &Queue, it: &Followed, has: &mut Has) -> Result<SystemEnd, Refusal> {
    let status = it.status();
    has.see(status);
    let is_done = status == Status::Completed;
    let next = match is_done {
        true => None,
        false => Some(match lost_worktree(&it.state) {
            Some(found) => found,
            None => next_step(queue.home(), &it.row.id, &it.workflow, &it.state)
                .map_err(anyhow::Error::from)?
                .into(),
        }),
    };
    Ok(SystemEnd {
        id: it.system.clone(),
        run: Some(it.row.id.clone()),
        status: status.word(),
        is_done,
        verified: it.row.verified,
        reason: it.state.reason(&it.workflow),
        next,
    })
}

/// A system that this pool had nothing to do with.
fn of_job(queue: &Queue, job: &Job, has: &mut Has) -> Result<SystemEnd, Refusal> {
    let id = &job.system.id;
    let status = job.system.status;
    let waits = queue.waits_for(id)?;
    let (reason, next) = match status {
        JobStatus::Blocked => {
            has.blocked = true;
            (job.system.blocked_reason.clone().unwrap_or_default(), Some(format!("loop run {id}").into()))
        }
        JobStatus::Discovered => (
            "it is not specified yet".to_owned(),
            Some(format!("loop queue set {id} --status specified").into()),
        ),
        _ if !waits.is_empty() => (format!("waits for {}", waits.join(", ")), None),
        _ => (String::new(), None),
    };
    let row = match &job.run {
        Some(run) => queue.home().run(run).map_err(anyhow::Error::from)?,
        None => None,
    };
    Ok(SystemEnd {
        id: id.clone(),
        run: job.run.clone(),
        status: status.word(),
        is_done: status == JobStatus::Complete,
        verified: row.is_some_and(|it| it.verified),
        reason,
        next,
    })
}

/// What there is among the systems, for the exit code.
#[derive(Default)]
struct Has {
    blocked: bool,
    waiting: bool,
    capped: bool,
    stopped: bool,
    /// What the first refusal to begin or continue a system exits with.
    refused: Option<u8>,
    /// Some system is not complete.
    left: bool,
}

impl Has {
    fn see(&mut self, status: Status) {
        match status {
            Status::Halted | Status::Cancelled => self.blocked = true,
            Status::Waiting => self.waiting = true,
            Status::Capped => self.capped = true,
            Status::Ready | Status::Running | Status::Paused | Status::Stopped => self.stopped = true,
            Status::Completed => (),
        }
    }

    fn exit(&self, is_capped: bool) -> u8 {
        match () {
            () if self.blocked => Status::Halted.exit(),
            () if self.waiting => Status::Waiting.exit(),
            () if self.capped || (is_capped && self.left) => Status::Capped.exit(),
            () if self.refused.is_some() => self.refused.unwrap_or_default(),
            () if self.stopped => Status::Stopped.exit(),
            // Nobody but a person can say that what is left may be built.
            () if self.left => Status::Waiting.exit(),
            () => Status::Completed.exit(),
        }
    }
}
