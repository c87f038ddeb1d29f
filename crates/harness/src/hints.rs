//! Follows the hints that the program prints. A hint is a command on a line of its own: `next: …`,
//! `  or: …`, `… continue with: …`, or `next_step` in JSON. The first time that a kind of hint is seen
//! in a test program, the sandbox is copied and the hint is pasted into a shell there; the copy lies at
//! the sandbox's own path, in namespaces of its own, so the test never notices. A hint that ends with a
//! usage error fails the test that made the program print it.
//!
//! Kinds, not texts, are counted: ids, paths and quoted words differ from run to run. The exit
//! status that it came with is part of its kind, because the same words may work in one situation and
//! fail in another.

use crate::{processes, program, within};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

/// A hint that drives a run may wait for a pipe that nobody opens in the copy. Whoever refuses its
/// words does so at once.
const SECONDS: &str = "3";

/// A user, mounts and processes of its own; whatever the hint started ends with it.
const ALONE: [&str; 7] =
    ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Words that a person would have to replace; they belong after `help:`, not into a command to paste.
const PLACEHOLDERS: [&str; 6] = ["PROGRAM ARGS", "COMMAND", "INPUT", "NAME", "PHASE", "ID"];

/// Words that stand for a file or a key that only a person can have.
const OF_ONES_OWN: [&str; 3] = [" FILE", " KEY", " --sign"];

/// Commands that are proposed because somebody else drives a run.
const BESIDE_OTHERS: [&str; 5] = ["loop attach", "loop stop", "loop wait", "loop status", "loop log"];

/// The process that holds a call ends some milliseconds after its controller.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Kinds of hints that were pasted in this test program.
static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Where a command was run, so that its hints can be followed from there.
pub(crate) struct HintOrigin {
    root: PathBuf,
    dir: PathBuf,
    variables: Vec<(OsString, OsString)>,
    typed: Vec<String>,
}

impl HintOrigin {
    /// Returns the place of a command of the program; hints of other programs are their own business.
    pub(crate) fn of(root: &Path, command: &Command) -> Option<HintOrigin> {
        let variables =
            command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        (command.get_program() == program()).then(|| HintOrigin {
            root: root.to_owned(),
            dir: command.get_current_dir().unwrap_or(root).to_owned(),
            variables: variables.collect(),
            typed: command.get_args().map(|it| it.to_string_lossy().into_owned()).collect(),
        })
    }

    /// Follows every hint of a kind that was not seen before.
    #[track_caller]
    pub(crate) fn follow(&self, code: i32, out: &str, err: &str) {
        if !can_follow() {
            return;
        }
        for hint in hints(out, err) {
            self.refuse_placeholders(&hint);
            self.refuse_other_places(&hint);
            note(&format!("printed\t{hint}"));
            if self.is_new(code, &hint) && !OF_ONES_OWN.iter().any(|it| hint.contains(it)) {
                self.paste(code, &hint);
            }
        }
    }

    /// What was typed may contain such a word and is repeated.
    #[track_caller]
    fn refuse_placeholders(&self, hint: &str) {
        // A name in quotes can be pasted as it is; "what to build" and "REASON" are refused with words.
        let hint = hint.replace("\"NAME OF A SYSTEM\"", "");
        let words: Vec<&str> = hint.split([' ', '"', '=', '/', '.']).collect();
        let stands = |it: &&&str| words.windows(it.split(' ').count()).any(|some| some.join(" ") == ***it);
        let typed = |it: &&&str| self.typed.iter().any(|typed| typed.contains(**it));
        let found = PLACEHOLDERS.iter().find(|it| stands(it) && !typed(it));
        assert!(found.is_none(), "{hint} cannot be pasted; loop {:?} printed it", self.typed);
    }

    /// Whoever named a folder or a home is not in it, so the hint has to name it too.
    #[track_caller]
    fn refuse_other_places(&self, hint: &str) {
        // Help is the same everywhere.
        if !hint.starts_with("loop ") || hint.starts_with("loop help") {
            return;
        }
        for flag in ["-C", "--home"] {
            let is_typed = self.typed.iter().any(|it| it == flag);
            let is_repeated = hint.split(' ').any(|it| it == flag);
            assert!(!is_typed || is_repeated, "{hint} lacks {flag}; loop {:?} printed it", self.typed);
        }
    }

