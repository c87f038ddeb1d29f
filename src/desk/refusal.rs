//! What could not be done, in words: the thing, the next step, and the exit code.

use crate::tree::git::GitError;
use crate::tree::worktree::Misplaced;
use loop_base::text::sanitise;
use loop_core::workflow::problem::nearest;
use loop_store::StoreError;

/// A request that ends here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub text: String,
    pub next: Option<String>,
    pub exit: u8,
}

impl Refusal {
    /// A usage or workflow mistake.
    pub(crate) fn usage(text: impl Into<String>, next: impl Into<String>) -> anyhow::Error {
        Refusal { text: text.into(), next: Some(next.into()), exit: 2 }.into()
    }

    /// A change was asked for, and there is nothing to change.
    pub(crate) fn no_run() -> anyhow::Error {
        Refusal::usage("no run in this project", "loop run \"what to build\"")
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

/// Whatever ended a request becomes a refusal at the door; what nobody foresaw has exit code 1.
impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Refusal {
        let text = format!("{error:#}");
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return Refusal { text, ..refusal.clone() };
        }
        let misplaced = error.downcast_ref::<Misplaced>().map(|it| it.next.clone());
        Refusal { text, next: misplaced.or_else(|| git_step(&error)), exit: exit_code(&error) }
    }
}

/// Returns what a mistyped word was probably meant to be, else everything that it may be.
pub(crate) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? one of: {}", known.join(", ")),
        None => format!("one of: {}", known.join(", ")),
    }
}

fn git_step(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<GitError>()? {
        GitError::NotARepository { path, .. } => {
            Some(format!("git init {}, or name another folder with -C", sanitise(&path.to_string_lossy())))
        }
        GitError::Forged { .. } => Some("git fsck names every such object".to_owned()),
        GitError::NotInstalled
        | GitError::Failed { .. }
        | GitError::TimedOut { .. }
        | GitError::TooMuchOutput { .. }
        | GitError::File { .. } => None,
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return error.exit_code();
    }
    match error.downcast_ref::<GitError>() {
        Some(GitError::NotInstalled | GitError::NotARepository { .. }) => 2,
        Some(
            GitError::Failed { .. }
            | GitError::TimedOut { .. }
            | GitError::TooMuchOutput { .. }
            | GitError::Forged { .. }
            | GitError::File { .. },
        )
        | None => 1,
    }
}
