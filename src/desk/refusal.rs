//! What could not be done, in words: the thing, the next step, and the exit code.

use crate::tree::git::GitError;
use crate::tree::worktree::Misplaced;
use loop_base::text::{sanitise, shell_word};
use loop_core::workflow::problem::nearest;
use loop_store::{Holder, Locked, StoreError};
use std::path::{Path, PathBuf};

/// A request that ends here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub text: String,
    pub next: Option<NextStep>,
    pub exit: u8,
}

/// What a person can do about it. Commands stand alone on their lines, because people paste them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Commands that work when they are pasted, the most likely one first.
    Paste(Vec<String>),
    /// What no command does, in words.
    ByHand(String),
    /// A command that works when it is pasted, and in words what else would help.
    PasteOrByHand(String, String),
}

impl NextStep {
    pub(crate) fn by_hand(words: impl Into<String>) -> NextStep {
        NextStep::ByHand(words.into())
    }

    /// Returns the lines that a person reads.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            NextStep::Paste(commands) => {
                let mark = |index| if index == 0 { "next:" } else { "  or:" };
                commands.iter().enumerate().map(|(index, it)| format!("{} {it}", mark(index))).collect()
            }
            NextStep::ByHand(words) => vec![format!("help: {words}")],
            NextStep::PasteOrByHand(command, words) => {
                vec![format!("next: {command}"), format!("help: {words}")]
            }
        }
    }

    /// Returns the most likely command, else the words.
    pub(crate) fn first(&self) -> &str {
        self.command().or(self.words()).unwrap_or_default()
    }

    /// Returns the first command that works when it is pasted, if there is one.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            NextStep::Paste(commands) => commands.first().map(String::as_str),
            NextStep::PasteOrByHand(command, _) => Some(command),
            NextStep::ByHand(_) => None,
        }
    }

    /// Returns what helps in words, if there is something.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            NextStep::Paste(_) => None,
            NextStep::ByHand(words) | NextStep::PasteOrByHand(_, words) => Some(words),
        }
    }
}

impl From<&str> for NextStep {
    fn from(command: &str) -> NextStep {
        NextStep::Paste(vec![command.to_owned()])
    }
}

impl From<String> for NextStep {
    fn from(command: String) -> NextStep {
        NextStep::Paste(vec![command])
    }
}

impl<const N: usize> From<[&str; N]> for NextStep {
    fn from(commands: [&str; N]) -> NextStep {
        NextStep::Paste(commands.map(str::to_owned).into())
    }
}

impl<const N: usize> From<[String; N]> for NextStep {
    fn from(commands: [String; N]) -> NextStep {
        NextStep::Paste(commands.into())
    }
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
/// own; the same run cannot. Whoever hands in drives nothing that could be watched or stopped.
fn beside(what: &Locked, by: Option<&Holder>) -> NextStep {
    if let Some(holder) = by.filter(|it| it.subcommand() == Some("ship")) {
        return NextStep::ByHand(format!("wait until process {} has ended, then try again", holder.pid));
    }
    match what {
        Locked::Tree(_) => [WORKTREE_STEP, "loop attach", "loop stop"].into(),
        Locked::Run(_) => ["loop attach", "loop stop"].into(),
        Locked::Landing(_) => "loop status".into(),
        Locked::Queue(_) => ["loop queue list", "loop status"].into(),
    }
}

/// Runs what was typed in a worktree of its own.
pub(crate) const WORKTREE_STEP: &str = "loop run --worktree";

/// The step of a command that names nothing to work on; the words that were typed are kept.
pub(crate) const NO_INPUT_STEP: &str = "loop run \"what to build\"";

/// What is wrong around us. The run is as it was, and continues when that is mended.
#[derive(Clone, Debug)]
enum Cause {
    FullDisk,
    /// The disk, or what connects it, answers with errors.
    FailingDisk,
    FewFiles,
    NoRepository,
    /// There is a `.git`, and git does not take it for one.
    DamagedRepository,
    /// Git cannot read its index, which holds nothing that git cannot find out again.
    DamagedIndex,
    /// A disk of somebody else's, such as that of the temporary files.
    ReadOnlyDisk,
    NotWritable(PathBuf),
}

impl Cause {
    /// Git and the programs that we start say it only in words.
    fn of(error: &anyhow::Error, text: &str) -> Option<Cause> {
        match (error.downcast_ref::<StoreError>(), error.downcast_ref::<GitError>()) {
            (Some(StoreError::NotWritable { path, .. }), _) => return Some(Cause::NotWritable(path.clone())),
            (Some(StoreError::Full { why, .. }), _) if is_failing(why) => return Some(Cause::FailingDisk),
            (Some(StoreError::Full { .. }), _) => return Some(Cause::FullDisk),
            (_, Some(GitError::File { path, source, .. })) if is_refused(source) => {
                return Some(Cause::NotWritable(path.clone()));
            }
            (_, Some(GitError::NotARepository { path, reason }))
                if reason.contains("fatal:") && !reason.contains("dubious") =>
            {
                // Git refuses it, and there is a file or a folder of that name: it was a repository once.
                return path.join(".git").symlink_metadata().is_ok().then_some(Cause::DamagedRepository);
            }
            _ => (),
        }
        let says = |words: &[&str]| words.iter().any(|it| text.contains(it));
        let is_git = matches!(error.downcast_ref::<GitError>(), Some(GitError::Failed { .. }));
        if says(&["Too many open files"]) {
            Some(Cause::FewFiles)
        } else if says(&["No space left on device", "Out of diskspace", "Disk quota exceeded"]) {
            Some(Cause::FullDisk)
        } else if is_failing(text) {
            Some(Cause::FailingDisk)
        } else if says(&["Read-only file system"]) {
            Some(Cause::ReadOnlyDisk)
        } else if says(&["index file smaller", "index file corrupt", "bad index file"]) {
            Some(Cause::DamagedIndex)
        } else {
            (is_git && says(&["not a git repository"])).then_some(Cause::NoRepository)
        }
    }

