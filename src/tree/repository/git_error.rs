//! Why git gave no answer, in words that say what to do about it.

use std::path::{Path, PathBuf};

/// Why a git command gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("git was not found in PATH; install it, version 2.32 or later")]
    NotInstalled,
    #[error("{} {reason}", path.display())]
    NotARepository { path: PathBuf, reason: String },
    #[error("git {arguments} failed ({}): {stderr}", code.map_or("killed".to_owned(), |it| format!("exit {it}")))]
    Failed { arguments: String, code: Option<i32>, stderr: String },
    #[error(
        "git {arguments} took longer than {seconds} s and was ended; look for a slow file system or a huge untracked folder"
    )]
    TimedOut { arguments: String, seconds: u64 },
    #[error("git {arguments} printed more than {} MiB; ignore generated files with .gitignore", most >> 20)]
    TooMuchOutput { arguments: String, most: usize },
    #[error(
        "there are more than {most} submodules in the working tree, and git could be made to start programs in them; remove some, or git submodule deinit them"
    )]
    TooManySubmodules { most: usize },
    #[error(
        "object {object} ({}) is not what its id says: .git/objects is damaged, or was written into; restore it with git fetch --refetch or from a fresh clone",
        path.display()
    )]
    Forged { object: String, path: PathBuf },
    #[error(
        "{} was changed, so git could have started a program of somebody else's; it was written again",
        path.display()
    )]
    Altered { path: PathBuf },
    #[error(
        "{setting} in {file} names a program that git would start to reach the remote, and did not when the run began; look at it, and push by hand or remove it"
    )]
    ForeignProgram { setting: String, file: String },
    #[error("{doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },
}

/// What was done where git itself could not be started.
pub(crate) const STARTING_GIT: &str = "starting git in";

impl GitError {
    /// Whether git cannot make a ref of ours, because something else lies where it belongs.
    pub(crate) fn is_ref_in_the_way(&self) -> bool {
        matches!(self, GitError::Failed { stderr, .. } if stderr.contains("cannot lock ref 'refs/loop/"))
    }

    /// Whether git cannot read a configuration, which may be the person's own.
    pub(crate) fn is_bad_configuration(&self) -> bool {
        matches!(self, GitError::Failed { stderr, .. } if stderr.contains("bad config"))
    }

    /// Whether git lacks an object that a run stands on: somebody removed its refs and cleaned up.
    pub(crate) fn is_missing_object(&self) -> bool {
        const WORDS: [&str; 6] = [
            "bad object",
            "unable to read tree",
            "not a tree object",
            "missing blob",
            "failed to unpack tree object",
            "unable to read sha1 file",
        ];
        match self {
            GitError::Failed { stderr, .. } => WORDS.iter().any(|it| stderr.contains(it)),
            GitError::NotInstalled
            | GitError::NotARepository { .. }
            | GitError::TimedOut { .. }
            | GitError::TooMuchOutput { .. }
            | GitError::TooManySubmodules { .. }
            | GitError::Forged { .. }
            | GitError::Altered { .. }
            | GitError::ForeignProgram { .. }
            | GitError::File { .. } => false,
        }
    }
}

/// Says what git means by a refusal to open a folder; what it means seldom is left in its words.
pub(super) fn plainly(folder: &Path, stderr: &str) -> String {
    if stderr.contains("not a git repository") && !folder.join(".git").exists() {
        return "is not a git repository".to_owned();
    }
    if stderr.contains("must be run in a work tree") {
        return "is a bare repository, which has no working tree".to_owned();
    }
    format!("is not the top of a git working tree ({})", stderr.trim())
}
