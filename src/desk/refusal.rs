//! What could not be done, in words: the thing, the next step, and the exit code.

use super::cause::Cause;
pub(crate) use super::step::NextStep;
use crate::tree::git::GitError;
use crate::tree::worktree::Misplaced;
use loop_base::text::{sanitise, shell_word};
use loop_core::workflow::problem::nearest;
use loop_store::{Holder, Locked, StoreError};
use loop_supervise::interruption::Interrupted;
use std::io::ErrorKind;
use std::path::Path;

/// A request that ends here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub text: String,
    pub next: Option<NextStep>,
    pub exit: u8,
}

impl Refusal {
    /// A usage or workflow mistake.
    pub(crate) fn usage(text: impl Into<String>, next: impl Into<NextStep>) -> anyhow::Error {
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
        let text = said_once(&format!("{error:#}"));
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return Refusal { text, ..refusal.clone() };
        }
        if let Some(exit) = interrupted(&error) {
            return Refusal { text, next: None, exit };
        }
        if let Some(cause) = Cause::of(&error, &text) {
            return Refusal { text: cause.words(&text), next: Some(cause.step()), exit: 1 };
        }
        if let Some(StoreError::Lost { kept, is_restored, .. }) = error.downcast_ref::<StoreError>() {
            return Refusal { text, next: lost_step(kept.as_deref(), *is_restored), exit: exit_code(&error) };
        }
        if let Some(StoreError::NoOpening { .. }) = error.downcast_ref::<StoreError>() {
            return Refusal {
                text,
                next: Some(NextStep::by_hand("start over with loop run --fresh and what to build")),
                exit: exit_code(&error),
            };
        }
        if let Some(StoreError::FolderGone { moved_to, .. }) = error.downcast_ref::<StoreError>() {
            return Refusal { text, next: Some(gone_step(moved_to.as_deref())), exit: exit_code(&error) };
        }
        if let Some(StoreError::Held { what, by }) = error.downcast_ref::<StoreError>() {
            return Refusal { text, next: Some(beside(what, by.as_ref())), exit: exit_code(&error) };
        }
        if let Some(StoreError::Busy { by, .. }) = error.downcast_ref::<StoreError>() {
            return Refusal { text, next: Some(locked_step(by.as_ref())), exit: exit_code(&error) };
        }
        let misplaced = error.downcast_ref::<Misplaced>().map(|it| NextStep::ByHand(it.next.clone()));
        Refusal { text, next: misplaced.or_else(|| git_step(&error)), exit: exit_code(&error) }
    }
}

/// A cause that its wrapper has said already is not said again.
fn said_once(text: &str) -> String {
    match text.rsplit_once(": ") {
        Some((before, last)) if before.ends_with(last) => before.to_owned(),
        Some(_) | None => text.to_owned(),
    }
}

/// What to do where the database was taken away from under a command.
/// A removed folder is made again, and its call is lost. A home that was moved as a whole continues there.
fn gone_step(moved_to: Option<&Path>) -> NextStep {
    let Some(moved_to) = moved_to else { return "loop run".into() };
    match moved_to.parent().and_then(Path::parent).filter(|it| it.join("loop.db").is_file()) {
        Some(home) => format!("loop run --home {}", shell_word(&home.to_string_lossy())).into(),
        None => NextStep::by_hand("move it back, then loop run"),
    }
}

fn lost_step(kept: Option<&Path>, is_restored: bool) -> Option<NextStep> {
    match kept {
        None if is_restored => Some("loop run".into()),
        None => Some(NextStep::by_hand("restore a backup of the home, then loop run")),
        Some(kept) => Some(NextStep::PasteOrByHand(
            "loop verify".to_owned(),
            format!(
                "to go back, move loop.db, loop.db-wal and loop.db-shm away and rename {} to loop.db",
                sanitise(&kept.to_string_lossy())
            ),
        )),
    }
}

/// What to do where another controller has the run or the tree. Another run can work in a worktree of its
/// own; the same run cannot. Whoever hands in or reverts drives nothing that could be watched or stopped.
fn beside(what: &Locked, by: Option<&Holder>) -> NextStep {
    if let Some(holder) = by.filter(|it| matches!(it.subcommand(), Some("ship" | "queue"))) {
        return NextStep::ByHand(format!("wait until process {} has ended, then try again", holder.pid));
    }
    if let Some(stranger) = by.filter(|it| !it.is_loop()) {
        return locked_step(Some(stranger));
    }
    match what {
        Locked::Tree(_) => [WORKTREE_STEP, "loop attach", "loop stop"].into(),
        Locked::Run(_) => ["loop attach", "loop stop"].into(),
        Locked::Landing(_) => "loop status".into(),
        Locked::Queue(_) => ["loop queue list", "loop status"].into(),
    }
}

