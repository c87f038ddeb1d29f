//! Runs as lists see them. Everything a list shows stands in the run table, so a list reads neither
//! snapshots nor definitions; both can be asked for by run. Opening a run and removing one are here
//! too, since they are about the row and its folder.

use crate::chain;
use crate::error::StoreError;
#[cfg(test)]
use crate::holder::Holder;
use crate::home::{Home, private_folder};
use crate::journal::run_row::find;
use crate::lock::RunLock;
use loop_base::files::ours;
use loop_core::engine::Status;
use loop_core::workflow::model::DEFINITION_VERSION;
use rusqlite::types::{ToSql, Type};
use rusqlite::{OptionalExtension, params};
use std::collections::HashSet;

/// A run to be opened.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    pub id: &'a str,
    pub project: &'a str,
    pub workflow: &'a str,
    pub input: &'a str,
    pub status: Status,
    pub place: &'a str,
    /// The resolved workflow as JSON.
    pub definition: &'a str,
    pub at: i64,
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: String,
    pub project: String,
    pub workflow: String,
    pub input: String,
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
    pub opened_at: i64,
    pub updated_at: i64,
    pub epoch: i64,
    /// Who owned the run last, as JSON; [`Row::owner`] reads it.
    pub owner: Option<String>,
    pub exit: Option<i64>,
    pub tokens: i64,
    /// What its calls cost; nothing where no call told.
    pub micro_usd: Option<i64>,
    /// Whether part of that was computed from prices.
    pub computed: bool,
    pub unknown_calls: i64,
}

#[cfg(test)]
impl Row {
    /// The last owner, alive or not.
    pub fn owner(&self) -> Option<Holder> {
        serde_json::from_str(self.owner.as_ref()?).ok()
    }
}

/// Which runs a list shows; the default is all of them. The newest come first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    pub project: Option<&'a str>,
    pub workflow: Option<&'a str>,
    pub input: Option<&'a str>,
    /// Any of these; empty for every status.
    pub statuses: &'a [Status],
    pub limit: Option<usize>,
}

/// What a beginning of a run's id names.
#[derive(Clone, Debug, PartialEq)]
pub enum ByPrefix {
    One(Box<Row>),
    None,
    /// Some of the ids that begin so.
    Several(Vec<String>),
}

/// How many ids an ambiguous prefix lists: enough to see what to type further.
const AMBIGUOUS_LISTED: i64 = 8;

impl Home {
    /// Opens a run: its folder, its row and its definition.
    pub fn create_run(&self, run: &NewRun<'_>) -> Result<(), StoreError> {
        private_folder(&self.folder(run.id))?;
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "insert into run(id, project, workflow, input, status, place, opened_at, updated_at)
                     values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
                )?
                .execute(params![
                    run.id,
                    run.project,
                    run.workflow,
                    run.input,
                    run.status.word(),
                    run.place,
                    run.at
                ])?;
            transaction
                .prepare_cached("insert into definition(run, body, version) values(?1, ?2, ?3)")?
                .execute(params![transaction.last_insert_rowid(), run.definition, DEFINITION_VERSION])?;
            Ok(())
        })
    }

    pub fn runs(&self, filter: &Filter<'_>) -> Result<Vec<Row>, StoreError> {
        let (sql, values) = filter.query();
        self.read(|connection| {
            let mut query = connection.prepare_cached(&sql)?;
            let rows = query.query_map(rusqlite::params_from_iter(values), row_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn run(&self, id: &str) -> Result<Option<Row>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(&format!("select {COLUMNS} from run where id = ?1"))?
                .query_row([id], row_of)
                .optional()?)
        })
    }

    /// Finds a run by the beginning of its id, in either case.
    pub fn by_prefix(&self, prefix: &str) -> Result<ByPrefix, StoreError> {
        let prefix = prefix.to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(ByPrefix::None);
        }
        let mut rows: Vec<Row> = self.read(|connection| {
            // `g` is the first letter that no id contains, so this is the range of the prefix.
            let mut query = connection.prepare_cached(&format!(
                "select {COLUMNS} from run where id >= ?1 and id < ?1 || 'g' order by id limit {AMBIGUOUS_LISTED}"
            ))?;
            let rows = query.query_map([&prefix], row_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        Ok(match rows.len() {
            0 => ByPrefix::None,
            1 => ByPrefix::One(Box::new(rows.remove(0))),
            _ => ByPrefix::Several(rows.into_iter().map(|row| row.id).collect()),
        })
    }

    /// Removes a run that nobody owns: its rows, then its folder. Its calls keep counting for the
    /// window of its project, and its spend for its day.
    pub fn prune(&self, run: &str) -> Result<(), StoreError> {
        self.read(|connection| find(connection, run))?;
        let _lock = RunLock::take(self, run)?;
        let folder = self.folder(run);
        let mark = folder.join(chain::PRUNED);
        ours()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&mark)
            .map_err(|error| StoreError::file(&mark, &error))?;
        self.write(|transaction| {
            let key = find(transaction, run)?.key;
            for table in
                ["event", "snapshot", "definition", "earlier_definition", "command", "question", "unsealed"]
            {
                transaction.execute(&format!("delete from {table} where run = ?1"), [key])?;
            }
            for table in ["reservation", "slot"] {
                transaction.execute(&format!("delete from {table} where run = ?1"), [run])?;
            }
            transaction.execute("delete from run where key = ?1", [key])?;
            Ok(())
        })?;
        std::fs::remove_dir_all(&folder).map_err(|error| StoreError::file(&folder, &error))
    }
}

