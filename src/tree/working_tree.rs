//! What the working tree looks like: one hash over everything that is tracked or could be, and
//! whether it is clean.
//!
//! A [`Tree`] keeps an index of its own beside the run, so git's stat cache makes a second look
//! cheap, the user's index is never written, and flags that an agent sets in the user's index hide
//! nothing. A look at an unchanged tree starts git once, and not at all where stat data can tell that
//! nothing has changed. Our own files count neither for the hash
//! nor for cleanliness. What cannot or should not be kept (nested repositories, sockets, huge
//! untracked files) is left out of the hash and named; it still makes the tree unclean.
//!
//! A submodule is a tree of its own, watched in the same way, so that git never runs under the
//! submodule's settings. What is uncommitted inside it counts here too.

use super::git::{Git, GitError};
use super::git_text::{bytes_to_path, listed_paths, single_line};
use super::path_patterns::{Asked, Ours};
use super::pinned::{Pinned, head};
use super::submodules;
use super::tree_status::{StagedKey, TreeStatus};
use crate::tree::git_status::read_status;
use crate::tree::included_files::{Found, admit, find, named};
use crate::tree::stat_fingerprint::Still;
use crate::tree::status_cache::{self, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A working tree under observation.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) pinned: Pinned,
    ours: Ours,
    asked: Asked,
    /// The submodules, and what stands in our index for those that have uncommitted changes.
    modules: BTreeMap<PathBuf, Tree>,
    links: BTreeMap<PathBuf, String>,
    pointed_at: Option<Option<String>>,
    tree: Option<String>,
    staged: Option<(StagedKey, Vec<PathBuf>)>,
    /// The last look, and how the files stood when it began.
    last: Option<(Still, TreeStatus)>,
}

impl Tree {
    /// Begins to watch the tree of this repository, with its books in `folder`.
    pub(crate) fn watch(repository: &Git, folder: &Path, ours: Ours) -> Result<Tree, GitError> {
        Tree::open(Pinned::open(repository, folder)?, ours)
    }

    /// Begins to watch a tree. The index is taken from the user's at first, so that files which are
    /// known to be unchanged need not be read. One that was watched before is known from its books.
    pub(crate) fn open(pinned: Pinned, ours: Ours) -> Result<Tree, GitError> {
        let mut tree = Tree {
            pinned,
            ours,
            asked: Asked::default(),
            modules: BTreeMap::new(),
            links: BTreeMap::new(),
            pointed_at: None,
            tree: None,
            staged: None,
            last: None,
        };
        if let Some(page) = status_cache::read(&tree.pinned, tree.ours.patterns()) {
            (tree.tree, tree.staged) = (Some(page.status.tree.clone()), page.staged);
            tree.last = page.still.map(|it| (it, page.status));
            return Ok(tree);
        }
        if !tree.pinned.index().exists() {
            tree.adopt_index()?;
        }
        if tree.cleanse().is_err() {
            tree.rebuild_index()?;
        }
        Ok(tree)
    }

    /// Lets files that match count also where git ignores them.
    pub(crate) fn ask_for(&mut self, patterns: &[String]) {
        self.asked = Asked::read(patterns);
        if !self.asked.is_empty() {
            self.last = None;
        }
    }

    /// Returns how the tree stands.
    pub(crate) fn status(&mut self) -> Result<TreeStatus, GitError> {
        let still = self.stand();
        let (commit, branch) = head(&self.pinned.repository)?;
        if let Some(status) = self.same(still.as_ref(), &commit, &branch) {
            return Ok(status);
        }
        self.last = None;
        status_cache::forget(&self.pinned);
        let status = self.ask(commit, branch)?;
        let page = Page { status, still, staged: self.staged.clone() };
        status_cache::write(&self.pinned, self.ours.patterns(), &page);
        self.last = page.still.map(|it| (it, page.status.clone()));
        Ok(page.status)
    }

    /// Returns the last look, if nothing can have changed since; git is not started.
    pub(crate) fn unchanged(&self) -> Option<TreeStatus> {
        let still = self.stand();
        let (commit, branch) = head(&self.pinned.repository).ok()?;
        self.same(still.as_ref(), &commit, &branch)
    }

    fn same(
        &self,
        now: Option<&Still>,
        commit: &Option<String>,
        branch: &Option<String>,
    ) -> Option<TreeStatus> {
        let (then, status) = self.last.as_ref()?;
        let stays = (&status.commit, &status.branch) == (commit, branch) && then.lasts_until(now?);
        stays.then(|| status.clone())
    }

