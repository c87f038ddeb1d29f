//! `loop restore`: the snapshots of a run's working tree, and bringing one back. Nothing that is
//! not in the snapshot is deleted, and the state before is kept first.

use crate::cli::Context;
use crate::cli::looking::log::nothing;
use crate::desk::{self, GuardedCommand, Refusal, load, refuse_agents};
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::tree::working_tree::WorkingTree;
use crate::tree::{snapshot, worktree};
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_base::time::Timestamp;
use std::path::Path;

#[derive(Args)]
pub(crate) struct RestoreFlags {
    /// The snapshot's number (default: list them)
    number: Option<u64>,
}

pub(crate) fn run(context: &Context, flags: &RestoreFlags) -> anyhow::Result<u8> {
    if flags.number.is_some() {
        refuse_agents(&context.caller, None, GuardedCommand::Restore)?;
    }
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    if home.holder(&row.id).is_some() && flags.number.is_some() {
        return Err(Refusal {
            text: "the run is being driven".to_owned(),
            next: Some("loop stop".into()),
            exit: 7,
        }
        .into());
    }
    let place = Path::new(&row.place);
    let plan = load(&home, &row)?.1.opening.worktree;
    let seat = plan.as_ref().map_or(Ok(()), |it| worktree::verify(it));
    let (git, books) = match (seat, &plan, flags.number) {
        (Ok(()), _, _) => {
            desk::refuse_lost_repository(place)?;
            (Git::open(place)?, "git")
        }
        // What was kept can be listed wherever the repository is.
        (Err(_), Some(plan), None) => (Git::open(Path::new(&plan.root))?, "git-before"),
        (Err(error), _, _) => return Err(error.into()),
    };
    let mut tree = WorkingTree::watch(&git, &home.folder(&row.id).join(books), Ours::read::<&str>(&[])?)?;
    let snapshots = snapshot::list(&tree.pinned, &row.id)?;
    let Some(number) = flags.number else {
        if snapshots.is_empty() {
            println!("no snapshots of run {}", &row.id[..8]);
        }
        for it in &snapshots {
            println!("{:>4}  {}  {}", it.number, Timestamp(it.taken_at * 1000), it.name);
            for left_out in snapshot::left_out(&tree.pinned, it)? {
                println!("      without {}", sanitise(&left_out));
            }
        }
        return Ok(0);
    };
    let Some(wanted) = snapshots.iter().find(|it| it.number == number) else {
        return Err(Refusal::usage(format!("there is no snapshot {number}"), "loop restore"));
    };
    let restored = snapshot::restore(&mut tree, &row.id, wanted)?;
    for path in &restored.written {
        println!("{}", sanitise(&path.to_string_lossy()));
    }
    for left_out in snapshot::left_out(&tree.pinned, wanted)? {
        eprintln!("not part of the snapshot: {}", sanitise(&left_out));
    }
    for path in &restored.kept_out {
        eprintln!("not written, something else is in its place: {}", sanitise(&path.to_string_lossy()));
    }
    eprintln!(
        "{} brought back; the state before is kept as {}",
        counted(restored.written.len(), "file"),
        restored.before.name
    );
    Ok(0)
}
