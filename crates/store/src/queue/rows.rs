//! The rows of jobs: reading them, writing one, and what each waits for. Whether a job may change is
//! decided by whoever calls.

use crate::error::StoreError;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::JobStatus;
use loop_core::documents::system_queue::entry::SystemEntry;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, Transaction, params};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

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

pub(super) struct JobRow {
    pub(super) key: i64,
    pub(super) job: Job,
    /// The system as the file had it when it was last read or written.
    pub(super) filed: Option<SystemEntry>,
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

pub(super) fn all(connection: &Connection, queue: QueueKey<'_>) -> Result<Vec<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} order by key"))?;
    let rows = query.query_map(params![queue.project, queue.domain], row)?;
    rows.map(|it| read_row(it?)).collect()
}

pub(super) fn find(
    connection: &Connection,
    queue: QueueKey<'_>,
    id: &str,
) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} and id = ?3"))?;
    let found = query.query_row(params![queue.project, queue.domain, id], row).optional()?;
    found.map(read_row).transpose()
}

pub(super) fn first_ready(
    connection: &Connection,
    queue: QueueKey<'_>,
) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!(
        "{COLUMNS} and waits_for = 0 and status in ('specified', 'ready') order by priority, key limit 1"
    ))?;
    let found = query.query_row(params![queue.project, queue.domain], row).optional()?;
    found.map(read_row).transpose()
}

pub(super) fn claimed_by(
    connection: &Connection,
    queue: QueueKey<'_>,
    run: &str,
) -> Result<Option<JobRow>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} and run = ?3"))?;
    let found = query.query_row(params![queue.project, queue.domain, run], row).optional()?;
    found.map(read_row).transpose()
}

pub(super) fn open_needs(connection: &Connection, job: i64) -> Result<Vec<String>, StoreError> {
    let mut query = connection.prepare_cached(
        "select job.id from job_edge join job on job.key = job_edge.needs
         where job_edge.job = ?1 and job.status <> 'complete' order by job.key",
    )?;
    let ids = query.query_map([job], |it| it.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

pub(super) fn save(transaction: &Transaction<'_>, row: &JobRow) -> Result<(), StoreError> {
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

/// Remembers a system as the file has it.
pub(super) fn put_filed(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    system: &SystemEntry,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("update job set filed = ?4 where project = ?1 and queue = ?2 and id = ?3")?
        .execute(params![queue.project, queue.domain, system.id, body(system)])?;
    Ok(())
}

fn body(system: &SystemEntry) -> String {
    serde_json::to_string(system).expect("a system is plain data")
}

fn moment(text: Option<&str>) -> Option<i64> {
    text?.parse::<jiff::Timestamp>().ok().map(|it| it.as_millisecond())
}

/// Returns the ids of the dependants that have nothing to wait for any more.
pub(super) fn wake_dependants(transaction: &Transaction<'_>, done: i64) -> Result<Vec<String>, StoreError> {
    let mut query = transaction.prepare_cached(
        "update job set waits_for = max(waits_for - 1, 0)
         where key in (select job from job_edge where needs = ?1) returning id, waits_for",
    )?;
    let woken = query.query_map([done], |it| Ok((it.get::<_, String>(0)?, it.get::<_, u32>(1)?)))?;
    let woken: Vec<(String, u32)> = woken.collect::<Result<_, _>>()?;
    Ok(woken.into_iter().filter(|it| it.1 == 0).map(|it| it.0).collect())
}

/// What they depend on is no longer complete.
pub(super) fn hold_dependants(transaction: &Transaction<'_>, undone: i64) -> Result<(), StoreError> {
    let words = "update job set waits_for = waits_for + 1
                 where key in (select job from job_edge where needs = ?1)";
    transaction.prepare_cached(words)?.execute([undone])?;
    Ok(())
}

/// Writes the jobs that differ from what is known of them, and their dependencies.
pub(super) fn store(
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

pub(super) fn put_header(
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