    /// How everything stands that a look depends on, HEAD aside.
    fn stand(&self) -> Option<Still> {
        let mut beside = vec![self.pinned.repository.git_dir().join("index")];
        beside.extend(self.pinned.shared_rules()?);
        Still::read(self.pinned.repository.work_tree(), &beside, |path| self.ours.holds(path))
    }

    fn ask(&mut self, commit: Option<String>, branch: Option<String>) -> Result<TreeStatus, GitError> {
        let head_moved = self.pointed_at.as_ref() != Some(&commit);
        if head_moved {
            self.pinned.point_at(commit.as_deref())?;
            self.pointed_at = Some(commit.clone());
        }
        let mut state = read_status(&self.run_status()?);
        let modules = self.module_statuses()?;
        let work_tree = self.pinned.repository.work_tree();
        let mut update = Update::default();
        // HEAD holds a submodule that our index has not met: it was added and committed.
        let is_submodule = |it: &&PathBuf| {
            let is_known = state.differing.contains(*it) && !self.ours.holds(it);
            is_known && matches!(find(work_tree, it), Found::Folder)
        };
        let adopted: Vec<PathBuf> = state.untracked.iter().filter(is_submodule).cloned().collect();
        for path in adopted {
            state.untracked.remove(&path);
            update.put.insert(path.components().collect());
        }
        let listed = state.untracked.iter().filter(|it| !self.ours.holds(it));
        let (untracked, mut left_out) = admit(listed.map(|it| (it.as_path(), find(work_tree, it))));
        for path in state.changed.iter().filter(|it| !self.ours.holds(it)) {
            match find(work_tree, path) {
                Found::File(_) | Found::Folder => {
                    update.put.insert(path.clone());
                }
                Found::Nothing => {
                    update.drop.insert(path.clone());
                }
                Found::Unkept(reason) => {
                    update.drop.insert(path.clone());
                    left_out.push(named(path, reason));
                }
            }
        }
        let mut dirty_inside = BTreeSet::new();
        self.links.retain(|path, _| modules.iter().any(|(it, _)| it == path));
        for (path, status) in modules {
            left_out.extend(status.left_out.iter().map(|it| format!("{}/{it}", path.display())));
            if status.is_clean() {
                self.links.remove(&path);
                continue;
            }
            left_out.push(named(&path, "changes inside a submodule"));
            dirty_inside.extend(status.uncommitted.iter().map(|it| path.join(it)));
            update.put.remove(&path);
            let link = submodules::link(&status);
            if self.links.get(&path) != Some(&link) {
                self.links.insert(path.clone(), link.clone());
                update.links.insert(path, link);
            }
        }
        let asked = self.ignored_but_asked_for()?;
        update.put.extend(untracked);
        let (papers, unkept) = admit(asked.iter().map(|it| (it.as_path(), find(work_tree, it))));
        left_out.extend(unkept);
        let staged = self.staged(&commit)?;
        update.put.extend(papers.into_iter().filter(|it| !state.added.contains(it)));
        if head_moved || update.touches_ignore_rules() {
            let ignored = self.ignored_among(&state.added)?;
            update.drop_all(ignored.into_iter().filter(|it| !staged.contains(it) && !asked.contains(it)));
        }

        let mut dirty: BTreeSet<PathBuf> = state.untracked;
        if update.is_empty() {
            dirty.extend(state.differing);
        } else {
            self.apply(&update)?;
            self.tree = None;
            // What differed from HEAD in the index may equal it after the update, so that is asked
            // again unless nothing differed.
            match state.differing.is_empty() {
                true => dirty.extend(state.changed),
                false => {
                    dirty.retain(|it| !update.put.contains(it));
                    dirty.extend(self.differing_from_head(commit.as_deref())?);
                }
            }
        }
        dirty.retain(|it| !asked.contains(it));
        dirty.extend(dirty_inside);
        dirty.extend(staged);
        dirty.retain(|it| !self.ours.holds(it));
        left_out.sort();
        Ok(TreeStatus { commit, branch, tree: self.write_tree()?, uncommitted: dirty, left_out })
    }

