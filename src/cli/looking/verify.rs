//! `loop verify`: whether a run's journal is whole, and a copy of the home's database. Every event
//! carries the hash of the one before.

use crate::cli::Context;
use crate::desk::Refusal;
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_store::Verdict;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Flags {
    /// Copy the database to this file while runs go on; it is never overwritten
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return Err(Refusal::no_run()) };
    if let Some(file) = &flags.backup {
        home.backup(&context.caller.dir.join(file))?;
        println!("copied; to restore it, put it in place of loop.db in {}", home.path().display());
        return Ok(0);
    }
    let Some(row) = context.caller.find(&home)? else { return Err(Refusal::no_run()) };
    match home.verify(&row.id)? {
        Verdict::Whole { events } => {
            if let Some(what) = loop_store::run::derived_fault(&home, &row.id)? {
                eprintln!("loop: run {} is damaged: {}", &row.id[..8], sanitise(&what));
                eprintln!("next: restore a backup of the home, or begin anew with loop run --fresh");
                return Ok(8);
            }
            println!("run {} is whole: {}", &row.id[..8], counted(events, "event"));
            Ok(0)
        }
        Verdict::Broken { seq, what } => {
            eprintln!("loop: run {} is damaged at event {seq}: {what}", &row.id[..8]);
            eprintln!("next: restore a backup of the home, or begin anew with loop run --fresh");
            Ok(8)
        }
    }
}