    fn is_new(&self, code: i32, hint: &str) -> bool {
        static AWAITED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
        let kind = of_kind(code, hint);
        if SEEN.lock().is_ok_and(|it| it.contains(&kind)) {
            return false;
        }
        // What a live process writes cannot be copied; another test prints the same without one. Commands
        // that look at such a process, or end it, are proposed only while there is one.
        let is_about_others = BESIDE_OTHERS.iter().any(|it| hint.starts_with(it));
        let nothing_runs = || processes::alive_below(&self.root).is_empty();
        if !is_about_others && !nothing_runs() {
            // The process that holds a call may be about to end. One that stays is waited for once.
            let is_first = AWAITED.lock().is_ok_and(|mut it| it.insert(kind.clone()));
            if !(is_first && within(ENDS_WITHIN, nothing_runs)) {
                return false;
            }
        }
        SEEN.lock().is_ok_and(|mut it| it.insert(kind))
    }

    #[track_caller]
    fn paste(&self, code: i32, hint: &str) {
        let Some(done) = self.pasted(hint) else {
            // A folder in which something still changes cannot be copied; the next one that prints the same may be.
            let _was_there = SEEN.lock().is_ok_and(|mut it| it.remove(&of_kind(code, hint)));
            return;
        };
        let (status, said) = (exit_code(done.status), String::from_utf8_lossy(&done.stderr).into_owned());
        note(&format!("{status}\t{hint}\tof {:?}, exit {code}", self.typed));
        assert!(
            !is_refused(hint, status, &said),
            "pasted, this hint ends with {status}:\n  {hint}\nit was printed by loop {:?}, exit {code}\n{}{said}",
            self.typed,
            String::from_utf8_lossy(&done.stdout)
        );
    }

    /// Runs the hint in a copy; nothing where the machine has no namespaces.
    fn pasted(&self, hint: &str) -> Option<Output> {
        let copy = tempfile::Builder::new().prefix("loop-hint-").tempdir_in(self.root.parent()?).ok()?;
        let inside = copy.path().join("copy");
        let copied = Command::new("cp").arg("-a").arg(&self.root).arg(&inside).output().ok()?;
        if !copied.status.success() {
            return None;
        }
        // Words are refused before the first call, so the work of a scripted agent is left out.
        if inside.join("agent.sh").exists() {
            fs::write(inside.join("agent.sh"), "cat > /dev/null\nexit 1\n").ok()?;
        }
        let tools = copy.path().join("bin");
        fs::create_dir(&tools).ok()?;
        std::os::unix::fs::symlink(program(), tools.join("loop")).ok()?;
        let mut command = Command::new("unshare");
        command.args(ALONE).args(["sh", "-c", PASTE, "sh"]);
        command.arg(&inside).arg(&self.root).arg(&self.dir).arg(SECONDS).arg(filled(hint));
        command.env_clear().envs(self.variables.iter().cloned()).stdin(Stdio::null());
        let path = self.variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let path = std::iter::once(tools).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path).ok()?);
        let done = command.output().ok()?;
        (done.status.code() != Some(NO_NAMESPACE)).then_some(done)
    }
}

/// Notes that a test pasted a hint itself, where a copy would not be the place that it was printed for.
pub fn pasted(hint: &str, status: i32) {
    note(&format!("printed\t{hint}"));
    note(&format!("{status}\t{hint}\tby the test"));
}

/// Writes a line into the log of hints, once.
fn note(line: &str) {
    static NOTED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let is_new = || NOTED.lock().is_ok_and(|mut it| it.insert(line.to_owned()));
    if let Some(log) = std::env::var_os("LOOP_HINT_LOG")
        && is_new()
        && let Ok(mut log) = OpenOptions::new().create(true).append(true).open(log)
    {
        let _the_list_is_short_then = log.write_all(format!("{line}\n").as_bytes());
    }
}

/// What the shell says that could not put the copy in its place.
const NO_NAMESPACE: i32 = 99;

/// Puts the copy in its place, and pastes the hint there.
const PASTE: &str =
    "mount --bind \"$1\" \"$2\" && cd \"$3\" || exit 99\nexec timeout -k 1 \"$4\" sh -c \"$5\"";

