//! The one place that runs git. A [`Git`] says where (a work tree and its repository) and how (which
//! settings may count); [`Git::run`] starts one process, waits for it within a limit of time and of
//! output, and returns what it printed.
//!
//! Arguments are passed as they are, never through a shell. What an agent can write into a
//! repository must not run here, so hooks, the file system monitor, external diffs, pagers, remote
//! helpers, lazy fetches, replacement objects and background maintenance are off, and of the `GIT_*`
//! variables of our own environment only those reach git that say who commits and how a remote is
//! reached. The system's and the user's configuration still
//! count for a plain `Git`, because `safe.directory`, identities and credential helpers live there;
//! whatever a run is judged by goes through `pinned`, where no configuration counts at all. Which programs a configuration
//! may make git start is said in `programs`.
//!
//! It does not know what the commands mean, and it takes no decisions.

use super::git_dir::places;
use super::git_error::plainly;
pub(crate) use super::git_error::{GitError, STARTING_GIT};
use super::git_text::bytes_to_path;
use super::programs::{
    LISTING, NamedProgram, TrustedPrograms, asks_drivers, may_list_submodules, named_programs, overrides,
    overrides_of_others, reaches_remote, silenced, submodules,
};
use super::view_settings::ViewSettings;
use loop_supervise::exchange::{ExchangeResult, converse};
use loop_supervise::git_variables::reaches_our_git;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Looking at a very large tree for the first time reads every file of it; two minutes are enough for
/// about 30 GB from a slow disk, and short enough for a person who waits for a hung network mount.
const TIME_MOST: Duration = Duration::from_secs(120);

/// A listing line is about 150 bytes, so this holds 400,000 changed files. It is also what a diff
/// that is searched for facts may weigh; more than that is not a change anybody can review.
const OUTPUT_MOST: usize = 64 << 20;

/// An index of a million files; a larger one is left to git.
const SCANNED_MOST: usize = 128 << 20;

/// Each costs two starts of git. More than this many are a package manager's.
const SUBMODULES_MOST: usize = 1_000;

/// Versions before 2.36 know the third only, and ignore the others.
const DURABLE: [&str; 3] =
    ["core.fsync=committed,loose-object,reference", "core.fsyncMethod=batch", "core.fsyncObjectFiles=true"];

const ENVIRONMENT: [(&str, &str); 8] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    // Nobody could answer an editor.
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A path is a path, also when it begins with a colon or holds a star.
    ("GIT_LITERAL_PATHSPECS", "1"),
    // Reading must not rewrite the user's index.
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Where git works and which settings count there.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    program: PathBuf,
    work_tree: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    overrides: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    /// The settings of a view, which must be those that it was opened with.
    settings: Option<Arc<ViewSettings>>,
    /// Which programs of the person's configuration may be started.
    trusted: TrustedPrograms,
    /// The settings by which the other drivers are switched off, once they were listed.
    silenced: Option<Arc<Vec<(OsString, &'static str)>>>,
    time_most: Duration,
    output_most: usize,
}

impl Git {
    /// Opens the working tree whose top is exactly `folder`. A parent repository is never taken
    /// instead: the agent would work, and we would look, somewhere else.
    pub(crate) fn open(folder: &Path) -> Result<Git, GitError> {
        Git::open_with(folder, Vec::new())
    }

