//! Reads the two trees of a proof for the planner and carries out its plans in a checkout. Nothing is
//! written through a symbolic link: what stands in the way of a path is removed first. When a plan
//! is carried out, the checkout's HEAD and index are made to agree with its files, so that a check
//! that asks git sees a clean tree.

use crate::measure::proof::checkout::clean_checkout::{
    Checkout, commit_tree, entries, index_listing, zero_separated,
};
use crate::measure::proof::checkout::objects::{Blob, refuse_forged_blobs};
use crate::measure::proof::pure::{
    Action, Canary, Class, Mixed, OverlayPlan, ProgramCanary, ProtectedFiles, Side, TreeChange,
    canary_command, hidden_by, may_be_of_tests, program_canary, says_what_is_protected, shell_canary,
};
use crate::measure::proof::request::{ProofError, ProofRequest};
use crate::measure::proof::steps::submodule_trees::{
    SUBMODULE, Submodules, TreeEntries, entries_of, tree_changes,
};
use crate::measure::proof::storage::files;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::{bytes_to_path, is_object_id, single_line};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The trees of a request, read with the user's git.
pub(crate) struct Trees {
    submodules: Submodules,
    base: TreeEntries,
    last: TreeEntries,
    /// Texts that were read, by object.
    read: RefCell<HashMap<String, Option<Vec<u8>>>>,
    pub(crate) changes: Vec<TreeChange>,
    /// What the request protects.
    pub(crate) rules: ProtectedFiles,
}

impl Trees {
    pub(crate) fn read(git: &Git, request: &ProofRequest) -> Result<Trees, ProofError> {
        let (base, last) = (request.base.as_str(), request.tree.as_str());
        assert!(is_object_id(base) && is_object_id(last), "trees are named by object ids");
        let mut both = entries_of(git, &[base, last])?.into_iter();
        let (mut base, mut last) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
        let mut changes = tree_changes(&base, &last, |_| true);
        let mut submodules = Submodules::none(git);
        submodules.expand(git, &mut base)?;
        submodules.expand(git, &mut last)?;
        changes.extend(tree_changes(&base, &last, |it| submodules.holds(it)));
        let nothing = ProtectedFiles::new(&[], &[], &[], &[], &|_, _| None).map_err(ProofError::Protect)?;
        let mut trees = Trees { submodules, base, last, read: RefCell::default(), changes, rules: nothing };
        trees.rules = trees.protection(request)?;
        Ok(trees)
    }

