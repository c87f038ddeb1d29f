//! One run's journal, held by its owner. [`Journal::append`] chains events in memory and
//! [`Journal::commit`] makes everything since the last one durable in one transaction with one sync:
//! events, the snapshot they lead to, the list columns, commands taken, questions, and what a call
//! counts for. Every commit carries the owner's epoch; a controller that was replaced finds that out
//! there and writes nothing. A failed commit leaves its events pending, so the same call may be
//! repeated when the disk has space again.

use crate::accounts::ledger;
use crate::accounts::slots;
use crate::accounts::spending::{self, Spend};
use crate::chain::{self, Anchor, Hash, Head, Link};
use crate::error::StoreError;
use crate::holder::Holder;
use crate::home::Home;
use crate::journal::rows::{QuestionRow, Recorded};
use crate::journal::run_list::status_at;
use crate::journal::run_records::Listed;
use crate::journal::run_row::{RunKey, find, journal_end};
use crate::journal::seal;
use crate::lock::RunLock;
use loop_core::engine::{STATE_VERSION, Status};
use loop_core::workflow::model::DEFINITION_VERSION;
use rusqlite::{Transaction, TransactionBehavior, params};

/// The list columns that change while a run continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowUpdate {
    pub status: Status,
    pub reason: Option<String>,
    pub next_step: Option<String>,
    pub phase: Option<String>,
    pub iteration: i64,
    pub iterations_total: i64,
    pub calls_total: i64,
    pub progress: Option<i64>,
    pub verified: bool,
    pub place: String,
    pub branch: Option<String>,
    pub exit: Option<i64>,
    pub tokens: i64,
    /// What its calls cost; nothing where no call told.
    pub micro_usd: Option<i64>,
    /// Whether part of that was computed from prices.
    pub computed: bool,
    pub unknown_calls: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum QuestionChange {
    Asked(QuestionRow),
    Answered { id: String, at: i64 },
}

/// What one commit writes beside the pending events.
#[derive(Clone, Debug)]
pub struct Commit<'a> {
    pub at: i64,
    pub state: &'a str,
    pub row: RowUpdate,
    /// Commands whose `Commanded` events are among the pending ones.
    pub taken: &'a [i64],
    pub questions: &'a [QuestionChange],
    /// When an agent call began, for the window that all runs of a project share.
    pub call_at: Option<i64>,
    pub spend: Option<Spend>,
    /// The call that is over, so that nothing stays set aside for it.
    pub settles: Option<u32>,
    /// The workflow as a person had it reloaded.
    pub definition: Option<&'a str>,
    /// The number of the event by which it came into force; `None`: the first pending one.
    pub reloaded_at: Option<i64>,
}

/// A journal that was opened, and what its run had come to.
#[derive(Debug)]
pub struct Opened {
    pub journal: Journal,
    /// `None` before the first commit, and where another version of the program wrote it: then the
    /// whole journal has to be folded.
    pub state: Option<String>,
    /// Events that the snapshot does not cover. Both are written together, so there are none unless
    /// a later version kept snapshots less often.
    pub tail: Vec<Recorded>,
    /// What the list said, where a program that seals wrote it.
    pub(crate) listed: Option<Listed>,
    /// The folder of a run that has a journal holds no note of it: it was removed and made again.
    pub(crate) is_folder_new: bool,
}

#[derive(Debug)]
pub struct Journal {
    run: String,
    key: i64,
    project: String,
    epoch: i64,
    seq: i64,
    head: Hash,
    /// The hash of what the run was opened with.
    opening: Hash,
    pending: Vec<PendingEvents>,
    /// What the last commit wrote (the state's hash, if there was one), so that an unchanged state
    /// costs nothing.
    written: (Option<Hash>, RowUpdate),
    fenced: bool,
    /// The owner's name, as long as its epoch has not begun.
    unbegun: Option<String>,
    anchor: Anchor,
    _lock: RunLock,
}

/// A run that is locked, and what its folder says about it.
struct HeldEvents<'a> {
    run: &'a str,
    known: RunKey,
    lock: RunLock,
    anchored: Option<Head>,
    anchor: Anchor,
}

