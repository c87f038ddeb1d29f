//! A clean checkout of one tree, in a folder of ours. The repository is our own: written by hand like
//! `git clone` would (its own HEAD, index, configuration and objects), so no hook, filter, template,
//! monitor or remote of the user's repository takes part, and no object that the tree's history does
//! not lead to. `git archive` would drop files with `export-ignore` and has no history; `git worktree
//! add` runs the repository's hooks and filters. Every file is written now, so every time stamp is
//! newer than any build cache.
//!
//! Submodules come from the module folders of the user's repository, so commits that were never
//! pushed are there. A shallow repository stays shallow. What a partial clone lacks is named, or
//! fetched by the user's own git. Files kept by LFS are filled from the local LFS store.

use crate::measure::proof::checkout::history_packs::{self, HistoryPacks};
use crate::measure::proof::storage::files;
use crate::tree::git::{Git, GitError};
use crate::tree::git_dir;
use crate::tree::git_text::{bytes_to_path, is_object_id, single_line};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Submodules inside submodules are rarely two deep; a repository that names itself has no end.
const DEPTH_MOST: usize = 8;

/// Module folders that are asked for a commit that no name leads to.
const MODULES_MOST: usize = 50;

/// A pointer of LFS has three lines.
const POINTER_MOST: usize = 1024;

const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// What a checkout is made from.
pub(crate) struct CheckoutSource<'a> {
    /// The user's working tree, whose repository has the objects.
    pub(crate) repository: &'a Git,
    pub(crate) tree: &'a str,
    /// The commit that the tree lies on, for tools that ask git for their version.
    pub(crate) parent: Option<&'a str>,
    /// Settings that decide how blobs become files, as they were at the opening.
    pub(crate) settings: &'a [(String, String)],
    /// Trees and commits whose objects are there too: overlays take files from them.
    pub(crate) more: Vec<String>,
    /// The refs of the opening, object and name.
    pub(crate) refs: &'a [(String, String)],
    /// Objects that the baseline's step kept.
    pub(crate) history: Option<&'a HistoryPacks>,
    /// This is the baseline's step.
    pub(crate) keeps: bool,
}

/// A checkout on disk.
pub(crate) struct Checkout {
    pub(crate) path: PathBuf,
    pub(crate) git: Git,
    /// The files of its index, as they were checked out.
    pub(crate) listing: Vec<u8>,
    pub(crate) notes: Vec<String>,
}

/// Writes the tree to `path`, which must not exist.
pub(crate) fn write(source: &CheckoutSource<'_>, path: &Path) -> Result<Checkout, GitError> {
    let mut writer = CheckoutWriter { source, notes: Vec::new() };
    let from = Repository {
        objects: source.repository.common_dir().join("objects"),
        git_dirs: distinct([source.repository.git_dir(), source.repository.common_dir()]),
        work_tree: Some(source.repository.work_tree().to_owned()),
    };
    fetch_missing(source)?;
    let (refs, tree_of_parent) = refs(source)?;
    let git = writer.repository(&from, path, &refs)?;
    let trees = [Some(source.tree), source.parent].into_iter().flatten().map(str::to_owned);
    let named = refs.iter().map(|(id, _)| id.clone());
    writer.fill(&git, path, &from, trees.chain(source.more.iter().cloned()).chain(named).collect())?;
    let commit = commit(&git, source, &tree_of_parent)?;
    let listing = writer.files(&git, path, &commit, source.tree)?;
    writer.fill_large_files(&listing, path, &from)?;
    writer.submodules(&git, &listing, path, &from, 0)?;
    Ok(Checkout { path: path.to_owned(), git, listing, notes: writer.notes })
}

