//! Whether the objects of a repository are what their ids say. Git believes its own store and compares
//! nothing when it reads: somebody who writes into `.git/objects` can give the id of an original test
//! another text, or the id of a folder another list of files. So every tree that a proof stands on is
//! computed again from its entries, and every file of a checkout is hashed again.

use crate::measure::proof::checkout::clean_checkout::entries;
use crate::measure::proof::storage::files;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::bytes_to_path;
use loop_base::files::private_folder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A tree and its entries, as `ls-tree -r -t -z` lists them.
pub(crate) struct ListedTree<'a> {
    pub(crate) id: &'a str,
    pub(crate) listing: &'a [u8],
}

/// Refuses trees whose entries do not add up to their ids. Every folder is put together again from what was
/// listed; it names the ids of the folders below it, so all of them can be hashed at once.
pub(crate) fn refuse_forged_trees(git: &Git, trees: &[ListedTree<'_>]) -> Result<(), GitError> {
    let mut folders = BTreeSet::new();
    for tree in trees {
        folders.extend(folder_objects(tree).ok_or_else(|| forged(tree.id, OF_THE_RUN))?);
    }
    let scratch = ObjectFolder::make()?;
    let mut places = Vec::new();
    for (number, (_, text)) in folders.iter().enumerate() {
        places.push(scratch.write(number, text)?);
    }
    let hashes = hashes(git, "tree", &places)?;
    match folders.iter().zip(hashes).find(|((id, _), hash)| id != hash) {
        Some(((id, _), _)) => Err(forged(id, OF_THE_RUN)),
        None => Ok(()),
    }
}

const OF_THE_RUN: &str = "a tree of this run";

/// Returns every folder of a listing: the id it is said to have, and the object that its entries make.
fn folder_objects(tree: &ListedTree<'_>) -> Option<Vec<(String, Vec<u8>)>> {
    let mut folders: BTreeMap<&[u8], (String, Vec<u8>)> = BTreeMap::new();
    folders.insert(b"", (tree.id.to_owned(), Vec::new()));
    for line in tree.listing.split(|it| *it == 0).filter(|it| !it.is_empty()) {
        let tab = line.iter().position(|it| *it == b'\t')?;
        let (head, path) = (std::str::from_utf8(&line[..tab]).ok()?, &line[tab + 1..]);
        let mut words = head.split(' ');
        let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
        let slash = path.iter().rposition(|it| *it == b'/');
        let (folder, name) = slash.map_or((&path[..0], path), |it| (&path[..it], &path[it + 1..]));
        let (_, object) = folders.get_mut(folder)?;
        object.extend(mode.trim_start_matches('0').bytes());
        object.push(b' ');
        object.extend(name);
        object.push(0);
        object.extend(binary(id)?);
        if kind == "tree" {
            folders.insert(path, (id.to_owned(), Vec::new()));
        }
    }
    Some(folders.into_values().collect())
}

fn binary(id: &str) -> Option<Vec<u8>> {
    let pairs = (0..id.len()).step_by(2);
    pairs.map(|it| u8::from_str_radix(id.get(it..it + 2)?, 16).ok()).collect()
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
    let hashes = hashes(git, "blob", &places)?;
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
        let text = git.run(["cat-file", "blob", &blob.id])?;
        places.push(scratch.write(number, &text)?);
    }
    let hashes = hashes(git, "blob", &places)?;
    match blobs.iter().zip(hashes).find(|(blob, hash)| blob.id != *hash) {
        Some((blob, _)) => Err(forged(&blob.id, &blob.path.to_string_lossy())),
        None => Ok(()),
    }
}

fn hashes(git: &Git, kind: &str, places: &[PathBuf]) -> Result<Vec<String>, GitError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let list: Vec<u8> = places.iter().flat_map(|it| [it.as_os_str().as_bytes(), b"\n"].concat()).collect();
    let said =
        git.feed(["hash-object", "-t", kind, "--literally", "--no-filters", "--stdin-paths"], &list)?;
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
        private_folder(&folder).map_err(|source| failed("creating", &folder, source))?;
        Ok(ObjectFolder(folder))
    }

    fn write(&self, number: usize, object: &[u8]) -> Result<PathBuf, GitError> {
        let place = self.0.join(number.to_string());
        fs::write(&place, object).map_err(|source| failed("writing", &place, source))?;
        Ok(place)
    }
}

impl Drop for ObjectFolder {
    fn drop(&mut self) {
        let _small = files::remove(&self.0);
    }
}