    fn words(&self, text: &str) -> String {
        match self {
            Cause::FullDisk => format!("the disk is full: {text}"),
            Cause::FailingDisk => format!("the disk fails: {text}"),
            Cause::FewFiles => {
                let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
                let most = most.map_or(String::new(), |it| format!(" ({it})"));
                format!("the limit of open files is too low{most}: {text}")
            }
            Cause::NoRepository => format!("the repository is missing: {text}"),
            Cause::DamagedRepository => format!("the repository is damaged: {text}"),
            Cause::DamagedIndex => format!("the index of the repository is damaged: {text}"),
            Cause::ReadOnlyDisk => format!("the disk is mounted for reading only: {text}"),
            Cause::NotWritable(_) => text.to_owned(),
        }
    }

    fn step(&self) -> NextStep {
        match self {
            Cause::FullDisk => NextStep::by_hand("free some disk space, then loop run"),
            Cause::FailingDisk => NextStep::by_hand("dmesg may say why; when the disk works again, loop run"),
            Cause::FewFiles => "ulimit -n 1024 && loop run".into(),
            Cause::NoRepository | Cause::DamagedRepository => {
                NextStep::by_hand("restore its .git, then loop run")
            }
            Cause::ReadOnlyDisk => NextStep::by_hand("mount the disk for writing, then loop run"),
            Cause::DamagedIndex => {
                NextStep::by_hand("make it anew with rm .git/index && git reset, then loop run")
            }
            Cause::NotWritable(path) => {
                let path = &within_home(path);
                let place = sanitise(&path.to_string_lossy());
                match rustix::fs::statvfs(path) {
                    Ok(it) if it.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) => {
                        NextStep::by_hand(format!(
                            "mount the disk of {place} for writing; until then loop status still reads it"
                        ))
                    }
                    Ok(_) | Err(_) => format!("chmod -R u+rwX {}", shell_word(&place)).into(),
                }
            }
        }
    }
}

/// Whether SQLite or the system says that a disk answers with errors.
fn is_failing(text: &str) -> bool {
    text.contains("disk I/O error") || text.contains("Input/output error")
}

/// Whether the system says that something may not be read or written.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
}

/// Returns the home that a file of ours lies in: what one of them lacks, the others lack too.
fn within_home(path: &Path) -> PathBuf {
    let is_ours = |it: &&Path| {
        it.file_name().is_some_and(|it| {
            ["loop.db", "runs", "turnstile", "proof", "looks"].iter().any(|name| it == *name)
        })
    };
    path.ancestors().find(is_ours).and_then(Path::parent).unwrap_or(path).to_owned()
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
            "git fsck lists what is missing; restore it (git fetch, or a copy of .git), or start over with \
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
        Some(GitError::Forged { .. } | GitError::Altered { .. }) => 8,
        Some(error) if error.is_missing_object() => 8,
        Some(
            GitError::Failed { .. }
            | GitError::TimedOut { .. }
            | GitError::TooMuchOutput { .. }
            | GitError::File { .. },
        )
        | None => 1,
    }
}
