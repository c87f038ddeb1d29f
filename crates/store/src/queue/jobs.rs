//! The jobs of a queue: reading, adding, claiming and moving them. A job carries the number of dependencies
//! that are not complete, so the next ready one is the first entry of an index, and finishing one touches
//! only those that depend on it.

use super::file::{QueueRead, Rewrite, before_writing, is_current, take_over, take_text, write_file};
use super::rows::{
    Job, QueueKey, all, claimed_by, find, first_ready, hold_dependants, open_needs, save, store,
    wake_dependants,
};
use crate::error::StoreError;
use crate::home::Home;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::entry::{self, SystemEntry};
use loop_core::documents::system_queue::{JobStatus, graph};

/// What came of a wish to claim a job.
#[derive(Debug, PartialEq)]
pub enum JobClaim {
    Claimed(Box<Job>),
    /// There is no such job, or none that is ready.
    Nothing,
    /// It waits for these.
    Waits(Box<Job>, Vec<String>),
    /// It is not in a state that can be begun, or another run has it.
    NotStartable(Box<Job>),
}

impl Home {
    /// Takes over what somebody changed in the file, and writes what it lacks.
    pub fn read_queue(&self, queue: QueueKey<'_>, now: Timestamp) -> Result<QueueRead, StoreError> {
        if self.read(|connection| is_current(connection, queue))? {
            return Ok(QueueRead::Read { refused: Vec::new() });
        }
        self.write(|transaction| {
            let taken = take_over(transaction, queue, now)?;
            if let QueueRead::Read { .. } = &taken.read {
                let rewrite = if taken.is_whole { Rewrite::Never } else { Rewrite::Always };
                write_file(transaction, queue, now, rewrite)?;
            }
            Ok(taken.read)
        })
    }

    /// Takes over the systems of another file; those that are known are merged as if it were an edit.
    pub fn import_queue(
        &self,
        queue: QueueKey<'_>,
        text: &str,
        now: Timestamp,
    ) -> Result<QueueRead, StoreError> {
        self.write(|transaction| {
            let read = take_text(transaction, queue, text, now)?.read;
            if let QueueRead::Read { .. } = &read {
                write_file(transaction, queue, now, Rewrite::Always)?;
            }
            Ok(read)
        })
    }

    pub fn jobs(&self, queue: QueueKey<'_>) -> Result<Vec<Job>, StoreError> {
        self.read(|connection| all(connection, queue).map(|it| it.into_iter().map(|it| it.job).collect()))
    }

    pub fn job(&self, queue: QueueKey<'_>, id: &str) -> Result<Option<Job>, StoreError> {
        self.read(|connection| Ok(find(connection, queue, id)?.map(|it| it.job)))
    }

    /// Returns the job that is to be begun next: ready, nothing to wait for, the lowest priority, and
    /// among equals the first of the queue.
    pub fn next_ready(&self, queue: QueueKey<'_>) -> Result<Option<Job>, StoreError> {
        self.read(|connection| Ok(first_ready(connection, queue)?.map(|it| it.job)))
    }