    fn protection(&self, request: &ProofRequest) -> Result<ProtectedFiles, ProofError> {
        let mut commands: Vec<String> = request.checks.iter().map(|it| it.command.clone()).collect();
        commands
            .extend(request.checks.iter().filter_map(|it| it.prepare.clone()).chain(request.prepare.clone()));
        let paths: Vec<String> = self.base.keys().cloned().collect();
        // What a check compares with is looked for in the tree itself; a submodule is the product of others.
        let own = self.changes.iter().filter(|it| it.base_mode.is_some() && !self.submodules.holds(&it.path));
        let mut changed: Vec<String> = own.map(|it| it.path.clone()).collect();
        let added = self.changes.iter().filter(|it| it.base_mode.is_none());
        let hidden = added.flat_map(|it| hidden_by(&it.path));
        changed.extend(hidden.filter(|it| self.base.contains_key(it)));
        changed.sort();
        changed.dedup();
        let contents = |side, path: &str| self.contents(side, path);
        let text = |path: &str| {
            contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok()).unwrap_or_default()
        };
        self.read_changes();
        self.read_ahead(changed.iter().any(|it| may_be_of_tests(it, &text(it))))?;
        ProtectedFiles::new(&request.protect, &commands, &paths, &changed, &contents)
            .map_err(ProofError::Protect)
    }

    /// Reads the texts of the baseline at once that are looked into to tell what is protected; one by one
    /// they cost a process each. The product's own are needed only where a changed file could be of
    /// use to tests alone.
    fn read_ahead(&self, with_product: bool) -> Result<(), GitError> {
        let is_wanted = |path: &str| with_product || says_what_is_protected(path);
        let wanted = self.base.iter().filter(|(path, _)| is_wanted(path));
        self.read_at_once(wanted.map(|(_, entry)| entry))
    }

    /// Reads what changed, as it was and as it is. A partial clone may lack some of it, and what is not read
    /// here is read when it is asked for.
    fn read_changes(&self) {
        let sides = |it: &TreeChange| [self.base.get(&it.path), self.last.get(&it.path)];
        let changed: Vec<_> = self.changes.iter().flat_map(sides).flatten().collect();
        let _one_by_one = self.read_at_once(changed.into_iter());
    }

    fn read_at_once<'a>(&self, entries: impl Iterator<Item = &'a (u32, String)>) -> Result<(), GitError> {
        let plain = entries.filter(|(mode, _)| mode & 0o170000 == 0o100000).map(|(_, id)| id);
        let ids: BTreeSet<&String> = plain.filter(|it| !self.read.borrow().contains_key(*it)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let git = &self.submodules.git;
        let asked: String = ids.into_iter().take(AHEAD_MOST).map(|it| format!("{it}\n")).collect();
        let sizes = git.feed(["cat-file", "--batch-check=%(objectname) %(objectsize)"], asked.as_bytes())?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let mut left = AHEAD_BYTES_MOST;
        let fits = |line: &str| {
            let (id, size) = line.split_once(' ')?;
            let size: usize = size.parse().ok().filter(|it| *it <= CARRIER_MOST)?;
            left = left.checked_sub(size)?;
            Some(format!("{id}\n"))
        };
        let asked: String = sizes.lines().filter_map(fits).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let said = git.feed(["cat-file", "--batch"], asked.as_bytes())?;
        self.read.borrow_mut().extend(texts(&said));
        Ok(())
    }

    /// The folders of the baseline that hold a file of this name; the top is empty.
    pub(crate) fn folders_with(&self, name: &str) -> Vec<String> {
        let folder = |path: &String| match path.rsplit_once('/') {
            Some((folder, last)) => (last == name).then(|| folder.to_owned()),
            None => (path == name).then(String::new),
        };
        self.base.keys().filter_map(folder).collect()
    }

    fn side(&self, side: Side) -> &TreeEntries {
        match side {
            Side::Base => &self.base,
            Side::Final => &self.last,
        }
    }

    /// Reads a file of one side.
    pub(crate) fn contents(&self, side: Side, path: &str) -> Option<Vec<u8>> {
        let (mode, id) = self.side(side).get(path).filter(|(mode, _)| *mode != SUBMODULE)?;
        debug_assert!(0 < *mode);
        if let Some(known) = self.read.borrow().get(id) {
            return known.clone();
        }
        let text = self.submodules.git.run(["cat-file", "blob", id]).ok();
        self.read.borrow_mut().insert(id.clone(), text.clone());
        text
    }

    /// What a path is, on the side that has it.
    pub(crate) fn class(&self, path: &str) -> Class {
        let mode = self.last.get(path).or(self.base.get(path)).map_or(0, |(mode, _)| *mode);
        self.rules.classify(path, mode, &|side, path: &str| self.contents(side, path))
    }

    /// Protected files that differ.
    pub(crate) fn changed_protected(&self) -> Vec<String> {
        let protected = self.changes.iter().filter(|it| match self.class(&it.path) {
            Class::Test | Class::Control => true,
            Class::Mixed(_) | Class::Ordinary => false,
        });
        protected.map(|it| it.path.clone()).collect()
    }

    /// Canaries of the scripts and commands that read the product into their own shell.
    pub(crate) fn shell_canaries(&self, checkout: &Path, word: &str) -> Vec<Canary> {
        let is_shell = |it: &&String| it.ends_with(".sh") || it.ends_with(".bash");
        let is_protected = |it: &&String| match self.class(it) {
            Class::Test | Class::Control => true,
            Class::Mixed(_) | Class::Ordinary => false,
        };
        let planted = self.base.keys().filter(is_shell).filter(is_protected).filter_map(|path| {
            is_reached_plainly(checkout, Path::new(path)).then_some(())?;
            let text = loop_base::files::text(&checkout.join(path)).ok()?;
            let text = shell_canary(&text, word, &|it| self.is_product(it))?;
            Some(Canary { path: path.clone(), text, tests: 1 })
        });
        planted.take(SHELL_CANARIES_MOST).collect()
    }

    /// The request with a canary in the commands that read the product into their own shell.
    pub(crate) fn with_canary_commands(&self, request: &ProofRequest, word: &str) -> ProofRequest {
        let mut planted = request.clone();
        for check in &mut planted.checks {
            if let Some(command) = canary_command(&check.command, word, &|it| self.is_product(it)) {
                check.command = command;
            }
        }
        planted
    }

    /// Whether a file of this name is the product's.
    fn is_product(&self, name: &str) -> bool {
        let mut named = self.base.keys().filter(|it| it.rsplit('/').next() == Some(name));
        named.any(|it| self.class(it) == Class::Ordinary)
    }

    /// The baseline's test programs that can carry a statement that must fail, with their text in this
    /// checkout.
    pub(crate) fn programs(&self, checkout: &Path, word: &str) -> Vec<ProgramCanary> {
        let files = self.carriers(checkout, Side::Base).into_iter();
        let planted = files
            .enumerate()
            .filter_map(|(number, (path, text))| program_canary(&path, &text, &format!("{word}p{number}")));
        planted.take(PROGRAMS_MOST).collect()
    }

    /// The files of one side that can carry a canary, with their text in this checkout.
    pub(crate) fn carriers(&self, checkout: &Path, side: Side) -> Vec<(String, String)> {
        // A script that a check starts may hold the tests themselves.
        let can_carry = |it: &&String| match self.class(it) {
            Class::Test | Class::Mixed(Mixed::RustSource) | Class::Control => true,
            Class::Mixed(_) | Class::Ordinary => false,
        };
        let texts = self.side(side).keys().filter(can_carry).filter_map(|it| {
            let place = checkout.join(it);
            is_reached_plainly(checkout, Path::new(it)).then_some(())?;
            Some((it.clone(), String::from_utf8(loop_base::files::read(&place, CARRIER_MOST).ok()?).ok()?))
        });
        texts.take(CARRIERS_MOST).collect()
    }
}

