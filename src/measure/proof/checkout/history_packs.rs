//! The objects of a clean checkout: those that its commit, the baseline and the refs of the opening
//! lead to, in packs of our own, and no others. What only lies in the user's `.git` (a blob that nothing
//! names, a stash, a branch that the run made aside) is not part of the tree that is proven, and a
//! fresh clone of it would not have it either.
//!
//! Packing a long history takes seconds, so the baseline's step keeps its pack in the cache and the
//! steps after it add what is new. Old objects are copied as they lie in the user's packs.

use crate::tree::git::{Git, GitError};
use loop_base::files::{private_folder, replace_ours};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the commits and trees are listed that a store has everything of.
const TIPS: &str = "tips";

/// A million objects take about half a minute on an idle machine.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The names of the packs.
const OUTPUT_MOST: usize = 64 << 10;

/// Objects that the baseline's step keeps for the others.
pub(crate) struct HistoryPacks {
    folder: PathBuf,
}

impl HistoryPacks {
    pub(crate) fn at(folder: PathBuf) -> HistoryPacks {
        HistoryPacks { folder }
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// What the store has everything of; nothing for a store that is not complete.
    pub(crate) fn tips(&self) -> BTreeSet<String> {
        let listed = fs::read_to_string(self.folder.join(TIPS)).unwrap_or_default();
        listed.lines().map(str::to_owned).collect()
    }

    /// Adds what these tips lead to. `git` is the checkout's, `from` the objects of the user's repository.
    pub(crate) fn add(&self, git: &Git, from: &Path, tips: &[String]) -> Result<(), GitError> {
        let known = self.tips();
        let own = git.with(vec![("GIT_OBJECT_DIRECTORY", self.objects().into())]);
        make_folder(&self.objects().join("pack"))?;
        make_folder(&self.objects().join("info"))?;
        pack(&own, from, &self.objects(), tips, &known)?;
        let all: BTreeSet<&String> = known.iter().chain(tips).collect();
        let text: String = all.into_iter().map(|it| format!("{it}\n")).collect();
        let place = self.folder.join(TIPS);
        replace_ours(&place, &text).map_err(|source| failed("writing", &place, source))
    }
}

/// Packs into `objects` what `tips` lead to and `known` do not.
pub(crate) fn pack(
    git: &Git,
    from: &Path,
    objects: &Path,
    tips: &[String],
    known: &BTreeSet<String>,
) -> Result<(), GitError> {
    let wanted: BTreeSet<&String> = tips.iter().filter(|it| !known.contains(*it)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let git = git.with(vec![("GIT_ALTERNATE_OBJECT_DIRECTORIES", list_entry(from))]);
    let mut words: Vec<OsString> = ["pack-objects", "--revs", "--non-empty", "--quiet", "--window=0"]
        .into_iter()
        .map(OsString::from)
        .collect();
    // What a partial clone lacks of its history, it lacks here too.
    words.push("--missing=allow-any".into());
    words.push(objects.join("pack/pack").into());
    let git = git.limited(PATIENCE, OUTPUT_MOST);
    let packed = |known: &[String]| {
        let without = known.iter().map(|it| format!("^{it}\n"));
        let lines: String = wanted.iter().map(|it| format!("{it}\n")).chain(without).collect();
        git.feed(&words, lines.as_bytes())
    };
    let known: Vec<String> = known.iter().cloned().collect();
    match packed(&known) {
        // A store of which somebody removed a part has not all that it lists.
        Err(GitError::Failed { .. }) => packed(&present(&git, known)?).map(drop),
        done => done.map(drop),
    }
}

/// The objects of these that a repository has.
fn present(git: &Git, ids: Vec<String>) -> Result<Vec<String>, GitError> {
    Ok(found(git, ids)?.into_keys().collect())
}

/// The id of each of these that a repository has.
pub(crate) fn found(git: &Git, names: Vec<String>) -> Result<BTreeMap<String, String>, GitError> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let asked: String = names.iter().map(|it| format!("{it}\n")).collect();
    let said = git.feed(["cat-file", "--batch-check=%(objectname)"], asked.as_bytes())?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let is_there = |line: &str| !line.ends_with("missing");
    let pairs = names.into_iter().zip(said.lines()).filter(|(_, line)| is_there(line));
    Ok(pairs.map(|(name, id)| (name, id.to_owned())).collect())
}

/// A path in a list that colons separate, as git reads it.
fn list_entry(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return path.into();
    }
    let quoted = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{quoted}\"").into()
}

fn make_folder(path: &Path) -> Result<(), GitError> {
    private_folder(path).map_err(|source| failed("creating", path, source))
}

fn failed(doing: &'static str, path: &Path, source: std::io::Error) -> GitError {
    GitError::File { doing, path: path.to_owned(), source }
}
