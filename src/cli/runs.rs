//! `loop runs`: all runs, of every project in this home.

use super::Context;
use super::status::ago;
use crate::host::ears::now;
use crate::store::Filter;
use crate::text::sanitise;
use crate::time::Timestamp;
use clap::Args;
use serde_json::json;

#[derive(Args)]
pub(super) struct Flags {
    /// Delete runs that are completed or cancelled, with their transcripts
    #[arg(long)]
    prune: bool,
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let Some(home) = context.existing_home()? else {
        println!("{}", if context.json { "[]" } else { "no runs" });
        return Ok(0);
    };
    if flags.prune {
        let rows = home.runs(&Filter { statuses: &["completed", "cancelled"], ..Filter::default() })?;
        for row in &rows {
            home.prune(&row.id)?;
        }
        println!("{} runs deleted", rows.len());
        return Ok(0);
    }
    let rows = home.runs(&Filter { limit: Some(flags.limit), ..Filter::default() })?;
    if context.json {
        let list: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "run": row.id, "workflow": row.workflow, "input": row.input, "project": row.project,
                    "status": row.status, "reason": row.reason, "phase": row.phase,
                    "iterations_total": row.iterations_total, "calls_total": row.calls_total,
                    "progress_percent": row.progress, "verified": row.verified,
                    "updated_at": Timestamp(row.updated_at).to_string(),
                })
            })
            .collect();
        println!("{}", super::json::pretty(&list));
        return Ok(0);
    }
    if rows.is_empty() {
        println!("no runs");
    }
    for row in rows {
        let input = row.input.lines().next().unwrap_or("").chars().take(40).collect::<String>();
        let line = format!(
            "{}  {:<11}  {:<9}  {:>3} %  {:<12}  {}  {input}",
            &row.id[..8],
            row.workflow,
            row.status,
            row.progress.unwrap_or(0),
            ago(Timestamp(row.updated_at), now()),
            row.project,
        );
        println!("{}", sanitise(&line));
    }
    Ok(0)
}
