//! What a call and the whole run changed, compared once and held uncut. Facts, deliverables and
//! report files are all answered from here, so they cannot disagree, and the number of changed files
//! decides nothing: whoever shows the list cuts it there.

use super::uncommitted;
use crate::tree::changes::{self, Change, ChangeKind};
use crate::tree::git::GitError;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use globset::{GlobBuilder, GlobMatcher};
use loop_core::engine::State;
use std::path::{Path, PathBuf};

/// Every path that differs, for the two spans that are asked about.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Since the run began.
    pub(crate) run: Vec<Change>,
    /// Since the call began.
    pub(crate) call: Vec<Change>,
    /// Since the work on the current item began, where the phase is done once for each item.
    pub(crate) item: Option<Vec<Change>>,
    /// Uncommitted now, and not when the run began.
    pub(crate) uncommitted: Vec<PathBuf>,
}

impl Differences {
    /// Compares a status with the run's beginning and with the tree before the call; where that one
    /// is unknown, with what the last measurement saw.
    pub(crate) fn between(
        tree: &WorkingTree,
        status: &TreeStatus,
        state: &State,
        before_call: Option<&str>,
        is_of_item: bool,
    ) -> Result<Differences, GitError> {
        let base = state.baseline.as_ref().map_or("", |it| it.facts.tree.as_str());
        let before_call = before_call.unwrap_or(&state.seen.tree);
        let run = since(tree, base, status)?;
        let call = if before_call == base { run.clone() } else { since(tree, before_call, status)? };
        let began = state.item_began.as_ref().filter(|it| is_of_item && !it.tree.is_empty());
        let began = began.filter(|began| state.item.as_ref().is_some_and(|it| it.id == began.item));
        let item = began.map(|it| since(tree, &it.tree, status)).transpose()?;
        let uncommitted = uncommitted::since_beginning(tree, status, state, &run)?;
        Ok(Differences { run, call, item, uncommitted })
    }

    /// Deliverables that do not exist, hold nothing, or whose text was not written in this run (for the current item, in
    /// a phase that is done once for each), each with what is wrong with a file that is there. A link does not count as
    /// one: what it leads to may be anybody's.
    pub(crate) fn missing(&self, place: &Path, deliverables: &[String]) -> Vec<String> {
        deliverables.iter().filter_map(|it| self.lacks(place, it)).collect()
    }

    fn lacks(&self, place: &Path, pattern: &str) -> Option<String> {
        let glob = globset::Glob::new(pattern).ok().map(|it| it.compile_matcher());
        let is_named = |it: &&Change| glob.as_ref().is_some_and(|glob| glob.is_match(&it.path));
        let mut wrong = None;
        let unchanged = if self.item.is_some() { UNCHANGED_FOR_ITEM } else { UNCHANGED };
        for change in present(self.item.as_ref().unwrap_or(&self.run)).filter(is_named) {
            wrong = Some(fault(&place.join(&change.path), change.mode_only, unchanged)?);
        }
        let is_old = || place.join(pattern).is_file().then_some(unchanged);
        Some(match wrong.or_else(is_old) {
            Some(why) => format!("{pattern} ({why})"),
            None => pattern.to_owned(),
        })
    }
}

const UNCHANGED: &str = "not changed by this run";

/// The work on an item before this one may have left it.
const UNCHANGED_FOR_ITEM: &str = "not changed since this item was begun";

/// A document that people read; a larger one is taken to say something.
const TEXT_MOST: usize = 4 << 20;

/// What keeps a file from being a deliverable.
fn fault(path: &Path, mode_only: bool, unchanged: &'static str) -> Option<&'static str> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Some("a link"),
        Ok(found) if !found.is_file() => Some("no file"),
        Err(_) => Some("gone"),
        Ok(_) => {
            let text = loop_base::files::read(path, TEXT_MOST);
            let is_blank = text.is_ok_and(|it| it.iter().all(u8::is_ascii_whitespace));
            is_blank.then_some("empty").or(mode_only.then_some(unchanged))
        }
    }
}

/// What changed from a tree to a status; nothing from a tree that is not known.
pub(crate) fn since(tree: &WorkingTree, from: &str, status: &TreeStatus) -> Result<Vec<Change>, GitError> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    changes::changes(&tree.pinned, from, &status.tree)
}

/// The changes that left something behind.
pub(crate) fn present(changes: &[Change]) -> impl Iterator<Item = &Change> {
    changes.iter().filter(|it| it.kind != ChangeKind::Deleted)
}

/// A pattern whose star does not cross a slash.
pub(crate) fn glob(pattern: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(pattern).literal_separator(true).build().ok().map(|it| it.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::{Change, ChangeKind, Differences};

    #[test]
    fn or37_a_deliverable_is_a_file_with_a_text_that_this_run_wrote() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = ["good.md", "blank.md", "mode.md", "link.md", "old.md"];
        for (name, text) in names.iter().zip(["text", " \n\n", "text", "", "text"]) {
            match *name {
                "link.md" => std::os::unix::fs::symlink("good.md", folder.path().join(name)).expect("a link"),
                _ => std::fs::write(folder.path().join(name), text).expect("a file"),
            }
        }
        let change = |name: &&str| Change {
            path: name.into(),
            kind: ChangeKind::Modified,
            submodule: false,
            mode_only: *name == "mode.md",
        };
        let run = names.iter().filter(|it| **it != "old.md").map(change).collect();
        let differences = Differences { run, ..Differences::default() };
        let asked: Vec<String> = names.iter().chain(&["none.md"]).map(|it| (*it).to_owned()).collect();
        let missing = differences.missing(folder.path(), &asked);
        let expected = [
            "blank.md (empty)",
            "mode.md (not changed by this run)",
            "link.md (a link)",
            "old.md (not changed by this run)",
            "none.md",
        ];
        assert_eq!(missing, expected);
    }
}
