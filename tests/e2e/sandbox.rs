//! One project, one home and one person's folder, all below a temporary directory. Programs that
//! are started here see nothing of the machine but a path for `sh`, `git` and their like.

use super::fifo::{Fifo, PATIENCE_SECONDS};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) const LOOP: &str = env!("CARGO_BIN_EXE_loop");

pub(crate) struct Sandbox {
    root: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    _folder: tempfile::TempDir,
    started: AtomicU32,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Done {
    /// The exit status, or 1000 and the signal.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command that goes on beside the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Sandbox {
    /// A repository with one commit.
    pub(crate) fn new() -> Sandbox {
        Sandbox::called("project".as_ref())
    }

    /// The same, with a project folder of this name.
    pub(crate) fn called(name: &Path) -> Sandbox {
        let folder = tempfile::Builder::new().prefix("loop-e2e-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        for name in ["home-of-user", "tmp", "io", "out"] {
            fs::create_dir(root.join(name)).expect("a folder");
        }
        let sandbox = Sandbox {
            project: root.join(name),
            home: root.join("loop-home"),
            root,
            _folder: folder,
            started: AtomicU32::new(0),
        };
        fs::create_dir(&sandbox.project).expect("a project");
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.git(&["config", "user.name", "tester"]);
        sandbox.git(&["config", "user.email", "tester@localhost"]);
        sandbox.write("README.md", "a project\n");
        sandbox.commit("the beginning");
        sandbox
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file outside of the repository, where agents leave notes; they know the folder as `$OUT`.
    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.root.join("out").join(name)
    }

    /// The lines of such a note; none when there is no note.
    pub(crate) fn notes(&self, name: &str) -> Vec<String> {
        let text = fs::read(self.note(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// A named pipe that agents know as `$OUT/NAME`.
    pub(crate) fn fifo(&self, name: &str) -> Fifo {
        Fifo::new(&self.note(name))
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).expect("a text file")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        self.furnish(&mut command);
        let done = command.args(arguments).current_dir(&self.project).output().expect("git");
        let complaint = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {arguments:?}: {complaint}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    pub(crate) fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    /// Takes back what `WORK` did, so that another run has something to do.
    pub(crate) fn undo(&self) {
        if self.project.join("work").exists() {
            self.git(&["rm", "-q", "work"]);
            self.git(&["commit", "-q", "-m", "take it back"]);
        }
    }

    /// The subjects of all commits, oldest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Writes a shell script and returns it as the value of `--agent-cmd`. The prompt of each call
    /// lies in `$OUT/prompt-N`; every start leaves `N PID` in `$OUT/starts`.
    pub(crate) fn agent(&self, script: &str) -> String {
        let path = self.root.join("agent.sh");
        let text = format!(
            "echo \"$LOOP_CALL $$\" >> \"$OUT/starts\"\ncat > \"$OUT/prompt-$LOOP_CALL\"\n{script}\n"
        );
        fs::write(&path, text).expect("a script");
        format!("sh '{}'", path.display())
    }

    pub(crate) fn prompt(&self, call: u32) -> String {
        fs::read_to_string(self.note(&format!("prompt-{call}"))).expect("a prompt")
    }

    /// The calls that were started, by the agent's own record.
    pub(crate) fn calls(&self) -> Vec<u32> {
        let starts = self.notes("starts");
        starts.iter().map(|it| it.split(' ').next().expect("a number").parse().expect("a number")).collect()
    }

    /// A command that knows this sandbox and nothing else.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(LOOP);
        self.furnish(&mut command);
        command.args(arguments).current_dir(&self.project);
        command
    }

    pub(crate) fn furnish(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").expect("a path");
        command.env_clear().env("PATH", path).env("LANG", "C.UTF-8");
        command.env("HOME", self.root.join("home-of-user")).env("TMPDIR", self.root.join("tmp"));
        command.env("LOOP_HOME", &self.home).env("OUT", self.root.join("out"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.start(self.command(arguments)).wait()
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Running {
        self.start(self.command(arguments))
    }

    /// Starts a command whose words go to files, so that nobody has to read along.
    pub(crate) fn start(&self, mut command: Command) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let out = self.root.join("io").join(format!("{number}.out"));
        let err = self.root.join("io").join(format!("{number}.err"));
        command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
        Running { child: command.spawn().expect("the program"), out, err }
    }

    pub(crate) fn status(&self) -> Value {
        let done = self.run(&["status", "--json"]);
        assert_eq!(done.code, 0, "{done:?}");
        serde_json::from_str(&done.out).expect("one object")
    }

    /// The same while there may be no run yet.
    pub(crate) fn status_if_any(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "--json"]).out).unwrap_or_default()
    }

    /// The events of the run.
    pub(crate) fn events(&self) -> Vec<Value> {
        let done = self.run(&["log", "--json"]);
        assert_eq!(done.code, 0, "{done:?}");
        done.out.lines().map(|it| serde_json::from_str(it).expect("an object a line")).collect()
    }

    /// Live processes that were started here: by their environment, or by where they are.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let entries = fs::read_dir("/proc").expect("/proc").flatten();
        let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| *pid != std::process::id() as i32).filter_map(|pid| self.is_ours(pid)).collect()
    }

