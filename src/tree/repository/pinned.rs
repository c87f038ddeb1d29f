//! A view of a repository in which nothing that an agent can configure counts.
//!
//! Whoever asks git about the contents of files gets the repository's filters with it: clean and
//! smudge commands, text conversions, monitors. Enumerating and overriding them would be a race
//! against includes and names of the agent's choosing. So the view is a git folder of our own, in
//! the run's folder, that shares nothing with the user's but the object store: its own HEAD, its own
//! index, and a configuration that holds only what decides how bytes become blobs (line endings,
//! modes, ignore files), copied when the run looks for the first time and never read again. A driver
//! that `.gitattributes` names does not exist here, so it cannot run.
//!
//! The price: a file that a filter would change (large file storage, encryption) counts by the bytes
//! in the working tree once it has been touched. Only whether it is uncommitted is said by its filter, if the person had
//! that before the run (`status/filtered.rs`). The user's repository is only ever read.

use super::git::{Git, GitError};
use super::git_text::{is_object_id, single_line};
use super::view_settings::{COPIED_SETTINGS, FoundSettings, ViewSettings};
use loop_base::files;
use std::fs;
use std::path::{Path, PathBuf};

/// Rules that people write are some kilobytes; 4 MiB is a generated file.
const RULES_MOST: usize = 4 << 20;

/// Where nothing points: a branch without a commit.
const UNBORN: &str = "ref: refs/heads/unborn\n";

/// A repository as the run sees it.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    /// The user's repository.
    pub(crate) repository: Git,
    /// The same files and objects under our own settings, HEAD and index.
    pub(crate) view: Git,
    folder: PathBuf,
}

