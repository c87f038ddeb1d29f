//! Which tasks another controller had done, by the table of progress in its state file: a row counts where it
//! says so and its commit is part of the history of this tree.

use crate::tree::git::Git;
use loop_core::documents::planning::phase::PlannedPhase;
use loop_store::mirror::planning::import::DoneRow;
use std::path::Path;

/// Returns the ids of the tasks that these rows are about.
pub(super) fn done(project: &Path, phase: &PlannedPhase, rows: &[DoneRow]) -> Vec<String> {
    let Ok(git) = Git::around(project) else { return Vec::new() };
    let is_here = |commit: &str| git.run(["merge-base", "--is-ancestor", commit, "HEAD"]).is_ok();
    let found = rows.iter().filter(|it| is_here(&it.commit));
    found.filter_map(|it| phase.task_named(&it.plan, &it.task)).collect()
}
