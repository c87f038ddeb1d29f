//! The queue of systems: jobs, what each of them waits for, and the file that people read and edit. A
//! job carries the number of dependencies that are not complete, so the next ready one is the first entry
//! of an index, and finishing one touches only those that depend on it. The file is read when it is not the
//! one that was written last, and written when a job differs from it, both in the transaction that needs it.

use crate::error::StoreError;
use crate::home::Home;
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::entry::{self, SystemEntry};
use loop_core::documents::system_queue::merge::merge;
use loop_core::documents::system_queue::{JobStatus, graph};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, Transaction, params};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file is text that people edit; one of this size is no such file.
const FILE_MOST: usize = 128 << 20;

/// The queue of one domain of one project.
#[derive(Clone, Copy, Debug)]
pub struct QueueKey<'a> {
    pub project: &'a str,
    pub domain: &'a str,
    /// `system-queue.json`.
    pub file: &'a Path,
}

/// One system of a queue as we know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub system: SystemEntry,
    /// Dependencies that are not complete.
    pub waits_for: u32,
    /// The run that has claimed it.
    pub run: Option<String>,
}

/// What came of reading the file.
#[derive(Debug, PartialEq)]
pub enum QueueRead {
    /// Everything is as it was, or was taken over. What could not be is said.
    Read { refused: Vec<String> },
    /// The file cannot be read, or its systems do not fit together. Nothing was changed.
    Invalid { mistakes: Vec<String> },
}

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
            let read = take_over(transaction, queue, now)?;
            if let QueueRead::Read { .. } = &read {
                write_file(transaction, queue, now, Rewrite::Always)?;
            }
            Ok(read)
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
            let read = take_text(transaction, queue, text, now)?;
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
            write_file(transaction, queue, now, Rewrite::Changed)?;
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
        self.write(|transaction| {
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
            let may_begin = status.is_startable() || (id.is_some() && status == JobStatus::Blocked);
            if !is_free || !may_begin {
                return Ok(JobClaim::NotStartable(Box::new(row.job)));
            }
            row.job.run = Some(run.to_owned());
            change_status(&mut row.job.system, JobStatus::InProgress, None, now);
            save(transaction, &row)?;
            write_file(transaction, queue, now, Rewrite::Changed)?;
            Ok(JobClaim::Claimed(Box::new(row.job)))
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
        self.write(|transaction| {
            let Some(mut row) = claimed_by(transaction, queue, run)? else { return Ok(Vec::new()) };
            let was = row.job.system.clone();
            change_status(&mut row.job.system, to.status, to.reason, now);
            if to.frees {
                row.job.run = None;
            }
            if was == row.job.system && !to.frees {
                return Ok(Vec::new());
            }
            save(transaction, &row)?;
            let woken = match (was.status, to.status) {
                (JobStatus::Complete, _) | (_, JobStatus::Discovered) => Vec::new(),
                (_, JobStatus::Complete) => wake_dependants(transaction, row.key)?,
                _ => Vec::new(),
            };
            write_file(transaction, queue, now, Rewrite::Changed)?;
            Ok(woken)
        })
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

struct JobRow {
    key: i64,
    job: Job,
    /// The system as the file had it when it was last read or written.
    filed: Option<SystemEntry>,
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

/// The columns of a job: key, how many it waits for, run, system, system in the file.
type JobColumns = (i64, u32, Option<String>, String, Option<String>);

fn row(it: &SqlRow<'_>) -> rusqlite::Result<JobColumns> {
    Ok((it.get(0)?, it.get(1)?, it.get(2)?, it.get(3)?, it.get(4)?))
}

fn read_row((key, waits_for, run, body, filed): JobColumns) -> Result<JobRow, StoreError> {
    let read = |text: &str| {
        serde_json::from_str::<SystemEntry>(text)
            .map_err(|error| StoreError::damaged(format!("a job of the queue cannot be read: {error}")))
    };
    let system = read(&body)?;
    let filed = filed.as_deref().map(read).transpose()?;
    Ok(JobRow { key, job: Job { system, waits_for, run }, filed })
}

const COLUMNS: &str = "select key, waits_for, run, body, filed from job where project = ?1 and queue = ?2";

fn all(connection: &Connection, queue: QueueKey<'_>) -> Result<Vec<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} order by key"))?;
    let rows = query.query_map(params![queue.project, queue.domain], row)?;
    rows.map(|it| read_row(it?)).collect()
}

fn find(connection: &Connection, queue: QueueKey<'_>, id: &str) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} and id = ?3"))?;
    let found = query.query_row(params![queue.project, queue.domain, id], row).optional()?;
    found.map(read_row).transpose()
}

fn first_ready(connection: &Connection, queue: QueueKey<'_>) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!(
        "{COLUMNS} and waits_for = 0 and status in ('specified', 'ready') order by priority, key limit 1"
    ))?;
    let found = query.query_row(params![queue.project, queue.domain], row).optional()?;
    found.map(read_row).transpose()
}

fn claimed_by(connection: &Connection, queue: QueueKey<'_>, run: &str) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} and run = ?3"))?;
    let found = query.query_row(params![queue.project, queue.domain, run], row).optional()?;
    found.map(read_row).transpose()
}

fn open_needs(connection: &Connection, job: i64) -> Result<Vec<String>, StoreError> {
    let mut query = connection.prepare_cached(
        "select job.id from job_edge join job on job.key = job_edge.needs
         where job_edge.job = ?1 and job.status <> 'complete' order by job.key",
    )?;
    let ids = query.query_map([job], |it| it.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn save(transaction: &Transaction<'_>, row: &JobRow) -> Result<(), StoreError> {
    let Job { system, waits_for: _, run } = &row.job;
    let body = body(system);
    transaction
        .prepare_cached(
            "update job set name = ?2, status = ?3, priority = ?4, run = ?5, body = ?6, started_at = ?7,
                 completed_at = ?8 where key = ?1",
        )?
        .execute(params![
            row.key,
            system.name,
            system.status.word(),
            system.priority,
            run,
            body,
            moment(system.started_at.as_deref()),
            moment(system.completed_at.as_deref()),
        ])?;
    Ok(())
}

fn body(system: &SystemEntry) -> String {
    serde_json::to_string(system).expect("a system is plain data")
}

fn moment(text: Option<&str>) -> Option<i64> {
    text?.parse::<jiff::Timestamp>().ok().map(|it| it.as_millisecond())
}

/// Returns the ids of the dependants that have nothing to wait for any more.
fn wake_dependants(transaction: &Transaction<'_>, done: i64) -> Result<Vec<String>, StoreError> {
    let mut query = transaction.prepare_cached(
        "update job set waits_for = max(waits_for - 1, 0)
         where key in (select job from job_edge where needs = ?1) returning id, waits_for",
    )?;
    let woken = query.query_map([done], |it| Ok((it.get::<_, String>(0)?, it.get::<_, u32>(1)?)))?;
    let woken: Vec<(String, u32)> = woken.collect::<Result<_, _>>()?;
    Ok(woken.into_iter().filter(|it| it.1 == 0).map(|it| it.0).collect())
}

/// What a file looked like when it was last read or written.
fn stamp(file: &Path) -> Option<String> {
    let meta = std::fs::metadata(file).ok()?;
    Some(format!("{}.{:09} {} {}", meta.mtime(), meta.mtime_nsec(), meta.len(), meta.ino()))
}

/// Whether the file is the one that was written last, and holds every job as it is.
fn is_current(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    let known: Option<String> = connection
        .prepare_cached("select stamp from queue where project = ?1 and domain = ?2")?
        .query_row(params![queue.project, queue.domain], |it| it.get(0))
        .optional()?;
    let is_read = known.is_some() && known == stamp(queue.file);
    Ok(is_read && !has_unfiled(connection, queue)?)
}

fn has_unfiled(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "select 1 from job where project = ?1 and queue = ?2 and (filed is null or filed <> body) limit 1",
        )?
        .exists(params![queue.project, queue.domain])?)
}

fn take_over(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    now: Timestamp,
) -> Result<QueueRead, StoreError> {
    let text = match files::read(queue.file, FILE_MOST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(QueueRead::Read { refused: Vec::new() });
        }
        Err(error) => return Ok(QueueRead::Invalid { mistakes: vec![error.to_string()] }),
    };
    take_text(transaction, queue, &text, now)
}

