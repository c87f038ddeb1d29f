//! How a pool ended: every system of the queue, and what to exit with.

use super::follow::Followed;
use crate::desk::{Queue, Refusal, next_step};
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::Status;
use std::collections::HashMap;

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
    /// The command that continues.
    pub next: Option<String>,
}

/// Says how every system of the queue stands.
pub(super) fn report(
    queue: &Queue,
    followed: &[Followed],
    refused: &HashMap<String, Refusal>,
    capped: Option<String>,
    signal: Option<i32>,
) -> Result<PoolEnd, Refusal> {
    let mut systems = Vec::new();
    let mut has = Has::default();
    for job in queue.jobs()? {
        let id = job.system.id.clone();
        if let Some(it) = followed.iter().find(|it| it.system == id) {
            has.see(it.status());
            let (status, reason) = (it.status().word(), it.state.reason(&it.workflow));
            let next = match it.status() {
                Status::Completed => None,
                _ => Some(
                    next_step(queue.home(), &it.row.id, &it.workflow, &it.state)
                        .map_err(anyhow::Error::from)?,
                ),
            };
            let (run, verified) = (Some(it.row.id.clone()), it.row.verified);
            let is_done = it.status() == Status::Completed;
            systems.push(SystemEnd { id, run, status, is_done, verified, reason, next });
            continue;
        }
        let status = job.system.status;
        let waits = queue.waits_for(&id)?;
        let (reason, next) = match (refused.get(&id), status) {
            (Some(refusal), _) => {
                has.refused.get_or_insert(refusal.exit);
                (refusal.text.clone(), refusal.next.as_ref().map(|it| it.first().to_owned()))
            }
            (None, JobStatus::Blocked) => {
                has.blocked = true;
                (job.system.blocked_reason.clone().unwrap_or_default(), Some(format!("loop run {id}")))
            }
            (None, _) if !waits.is_empty() => (format!("waits for {}", waits.join(", ")), None),
            (None, _) => (String::new(), None),
        };
        systems.push(SystemEnd {
            id,
            run: job.run,
            status: status.word(),
            is_done: status == JobStatus::Complete,
            verified: false,
            reason,
            next,
        });
    }
    let exit = match signal {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => has.exit(capped.is_some()),
    };
    Ok(PoolEnd { systems, capped, signal, exit })
}

/// What there is among the systems, for the exit code.
#[derive(Default)]
struct Has {
    blocked: bool,
    waiting: bool,
    capped: bool,
    stopped: bool,
    /// What the first refusal to open a system exits with.
    refused: Option<u8>,
}

impl Has {
    fn see(&mut self, status: Status) {
        match status {
            Status::Halted => self.blocked = true,
            Status::Waiting => self.waiting = true,
            Status::Capped => self.capped = true,
            Status::Ready | Status::Running | Status::Paused | Status::Stopped => self.stopped = true,
            Status::Cancelled => self.blocked = true,
            Status::Completed => (),
        }
    }

    fn exit(&self, is_capped: bool) -> u8 {
        match () {
            () if self.blocked => Status::Halted.exit(),
            () if self.waiting => Status::Waiting.exit(),
            () if self.capped || is_capped => Status::Capped.exit(),
            () if self.stopped => Status::Stopped.exit(),
            () => self.refused.unwrap_or(Status::Completed.exit()),
        }
    }
}
