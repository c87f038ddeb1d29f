//! Folders that a package manager filled and git ignores: `node_modules`, a virtual environment. A
//! clean checkout has none, and to install them again costs minutes and a network, so they are
//! borrowed, under conditions. The folder carries its package manager's mark, was there when the run
//! was opened, is the same since, and leads nowhere into the original tree. It is copied, never
//! linked, without the caches that programs keep in it. Everything else that git ignores is a cache
//! or a build product and stays out.
//!
//! A folder that changed is not borrowed. That says nothing about why: an honest new dependency looks
//! like a planted one, so it takes `prepare`, or a person.

use crate::measure::proof::storage::files::{self, Budget};
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::bytes_to_path;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files that only a package manager writes.
const MARKS: [&str; 5] =
    ["pyvenv.cfg", ".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"];

/// Folders inside that hold what programs computed from the rest.
const CACHES: [&str; 4] = ["__pycache__", ".cache", ".vite", ".vite-temp"];

/// Scripts and path files are short; more than this is no place for a path that Python reads.
const TEXT_MOST: usize = 256 << 10;

/// A folder as it was at the opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BorrowedFolder {
    /// Relative to the tree.
    pub(crate) path: PathBuf,
    pub(crate) fingerprint: String,
}

/// What became of a folder in a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BorrowOutcome {
    Copied,
    /// It is not as it was at the opening.
    Changed,
    /// It was not there at the opening.
    Added,
    /// It leads into the original tree, by this file.
    Leads(String),
}

/// Whether a path inside a folder is a cache that programs keep there.
pub(crate) fn skips(inside: &Path) -> bool {
    inside.file_name().and_then(|it| it.to_str()).is_some_and(|it| CACHES.contains(&it))
}

/// The folders of a tree that could be borrowed, with their fingerprints.
pub(crate) fn candidates(repository: &Git) -> Result<Vec<BorrowedFolder>, GitError> {
    let top = repository.work_tree();
    let found = marked(repository)?;
    let fingerprints = found.into_iter().filter_map(|path| {
        let fingerprint = files::fingerprint(&top.join(&path), &skips).ok()?;
        Some(BorrowedFolder { path, fingerprint })
    });
    Ok(fingerprints.collect())
}

/// Ignored folders with a mark. The `node_modules` of a workspace's members have none of their own;
/// they belong to the one above them.
fn marked(repository: &Git) -> Result<Vec<PathBuf>, GitError> {
    let top = repository.work_tree();
    let asked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let listing = repository.run(asked)?;
    let folders: Vec<PathBuf> = listing
        .split(|it| *it == 0)
        .filter_map(|it| it.strip_suffix(b"/"))
        .map(bytes_to_path)
        .filter(|it| fs::symlink_metadata(top.join(it)).is_ok_and(|it| it.is_dir()))
        .collect();
    let has_mark = |it: &Path| MARKS.iter().any(|mark| top.join(it).join(mark).is_file());
    let is_modules = |it: &Path| it.file_name().is_some_and(|it| it == "node_modules");
    let roots: Vec<PathBuf> = folders.iter().filter(|it| has_mark(it)).cloned().collect();
    let belongs = |it: &PathBuf| {
        let beside =
            |root: &PathBuf| is_modules(root) && it.starts_with(root.parent().unwrap_or(Path::new("")));
        has_mark(it) || is_modules(it) && roots.iter().any(beside)
    };
    Ok(folders.into_iter().filter(belongs).collect())
}

/// Where borrowed folders come from and go to.
pub(crate) struct Borrowing<'a> {
    /// The tree that has the folders now.
    pub(crate) from: &'a Git,
    /// The folders at the opening.
    pub(crate) opening: &'a [BorrowedFolder],
    /// Copies that A0 took while the folders were as at the opening, if they are still there.
    pub(crate) kept: Option<&'a Path>,
    /// This is A0.
    pub(crate) keeps: bool,
    pub(crate) checkout: &'a Path,
    /// Whether the checkout will be seen at the path of the tree.
    pub(crate) is_mounted: bool,
}

