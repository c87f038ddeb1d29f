//! Whether the database holds the tables that loop makes, and nothing that acts by itself. A trigger that
//! somebody left there would act with every commit of ours; a view would show what is in no table. None of
//! them is ever executed, and whoever opens the database names them.

use crate::error::StoreError;
use crate::schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

/// Lets nothing that is stored in the database act.
pub(super) fn disarm(connection: &Connection) -> Result<(), StoreError> {
    let settings = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ];
    for (setting, is_on) in settings {
        connection.set_db_config(setting, is_on)?;
    }
    Ok(())
}

/// Names what somebody left that would act by itself.
pub(super) fn refuse_armed(connection: &Connection) -> Result<(), StoreError> {
    let found = connection
        .prepare("select type, name from sqlite_schema where type in ('trigger', 'view') limit 1")?
        .query_row([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    match found {
        None => Ok(()),
        Some((kind, name)) => {
            Err(StoreError::damaged(format!("it has the {kind} {name:?}, which no version of loop creates")))
        }
    }
}

/// Compares tables and indexes with those that this version makes. Returns the first difference.
pub(super) fn fault(connection: &Connection) -> Result<Option<String>, StoreError> {
    let fresh = Connection::open_in_memory()?;
    schema::STEPS.iter().try_for_each(|it| fresh.execute_batch(it))?;
    let (right, found) = (listed(&fresh)?, listed(connection)?);
    let differs = right.iter().find(|it| !found.contains(it)).or(found.iter().find(|it| !right.contains(it)));
    Ok(differs.map(|it| format!("its {} {:?} is not as loop makes it", it.kind, it.name)))
}

#[derive(PartialEq, Eq)]
struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

fn listed(connection: &Connection) -> Result<Vec<SchemaEntry>, StoreError> {
    // SQLite keeps tables of its own beside ours once it has been asked to measure them.
    let mut query = connection.prepare(
        "select type, name, tbl_name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite_stat%'",
    )?;
    let rows = query.query_map([], |row| {
        let sql: String = row.get(3)?;
        let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(SchemaEntry { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