impl HeldEvents<'_> {
    fn take<'a>(home: &Home, run: &'a str) -> Result<HeldEvents<'a>, StoreError> {
        let known = home.read(|connection| find(connection, run))?;
        let lock = RunLock::take(home, run)?;
        let folder = home.folder(run);
        let anchored = chain::anchored(&folder)?;
        Ok(HeldEvents { run, known, lock, anchored, anchor: Anchor::open(&folder)? })
    }

    /// Returns the journal of the epoch that is to begin.
    fn stand(self, transaction: &Transaction<'_>) -> Result<Opened, StoreError> {
        let HeldEvents { run, known, lock, anchored, anchor } = self;
        let end = journal_end(transaction, run, known.key, anchored.as_ref())?;
        let (epoch, row): (i64, RowUpdate) = transaction
            .prepare_cached(
                "select epoch, status, reason, next_step, phase, iteration, iterations_total, calls_total,
                     progress, verified, place, branch, exit, tokens, micro_usd, computed, unknown_calls
                 from run where key = ?1",
            )?
            .query_row([known.key], |row| Ok((row.get(0)?, row_update_of(row)?)))?;
        let is_folder_new = anchored.is_none() && 0 < end.head.seq;
        let listed = end.is_sealed.then(|| Listed {
            status: row.status.word().to_owned(),
            verified: row.verified.into(),
            place: row.place.clone(),
            epoch,
        });
        let Some(next_epoch) = epoch.checked_add(1) else {
            return Err(StoreError::damaged(format!("run {run}: its epoch is not a number")));
        };
        let owner = serde_json::to_string(&Holder::this_process()).expect("a holder is plain data");
        let journal = Journal {
            run: run.to_owned(),
            key: known.key,
            project: known.project,
            epoch: next_epoch,
            seq: end.head.seq,
            head: end.head.hash,
            opening: end.opening,
            pending: Vec::new(),
            written: (end.state_hash, row),
            fenced: false,
            unbegun: Some(owner),
            anchor,
            _lock: lock,
        };
        Ok(Opened { journal, state: end.state, tail: end.tail, listed, is_folder_new })
    }
}

#[derive(Debug)]
struct PendingEvents {
    event: Recorded,
    prev: Hash,
    hash: Hash,
}

impl Journal {
    /// Becomes the owner of a run: takes its lock, checks its last event, snapshot and anchor, and
    /// begins an epoch. The cost does not depend on the run's age.
    pub fn open(home: &Home, run: &str) -> Result<Opened, StoreError> {
        let held = HeldEvents::take(home, run)?;
        home.write(|transaction| {
            let mut opened = held.stand(transaction)?;
            opened.journal.begin(transaction)?;
            opened.journal.unbegun = None;
            Ok(opened)
        })
    }

    /// Becomes the owner for a visit that commits once: the epoch begins with that commit, which
    /// saves a sync. Until then an owner that was replaced can still write; whoever commits first
    /// has the run, and the other is fenced. So nothing may be done before the first commit that two
    /// owners could not both do.
    pub fn visit(home: &Home, run: &str) -> Result<Opened, StoreError> {
        let held = HeldEvents::take(home, run)?;
        home.read(|connection| {
            held.stand(&Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?)
        })
    }

    /// Returns the head of the chain as the last commit left it.
    pub fn head(&self) -> Option<String> {
        let head = Head { seq: self.seq, epoch: self.epoch, hash: self.head };
        self.pending.is_empty().then(|| head.line())
    }

    /// Returns the hash of what the run was opened with.
    pub fn opening(&self) -> String {
        chain::hex(&self.opening)
    }

    pub fn project(&self) -> &str {
        &self.project
    }

    /// Where the run works, as the list shows it.
    pub fn place(&self) -> &str {
        &self.written.1.place
    }

    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The sequence number of the last event, pending ones included.
    #[cfg(test)]
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// Adds an event in memory and returns its number.
    pub fn append(&mut self, at: i64, kind: &str, body: &str) -> i64 {
        self.seq += 1;
        let (seq, epoch, prev) = (self.seq, self.epoch, self.head);
        self.head = Link { run: &self.run, seq, epoch, at, kind, body }.hash(&prev);
        let event = Recorded { seq, epoch, at, kind: kind.into(), body: body.into() };
        self.pending.push(PendingEvents { event, prev, hash: self.head });
        seq
    }