/// The refs that a checkout has: those of the opening, as they were, and those that the commit has in
/// its history, as they are. A branch or tag that the run made aside is no part of the tree. Comes with the tree of
/// the commit.
fn refs(source: &CheckoutSource<'_>) -> Result<(Vec<(String, String)>, String), GitError> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let parent = source.parent.map(|it| format!("{it}^{{tree}}"));
    let asked = parent.iter().cloned().chain(source.refs.iter().map(|(id, _)| id.clone()));
    let mut there = history_packs::found(source.repository, asked.collect())?;
    let tree = parent.and_then(|it| there.remove(&it)).unwrap_or_default();
    let kept = source.refs.iter().filter(|(id, _)| there.contains_key(id));
    all.extend(kept.map(|(id, name)| (name.clone(), id.clone())));
    if let Some(parent) = source.parent {
        let merged = format!("--merged={parent}");
        all.extend(listed_refs(source.repository, &[&merged])?.into_iter().map(|(id, name)| (name, id)));
    }
    Ok((all.into_iter().map(|(name, id)| (id, name)).collect(), tree))
}

/// Object and name of every branch and tag.
pub(crate) fn listed_refs(git: &Git, more: &[&str]) -> Result<Vec<(String, String)>, GitError> {
    let mut words = vec!["for-each-ref", "--format=%(objectname) %(refname)"];
    words.extend(more);
    words.extend(["refs/heads", "refs/tags", "refs/remotes"]);
    let listing = git.run(words)?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let pair = |it: &str| it.split_once(' ').map(|(id, name)| (id.to_owned(), name.to_owned()));
    Ok(listing.lines().filter_map(pair).collect())
}

/// A repository of the user's that has objects for us.
struct Repository {
    objects: PathBuf,
    /// Where `modules/` may lie.
    git_dirs: Vec<PathBuf>,
    work_tree: Option<PathBuf>,
}

struct CheckoutWriter<'a> {
    source: &'a CheckoutSource<'a>,
    notes: Vec<String>,
}

