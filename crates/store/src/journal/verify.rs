//! Integrity of a whole run and of the whole database. A run is read event by event from its first:
//! numbers without gaps, each hash over its own row and the one before, epochs that never fall, the
//! snapshot and the anchor at the end. Memory does not grow with the run. Whether the state is what
//! the events fold to is the engine's question and is not asked here.

use crate::chain::{self, Hash, Link, ORIGIN};
use crate::error::StoreError;
use crate::home::Home;
use crate::journal::run_row::{MISSING, SnapshotRow, find, match_anchor, snapshot};
use crate::journal::seal;
use crate::tables;
use rusqlite::{Connection, OptionalExtension};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalVerdict {
    Whole {
        events: i64,
    },
    /// The first event that is not as it was written, and what is wrong with it.
    Broken {
        seq: i64,
        what: String,
    },
}

impl Home {
    /// Reads the whole chain of a run.
    pub fn verify(&self, run: &str) -> Result<JournalVerdict, StoreError> {
        let anchored = match chain::anchored(&self.folder(run)) {
            Err(StoreError::Damaged { path, what }) => {
                return Ok(JournalVerdict::Broken { seq: 0, what: format!("{}: {what}", path.display()) });
            }
            other => other?,
        };
        self.read(|connection| {
            // One read transaction, so that an owner who commits meanwhile is not taken for damage.
            let transaction = connection.unchecked_transaction()?;
            let key = find(&transaction, run)?.key;
            let end = match walk(&transaction, run, key)? {
                Ok(end) => end,
                Err(broken) => return Ok(broken),
            };
            if let Some(anchored) = anchored {
                match match_anchor(&transaction, run, key, &end, &anchored) {
                    Err(StoreError::Damaged { what, .. }) => {
                        return Ok(JournalVerdict::Broken { seq: anchored.seq, what });
                    }
                    other => other?,
                }
            }
            Ok(JournalVerdict::Whole { events: end.seq })
        })
    }

    /// Whether the folder of a run remembers where its journal ended.
    pub fn is_anchored(&self, run: &str) -> Result<bool, StoreError> {
        Ok(chain::anchored(&self.folder(run))?.is_some())
    }

    /// Returns the head of a run's journal, as it can be kept elsewhere.
    pub fn journal_head(&self, run: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let head = connection
                .prepare_cached(
                    "select seq, epoch, hash from event where run = ?1 order by seq desc limit 1",
                )?
                .query_row([key], |row| {
                    Ok(chain::Head { seq: row.get(0)?, epoch: row.get(1)?, hash: row.get(2)? })
                })
                .optional()?;
            Ok(head.map(|it| it.line()))
        })
    }

    /// Compares the journal of a run with a head that was kept elsewhere, which may be behind it.
    pub fn match_head(&self, run: &str, kept: &str) -> Result<(), StoreError> {
        let Some(kept) = chain::parse_head(kept) else {
            return Err(StoreError::damaged(format!(
                "run {run}: the head kept in its repository is not valid"
            )));
        };
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let found: Option<Hash> = connection
                .prepare_cached("select hash from event where run = ?1 and seq = ?2")?
                .query_row([key, kept.seq], |row| row.get(0))
                .optional()?;
            if found == Some(kept.hash) {
                return Ok(());
            }
            Err(StoreError::damaged(format!(
                "run {run}, event {}: the journal is not the one that its repository remembers; if an \
                 older copy was put back on purpose: git update-ref -d refs/loop/journal/{run}",
                kept.seq
            )))
        })
    }

    /// Follows the chain of a run back from its snapshot, for as many events as a reader can afford.
    pub fn match_recent_events(&self, run: &str) -> Result<(), StoreError> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let key = find(&transaction, run)?.key;
            let Some(SnapshotRow { seq, hash, .. }) = snapshot(&transaction, key)? else { return Ok(()) };
            walk_back(&transaction, run, key, chain::Head { seq, epoch: 0, hash })
        })
    }

    /// Fails where the columns by which a run is found, or its workflow, are not those that it was opened with. A run
    /// that is not here, or has no event yet, has nothing to compare.
    pub fn match_opening(&self, run: &str) -> Result<(), StoreError> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let key = match find(&transaction, run) {
                Ok(found) => found.key,
                Err(StoreError::NoRun { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some(SnapshotRow { seq, hash, seal, .. }) = snapshot(&transaction, key)? else {
                return Ok(());
            };
            let opening = seal::opening(&transaction, run, key)?;
            match seal::holds(&transaction, run, key, &hash, &opening, seal)? {
                true => Ok(()),
                false => Err(StoreError::damaged(format!("run {run}, event {seq}: {}", seal::BROKEN))),
            }
        })
    }

    /// Lists what is wrong with the pages of the database and its tables; empty when nothing is. Whether
    /// the indexes say what the tables say is looked at too.
    pub fn faults(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let found: String = connection.query_row("pragma integrity_check(1)", [], |row| row.get(0))?;
            let pages = (found != "ok").then(|| "its pages and indexes do not fit together".to_owned());
            Ok(pages.into_iter().chain(tables::fault(connection)?).collect())
        })
    }
}

