//! What days cost, and what is set aside for calls that are running. A call's cost is added to its day in
//! the commit that records its end. Where runs share a cap, an amount is reserved before a call begins, in
//! a write of its own that looks at the cap and reserves at once, so that two runs cannot both take what is
//! left; it is settled by the call's end, and voided by the next owner of a run whose call never began.

use crate::error::StoreError;
use crate::home::Home;
use jiff::tz::TimeZone;
use loop_base::time::{self, Timestamp};
use loop_core::engine::{Ended, State, TokenClasses};
use loop_core::workflow::model::Workflow;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// What calls cost, added to their day (`2026-01-31`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    pub day: String,
    pub calls: u32,
    /// Those of them whose cost nobody knows.
    pub unknown_calls: u32,
    pub tokens: TokenClasses,
    pub micro_usd: i64,
    /// What counts against a cap for the calls of unknown cost.
    pub assumed_micro_usd: i64,
}

impl Spend {
    /// Returns what a call that ended cost on its day, if it can have cost anything.
    pub(crate) fn of(at: Timestamp, ended: &Ended, workflow: &Workflow, state: &State) -> Option<Spend> {
        let usage = &ended.usage;
        let known = usage.cost.amount();
        if !ended.is_charged() && known.is_none_or(|it| it == 0.0) {
            return None;
        }
        let assumed = state.expected_call_usd(workflow).filter(|_| known.is_none());
        Some(Spend {
            day: local_day(at),
            calls: 1,
            unknown_calls: u32::from(known.is_none()),
            tokens: usage.tokens,
            micro_usd: micro_usd(known.unwrap_or_default()),
            assumed_micro_usd: micro_usd(assumed.unwrap_or_default()),
        })
    }
}

/// An amount that is to be set aside for a call.
#[derive(Clone, Copy, Debug)]
pub struct Reservation<'a> {
    pub run: &'a str,
    pub call: u32,
    pub attempt: u32,
    pub usd: f64,
    pub at: Timestamp,
}

/// What came of a reservation, in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reserved {
    /// The call may begin; so much is left of the day's cap for it.
    Granted { left: f64 },
    /// Nothing is left.
    Full { spent: f64, reserved: f64 },
}

impl Home {
    /// What all runs spent on one day, of every project or of one.
    pub fn spent_on(&self, day: &str, project: Option<&str>) -> Result<Spend, StoreError> {
        self.read(|connection| spent_on(connection, day, project))
    }

    /// Returns what is set aside on one day for calls that are running.
    pub fn reserved_on(&self, day: &str) -> Result<f64, StoreError> {
        self.read(|connection| Ok(usd(reserved(connection, day, "")?)))
    }

    /// Sets an amount aside for a call, unless the day's cap is used up by what was spent and what others
    /// have set aside. A run makes one call at a time, so whatever it had reserved before is void.
    pub fn reserve(&self, wanted: &Reservation<'_>, most: f64) -> Result<Reserved, StoreError> {
        let day = local_day(wanted.at);
        self.write(|transaction| {
            let (spent, held) = taken(transaction, &day, wanted.run)?;
            let most = micro_usd(most);
            if most <= spent.saturating_add(held) {
                void(transaction, wanted.run, None)?;
                return Ok(Reserved::Full { spent: usd(spent), reserved: usd(held) });
            }
            void(transaction, wanted.run, None)?;
            transaction.prepare_cached("insert into reservation values(?1, ?2, ?3, ?4, ?5, ?6)")?.execute(
                params![wanted.run, wanted.call, wanted.attempt, day, micro_usd(wanted.usd), wanted.at.0],
            )?;
            Ok(Reserved::Granted { left: usd(most.saturating_sub(spent).saturating_sub(held)) })
        })
    }

    /// Returns what is left of a day's cap for a run whose call is under way.
    pub fn day_left(&self, run: &str, at: Timestamp, most: f64) -> Result<f64, StoreError> {
        self.read(|connection| {
            let (spent, held) = taken(connection, &local_day(at), run)?;
            Ok(usd(micro_usd(most).saturating_sub(spent).saturating_sub(held)))
        })
    }

    /// Voids what a run has reserved, except for the call that is under way. Whoever becomes the owner of a
    /// run calls this: the one before may have died between the reservation and the call.
    pub(crate) fn void_reservations(&self, run: &str, working: Option<u32>) -> Result<(), StoreError> {
        let is_any = self.read(|connection| {
            let mut query = connection
                .prepare_cached("select 1 from reservation where run = ?1 and call is not ?2 limit 1")?;
            Ok(query.query_row(params![run, working], |_| Ok(())).optional()?.is_some())
        })?;
        if is_any { self.write(|transaction| void(transaction, run, working)) } else { Ok(()) }
    }

