//! `loop restore`: the snapshots of a run's working tree, and bringing one back. Nothing that is
//! not in the snapshot is deleted, and the state before is kept first.

use crate::cli::looking::log::nothing;
use crate::cli::values;
use crate::cli::{Context, json};
use crate::desk::{self, GuardedCommand, Refusal, load, refuse_agents};
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::tree::snapshot::{self, Snapshot};
use crate::tree::working_tree::WorkingTree;
use crate::tree::worktree;
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_base::time::Timestamp;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct RestoreFlags {
    /// The snapshot's number (default: list them)
    #[arg(value_parser = values::large_count)]
    number: Option<u64>,
    /// List the files that would be written, and write nothing
    #[arg(long, requires = "number")]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, flags: &RestoreFlags) -> anyhow::Result<u8> {
    let changes_files = flags.number.is_some() && !flags.dry_run;
    if changes_files {
        refuse_agents(&context.caller, None, GuardedCommand::Restore)?;
    }
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    if let Some(holder) = home.holder(&row.id).filter(|_| changes_files) {
        return Err(Refusal {
            text: format!("run {} is in use by pid {}", &row.id[..8], holder.pid),
            next: Some("loop stop".into()),
            exit: 7,
        }
        .into());
    }
    let place = Path::new(&row.place);
    let opening = load(&home, &row)?.1.opening;
    let plan = opening.worktree.as_ref();
    let seat = plan.map_or(Ok(()), |it| worktree::verify(it));
    let (git, view) = match (seat, plan, flags.number) {
        (Ok(()), _, _) => {
            desk::refuse_lost_repository(place)?;
            // Whoever only looks has an index of its own: the run may be measuring with the other one.
            (Git::open(place)?, if changes_files { "git" } else { "git-restore" })
        }
        // What was kept can be listed wherever the repository is.
        (Err(_), Some(plan), None) => (Git::open(Path::new(&plan.root))?, "git-before"),
        (Err(error), _, _) => return Err(error.into()),
    };
    let git = git.looking_with(opening.git_programs());
    let mut tree = WorkingTree::watch(&git, &home.folder(&row.id).join(view), Ours::read::<&str>(&[])?)?;
    let snapshots = snapshot::list(&tree.pinned, &row.id)?;
    let Some(number) = flags.number else {
        return list(context, &tree, &row.id, &snapshots);
    };
    let Some(wanted) = snapshots.iter().find(|it| it.number == number) else {
        return Err(Refusal::usage(format!("there is no snapshot {number}"), "loop restore"));
    };
    if flags.dry_run {
        let (written, kept_out) = snapshot::would_restore(&mut tree, wanted)?;
        if context.json {
            return told_as_json(&tree, wanted, &written, &kept_out, None);
        }
        written.iter().for_each(|it| println!("{}", sanitise(&it.to_string_lossy())));
        tell_kept_out(&tree, wanted, &kept_out)?;
        eprintln!("{} would be restored", counted(written.len(), "file"));
        return Ok(0);
    }
    let restored = snapshot::restore(&mut tree, &row.id, wanted)?;
    if context.json {
        let saved = Some(restored.before.name.as_str());
        return told_as_json(&tree, wanted, &restored.written, &restored.kept_out, saved);
    }
    for path in &restored.written {
        println!("{}", sanitise(&path.to_string_lossy()));
    }
    tell_kept_out(&tree, wanted, &restored.kept_out)?;
    eprintln!(
        "{} restored; the state before is saved as {}",
        counted(restored.written.len(), "file"),
        restored.before.name
    );
    Ok(0)
}

fn list(context: &Context, tree: &WorkingTree, run: &str, snapshots: &[Snapshot]) -> anyhow::Result<u8> {
    let mut objects = Vec::new();
    for it in snapshots {
        let (taken_at, left_out) =
            (Timestamp(it.taken_at * 1000).to_string(), snapshot::left_out(&tree.pinned, it)?);
        if context.json {
            objects.push(serde_json::json!({
                "number": it.number, "taken_at": taken_at, "ref": it.name, "left_out": left_out,
            }));
            continue;
        }
        println!("{:>4}  {taken_at}  {}", it.number, it.name);
        left_out.iter().for_each(|it| println!("      without {}", sanitise(it)));
    }
    if context.json {
        println!("{}", json::line(&objects));
    } else if snapshots.is_empty() {
        println!("no snapshots of run {}", &run[..8]);
    }
    Ok(0)
}

/// Prints for a program what was or would be restored, and where the state before was saved.
fn told_as_json(
    tree: &WorkingTree,
    wanted: &Snapshot,
    written: &[PathBuf],
    kept_out: &[PathBuf],
    saved: Option<&str>,
) -> anyhow::Result<u8> {
    let named = |paths: &[PathBuf]| -> Vec<String> {
        paths.iter().map(|it| it.to_string_lossy().into_owned()).collect()
    };
    let object = serde_json::json!({
        "number": wanted.number, "files": named(written), "not_restored": named(kept_out),
        "left_out": snapshot::left_out(&tree.pinned, wanted)?, "saved_as": saved,
    });
    println!("{}", json::line(&object));
    Ok(0)
}

fn tell_kept_out(tree: &WorkingTree, wanted: &Snapshot, kept_out: &[PathBuf]) -> anyhow::Result<()> {
    for left_out in snapshot::left_out(&tree.pinned, wanted)? {
        eprintln!("not part of the snapshot: {}", sanitise(&left_out));
    }
    for path in kept_out {
        eprintln!("not restored, something else is in its place: {}", sanitise(&path.to_string_lossy()));
    }
    Ok(())
}