/// Returns the texts that `cat-file --batch` printed, by object.
fn texts(said: &[u8]) -> Vec<(String, Option<Vec<u8>>)> {
    let (mut rest, mut found) = (said, Vec::new());
    while let Some(end) = rest.iter().position(|it| *it == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let mut words = head.split(' ');
        let (Some(id), Some("blob"), Some(size)) = (words.next(), words.next(), words.next()) else { break };
        let Some(text) = size.parse().ok().and_then(|size: usize| rest.get(end + 1..end + 1 + size)) else {
            break;
        };
        found.push((id.to_owned(), Some(text.to_vec())));
        rest = rest.get(end + 2 + text.len()..).unwrap_or_default();
    }
    found
}

const LINK: u32 = 0o120000;

/// A test file is a text that a person reads.
const CARRIER_MOST: usize = 1 << 20;

/// Scripts that carry a canary; the first that a check gets to ends it.
const SHELL_CANARIES_MOST: usize = 16;

/// Test programs that carry one; those that a check does not start are not seen.
const PROGRAMS_MOST: usize = 40;

/// Texts that are read at once; what is beyond is read when it is asked for.
const AHEAD_MOST: usize = 5000;
const AHEAD_BYTES_MOST: usize = 48 << 20;

/// A handful of them carry a canary; the rest only says which kinds there are.
const CARRIERS_MOST: usize = 3000;

/// Carries out a plan in a checkout; returns the tree that it is then.
pub(crate) fn apply(
    plan: &OverlayPlan,
    trees: &Trees,
    checkout: &mut Checkout,
) -> Result<String, ProofError> {
    let tree = carry_out(plan, trees, &checkout.git, &checkout.path)?;
    checkout.listing = index_listing(&checkout.git)?;
    Ok(tree)
}