/// What `status` and whoever continues a run look at: most runs have fewer events, and reading these takes a
/// fraction of a millisecond.
const RECENT_EVENTS: i64 = 300;

fn walk_back(connection: &Connection, run: &str, key: i64, last: chain::Head) -> Result<(), StoreError> {
    let damaged = |seq: i64, what: &str| Err(StoreError::damaged(format!("run {run}, event {seq}: {what}")));
    let chain::Head { mut seq, mut hash, .. } = last;
    let mut query = connection.prepare_cached(
        "select seq, epoch, at, kind, body, prev, hash from event where run = ?1 and seq <= ?2
         order by seq desc limit ?3",
    )?;
    let mut rows = query.query([key, last.seq, RECENT_EVENTS])?;
    let mut looked_at = 0;
    while let Some(row) = rows.next()? {
        let (found, epoch, at): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (kind, body): (String, String) = (row.get(3)?, row.get(4)?);
        let (prev, stored): (Hash, Hash) = (row.get(5)?, row.get(6)?);
        if found != seq {
            return damaged(seq, "it is missing");
        }
        let link = Link { run, seq, epoch, at, kind: &kind, body: &body };
        if stored != hash || link.hash(&prev) != stored {
            return damaged(seq, "it is not as it was written");
        }
        (seq, hash) = (seq - 1, prev);
        looked_at += 1;
    }
    match looked_at {
        RECENT_EVENTS => Ok(()),
        _ if seq == 0 && hash == ORIGIN => Ok(()),
        _ => damaged(seq, "it is missing"),
    }
}

type Walked = Result<chain::Head, JournalVerdict>;

fn walk(connection: &Connection, run: &str, key: i64) -> Result<Walked, StoreError> {
    let broken = |seq: i64, what: &str| Ok(Err(JournalVerdict::Broken { seq, what: what.into() }));
    let mut head = chain::Head { seq: 0, epoch: 0, hash: ORIGIN };
    let mut query = connection.prepare_cached(
        "select seq, epoch, at, kind, body, prev, hash from event where run = ?1 order by seq",
    )?;
    let mut rows = query.query([key])?;
    while let Some(row) = rows.next()? {
        let (seq, epoch, at): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // A page may have been damaged inside a text; a text that is none is a row that was changed.
        let (Ok(kind), Ok(body)) = (row.get_ref(3)?.as_str(), row.get_ref(4)?.as_str()) else {
            return broken(seq, "its text is not readable");
        };
        let (Ok(prev), Ok(hash)) = (row.get::<_, Hash>(5), row.get::<_, Hash>(6)) else {
            return broken(seq, "its hashes are not readable");
        };
        if seq != head.seq + 1 {
            return broken(head.seq + 1, "it is missing");
        }
        if prev != head.hash {
            return broken(seq, "it does not follow the one before it");
        }
        if (Link { run, seq, epoch, at, kind, body }).hash(&prev) != hash {
            return broken(seq, "it does not match its hash");
        }
        if epoch < head.epoch {
            return broken(seq, "it carries the epoch of an owner who had been replaced");
        }
        head = chain::Head { seq, epoch, hash };
    }
    drop(rows);
    let Some(SnapshotRow { seq, hash, state_hash, state, seal, .. }) = snapshot(connection, key)? else {
        return if head.seq == 0 { Ok(Ok(head)) } else { broken(head.seq, MISSING) };
    };
    if seq > head.seq {
        return broken(head.seq + 1, "it is missing, although the snapshot includes it");
    }
    if seq == head.seq && hash != head.hash {
        return broken(seq, "the snapshot belongs to another event");
    }
    if chain::state_hash(run, seq, &hash, &state) != state_hash {
        return broken(seq, "the snapshot does not match its hash");
    }
    let opening = seal::opening(connection, run, key)?;
    if !seal::holds(connection, run, key, &hash, &opening, seal)? {
        return broken(seq, seal::BROKEN);
    }
    Ok(Ok(head))
}
