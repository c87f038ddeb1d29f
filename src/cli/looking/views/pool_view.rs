//! The systems that a pool builds at the same time: a line for each, below the status of one of their runs.

use crate::desk::{LivePool, PoolSystem, live_pool};
use loop_store::{Home, Row};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Returns the lines of the pool that works beside a run; nothing where there is none.
pub(crate) fn status(home: &Home, row: &Row) -> String {
    find(home, row).map(|it| lines(&it)).unwrap_or_default()
}

/// Returns the lines and the object of a pool that has begun no system yet.
pub(crate) fn before_any_run(home: &Home, project: &Path) -> Option<(String, Value)> {
    let pool = live_pool(home, &project.to_string_lossy(), "").ok().flatten()?;
    Some((lines(&pool), object(&pool)))
}

fn lines(pool: &LivePool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "  pool        {} at once, {}", pool.jobs, pool.holder);
    for it in &pool.systems {
        let _ = writeln!(out, "  {:<11} {}", it.job.system.id, words(it));
    }
    out
}

/// `waiting, BUILD, iteration 3: Ship it?`; a reason that begins with the phase stands alone.
fn words(it: &PoolSystem) -> String {
    let Some(row) = &it.row else {
        let status = it.job.system.status.word();
        return match it.waits_for.as_slice() {
            [] => status.to_owned(),
            open => format!("{status}, waits for {}", open.join(", ")),
        };
    };
    let status = row.status.word();
    let phase = row.phase.as_deref().unwrap_or_default();
    let reason = row.reason.as_deref().and_then(|it| it.lines().next()).unwrap_or_default();
    let says_nothing = reason.is_empty() || reason == status;
    match phase {
        "" if says_nothing => status.to_owned(),
        "" => format!("{status}: {reason}"),
        _ if says_nothing => format!("{status}, {phase}, iteration {}", row.iteration),
        _ if reason.starts_with(phase) => format!("{status}, {reason}"),
        _ => format!("{status}, {phase}, iteration {}: {reason}", row.iteration),
    }
}

/// Returns the contract's object; null where no pool works.
pub(crate) fn json(home: &Home, row: &Row) -> Value {
    find(home, row).map_or(Value::Null, |it| object(&it))
}

fn object(pool: &LivePool) -> Value {
    let runs = pool.systems.iter().filter_map(|it| {
        let row = it.row.as_ref()?;
        Some(json!({
            "system": it.job.system.id, "run": row.id, "status": row.status.word(), "phase": row.phase,
            "iteration": row.iteration, "reason": row.reason,
        }))
    });
    json!({ "jobs": pool.jobs, "pid": pool.holder.pid, "runs": runs.collect::<Vec<_>>() })
}

/// A pool that cannot be read is no reason to show nothing of the run.
fn find(home: &Home, row: &Row) -> Option<LivePool> {
    live_pool(home, &row.project, &row.id).ok().flatten()
}
