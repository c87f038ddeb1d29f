//! `loop verify`: whether a run's journal is whole, whether a record holds, and a copy of the home's
//! database. Every event carries the hash of the one before.

use crate::cli::{Context, json};
use crate::desk::{self, KeptHead, RecordRequest, Refusal};
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_store::JournalVerdict;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct VerifyFlags {
    /// The record of a completed run, from here or from another machine
    #[arg(value_name = "RECORD")]
    record: Option<PathBuf>,
    /// Run the checks that the record names again, in a clean checkout of its tree
    #[arg(long, requires = "record")]
    rerun: bool,
    /// File of allowed signers that may have signed the record
    #[arg(long, value_name = "FILE", requires = "record")]
    signers: Option<PathBuf>,
    /// Copy the database to this file, also while runs are active; never overwrites
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    backup: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, flags: &VerifyFlags) -> anyhow::Result<u8> {
    if let Some(file) = &flags.record {
        return record(context, flags, file);
    }
    let Some(home) = context.caller.existing_home()? else { return Err(Refusal::no_run()) };
    if let Some(file) = &flags.backup {
        home.backup(&context.caller.dir.join(file))?;
        if context.json {
            println!("{}", serde_json::json!({ "backup": context.caller.dir.join(file).to_string_lossy() }));
            return Ok(0);
        }
        println!("copied; to restore it, put it in place of loop.db in {}", home.path().display());
        return Ok(0);
    }
    home.refuse_missing_runs()?;
    let Some(row) = context.caller.find(&home)? else {
        desk::refuse_misplaced(&context.caller.project()?, &home)?;
        return Err(Refusal::no_run());
    };
    let damaged = |what: &str| {
        if context.json {
            let what = what.trim_start_matches([':', ',', ' ']);
            println!("{}", json::line(&serde_json::json!({ "run": row.id, "whole": false, "fault": what })));
        }
        eprintln!("loop: run {} is damaged{}", &row.id[..8], sanitise(what));
        eprintln!("help: restore a backup of the home, or start over with loop run --fresh");
        Ok(8)
    };
    match home.verify(&row.id)? {
        JournalVerdict::Whole { events } => {
            if let Some(what) = loop_store::derived::derived_fault(&home, &row.id)? {
                return damaged(&format!(": {what}"));
            }
            let kept = desk::match_kept_head(&home, &row.id, Path::new(&row.place))?;
            if let Some(fault) = home.faults()?.first() {
                return damaged(&format!(", as is all of {}: {fault}", home.path().display()));
            }
            if kept == KeptHead::Deleted {
                if context.json {
                    let fault = desk::deleted_head(&row.id);
                    println!(
                        "{}",
                        json::line(&serde_json::json!({ "run": row.id, "whole": false, "fault": fault }))
                    );
                }
                eprintln!("loop: run {}: {}", &row.id[..8], desk::deleted_head(&row.id));
                eprintln!(
                    "help: the run keeps it again when it stops; until then an older copy would not be noticed"
                );
                return Ok(8);
            }
            let witnesses =
                [("folder", home.is_anchored(&row.id)?), ("repository", kept == KeptHead::Matches)];
            if context.json {
                let behind: Vec<&str> = witnesses.iter().filter(|it| !it.1).map(|it| it.0).collect();
                let object = serde_json::json!({
                    "run": row.id, "whole": true, "events": events, "without_last_event": behind,
                });
                println!("{}", json::line(&object));
                return Ok(0);
            }
            println!("run {} is complete and unchanged: {}", &row.id[..8], counted(events, "event"));
            for (witness, _) in witnesses.iter().filter(|it| !it.1) {
                println!(
                    "its {witness} has no note of the last event, so it would not show that an older copy was put back"
                );
            }
            Ok(0)
        }
        JournalVerdict::Broken { seq, what } => damaged(&format!(" at event {seq}: {what}")),
    }
}

/// Checks a record, which needs no home.
fn record(context: &Context, flags: &VerifyFlags, file: &Path) -> anyhow::Result<u8> {
    let request = RecordRequest {
        file: file.to_owned(),
        signers: flags.signers.clone(),
        rerun: flags.rerun,
        scratch: std::env::temp_dir(),
    };
    let lines = desk::verify_record(&context.caller, &request)?;
    if context.json {
        println!("{}", json::line(&serde_json::json!({ "valid": true, "found": lines })));
        return Ok(0);
    }
    lines.iter().for_each(|it| println!("{}", sanitise(it)));
    println!("the record is valid");
    Ok(0)
}
