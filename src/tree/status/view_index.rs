//! The index of the view: taken from the user's at first, freed of what would hide changes, and
//! brought up to date with what a status found.

use super::path_patterns::Ours;
use crate::tree::repository::git::GitError;
use crate::tree::repository::git_text::bytes_to_path;
use crate::tree::repository::pinned::{Pinned, head};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What has to happen to our index.
#[derive(Debug, Default)]
pub(super) struct Update {
    pub(super) put: BTreeSet<PathBuf>,
    pub(super) drop: BTreeSet<PathBuf>,
    /// Submodules, each with the name that stands for its state.
    pub(super) links: BTreeMap<PathBuf, String>,
}

impl Update {
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.put.iter().chain(&self.drop).chain(self.links.keys())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.drop.is_empty() && self.links.is_empty()
    }

    pub(super) fn touches_ignore_rules(&self) -> bool {
        self.put.iter().chain(&self.drop).any(|it| it.file_name().is_some_and(|it| it == ".gitignore"))
    }

    pub(super) fn drop_all(&mut self, paths: impl Iterator<Item = PathBuf>) {
        for path in paths {
            self.put.remove(&path);
            self.drop.insert(path);
        }
    }
}

/// Changes our index.
pub(super) fn apply(pinned: &Pinned, update: &Update) -> Result<(), GitError> {
    if !update.drop.is_empty() {
        update_index(pinned, &["--force-remove"], &update.drop)?;
    }
    if !update.put.is_empty() {
        update_index(pinned, &["--add", "--remove", "--replace"], &update.put)?;
    }
    if !update.links.is_empty() {
        let mut input = Vec::new();
        for (path, link) in &update.links {
            input.extend_from_slice(format!("160000 {link}\t").as_bytes());
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        pinned.view.feed(["update-index", "-z", "--index-info"], &input)?;
    }
    Ok(())
}

fn update_index<'a>(
    pinned: &Pinned,
    options: &[&str],
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), GitError> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_bytes());
        input.push(0);
    }
    let arguments = [&["update-index"], options, &["-z", "--stdin"]].concat();
    pinned.view.feed(arguments, &input).map(drop)
}

/// Copies the user's index with its time, because git tells by that time which entries it must
/// not trust.
pub(super) fn adopt(pinned: &Pinned) -> Result<(), GitError> {
    let (from, to) = (pinned.repository.git_dir().join("index"), pinned.index());
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

/// Makes the index again from HEAD; every file will be read at the next look.
pub(super) fn rebuild(pinned: &Pinned, ours: &Ours) -> Result<(), GitError> {
    let _may_be_absent = fs::remove_file(pinned.index());
    match head(&pinned.repository)?.0 {
        Some(commit) => pinned.view.run(["read-tree", &commit])?,
        None => pinned.view.run(["read-tree", "--empty"])?,
    };
    cleanse(pinned, ours)
}

/// Takes our own files out of the index, and the flags that would hide changes. In a sparse
/// checkout a file may be absent by intent; git itself ignores that flag where a file is present.
pub(super) fn cleanse(pinned: &Pinned, ours: &Ours) -> Result<(), GitError> {
    let listing = pinned.view.run(["ls-files", "-v", "-z"])?;
    let (mut unwanted, mut assumed, mut skipped) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entry in listing.split(|it| *it == 0) {
        let [tag, b' ', path @ ..] = entry else { continue };
        let path = bytes_to_path(path);
        if ours.holds(&path) {
            unwanted.insert(path);
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
        let sparse = pinned.view.run(["config", "--type=bool", "core.sparseCheckout"]);
        skipped.retain(|_| !sparse.as_ref().is_ok_and(|it| it.starts_with(b"true")));
    }
    for (option, paths) in
        [("--force-remove", unwanted), ("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)]
    {
        if !paths.is_empty() {
            update_index(pinned, &[option], &paths)?;
        }
    }
    Ok(())
}
