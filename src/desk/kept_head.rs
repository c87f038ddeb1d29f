//! What the repository remembers of a run's journal: written when the run stops, compared when it
//! continues and when somebody asks.

use super::caller::Caller;
use crate::tree::git::Git;
use crate::tree::journal_head;
use loop_store::run::Run;
use loop_store::{Home, StoreError};
use std::path::Path;

/// Compares the journal with what the repository remembers of it, where that can be read. Says whether
/// there was something to compare it with.
pub(crate) fn match_kept_head(home: &Home, run: &str, place: &Path) -> anyhow::Result<bool> {
    let kept = Git::open(place).ok().and_then(|git| journal_head::kept(&git, run).ok().flatten());
    match kept {
        Some(kept) => Ok(home.match_head(run, &kept).map(|()| true)?),
        None => Ok(false),
    }
}

/// Lets the repository remember where the journal ends. A repository that cannot be written, or is
/// gone, only remembers less.
pub(crate) fn keep_head(run: &Run, place: &Path) {
    let Some(head) = run.head() else { return };
    let kept = Git::open(place).and_then(|git| journal_head::keep(&git, &run.id, &head));
    if let Err(error) = kept {
        tracing::warn!(run = %run.id, %error, "the head of the journal could not be kept in the repository");
    }
}

/// A run that the repository remembers, and that the home lists under another project, was moved there
/// by somebody: nothing of ours does that.
pub(crate) fn refuse_misplaced(caller: &Caller, home: &Home) -> anyhow::Result<()> {
    let project = caller.project()?;
    let Ok(git) = Git::around(&project) else { return Ok(()) };
    for run in journal_head::runs(&git).unwrap_or_default() {
        if let Some(row) = home.run(&run)?.filter(|it| Path::new(&it.project) != project) {
            let what = format!("run {run}: the list says project {:?}, its repository is here", row.project);
            return Err(StoreError::Damaged { path: home.path().to_owned(), what }.into());
        }
    }
    Ok(())
}
