//! What a clean run sees of the machine: a HOME of its own, the PATH of the opening, a short list of
//! variables, and the toolchains by name, because a new HOME would hide them. Package caches of the
//! user are read and never written, and sources are unpacked afresh from archives whose hashes the
//! lock files name: what somebody changed in an unpacked source is not used.

use crate::measure::proof::conditions::opening::{OpeningConditions, cargo_home};
use crate::measure::proof::conditions::path_programs::{FoundProgram, programs_in};
use crate::measure::proof::conditions::tool_homes::HOMES;
use crate::measure::proof::conditions::writable::is_out_of_reach;
use crate::measure::proof::storage::files::{self, Budget};
use crate::measure::proof::storage::folders::StepFolder;
use loop_supervise::RUN_MARK;
use rustix::process::geteuid;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The complete environment of a check.
pub(crate) struct CheckEnvironment {
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// What is not as it was at the opening and is left out, in words.
    pub(crate) left_out: Vec<String>,
}

/// Where the checkout is seen and where the original is.
pub(crate) struct Seen<'a> {
    /// The path under which the command finds the checkout.
    pub(crate) tree: &'a Path,
    /// The working trees whose paths stand for it in PATH.
    pub(crate) originals: [&'a Path; 2],
}

impl CheckEnvironment {
    /// Composes the environment. `more` are the names of `[proof] env`, which have their values from
    /// this process.
    pub(crate) fn compose(
        opening: &OpeningConditions,
        work: &StepFolder,
        seen: &Seen<'_>,
        more: &[String],
    ) -> io::Result<CheckEnvironment> {
        let mut left_out = Vec::new();
        let path = path(opening, work, seen, &mut left_out)?;
        let mut environment = CheckEnvironment { variables: Vec::new(), left_out };
        for (name, value) in &opening.variables {
            environment.set(name, value);
        }
        for home in HOMES {
            let place = opening.tool_home(home.variable, home.usual);
            if place.is_dir() {
                environment.set(home.variable, place);
            }
        }
        for name in more {
            if let Some(value) = std::env::var_os(name) {
                environment.set(name, value);
            }
        }
        environment.set("PATH", path);
        environment.set("HOME", work.home());
        environment.set("PWD", seen.tree);
        environment.set("CI", "true");
        environment.set(RUN_MARK, &work.mark);
        environment.set("CARGO_HOME", work.outside("cargo"));
        environment.set("GOPATH", work.outside("go"));
        environment.set("GOMODCACHE", work.outside("go").join("mod"));
        environment.set("GOCACHE", work.outside("go").join("build"));
        environment.set("GOENV", "off");
        environment.go_proxy(opening);
        environment.set("PYTHONPYCACHEPREFIX", work.outside("pycache"));
        identity(opening, &work.home())?;
        Ok(environment)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.iter().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.retain(|(it, _)| it != name);
        self.variables.push((name.into(), value.into()));
    }

    /// Go takes modules from the user's cache as from a proxy: it unpacks the archives afresh and
    /// compares them with `go.sum`.
    fn go_proxy(&mut self, opening: &OpeningConditions) {
        let usual =
            opening.variables.get("GOPROXY").map_or("https://proxy.golang.org,direct", String::as_str);
        let user = opening.home.join("go/pkg/mod");
        let cache = std::env::var_os("GOMODCACHE")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("GOPATH").map(|it| PathBuf::from(it).join("pkg/mod")))
            .unwrap_or(user)
            .join("cache/download");
        if cache.is_dir() {
            self.set("GOPROXY", format!("file://{},{usual}", cache.display()));
        }
        // What is unpacked here has to be removed by us.
        let flags = opening.variables.get("GOFLAGS").map(String::as_str).unwrap_or_default();
        self.set("GOFLAGS", format!("{flags} -modcacherw").trim().to_owned());
    }
}

/// The PATH of the opening. A folder with programs that were added or changed since is replaced by
/// links to those that are the same, or that only somebody else can change.
fn path(
    opening: &OpeningConditions,
    work: &StepFolder,
    seen: &Seen<'_>,
    left_out: &mut Vec<String>,
) -> io::Result<OsString> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut seen_now: BTreeMap<PathBuf, Vec<FoundProgram>> = BTreeMap::new();
    let user = geteuid().as_raw();
    for (number, entry) in opening.path.iter().enumerate() {
        if let Some(inside) = seen.originals.iter().find_map(|it| entry.folder.strip_prefix(it).ok()) {
            folders.push(seen.tree.join(inside));
            continue;
        }
        // On most systems `/bin` is a link to `/usr/bin`, and both are in PATH.
        let real = entry.folder.canonicalize().unwrap_or_else(|_| entry.folder.clone());
        let now = seen_now.entry(real).or_insert_with(|| programs_in(&entry.folder));
        let (mut same, other) = entry.programs.compare(&entry.folder, now);
        let (theirs, other): (Vec<String>, Vec<String>) =
            other.into_iter().partition(|it| is_out_of_reach(user, &entry.folder.join(it)));
        same.extend(theirs);
        if other.is_empty() {
            folders.push(entry.folder.clone());
            continue;
        }
        let links = work.outside("path").join(number.to_string());
        fs::create_dir_all(&links)?;
        for name in same {
            symlink(entry.folder.join(&name), links.join(name))?;
        }
        for name in other {
            let how = if entry.programs.has(&name) { "changed" } else { "added" };
            left_out.push(format!("{} ({how} since the opening)", entry.folder.join(name).display()));
        }
        folders.push(links);
    }
    let now = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&now) {
        if !opening.path.iter().any(|it| it.folder == folder) && folder.is_absolute() {
            left_out.push(format!("{} (in PATH since the opening)", folder.display()));
        }
    }
    std::env::join_paths(folders).map_err(io::Error::other)
}

