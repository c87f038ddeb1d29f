//! `loop ship`: hands in what a completed run made, and notes in its journal where it went. What stands
//! in the way is said, all of it at once, before anything is changed.

use crate::cli::context::Context;
use crate::cli::hint;
use crate::cli::terminal::confirm;
use crate::deliver::ship::{CompletedWork, Preflight, Shipped};
use crate::desk::{self, ShipRequest, Shipment};
use clap::Args;
use loop_base::text::sanitise;
use loop_core::delivery_names::CommitKind;
use loop_store::{Home, Row, TreeLock};
use loop_supervise::interruption;
use serde_json::json;
use std::rc::Rc;

#[derive(Args)]
pub(crate) struct ShipFlags {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Push the branch, and open no pull request
    #[arg(long)]
    no_pr: bool,
    /// The kind of change: feat, fix, refactor, docs, test, chore
    #[arg(long = "type", value_name = "T", value_parser = kind)]
    kind: Option<CommitKind>,
}

fn kind(text: &str) -> Result<CommitKind, String> {
    CommitKind::read(text).ok_or_else(|| "one of feat, fix, refactor, docs, test, chore".to_owned())
}

pub(crate) fn run(context: &Context, flags: &ShipFlags) -> anyhow::Result<u8> {
    let mut shipment = desk::shipment(
        &context.caller,
        ShipRequest { kind: flags.kind, request: !flags.no_pr, dry_run: flags.dry_run },
    )?;
    interruption::end_checks_first()?;
    let preflight = shipment.work.preflight()?;
    if flags.dry_run {
        tell_plan(&shipment.work, context, &preflight);
        return Ok(if preflight.errors.is_empty() { 0 } else { 4 });
    }
    hand_in(context, &mut shipment, &preflight)
}

/// Asks at the terminal whether a run that has just been completed is to be handed in; says whether that
/// was wanted.
pub(crate) fn offer(context: &Context, home: &Rc<Home>, row: &Row, tree: TreeLock) -> anyhow::Result<bool> {
    let mut shipment = Shipment::offered(home, row, tree)?;
    let unverified = if shipment.work.state.verified() { "" } else { ", though it is unverified" };
    let text =
        format!("ship it now{unverified}: {}, commit, push, pull request?", shipment.work.names.branch);
    let is_wanted = confirm(&text)?;
    if is_wanted {
        let preflight = shipment.work.preflight()?;
        hand_in(context, &mut shipment, &preflight)?;
    }
    Ok(is_wanted)
}

fn hand_in(context: &Context, shipment: &mut Shipment, preflight: &Preflight) -> anyhow::Result<u8> {
    let shipped = shipment.hand_in(preflight)?;
    let exit = match (shipped.is_done, preflight.errors.is_empty()) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 4,
    };
    let next = shipment.next_step()?;
    tell(context, &shipped, exit, preflight.branch.as_deref().unwrap_or_default(), &next);
    Ok(exit)
}

fn tell_plan(work: &CompletedWork, context: &Context, preflight: &Preflight) {
    if context.json {
        let plan = json!({
            "dry_run": true, "config": work.config(), "preflight": preflight.object(),
            "message": work.message.whole(), "errors": preflight.errors,
        });
        println!("{plan:#}");
        return;
    }
    println!("branch   {}", work.names.branch);
    println!("commits  {} since the run began", preflight.commits);
    for path in &preflight.files {
        println!("commit   {}", sanitise(&path.to_string_lossy()));
    }
    for path in &preflight.unrelated {
        println!("leave    {}", sanitise(&path.to_string_lossy()));
    }
    for line in work.message.whole().lines() {
        println!("  | {}", sanitise(line));
    }
    for error in &preflight.errors {
        println!("not met  {}", sanitise(error));
    }
    println!("nothing was changed");
}

fn tell(context: &Context, shipped: &Shipped, exit: u8, before: &str, next: &str) {
    if context.json {
        println!("{:#}", shipped.object());
        return;
    }
    for warning in &shipped.warnings {
        eprintln!("warning: {}", sanitise(warning));
    }
    for error in &shipped.errors {
        eprintln!("loop: {}", sanitise(error));
    }
    if let (1, Some(branch), Some(commit)) = (exit, &shipped.branch, &shipped.commit) {
        eprintln!("committed on {branch}: {}", commit.get(..7).unwrap_or(commit));
    }
    if exit == 4 {
        eprintln!("nothing was changed; fix what is listed above first");
        eprintln!("{}", hint::next(next));
    }
    if exit == 1 {
        eprintln!("{}", hint::next(next));
    }
    if let (0, Some(branch), Some(commit)) = (exit, &shipped.branch, &shipped.commit) {
        println!("{branch} at {}", commit.get(..7).unwrap_or(commit));
        if let Some(url) = &shipped.url {
            println!("{}", sanitise(url));
        }
        if !before.is_empty() && before != branch {
            println!("{}", hint::next(&format!("git switch {before}")));
        }
    }
}
