//! `loop runs`: all runs, of every project in this home, and the deletion of those that are finished.

use super::status::{NO_CONTROLLER, ago, is_left_alone};
use crate::cli::Context;
use crate::cli::context::show;
use crate::cli::hint;
use crate::cli::looking::views::cost;
use crate::cli::terminal::confirm;
use crate::cli::values;
use crate::desk::{GuardedCommand, Refusal, is_unfinished, load, named, refuse_agents};
use crate::measure::proof;
use crate::tree::git::Git;
use crate::tree::snapshot;
use crate::world::agent_output::trim_logs;
use crate::world::wait::now;
use clap::Args;
use loop_base::text::{bytes, counted, sanitise};
use loop_base::time::Timestamp;
use loop_core::engine::Status;
use loop_store::{Filter, Home, Row, StoreError, fold};
use serde_json::json;
use std::path::Path;

#[derive(Args)]
pub(crate) struct RunsFlags {
    /// Delete runs that are completed or cancelled, with their transcripts and snapshots
    #[arg(long)]
    prune: bool,
    /// Only runs that have not changed for this long, such as 12h or 30d
    #[arg(long, value_name = "LENGTH", requires = "prune", value_parser = age)]
    older_than: Option<u64>,
    /// Delete the oldest first, until the run folders together are below this size, such as 500M or 2G
    #[arg(long, value_name = "SIZE", requires = "prune", value_parser = amount)]
    down_to: Option<u64>,
    /// Say what would be deleted, and delete nothing
    #[arg(long, requires = "prune")]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long, requires = "prune")]
    yes: bool,
    /// Delete runs of every project, not only of this one
    #[arg(long, requires = "prune")]
    all: bool,
    /// How many to list at most
    #[arg(long, value_name = "N", default_value = "50", allow_negative_numbers = true, value_parser = values::count)]
    limit: u32,
}

pub(crate) fn run(context: &Context, flags: &RunsFlags) -> anyhow::Result<u8> {
    if flags.prune && !flags.dry_run {
        refuse_agents(&context.caller, None, GuardedCommand::Prune)?;
    }
    let Some(home) = context.caller.home_to_look_at()? else {
        println!("{}", if context.json { "[]" } else { "no runs" });
        return Ok(0);
    };
    if flags.prune {
        return prune(context, &home, flags);
    }
    let rows = home.runs(&Filter { limit: Some(flags.limit as usize), ..Filter::default() })?;
    if rows.is_empty() {
        home.refuse_hidden_runs(|_| true)?;
    }
    let faults: Vec<Option<String>> = rows.iter().map(|it| fault(&home, it)).collect();
    if context.json {
        let list: Vec<_> = rows
            .iter()
            .zip(&faults)
            .map(|(row, fault)| {
                let size = context.verbose.then(|| trim_logs::size(&home.folder(&row.id)));
                json!({
                    "bytes": size, "run": row.id, "workflow": row.workflow, "input": row.input, "project": row.project,
                    "status": fault.is_none().then_some(row.status), "damaged": fault,
                    "reason": reason(&home, row), "phase": row.phase,
                    "iterations_total": row.iterations_total, "calls_total": row.calls_total,
                    "progress_percent": row.progress, "verified": row.verified && fault.is_none(),
                    "usd": cost::row_json(row), "tokens_total": row.tokens,
                    "updated_at": Timestamp(row.updated_at).to_string(),
                })
            })
            .collect();
        println!("{}", crate::cli::json::pretty(&list));
        return name_damage(&home, &rows, &faults);
    }
    if rows.is_empty() {
        println!("no runs");
    }
    for (row, fault) in rows.iter().zip(&faults) {
        let input = row.input.lines().next().unwrap_or("").chars().take(40).collect::<String>();
        let line = format!(
            "{}  {:<11}  {:<9}  {:>3} %  {:>8}  {:<12}  {}  {input}{}",
            &row.id[..8],
            row.workflow,
            fault.as_ref().map_or(row.status.word(), |_| "damaged"),
            row.progress.unwrap_or(0),
            cost::of_row(row),
            ago(Timestamp(row.updated_at), now()),
            row.project,
            left_alone(&home, row),
        );
        show(&sanitise(&line));
        if context.verbose {
            println!(
                "          {} in {}",
                bytes(trim_logs::size(&home.folder(&row.id))),
                home.folder(&row.id).display()
            );
        }
    }
    name_damage(&home, &rows, &faults)
}

/// Returns what is wrong with a run that is listed: a line that its journal contradicts is not believed.
fn fault(home: &Home, row: &Row) -> Option<String> {
    fold::row_fault(home, row).unwrap_or_else(|error| Some(error.to_string()))
}

/// Returns why a run stands where it does, by its journal: a text of the list cannot be compared, because another
/// version may have worded it.
fn reason(home: &Home, row: &Row) -> Option<String> {
    let workflow = fold::workflow(home, &row.id).ok()?;
    Some(fold::state(home, &row.id, &workflow).ok()?.reason(&workflow))
}

/// Returns what is added to the line of a run whose controller is gone.
fn left_alone(home: &Home, row: &Row) -> String {
    let state = || fold::state(home, &row.id, &fold::workflow(home, &row.id).ok()?).ok();
    match row.status == Status::Running && state().is_some_and(|it| is_left_alone(home, row, &it)) {
        true => format!("  ({NO_CONTROLLER})"),
        false => String::new(),
    }
}

