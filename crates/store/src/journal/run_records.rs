//! What is stored of one run, by its id: its state as the last commit left it, its events, its workflows and
//! its questions. Whatever does not match its hash is reported as damage.

use crate::chain::{self, Hash};
use crate::error::StoreError;
use crate::home::Home;
use crate::journal::rows::{QuestionRow, Recorded};
use crate::journal::run_row::{LAST_MISSING, MISSING, find, match_anchor};
use crate::journal::seal;
use loop_core::engine::STATE_VERSION;
use rusqlite::{OptionalExtension, params};

/// A run's state as its last commit left it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredState {
    pub seq: i64,
    pub(crate) version: i64,
    pub(crate) text: String,
    /// Whether a program that seals wrote it, and with it the list as this version means it.
    pub(crate) is_sealed: bool,
    /// What the list said at the same moment.
    pub(crate) listed: Listed,
}

/// The columns of the list that decisions follow from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub status: String,
    pub verified: i64,
    pub place: String,
    pub epoch: i64,
}

impl StoredState {
    /// Returns the state's text, unless another version of the program wrote it.
    pub fn state(&self) -> Option<&str> {
        (self.version == STATE_VERSION).then_some(self.text.as_str())
    }
}

/// A resolved workflow as it was stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub version: i64,
    pub body: String,
}

impl Home {
    /// The state of a run, for reading: it is what was written, and so is the workflow it belongs to.
    pub fn snapshot(&self, run: &str) -> Result<Option<StoredState>, StoreError> {
        // Before the database, which may only be ahead of it.
        let anchored = chain::anchored(&self.folder(run))?;
        self.read(|connection| {
            // One look, so that an owner who commits meanwhile is not taken for damage.
            let transaction = connection.unchecked_transaction()?;
            let key = find(&transaction, run)?.key;
            let found = transaction
                .prepare_cached(
                    "select seq, version, state, hash, state_hash, seal, status, verified, place, epoch
                     from snapshot join run on run.key = snapshot.run where snapshot.run = ?1",
                )?
                .query_row([key], |row| {
                    let snapshot = StoredState {
                        seq: row.get(0)?,
                        version: row.get(1)?,
                        text: row.get(2)?,
                        is_sealed: row.get::<_, Option<Hash>>(5)?.is_some(),
                        listed: Listed {
                            status: row.get(6)?,
                            verified: row.get(7)?,
                            place: row.get(8)?,
                            epoch: row.get(9)?,
                        },
                    };
                    let (hash, state_hash): (Hash, Hash) = (row.get(3)?, row.get(4)?);
                    Ok((snapshot, hash, state_hash, row.get::<_, Option<Hash>>(5)?))
                })
                .optional()?;
            let Some((snapshot, hash, state_hash, seal)) = found else {
                let has_events = "select 1 from event where run = ?1";
                return match transaction.prepare_cached(has_events)?.exists([key])? {
                    true => Err(StoreError::damaged(format!("run {run}: {MISSING}"))),
                    false => Ok(None),
                };
            };
            let damaged =
                |what: &str| StoreError::damaged(format!("run {run}, event {}: {what}", snapshot.seq));
            if chain::state_hash(run, snapshot.seq, &hash, &snapshot.text) != state_hash {
                return Err(damaged("the snapshot does not match its hash"));
            }
            let opening = seal::opening(&transaction, run, key)?;
            if !seal::holds(&transaction, run, key, &hash, &opening, seal)? {
                return Err(damaged(seal::BROKEN));
            }
            let last: Option<Hash> = transaction
                .prepare_cached("select hash from event where run = ?1 and seq = ?2")?
                .query_row(params![key, snapshot.seq], |row| row.get(0))
                .optional()?;
            match last {
                Some(last) if last == hash => (),
                Some(_) => return Err(damaged("the snapshot belongs to another event")),
                None => return Err(damaged(LAST_MISSING)),
            }
            if let Some(anchored) = anchored {
                let end = chain::Head { seq: snapshot.seq, epoch: 0, hash };
                match_anchor(&transaction, run, key, &end, &anchored)?;
            }
            Ok(Some(snapshot))
        })
    }