impl Pinned {
    /// Opens the view that is kept in `folder`, and makes it if it is not there. One process at a
    /// time may use a folder.
    pub(crate) fn open(repository: &Git, folder: &Path) -> Result<Pinned, GitError> {
        let settings = match ViewSettings::find(folder)? {
            FoundSettings::Ours(settings) => settings,
            FoundSettings::Missing => created(repository, folder)?,
            FoundSettings::Altered => {
                created(repository, folder)?;
                return Err(GitError::Altered { path: folder.join("config") });
            }
        };
        let path = |name: &str| folder.join(name).into_os_string();
        let view = repository.durable().under(settings).with(vec![
            ("GIT_DIR", folder.as_os_str().to_owned()),
            ("GIT_INDEX_FILE", path("index")),
            ("GIT_OBJECT_DIRECTORY", repository.common_dir().join("objects").into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            // The index is ours: what looking learns about unchanged files may be kept.
            ("GIT_OPTIONAL_LOCKS", "1".into()),
        ]);
        // We own the folder, so a lock in it belongs to a git that was killed.
        for stale in ["index.lock", "HEAD.lock"] {
            let _usually_absent = fs::remove_file(folder.join(stale));
        }
        Ok(Pinned { repository: repository.clone(), view, folder: folder.to_owned() })
    }

    /// Opens the view of the working tree at `place`, which git is asked about the first time only. `programs` are those
    /// that the person's configuration named when the run was opened.
    pub(crate) fn at(place: &Path, folder: &Path, programs: Option<&[String]>) -> Result<Pinned, GitError> {
        let is_known = folder.join("config").exists();
        let repository = if is_known { Git::reopen(place)? } else { Git::open(place)? };
        Pinned::open(&repository.looking_with(programs), folder)
    }

    /// The view's index.
    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    /// A file of ours beside the index.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes such a file.
    pub(crate) fn note(&self, name: &str, content: &[u8]) -> Result<(), GitError> {
        self.view.check_settings()?;
        write(&self.beside(name), content)
    }

    /// The same view without an index, for comparing trees: git would read all of it for nothing.
    pub(crate) fn without_index(&self) -> Git {
        self.with_index("no-index").0
    }

    /// The same view with another index, which the caller removes.
    pub(crate) fn with_index(&self, name: &str) -> (Git, PathBuf) {
        let index = self.folder.join(name);
        (self.view.with(vec![("GIT_INDEX_FILE", index.clone().into_os_string())]), index)
    }

    /// Where rules about ignoring and line endings may lie that all repositories of this user share;
    /// `None` where the user keeps them elsewhere.
    pub(crate) fn shared_rules(&self) -> Option<Vec<PathBuf>> {
        let settings = fs::read_to_string(self.folder.join("config")).ok()?;
        if settings.contains("excludesfile") || settings.contains("attributesfile") {
            return None;
        }
        let base = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        Some(base.map_or_else(Vec::new, |it| vec![it.join("git/ignore"), it.join("git/attributes")]))
    }

    /// Returns who commits here by the configuration of the repository, the user and the system, as git's
    /// variables say it.
    pub(crate) fn identity(&self) -> Vec<(&'static str, String)> {
        let asked = ["config", "-z", "--get-regexp", r"^user\.(name|email)$"];
        let answer = String::from_utf8_lossy(&self.repository.run(asked).unwrap_or_default()).into_owned();
        let of = |key: &str| {
            let mut entries = answer.split('\0').filter_map(|it| it.split_once('\n'));
            entries.rfind(|it| it.0 == key).map(|it| it.1.to_owned()).filter(|it| !it.is_empty())
        };
        let (name, email) = (of("user.name"), of("user.email"));
        [
            ("GIT_AUTHOR_NAME", name.clone()),
            ("GIT_AUTHOR_EMAIL", email.clone()),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", email),
        ]
        .into_iter()
        .filter_map(|(variable, value)| Some((variable, value?)))
        .collect()
    }

    /// Makes a commit of a tree, in the name of the program.
    pub(crate) fn commit_tree(
        &self,
        tree: &str,
        parent: Option<&str>,
        message: &str,
    ) -> Result<String, GitError> {
        let author = [("GIT_AUTHOR_NAME", "loopctl"), ("GIT_AUTHOR_EMAIL", "loop@localhost")];
        let committer = [("GIT_COMMITTER_NAME", "loopctl"), ("GIT_COMMITTER_EMAIL", "loop@localhost")];
        let identity =
            author.iter().chain(&committer).map(|(name, value)| (*name, (*value).into())).collect();
        let mut arguments = vec!["commit-tree", tree];
        if let Some(parent) = parent {
            arguments.extend(["-p", parent]);
        }
        Ok(single_line(&self.view.with(identity).feed(arguments, message.as_bytes())?))
    }

    /// Lets the view's HEAD name a commit, or none.
    pub(crate) fn point_at(&self, commit: Option<&str>) -> Result<(), GitError> {
        self.view.check_settings()?;
        let text = commit.map_or(UNBORN.to_owned(), |it| format!("{it}\n"));
        write(&self.folder.join("HEAD"), text.as_bytes())
    }
}

/// Makes the view, or what is missing of it, and returns its settings.
fn created(repository: &Git, folder: &Path) -> Result<ViewSettings, GitError> {
    let parts = ["objects", "refs", "info"].map(|it| folder.join(it));
    for path in [folder.to_owned()].into_iter().chain(parts) {
        // An agent can put a file or a link in the place of a folder of ours.
        let in_the_way = fs::symlink_metadata(&path).is_ok_and(|it| !it.is_dir());
        let cleared = if in_the_way { fs::remove_file(&path) } else { Ok(()) };
        let made = cleared.and_then(|()| files::private_folder(&path));
        made.map_err(|source| GitError::File { doing: "creating", path, source })?;
    }
    write(&folder.join("HEAD"), UNBORN.as_bytes())?;
    let sources = [
        (repository.common_dir(), "info/exclude"),
        (repository.common_dir(), "info/attributes"),
        (repository.git_dir(), "info/sparse-checkout"),
    ];
    for (from, name) in sources {
        // Most repositories have only the first of the three.
        if let Ok(content) = files::bytes(&from.join(name), RULES_MOST) {
            write(&folder.join(name), &content)?;
        }
    }
    // Its presence says that the folder is complete, so it comes last and whole.
    let listing = repository.run(["config", "--list", "-z"])?;
    write(&folder.join("config"), &configuration(&listing))?;
    match ViewSettings::find(folder)? {
        FoundSettings::Ours(settings) => Ok(settings),
        FoundSettings::Missing | FoundSettings::Altered => {
            Err(GitError::Altered { path: folder.join("config") })
        }
    }
}

/// Replaces a file as a whole: whoever is killed in between leaves the one before, and git takes a
/// folder with half a HEAD for no repository.
fn write(path: &Path, content: &[u8]) -> Result<(), GitError> {
    files::replace_ours_bytes(path, content).map_err(|source| GitError::File {
        doing: "writing",
        path: path.to_owned(),
        source,
    })
}

/// The configuration of the view, from a listing of the user's.
fn configuration(listing: &[u8]) -> Vec<u8> {
    let mut settings: Vec<(&str, Vec<u8>)> = Vec::new();
    for entry in listing.split(|it| *it == 0) {
        let mut parts = entry.splitn(2, |it| *it == b'\n');
        let name = parts.next().unwrap_or_default();
        let Some(known) = COPIED_SETTINGS.iter().find(|it| it.as_bytes() == name) else { continue };
        // A name without a value means true. The last one counts.
        let value = parts.next().unwrap_or(b"true");
        settings.retain(|(name, _)| name != known);
        settings.push((known, quoted(value)));
    }
    let mut text = b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tsafecrlf = false\n".to_vec();
    // In a large tree most of the time goes into writing the whole index after every change, and into
    // reading folders that have not changed. Git remembers those folders only for the listing that is
    // configured.
    text.extend_from_slice(b"\tsplitIndex = true\n\tuntrackedCache = true\n");
    text.extend_from_slice(b"[status]\n\tshowUntrackedFiles = all\n");
    text.extend_from_slice(b"[index]\n\tsparse = false\n");
    for (name, value) in settings {
        let (section, key) = name.split_once('.').expect("a copied setting has a section");
        text.extend_from_slice(format!("[{section}]\n\t{key} = ").as_bytes());
        text.extend_from_slice(&value);
        text.push(b'\n');
    }
    text
}

fn quoted(value: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}

/// The commit and the branch that HEAD names. Both are read from the files where git documents them,
/// because this is asked at every look; git itself is asked when they are kept in another way.
pub(crate) fn head(repository: &Git) -> Result<(Option<String>, Option<String>), GitError> {
    let content = loop_base::files::text(&repository.git_dir().join("HEAD")).unwrap_or_default();
    let target = content.trim_end();
    if is_object_id(target) {
        return Ok((Some(target.to_owned()), None));
    }
    if let Some(name) =
        target.strip_prefix("ref: ").filter(|it| it.starts_with("refs/heads/") && !it.contains(".."))
    {
        let value = loop_base::files::text(&repository.common_dir().join(name)).unwrap_or_default();
        if is_object_id(value.trim_end()) {
            return Ok((Some(value.trim_end().to_owned()), Some(short(name))));
        }
    }
    // Both at once, where there is a commit.
    if let Ok(output) = repository.run(["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]) {
        let text = single_line(&output);
        if let Some((commit, name)) = text.split_once('\n').filter(|(commit, _)| is_object_id(commit)) {
            return Ok((Some(commit.to_owned()), name.starts_with("refs/heads/").then(|| short(name))));
        }
    }
    let line = |answer: Result<Vec<u8>, GitError>| match answer {
        Ok(output) => Ok(Some(single_line(&output)).filter(|it| !it.is_empty())),
        // Exit 1 with --quiet: there is none.
        Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let commit = line(repository.run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]))?;
    let branch = line(repository.run(["symbolic-ref", "--quiet", "HEAD"]))?;
    Ok((commit, branch.map(|it| short(&it))))
}

fn short(name: &str) -> String {
    name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
}
