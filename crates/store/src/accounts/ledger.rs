//! What runs share: the calls of a project's window, and holds on an account whose provider said no. Calls
//! are written in the commit of the call they belong to; holds stand alone, because they bind every run
//! of the account.

use crate::error::StoreError;
use crate::home::Home;
use loop_base::secret::redact;
use rusqlite::{OptionalExtension, Transaction, params};

/// Calls inside a window, over all runs of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowCalls {
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

impl Home {
    /// Counts the calls that began from `since` to `until`. A clock that was set back leaves later ones.
    pub(crate) fn calls_between(
        &self,
        project: &str,
        since: i64,
        until: i64,
    ) -> Result<WindowCalls, StoreError> {
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

pub(crate) fn add_call(
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
