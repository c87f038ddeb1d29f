//! One project, one home and one person's folder, all below a temporary directory. Programs that
//! are started here see nothing of the machine but a path for `sh`, `git` and their like.

use crate::done::{Done, Running};
use crate::hints::HintOrigin;
use crate::{Fifo, processes, program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Sandbox {
    root: PathBuf,
    pub project: PathBuf,
    /// The program's own folder, `LOOP_HOME`.
    pub home: PathBuf,
    /// The person's folder, `HOME`.
    pub user: PathBuf,
    /// Folders in front of `PATH`.
    pub path_first: Vec<PathBuf>,
    /// Variables beside the usual ones, or in place of them.
    pub variables: Vec<(&'static str, OsString)>,
    /// Removed with the sandbox; a folder that was given stays.
    folder: Option<tempfile::TempDir>,
    started: AtomicU32,
}

impl Sandbox {
    /// A repository with one commit.
    pub fn new() -> Sandbox {
        Sandbox::called("project".as_ref())
    }

    /// The same, with a project folder of this name.
    pub fn called(name: &Path) -> Sandbox {
        let mut sandbox = Sandbox::empty();
        let project = sandbox.root.join(name);
        fs::rename(&sandbox.project, &project).expect("a name for a folder");
        sandbox.project = project;
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.git(&["config", "user.name", "tester"]);
        sandbox.git(&["config", "user.email", "tester@localhost"]);
        sandbox.write("README.md", "a project\n");
        sandbox.commit("the beginning");
        sandbox
    }

    /// Folders alone: no repository, and nothing in any of them.
    pub fn empty() -> Sandbox {
        Sandbox::empty_in(&std::env::temp_dir())
    }

    /// The same below this folder.
    pub fn empty_in(place: &Path) -> Sandbox {
        let folder = tempfile::Builder::new().prefix("loop-").tempdir_in(place).expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        for name in ["project", "user", "tmp", "io", "out"] {
            fs::create_dir(root.join(name)).expect("a folder");
        }
        let mut sandbox = Sandbox::at(root);
        sandbox.folder = Some(folder);
        sandbox
    }

    /// What lies here already.
    pub fn at(root: PathBuf) -> Sandbox {
        Sandbox {
            project: root.join("project"),
            home: root.join("home"),
            user: root.join("user"),
            root,
            path_first: Vec::new(),
            variables: Vec::new(),
            folder: None,
            started: AtomicU32::new(0),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file below the root.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        put(&self.path(name), text);
    }

    /// Writes a program below the root.
    pub fn program(&self, name: &str, text: &str) {
        self.file(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Reads a file below the root.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The same as JSON.
    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    /// A file outside of the repository, where agents leave notes; they know the folder as `$OUT`.
    pub fn note(&self, name: &str) -> PathBuf {
        self.root.join("out").join(name)
    }

    /// The lines of such a note; none when there is no note.
    pub fn notes(&self, name: &str) -> Vec<String> {
        let text = fs::read(self.note(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// A named pipe that agents know as `$OUT/NAME`.
    pub fn fifo(&self, name: &str) -> Fifo {
        Fifo::new(&self.note(name))
    }

    /// Writes a file of the project.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        put(&self.project.join(name), text);
    }

    /// Reads a file of the project.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs git in the project; returns what it printed, without the last line's end.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let done = Done::of(self.furnished("git", arguments).output().expect("git"));
        assert_eq!(done.code, 0, "git {arguments:?}: {}", done.err);
        done.out.trim_end().to_owned()
    }

    pub fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    /// Takes back what `WORK` did, so that another run has something to do.
    pub fn undo(&self) {
        if self.project.join("work").exists() {
            self.git(&["rm", "-q", "work"]);
            self.git(&["commit", "-q", "-m", "take it back"]);
        }
    }

    /// The subjects of all commits, oldest first.
    pub fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Writes a shell script and returns it as the value of `--agent-cmd`. The prompt of each call
    /// lies in `$OUT/prompt-N`; every start leaves `N PID` in `$OUT/starts`.
    pub fn agent(&self, script: &str) -> String {
        let start = "echo \"$LOOP_CALL $$\" >> \"$OUT/starts\"\ncat > \"$OUT/prompt-$LOOP_CALL\"";
        self.file("agent.sh", format!("{start}\n{script}\n"));
        format!("sh '{}'", self.path("agent.sh").display())
    }

    pub fn prompt(&self, call: u32) -> String {
        fs::read_to_string(self.note(&format!("prompt-{call}"))).expect("a prompt")
    }

    /// The calls that were started, by the agent's own record.
    pub fn calls(&self) -> Vec<u32> {
        let starts = self.notes("starts");
        starts.iter().map(|it| it.split(' ').next().expect("a number").parse().expect("a number")).collect()
    }

    /// The program with these words.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.furnished(program(), arguments)
    }

    /// A command that knows this sandbox and nothing else.
    pub fn furnished(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        self.furnish(&mut command);
        command.args(arguments).current_dir(&self.project);
        command
    }

    pub fn furnish(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").expect("a path");
        let path = self.path_first.iter().cloned().chain(std::env::split_paths(&path));
        command.env_clear().env("PATH", std::env::join_paths(path).expect("no colon in a path"));
        command
            .env("USER", "tester")
            .env("LANG", "C.UTF-8")
            .env("HOME", &self.user)
            .env("TMPDIR", self.root.join("tmp"));
        command.env("LOOP_HOME", &self.home).env("OUT", self.root.join("out"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").envs(self.variables.iter().cloned()).stdin(Stdio::null());
    }

    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.start(self.command(arguments)).wait()
    }

    pub fn spawn(&self, arguments: &[&str]) -> Running {
        self.start(self.command(arguments))
    }

    /// Starts a command whose words go to files, so that nobody has to read along.
    pub fn start(&self, command: Command) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let file = |end: &str| self.root.join("io").join(format!("{number}.{end}"));
        let place = HintOrigin::of(&self.root, &command);
        Running::start(command, place, file("out"), file("err"))
    }

    /// Runs a command to its end, which reads this.
    pub fn finish(&self, mut command: Command, input: &str) -> Done {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let place = HintOrigin::of(&self.root, &command);
        let mut child = command.spawn().expect("the program");
        // A program that does not read its input closes it; that is its own business.
        let _unread = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let done = Done::of(child.wait_with_output().expect("an end"));
        if let Some(place) = place {
            place.follow(done.code, &done.out, &done.err);
        }
        done
    }

    #[track_caller]
    pub fn status(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "--json"]).exits(0).out).expect("one object")
    }

    /// The same while there may be no run yet.
    pub fn status_if_any(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "--json"]).out).unwrap_or_default()
    }

    /// Whether a controller that is alive has the run.
    pub fn is_driven(&self) -> bool {
        self.run(&["status"]).out.contains("driven by   pid")
    }

    /// The events of the run.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let text = self.run(&["log", "--json"]).exits(0).out;
        text.lines().map(|it| serde_json::from_str(it).expect("an object a line")).collect()
    }

    /// Live processes that were started here, with their command lines.
    pub fn processes(&self) -> Vec<(i32, String)> {
        processes::alive_below(&self.root)
    }

    #[track_caller]
    pub fn assert_nothing_runs(&self) {
        processes::assert_nothing_runs_below(&self.root);
    }

    /// Every file below a folder with its content.
    pub fn contents(&self, below: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![below.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("a kind");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    found.push((entry.path(), fs::read(entry.path()).expect("a file")));
                } else {
                    found.push((entry.path(), Vec::new()));
                }
            }
        }
        found.sort();
        found
    }
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox::new()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A test that failed may have left something of its own; no other test should meet it.
        for (pid, _) in self.processes() {
            let _may_be_gone = Pid::from_raw(pid).map(|it| kill_process(it, Signal::KILL));
        }
    }
}

/// Writes a file and the folders that it needs.
pub fn put(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

/// An agent's way to end its message with the promise of a run that a sentence began.
pub const PROMISE: &str = "echo; echo '<promise>TASK_COMPLETE</promise>'";

/// A check that fails until an agent has done its work; with `WORK` that is a proof from red to green.
pub const CHECK: &str = "tests=test -f work";

/// An agent's way to do the work that `CHECK` looks for, to commit it, and to promise.
pub const WORK: &str = "touch work; git add work; git commit -q -m work -- work\n\
    echo; echo '<promise>TASK_COMPLETE</promise>'";

/// An agent that gets nowhere until a person has left the note `mended`, and then does its work.
pub fn stuck() -> String {
    format!("[ -f \"$OUT/mended\" ] || {{ {PROMISE}; exit 0; }}\n{WORK}")
}

/// Commits everything.
pub const COMMIT: &str = "git add -A; git commit -q -m \"call $LOOP_CALL\"";