    /// Returns the ids that a job waits for.
    pub fn job_waits_for(&self, queue: QueueKey<'_>, id: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| match find(connection, queue, id)? {
            Some(row) => open_needs(connection, row.key),
            None => Ok(Vec::new()),
        })
    }

    /// Returns the ids of the jobs that depend on this one.
    pub fn dependants(&self, queue: QueueKey<'_>, id: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let Some(row) = find(connection, queue, id)? else { return Ok(Vec::new()) };
            let mut query = connection.prepare_cached(
                "select job.id from job_edge join job on job.key = job_edge.job
                 where job_edge.needs = ?1 order by job.key",
            )?;
            let ids = query.query_map([row.key], |it| it.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// Adds a job or changes one. Says what is wrong with it, if so; then nothing was changed.
    pub fn put_job(
        &self,
        queue: QueueKey<'_>,
        system: SystemEntry,
        now: Timestamp,
    ) -> Result<Result<(), Vec<String>>, StoreError> {
        self.write(|transaction| {
            let rewrite = before_writing(transaction, queue, now)?;
            let rows = all(transaction, queue)?;
            let mut systems: Vec<SystemEntry> = rows.iter().map(|it| it.job.system.clone()).collect();
            match systems.iter_mut().find(|it| it.id == system.id) {
                Some(known) => known.clone_from(&system),
                None => systems.push(system.clone()),
            }
            let mistakes: Vec<String> =
                entry::wrong(&system).into_iter().chain(graph::mistakes(&systems)).collect();
            if !mistakes.is_empty() {
                return Ok(Err(mistakes));
            }
            store(transaction, queue, &rows, systems, None, now)?;
            if let Some(rewrite) = rewrite {
                write_file(transaction, queue, now, rewrite)?;
            }
            Ok(Ok(()))
        })
    }

    /// Gives a job to a run: the one that is named, else the next ready one.
    pub fn claim_job(
        &self,
        queue: QueueKey<'_>,
        id: Option<&str>,
        run: &str,
        now: Timestamp,
    ) -> Result<JobClaim, StoreError> {
        self.claim(queue, id, run, now, false)
    }

    /// Gives a job that another controller had begun to the run that continues it.
    pub fn adopt_job(
        &self,
        queue: QueueKey<'_>,
        id: &str,
        run: &str,
        now: Timestamp,
    ) -> Result<JobClaim, StoreError> {
        self.claim(queue, Some(id), run, now, true)
    }

    fn claim(
        &self,
        queue: QueueKey<'_>,
        id: Option<&str>,
        run: &str,
        now: Timestamp,
        is_begun: bool,
    ) -> Result<JobClaim, StoreError> {
        let claimed = self.write(|transaction| {
            let _the_file_follows = before_writing(transaction, queue, now)?;
            let found = match id {
                Some(id) => find(transaction, queue, id)?,
                None => first_ready(transaction, queue)?,
            };
            let Some(mut row) = found else { return Ok(JobClaim::Nothing) };
            if row.job.run.as_deref() == Some(run) {
                return Ok(JobClaim::Claimed(Box::new(row.job)));
            }
            if 0 < row.job.waits_for {
                let open = open_needs(transaction, row.key)?;
                return Ok(JobClaim::Waits(Box::new(row.job), open));
            }
            let status = row.job.system.status;
            let is_free = row.job.run.is_none();
            let goes_on = is_begun && status != JobStatus::Complete;
            let may_begin =
                status.is_startable() || goes_on || (id.is_some() && status == JobStatus::Blocked);
            if !is_free || !may_begin {
                return Ok(JobClaim::NotStartable(Box::new(row.job)));
            }
            row.job.run = Some(run.to_owned());
            change_status(&mut row.job.system, JobStatus::InProgress, None, now);
            save(transaction, &row)?;
            Ok(JobClaim::Claimed(Box::new(row.job)))
        })?;
        if let JobClaim::Claimed(_) = &claimed {
            self.follow_in_file(queue, now)?;
        }
        Ok(claimed)
    }

    /// Brings what is committed into the file.
    fn follow_in_file(&self, queue: QueueKey<'_>, now: Timestamp) -> Result<(), StoreError> {
        self.write(|transaction| match before_writing(transaction, queue, now)? {
            Some(rewrite) => write_file(transaction, queue, now, rewrite),
            None => Ok(()),
        })
    }

    /// Follows the run that has claimed a job. A job that is complete wakes those that depend on it,
    /// whose ids are returned where nothing else keeps them.
    pub fn move_job(
        &self,
        queue: QueueKey<'_>,
        run: &str,
        to: JobMove<'_>,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let woken = self.write(|transaction| {
            let Some(known) = claimed_by(transaction, queue, run)? else { return Ok(None) };
            let mut moved = known.job.system.clone();
            change_status(&mut moved, to.status, to.reason, now);
            if moved == known.job.system && !to.frees {
                return Ok(None);
            }
            let _the_file_follows = before_writing(transaction, queue, now)?;
            // As that edit left it.
            let Some(mut row) = claimed_by(transaction, queue, run)? else { return Ok(None) };
            let was = row.job.system.clone();
            change_status(&mut row.job.system, to.status, to.reason, now);
            if to.frees {
                row.job.run = None;
            }
            save(transaction, &row)?;
            let woken = match (was.status, to.status) {
                (JobStatus::Complete, JobStatus::Complete) | (_, JobStatus::Discovered) => Vec::new(),
                (JobStatus::Complete, _) => {
                    hold_dependants(transaction, row.key)?;
                    Vec::new()
                }
                (_, JobStatus::Complete) => wake_dependants(transaction, row.key)?,
                _ => Vec::new(),
            };
            Ok(Some(woken))
        })?;
        let Some(woken) = woken else { return Ok(Vec::new()) };
        self.follow_in_file(queue, now)?;
        Ok(woken)
    }
}

/// Where a run brings its job.
#[derive(Clone, Copy, Debug)]
pub struct JobMove<'a> {
    pub status: JobStatus,
    pub reason: Option<&'a str>,
    /// The run has nothing more to do with it.
    pub frees: bool,
}

fn change_status(system: &mut SystemEntry, to: JobStatus, reason: Option<&str>, now: Timestamp) {
    if system.status == to && system.blocked_reason.as_deref() == reason {
        return;
    }
    if to == JobStatus::InProgress {
        system.started_at.get_or_insert_with(|| now.to_string());
    }
    system.completed_at = (to == JobStatus::Complete).then(|| now.to_string());
    system.blocked_reason = reason.map(str::to_owned);
    system.status = to;
}
