//! Reads the two trees of a proof for the planner and carries out its plans in a checkout. Nothing is
//! written through a symbolic link: what stands in the way of a path is removed first. When a plan
//! is carried out, the checkout's HEAD and index are made to agree with its files, so that a check
//! that asks git sees a clean tree.

use super::super::git::{Git, GitError, is_object_id, single_line};
use super::checkout::{commit_tree, entries, zero_separated};
use super::files;
use super::pure::{Action, Change, Class, OverlayPlan, Rules, Side};
use super::request::{ProofError, Request};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The trees of a request, read with the checkout's git or the user's.
pub(super) struct Trees<'a> {
    git: &'a Git,
    base: &'a str,
    tree: &'a str,
    /// Every path of either tree.
    paths: Vec<String>,
    pub(super) changes: Vec<Change>,
    pub(super) rules: Rules,
}

impl<'a> Trees<'a> {
    pub(super) fn read(git: &'a Git, request: &'a Request) -> Result<Trees<'a>, ProofError> {
        let (base, tree) = (request.base.as_str(), request.tree.as_str());
        assert!(is_object_id(base) && is_object_id(tree), "trees are named by object ids");
        let mut paths = names(git, base)?;
        if tree != base {
            paths.extend(names(git, tree)?);
            paths.sort();
            paths.dedup();
        }
        let changes = changes(git, base, tree)?;
        let mut commands: Vec<String> = request.checks.iter().map(|it| it.command.clone()).collect();
        commands
            .extend(request.checks.iter().filter_map(|it| it.prepare.clone()).chain(request.prepare.clone()));
        let rules = Rules::new(&request.protect, &commands, &paths).map_err(ProofError::Protect)?;
        Ok(Trees { git, base, tree, paths, changes, rules })
    }

    /// Reads a file of one side.
    pub(super) fn contents(&self, side: Side, path: &str) -> Option<Vec<u8>> {
        let tree = match side {
            Side::Base => self.base,
            Side::Final => self.tree,
        };
        self.git.run(["cat-file", "blob", &format!("{tree}:{path}")]).ok()
    }

    /// Protected files, or files with protected parts, that differ.
    pub(super) fn changed_protected(&self) -> Vec<String> {
        let protected = self.changes.iter().filter(|it| match self.rules.classify(&it.path) {
            Class::Test | Class::Control => true,
            Class::Mixed(_) | Class::Ordinary => false,
        });
        protected.map(|it| it.path.clone()).collect()
    }

    /// The files that can carry a canary, with their text in this checkout.
    pub(super) fn carriers(&self, checkout: &Path) -> Vec<(String, String)> {
        let can_carry = |it: &&String| match self.rules.classify(it) {
            Class::Test => true,
            Class::Mixed(super::pure::Mixed::RustSource) => true,
            Class::Mixed(_) | Class::Control | Class::Ordinary => false,
        };
        let texts = self.paths.iter().filter(can_carry).filter_map(|it| {
            let place = checkout.join(it);
            is_reached_plainly(checkout, Path::new(it)).then_some(())?;
            Some((it.clone(), String::from_utf8(crate::steady::read(&place, CARRIER_MOST).ok()?).ok()?))
        });
        texts.take(CARRIERS_MOST).collect()
    }
}

/// A test file is a text that a person reads.
const CARRIER_MOST: usize = 1 << 20;

/// A handful of them carry a canary; the rest only says which kinds there are.
const CARRIERS_MOST: usize = 3000;

fn names(git: &Git, tree: &str) -> Result<Vec<String>, GitError> {
    let listing = git.run(["ls-tree", "-r", "-z", "--name-only", tree])?;
    let names = listing.split(|it| *it == 0).filter(|it| !it.is_empty());
    Ok(names.map(|it| String::from_utf8_lossy(it).into_owned()).collect())
}

fn changes(git: &Git, base: &str, tree: &str) -> Result<Vec<Change>, GitError> {
    let listing = git.run(["diff-tree", "-r", "-z", "--raw", "--no-renames", base, tree, "--"])?;
    let mut fields = listing.split(|it| *it == 0);
    let mut found = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let head = String::from_utf8_lossy(head).into_owned();
        let mut words = head.trim_start_matches(':').split(' ');
        let mode = |word: Option<&str>| u32::from_str_radix(word?, 8).ok().filter(|it| *it != 0);
        let (base_mode, final_mode) = (mode(words.next()), mode(words.next()));
        found.push(Change { path: String::from_utf8_lossy(path).into_owned(), base_mode, final_mode });
    }
    Ok(found)
}