    fn run_status(&mut self) -> Result<Vec<u8>, GitError> {
        let asked = [
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        match self.pinned.view.run(asked) {
            Err(GitError::Failed { .. }) => {
                // A damaged index of ours costs reading every file once, and nothing else.
                self.tree = None;
                self.rebuild_index()?;
                self.pinned.view.run(asked)
            }
            answer => answer,
        }
    }

    /// Those paths of our index, of the given ones that HEAD does not hold, which are ignored. Our
    /// index remembers files that were untracked once; when a rule for them comes, git would not
    /// list them any more, so they have to be forgotten.
    fn ignored_among(&self, added: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, GitError> {
        if added.is_empty() {
            return Ok(Vec::new());
        }
        let asked = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
        Ok(listed_paths(&self.pinned.view.run(asked)?).filter(|it| added.contains(it)).collect())
    }

    /// Files that git ignores, that no commit holds, and that the workflow asks for.
    fn ignored_but_asked_for(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        if self.asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let options = ["ls-files", "--others", "--cached", "--ignored", "--exclude-standard", "-z", "--"];
        let below = self.asked.below().map(|it| it.as_os_str().to_owned());
        let listing = self.pinned.view.run(options.map(OsString::from).into_iter().chain(below))?;
        let mut found: BTreeSet<PathBuf> = listed_paths(&listing).filter(|it| self.asked.holds(it)).collect();
        if let Some(commit) = self.pointed_at.as_ref().and_then(Option::as_ref).filter(|_| !found.is_empty())
        {
            let options = ["ls-tree", "-r", "--name-only", "-z", commit, "--"].map(OsString::from);
            let paths = self.asked.below().map(|it| it.as_os_str().to_owned());
            for path in listed_paths(&self.pinned.view.run(options.into_iter().chain(paths))?) {
                found.remove(&path);
            }
        }
        found.retain(|it| !self.ours.holds(it));
        Ok(found)
    }

    /// How each submodule stands, each watched like the tree itself.
    fn module_statuses(&mut self) -> Result<Vec<(PathBuf, TreeStatus)>, GitError> {
        let listed = submodules::listed(&self.pinned.view)?;
        self.modules.retain(|path, _| listed.contains(path));
        let mut statuses = Vec::new();
        for path in listed {
            if !self.modules.contains_key(&path) {
                let place = self.pinned.repository.work_tree().join(&path);
                // What git does not take for a working tree is none.
                let Ok(repository) = self.pinned.repository.open_other(&place) else { continue };
                let folder = self.pinned.beside("modules").join(submodules::folder_name(&path));
                let nothing = Ours::read::<&str>(&[]).expect("no pattern is a bad one");
                self.modules.insert(path.clone(), Tree::watch(&repository, &folder, nothing)?);
            }
            let status = self.modules.get_mut(&path).expect("it was just opened").status()?;
            statuses.push((path, status));
        }
        Ok(statuses)
    }

    fn apply(&self, update: &Update) -> Result<(), GitError> {
        if !update.drop.is_empty() {
            self.update_index(&["--force-remove"], &update.drop)?;
        }
        if !update.put.is_empty() {
            self.update_index(&["--add", "--remove", "--replace"], &update.put)?;
        }
        if !update.links.is_empty() {
            let mut input = Vec::new();
            for (path, link) in &update.links {
                input.extend_from_slice(format!("160000 {link}\t").as_bytes());
                input.extend_from_slice(path.as_os_str().as_bytes());
                input.push(0);
            }
            self.pinned.view.feed(["update-index", "-z", "--index-info"], &input)?;
        }
        Ok(())
    }

    fn update_index<'a>(
        &self,
        options: &[&str],
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), GitError> {
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        let arguments = [&["update-index"], options, &["-z", "--stdin"]].concat();
        self.pinned.view.feed(arguments, &input).map(drop)
    }

    fn differing_from_head(&self, commit: Option<&str>) -> Result<Vec<PathBuf>, GitError> {
        let output = match commit {
            Some(commit) => {
                self.pinned.view.run(["diff-index", "--cached", "--name-only", "-z", commit, "--"])?
            }
            None => self.pinned.view.run(["ls-files", "-z"])?,
        };
        Ok(listed_paths(&output).collect())
    }

    /// What the user's index holds that HEAD does not. It is compared by hashes alone, so no file is
    /// read and no filter is needed.
    fn staged(&mut self, commit: &Option<String>) -> Result<Vec<PathBuf>, GitError> {
        let index = fs::metadata(self.pinned.repository.git_dir().join("index")).ok();
        let stamp = |it: &Metadata| (it.ino(), it.mtime(), it.mtime_nsec(), it.size());
        let key: StagedKey = (commit.clone(), index.as_ref().map(stamp));
        if let Some((_, staged)) = self.staged.as_ref().filter(|(known, _)| *known == key) {
            return Ok(staged.clone());
        }
        let output = match (commit, key.1) {
            (Some(commit), _) => {
                let asked =
                    ["diff-index", "--cached", "--name-only", "--ignore-submodules=none", "-z", commit, "--"];
                self.pinned.repository.run(asked)?
            }
            (None, Some(_)) => self.pinned.repository.run(["ls-files", "-z"])?,
            (None, None) => Vec::new(),
        };
        let staged: Vec<PathBuf> = listed_paths(&output).collect();
        self.staged = Some((key, staged.clone()));
        Ok(staged)
    }

    fn write_tree(&mut self) -> Result<String, GitError> {
        if self.tree.is_none() {
            self.tree = Some(single_line(&self.pinned.view.run(["write-tree"])?));
        }
        Ok(self.tree.clone().expect("the tree has just been written"))
    }

    /// Copies the user's index with its time, because git tells by that time which entries it must
    /// not trust.
    fn adopt_index(&self) -> Result<(), GitError> {
        let (from, to) = (self.pinned.repository.git_dir().join("index"), self.pinned.index());
        let copied = loop_base::files::open(&from).and_then(|source| {
            let modified = source.metadata()?.modified()?;
            let part = to.with_extension("part");
            let mut target = File::create(&part)?;
            std::io::copy(&mut &source, &mut target)?;
            target.set_modified(modified)?;
            fs::rename(part, &to)
        });
        match copied {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(GitError::File { doing: "copying", path: from, source }),
        }
    }

    /// Makes the index anew from HEAD; every file will be read at the next look.
    fn rebuild_index(&self) -> Result<(), GitError> {
        let _may_be_absent = fs::remove_file(self.pinned.index());
        match head(&self.pinned.repository)?.0 {
            Some(commit) => self.pinned.view.run(["read-tree", &commit])?,
            None => self.pinned.view.run(["read-tree", "--empty"])?,
        };
        self.cleanse()
    }

    /// Takes our own files out of the index, and the flags that would hide changes. In a sparse
    /// checkout a file may be absent by intent; git itself ignores that flag where a file is present.
    fn cleanse(&self) -> Result<(), GitError> {
        let listing = self.pinned.view.run(["ls-files", "-v", "-z"])?;
        let (mut ours, mut assumed, mut skipped) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for entry in listing.split(|it| *it == 0) {
            let [tag, b' ', path @ ..] = entry else { continue };
            let path = bytes_to_path(path);
            if self.ours.holds(&path) {
                ours.insert(path);
                continue;
            }
            if tag.is_ascii_lowercase() {
                assumed.insert(path.clone());
            }
            if tag.eq_ignore_ascii_case(&b's') {
                skipped.insert(path);
            }
        }
        if !skipped.is_empty() {
            let sparse = self.pinned.view.run(["config", "--type=bool", "core.sparseCheckout"]);
            skipped.retain(|_| !sparse.as_ref().is_ok_and(|it| it.starts_with(b"true")));
        }
        for (option, paths) in
            [("--force-remove", ours), ("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)]
        {
            if !paths.is_empty() {
                self.update_index(&[option], &paths)?;
            }
        }
        Ok(())
    }
}

/// What has to happen to our index.
#[derive(Debug, Default)]
struct Update {
    put: BTreeSet<PathBuf>,
    drop: BTreeSet<PathBuf>,
    /// Submodules, each with the name that stands for its state.
    links: BTreeMap<PathBuf, String>,
}

impl Update {
    fn is_empty(&self) -> bool {
        self.put.is_empty() && self.drop.is_empty() && self.links.is_empty()
    }

    fn touches_ignore_rules(&self) -> bool {
        self.put.iter().chain(&self.drop).any(|it| it.file_name().is_some_and(|it| it == ".gitignore"))
    }

    fn drop_all(&mut self, paths: impl Iterator<Item = PathBuf>) {
        for path in paths {
            self.put.remove(&path);
            self.drop.insert(path);
        }
    }
}

#[cfg(test)]
mod tests;