/// A usage error, or a command that there is not. Where words stand for something of the person's own,
/// the program may still find something missing, and says so with a hint of its own.
fn is_refused(hint: &str, status: i32, said: &str) -> bool {
    // The next phase may have no plans yet; those are a person's to write.
    let is_phase = hint
        .strip_prefix("loop run ")
        .is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit() || it == b'.'));
    let stands = is_phase
        || hint.contains("what to build")
        || hint.contains("\"REASON\"")
        || hint.contains("a criterion")
        || hint.contains("old words");
    match status {
        // A workflow with mistakes is what that command is there to tell of.
        2 if hint.starts_with("loop check") => !said.contains("mistake"),
        // Whoever has an agent installed is not told so.
        2 if said.contains("no supported agent found") => false,
        // What lies uncommitted in the tree is asked about first.
        2 if said.contains("the tree has uncommitted changes") => !said.contains("\nnext: "),
        2 if stands => !(said.contains("\nnext: ") || said.contains("\nhelp: ")),
        2 | 126 | 127 => true,
        _ => false,
    }
}

/// The hint as it is pasted: destructive ones only say what they would do.
fn filled(hint: &str) -> String {
    let is_destructive =
        ["loop cancel", "loop ship", "loop runs --prune"].iter().any(|it| hint.starts_with(it));
    if is_destructive { format!("{hint} --dry-run") } else { hint.to_owned() }
}

/// Whether this machine lets hints be followed.
pub fn can_follow() -> bool {
    static CAN: LazyLock<bool> = LazyLock::new(|| {
        Command::new("unshare").args(ALONE).arg("true").output().is_ok_and(|it| it.status.success())
    });
    *CAN
}

/// Follows the hints in a text as if this command had printed it in the sandbox with this folder; kinds that were
/// seen before too.
#[track_caller]
pub fn follow(root: &Path, command: &Command, code: i32, text: &str) {
    let place = HintOrigin::of(root, command).expect("a command of the program");
    hints(text, "").iter().for_each(|it| place.paste(code, it));
}

/// Every hint in what a command printed.
pub fn hints(out: &str, err: &str) -> Vec<String> {
    let lines = out.lines().chain(err.lines()).map(str::trim_start);
    let marked = lines.filter_map(|it| {
        let after = it.strip_prefix("next: ").or_else(|| it.strip_prefix("or: "));
        // A text of JSON ends with what belongs to JSON.
        let text = it.strip_prefix('"').map_or(it, |it| it.trim_end_matches(',').trim_end_matches('"'));
        after.or_else(|| text.split_once("continue with: ").map(|(_, after)| after))
    });
    let mut found: Vec<String> = marked.map(str::to_owned).collect();
    let objects =
        out.lines().chain([out]).filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    found.extend(objects.filter_map(|it| Some(it.get("next_step")?.as_str()?.to_owned())));
    found.dedup();
    found
}

/// Commands whose next word says what they do.
const WITH_A_VERB: [&str; 3] = ["answer", "queue", "hook"];

/// What is pasted once: the kind of a hint, with the exit status that it came with.
fn of_kind(code: i32, hint: &str) -> String {
    format!("{code}: {}", kind(hint))
}

/// What a hint is without the words that differ from run to run: program and command, the names of
/// flags, and the verb of a command that has one. Whether something is named at all is a difference, and so is
/// the status that a system is to get.
fn kind(hint: &str) -> String {
    let words: Vec<&str> = hint.split(' ').collect();
    let has_verb = words.get(1).is_some_and(|it| WITH_A_VERB.contains(it));
    let names_something = words.get(2).is_some_and(|it| !it.starts_with('-'));
    let kept = words.iter().enumerate().filter_map(|(index, word)| match index {
        0 | 1 => Some(*word),
        2 if has_verb => Some(*word),
        2 if names_something => Some("…"),
        _ if words[index - 1] == "--clear" => Some("…"),
        _ if words[index - 1] == "--status" => Some(*word),
        _ => word.starts_with('-').then_some(*word),
    });
    let kept: Vec<&str> = kept.map(|word| word.split('=').next().unwrap_or(word)).collect();
    kept.join(" ")
}

/// Returns the exit status as one number: 1000 and the signal for who was killed.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 1000 + status.signal().unwrap_or(0))
}