/// Carries out a plan in a checkout; returns the tree that it is then.
pub(super) fn apply(
    plan: &OverlayPlan,
    trees: &Trees<'_>,
    git: &Git,
    checkout: &Path,
) -> Result<String, ProofError> {
    for action in &plan.actions {
        match action {
            Action::Take { path, side, mode } => take(trees, git, checkout, path, *side, *mode)?,
            Action::Remove { path } => {
                if is_reached_plainly(checkout, Path::new(path)) {
                    files::remove(&checkout.join(path))?;
                }
            }
            Action::Write { path, text } => write_text(checkout, path, text)?,
        }
    }
    let paths = plan.actions.iter().map(|it| match it {
        Action::Take { path, .. } | Action::Remove { path } | Action::Write { path, .. } => {
            OsString::from(path)
        }
    });
    git.feed(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], &zero_separated(paths))?;
    let tree = single_line(&git.run(["write-tree"])?);
    let parent = single_line(&git.run(["rev-parse", "HEAD"])?);
    let commit = commit_tree(git, &tree, Some(&parent))?;
    git.run(["update-ref", "--no-deref", "HEAD", &commit])?;
    Ok(tree)
}

/// Takes a blob with its mode, by git, so that line endings are as in any checkout.
fn take(
    trees: &Trees<'_>,
    git: &Git,
    checkout: &Path,
    path: &str,
    side: Side,
    mode: u32,
) -> Result<(), ProofError> {
    const SUBMODULE: u32 = 0o160000;
    if mode == SUBMODULE {
        return Ok(());
    }
    let tree = match side {
        Side::Base => trees.base,
        Side::Final => trees.tree,
    };
    let listing = git.run(["ls-tree", "-r", "-z", "--full-tree", tree, "--", path])?;
    let found = listing.split(|it| *it == 0).find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (head, name) = line.split_once('\t')?;
        (name == path).then(|| head.split(' ').nth(2).map(str::to_owned))?
    });
    let Some(id) = found else { return Ok(()) };
    clear_way(checkout, Path::new(path))?;
    files::remove(&checkout.join(path))?;
    git.feed(
        ["update-index", "--add", "--replace", "--index-info"],
        format!("{mode:o} {id}\t{path}\n").as_bytes(),
    )?;
    git.feed(
        ["checkout-index", "--force", "--quiet", "-u", "-z", "--stdin"],
        format!("{path}\0").as_bytes(),
    )?;
    Ok(())
}

/// Writes a text in place of a file; its mode stays.
pub(super) fn write_text(checkout: &Path, path: &str, text: &str) -> Result<(), ProofError> {
    let place = checkout.join(path);
    clear_way(checkout, Path::new(path))?;
    let found = fs::symlink_metadata(&place).ok();
    let mode = found.as_ref().filter(|it| it.is_file()).map(|it| it.permissions().mode());
    files::remove(&place)?;
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&place, text)?;
    if let Some(mode) = mode {
        fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Removes links and files where the way to a path needs folders.
fn clear_way(checkout: &Path, inside: &Path) -> Result<(), ProofError> {
    let mut parents: Vec<PathBuf> = inside
        .ancestors()
        .skip(1)
        .filter(|it| !it.as_os_str().is_empty())
        .map(|it| checkout.join(it))
        .collect();
    parents.reverse();
    for parent in parents {
        if fs::symlink_metadata(&parent).is_ok_and(|it| !it.is_dir()) {
            files::remove(&parent)?;
        }
    }
    Ok(())
}

fn is_reached_plainly(checkout: &Path, inside: &Path) -> bool {
    let mut parents = inside.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    parents.all(|it| fs::symlink_metadata(checkout.join(it)).is_ok_and(|it| it.is_dir()))
}

/// The lock files of cargo in a checkout.
pub(super) fn cargo_locks(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let listing = git.run(["ls-files", "--stage", "-z"])?;
    let locks = entries(&listing).map(|(_, _, path)| path);
    Ok(locks.filter(|it| it.file_name().is_some_and(|it| it == "Cargo.lock")).collect())
}