fn take_text(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    text: &str,
    now: Timestamp,
) -> Result<QueueRead, StoreError> {
    let found = match entry::read(text) {
        Ok(found) => found,
        Err(mistakes) => return Ok(QueueRead::Invalid { mistakes }),
    };
    let rows = all(transaction, queue)?;
    let known: HashMap<&str, &JobRow> = rows.iter().map(|it| (it.job.system.id.as_str(), it)).collect();
    let mut refused = Vec::new();
    let mut systems: Vec<SystemEntry> = Vec::with_capacity(found.systems.len());
    let named: std::collections::HashSet<String> = found.systems.iter().map(|it| it.id.clone()).collect();
    for row in rows.iter().filter(|it| !named.contains(&it.job.system.id)) {
        if row.filed.is_some() {
            refused.push(format!("{} stays in the queue: systems are not deleted", row.job.system.id));
        }
        systems.push(row.job.system.clone());
    }
    let kept = systems.len();
    for system in found.systems {
        let Some(row) = known.get(system.id.as_str()) else {
            systems.push(system);
            continue;
        };
        let filed = row.filed.as_ref().unwrap_or(&row.job.system);
        let merged = merge(filed, system, &row.job.system, row.job.run.is_some());
        refused.extend(merged.refused);
        systems.push(merged.system);
    }
    systems.rotate_left(kept);
    let mistakes = graph::mistakes(&systems);
    if !mistakes.is_empty() {
        return Ok(QueueRead::Invalid { mistakes });
    }
    store(transaction, queue, &rows, systems, Some(&found.header), now)?;
    Ok(QueueRead::Read { refused })
}