/// Copies every folder that may be borrowed into the checkout.
pub(crate) fn borrow(
    borrowing: &Borrowing<'_>,
    budget: &mut Budget,
) -> io::Result<Vec<(PathBuf, BorrowOutcome)>> {
    let tree = borrowing.from.work_tree();
    let mut lent = Vec::new();
    for folder in borrowing.opening {
        let kept = borrowing.kept.map(|it| it.join(&folder.path));
        let Some(source) =
            source(&tree.join(&folder.path), folder, kept.as_deref(), borrowing.keeps, budget)?
        else {
            lent.push((folder.path.clone(), BorrowOutcome::Changed));
            continue;
        };
        if !borrowing.is_mounted
            && let Some(file) = leads_into(&source, &folder.path, tree)?
        {
            lent.push((folder.path.clone(), BorrowOutcome::Leads(file)));
            continue;
        }
        let target = borrowing.checkout.join(&folder.path);
        // A tree that tracks something at this path needs no loan.
        if fs::symlink_metadata(&target).is_ok() || !leads_through_folders(borrowing.checkout, &folder.path) {
            continue;
        }
        files::copy(&source, &target, &skips, budget)?;
        if !borrowing.is_mounted {
            repoint_scripts(&target, &tree.join(&folder.path))?;
        }
        lent.push((folder.path.clone(), BorrowOutcome::Copied));
    }
    let now = marked(borrowing.from).map_err(io::Error::other)?;
    let added = now.into_iter().filter(|it| !borrowing.opening.iter().any(|known| known.path == *it));
    lent.extend(added.map(|it| (it, BorrowOutcome::Added)));
    Ok(lent)
}

/// Returns where to copy a folder from if it is as it was, by its fingerprint or else by its content.
/// A0 keeps a copy; later the folder may have been written again with the same content.
fn source(
    folder: &Path,
    opening: &BorrowedFolder,
    kept: Option<&Path>,
    keeps: bool,
    budget: &mut Budget,
) -> io::Result<Option<PathBuf>> {
    let is_same = || files::fingerprint(folder, &skips).is_ok_and(|it| it == opening.fingerprint);
    if let Some(kept) = kept.filter(|it| it.is_dir() && !keeps) {
        let is_as_before = is_same() || folder.is_dir() && files::same(folder, kept, &skips)?;
        return Ok(is_as_before.then(|| kept.to_owned()));
    }
    if !is_same() {
        return Ok(None);
    }
    let Some(kept) = kept.filter(|_| keeps) else { return Ok(Some(folder.to_owned())) };
    files::remove(kept)?;
    let copied = files::copy(folder, kept, &skips, budget);
    // Somebody may have worked in the folder meanwhile.
    if !is_same() {
        files::remove(kept)?;
        return Ok(None);
    }
    copied.map(|()| Some(kept.to_owned()))
}

/// Every step of the way to a folder is a folder of the checkout, or not there yet.
fn leads_through_folders(checkout: &Path, inside: &Path) -> bool {
    let parents = inside.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    parents.into_iter().all(|it| match fs::symlink_metadata(checkout.join(it)) {
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    })
}

/// The first file by which a copy would use the original tree: a path file of an editable install or
/// an absolute link. What leads back into the folder itself is none.
fn leads_into(kept: &Path, inside: &Path, tree: &Path) -> io::Result<Option<String>> {
    let own = tree.join(inside);
    for (path, found) in files::walk(kept, &skips)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let leads = if found.is_symlink() {
            let target = fs::read_link(kept.join(&path))?;
            target.starts_with(tree) && !target.starts_with(&own)
        } else if is_path_file(&name) {
            let text = loop_base::files::bytes(&kept.join(&path), TEXT_MOST).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let own = own.to_string_lossy().into_owned();
            text.replace(&own, "").contains(&*tree.to_string_lossy())
        } else {
            false
        };
        if leads {
            return Ok(Some(inside.join(path).to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

/// Files that Python reads paths from: `.pth`, `.egg-link`, the record of an editable install, and
/// the finder modules that setuptools writes for one.
fn is_path_file(name: &str) -> bool {
    name.ends_with(".pth")
        || name.ends_with(".egg-link")
        || name == "direct_url.json"
        || name.starts_with("__editable__")
}

/// Scripts of a virtual environment name their interpreter by its absolute path, which would be the
/// original environment. In the copy they name the copy.
fn repoint_scripts(copy: &Path, original: &Path) -> io::Result<()> {
    for folder in ["bin", "Scripts"] {
        let Ok(entries) = fs::read_dir(copy.join(folder)) else { continue };
        for entry in entries.flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_file())) {
            let Ok(text) = loop_base::files::text(&entry.path()) else { continue };
            let original = original.to_string_lossy();
            if text.contains(&*original) {
                fs::write(entry.path(), text.replace(&*original, &copy.to_string_lossy()))?;
            }
        }
    }
    Ok(())
}