impl CheckoutWriter<'_> {
    /// Makes the repository of the checkout, which has no objects yet.
    fn repository(
        &mut self,
        from: &Repository,
        path: &Path,
        refs: &[(String, String)],
    ) -> Result<Git, GitError> {
        let dot_git = path.join(".git");
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            make_folder(&dot_git.join(folder))?;
        }
        if let Some(history) = self.source.history {
            let mut alternates = history.objects().into_os_string().into_vec();
            alternates.push(b'\n');
            put(&dot_git.join("objects/info/alternates"), &alternates)?;
        }
        let refs: String = refs.iter().map(|(id, name)| format!("{id} {name}\n")).collect();
        put(&dot_git.join("packed-refs"), refs.as_bytes())?;
        put(&dot_git.join("HEAD"), b"ref: refs/heads/unborn\n")?;
        put(&dot_git.join("config"), &configuration(self.source.settings))?;
        for folder in &from.git_dirs {
            if let Ok(shallow) = fs::read(folder.join("shallow")) {
                put(&dot_git.join("shallow"), &shallow)?;
            }
        }
        Git::reopen_with(
            path,
            vec![("GIT_CONFIG_NOSYSTEM", "1".into()), ("GIT_CONFIG_GLOBAL", "/dev/null".into())],
        )
    }

    /// Brings the objects that these tips lead to, and no others.
    fn fill(&self, git: &Git, path: &Path, from: &Repository, tips: Vec<String>) -> Result<(), GitError> {
        match self.source.history {
            Some(history) if self.source.keeps => history.add(git, &from.objects, &tips),
            kept => {
                let known = kept.map(HistoryPacks::tips).unwrap_or_default();
                history_packs::pack(git, &from.objects, &path.join(".git/objects"), &tips, &known)
            }
        }
    }

    /// Writes the files of a tree on a commit, and lists them.
    fn files(&mut self, git: &Git, path: &Path, commit: &str, tree: &str) -> Result<Vec<u8>, GitError> {
        put(&path.join(".git/HEAD"), format!("{commit}\n").as_bytes())?;
        git.run(["read-tree", "--reset", "-u", tree])?;
        index_listing(git)
    }

    fn submodules(
        &mut self,
        git: &Git,
        listing: &[u8],
        path: &Path,
        from: &Repository,
        depth: usize,
    ) -> Result<(), GitError> {
        let links: Vec<(String, PathBuf)> = entries(listing)
            .filter(|(mode, ..)| *mode == "160000")
            .map(|(_, id, path)| (id.to_owned(), path))
            .collect();
        if links.is_empty() {
            return Ok(());
        }
        let names = module_names(git);
        for (commit, inside) in links {
            let module = if depth < DEPTH_MOST { find_module(from, &names, &inside, &commit) } else { None };
            let Some(module) = module else {
                self.notes.push(format!(
                    "submodule {} stays empty: its commit {commit} is not in this repository",
                    inside.display()
                ));
                continue;
            };
            let target = path.join(&inside);
            let git = self.repository(&module, &target, &[])?;
            self.fill(&git, &target, &module, vec![commit.clone()])?;
            let listing = self.files(&git, &target, &commit, &commit)?;
            self.fill_large_files(&listing, &target, &module)?;
            self.submodules(&git, &listing, &target, &module, depth + 1)?;
        }
        Ok(())
    }

    /// Puts the content of large files in place of their pointers.
    fn fill_large_files(&mut self, listing: &[u8], path: &Path, from: &Repository) -> Result<(), GitError> {
        let names: Vec<PathBuf> = entries(listing).map(|(_, _, path)| path).collect();
        let is_attributes = |it: &&PathBuf| it.as_os_str().as_bytes().ends_with(b".gitattributes");
        let uses_lfs = names.iter().filter(is_attributes).any(|it| {
            let text = fs::read(path.join(it)).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("filter=lfs")
        });
        if !uses_lfs {
            return Ok(());
        }
        let mut absent = Vec::new();
        for name in names {
            let file = path.join(&name);
            let Some(id) = pointer(&file) else { continue };
            let places = from
                .git_dirs
                .iter()
                .map(|it| it.join("lfs/objects").join(&id[..2]).join(&id[2..4]).join(&id));
            let found = places.into_iter().find(|it| files::hash_file(it).is_ok_and(|hash| hash == id));
            match found {
                Some(found) => {
                    fs::copy(&found, &file).map_err(|source| failed("writing", &file, source))?;
                }
                None => absent.push(name.to_string_lossy().into_owned()),
            }
        }
        if !absent.is_empty() {
            let more =
                if absent.len() > 3 { format!(" and {} more", absent.len() - 3) } else { String::new() };
            absent.truncate(3);
            self.notes.push(format!(
                "{}{more}: only the LFS pointer is here; run git lfs fetch to have the content in the proof",
                absent.join(", ")
            ));
        }
        Ok(())
    }
}

/// The commit that HEAD names: the parent itself if it has this tree, else one of ours in the
/// checkout's own object store.
fn commit(git: &Git, source: &CheckoutSource<'_>, tree_of_parent: &str) -> Result<String, GitError> {
    match source.parent {
        Some(parent) if tree_of_parent == source.tree => Ok(parent.to_owned()),
        parent => commit_tree(git, source.tree, parent),
    }
}

/// Makes a commit of a tree, in the name of this program.
pub(crate) fn commit_tree(git: &Git, tree: &str, parent: Option<&str>) -> Result<String, GitError> {
    let identity = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"]
        .map(|name| (name, if name.ends_with("NAME") { "loopctl".into() } else { "loop@localhost".into() }));
    let mut arguments = vec!["commit-tree", tree];
    if let Some(parent) = parent {
        arguments.extend(["-p", parent]);
    }
    Ok(single_line(&git.with(identity.to_vec()).feed(arguments, b"loop: the tree of a proof\n")?))
}

/// Keeps a tree under a ref of ours in the user's repository, so that no clean-up of git's removes
/// what a proof still needs.
pub(crate) fn keep(
    repository: &Git,
    name: &str,
    tree: &str,
    parent: Option<&str>,
) -> Result<String, GitError> {
    let commit = commit_tree(&repository.durable(), tree, parent)?;
    repository.durable().run(["-c", "core.logAllRefUpdates=false", "update-ref", name, &commit])?;
    Ok(commit)
}

