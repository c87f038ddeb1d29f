//! What a run was opened with: the columns of its row that never change, and every workflow that it has
//! had. The chain covers it: the first event holds the hash of the opening, and an event that put another
//! workflow in force holds the hash of that one. The seal in the snapshot binds all of it to the head; it is
//! written with every commit. Both are compared by whoever reads or opens the run. Runs that an earlier
//! version opened have no such hashes, and their snapshots no seal until their next commit.

use crate::chain::{Hash, Link, framed, hex};
use crate::error::StoreError;
use loop_core::digest::sha256;
use loop_core::engine::Event;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

/// What a reader says when the seal does not hold.
pub(super) const BROKEN: &str = "the workflow or the opening of the run was changed after it was recorded";

/// A workflow that a run had, and the last event that it was in force for; that of the present one is open.
struct StoredWorkflow {
    until: i64,
    version: i64,
    body: String,
}

/// The number that stands for "still in force".
const IN_FORCE: i64 = -1;

/// Returns the hash of what the run was opened with, as the database has it.
pub(crate) fn opening(connection: &Connection, run: &str, key: i64) -> Result<Hash, StoreError> {
    hash_of(connection, run, key, &workflows(connection, key)?)
}

/// Every workflow of a run; the present one comes first.
fn workflows(connection: &Connection, key: i64) -> Result<Vec<StoredWorkflow>, StoreError> {
    let mut query = connection.prepare_cached(
        "select until, version, body from earlier_definition where run = ?1
         union all select -1, version, body from definition where run = ?1 order by 1",
    )?;
    let rows = query.query_map([key], |row| {
        Ok(StoredWorkflow { until: row.get(0)?, version: row.get(1)?, body: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn hash_of<'a>(
    connection: &Connection,
    run: &str,
    key: i64,
    workflows: impl IntoIterator<Item = &'a StoredWorkflow>,
) -> Result<Hash, StoreError> {
    let mut sha = Sha256::new_with_prefix(b"loop opening 1\0");
    framed(&mut sha, run);
    let columns = connection
        .prepare_cached("select project, workflow, input, opened_at from run where key = ?1")?
        .query_row([key], |row| {
            let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok((texts, row.get::<_, i64>(3)?))
        })?;
    columns.0.iter().for_each(|it| framed(&mut sha, it));
    sha.update(columns.1.to_be_bytes());
    for StoredWorkflow { until, version, body } in workflows {
        sha.update(until.to_be_bytes());
        sha.update(version.to_be_bytes());
        framed(&mut sha, body);
    }
    Ok(sha.finalize().into())
}

/// Whether what the run was opened with is what the chain names and what the seal of its snapshot binds to
/// the head. Snapshots that were written before there were seals are on a list; a run whose chain names its
/// opening was never without one, whatever that list says.
pub(super) fn holds(
    connection: &Connection,
    run: &str,
    key: i64,
    head: &Hash,
    opening: &Hash,
    found: Option<Hash>,
) -> Result<bool, StoreError> {
    let is_sealed = found.is_some_and(|it| it == seal(head, opening));
    match chained(connection, run, key)? {
        Chained::No => Ok(false),
        Chained::Yes => Ok(is_sealed),
        Chained::Unnamed if found.is_some() => Ok(is_sealed),
        Chained::Unnamed => {
            Ok(connection.prepare_cached("select 1 from unsealed where run = ?1")?.exists([key])?)
        }
    }
}

/// What the chain says of the opening.
enum Chained {
    Yes,
    No,
    /// An earlier version opened the run.
    Unnamed,
}

fn chained(connection: &Connection, run: &str, key: i64) -> Result<Chained, StoreError> {
    let Some(first) = event(connection, run, key, 1)? else { return Ok(Chained::Unnamed) };
    let Event::Owned { opening: Some(named), .. } = first else { return Ok(Chained::Unnamed) };
    let stored = workflows(connection, key)?;
    let stored: Vec<&StoredWorkflow> = stored.iter().skip(1).chain(stored.first()).collect();
    let Some(StoredWorkflow { version, body, .. }) = stored.first() else { return Ok(Chained::No) };
    // It was the one in force then.
    let at_opening = StoredWorkflow { until: IN_FORCE, version: *version, body: body.clone() };
    if hex(&hash_of(connection, run, key, [&at_opening])?) != named {
        return Ok(Chained::No);
    }
    for pair in stored.windows(2) {
        let [before, after] = pair else { continue };
        let Some(Event::Reloaded { definition, .. }) = event(connection, run, key, before.until + 1)? else {
            return Ok(Chained::No);
        };
        // One that an earlier version took has no hash.
        if definition.is_some_and(|it| it != sha256(&after.body)) {
            return Ok(Chained::No);
        }
    }
    Ok(Chained::Yes)
}

/// Reads one event, if it is one of ours and its own hash is right.
fn event(connection: &Connection, run: &str, key: i64, seq: i64) -> Result<Option<Event>, StoreError> {
    let found = connection
        .prepare_cached("select epoch, at, kind, body, prev, hash from event where run = ?1 and seq = ?2")?
        .query_row(params![key, seq], |row| {
            let (epoch, at): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (kind, body): (String, String) = (row.get(2)?, row.get(3)?);
            let (prev, hash): (Hash, Hash) = (row.get(4)?, row.get(5)?);
            let is_right = Link { run, seq, epoch, at, kind: &kind, body: &body }.hash(&prev) == hash;
            Ok((is_right, body))
        })
        .optional()?;
    match found {
        None => Ok(None),
        Some((true, body)) => Ok(serde_json::from_str(&body).ok()),
        Some((false, _)) => {
            Err(StoreError::damaged(format!("run {run}, event {seq}: it does not match its hash")))
        }
    }
}

/// Binds an opening to the head of the chain.
pub(crate) fn seal(head: &Hash, opening: &Hash) -> Hash {
    let mut sha = Sha256::new_with_prefix(b"loop seal 1\0");
    sha.update(head);
    sha.update(opening);
    sha.finalize().into()
}
