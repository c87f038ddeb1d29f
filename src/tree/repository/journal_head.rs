//! The head of a run's journal, kept in the repository that the run works on: whoever puts back an older
//! copy of the home, or rewrites its history, has to change this ref as well. It is a small blob
//! under `refs/loop/journal/<run>`, written whenever a run stops and compared when it continues.
//! Somebody who rewrites both is found only by a record or a signature that is kept elsewhere.

use super::git::{Git, GitError};
use std::collections::BTreeSet;

/// Two numbers and a hash; a longer line is not ours.
const TEXT_MOST: usize = 256;

/// Keeps the head.
pub(crate) fn keep(git: &Git, run: &str, head: &str) -> Result<(), GitError> {
    let blob = git.feed(["hash-object", "-w", "--stdin"], head.as_bytes())?;
    let blob = String::from_utf8_lossy(&blob).trim().to_owned();
    let order = format!("update {} {blob}\n", name(run));
    git.feed(["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"], order.as_bytes())?;
    Ok(())
}

/// Returns the head that was kept, where there is one.
pub(crate) fn kept(git: &Git, run: &str) -> Result<Option<String>, GitError> {
    let found = git.feed(["cat-file", "--batch"], format!("{}\n", name(run)).as_bytes())?;
    let found = String::from_utf8_lossy(&found[..found.len().min(TEXT_MOST * 2)]).into_owned();
    let Some((first, text)) = found.split_once('\n') else { return Ok(Some(String::new())) };
    match first.split(' ').collect::<Vec<_>>()[..] {
        [_, "missing"] => Ok(None),
        // The line is followed by another end of line.
        [_, "blob", _] => Ok(Some(text.strip_suffix('\n').unwrap_or(text).to_owned())),
        _ => Ok(Some(String::new())),
    }
}

/// Returns the runs that this repository remembers.
pub(crate) fn runs(git: &Git) -> Result<Vec<String>, GitError> {
    let found = git.run(["for-each-ref", "--format=%(refname)", FOLDER])?;
    let found = String::from_utf8_lossy(&found).into_owned();
    Ok(found.lines().filter_map(|it| it.strip_prefix(FOLDER)).map(str::to_owned).collect())
}

/// Returns the runs that have a ref of any kind here: those that never stopped, too.
pub(crate) fn every_run(git: &Git) -> Result<BTreeSet<String>, GitError> {
    let found = git.run(["for-each-ref", "--format=%(refname)", "refs/loop/"])?;
    let found = String::from_utf8_lossy(&found).into_owned();
    Ok(found.lines().filter_map(|it| it.split('/').nth(3)).map(str::to_owned).collect())
}

const FOLDER: &str = "refs/loop/journal/";

fn name(run: &str) -> String {
    format!("{FOLDER}{run}")
}
