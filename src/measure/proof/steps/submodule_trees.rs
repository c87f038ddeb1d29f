//! Files of submodules, as if they were files of the tree that names them. A test that lies in a submodule is
//! a test, so a proof must know its original text; the objects are in the module folders of the repository.

use crate::measure::proof::checkout::clean_checkout::module_objects;
use crate::measure::proof::checkout::objects::{ListedTree, refuse_forged_trees};
use crate::measure::proof::pure::TreeChange;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::single_line;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Mode and object of every path of a tree.
pub(super) type TreeEntries = BTreeMap<String, (u32, String)>;

/// The mode of a submodule, which has no blob.
pub(super) const SUBMODULE: u32 = 0o160000;

/// Submodules inside submodules are rarely two deep.
const DEPTH_MOST: usize = 8;

/// Submodules of both trees.
pub(super) struct Submodules {
    /// The repository with the objects of its submodules.
    pub(super) git: Git,
    /// Where they lie, each ended by a slash.
    pub(super) folders: BTreeSet<String>,
    objects: BTreeSet<PathBuf>,
}

impl Submodules {
    pub(super) fn none(git: &Git) -> Submodules {
        Submodules { git: git.clone(), folders: BTreeSet::new(), objects: BTreeSet::new() }
    }

    /// Tells whether a path lies in a submodule.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.folders.iter().any(|it| path.starts_with(it.as_str()))
    }

    /// Adds the files of all submodules to the entries of a tree. One whose commit is not here stays empty,
    /// as it does in every checkout.
    pub(super) fn expand(&mut self, repository: &Git, entries: &mut TreeEntries) -> Result<(), GitError> {
        let links = |entries: &TreeEntries| -> Vec<(String, String)> {
            let links = entries.iter().filter(|(_, (mode, _))| *mode == SUBMODULE);
            links.map(|(path, (_, id))| (path.clone(), id.clone())).collect()
        };
        let mut open = links(entries);
        for _ in 0..DEPTH_MOST {
            let mut next = Vec::new();
            for (path, commit) in open {
                let Some(objects) = module_objects(repository, Path::new(&path), &commit) else { continue };
                if self.objects.insert(objects) {
                    let all: Vec<&str> = self.objects.iter().filter_map(|it| it.to_str()).collect();
                    let all = OsString::from(all.join(":"));
                    self.git = repository.with(vec![("GIT_ALTERNATE_OBJECT_DIRECTORIES", all)]);
                }
                let tree = single_line(&self.git.run(["rev-parse", &format!("{commit}^{{tree}}")])?);
                let inside = entries_of(&self.git, &[&tree])?;
                self.folders.insert(format!("{path}/"));
                let inside: TreeEntries = inside
                    .into_iter()
                    .flatten()
                    .map(|(name, entry)| (format!("{path}/{name}"), entry))
                    .collect();
                next.extend(links(&inside));
                entries.extend(inside);
            }
            if next.is_empty() {
                break;
            }
            open = next;
        }
        Ok(())
    }
}

/// Returns what differs at the paths that count.
pub(super) fn tree_changes(
    base: &TreeEntries,
    last: &TreeEntries,
    counts: impl Fn(&str) -> bool,
) -> Vec<TreeChange> {
    let paths: BTreeSet<&String> = base.keys().chain(last.keys()).filter(|it| counts(it)).collect();
    let mode = |side: &TreeEntries, path: &str| side.get(path).map(|it| it.0);
    let differing = paths.into_iter().filter(|it| base.get(*it) != last.get(*it));
    let change =
        |it: &String| TreeChange { path: it.clone(), base_mode: mode(base, it), final_mode: mode(last, it) };
    differing.map(change).collect()
}

/// Lists trees, whose ids are computed again from what is listed.
pub(super) fn entries_of(git: &Git, trees: &[&str]) -> Result<Vec<TreeEntries>, GitError> {
    let list = |tree: &&str| git.run(["ls-tree", "-r", "-t", "-z", tree]);
    let listings: Vec<Vec<u8>> = trees.iter().map(list).collect::<Result<_, _>>()?;
    let listed = trees.iter().zip(&listings).map(|(id, listing)| ListedTree { id, listing });
    refuse_forged_trees(git, &listed.collect::<Vec<_>>())?;
    Ok(listings.iter().map(|it| it.split(|it| *it == 0).filter_map(entry).collect()).collect())
}

/// Returns the path of a file, its mode and its object.
fn entry(line: &[u8]) -> Option<(String, (u32, String))> {
    let line = String::from_utf8_lossy(line).into_owned();
    let (head, path) = line.split_once('\t')?;
    let mut words = head.split(' ');
    let mode = u32::from_str_radix(words.next()?, 8).ok()?;
    let is_folder = words.next()? == "tree";
    let entry = (path.to_owned(), (mode, words.next()?.to_owned()));
    (!is_folder).then_some(entry)
}
