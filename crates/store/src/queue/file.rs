//! The file of a queue, which people read and edit. It is read when it is not the one that was written
//! last, and written when a job differs from it. What only a run may change is committed before the file says
//! it: whoever is killed in between leaves a file that is behind, never one that nobody's claim stands for.

use super::rows::{JobRow, QueueKey, all, put_filed, put_header, store};
use crate::error::StoreError;
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::entry::{self, SystemEntry};
use loop_core::documents::system_queue::graph;
use loop_core::documents::system_queue::merge::merge;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file is text that people edit; one of this size is no such file.
const FILE_MOST: usize = 128 << 20;

/// What came of reading the file.
#[derive(Debug, PartialEq)]
pub enum QueueRead {
    /// Everything is as it was, or was taken over. What could not be is said.
    Read { refused: Vec<String> },
    /// The file cannot be read, or its systems do not fit together. Nothing was changed.
    Invalid { mistakes: Vec<String> },
}

/// What a file looked like when it was last read or written.
fn stamp(file: &Path) -> Option<String> {
    let meta = std::fs::metadata(file).ok()?;
    Some(format!("{}.{:09} {} {}", meta.mtime(), meta.mtime_nsec(), meta.len(), meta.ino()))
}

/// Whether the file is the one that was written last, and holds every job as it is.
pub(super) fn is_current(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    Ok(is_known(connection, queue)? && !has_unfiled(connection, queue)?)
}

/// Whether the file is the one that was written or read last.
fn is_known(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    let known: Option<String> = connection
        .prepare_cached("select stamp from queue where project = ?1 and domain = ?2")?
        .query_row(params![queue.project, queue.domain], |it| it.get(0))
        .optional()?;
    Ok(known.is_some() && known == stamp(queue.file))
}

fn has_unfiled(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "select 1 from job where project = ?1 and queue = ?2 and (filed is null or filed <> body) limit 1",
        )?
        .exists(params![queue.project, queue.domain])?)
}

/// What came of reading a file, and whether it already says everything that holds now.
pub(super) struct TakenOver {
    pub(super) read: QueueRead,
    pub(super) is_whole: bool,
    /// The systems as the file has them, but for those of which something is refused: that is told until the file is
    /// written again.
    found: Vec<SystemEntry>,
}

impl TakenOver {
    fn unless(mistakes: Vec<String>) -> TakenOver {
        TakenOver { read: QueueRead::Invalid { mistakes }, is_whole: false, found: Vec::new() }
    }
}

pub(super) fn take_over(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    now: Timestamp,
) -> Result<TakenOver, StoreError> {
    let text = match files::read(queue.file, FILE_MOST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let read = QueueRead::Read { refused: Vec::new() };
            return Ok(TakenOver { read, is_whole: false, found: Vec::new() });
        }
        Err(error) => return Ok(TakenOver::unless(vec![error.to_string()])),
    };
    let taken = take_text(transaction, queue, &text, now)?;
    for system in &taken.found {
        put_filed(transaction, queue, system)?;
    }
    Ok(taken)
}

pub(super) fn take_text(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    text: &str,
    now: Timestamp,
) -> Result<TakenOver, StoreError> {
    let found = match entry::read(text) {
        Ok(found) => found,
        Err(mistakes) => return Ok(TakenOver::unless(mistakes)),
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
    let mut is_whole = kept == 0;
    let mut as_found = Vec::with_capacity(found.systems.len());
    for system in found.systems {
        let Some(row) = known.get(system.id.as_str()) else {
            as_found.push(system.clone());
            systems.push(system);
            continue;
        };
        let filed = row.filed.as_ref().unwrap_or(&row.job.system);
        let merged = merge(filed, system.clone(), &row.job.system, row.job.run.is_some());
        is_whole &= merged.system == system;
        systems.push(merged.system);
        match merged.refused {
            Some(why) => refused.push(why),
            None => as_found.push(system),
        }
    }
    systems.rotate_left(kept);
    let mistakes = graph::mistakes(&systems);
    if !mistakes.is_empty() {
        return Ok(TakenOver::unless(mistakes));
    }
    store(transaction, queue, &rows, systems, Some(&found.header), now)?;
    let is_whole = is_whole && refused.is_empty();
    Ok(TakenOver { is_whole, read: QueueRead::Read { refused }, found: as_found })
}

/// Takes over what somebody has edited meanwhile, before a change of ours is written. Returns how the file may be
/// written then: not at all where it cannot be read, or where somebody has to be told what of it does not hold;
/// whoever reads it next does both.
pub(super) fn before_writing(
    transaction: &Transaction<'_>,
    queue: QueueKey<'_>,
    now: Timestamp,
) -> Result<Option<Rewrite>, StoreError> {
    if is_known(transaction, queue)? {
        return Ok(Some(Rewrite::Changed));
    }
    Ok(match take_over(transaction, queue, now)?.read {
        QueueRead::Read { refused } if refused.is_empty() => Some(Rewrite::Always),
        QueueRead::Read { .. } | QueueRead::Invalid { .. } => None,
    })
}

/// When the file is written.
#[derive(Clone, Copy)]
pub(super) enum Rewrite {
    /// A job differs from it.
    Changed,
    /// Somebody edited or deleted it, and not everything of that holds.
    Always,
    /// Somebody edited it, and it says what holds: it stays as that person wrote it.
    Never,
}

fn is_empty(connection: &Connection, queue: QueueKey<'_>) -> Result<bool, StoreError> {
    let mut query =
        connection.prepare_cached("select 1 from job where project = ?1 and queue = ?2 limit 1")?;
    Ok(!query.exists(params![queue.project, queue.domain])?)
}

/// Writes the file where a job differs from it, and remembers how it looks.
pub(super) fn write_file(
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
        Rewrite::Never => {
            mark_filed(transaction, queue)?;
            false
        }
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
        mark_filed(transaction, queue)?;
    }
    let header = serde_json::to_string(&header).expect("a map of plain data");
    put_header(transaction, queue, &header, &stamp(queue.file).unwrap_or_default())
}

/// Remembers that the file has every job as it is.
fn mark_filed(transaction: &Transaction<'_>, queue: QueueKey<'_>) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "update job set filed = body
             where project = ?1 and queue = ?2 and (filed is null or filed <> body)",
        )?
        .execute(params![queue.project, queue.domain])?;
    Ok(())
}
