//! The files that belong to a run rather than to its work: they are never counted as changes.

use loop_core::engine::State;
use loop_core::workflow::model::Workflow;
use loop_store::mirror::{self, planning};
use loop_store::run::Run;
use std::path::{Path, PathBuf};

/// Returns the patterns of what a run in this place leaves out of its status.
pub(crate) fn own_paths(place: &Path, document: Option<&Path>, workflow: &Workflow) -> Vec<String> {
    let named = [".loop/", ".claude-task-state.json", ".prp-session/", ".worktrees/", planning::NAME];
    let mut ours: Vec<String> = named.map(str::to_owned).to_vec();
    let mut designs = vec!["DESIGN-????????-??????*.md".to_owned()];
    if let Some(path) = document.and_then(|it| it.strip_prefix(place).ok()) {
        designs.push(globset::escape(&path.to_string_lossy()));
    }
    // A killed controller can leave one half written.
    ours.extend(designs.iter().map(|it| format!("{it}.tmp")));
    ours.extend(designs);
    ours.extend(mirror::folder_inside(workflow, place).map(|it| globset::escape(&it)));
    ours
}

/// The same for a run that exists.
pub(crate) fn of_run(place: &Path, run: &Run) -> Vec<String> {
    of_state(place, &run.workflow, &run.state)
}

/// The same for a run that somebody else may hold.
pub(crate) fn of_state(place: &Path, workflow: &Workflow, state: &State) -> Vec<String> {
    let document = state.opening.path.as_ref().map(PathBuf::from);
    own_paths(place, document.as_deref(), workflow)
}