/// Has the user's git fetch what a partial clone lacks of this tree.
fn fetch_missing(source: &CheckoutSource<'_>) -> Result<(), GitError> {
    let repository = source.repository;
    if !repository.may_be_partial() {
        return Ok(());
    }
    let remote = repository.run(["config", "--get-regexp", r"^remote\..*\.promisor$", "true"]);
    let remote = remote.map(|it| single_line(&it)).unwrap_or_default();
    let Some(remote) = remote
        .split(' ')
        .next()
        .and_then(|it| it.strip_prefix("remote."))
        .and_then(|it| it.strip_suffix(".promisor"))
    else {
        return Ok(());
    };
    let listed =
        repository.run(["rev-list", "--objects", "--missing=print", "--no-object-names", source.tree])?;
    let listed = String::from_utf8_lossy(&listed);
    let missing: Vec<&str> = listed.lines().filter_map(|it| it.strip_prefix('?')).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut words = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"];
    words.extend(["--filter=blob:none", "--stdin", remote]);
    repository.feed(words, missing.join("\n").as_bytes()).map(drop)
}

/// The names of submodules by their paths, from the `.gitmodules` that was checked out.
fn module_names(git: &Git) -> BTreeMap<PathBuf, String> {
    let listing =
        git.run(["config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"]);
    let listing = listing.unwrap_or_default();
    let mut names = BTreeMap::new();
    for entry in listing.split(|it| *it == 0) {
        let mut parts = entry.splitn(2, |it| *it == b'\n');
        let (Some(key), Some(path)) = (parts.next(), parts.next()) else { continue };
        let key = String::from_utf8_lossy(key).into_owned();
        let name = key.strip_prefix("submodule.").and_then(|it| it.strip_suffix(".path"));
        let is_plain = |it: &&str| Path::new(it).components().all(|it| matches!(it, Component::Normal(_)));
        if let Some(name) = name.filter(is_plain) {
            names.insert(bytes_to_path(path), name.to_owned());
        }
    }
    names
}

/// The repository of a submodule that has this commit.
fn find_module(
    from: &Repository,
    names: &BTreeMap<PathBuf, String>,
    inside: &Path,
    commit: &str,
) -> Option<Repository> {
    let named = names
        .get(inside)
        .into_iter()
        .flat_map(|name| from.git_dirs.iter().map(move |it| it.join("modules").join(name)));
    let work_tree = from.work_tree.as_ref().map(|it| it.join(inside));
    let embedded = work_tree.as_ref().and_then(|it| git_dir::own(it));
    let candidates: Vec<PathBuf> = named.chain(embedded).filter(|it| it.join("objects").is_dir()).collect();
    let git_dir = candidates.into_iter().find(|it| has_commit(it, commit))?;
    let shared = git_dir::shared(&git_dir);
    Some(Repository { objects: shared.join("objects"), git_dirs: distinct([&git_dir, &shared]), work_tree })
}

/// Returns the folder with the objects of a submodule, if it has this commit. One that the final tree lacks
/// is found by its commit alone.
pub(crate) fn module_objects(repository: &Git, inside: &Path, commit: &str) -> Option<PathBuf> {
    let from = Repository {
        objects: repository.common_dir().join("objects"),
        git_dirs: distinct([repository.git_dir(), repository.common_dir()]),
        work_tree: Some(repository.work_tree().to_owned()),
    };
    if let Some(found) = find_module(&from, &module_names(repository), inside, commit) {
        return Some(found.objects);
    }
    let folders = from.git_dirs.iter().flat_map(|it| fs::read_dir(it.join("modules"))).flatten().flatten();
    let modules = folders.map(|it| it.path()).filter(|it| it.join("objects").is_dir());
    let found = modules.take(MODULES_MOST).find(|it| has_commit(it, commit))?;
    Some(git_dir::shared(&found).join("objects"))
}

