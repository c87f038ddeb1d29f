//! What a proof takes for granted, as it was when the run was opened and no agent had worked yet: the
//! programs in PATH, the variables that checks may see, the folders that package managers filled, and
//! the settings by which git writes files. It is kept below the home under the hash of its contents,
//! so runs that were opened under the same conditions share it.

use crate::measure::proof::checkout::clean_checkout::listed_refs;
use crate::measure::proof::conditions::path_programs::PathPrograms;
use crate::measure::proof::request::ProofError;
use crate::measure::proof::storage::dependency_folders;
use crate::measure::proof::storage::files;
use crate::measure::proof::storage::folders::Folders;
use crate::tree::git::{Git, GitError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Variables that say where the user is and how the machine is reached, and configure no program.
const VARIABLES: [&str; 30] = [
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "JAVA_HOME",
    "GOROOT",
    "GOPROXY",
    "GOPRIVATE",
    "GONOSUMDB",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "DOTNET_ROOT",
];

/// Settings of git that decide how blobs become files, and start no program.
const SETTINGS: [&str; 9] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "extensions.objectformat",
    "user.name",
    "user.email",
];

/// The conditions at the opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpeningConditions {
    pub(crate) path: Vec<PathEntry>,
    pub(crate) variables: BTreeMap<String, String>,
    /// The user's own HOME.
    pub(crate) home: PathBuf,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) folders: Vec<dependency_folders::BorrowedFolder>,
    /// Configuration files outside of the tree that builds read, by the hash of their text.
    pub(crate) configurations: BTreeMap<PathBuf, String>,
    /// Branches and tags, object and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refs: Vec<(String, String)>,
}

/// One folder of PATH.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathEntry {
    pub(crate) folder: PathBuf,
    pub(crate) programs: PathPrograms,
}

impl OpeningConditions {
    /// Looks at everything now. `borrow_from` is the tree whose dependency folders are used: the
    /// working tree itself, or the main one of a worktree.
    pub(crate) fn take(repository: &Git, borrow_from: &Git) -> Result<OpeningConditions, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let tree = borrow_from.work_tree();
        let mut entries: Vec<PathEntry> = Vec::new();
        for folder in std::env::split_paths(&path).filter(|it| it.is_absolute()) {
            if entries.iter().any(|it| it.folder == folder) {
                continue;
            }
            // What lies in the tree is the tree's, or is borrowed with its folder.
            let programs = match folder.starts_with(tree) {
                true => PathPrograms::default(),
                false => seen_before(&folder, &entries, tree).unwrap_or_else(|| PathPrograms::take(&folder)),
            };
            entries.push(PathEntry { folder, programs });
        }
        let text = |name: &str| std::env::var(name).ok();
        let is_language = |name: &str| name.starts_with("LC_");
        let languages =
            std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|it| is_language(it));
        let names = VARIABLES.iter().map(|it| (*it).to_owned()).chain(languages);
        let homes =
            crate::measure::proof::conditions::tool_homes::HOMES.iter().map(|it| it.variable.to_owned());
        let variables = names.chain(homes).filter_map(|name| Some((text(&name)?, name)));
        let home = text("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let configurations = [cargo_home(&home).join("config.toml"), cargo_home(&home).join("config")];
        Ok(OpeningConditions {
            path: entries,
            variables: variables.map(|(value, name)| (name, value)).collect(),
            settings: settings(repository)?,
            folders: dependency_folders::candidates(borrow_from)?,
            configurations: configurations
                .into_iter()
                .filter_map(|it| Some((it.clone(), files::hash_file(&it).ok()?)))
                .collect(),
            home,
            refs: listed_refs(repository, &[])?,
        })
    }

    /// Keeps it below the home; returns the name under which it can be read again.
    pub(crate) fn keep(&self, home: &Path) -> io::Result<String> {
        let text = serde_json::to_vec(self)?;
        let id = files::hash(&text)[..24].to_owned();
        let folder = Folders::openings(home);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(format!("{id}.json"));
        if !path.exists() {
            files::replace(&path, &text)?;
        }
        Ok(id)
    }

    pub(crate) fn read(home: &Path, id: &str) -> Result<OpeningConditions, ProofError> {
        let path = Folders::openings(home).join(format!("{id}.json"));
        let lost = |what: &str| ProofError::Opening { path: path.clone(), what: what.to_owned() };
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(lost("is gone")),
            read => read?,
        };
        if files::hash(&text)[..24] != *id {
            return Err(lost("was changed after the run was opened"));
        }
        Ok(serde_json::from_slice(&text).map_err(io::Error::from)?)
    }

    /// Where a toolchain's home is: by its variable, else at its usual place below HOME.
    pub(crate) fn tool_home(&self, variable: &str, usual: &str) -> PathBuf {
        self.variables.get(variable).map_or_else(|| self.home.join(usual), PathBuf::from)
    }
}

/// On most systems `/bin` is a link to `/usr/bin`, and both are in PATH.
fn seen_before(folder: &Path, entries: &[PathEntry], tree: &Path) -> Option<PathPrograms> {
    let real = folder.canonicalize().ok()?;
    let mut outside = entries.iter().filter(|it| !it.folder.starts_with(tree));
    let same = outside.find(|it| it.folder.canonicalize().is_ok_and(|it| it == real))?;
    Some(same.programs.clone())
}

pub(crate) fn cargo_home(home: &Path) -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from)
}

fn settings(repository: &Git) -> Result<Vec<(String, String)>, GitError> {
    let listing = repository.run(["config", "--list", "-z"])?;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for entry in listing.split(|it| *it == 0) {
        let text = String::from_utf8_lossy(entry);
        let (name, value) = text.split_once('\n').unwrap_or((&text, "true"));
        if SETTINGS.contains(&name) {
            found.insert(name.to_owned(), value.to_owned());
        }
    }
    Ok(found.into_iter().collect())
}