    /// Opens it with variables of the caller's for every command.
    pub(crate) fn open_with(
        folder: &Path,
        environment: Vec<(&'static str, OsString)>,
    ) -> Result<Git, GitError> {
        let refused =
            |reason: &str| GitError::NotARepository { path: folder.to_owned(), reason: reason.to_owned() };
        let top = folder.canonicalize().map_err(|error| refused(&format!("cannot be entered: {error}")))?;
        let mut git = Git::unopened(&top, environment)?;
        let asked =
            ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let answer = match git.run(asked) {
            Ok(answer) => answer,
            Err(GitError::Failed { stderr, .. }) => return Err(refused(&plainly(&top, &stderr))),
            Err(other) => return Err(other),
        };
        let lines: Vec<PathBuf> = answer.split(|it| *it == b'\n').map(bytes_to_path).collect();
        let [found, git_dir, common_dir, _end] = lines.as_slice() else {
            return Err(refused("has a line break in its path"));
        };
        if *found != top {
            return Err(refused(&format!(
                "is not the top of its git working tree, which is {}",
                found.display()
            )));
        }
        git.lead_to(git_dir, common_dir);
        Ok(git)
    }

    /// Opens a working tree that was opened before. Git is not asked where its files say enough.
    pub(crate) fn reopen(folder: &Path) -> Result<Git, GitError> {
        Git::reopen_with(folder, Vec::new())
    }

    /// Opens it with variables of the caller's for every command.
    pub(crate) fn reopen_with(
        folder: &Path,
        environment: Vec<(&'static str, OsString)>,
    ) -> Result<Git, GitError> {
        let Some(found) = places(folder) else { return Git::open_with(folder, environment) };
        let mut git = Git::unopened(&found.top, environment)?;
        git.lead_to(&found.git_dir, &found.common_dir);
        Ok(git)
    }

    /// Names the repository outright, so that neither `core.worktree` nor `core.bare` nor a replaced
    /// `.git` file can lead a later command elsewhere.
    fn lead_to(&mut self, git_dir: &Path, common_dir: &Path) {
        self.environment.push(("GIT_DIR", git_dir.as_os_str().to_owned()));
        self.environment.push(("GIT_WORK_TREE", self.work_tree.clone().into_os_string()));
        (self.git_dir, self.common_dir) = (git_dir.to_owned(), common_dir.to_owned());
    }

    /// Makes a repository in a folder that is none, and opens it.
    pub(crate) fn init(folder: &Path) -> Result<Git, GitError> {
        Git::unopened(folder, Vec::new())?.run(["init", "-q", "-b", "main"])?;
        Git::open(folder)
    }

    fn unopened(top: &Path, environment: Vec<(&'static str, OsString)>) -> Result<Git, GitError> {
        Ok(Git {
            program: find_program("git").ok_or(GitError::NotInstalled)?,
            work_tree: top.to_owned(),
            git_dir: PathBuf::new(),
            common_dir: PathBuf::new(),
            overrides: Vec::new(),
            environment,
            settings: None,
            trusted: TrustedPrograms::None,
            silenced: None,
            time_most: TIME_MOST,
            output_most: OUTPUT_MOST,
        })
    }

    /// Opens the working tree that holds `folder`: the nearest ancestor with a `.git`.
    pub(crate) fn around(folder: &Path) -> Result<Git, GitError> {
        let start = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Git::open(start.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder))
    }

    /// Opens another working tree with the variables and the trust that this one was opened with.
    pub(crate) fn open_other(&self, folder: &Path) -> Result<Git, GitError> {
        let own = self.environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        Ok(Git { trusted: self.trusted.clone(), ..Git::open_with(folder, own.cloned().collect())? })
    }

    /// The same for one that was opened before.
    pub(crate) fn reopen_other(&self, folder: &Path) -> Result<Git, GitError> {
        let own = self.environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        Ok(Git { trusted: self.trusted.clone(), ..Git::reopen_with(folder, own.cloned().collect())? })
    }

    /// The top of the working tree.
    pub(crate) fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The folder with this working tree's HEAD and index.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder with the refs and objects that all working trees of the repository share.
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Reads the repository's own exclude file. Git itself would wait for a pipe in its place.
    pub(crate) fn excluded(&self) -> Result<String, GitError> {
        let path = self.common_dir.join("info/exclude");
        match loop_base::files::text(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            Err(source) => Err(GitError::File { doing: "reading", path, source }),
        }
    }

    /// Adds patterns to the repository's own exclude file, which is never committed: agents stage
    /// everything they see, and our files are none of theirs.
    pub(crate) fn exclude(&self, patterns: &[&str]) -> Result<(), GitError> {
        let path = self.common_dir.join("info/exclude");
        let failed = |source| GitError::File { doing: "writing", path: path.clone(), source };
        let text = self.excluded()?;
        let missing: Vec<&&str> =
            patterns.iter().filter(|it| !text.lines().any(|line| line == **it)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut added = if text.is_empty() || text.ends_with('\n') { String::new() } else { "\n".to_owned() };
        for pattern in missing {
            added.push_str(pattern);
            added.push('\n');
        }
        std::fs::create_dir_all(self.common_dir.join("info")).map_err(failed)?;
        // A link would lead out of the repository, to whatever an agent pointed it at.
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let mut file = options.open(&path).map_err(failed)?;
        file.write_all(added.as_bytes()).map_err(failed)
    }

    /// Returns the same place with variables that outrank those of before.
    pub(crate) fn with(&self, environment: Vec<(&'static str, OsString)>) -> Git {
        let mut git = self.clone();
        git.environment.extend(environment);
        git
    }

    /// Returns the same place under the settings of a view.
    pub(super) fn under(&self, settings: ViewSettings) -> Git {
        Git { settings: Some(Arc::new(settings)), ..self.clone() }
    }

    /// Fails where somebody changed the settings of the view.
    pub(super) fn check_settings(&self) -> Result<(), GitError> {
        self.settings.as_ref().map_or(Ok(()), |it| it.check())
    }

    /// Returns the same repository with another folder as its working tree.
    pub(crate) fn at(&self, work_tree: &Path) -> Git {
        let mut git = self.with(vec![("GIT_WORK_TREE", work_tree.as_os_str().to_owned())]);
        git.work_tree = work_tree.to_owned();
        git
    }

    /// Returns the same place with every object and every ref on the disk when a command ends. Git by
    /// itself leaves single objects to the kernel, and a power loss would leave empty files of that
    /// name. Many at once share one flush.
    pub(crate) fn durable(&self) -> Git {
        let mut git = self.clone();
        git.overrides.extend(DURABLE.map(OsString::from));
        git
    }

    /// Returns the same place where git may start those drivers of the person's own configuration that were there when
    /// the run was opened, so that large file storage works; all of them for a run that did not write them down.
    pub(crate) fn trusting(self, at_opening: Option<&[String]>) -> Git {
        Git { trusted: TrustedPrograms::of(at_opening), silenced: None, ..self }
    }

    /// The same for a look: for a run that did not write them down none is started.
    pub(crate) fn looking_with(self, at_opening: Option<&[String]>) -> Git {
        if at_opening.is_some() { self.trusting(at_opening) } else { self }
    }

    /// Whether the person had programs of git that may be started here.
    pub(crate) fn trusts_programs(&self) -> bool {
        self.trusted.has_any()
    }

    /// Returns the same place with every filter, diff and merge driver switched off that is not trusted, in this
    /// repository or in one in it: git looks into submodules too. Every command that looks at files is run so.
    pub(crate) fn without_drivers(&self) -> Result<Git, GitError> {
        if self.silenced.is_some() {
            return Ok(self.clone());
        }
        let drivers = self.all_untrusted_drivers()?;
        let silenced = drivers.iter().flat_map(|it| silenced(it)).collect();
        Ok(Git { silenced: Some(Arc::new(silenced)), ..self.clone() })
    }

    /// Returns the variables by which a git that another program starts here starts no driver that is not trusted, no
    /// hook and no monitor.
    pub(crate) fn environment_of_others(&self) -> Result<Vec<(OsString, OsString)>, GitError> {
        let drivers = self.all_untrusted_drivers()?;
        let drivers = drivers.iter().flat_map(|it| silenced(it));
        let drivers = drivers.map(|(name, value)| (name, value.to_owned()));
        let all: Vec<_> = overrides_of_others().chain(drivers).collect();
        let count = ("GIT_CONFIG_COUNT".into(), all.len().to_string().into());
        let pairs = all.into_iter().enumerate().flat_map(|(index, (name, value))| {
            let of = |part: &str| OsString::from(format!("GIT_CONFIG_{part}_{index}"));
            [(of("KEY"), name), (of("VALUE"), value.into())]
        });
        Ok(std::iter::once(count).chain(pairs).collect())
    }

    /// The programs that git's configuration names here.
    pub(crate) fn programs(&self) -> Result<Vec<NamedProgram>, GitError> {
        Ok(named_programs(&self.feed_as_is(words(&LISTING), &[])?))
    }

    /// Refuses to talk to a remote where the repository's configuration names a program for that which it did not name
    /// when the run was opened.
    pub(crate) fn refuse_foreign_programs(&self) -> Result<(), GitError> {
        match self.trusted.foreign_to_run(&self.programs()?) {
            None => Ok(()),
            Some(program) => Err(GitError::ForeignProgram {
                setting: readable(program.setting.as_bytes()),
                file: readable(program.file.as_os_str().as_bytes()),
            }),
        }
    }

    /// Returns those of these files whose content goes through a filter that is switched off, each with its filter.
    pub(crate) fn filtered(&self, files: &[PathBuf]) -> Result<Vec<(PathBuf, String)>, GitError> {
        let drivers = self.untrusted_drivers(&mut 0)?;
        if files.is_empty() || !drivers.iter().any(|it| it.as_bytes().starts_with(b"filter.")) {
            return Ok(Vec::new());
        }
        let off = |name: &[u8]| drivers.iter().any(|it| it.as_bytes().strip_prefix(b"filter.") == Some(name));
        let found = self.with_filter(files)?.into_iter().filter(|it| off(&it.1));
        Ok(found.map(|(path, name)| (path, readable(&name))).collect())
    }

    /// Returns those of these files for which `.gitattributes` names a filter, whether there is one of that name or not.
    pub(crate) fn with_filter(&self, files: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>, GitError> {
        let list: Vec<u8> = files.iter().flat_map(|it| [it.as_os_str().as_bytes(), b"\0"].concat()).collect();
        let listing = self.feed(["check-attr", "-z", "--stdin", "filter"], &list)?;
        let fields: Vec<&[u8]> = listing.split(|it| *it == 0).collect();
        let named =
            fields.chunks_exact(3).filter(|it| ![&b"unspecified"[..], b"unset", b"set"].contains(&it[2]));
        Ok(named.map(|it| (bytes_to_path(it[0]), it[2].to_vec())).collect())
    }

    fn all_untrusted_drivers(&self) -> Result<BTreeSet<OsString>, GitError> {
        let mut left = SUBMODULES_MOST;
        self.untrusted_drivers(&mut left)
    }

    /// The drivers of this repository and of those in it that are not trusted. At most `left` others are looked into.
    fn untrusted_drivers(&self, left: &mut usize) -> Result<BTreeSet<OsString>, GitError> {
        let mut found = self.trusted.untrusted_drivers(&self.programs()?);
        if *left == 0 || !self.file_may(&self.git_dir.join("index"), may_list_submodules) {
            return Ok(found);
        }
        // Without an index there is no submodule either.
        let listing = where_possible(self.feed_as_is(words(&["ls-files", "--stage", "-z"]), &[]))?;
        for path in submodules(&listing) {
            let top = self.work_tree.join(path);
            if !top.join(".git").exists() {
                continue;
            }
            *left = left.saturating_sub(1);
            if *left == 0 {
                // A driver of those that nobody looked into would be started.
                return Err(GitError::TooManySubmodules { most: SUBMODULES_MOST });
            }
            let inner = Git { trusted: self.trusted.clone(), ..Git::unopened(&top, Vec::new())? };
            // What git cannot open it does not look into.
            found.extend(where_possible(inner.untrusted_drivers(left))?);
        }
        Ok(found)
    }

    /// Whether a file of the repository could say something that git then has to be asked about. One that is not there
    /// says nothing; where it cannot be read, or variables lead git to another one, git is asked.
    fn file_may(&self, file: &Path, says: fn(&[u8]) -> bool) -> bool {
        let is_plain = |name: &str| matches!(name, "GIT_DIR" | "GIT_WORK_TREE") || !name.starts_with("GIT_");
        if self.git_dir.as_os_str().is_empty() || !self.environment.iter().all(|(name, _)| is_plain(name)) {
            return true;
        }
        match loop_base::files::read(file, SCANNED_MOST) {
            Ok(text) => says(&text),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    /// Whether a remote of this repository promises objects that are not here.
    pub(crate) fn may_be_partial(&self) -> bool {
        fn says(text: &[u8]) -> bool {
            let text = String::from_utf8_lossy(text).to_ascii_lowercase();
            text.contains("promisor") || text.contains("[include")
        }
        self.file_may(&self.common_dir.join("config"), says)
    }

    /// Runs git with an empty stdin and returns its stdout.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u8>, GitError> {
        self.feed(arguments, &[])
    }

    /// Runs git with `input` as its stdin and returns its stdout.
    pub(crate) fn feed<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let arguments: Vec<OsString> = arguments.into_iter().map(|it| it.as_ref().to_owned()).collect();
        // In a view no configuration counts but ours.
        let is_quiet = self.settings.is_some() || !asks_drivers(&arguments);
        if self.settings.is_none() && reaches_remote(&arguments) {
            self.refuse_foreign_programs()?;
        }
        if is_quiet {
            self.feed_as_is(arguments, input)
        } else {
            self.without_drivers()?.feed_as_is(arguments, input)
        }
    }

    fn feed_as_is(&self, arguments: Vec<OsString>, input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut child = self.spawn(&arguments, !input.is_empty())?;
        let outcome = converse(&mut child, input, self.time_most, self.output_most);
        let (status, output) = match outcome {
            Ok(ExchangeResult::All(status, output)) => (status, output),
            Ok(ExchangeResult::TooLate) => {
                let seconds = self.time_most.as_secs();
                return Err(GitError::TimedOut { arguments: shown(&arguments), seconds });
            }
            Ok(ExchangeResult::TooMuch) => {
                let most = self.output_most;
                return Err(GitError::TooMuchOutput { arguments: shown(&arguments), most });
            }
            Err(source) => {
                return Err(GitError::File { doing: "talking to", path: self.program.clone(), source });
            }
        };
        if status.success() {
            return Ok(output.stdout);
        }
        let mut stderr = readable(&reason(&output.stderr));
        if stderr.trim().is_empty() {
            // Some commands, such as `git commit` without changes, print the reason on standard output.
            stderr = readable(&output.stdout);
        }
        Err(GitError::Failed { arguments: shown(&arguments), code: status.code(), stderr })
    }

    /// Starts git in a process group of its own, so that whatever it starts can be ended with it.
    fn spawn(&self, arguments: &[OsString], with_input: bool) -> Result<Child, GitError> {
        self.check_settings()?;
        #[cfg(test)]
        STARTED.with(|it| it.set(it.get() + 1));
        #[expect(clippy::disallowed_methods, reason = "the one function that runs git")]
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
            if !reaches_our_git(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command.envs(ENVIRONMENT).envs(self.environment.iter().map(|(name, value)| (name, value)));
        // A driver's name may hold any character, which an argument after `-c` may not.
        let silenced = self.silenced.as_deref().map(Vec::as_slice).unwrap_or_default();
        command.env("GIT_CONFIG_COUNT", silenced.len().to_string());
        for (index, (name, value)) in silenced.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        for setting in overrides(arguments).map(OsString::from).chain(self.overrides.iter().cloned()) {
            command.arg("-c").arg(setting);
        }
        tracing::debug!(?arguments, place = %self.work_tree.display(), "git");
        command.args(arguments).current_dir(&self.work_tree).process_group(0);
        command.stdin(if with_input { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|source| match source.kind() {
            ErrorKind::NotFound if self.work_tree.is_dir() => GitError::NotInstalled,
            _ => GitError::File { doing: STARTING_GIT, path: self.work_tree.clone(), source },
        })
    }

    /// Returns the same repository with other bounds for one command.
    pub(crate) fn limited(mut self, time_most: Duration, output_most: usize) -> Git {
        (self.time_most, self.output_most) = (time_most, output_most);
        self
    }
}

#[cfg(test)]
thread_local! {
    /// How many times this test's thread has started git.
    pub(crate) static STARTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// What git itself refused counts as nothing. Anything else, such as too much output, hides what is there.
fn where_possible<T: Default>(answer: Result<T, GitError>) -> Result<T, GitError> {
    match answer {
        Err(GitError::Failed { .. }) => Ok(T::default()),
        other => other,
    }
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // A relative entry would be looked up in the agent's working tree.
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    folders
        .map(|it| it.join(name))
        .find(|it| rustix::fs::access(it, rustix::fs::Access::EXEC_OK).is_ok() && it.is_file())
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn shown(arguments: &[OsString]) -> String {
    let words: Vec<_> = arguments.iter().take(6).map(|it| it.to_string_lossy()).collect();
    readable(words.join(" ").as_bytes())
}

/// What git says about why it failed, without its warnings about other things.
fn reason(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|it| *it == b'\n').filter(|it| !it.starts_with(b"warning: "));
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// Text that may go to a terminal: what git says may quote names that an agent chose.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = |it: char| if it.is_control() { ' ' } else { it };
    text.trim().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::super::git_text::single_line;
    use super::*;
    use crate::tree::sample::Sample;
    use std::time::Instant;

    #[test]
    fn g19_only_the_top_of_a_working_tree_is_opened() {
        let sample = Sample::committed();
        sample.write("inner/file", b"x");
        assert!(matches!(Git::open(&sample.path("inner")), Err(GitError::NotARepository { .. })));
        assert!(matches!(Git::open(&sample.path("absent")), Err(GitError::NotARepository { .. })));
        let around = Git::around(&sample.path("inner")).unwrap();
        assert_eq!(around.work_tree(), sample.git().work_tree());
        sample.user(&["init", "-q", "--bare", "bare.git"]);
        assert!(matches!(Git::open(&sample.path("bare.git")), Err(GitError::NotARepository { .. })));
        sample.user(&["config", "core.worktree", "/"]);
        assert!(matches!(Git::open(&sample.top()), Err(GitError::NotARepository { .. })));
    }

    #[test]
    fn what_git_says_is_in_the_error_and_safe_to_print() {
        let sample = Sample::committed();
        let error = sample.git().run(["rev-parse", "--verify", "no\u{1b}[31msuch"]).unwrap_err();
        let GitError::Failed { arguments, code, stderr } = error else { panic!("{error}") };
        assert_eq!((arguments.as_str(), code), ("rev-parse --verify no [31msuch", Some(128)));
        assert!(stderr.contains("fatal:") && !stderr.contains('\u{1b}'), "{stderr}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_git_that_hangs_is_ended_with_everything_it_started() {
        let sample = Sample::committed();
        let hang = format!("alias.hang=!echo $$ > {}; sleep 60; true", sample.path("pid").display());
        let git = sample.git().limited(Duration::from_secs(1), 1 << 20);
        let error = git.run(["-c", &hang, "hang"]).unwrap_err();
        assert!(matches!(error, GitError::TimedOut { seconds: 1, .. }), "{error}");
        let pid = std::fs::read_to_string(sample.path("pid")).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        // A killed process takes a moment to be gone. Its exit is awaited for far less than the
        // minute it would have slept.
        if let Ok(exit) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            let mut watched = [rustix::event::PollFd::new(&exit, rustix::event::PollFlags::IN)];
            let patience = rustix::fs::Timespec { tv_sec: 20, tv_nsec: 0 };
            assert_eq!(rustix::event::poll(&mut watched, Some(&patience)), Ok(1), "{pid:?} is alive");
        }
    }

    #[test]
    fn too_much_output_is_an_error() {
        let sample = Sample::committed();
        let git = sample.git().limited(Duration::from_secs(20), 1 << 20);
        let error = git.run(["-c", "alias.flood=!yes", "flood"]).unwrap_err();
        assert!(matches!(error, GitError::TooMuchOutput { most: 1_048_576, .. }), "{error}");
    }

    #[test]
    fn something_left_behind_does_not_hold_us() {
        let sample = Sample::committed();
        let leave = format!("alias.leave=!sleep 60 & echo $! > {}; echo said", sample.path("pid").display());
        let began = Instant::now();
        assert_eq!(sample.git().run(["-c", &leave, "leave"]).unwrap(), b"said\n");
        assert!(began.elapsed() < Duration::from_secs(30));
        let pid = std::fs::read_to_string(sample.path("pid")).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn much_input_and_much_output_pass_at_once() {
        let sample = Sample::committed();
        let input = "HEAD\n".repeat(100_000);
        let output = sample.git().feed(["cat-file", "--batch-check"], input.as_bytes()).unwrap();
        assert_eq!(output.iter().filter(|it| **it == b'\n').count(), 100_000);
    }

    #[test]
    fn g35_variables_of_the_caller_do_not_reach_git() {
        let module = module_path!().split_once("::").map_or("", |it| it.1);
        let name = format!("{module}::g35_variables_of_the_caller_do_not_reach_git");
        if std::env::var_os("GIT_DIR").is_none() {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child
                .args(["--exact", &name])
                .env("GIT_DIR", "/nonexistent")
                .env("GIT_INDEX_FILE", "/nonexistent");
            child.env("GIT_EXTERNAL_DIFF", "/nonexistent").env("GIT_WORK_TREE", "/");
            let output = child.output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && told.contains("1 passed"), "{told}");
            return;
        }
        let sample = Sample::committed();
        assert_eq!(single_line(&sample.git().run(["ls-files"]).unwrap()), "a.txt");
        let top = single_line(&sample.git().run(["rev-parse", "--show-toplevel"]).unwrap());
        assert_eq!(Path::new(&top), sample.git().work_tree());
    }

    #[test]
    fn g29_drivers_of_the_repository_do_not_write_files() {
        let sample = Sample::committed();
        let canary = format!("touch {}; cat", sample.marker().display());
        sample.user(&["config", "--global", "filter.good.smudge", "tr a-z A-Z"]);
        sample.write(".gitattributes", b"a.txt filter=bad.name\nb.txt filter=good\n");
        sample.write("b.txt", b"b\n");
        sample.user(&["add", "-A"]);
        sample.user(&["commit", "-qm", "attributes"]);
        sample.user(&["config", "filter.bad.name.smudge", &canary]);
        sample.user(&["config", "filter.bad.name.required", "true"]);
        let place = sample.outside("checkout");
        let at_opening: Vec<String> =
            sample.git().programs().unwrap().into_iter().map(|it| it.digest).collect();
        let git = sample.git().trusting(Some(&at_opening));
        git.run(["worktree".as_ref(), "add".as_ref(), "--detach".as_ref(), place.as_os_str()]).unwrap();
        assert!(!sample.marker().exists());
        assert_eq!(std::fs::read(place.join("a.txt")).unwrap(), b"a\n");
        assert_eq!(std::fs::read(place.join("b.txt")).unwrap(), b"B\n");
    }
}
