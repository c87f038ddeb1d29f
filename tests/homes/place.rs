//! Where a recorded home is unpacked: always at the path that it was recorded at, since it holds real
//! paths, and by one test process at a time.

use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) const LOOP: &str = env!("CARGO_BIN_EXE_loop");

/// Everything lies below this folder; `record` says the same.
const HERE: &str = "/tmp/loopctl-homes";

/// An unpacked station. It is removed when the test is over, and stays for a look when it failed.
pub(crate) struct Station {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    _lock: File,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn archives() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/homes/recorded")
}

impl Station {
    pub(crate) fn unpack(name: &str) -> Station {
        fs::create_dir_all(HERE).expect("a folder in /tmp");
        let lock = File::create(Path::new(HERE).join(format!("{name}.lock"))).expect("a lock file");
        lock.lock().expect("one test at a time");
        let station = Station { name: name.to_owned(), root: Path::new(HERE).join(name), _lock: lock };
        station.remove();
        let mut tar = Command::new("tar");
        tar.args(["--no-same-owner", "-xpzf"]).arg(archives().join(format!("{name}.tar.gz")));
        assert!(tar.args(["-C", HERE]).status().expect("tar").success(), "{name} cannot be unpacked");
        station
    }

    fn remove(&self) {
        if self.root.exists() {
            fs::remove_dir_all(&self.root).expect("removed");
        }
    }

    /// A program in the project, with the environment that it was recorded with.
    fn command(&self, program: &str) -> Command {
        let path = std::env::var("PATH").expect("a path");
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.root.join("project"));
        command.env("PATH", format!("{}:{path}", self.root.join("bin").display()));
        command.env("LANG", "C.UTF-8").env("HOME", self.root.join("user")).env("TMPDIR", "/tmp");
        command.env("LOOP_HOME", self.root.join("home")).env("OUT", self.root.join("out"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("ANTHROPIC_API_KEY", "key-of-a-test");
        command
    }

    /// Runs this program; `@` in a word is the folder of the station.
    pub(crate) fn run(&self, words: &[&str]) -> Done {
        let root = self.root.display().to_string();
        let mut command = self.command(LOOP);
        command.args(words.iter().map(|it| it.replace('@', &root))).stdin(Stdio::null());
        Done::of(command.output().expect("the program"))
    }

    /// Runs a shell command.
    pub(crate) fn shell(&self, script: &str) -> Done {
        Done::of(self.command("sh").args(["-ec", script]).stdin(Stdio::null()).output().expect("sh"))
    }

    /// A session stops with these words, and the hook answers.
    pub(crate) fn stop(&self, said: &str) -> Done {
        let input = serde_json::json!({
            "session_id": "one", "transcript_path": self.root.join("none.jsonl"),
            "cwd": self.root.join("project"), "permission_mode": "default", "hook_event_name": "Stop",
            "stop_hook_active": true, "last_assistant_message": said,
        });
        let mut command = self.command(LOOP);
        command.args(["hook", "stop"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        child.stdin.take().expect("a pipe").write_all(input.to_string().as_bytes()).expect("it reads");
        Done::of(child.wait_with_output().expect("an end"))
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "--json"]).exits(0).out).expect("one object")
    }

    /// The events of the run, one JSON object each.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.run(&["log", "--json"]).exits(0).out;
        text.lines().map(|it| serde_json::from_str(it).expect("an object a line")).collect()
    }

    /// The calls that were started, by the agent's own record.
    pub(crate) fn starts(&self) -> Vec<u32> {
        starts(&self.root.join("out/starts"))
    }

    /// Whatever ends needs a moment to be gone.
    pub(crate) fn assert_nothing_runs(&self) {
        assert_nothing_runs(&self.root);
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.remove();
        }
    }
}

impl Done {
    pub(crate) fn of(output: Output) -> Done {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Done { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, Some(code), "\n--- stdout ---\n{}\n--- stderr ---\n{}", self.out, self.err);
        self
    }
}

pub(crate) fn starts(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|it| it.parse().expect("a number")).collect()
}

/// Nothing is alive, soon, that was started below this folder.
#[track_caller]
pub(crate) fn assert_nothing_runs(root: &Path) {
    // With the slash: the name of one station may begin with that of another.
    let mark = [root.as_os_str().as_bytes(), b"/"].concat();
    let alive = || -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("/proc").flatten();
        let ours = entries.filter(|it| {
            let environment = fs::read(it.path().join("environ")).unwrap_or_default();
            let here = fs::read_link(it.path().join("cwd")).is_ok_and(|it| it.starts_with(root));
            here || environment.windows(mark.len()).any(|it| it == mark)
        });
        ours.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !alive().is_empty() {
        assert!(Instant::now() < deadline, "left running: {:?}", alive());
        std::thread::yield_now();
    }
}
