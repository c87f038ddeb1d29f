//! Where a run stands: its snapshot, its last event and the anchor, each compared with the others.
//! This is what opening a run checks, at a cost that does not depend on the run's age; the whole
//! chain is for `verify`.

use crate::chain::{self, Hash, Head, Link, ORIGIN};
use crate::error::StoreError;
use crate::journal::rows::Recorded;
use crate::journal::seal;
use loop_core::engine::STATE_VERSION;
use rusqlite::{Connection, OptionalExtension, params};

/// What the other tables know a run by.
pub(crate) struct RunKey {
    pub key: i64,
    pub project: String,
}

pub(crate) fn find(connection: &Connection, run: &str) -> Result<RunKey, StoreError> {
    connection
        .prepare_cached("select key, project from run where id = ?1")?
        .query_row([run], |row| Ok(RunKey { key: row.get(0)?, project: row.get(1)? }))
        .optional()?
        .ok_or_else(|| StoreError::NoRun { run: run.to_owned() })
}

/// The state that is kept beside the events, as it is stored.
pub(crate) struct SnapshotRow {
    pub seq: i64,
    /// The hash of the event that the state includes last.
    pub hash: Hash,
    pub state_hash: Hash,
    pub state: String,
    pub version: i64,
    pub seal: Option<Hash>,
}

pub(crate) fn snapshot(connection: &Connection, key: i64) -> Result<Option<SnapshotRow>, StoreError> {
    let row = connection
        .prepare_cached("select seq, hash, state_hash, state, version, seal from snapshot where run = ?1")?
        .query_row([key], |row| {
            Ok(SnapshotRow {
                seq: row.get(0)?,
                hash: row.get(1)?,
                state_hash: row.get(2)?,
                state: row.get(3)?,
                version: row.get(4)?,
                seal: row.get(5)?,
            })
        })
        .optional()?;
    Ok(row)
}

/// The end of a run's journal, found sound.
pub(crate) struct JournalEnd {
    pub head: Head,
    /// The hash of what the run was opened with.
    pub opening: Hash,
    pub state_hash: Option<Hash>,
    /// Only where this version of the program wrote it.
    pub state: Option<String>,
    pub tail: Vec<Recorded>,
    /// Whether a program that seals wrote the snapshot.
    pub is_sealed: bool,
}

/// What a reader says where the event is gone that the snapshot includes last.
pub(super) const LAST_MISSING: &str = "the snapshot's last event is missing";

/// What a reader says where a run with events has no snapshot.
pub(super) const MISSING: &str = "the snapshot is missing";

pub(crate) fn journal_end(
    connection: &Connection,
    run: &str,
    key: i64,
    anchored: Option<&Head>,
) -> Result<JournalEnd, StoreError> {
    let damaged = |seq: i64, what: &str| StoreError::damaged(format!("run {run}, event {seq}: {what}"));
    let snapshot = snapshot(connection, key)?;
    let opening = seal::opening(connection, run, key)?;
    let is_sealed = snapshot.as_ref().is_some_and(|it| it.seal.is_some());
    let (from, mut head, state_hash, state) = match snapshot {
        Some(SnapshotRow { seq, hash, state_hash, state, version, seal }) => {
            if !seal::holds(connection, run, key, &hash, &opening, seal)? {
                return Err(damaged(seq, seal::BROKEN));
            }
            if chain::state_hash(run, seq, &hash, &state) != state_hash {
                return Err(damaged(seq, "the snapshot does not match its hash"));
            }
            let is_ours = version == STATE_VERSION;
            let (state_hash, state) = (is_ours.then_some(state_hash), is_ours.then_some(state));
            (seq, Head { seq, epoch: 0, hash }, state_hash, state)
        }
        None => (0, Head { seq: 0, epoch: 0, hash: ORIGIN }, None, None),
    };
    let mut tail = Vec::new();
    let mut query = connection.prepare_cached(
        "select seq, epoch, at, kind, body, prev, hash from event where run = ?1 and seq >= ?2 order by seq",
    )?;
    let mut rows = query.query(params![key, from])?;
    let mut found_last = from == 0;
    while let Some(row) = rows.next()? {
        let event = Recorded {
            seq: row.get(0)?,
            epoch: row.get(1)?,
            at: row.get(2)?,
            kind: row.get(3)?,
            body: row.get(4)?,
        };
        let (prev, hash): (Hash, Hash) = (row.get(5)?, row.get(6)?);
        let Recorded { seq, epoch, at, ref kind, ref body } = event;
        if (Link { run, seq, epoch, at, kind, body }).hash(&prev) != hash {
            return Err(damaged(seq, "it does not match its hash"));
        }
        if seq == from {
            if hash != head.hash {
                return Err(damaged(seq, "the snapshot belongs to another event"));
            }
            found_last = true;
            head.epoch = epoch;
            continue;
        }
        if seq != head.seq + 1 || prev != head.hash {
            return Err(damaged(seq, "it does not follow the one before it"));
        }
        head = Head { seq, epoch, hash };
        tail.push(event);
    }
    if !found_last {
        return Err(damaged(from, LAST_MISSING));
    }
    // It is written with every commit. Without it nothing binds the workflow to the events.
    if from == 0 && 0 < head.seq {
        return Err(damaged(head.seq, MISSING));
    }
    if let Some(anchored) = anchored {
        match_anchor(connection, run, key, &head, anchored)?;
    }
    Ok(JournalEnd { head, opening, state_hash, state, tail, is_sealed })
}

/// Compares the anchor with the journal, which may be ahead of it (a kill between commit and anchor)
/// and never behind.
pub(crate) fn match_anchor(
    connection: &Connection,
    run: &str,
    key: i64,
    head: &Head,
    anchored: &Head,
) -> Result<(), StoreError> {
    let found: Option<Hash> = if anchored.seq == head.seq {
        Some(head.hash)
    } else {
        connection
            .prepare_cached("select hash from event where run = ?1 and seq = ?2")?
            .query_row(params![key, anchored.seq], |row| row.get(0))
            .optional()?
    };
    if found == Some(anchored.hash) || (anchored.seq == 0 && anchored.hash == ORIGIN) {
        return Ok(());
    }
    Err(StoreError::damaged(format!(
        "run {run}, event {}: the journal ends at {} and is not the one that its run folder remembers; \
         if an older copy was put back on purpose, remove runs/{run}/head",
        anchored.seq, head.seq
    )))
}