/// What to do where somebody keeps a lock that everybody else has for a moment.
fn locked_step(by: Option<&Holder>) -> NextStep {
    NextStep::ByHand(match by {
        Some(by) => {
            format!("wait until process {} has ended, or end it with kill {}; then try again", by.pid, by.pid)
        }
        None => "close what has it open, then try again".to_owned(),
    })
}

/// Runs what was typed in a worktree of its own.
pub(crate) const WORKTREE_STEP: &str = "loop run --worktree";

/// The step of a command that names nothing to work on; the words that were typed are kept.
pub(crate) const NO_INPUT_STEP: &str = "loop run \"what to build\"";

/// What stands there for a person's own words.
pub(crate) const WHAT_TO_BUILD: &str = "what to build";

/// Says why a file cannot be read, to stand after its name.
pub(crate) fn why_unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "does not exist".to_owned(),
        ErrorKind::PermissionDenied => "may not be read by you".to_owned(),
        ErrorKind::IsADirectory => "is a folder, not a file".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns what a mistyped word was probably meant to be, else everything that it may be.
pub(crate) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> NextStep {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => NextStep::ByHand(format!("did you mean \"{near}\"? one of: {}", known.join(", "))),
        None => NextStep::ByHand(format!("one of: {}", known.join(", "))),
    }
}

fn git_step(error: &anyhow::Error) -> Option<NextStep> {
    match error.downcast_ref::<GitError>()? {
        error if error.is_missing_object() => Some(NextStep::by_hand(
            "git fsck lists what is missing; restore it (git fetch, or a copy of .git). If refs below refs/loop were \
             deleted and git gc ran, the snapshots of this run are gone, and with them what was in no commit; the \
             files in the working tree are as they are: commit what you want to keep, then start over with \
             loop run --fresh",
        )),
        GitError::NotARepository { path, reason } if reason.contains("dubious") => {
            let path = shell_word(&path.to_string_lossy());
            Some(format!("git config --global --add safe.directory {path}").into())
        }
        // There is a repository, and its own settings lead git elsewhere.
        GitError::NotARepository { path, reason }
            if reason.contains("not the top of its git") && path.join(".git/HEAD").is_file() =>
        {
            let settings = shell_word(&path.join(".git/config").to_string_lossy());
            Some(format!("git config -f {settings} --unset core.worktree").into())
        }
        GitError::NotARepository { path, .. } => {
            let path = path.to_string_lossy();
            let is_line = !path.contains(char::is_control);
            Some(if is_line { format!("git init {}", shell_word(&path)).into() } else { "git init".into() })
        }
        GitError::Forged { .. } => Some("git fsck".into()),
        GitError::Altered { .. } => Some("loop run".into()),
        // Of what lies below refs/loop everything is ours, but for what somebody else put there.
        error if error.is_ref_in_the_way() => Some(NextStep::by_hand(
            "move what is in the way away from refs/loop in the repository (a file, a lock, or a ref of that name), then loop run",
        )),
        // Git waits for ever for whoever writes into a pipe.
        GitError::TimedOut { .. } => Some(NextStep::by_hand(
            "find . -type p lists pipes, which git waits for where one is called .gitignore, .gitattributes or lies in .git; \
             remove those, then loop run",
        )),
        error if error.is_bad_configuration() => {
            Some(NextStep::by_hand("repair the line of the file that git names, or remove it, then loop run"))
        }
        GitError::NotInstalled
        | GitError::Failed { .. }
        | GitError::TooMuchOutput { .. }
        | GitError::TooManySubmodules { .. }
        | GitError::ForeignProgram { .. }
        | GitError::File { .. } => None,
    }
}

/// What a command exits with that a signal has ended.
fn interrupted(error: &anyhow::Error) -> Option<u8> {
    let mut causes = error.chain().filter_map(|it| it.downcast_ref::<std::io::Error>());
    let interrupted = causes.find_map(Interrupted::of)?;
    u8::try_from(128 + interrupted.signal).ok()
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return error.exit_code();
    }
    match error.downcast_ref::<GitError>() {
        Some(GitError::NotInstalled | GitError::NotARepository { .. }) => 2,
        Some(GitError::Forged { .. } | GitError::Altered { .. }) => 8,
        Some(error) if error.is_missing_object() => 8,
        Some(
            GitError::Failed { .. }
            | GitError::TimedOut { .. }
            | GitError::TooMuchOutput { .. }
            | GitError::TooManySubmodules { .. }
            | GitError::ForeignProgram { .. }
            | GitError::File { .. },
        )
        | None => 1,
    }
}