impl Home {
    /// Returns the runs that somebody took out of the database: they have a folder with a journal's head in it,
    /// and are not in the list.
    pub fn missing_runs(&self) -> Result<Vec<String>, StoreError> {
        // The folders are read first: a run that is opened meanwhile has its row before it has a head.
        let folders = self.run_folders();
        let listed: HashSet<String> = self.read(|connection| {
            let mut query = connection.prepare_cached("select id from run")?;
            let ids = query.query_map([], |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })?;
        let is_missing = |id: &String| !listed.contains(id) && chain::is_lost(&self.folder(id));
        Ok(folders.into_iter().filter(is_missing).collect())
    }

    pub fn refuse_missing_runs(&self) -> Result<(), StoreError> {
        self.missing_runs()?.first().map_or(Ok(()), |id| self.refuse_missing(id))
    }

    pub fn refuse_missing(&self, id: &str) -> Result<(), StoreError> {
        Err(StoreError::missing_run(id, self.folder(id)).within(self.path()))
    }

    /// A run that has a row, and that a list should have shown which was empty, is hidden by a damaged page.
    pub fn refuse_hidden_runs(&self, should_be_listed: impl Fn(&Row) -> bool) -> Result<(), StoreError> {
        self.refuse_missing_runs()?;
        for id in self.run_folders() {
            if self.run(&id)?.is_some_and(|row| should_be_listed(&row)) {
                let what = format!("run {id} exists, but no list shows it");
                return Err(StoreError::damaged(what).within(self.path()));
            }
        }
        Ok(())
    }

    fn run_folders(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.path().join("runs")).into_iter().flatten().flatten();
        let names = folders.filter_map(|it| it.file_name().into_string().ok());
        names.filter(|it| it.len() == ID_LENGTH).collect()
    }
}

impl<'a> Filter<'a> {
    fn query(&self) -> (String, Vec<Box<dyn ToSql + 'a>>) {
        let mut conditions = Vec::new();
        let mut values: Vec<Box<dyn ToSql + 'a>> = Vec::new();
        let columns = [("project", self.project), ("workflow", self.workflow), ("input", self.input)];
        for (column, value) in columns {
            if let Some(value) = value {
                conditions.push(format!("{column} = ?"));
                values.push(Box::new(value));
            }
        }
        if !self.statuses.is_empty() {
            conditions.push(format!("status in ({})", vec!["?"; self.statuses.len()].join(", ")));
            values.extend(self.statuses.iter().map(|status| Box::new(status.word()) as Box<dyn ToSql + 'a>));
        }
        let wanted =
            if conditions.is_empty() { String::new() } else { format!("where {}", conditions.join(" and ")) };
        values.push(Box::new(as_limit(self.limit)));
        (format!("select {COLUMNS} from run {wanted} order by key desc limit ?"), values)
    }
}

/// A UUID in its usual form.
const ID_LENGTH: usize = 36;

/// SQLite takes a negative limit for none.
fn as_limit(limit: Option<usize>) -> i64 {
    limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(-1))
}

const COLUMNS: &str = "id, project, workflow, input, status, reason, next_step, phase, iteration, iterations_total, \
     calls_total, progress, verified, place, branch, opened_at, updated_at, epoch, owner, exit, tokens, micro_usd, \
     computed, unknown_calls";

/// Reads the word of a status.
pub(crate) fn status_at(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Status> {
    let word: String = row.get(column)?;
    Status::named(&word).ok_or_else(|| {
        let says = format!("\"{word}\" is not a status of a run");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, says.into())
    })
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let id: String = row.get(0)?;
    // Everything that names a run shows the beginning of its id.
    if id.len() != ID_LENGTH || !id.is_ascii() {
        let says = format!("\"{id}\" is not the id of a run");
        return Err(rusqlite::Error::FromSqlConversionFailure(0, Type::Text, says.into()));
    }
    Ok(Row {
        id,
        project: row.get(1)?,
        workflow: row.get(2)?,
        input: row.get(3)?,
        status: status_at(row, 4)?,
        reason: row.get(5)?,
        next_step: row.get(6)?,
        phase: row.get(7)?,
        iteration: row.get(8)?,
        iterations_total: row.get(9)?,
        calls_total: row.get(10)?,
        progress: row.get(11)?,
        verified: row.get(12)?,
        place: row.get(13)?,
        branch: row.get(14)?,
        opened_at: row.get(15)?,
        updated_at: row.get(16)?,
        epoch: row.get(17)?,
        owner: row.get(18)?,
        exit: row.get(19)?,
        tokens: row.get(20)?,
        micro_usd: row.get(21)?,
        computed: row.get(22)?,
        unknown_calls: row.get(23)?,
    })
}
