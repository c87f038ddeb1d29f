//! What a run was opened with: the columns of its row that never change, and every workflow that it has
//! had. None of it is an event, so the chain alone would not notice when somebody edits it. The seal in
//! the snapshot binds it to the head of the chain; it is written with every commit and compared by
//! whoever reads or opens the run. Snapshots of homes from before have none until their next commit.

use crate::chain::{Hash, framed};
use crate::error::StoreError;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

/// What a reader says when the seal does not hold.
pub(crate) const BROKEN: &str = "the workflow or the opening of the run was changed after it was recorded";

/// Returns the hash of what the run was opened with, as the database has it.
pub(crate) fn opening(connection: &Connection, run: &str, key: i64) -> Result<Hash, StoreError> {
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
    let mut query = connection.prepare_cached(
        "select until, version, body from earlier_definition where run = ?1
         union all select -1, version, body from definition where run = ?1 order by 1",
    )?;
    let mut rows = query.query([key])?;
    while let Some(row) = rows.next()? {
        sha.update(row.get::<_, i64>(0)?.to_be_bytes());
        sha.update(row.get::<_, i64>(1)?.to_be_bytes());
        framed(&mut sha, &row.get::<_, String>(2)?);
    }
    Ok(sha.finalize().into())
}

/// Whether the snapshot of a run is bound to what the run was opened with. Those that were written
/// before there were seals are on a list.
pub(crate) fn holds(
    connection: &Connection,
    key: i64,
    head: &Hash,
    opening: &Hash,
    found: Option<Hash>,
) -> Result<bool, StoreError> {
    match found {
        Some(found) => Ok(found == seal(head, opening)),
        None => Ok(connection.prepare_cached("select 1 from unsealed where run = ?1")?.exists([key])?),
    }
}

/// Binds an opening to the head of the chain.
pub(crate) fn seal(head: &Hash, opening: &Hash) -> Hash {
    let mut sha = Sha256::new_with_prefix(b"loop seal 1\0");
    sha.update(head);
    sha.update(opening);
    sha.finalize().into()
}
