//! What runs share: the calls of a project's window, holds on an account whose provider said no, and
//! the spend of a day. Calls and spend are written in the commit of the call they belong to; holds
//! stand alone, because they bind every run of the account.

use super::error::StoreError;
use super::home::Home;
use loop_base::secret::redact;
use rusqlite::{OptionalExtension, Transaction, params};

/// Calls inside a window, over all runs of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowCalls {
    pub count: i64,
    pub oldest_at: Option<i64>,
}

/// An account that must not be called before `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountHold {
    pub account: String,
    pub until: i64,
    pub reason: String,
    pub at: i64,
}

/// How much of an account's plan is used up, in words, and until when that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanUse {
    pub account: String,
    pub warning: String,
    pub until: Option<i64>,
    pub at: i64,
}

/// What a call cost, added to its day (`2026-01-31`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    pub day: String,
    pub calls: i64,
    pub tokens: i64,
    pub micro_usd: i64,
}

impl Home {
    /// Counts the calls that began from `since` to `until`. A clock that was set back leaves later ones.
    pub fn calls_between(&self, project: &str, since: i64, until: i64) -> Result<WindowCalls, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "select count(*), min(at) from call where project = ?1 and at between ?2 and ?3",
                )?
                .query_row(params![project, since, until], |row| {
                    Ok(WindowCalls { count: row.get(0)?, oldest_at: row.get(1)? })
                })?)
        })
    }

    /// What all runs of all projects spent on one day.
    pub fn spent_on(&self, day: &str) -> Result<Spend, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "select ifnull(sum(calls), 0), ifnull(sum(tokens), 0), ifnull(sum(micro_usd), 0)
                     from spend where day = ?1",
                )?
                .query_row([day], |row| {
                    Ok(Spend {
                        day: day.to_owned(),
                        calls: row.get(0)?,
                        tokens: row.get(1)?,
                        micro_usd: row.get(2)?,
                    })
                })?)
        })
    }

    pub fn put_hold(&self, hold: &AccountHold) -> Result<(), StoreError> {
        self.write(|transaction| {
            let AccountHold { account, until, reason, at } = hold;
            transaction
                .prepare_cached("insert or replace into hold values(?1, ?2, ?3, ?4)")?
                .execute(params![account, until, redact(reason), at])?;
            Ok(())
        })
    }

    pub fn hold(&self, account: &str) -> Result<Option<AccountHold>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached("select account, until, reason, at from hold where account = ?1")?
                .query_row([account], hold_of)
                .optional()?)
        })
    }

    pub fn holds(&self) -> Result<Vec<AccountHold>, StoreError> {
        self.read(|connection| {
            let mut query =
                connection.prepare_cached("select account, until, reason, at from hold order by account")?;
            let rows = query.query_map([], hold_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn put_plan(&self, plan: &PlanUse) -> Result<(), StoreError> {
        self.write(|transaction| {
            let PlanUse { account, warning, until, at } = plan;
            transaction
                .prepare_cached("insert or replace into plan values(?1, ?2, ?3, ?4)")?
                .execute(params![account, warning, until, at])?;
            Ok(())
        })
    }

    /// Returns what was last said about each account.
    pub fn plans(&self) -> Result<Vec<PlanUse>, StoreError> {
        self.read(|connection| {
            let mut query =
                connection.prepare_cached("select account, warning, until, at from plan order by account")?;
            let rows = query.query_map([], |row| {
                Ok(PlanUse {
                    account: row.get(0)?,
                    warning: row.get(1)?,
                    until: row.get(2)?,
                    at: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns whether there was one.
    pub fn clear_hold(&self, account: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            Ok(transaction.execute("delete from hold where account = ?1", [account])? > 0)
        })
    }
}

fn hold_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<AccountHold> {
    Ok(AccountHold { account: row.get(0)?, until: row.get(1)?, reason: row.get(2)?, at: row.get(3)? })
}

pub(super) fn add_call(
    transaction: &Transaction<'_>,
    project: &str,
    at: i64,
    run: &str,
    seq: i64,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("insert or ignore into call values(?1, ?2, ?3, ?4)")?
        .execute(params![project, at, run, seq])?;
    Ok(())
}

pub(super) fn add_spend(
    transaction: &Transaction<'_>,
    project: &str,
    spend: &Spend,
) -> Result<(), StoreError> {
    // An agent may report anything, so a sum that would not fit stays at the largest number there is
    // instead of becoming an error at every later commit.
    transaction
        .prepare_cached(
            "insert into spend values(?1, ?2, ?3, ?4, ?5) on conflict(day, project) do update set
                 calls = min(calls, 9223372036854775807 - max(excluded.calls, 0)) + excluded.calls,
                 tokens = min(tokens, 9223372036854775807 - max(excluded.tokens, 0)) + excluded.tokens,
                 micro_usd = min(micro_usd, 9223372036854775807 - max(excluded.micro_usd, 0)) + excluded.micro_usd",
        )?
        .execute(params![spend.day, project, spend.calls, spend.tokens, spend.micro_usd])?;
    Ok(())
}