    /// Returns what earlier completed runs of a workflow cost, the newest first. Runs with
    /// calls of unknown cost are left out.
    pub fn costs_of(&self, project: &str, workflow: &str, most: u32) -> Result<Vec<f64>, StoreError> {
        self.read(|connection| {
            let mut query = connection.prepare_cached(
                "select micro_usd from run where project = ?1 and workflow = ?2
                     and status = 'completed' and micro_usd is not null and unknown_calls = 0
                     and 0 < calls_total order by key desc limit ?3",
            )?;
            let rows = query.query_map(params![project, workflow, most], |row| Ok(usd(row.get(0)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Returns the day of a moment in the zone of this machine: people think of their own days.
pub fn local_day(at: Timestamp) -> String {
    time::day(at, &TimeZone::system())
}

/// Money is kept in millionths of a dollar. What is too large stays at the largest number.
pub(crate) fn micro_usd(usd: f64) -> i64 {
    (usd * 1e6).ceil() as i64
}

fn usd(micro_usd: i64) -> f64 {
    micro_usd as f64 / 1e6
}

/// What is spent on a day and what runs other than this one have set aside.
fn taken(connection: &Connection, day: &str, run: &str) -> Result<(i64, i64), StoreError> {
    let spend = spent_on(connection, day, None)?;
    Ok((spend.micro_usd.saturating_add(spend.assumed_micro_usd), reserved(connection, day, run)?))
}

fn reserved(connection: &Connection, day: &str, except: &str) -> Result<i64, StoreError> {
    let mut query =
        connection.prepare_cached("select micro_usd from reservation where day = ?1 and run <> ?2")?;
    let mut sum: i64 = 0;
    let mut rows = query.query([day, except])?;
    while let Some(row) = rows.next()? {
        sum = sum.saturating_add(row.get(0)?);
    }
    Ok(sum)
}

fn void(transaction: &Transaction<'_>, run: &str, except: Option<u32>) -> Result<(), StoreError> {
    transaction
        .prepare_cached("delete from reservation where run = ?1 and call is not ?2")?
        .execute(params![run, except])?;
    Ok(())
}

fn spent_on(connection: &Connection, day: &str, project: Option<&str>) -> Result<Spend, StoreError> {
    let count = |it: i64| u64::try_from(it).unwrap_or_default();
    // Somebody may have written a number that is none of ours: it counts as the nearest one.
    let small_count = |it: i64| u32::try_from(it.max(0)).unwrap_or(u32::MAX);
    let mut query = connection.prepare_cached(
        "select calls, unknown_calls, tokens, input, cache_write, cache_read, output, micro_usd,
             assumed_micro_usd
         from spend where day = ?1 and (?2 is null or project = ?2)",
    )?;
    let mut sum = Spend { day: day.to_owned(), ..Spend::default() };
    let mut rows = query.query(params![day, project])?;
    while let Some(row) = rows.next()? {
        let mut tokens = TokenClasses {
            input: count(row.get(3)?),
            cache_write: count(row.get(4)?),
            cache_read: count(row.get(5)?),
            output: count(row.get(6)?),
        };
        // Days from before the classes have one number.
        let whole = count(row.get(2)?);
        tokens.input = tokens.input.saturating_add(whole.saturating_sub(tokens.total()));
        sum.calls = sum.calls.saturating_add(small_count(row.get(0)?));
        sum.unknown_calls = sum.unknown_calls.saturating_add(small_count(row.get(1)?));
        sum.tokens.add(tokens);
        sum.micro_usd = sum.micro_usd.saturating_add(row.get(7)?);
        sum.assumed_micro_usd = sum.assumed_micro_usd.saturating_add(row.get(8)?);
    }
    Ok(sum)
}

/// Adds what a call cost to its day, and settles what was reserved for it.
pub(crate) fn add_spend(
    transaction: &Transaction<'_>,
    project: &str,
    spend: &Spend,
) -> Result<(), StoreError> {
    let before: Spend = {
        let mut found = spent_on(transaction, &spend.day, Some(project))?;
        found.calls = found.calls.saturating_add(spend.calls);
        found.unknown_calls = found.unknown_calls.saturating_add(spend.unknown_calls);
        found.tokens.add(spend.tokens);
        // An agent may report anything, so a sum that would not fit stays at the largest number there is
        // instead of becoming an error at every later commit.
        found.micro_usd = found.micro_usd.saturating_add(spend.micro_usd);
        found.assumed_micro_usd = found.assumed_micro_usd.saturating_add(spend.assumed_micro_usd);
        found
    };
    let count = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    let Spend { day, calls, unknown_calls, tokens, micro_usd, assumed_micro_usd } = before;
    transaction
        .prepare_cached(
            "insert or replace into spend(day, project, calls, unknown_calls, tokens, input, cache_write,
                 cache_read, output, micro_usd, assumed_micro_usd)
             values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            day,
            project,
            calls,
            unknown_calls,
            count(tokens.total()),
            count(tokens.input),
            count(tokens.cache_write),
            count(tokens.cache_read),
            count(tokens.output),
            micro_usd,
            assumed_micro_usd
        ])?;
    Ok(())
}

/// Gives back what was reserved for the calls of a run up to this one: they are over.
pub(crate) fn settle(transaction: &Transaction<'_>, run: &str, call: u32) -> Result<(), StoreError> {
    transaction
        .prepare_cached("delete from reservation where run = ?1 and call <= ?2")?
        .execute(params![run, call])?;
    Ok(())
}