    /// Events in order, from number `from_seq` on, at most `limit`.
    pub fn events(&self, run: &str, from_seq: i64, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        self.read(|connection| {
            // One read transaction, so that an owner who commits meanwhile is not taken for damage.
            let transaction = connection.unchecked_transaction()?;
            let key = find(&transaction, run)?.key;
            let mut query = transaction.prepare_cached(
                "select seq, epoch, at, kind, body, prev, hash from event
                 where run = ?1 and seq >= ?2 order by seq limit ?3",
            )?;
            let rows = query
                .query_map(params![key, from_seq, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                    Ok((recorded_of(row)?, row.get::<_, Hash>(5)?, row.get::<_, Hash>(6)?))
                })?;
            let mut events: Vec<Recorded> = Vec::new();
            let mut before = None;
            for row in rows {
                let (event, prev, hash) = row?;
                let Recorded { seq, epoch, at, kind, body } = &event;
                let expected = events.last().map_or(from_seq.max(1), |it| it.seq + 1);
                let link = chain::Link { run, seq: *seq, epoch: *epoch, at: *at, kind, body };
                if *seq != expected {
                    return Err(StoreError::damaged(format!("run {run}: event {expected} is missing")));
                }
                if before.is_some_and(|it| it != prev) || link.hash(&prev) != hash {
                    return Err(StoreError::damaged(format!(
                        "run {run}: event {seq} is not as it was written"
                    )));
                }
                before = Some(hash);
                events.push(event);
            }
            let known: Option<i64> = transaction
                .prepare_cached("select seq from snapshot where run = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            let next = events.last().map_or(from_seq.max(1), |it| it.seq + 1);
            match known.filter(|it| events.len() < limit && next <= *it) {
                Some(_) => Err(StoreError::damaged(format!("run {run}: event {next} is missing"))),
                None => Ok(events),
            }
        })
    }

    /// The events that make up a run's list of items, in order.
    pub(crate) fn list_events(&self, run: &str) -> Result<Vec<Recorded>, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let mut query = connection.prepare_cached(
                "select seq, epoch, at, kind, body from event indexed by event_of_list
                 where run = ?1 and kind in ('listed', 'item-done') order by seq",
            )?;
            let rows = query.query_map([key], recorded_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The workflows that a run had before it was reloaded, each with the number of the last event
    /// that it was in force for, oldest first.
    pub(crate) fn earlier_definitions(&self, run: &str) -> Result<Vec<(i64, Definition)>, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let mut query = connection.prepare_cached(
                "select until, version, body from earlier_definition where run = ?1 order by until",
            )?;
            let rows = query.query_map([key], |row| {
                Ok((row.get(0)?, Definition { version: row.get(1)?, body: row.get(2)? }))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The workflow that a run was opened with, or last reloaded.
    pub(crate) fn definition(&self, run: &str) -> Result<Definition, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            connection
                .prepare_cached("select version, body from definition where run = ?1")?
                .query_row([key], |row| Ok(Definition { version: row.get(0)?, body: row.get(1)? }))
                .optional()?
                .ok_or_else(|| StoreError::damaged(format!("run {run} has no definition")))
        })
    }

    /// The questions of a run that nobody has answered, oldest first.
    pub fn open_questions(&self, run: &str) -> Result<Vec<QuestionRow>, StoreError> {
        self.questions(run, "answered_at is null")
    }

    /// Every question of a run.
    pub(crate) fn all_questions(&self, run: &str) -> Result<Vec<QuestionRow>, StoreError> {
        self.questions(run, "true")
    }

    fn questions(&self, run: &str, which: &str) -> Result<Vec<QuestionRow>, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let mut query = connection.prepare_cached(&format!(
                "select id, kind, text, choices, asked_at from question
                 where run = ?1 and {which} order by asked_at, id",
            ))?;
            let rows = query.query_map([key], |row| {
                Ok(QuestionRow {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    text: row.get(2)?,
                    choices: row.get(3)?,
                    asked_at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn recorded_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Recorded> {
    Ok(Recorded {
        seq: row.get(0)?,
        epoch: row.get(1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        body: row.get(4)?,
    })
}