fn has_commit(git_dir: &Path, commit: &str) -> bool {
    if !is_object_id(commit) {
        return false;
    }
    // Asked with a git folder that holds nothing but the way to the objects: the settings of the
    // module folder may name programs.
    let Ok(empty) = Probe::make(&git_dir::shared(git_dir).join("objects")) else { return false };
    empty.git.run(["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_ok()
}

/// A repository without anything but somebody's objects, removed with this value.
struct Probe {
    folder: PathBuf,
    git: Git,
}

impl Probe {
    fn make(objects: &Path) -> Result<Probe, GitError> {
        let folder = std::env::temp_dir().join(format!("loop-probe-{}", uuid::Uuid::new_v4().simple()));
        for part in ["objects", "refs"] {
            make_folder(&folder.join(".git").join(part))?;
        }
        put(&folder.join(".git/HEAD"), b"ref: refs/heads/unborn\n")?;
        put(&folder.join(".git/config"), b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        let git = Git::open_with(
            &folder,
            vec![
                ("GIT_CONFIG_NOSYSTEM", "1".into()),
                ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
                ("GIT_OBJECT_DIRECTORY", objects.as_os_str().to_owned()),
            ],
        )?;
        Ok(Probe { folder, git })
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _small = files::remove(&self.folder);
    }
}

fn pointer(file: &Path) -> Option<String> {
    if fs::symlink_metadata(file).ok()?.len() > POINTER_MOST as u64 {
        return None;
    }
    let text = loop_base::files::read(file, POINTER_MOST).ok()?;
    if !text.starts_with(POINTER) {
        return None;
    }
    let text = String::from_utf8(text).ok()?;
    let id = text.lines().find_map(|it| it.strip_prefix("oid sha256:"))?;
    (id.len() == 64 && is_object_id(id)).then(|| id.to_owned())
}

fn configuration(settings: &[(String, String)]) -> Vec<u8> {
    let is_sha256 =
        settings.iter().any(|(name, value)| name == "extensions.objectformat" && value == "sha256");
    let version = if is_sha256 { 1 } else { 0 };
    let mut text =
        format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tsafecrlf = false\n");
    for (name, value) in settings {
        if let Some((section, key)) = name.split_once('.').filter(|(it, _)| *it != "extensions" || is_sha256)
        {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            text.push_str(&format!("[{section}]\n\t{key} = \"{value}\"\n"));
        }
    }
    text.into_bytes()
}

/// Lists the index of a checkout: mode, object and path of every file, for [`entries`].
pub(crate) fn index_listing(git: &Git) -> Result<Vec<u8>, GitError> {
    git.run(["ls-files", "--stage", "-z"])
}

/// Mode, object and path of each line of `ls-files --stage -z`.
pub(crate) fn entries(listing: &[u8]) -> impl Iterator<Item = (&str, &str, PathBuf)> {
    listing.split(|it| *it == 0).filter_map(|line| {
        let tab = line.iter().position(|it| *it == b'\t')?;
        let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
        Some((words.next()?, words.next()?, bytes_to_path(&line[tab + 1..])))
    })
}

fn distinct<const N: usize>(paths: [&Path; N]) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|it| it == path) {
            kept.push(path.to_owned());
        }
    }
    kept
}

fn make_folder(path: &Path) -> Result<(), GitError> {
    fs::create_dir_all(path).map_err(|source| failed("creating", path, source))
}

fn put(path: &Path, content: &[u8]) -> Result<(), GitError> {
    fs::write(path, content).map_err(|source| failed("writing", path, source))
}

fn failed(doing: &'static str, path: &Path, source: std::io::Error) -> GitError {
    GitError::File { doing, path: path.to_owned(), source }
}

/// Paths for the standard input of a git command that takes them separated by zero bytes.
pub(crate) fn zero_separated(paths: impl Iterator<Item = OsString>) -> Vec<u8> {
    let mut text = Vec::new();
    for path in paths {
        text.extend_from_slice(path.as_bytes());
        text.push(0);
    }
    text
}