/// Writes the jobs that differ from what is known of them, and their dependencies.
fn store(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    rows: &[JobRow],
    systems: Vec<SystemEntry>,
    header: Option<&Map<String, Value>>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut keys: HashMap<String, i64> = rows.iter().map(|it| (it.job.system.id.clone(), it.key)).collect();
    let known: HashMap<&str, &JobRow> = rows.iter().map(|it| (it.job.system.id.as_str(), it)).collect();
    let mut needs_new_edges: Vec<&SystemEntry> = Vec::new();
    let mut wakes: Vec<i64> = Vec::new();
    for system in &systems {
        match known.get(system.id.as_str()) {
            Some(row) if row.job.system == *system => (),
            Some(row) => {
                if row.job.system.dependencies != system.dependencies {
                    needs_new_edges.push(system);
                }
                if row.job.system.status != system.status && system.status == JobStatus::Complete {
                    wakes.push(row.key);
                }
                let job = Job { system: system.clone(), ..row.job.clone() };
                save(transaction, &JobRow { key: row.key, job, filed: None })?;
            }
            None => {
                keys.insert(system.id.clone(), insert(transaction, queue, system, now)?);
                needs_new_edges.push(system);
            }
        }
    }
    for done in wakes {
        wake_dependants(transaction, done)?;
    }
    for system in needs_new_edges {
        let job = keys[&system.id];
        transaction.prepare_cached("delete from job_edge where job = ?1")?.execute([job])?;
        for needed in &system.dependencies {
            transaction
                .prepare_cached("insert or ignore into job_edge values(?1, ?2)")?
                .execute(params![job, keys[needed]])?;
        }
        transaction
            .prepare_cached(
                "update job set waits_for = (select count(*) from job_edge join job as needed
                     on needed.key = job_edge.needs
                     where job_edge.job = ?1 and needed.status <> 'complete') where key = ?1",
            )?
            .execute([job])?;
    }
    if let Some(header) = header {
        let text = serde_json::to_string(header).expect("a map of plain data");
        put_header(transaction, queue, &text, "")?;
    }
    Ok(())
}

fn insert(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    system: &SystemEntry,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let created = moment(system.created_at.as_deref()).unwrap_or(now.0);
    transaction
        .prepare_cached(
            "insert into job(project, queue, id, name, status, priority, body, created_at, started_at, completed_at)
             values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            queue.project,
            queue.domain,
            system.id,
            system.name,
            system.status.word(),
            system.priority,
            body(system),
            created,
            moment(system.started_at.as_deref()),
            moment(system.completed_at.as_deref()),
        ])?;
    Ok(transaction.last_insert_rowid())
}

fn put_header(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    header: &str,
    stamp: &str,
) -> Result<(), StoreError> {
    transaction.prepare_cached("insert or replace into queue values(?1, ?2, ?3, ?4)")?.execute(params![
        queue.project,
        queue.domain,
        header,
        stamp
    ])?;
    Ok(())
}

/// When the file is written.
#[derive(Clone, Copy)]
enum Rewrite {
    /// A job differs from it.
    Changed,
    /// Somebody edited or deleted it, and not everything of that need hold.
    Always,
}

fn is_empty(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    let mut query =
        connection.prepare_cached("select 1 from job where project = ?1 and queue = ?2 limit 1")?;
    Ok(!query.exists(params![queue.project, queue.domain])?)
}

/// Writes the file where a job differs from it, and remembers how it looks.
fn write_file(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    now: Timestamp,
    rewrite: Rewrite,
) -> Result<(), StoreError> {
    let header: Option<String> = transaction
        .prepare_cached("select header from queue where project = ?1 and domain = ?2")?
        .query_row(params![queue.project, queue.domain], |it| it.get(0))
        .optional()?;
    let mut header: Map<String, Value> =
        header.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
    let is_due = match rewrite {
        Rewrite::Always => !is_empty(transaction, queue)?,
        Rewrite::Changed => has_unfiled(transaction, queue)?,
    };
    if is_due {
        header.entry("domain").or_insert_with(|| queue.domain.into());
        header.entry("createdAt").or_insert_with(|| now.to_string().into());
        header.insert("updatedAt".to_owned(), now.to_string().into());
        let systems: Vec<SystemEntry> =
            all(transaction, queue)?.into_iter().map(|it| it.job.system).collect();
        let failed = |error: std::io::Error| StoreError::file(queue.file, &error);
        if let Some(folder) = queue.file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        files::replace(queue.file, &entry::write(&header, &systems)).map_err(failed)?;
        transaction
            .prepare_cached(
                "update job set filed = body
                 where project = ?1 and queue = ?2 and (filed is null or filed <> body)",
            )?
            .execute(params![queue.project, queue.domain])?;
    }
    let header = serde_json::to_string(&header).expect("a map of plain data");
    put_header(transaction, queue, &header, &stamp(queue.file).unwrap_or_default())
}
