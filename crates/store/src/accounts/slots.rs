//! Calls at once: where a workflow allows an account only so many, a call takes a slot before it begins. A
//! slot belongs to the shim that holds the call, so it lives exactly as long as the call can: it is given
//! back in the commit that records the call's end, and what a dead shim held is free. Whoever finds no slot
//! stands in line; the oldest living waiter is first.

use crate::error::StoreError;
use crate::holder::Holder;
use crate::home::Home;
use loop_base::time::Timestamp;
use rusqlite::{Connection, Transaction, params};

/// A call that wants to begin.
#[derive(Clone, Copy, Debug)]
pub struct SlotWish<'a> {
    pub account: &'a str,
    pub run: &'a str,
    pub call: u32,
    /// Calls at once.
    pub most: u32,
    /// The shim that will hold the call.
    pub shim: &'a Holder,
    pub at: Timestamp,
}

/// What came of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotAnswer {
    Taken,
    /// Others have all of them, or stand before it in line.
    Full {
        used: usize,
        ahead: usize,
    },
}

/// A run that has a slot, or stands in line for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotUse {
    pub account: String,
    pub run: String,
    /// The call that has the slot; nothing for one in line.
    pub call: Option<u32>,
    /// The shim of the call, or the controller that waits.
    pub holder: Holder,
    pub since: i64,
}

impl Home {
    /// Takes a slot for a call, or a place in line. A run makes one call at a time, so what it had before is
    /// replaced.
    pub fn take_slot(&self, wish: &SlotWish<'_>) -> Result<SlotAnswer, StoreError> {
        self.write(|transaction| {
            let all = uses(transaction)?;
            for dead in all.iter().filter(|it| !it.holder.is_alive()) {
                release(transaction, &dead.run)?;
            }
            let of_account = |it: &&SlotUse| it.account == wish.account && it.holder.is_alive();
            let others = all.iter().filter(of_account).filter(|it| it.run != wish.run);
            let used = others.filter(|it| it.call.is_some()).count();
            let line = all.iter().filter(of_account).filter(|it| it.call.is_none());
            let ahead = line.take_while(|it| it.run != wish.run).count();
            let holder = |it: &Holder| serde_json::to_string(it).expect("a holder is plain data");
            if used + ahead < wish.most as usize {
                release(transaction, wish.run)?;
                transaction
                    .prepare_cached(
                        "insert into slot(account, run, call, holder, at) values(?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute(params![wish.account, wish.run, wish.call, holder(wish.shim), wish.at.0])?;
                return Ok(SlotAnswer::Taken);
            }
            let stands = all.iter().any(|it| it.run == wish.run && it.call.is_none() && it.holder.is_alive());
            if !stands {
                release(transaction, wish.run)?;
                transaction
                    .prepare_cached("insert into slot(account, run, holder, at) values(?1, ?2, ?3, ?4)")?
                    .execute(params![wish.account, wish.run, holder(&Holder::this_process()), wish.at.0])?;
            }
            Ok(SlotAnswer::Full { used, ahead })
        })
    }

    /// Gives back what a run has, where its call did not begin.
    pub fn leave_slot(&self, run: &str) -> Result<(), StoreError> {
        self.write(|transaction| release(transaction, run))
    }

    /// Returns who has slots and who stands in line, the oldest first. The dead have none.
    pub fn slots(&self) -> Result<Vec<SlotUse>, StoreError> {
        let mut all = self.read(uses)?;
        all.retain(|it| it.holder.is_alive());
        Ok(all)
    }
}

/// Gives back what a run has: its call is over.
pub(crate) fn release(transaction: &Transaction<'_>, run: &str) -> Result<(), StoreError> {
    transaction.prepare_cached("delete from slot where run = ?1")?.execute([run])?;
    Ok(())
}

fn uses(connection: &Connection) -> Result<Vec<SlotUse>, StoreError> {
    let mut query =
        connection.prepare_cached("select account, run, call, holder, at from slot order by key")?;
    let mut rows = query.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let holder: String = row.get(3)?;
        // A row that nobody can read holds nothing; the next call removes it.
        let Ok(holder) = serde_json::from_str(&holder) else { continue };
        let (account, run, since) = (row.get(0)?, row.get(1)?, row.get(4)?);
        // One that is no number of ours counts as the nearest one.
        let number = |it: i64| u32::try_from(it.max(0)).unwrap_or(u32::MAX);
        let call = row.get::<_, Option<i64>>(2)?.map(number);
        all.push(SlotUse { account, run, call, holder, since });
    }
    Ok(all)
}
