//! Whether the objects of a repository are what their ids say. Git believes its own store and compares
//! nothing when it reads: somebody who writes into `.git/objects` can give the id of an original test
//! another text, or the id of a folder another list of files. So every tree that a proof stands on is
//! computed again from its entries, and every file of a checkout is hashed again.

use crate::measure::proof::checkout::clean_checkout::entries;
use crate::measure::proof::storage::files;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::{bytes_to_path, single_line};
use loop_base::files::private_folder;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Refuses a tree whose entries, as `ls-tree -r -z` lists them, do not add up to its id.
pub(crate) fn refuse_forged_tree(git: &Git, tree: &str, listing: &[u8]) -> Result<(), GitError> {
    let scratch = ObjectFolder::make()?;
    let git = git.with(vec![
        ("GIT_INDEX_FILE", scratch.0.join("index").into()),
        ("GIT_OBJECT_DIRECTORY", scratch.0.join("objects").into()),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", git.common_dir().join("objects").into()),
    ]);
    git.feed(["update-index", "-z", "--index-info"], listing)?;
    let computed = single_line(&git.run(["write-tree", "--missing-ok"])?);
    if computed == tree { Ok(()) } else { Err(forged(tree, "a tree of this run")) }
}

/// Refuses a checkout with a file that is not what the id in its index, as listed, says.
pub(crate) fn refuse_forged_files(git: &Git, checkout: &Path, listing: &[u8]) -> Result<(), GitError> {
    let blobs = entries(listing).filter(|(mode, ..)| *mode != "160000");
    // A link has no text of its own here, and a name with a line break cannot be handed over.
    let (plain, mut doubtful): (Vec<Blob>, Vec<Blob>) = blobs
        .map(|(mode, id, path)| (mode == "120000", Blob { id: id.to_owned(), path }))
        .map(|(is_link, blob)| (is_link || blob.path.as_os_str().as_bytes().contains(&b'\n'), blob))
        .fold((Vec::new(), Vec::new()), |(mut plain, mut doubtful), (is_doubtful, blob)| {
            if is_doubtful {
                doubtful.push(blob)
            } else {
                plain.push(blob)
            }
            (plain, doubtful)
        });
    let places: Vec<PathBuf> = plain.iter().map(|it| checkout.join(&it.path)).collect();
    let hashes = hashes(git, &places)?;
    // Line endings that differ between the store and the checkout are settled by the store's own text.
    doubtful.extend(plain.into_iter().zip(hashes).filter(|(blob, hash)| blob.id != *hash).map(|(it, _)| it));
    refuse_forged_blobs(git, &doubtful)
}

/// A blob and where it belongs.
pub(crate) struct Blob {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// Refuses blobs whose text has another id than they have.
pub(crate) fn refuse_forged_blobs(git: &Git, blobs: &[Blob]) -> Result<(), GitError> {
    if blobs.is_empty() {
        return Ok(());
    }
    let scratch = ObjectFolder::make()?;
    let mut places = Vec::new();
    for (number, blob) in blobs.iter().enumerate() {
        let place = scratch.0.join(number.to_string());
        let text = git.run(["cat-file", "blob", &blob.id])?;
        fs::write(&place, text).map_err(|source| failed("writing", &place, source))?;
        places.push(place);
    }
    let hashes = hashes(git, &places)?;
    match blobs.iter().zip(hashes).find(|(blob, hash)| blob.id != *hash) {
        Some((blob, _)) => Err(forged(&blob.id, &blob.path.to_string_lossy())),
        None => Ok(()),
    }
}

fn hashes(git: &Git, places: &[PathBuf]) -> Result<Vec<String>, GitError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let list: Vec<u8> = places.iter().flat_map(|it| [it.as_os_str().as_bytes(), b"\n"].concat()).collect();
    let said = git.feed(["hash-object", "--no-filters", "--stdin-paths"], &list)?;
    Ok(String::from_utf8_lossy(&said).lines().map(str::to_owned).collect())
}

fn forged(object: &str, path: &str) -> GitError {
    GitError::Forged { object: object.to_owned(), path: bytes_to_path(path.as_bytes()) }
}

fn failed(doing: &'static str, path: &Path, source: std::io::Error) -> GitError {
    GitError::File { doing, path: path.to_owned(), source }
}

/// A folder of ours that is removed with this value.
struct ObjectFolder(PathBuf);

impl ObjectFolder {
    fn make() -> Result<ObjectFolder, GitError> {
        let folder = std::env::temp_dir().join(format!("loop-objects-{}", uuid::Uuid::new_v4().simple()));
        let objects = folder.join("objects");
        private_folder(&objects).map_err(|source| failed("creating", &objects, source))?;
        Ok(ObjectFolder(folder))
    }
}

impl Drop for ObjectFolder {
    fn drop(&mut self) {
        let _small = files::remove(&self.0);
    }
}
