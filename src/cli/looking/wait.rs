//! `loop wait`: until a run finishes or needs a person. While a session of an agent has the work,
//! that is until the proof that runs beside it has ended.

use crate::cli::hint::next_step;
use crate::cli::{Context, json};
use crate::desk::{self, Refusal, load, refuse_hidden_runs};
use crate::measure::proof;
use crate::tree::git::Git;
use crate::world::wait::Signals;
use loop_base::text::sanitise;
use loop_core::engine::Status;
use loop_store::{Home, Row};
use loop_supervise::follow::Watch;
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(context: &Context) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return Err(Refusal::no_run()) };
    let Some(row) = context.caller.find(&home)? else { return Err(Refusal::no_run()) };
    let mut signals = Signals::listen()?;
    while let Some(pid) = busy(&home, &row)? {
        let Some(watch) = Watch::of(home.path(), pid)? else { continue };
        // A detached controller stays for the answer, which may never come.
        if load(&home, &row)?.1.question().is_some() {
            break;
        }
        if let Some(signal) = watch.wait(&mut signals, None, Duration::MAX)?.signal {
            return Ok(128 + u8::try_from(signal).unwrap_or(0));
        }
    }
    let (workflow, state) = load(&home, &row)?;
    let status = Status::of(&state);
    if status.is_closed() {
        refuse_hidden_runs(&home, Path::new(&row.place))?;
    }
    // The session finds what came of the proof when it stops again; everybody else is told how the run stands.
    let exit = if desk::stops_again(&context.caller, &state) { 0 } else { status.exit() };
    // Waiting once more would end as it did here.
    let next = next_step(&home, &row.id, &workflow, &state)?.replacen("loop wait", "loop status", 1);
    let reason = state.reason(&workflow);
    if context.json {
        let object = serde_json::json!({
            "status": status.word(), "reason": reason, "next_step": next, "exit": exit,
        });
        println!("{}", json::line(&object));
    } else {
        println!("{}: {}", status.word(), sanitise(&reason));
        println!("next: {}", sanitise(&next));
    }
    Ok(exit)
}

/// Returns the process that a wait is for: who drives the run, or the prover beside its session.
fn busy(home: &Home, row: &Row) -> anyhow::Result<Option<i32>> {
    if let Some(holder) = home.holder(&row.id) {
        return Ok(Some(holder.pid));
    }
    let (_, state) = load(home, row)?;
    if state.session.is_none() || !Path::new(&row.place).is_dir() {
        return Ok(None);
    }
    Ok(proof::occupant(home.path(), &Git::open(Path::new(&row.place))?)?)
}
