//! What the repository remembers of a run's journal: written when the run stops, compared when it
//! continues and when somebody asks.

use crate::tree::git::{Git, GitError};
use crate::tree::{journal_head, worktree};
use loop_base::files::ours;
use loop_store::run::Run;
use loop_store::{Home, StoreError};
use std::path::Path;

/// What a repository remembers of a run's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptHead {
    /// The journal as it is, or as it was when the run stopped last.
    Matches,
    /// Nothing was ever kept there, or the repository cannot be read.
    None,
    /// It was kept, and somebody has deleted the ref.
    Deleted,
}

/// Stands in the run's folder once the repository remembers the journal.
const NOTE: &str = "kept-in-repository";

/// The repository of a working tree; that of a worktree which was removed is the one of the tree around it.
fn repository(place: &Path) -> Result<Git, GitError> {
    let around = place.parent().filter(|it| it.ends_with(worktree::FOLDER)).and_then(Path::parent);
    match around.filter(|_| !place.exists()) {
        Some(root) => Git::reopen(root),
        None => Git::reopen(place),
    }
}

/// Compares the recent events with each other, and the journal with what the repository remembers of it, where
/// that can be read.
pub(crate) fn match_kept_head(home: &Home, run: &str, place: &Path) -> anyhow::Result<KeptHead> {
    home.match_recent_events(run)?;
    let Ok(git) = repository(place) else { return Ok(KeptHead::None) };
    match journal_head::kept(&git, run) {
        Ok(Some(kept)) => Ok(home.match_head(run, &kept).map(|()| KeptHead::Matches)?),
        Ok(None) if home.folder(run).join(NOTE).exists() => Ok(KeptHead::Deleted),
        Ok(None) | Err(_) => Ok(KeptHead::None),
    }
}

/// Says that the ref was deleted.
pub(crate) fn deleted_head(run: &str) -> String {
    format!(
        "refs/loop/journal/{run} was deleted from the repository, which kept the end of the journal there"
    )
}

/// Lets the repository remember where the journal ends. A repository that cannot be written, or is
/// gone, only remembers less.
pub(crate) fn keep_head(run: &Run, place: &Path) {
    let Some(head) = run.head() else { return };
    let kept = repository(place).and_then(|git| journal_head::keep(&git, &run.id, &head));
    match kept {
        Err(error) => {
            tracing::warn!(run = %run.id, %error, "the head of the journal could not be kept in the repository");
        }
        Ok(()) => {
            let note = run.folder().join(NOTE);
            let _a_deleted_ref_is_not_named = ours().write(true).create(true).truncate(false).open(note);
        }
    }
}

/// Refuses where somebody hid a run of this repository: deleted it from the list, or changed by what a run is found. It
/// may be newer than the run that is about to be called done. Those of other repositories are no reason.
pub(crate) fn refuse_hidden_runs(home: &Home, place: &Path) -> anyhow::Result<()> {
    let Ok(remembered) = repository(place).and_then(|git| journal_head::every_run(&git)) else {
        return Ok(());
    };
    let missing = home.missing_runs()?;
    if let Some(id) = missing.iter().find(|it| remembered.contains(*it)) {
        return Ok(home.refuse_missing(id)?);
    }
    for run in &remembered {
        home.match_opening(run)?;
    }
    Ok(())
}

/// A run that the repository remembers, and that the home lists under another project, was moved there
/// by somebody: nothing of ours does that.
pub(crate) fn refuse_misplaced(project: &Path, home: &Home) -> anyhow::Result<()> {
    let Ok(git) = Git::around(project) else { return Ok(()) };
    for run in journal_head::runs(&git).unwrap_or_default() {
        if let Some(row) = home.run(&run)?.filter(|it| Path::new(&it.project) != project) {
            let what = format!("run {run}: the list says project {:?}, its repository is here", row.project);
            return Err(StoreError::Damaged { path: home.path().to_owned(), what }.into());
        }
    }
    Ok(())
}