    /// Makes everything durable, or nothing. Without anything to write it does not touch the disk.
    pub fn commit(&mut self, home: &Home, commit: &Commit<'_>) -> Result<(), StoreError> {
        let state_hash = chain::state_hash(&self.run, self.seq, &self.head, commit.state);
        let unchanged = self.written.0 == Some(state_hash) && self.written.1 == commit.row;
        if self.pending.is_empty() && !commit.has_more() && unchanged {
            return Ok(());
        }
        if self.fenced {
            return Err(StoreError::Fenced { run: self.run.clone() });
        }
        match home.write(|transaction| self.write(transaction, commit, &state_hash)) {
            Ok(opening) => {
                self.opening = opening;
                self.pending.clear();
                self.unbegun = None;
                self.written = (Some(state_hash), commit.row.clone());
                self.anchor.set(&Head { seq: self.seq, epoch: self.epoch, hash: self.head });
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::Fenced { .. }) {
                    self.fenced = true;
                    self.pending.clear();
                }
                Err(error)
            }
        }
    }

    /// Commands that nobody has taken, oldest first.
    pub(crate) fn pending_commands(&self, home: &Home) -> Result<Vec<(i64, String)>, StoreError> {
        home.read(|connection| {
            let mut query = connection.prepare_cached(
                "select id, body from command where run = ?1 and taken_seq is null order by id",
            )?;
            let rows = query.query_map([self.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn write(
        &self,
        transaction: &Transaction<'_>,
        commit: &Commit<'_>,
        state_hash: &Hash,
    ) -> Result<Hash, StoreError> {
        // The row comes first: if the epoch is not ours, nothing else is even tried.
        self.begin(transaction)?;
        self.write_row(transaction, commit)?;
        let mut insert =
            transaction.prepare_cached("insert into event values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for PendingEvents { event, prev, hash } in &self.pending {
            let Recorded { seq, epoch, at, kind, body } = event;
            insert.execute(params![self.key, seq, epoch, at, kind, body, prev, hash])?;
        }
        let opening = match commit.definition {
            Some(definition) => {
                self.write_definition(transaction, definition, commit.reloaded_at)?;
                seal::opening(transaction, &self.run, self.key)?
            }
            None => self.opening,
        };
        let seal = seal::seal(&self.head, &opening);
        transaction
            .prepare_cached(
                "insert into snapshot(run, seq, hash, state_hash, state, version, seal)
                 values(?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 on conflict(run) do update set seq = excluded.seq, hash = excluded.hash,
                     state_hash = excluded.state_hash, state = excluded.state, version = excluded.version,
                     seal = excluded.seal",
            )?
            .execute(params![self.key, self.seq, self.head, state_hash, commit.state, STATE_VERSION, seal])?;
        transaction.prepare_cached("delete from unsealed where run = ?1")?.execute([self.key])?;
        for id in commit.taken {
            let taken = transaction
                .prepare_cached(
                    "update command set taken_seq = ?3 where id = ?1 and run = ?2 and taken_seq is null",
                )?
                .execute(params![id, self.key, self.seq])?;
            if taken == 0 {
                return Err(StoreError::damaged(format!("command {id} of run {} is gone", self.run)));
            }
        }
        for change in commit.questions {
            self.write_question(transaction, change)?;
        }
        if let Some(at) = commit.call_at {
            ledger::add_call(transaction, &self.project, at, &self.run, self.seq)?;
        }
        if let Some(spend) = &commit.spend {
            spending::add_spend(transaction, &self.project, spend)?;
        }
        if let Some(call) = commit.settles {
            spending::settle(transaction, &self.run, call)?;
            slots::release(transaction, &self.run)?;
        }
        Ok(opening)
    }

    /// Replaces the workflow, and keeps the one before it for folding the events that it was in force
    /// for.
    fn write_definition(
        &self,
        transaction: &Transaction<'_>,
        body: &str,
        reloaded_at: Option<i64>,
    ) -> Result<(), StoreError> {
        let since = reloaded_at.or_else(|| self.pending.first().map(|it| it.event.seq));
        let until = since.map_or(self.seq, |it| it - 1);
        transaction
            .prepare_cached(
                "insert or ignore into earlier_definition(run, until, body, version)
                 select run, ?2, body, version from definition where run = ?1",
            )?
            .execute(params![self.key, until])?;
        transaction
            .prepare_cached("insert or replace into definition(run, body, version) values(?1, ?2, ?3)")?
            .execute(params![self.key, body, DEFINITION_VERSION])?;
        Ok(())
    }

    /// Begins the epoch, unless it has begun or somebody else has written since the journal was opened.
    fn begin(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        let Some(owner) = &self.unbegun else { return Ok(()) };
        let opened_at = self.pending.first().map_or(self.seq, |it| it.event.seq - 1);
        let begun = transaction
            .prepare_cached(
                "update run set epoch = ?2, owner = ?3 where key = ?1 and epoch = ?2 - 1
                     and coalesce((select max(seq) from event where run = ?1), 0) = ?4",
            )?
            .execute(params![self.key, self.epoch, owner, opened_at])?;
        if begun == 0 { Err(StoreError::Fenced { run: self.run.clone() }) } else { Ok(()) }
    }

    fn write_row(&self, transaction: &Transaction<'_>, commit: &Commit<'_>) -> Result<(), StoreError> {
        let row = &commit.row;
        let updated = transaction
            .prepare_cached(
                "update run set reason = ?3, next_step = ?4, phase = ?5, iteration = ?6, iterations_total = ?7,
                     calls_total = ?8, progress = ?9, verified = ?10, place = ?11, branch = ?12, exit = ?13,
                     updated_at = ?14, tokens = ?15, micro_usd = ?16, computed = ?17, unknown_calls = ?18
                 where key = ?1 and epoch = ?2",
            )?
            .execute(params![
                self.key,
                self.epoch,
                row.reason,
                row.next_step,
                row.phase,
                row.iteration,
                row.iterations_total,
                row.calls_total,
                row.progress,
                row.verified,
                row.place,
                row.branch,
                row.exit,
                commit.at,
                row.tokens,
                row.micro_usd,
                row.computed,
                row.unknown_calls,
            ])?;
        if updated == 0 {
            return Err(StoreError::Fenced { run: self.run.clone() });
        }
        // The status is indexed. Naming it in every update would write its index page every time.
        if row.status != self.written.1.status {
            transaction
                .prepare_cached("update run set status = ?2 where key = ?1")?
                .execute(params![self.key, row.status.word()])?;
        }
        Ok(())
    }

    fn write_question(
        &self,
        transaction: &Transaction<'_>,
        change: &QuestionChange,
    ) -> Result<(), StoreError> {
        match change {
            QuestionChange::Asked(question) => {
                let QuestionRow { id, kind, text, choices, asked_at } = question;
                transaction
                    .prepare_cached("insert or replace into question values(?1, ?2, ?3, ?4, ?5, ?6, null)")?
                    .execute(params![self.key, id, kind, text, choices, asked_at])?;
            }
            QuestionChange::Answered { id, at } => {
                transaction
                    .prepare_cached("update question set answered_at = ?3 where run = ?1 and id = ?2")?
                    .execute(params![self.key, id, at])?;
            }
        }
        Ok(())
    }
}

impl Commit<'_> {
    fn has_more(&self) -> bool {
        !self.taken.is_empty()
            || !self.questions.is_empty()
            || self.call_at.is_some()
            || self.spend.is_some()
            || self.settles.is_some()
            || self.definition.is_some()
    }
}

fn row_update_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<RowUpdate> {
    Ok(RowUpdate {
        status: status_at(row, row.as_ref().column_index("status")?)?,
        reason: row.get("reason")?,
        next_step: row.get("next_step")?,
        phase: row.get("phase")?,
        iteration: row.get("iteration")?,
        iterations_total: row.get("iterations_total")?,
        calls_total: row.get("calls_total")?,
        progress: row.get("progress")?,
        verified: row.get("verified")?,
        place: row.get("place")?,
        branch: row.get("branch")?,
        exit: row.get("exit")?,
        tokens: row.get("tokens")?,
        micro_usd: row.get("micro_usd")?,
        computed: row.get("computed")?,
        unknown_calls: row.get("unknown_calls")?,
    })
}
