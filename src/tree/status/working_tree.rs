//! How the working tree stands: one hash over everything that is tracked or could be, and what of it
//! is uncommitted.
//!
//! A [`WorkingTree`] keeps an index of its own beside the run, so git's stat cache makes a second status
//! cheap, the user's index is never written, and flags that an agent sets in the user's index hide
//! nothing. The working tree is walked once for each status; everything else is asked about what that
//! walk found changed. Where stat data can tell that nothing has changed, git is not started at all.
//! Our own files count neither for the hash nor for cleanliness. What cannot or should not be kept
//! (nested repositories, sockets, huge untracked files) is left out of the hash and named; it still
//! makes the tree unclean.
//!
//! A submodule is a tree of its own, watched in the same way, so that git never runs under the
//! submodule's settings. What is uncommitted inside it counts here too.

use super::filtered::{self, Filtered};
use super::path_patterns::{Ours, RequestedFiles};
use super::submodules;
use super::tree_status::{StagedKey, TreeStatus};
use super::view_index::{self, Update};
use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_text::{bytes_to_path, listed_paths, single_line};
use crate::tree::repository::pinned::{Pinned, head};
use crate::tree::status::git_status::{GitStatus, read_status};
use crate::tree::status::included_files::{PathContent, admit, find, named};
use crate::tree::status::stat_fingerprint::StatFingerprint;
use crate::tree::status::status_cache::{self, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// From here on a commit of our own is cheaper than a listing of everything that differs from HEAD.
const DIFFERING_MANY: usize = 2_000;

/// So many paths are compared one by one; a command line holds some thousands.
const COMPARED_APART: usize = 500;

/// Repositories inside the tree that are looked up in HEAD.
const FOLDERS_MOST: usize = 500;

/// A working tree under observation.
#[derive(Debug)]
pub(crate) struct WorkingTree {
    pub(crate) pinned: Pinned,
    ours: Ours,
    asked: RequestedFiles,
    /// Folders of this name count as ignored, also where no rule says so.
    generated: Option<&'static str>,
    /// The submodules, and what stands in our index for those that have uncommitted changes.
    modules: BTreeMap<PathBuf, WorkingTree>,
    links: BTreeMap<PathBuf, String>,
    /// What the view's HEAD names.
    pointed_at: Option<Option<String>>,
    differing: Option<Differing>,
    tree: Option<String>,
    staged: Option<(StagedKey, Vec<PathBuf>)>,
    /// The last look, and how the files stood when it began.
    last: Option<(StatFingerprint, TreeStatus)>,
}

impl WorkingTree {
    /// Begins to watch the tree of this repository, with its own index and cached status in `folder`.
    pub(crate) fn watch(repository: &Git, folder: &Path, ours: Ours) -> Result<WorkingTree, GitError> {
        WorkingTree::open(Pinned::open(repository, folder)?, ours)
    }

    /// Begins to watch a tree. The index is taken from the user's at first, so that files which are
    /// known to be unchanged need not be read. One that was watched before is known from these.
    pub(crate) fn open(pinned: Pinned, ours: Ours) -> Result<WorkingTree, GitError> {
        let mut tree = WorkingTree {
            pinned,
            ours,
            asked: RequestedFiles::default(),
            generated: None,
            modules: BTreeMap::new(),
            links: BTreeMap::new(),
            pointed_at: None,
            differing: None,
            tree: None,
            staged: None,
            last: None,
        };
        if let Some(page) = status_cache::read(&tree.pinned, tree.ours.patterns()) {
            (tree.tree, tree.staged) = (Some(page.status.tree.clone()), page.staged);
            tree.last = page.fingerprint.map(|it| (it, page.status));
            return Ok(tree);
        }
        if !tree.pinned.index().exists() {
            view_index::adopt(&tree.pinned)?;
        }
        if view_index::cleanse(&tree.pinned, &tree.ours).is_err() {
            view_index::rebuild(&tree.pinned, &tree.ours)?;
        }
        Ok(tree)
    }

    /// Lets files that match count also where git ignores them.
    pub(crate) fn ask_for(&mut self, patterns: &[String]) {
        self.asked = RequestedFiles::read(patterns);
        if !self.asked.is_empty() {
            self.last = None;
        }
    }

    /// Returns how the tree stands.
    pub(crate) fn status(&mut self) -> Result<TreeStatus, GitError> {
        let fingerprint = self.fingerprint();
        let (commit, branch) = head(&self.pinned.repository)?;
        if let Some(status) = self.same(fingerprint.as_ref(), &commit, &branch) {
            return Ok(status);
        }
        self.last = None;
        status_cache::forget(&self.pinned);
        let status = self.ask(commit, branch)?;
        let page = Page { status, fingerprint, staged: self.staged.clone() };
        status_cache::write(&self.pinned, self.ours.patterns(), &page);
        self.last = page.fingerprint.map(|it| (it, page.status.clone()));
        Ok(page.status)
    }

    /// Returns the last look, if nothing can have changed since; git is not started.
    pub(crate) fn unchanged(&self) -> Option<TreeStatus> {
        let fingerprint = self.fingerprint()?;
        let (commit, branch) = head(&self.pinned.repository).ok()?;
        self.same(Some(&fingerprint), &commit, &branch)
    }

    fn same(
        &self,
        now: Option<&StatFingerprint>,
        commit: &Option<String>,
        branch: &Option<String>,
    ) -> Option<TreeStatus> {
        let (then, status) = self.last.as_ref()?;
        let stays = (&status.commit, &status.branch) == (commit, branch) && then.lasts_until(now?);
        stays.then(|| status.clone())
    }

    /// How everything stands that a look depends on, HEAD aside.
    fn fingerprint(&self) -> Option<StatFingerprint> {
        let mut beside = vec![self.pinned.repository.git_dir().join("index")];
        beside.extend(self.pinned.shared_rules()?);
        StatFingerprint::read(self.pinned.repository.work_tree(), &beside, |path| self.ours.holds(path))
    }

    /// Asks git: one walk of the working tree, and then only about what that walk found changed.
    fn ask(&mut self, commit: Option<String>, branch: Option<String>) -> Result<TreeStatus, GitError> {
        let head_moved = self.differing.as_ref().is_none_or(|it| it.commit != commit);
        let state = read_status(&self.run_status(commit.as_deref())?);
        // Then the status says too how our index differs from it.
        let at_head = self.pointed_at.as_ref() == Some(&commit);
        let modules = self.module_statuses()?;
        let adopted = self.committed_submodules(commit.as_deref(), &state.untracked)?;
        let work_tree = self.pinned.repository.work_tree();
        let mut update = Update { put: adopted, ..Update::default() };
        let is_new =
            |it: &&PathBuf| !self.ours.holds(it) && !self.is_generated(it) && !update.put.contains(*it);
        let untracked: Vec<&PathBuf> = state.untracked.iter().filter(is_new).collect();
        let listed = untracked.iter().map(|it| (it.as_path(), find(work_tree, it)));
        let (admitted, mut left_out) = admit(self.differing.as_ref().map_or(0, |it| it.paths.len()), listed);
        for path in state.changed.iter().filter(|it| !self.ours.holds(it)) {
            match find(work_tree, path) {
                PathContent::File(_) | PathContent::Folder => {
                    update.put.insert(path.clone());
                }
                PathContent::Nothing => {
                    update.drop.insert(path.clone());
                }
                PathContent::Unkept(reason) => {
                    update.drop.insert(path.clone());
                    left_out.push(named(path, reason));
                }
            }
        }
        update.put.extend(admitted);
        update.put.extend(self.ignored_but_committed(&state));
        let mut extra: BTreeSet<PathBuf> =
            untracked.into_iter().filter(|it| !update.put.contains(*it)).cloned().collect();
        self.links.retain(|path, _| modules.iter().any(|(it, _)| it == path));
        for (path, status) in modules {
            left_out.extend(status.left_out.iter().map(|it| format!("{}/{it}", path.display())));
            if status.is_clean() {
                self.links.remove(&path);
                continue;
            }
            left_out.push(named(&path, "changes inside a submodule"));
            extra.extend(status.uncommitted.iter().map(|it| path.join(it)));
            update.put.remove(&path);
            let link = submodules::link(&status);
            if self.links.get(&path) != Some(&link) {
                self.links.insert(path.clone(), link.clone());
                update.links.insert(path, link);
            }
        }
        let asked = self.ignored_but_asked_for(commit.as_deref())?;
        let (papers, unkept) = admit(0, asked.unmet.iter().map(|it| (it.as_path(), find(work_tree, it))));
        left_out.extend(unkept);
        update.put.extend(papers);
        let staged = self.staged(&commit)?;
        let may_hold_ignored = !at_head || !state.added.is_empty();
        if may_hold_ignored && (head_moved || update.touches_ignore_rules()) {
            let ignored = self.newly_ignored(commit.as_deref())?;
            update.drop_all(ignored.into_iter().filter(|it| !staged.contains(it) && !asked.holds(it)));
        }
        if !update.is_empty() {
            view_index::apply(&self.pinned, &update)?;
            self.tree = None;
        }
        let tree = self.write_tree()?;
        let differing = at_head.then_some(state.differing);
        let mut uncommitted = self.differing_from_head(&commit, differing, &update, &tree)?;
        extra.extend(staged.into_iter().filter(|it| !self.ours.holds(it)));
        let papers: Vec<&PathBuf> = asked.all().filter(|it| uncommitted.contains(*it)).collect();
        // To us a file is new also when it has been committed since, so what HEAD holds decides.
        let all = uncommitted.iter().cloned().collect();
        let Filtered { committed, unknown } = self.through_filters(commit.as_deref(), all);
        if !extra.is_empty() || !papers.is_empty() || !committed.is_empty() {
            let mut all = (*uncommitted).clone();
            all.retain(|it| !papers.contains(&it) && !committed.contains(it));
            all.extend(extra);
            uncommitted = Rc::new(all);
        }
        left_out.sort();
        Ok(TreeStatus { commit, branch, tree, uncommitted, filtered: unknown, left_out })
    }

    /// Says which of these files are only by their bytes not what HEAD holds.
    fn through_filters(&self, commit: Option<&str>, files: Vec<PathBuf>) -> Filtered {
        commit.map_or_else(Filtered::default, |it| filtered::compare(&self.pinned.repository, it, files))
    }

    /// Compares the working tree with our index. Git compares the index with HEAD, too: where most of
    /// it differs, the view's HEAD is a commit of our own, or every status would list all of that again.
    fn run_status(&mut self, commit: Option<&str>) -> Result<Vec<u8>, GitError> {
        let asked = [
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let differs = self.differing.as_ref().map_or(0, |it| it.paths.len());
        let own = match &self.tree {
            Some(tree) if differs > DIFFERING_MANY => {
                Some(self.pinned.commit_tree(tree, commit, "loop: seen\n")?)
            }
            Some(_) | None => None,
        };
        self.point_at(own.as_deref().or(commit))?;
        match self.pinned.view.run(asked) {
            Err(GitError::Failed { .. }) => {
                // A damaged index of ours costs reading every file once, and nothing else.
                (self.tree, self.differing) = (None, None);
                self.links.clear();
                self.point_at(commit)?;
                view_index::rebuild(&self.pinned, &self.ours)?;
                self.pinned.view.run(asked)
            }
            answer => answer,
        }
    }

    fn point_at(&mut self, commit: Option<&str>) -> Result<(), GitError> {
        let commit = commit.map(str::to_owned);
        if self.pointed_at.as_ref() != Some(&commit) {
            self.pinned.point_at(commit.as_deref())?;
            self.pointed_at = Some(commit);
        }
        Ok(())
    }

    /// Repositories inside the tree that our index has not met and HEAD holds: submodules that were
    /// added and committed.
    fn committed_submodules(
        &self,
        commit: Option<&str>,
        untracked: &BTreeSet<PathBuf>,
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        let is_folder = |it: &&PathBuf| it.as_os_str().as_bytes().ends_with(b"/") && !self.ours.holds(it);
        let folders: Vec<PathBuf> = untracked
            .iter()
            .filter(is_folder)
            .take(FOLDERS_MOST)
            .map(|it| it.components().collect())
            .collect();
        let Some(commit) = commit.filter(|_| !folders.is_empty()) else { return Ok(BTreeSet::new()) };
        let options = ["ls-tree", "--full-tree", "-z", commit, "--"].map(OsString::from);
        let listing =
            self.pinned.view.run(options.into_iter().chain(folders.into_iter().map(OsString::from)))?;
        let links = listing.split(|it| *it == 0).filter(|it| it.starts_with(b"160000 "));
        let path = |it: &[u8]| it.iter().position(|it| *it == b'\t').map(|at| bytes_to_path(&it[at + 1..]));
        Ok(links.filter_map(path).collect())
    }

    /// Files that HEAD holds and our index does not, although they are there: somebody committed what git ignores,
    /// which is never listed as untracked.
    fn ignored_but_committed(&self, state: &GitStatus) -> Vec<PathBuf> {
        let work_tree = self.pinned.repository.work_tree();
        let is_ours = |it: &PathBuf| self.ours.holds(it) || self.is_generated(it);
        let lacking = state.lacking.iter().filter(|it| !state.untracked.contains(*it) && !is_ours(it));
        lacking.filter(|it| matches!(find(work_tree, it), PathContent::File(_))).cloned().collect()
    }

    /// Paths of our index that HEAD does not hold and that are ignored. Our index remembers files that
    /// were untracked once; when a rule for them comes, git would not list them any more, so they have
    /// to be forgotten.
    fn newly_ignored(&self, commit: Option<&str>) -> Result<BTreeSet<PathBuf>, GitError> {
        let asked = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
        let mut ignored: BTreeSet<PathBuf> = listed_paths(&self.pinned.view.run(asked)?).collect();
        if let Some(commit) = commit.filter(|_| !ignored.is_empty()) {
            for path in listed_paths(&self.pinned.view.run(["ls-tree", "-r", "--name-only", "-z", commit])?) {
                ignored.remove(&path);
            }
        }
        Ok(ignored)
    }

    /// Files that git ignores, that HEAD does not hold, and that the workflow asks for.
    fn ignored_but_asked_for(&self, commit: Option<&str>) -> Result<Papers, GitError> {
        let mut papers = Papers::default();
        if self.asked.is_empty() {
            return Ok(papers);
        }
        let below = || self.asked.below().map(|it| it.as_os_str().to_owned());
        let options =
            ["ls-files", "-t", "--others", "--cached", "--ignored", "--exclude-standard", "-z", "--"];
        let listing = self.pinned.view.run(options.map(OsString::from).into_iter().chain(below()))?;
        for entry in listing.split(|it| *it == 0) {
            let [tag, b' ', path @ ..] = entry else { continue };
            let path = bytes_to_path(path);
            if self.asked.holds(&path) && !self.ours.holds(&path) {
                if *tag == b'?' {
                    papers.unmet.insert(path)
                } else {
                    papers.met.insert(path)
                };
            }
        }
        if let Some(commit) = commit.filter(|_| !papers.met.is_empty()) {
            let options = ["ls-tree", "-r", "--name-only", "-z", commit, "--"].map(OsString::from);
            for path in listed_paths(&self.pinned.view.run(options.into_iter().chain(below()))?) {
                papers.met.remove(&path);
            }
        }
        Ok(papers)
    }

    /// How each submodule stands, each watched like the tree itself.
    fn module_statuses(&mut self) -> Result<Vec<(PathBuf, TreeStatus)>, GitError> {
        let listed = submodules::listed(&self.pinned.view)?;
        self.modules.retain(|path, _| listed.contains(path));
        let mut statuses = Vec::new();
        for path in listed {
            if !self.modules.contains_key(&path) {
                let place = self.pinned.repository.work_tree().join(&path);
                // What git does not take for a working tree does not count as one.
                let Ok(repository) = self.pinned.repository.open_other(&place) else { continue };
                let folder = self.pinned.beside("modules").join(submodules::folder_name(&path));
                let nothing = Ours::read::<&str>(&[]).expect("no pattern is a bad one");
                let mut module = WorkingTree::watch(&repository, &folder, nothing)?;
                module.generated = Some(submodules::GENERATED);
                self.modules.insert(path.clone(), module);
            }
            let status = self.modules.get_mut(&path).expect("it was just opened").status()?;
            statuses.push((path, status));
        }
        Ok(statuses)
    }

    fn is_generated(&self, path: &Path) -> bool {
        self.generated.is_some_and(|name| path.components().any(|it| it.as_os_str() == name))
    }

    /// What our tree holds otherwise than HEAD does, our own files aside. `before` is what differed
    /// before the update, where that is known. While HEAD stays, only what was updated is compared
    /// again.
    fn differing_from_head(
        &mut self,
        commit: &Option<String>,
        before: Option<BTreeSet<PathBuf>>,
        update: &Update,
        tree: &str,
    ) -> Result<Rc<BTreeSet<PathBuf>>, GitError> {
        let touched: Vec<&PathBuf> = update.paths().collect();
        let known = self.differing.take().filter(|it| it.commit == *commit);
        let is_work = |it: &PathBuf| !self.ours.holds(it);
        let paths = match (known, commit) {
            (Some(known), _) if touched.is_empty() => known.paths,
            _ if touched.is_empty() && before.is_some() => {
                Rc::new(before.into_iter().flatten().filter(is_work).collect())
            }
            // What equalled HEAD and was changed differs from it.
            _ if before.as_ref().is_some_and(BTreeSet::is_empty) => {
                Rc::new(touched.into_iter().filter(|it| is_work(it)).cloned().collect())
            }
            (Some(mut known), Some(commit)) if touched.len() <= COMPARED_APART => {
                let options = ["diff-tree", "-r", "--name-only", "--no-renames", "-z", commit, tree, "--"];
                let only = touched.iter().map(|it| it.as_os_str().to_owned());
                let output =
                    self.pinned.without_index().run(options.map(OsString::from).into_iter().chain(only))?;
                let paths = Rc::make_mut(&mut known.paths);
                for path in touched {
                    let below: Vec<PathBuf> =
                        paths.range(path.clone()..).take_while(|it| it.starts_with(path)).cloned().collect();
                    for it in &below {
                        paths.remove(it);
                    }
                }
                paths.extend(listed_paths(&output).filter(is_work));
                known.paths
            }
            (_, commit) => {
                let output = match commit {
                    Some(commit) => {
                        let options = ["diff-tree", "-r", "--name-only", "--no-renames", "-z"];
                        self.pinned.without_index().run(options.into_iter().chain([
                            commit.as_str(),
                            tree,
                            "--",
                        ]))?
                    }
                    None => self.pinned.view.run(["ls-files", "-z"])?,
                };
                Rc::new(listed_paths(&output).filter(is_work).collect())
            }
        };
        self.differing = Some(Differing { commit: commit.clone(), paths: Rc::clone(&paths) });
        Ok(paths)
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
}

/// What differs from HEAD.
#[derive(Debug)]
struct Differing {
    commit: Option<String>,
    paths: Rc<BTreeSet<PathBuf>>,
}

/// Ignored files that the workflow asks for: those that our index holds, and those that it does not.
#[derive(Debug, Default)]
struct Papers {
    met: BTreeSet<PathBuf>,
    unmet: BTreeSet<PathBuf>,
}

impl Papers {
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.met.iter().chain(&self.unmet)
    }

    fn holds(&self, path: &Path) -> bool {
        self.met.contains(path) || self.unmet.contains(path)
    }
}

#[cfg(test)]
mod tests;
