//! What could not be done, in words: the thing, the next step, and the exit code.

use crate::tree::git::GitError;
use crate::tree::worktree::Misplaced;
use loop_base::text::sanitise;
use loop_core::workflow::problem::nearest;
use loop_store::StoreError;
use std::process::ExitCode;

/// A command that ends here.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub text: String,
    pub next: Option<String>,
    pub exit: u8,
}

impl Trouble {
    /// A usage or workflow mistake.
    pub(crate) fn usage(text: impl Into<String>, next: impl Into<String>) -> anyhow::Error {
        Trouble { text: text.into(), next: Some(next.into()), exit: 2 }.into()
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Trouble {}

/// Returns what a mistyped word was probably meant to be, else everything that it may be.
pub(super) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? one of: {}", known.join(", ")),
        None => format!("one of: {}", known.join(", ")),
    }
}

/// Prints an error and returns its exit code.
pub(crate) fn tell(error: &anyhow::Error, json: bool) -> ExitCode {
    let text = sanitise(&format!("{error:#}"));
    let trouble = error.downcast_ref::<Trouble>();
    let misplaced = error.downcast_ref::<Misplaced>().map(|it| it.next.clone());
    let next = trouble.and_then(|it| it.next.clone()).or(misplaced).or_else(|| git_step(error));
    let exit = exit_code(error);
    if json {
        let object = serde_json::json!({
            "status": status(exit), "reason": text, "next_step": next, "exit": exit, "error": text,
        });
        println!("{}", super::json::line(&object));
    }
    eprintln!("loop: {text}");
    if let Some(next) = next {
        eprintln!("next: {next}");
    }
    ExitCode::from(exit)
}

/// Returns the word of the run that an exit code speaks of; the other codes speak of none.
fn status(exit: u8) -> Option<&'static str> {
    match exit {
        3 => Some("waiting"),
        4 => Some("halted"),
        5 => Some("paused"),
        6 => Some("capped"),
        7 => Some("running"),
        _ => None,
    }
}

fn git_step(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<GitError>()? {
        GitError::NotARepository { path, .. } => {
            Some(format!("git init {}, or name another folder with -C", sanitise(&path.to_string_lossy())))
        }
        GitError::NotInstalled
        | GitError::Failed { .. }
        | GitError::TimedOut { .. }
        | GitError::TooMuchOutput { .. }
        | GitError::File { .. } => None,
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(trouble) = error.downcast_ref::<Trouble>() {
        return trouble.exit;
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return error.exit_code();
    }
    match error.downcast_ref::<GitError>() {
        Some(GitError::NotInstalled | GitError::NotARepository { .. }) => 2,
        Some(
            GitError::Failed { .. }
            | GitError::TimedOut { .. }
            | GitError::TooMuchOutput { .. }
            | GitError::File { .. },
        )
        | None => 1,
    }
}