fn carry_out(plan: &OverlayPlan, trees: &Trees, git: &Git, checkout: &Path) -> Result<String, ProofError> {
    // The plan was made from the user's own objects; what is taken from the checkout's is hashed later.
    refuse_forged_blobs(&trees.submodules.git, &blobs_of(plan, trees))?;
    for action in &plan.actions {
        match action {
            // The repository of the checkout knows nothing of the files in its submodules.
            Action::Take { path, side, mode } if trees.submodules.holds(path) => {
                let text = trees.contents(*side, path).unwrap_or_default();
                write_bytes(checkout, path, &text)?;
                set_mode(checkout, path, *mode, &text)?;
            }
            Action::Take { path, side, mode } => {
                if let Some((_, id)) = trees.side(*side).get(path).filter(|_| *mode != SUBMODULE) {
                    take_blob(git, checkout, path, *mode, id)?;
                }
            }
            Action::Remove { path } => {
                if is_reached_plainly(checkout, Path::new(path)) {
                    files::remove(&checkout.join(path))?;
                    remove_empty_parents(checkout, Path::new(path));
                }
            }
            Action::Write { path, text } => write_text(checkout, path, text)?,
        }
    }
    // Where a folder took the place of a link, its files replace the link's entry; where a link took
    // the place of a folder, it has replaced the entries of its files.
    let own = plan.actions.iter().filter(|it| !trees.submodules.holds(it.path()));
    let reached = own.filter(|it| !is_beyond_link(checkout, Path::new(it.path())));
    let paths = reached.map(|it| OsString::from(it.path()));
    let paths = paths.filter(|it| !fs::symlink_metadata(checkout.join(it)).is_ok_and(|it| it.is_dir()));
    git.feed(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], &zero_separated(paths))?;
    let tree = single_line(&git.run(["write-tree"])?);
    // The commit that was checked out: nobody else has written there.
    let head = git.git_dir().join("HEAD");
    let parent = fs::read_to_string(&head)?;
    let commit = commit_tree(git, &tree, Some(parent.trim_end()))?;
    fs::write(&head, format!("{commit}\n"))?;
    Ok(tree)
}

/// The blobs whose texts a plan brings into a checkout.
fn blobs_of(plan: &OverlayPlan, trees: &Trees) -> Vec<Blob> {
    let of = |side: Side, path: &String| {
        let (_, id) = trees.side(side).get(path).filter(|(mode, _)| *mode != SUBMODULE)?;
        Some(Blob { id: id.clone(), path: path.into() })
    };
    let blobs = plan.actions.iter().flat_map(|it| match it {
        Action::Take { path, side, .. } => vec![of(*side, path)],
        Action::Write { path, .. } => vec![of(Side::Base, path), of(Side::Final, path)],
        Action::Remove { .. } => Vec::new(),
    });
    blobs.flatten().collect()
}

/// Puts a blob in place by git, so that line endings are as in any checkout.
fn take_blob(git: &Git, checkout: &Path, path: &str, mode: u32, id: &str) -> Result<(), ProofError> {
    clear_way(checkout, Path::new(path))?;
    files::remove(&checkout.join(path))?;
    let entry = format!("{mode:o} {id}\t{path}\0");
    git.feed(["update-index", "--add", "--replace", "-z", "--index-info"], entry.as_bytes())?;
    let path = format!("{path}\0");
    git.feed(["checkout-index", "--force", "--quiet", "-u", "-z", "--stdin"], path.as_bytes())?;
    Ok(())
}

/// Writes a text in place of a file; its mode stays.
pub(crate) fn write_text(checkout: &Path, path: &str, text: &str) -> Result<(), ProofError> {
    write_bytes(checkout, path, text.as_bytes())
}

/// Makes a file what its mode in git says: a program, or a link.
fn set_mode(checkout: &Path, path: &str, mode: u32, text: &[u8]) -> Result<(), ProofError> {
    let place = checkout.join(path);
    match mode {
        LINK => {
            files::remove(&place)?;
            std::os::unix::fs::symlink(bytes_to_path(text), &place)?;
        }
        mode => fs::set_permissions(&place, fs::Permissions::from_mode(mode & 0o777))?,
    }
    Ok(())
}

fn write_bytes(checkout: &Path, path: &str, text: &[u8]) -> Result<(), ProofError> {
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

/// Git knows no empty folder, but others do: make takes one for a target that is there.
fn remove_empty_parents(checkout: &Path, inside: &Path) {
    let parents = inside.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    for parent in parents {
        if fs::remove_dir(checkout.join(parent)).is_err() {
            return;
        }
    }
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

fn is_beyond_link(checkout: &Path, inside: &Path) -> bool {
    let mut parents = inside.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    parents.any(|it| fs::symlink_metadata(checkout.join(it)).is_ok_and(|it| it.is_symlink()))
}

pub(crate) fn is_reached_plainly(checkout: &Path, inside: &Path) -> bool {
    let mut parents = inside.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    parents.all(|it| fs::symlink_metadata(checkout.join(it)).is_ok_and(|it| it.is_dir()))
}

/// The lock files of cargo among the files that the index of a checkout lists.
pub(crate) fn cargo_locks(listing: &[u8]) -> Vec<PathBuf> {
    let paths = entries(listing).map(|(_, _, path)| path);
    paths.filter(|it| it.file_name().is_some_and(|it| it == "Cargo.lock")).collect()
}
