//! The record of a completed run: one file in the run's folder that says what its completion stands on
//! and needs nothing else. It is written when a run is completed, and again whenever its journal has gone
//! on since or the file is not what was written.

use super::caller::load;
use super::own_paths;
use loop_base::secret;
use loop_core::engine::{Outcome, Station};
use loop_core::record::{Around, RECORD_NAMESPACE, Statement, is_recorded};
use loop_store::{Home, Row, fold};
use loop_supervise::ssh_keygen;
use std::path::{Path, PathBuf};

const FILE: &str = "record.json";

/// A record is text about one run; what is longer was not written by us.
const RECORD_MOST: usize = 16 << 20;

/// A record that lies in its place.
pub(crate) struct WrittenRecord {
    pub path: PathBuf,
    pub statement: Statement,
    /// Why it is not signed although it should be.
    pub trouble: Option<String>,
}

/// Makes sure that a completed run has its record; `None` for one that is not completed.
pub(crate) fn write_record(home: &Home, row: &Row) -> anyhow::Result<Option<WrittenRecord>> {
    let (workflow, state) = load(home, row)?;
    if state.station != Station::Closed(Outcome::Completed) {
        return Ok(None);
    }
    let path = home.folder(&row.id).join(FILE);
    let journal = home.journal_head(&row.id)?.unwrap_or_default();
    let known = loop_base::files::read(&path, RECORD_MOST).ok().and_then(|it| String::from_utf8(it).ok());
    let known = known.and_then(|it| Statement::read(&it).ok());
    let wants_key = workflow.proof.sign_key.is_some();
    if let Some(statement) = known.filter(|it| it.predicate.journal == journal)
        && statement.signature().is_some() == wants_key
    {
        return Ok(Some(WrittenRecord { path, statement, trouble: None }));
    }
    let events = fold::chosen(home, &row.id, &workflow, is_recorded)?;
    let around = Around {
        run: &row.id,
        input: &row.input,
        events: &events,
        own_files: own_paths::of_state(Path::new(&row.place), &workflow, &state),
        journal,
        program: format!("loop {}", env!("CARGO_PKG_VERSION")),
    };
    // It leaves the house, so it holds no secret; a command that needs one cannot be run again from it.
    let set = workflow.agent.env.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
    secret::learn(set);
    let checks = workflow.checks.values().filter_map(|it| it.run.as_deref());
    checks.chain(state.commands.values().map(String::as_str)).for_each(secret::learn_command);
    let (mut statement, _) = secret::redact_data(Statement::of(&workflow, &state, around));
    let signed = workflow.proof.sign_key.as_ref().map(|key| {
        let key = Path::new(&row.project).join(key);
        let kind = ssh_keygen::kind(&key)?;
        ssh_keygen::sign(&key, kind, RECORD_NAMESPACE, &statement.unsealed())
    });
    let (signature, trouble) = match signed {
        Some(Ok(signature)) => (Some(signature), None),
        Some(Err(why)) => (None, Some(format!("the record is not signed: {why}"))),
        None => (None, None),
    };
    statement.seal(signature);
    loop_base::files::replace_ours(&path, &statement.text())?;
    Ok(Some(WrittenRecord { path, statement, trouble }))
}