/// Tests that make commits need a name to make them under.
fn identity(opening: &OpeningConditions, home: &Path) -> io::Result<()> {
    let value =
        |name: &str| opening.settings.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
    let quoted = |it: &str| it.replace('\\', "\\\\").replace('"', "\\\"");
    let (name, email) =
        (value("user.name").unwrap_or("proof"), value("user.email").unwrap_or("proof@localhost"));
    let text = format!("[user]\n\tname = \"{}\"\n\temail = \"{}\"\n", quoted(name), quoted(email));
    fs::write(home.join(".gitconfig"), text)
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

/// Fills the proof's own CARGO_HOME: archives from the user's cache whose hash is the one in the lock
/// file, the index entries of those packages, and the user's configuration if it is the opening's.
pub(crate) fn fill_cargo_home(
    opening: &OpeningConditions,
    work: &StepFolder,
    checkout: &Path,
    locks: &[PathBuf],
    budget: &mut Budget,
) -> io::Result<Vec<String>> {
    let (user, own) = (cargo_home(&opening.home), work.outside("cargo"));
    let mut notes = Vec::new();
    if locks.is_empty() || user.starts_with(checkout) {
        return Ok(notes);
    }
    fs::create_dir_all(&own)?;
    for name in ["config.toml", "config"] {
        let place = user.join(name);
        match (files::hash_file(&place).ok(), opening.configurations.get(&place)) {
            (Some(now), Some(before)) if now == *before => {
                fs::copy(&place, own.join(name))?;
            }
            (Some(_), _) => {
                notes.push(format!("{} changed since the run began and is not used", place.display()))
            }
            (None, _) => (),
        }
    }
    let mut names = BTreeSet::new();
    let mut has_git = false;
    for lock in locks {
        let Ok(text) = loop_base::files::text(&checkout.join(lock)) else { continue };
        let Ok(lock) = toml::from_str::<Lock>(&text) else { continue };
        for package in lock.package {
            has_git |= package.source.as_ref().is_some_and(|it| it.starts_with("git+"));
            if let Some(checksum) = package.checksum {
                let archive = format!("{}-{}.crate", package.name, package.version);
                names.insert((package.name, archive, checksum));
            }
        }
    }
    for registry in folders_in(&user.join("registry/cache")) {
        let (from, to) =
            (user.join("registry/cache").join(&registry), own.join("registry/cache").join(&registry));
        fs::create_dir_all(&to)?;
        for (_, archive, checksum) in &names {
            let (source, target) = (from.join(archive), to.join(archive));
            if target.exists() || !files::hash_file(&source).is_ok_and(|it| it == *checksum) {
                continue;
            }
            let found = fs::symlink_metadata(&source)?;
            budget.take(found.len())?;
            files::copy_file(&source, &target, &found)?;
        }
    }
    for registry in folders_in(&user.join("registry/index")) {
        let (from, to) =
            (user.join("registry/index").join(&registry), own.join("registry/index").join(&registry));
        if from.join(".git").exists() {
            files::copy(&from, &to, &|_| false, budget)?;
            continue;
        }
        copy_one(&from, &to, Path::new("config.json"))?;
        for (name, ..) in &names {
            copy_one(&from, &to, &Path::new(".cache").join(index_place(name)))?;
        }
    }
    if has_git && user.join("git/db").is_dir() {
        files::copy(&user.join("git/db"), &own.join("git/db"), &|_| false, budget)?;
    }
    Ok(notes)
}

fn folders_in(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.file_name()).collect()
}

fn copy_one(from: &Path, to: &Path, inside: &Path) -> io::Result<()> {
    let (source, target) = (from.join(inside), to.join(inside));
    if !source.is_file() || target.exists() {
        return Ok(());
    }
    fs::create_dir_all(target.parent().unwrap_or(to))?;
    fs::copy(source, target).map(drop)
}

/// Where a sparse index keeps a package: `1/a`, `2/ab`, `3/a/abc`, `ab/cd/abcd`.
fn index_place(name: &str) -> PathBuf {
    let name = name.to_lowercase();
    let part = |from: usize, to: usize| name.get(from..to).unwrap_or_default().to_owned();
    match name.len() {
        1 | 2 => PathBuf::from(name.len().to_string()).join(&name),
        3 => PathBuf::from("3").join(part(0, 1)).join(&name),
        _ => PathBuf::from(part(0, 2)).join(part(2, 4)).join(&name),
    }
}