    fn is_ours(&self, pid: i32) -> Option<(i32, String)> {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let stat = fs::read_to_string(of("stat")).ok()?;
        let dead = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
        let mark = self.root.as_os_str().as_bytes();
        let marked = fs::read(of("environ")).is_ok_and(|it| it.windows(mark.len()).any(|it| it == mark));
        let here = fs::read_link(of("cwd")).is_ok_and(|it| it.starts_with(&self.root));
        let line = fs::read(of("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (!dead && (marked || here)).then_some((pid, line))
    }

    /// Whatever ends needs a moment to be gone; what is there after two seconds was left behind.
    pub(crate) fn assert_nothing_runs(&self) {
        let gone = within(Duration::from_secs(2), || self.processes().is_empty());
        assert!(gone, "left running: {:?}", self.processes());
    }

    /// Every file below a folder with its content.
    pub(crate) fn contents(&self, below: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A test that failed may have left something of its own; no other test should meet it.
        for (pid, _) in self.processes() {
            let _may_be_gone = Pid::from_raw(pid).map(|it| kill_process(it, Signal::KILL));
        }
    }
}

impl Running {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is our child");
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> Done {
        assert!(self.ends_within(Duration::from_secs(PATIENCE_SECONDS as u64)), "it hangs: {}", self.told());
        let status = self.child.wait().expect("a status");
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
        Done {
            code: status.code().unwrap_or_else(|| 1000 + status.signal().unwrap_or(0)),
            out: read(&self.out),
            err: read(&self.err),
        }
    }

    /// Whether it is over, at the latest after this time.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        if self.child.try_wait().expect("a status").is_some() {
            return true;
        }
        let pidfd = pidfd_open(self.pid(), PidfdFlags::empty()).expect("it is our child");
        let timeout = Timespec::try_from(time).expect("a short time");
        matches!(poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)), Ok(1))
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("a status");
    }

    fn told(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, code, "\n--- stdout ---\n{}\n--- stderr ---\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Done {
        let said = self.out.contains(text) || self.err.contains(text);
        assert!(said, "no {text:?} in\n--- stdout ---\n{}\n--- stderr ---\n{}", self.out, self.err);
        self
    }
}

/// Asks again and again until it is so; for what gives no other sign.
pub(crate) fn within(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if is_so() {
            return true;
        }
        if deadline < Instant::now() {
            return false;
        }
        std::thread::yield_now();
    }
}

/// How often the expensive tests repeat themselves.
pub(crate) fn times() -> u32 {
    std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// Says why a test did nothing, where the machine does not allow it.
pub(crate) fn skipped(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
}

/// An agent's way to end its message with the promise of a run that a sentence began.
pub(crate) const PROMISE: &str = "echo; echo '<promise>TASK_COMPLETE</promise>'";

/// A check that fails until an agent has done its work; with `WORK` that is a proof from red to green.
pub(crate) const CHECK: &str = "tests=test -f work";

/// An agent's way to do the work that `CHECK` looks for, to commit it, and to promise.
pub(crate) const WORK: &str = "touch work; git add work; git commit -q -m work -- work\n\
    echo; echo '<promise>TASK_COMPLETE</promise>'";

/// An agent that gets nowhere until a person has left the note `mended`, and then does its work.
pub(crate) fn stuck() -> String {
    format!("[ -f \"$OUT/mended\" ] || {{ {PROMISE}; exit 0; }}\n{WORK}")
}

/// Commits everything.
pub(crate) const COMMIT: &str = "git add -A; git commit -q -m \"call $LOOP_CALL\"";