/// Says which runs are damaged; returns the exit code.
fn name_damage(home: &Home, rows: &[Row], faults: &[Option<String>]) -> anyhow::Result<u8> {
    let damaged: Vec<_> = rows.iter().zip(faults).filter_map(|it| Some((it.0, it.1.as_ref()?))).collect();
    for (row, what) in &damaged {
        eprintln!("loop: run {} is damaged: {}", &row.id[..8], sanitise(what));
    }
    let Some((row, _)) = damaged.first() else {
        home.refuse_missing_runs()?;
        return Ok(0);
    };
    eprintln!("{}", hint::next(&format!("loop verify --run {}", &row.id[..8])));
    Ok(8)
}

/// What would go, with what it weighs.
fn prunable(home: &Home, flags: &RunsFlags, project: Option<&Path>) -> anyhow::Result<Vec<(Row, u64)>> {
    let project = project.map(|it| it.to_string_lossy().into_owned());
    let statuses = &[Status::Completed, Status::Cancelled];
    let rows = home.runs(&Filter { statuses, project: project.as_deref(), ..Filter::default() })?;
    let old = |row: &Row| flags.older_than.is_none_or(|it| it <= now().since(Timestamp(row.updated_at)));
    let mut found: Vec<(Row, u64)> = rows
        .into_iter()
        .filter(|row| old(row) && home.holder(&row.id).is_none())
        .map(|row| (trim_logs::size(&home.folder(&row.id)), row))
        .map(|(size, row)| (row, size))
        .collect();
    found.sort_by_key(|(row, _)| row.updated_at);
    if let Some(most) = flags.down_to {
        let mut whole: u64 = trim_logs::size(&home.path().join("runs"));
        found.retain(|(_, size)| {
            let goes = most < whole;
            whole -= if goes { *size } else { 0 };
            goes
        });
    }
    Ok(found)
}

fn prune(context: &Context, home: &Home, flags: &RunsFlags) -> anyhow::Result<u8> {
    let project = if flags.all { None } else { Some(context.caller.project()?) };
    let found = prunable(home, flags, project.as_deref())?;
    let weight: u64 = found.iter().map(|it| it.1).sum();
    let what = format!("{}, {}", counted(found.len(), "run"), bytes(weight));
    if flags.dry_run {
        for (row, size) in &found {
            println!("{}", sanitise(&format!("{}  {}", named(row), bytes(*size))));
        }
        println!("would be deleted: {what}");
        return Ok(0);
    }
    if !flags.yes && !found.is_empty() {
        if !context.is_interactive() {
            return Err(Refusal::usage(
                format!("{what} would be deleted; without a terminal add --yes, or --dry-run to list them"),
                if flags.all { "loop runs --prune --yes --all" } else { "loop runs --prune --yes" },
            ));
        }
        if !confirm(&format!("delete {what}?"))? {
            return Ok(5);
        }
    }
    let mut kept = 0;
    for (row, _) in &found {
        // The list alone would let somebody delete a run that is still driven.
        let is_closed = load(home, row).is_ok_and(|(_, state)| Status::of(&state).is_closed());
        if !is_closed {
            let id = &row.id[..8];
            eprintln!("run {id} was kept: its journal says that it is not finished; loop verify --run {id}");
            kept += 1;
            continue;
        }
        forget_snapshots(row);
        home.prune(&row.id)?;
        if row.branch.is_some() && Path::new(&row.place).exists() {
            eprintln!("the worktree of run {} stays: {}", &row.id[..8], sanitise(&row.place));
        }
    }
    let is_any_open = home.runs(&Filter::default())?.iter().any(is_unfinished);
    let keep = if is_any_open { proof::Keep::Findings } else { proof::Keep::Nothing };
    let proofs = proof::prune(home.path(), keep).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::NotWritable { path: home.path().join("proof"), why: error.to_string() }.into()
        }
        _ => anyhow::Error::from(error),
    })?;
    let freed = if proofs == 0 { String::new() } else { format!("; files of proofs, {}", bytes(proofs)) };
    println!("{} deleted, {}{freed}", counted(found.len() - kept, "run"), bytes(weight));
    Ok(if kept == 0 { 0 } else { 8 })
}

/// Nobody could name the snapshots of a run that is gone. Where its repository is gone too, or cannot
/// be written, they are nobody's concern.
fn forget_snapshots(row: &Row) {
    let project = Path::new(&row.project);
    if project.is_dir()
        && let Ok(git) = Git::around(project)
        && let Err(error) = snapshot::forget(&git, &row.id)
    {
        eprintln!("the snapshots of run {} stay: {}", &row.id[..8], sanitise(&error.to_string()));
    }
}

/// Reads an age: days too, which no limit of a workflow needs.
fn age(text: &str) -> Result<u64, String> {
    match text.strip_suffix('d').map(str::parse::<u64>) {
        Some(Ok(days)) => Ok(days.saturating_mul(86_400_000)),
        Some(Err(_)) | None => values::length(text),
    }
}

fn amount(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not a size; write 500M or 2G");
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let factor = match &text[digits.len()..] {
        "" | "B" => 1,
        "k" | "K" | "kB" => 1000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).ok_or_else(wrong)
}
