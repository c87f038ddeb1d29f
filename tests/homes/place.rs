//! Where a recorded home is unpacked: always at the path that it was recorded at, since it holds real
//! paths, and by one test process at a time.

use loop_harness::{Done, Sandbox};
use std::fs::{self, File};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything lies below this folder; `record` says the same.
const HERE: &str = "/tmp/loopctl-homes";

/// An unpacked station. It is removed when the test is over, and stays for a look when it failed.
pub(crate) struct Station {
    pub(crate) name: String,
    sandbox: Sandbox,
    _lock: File,
}

impl Deref for Station {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

pub(crate) fn archives() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/homes/recorded")
}

impl Station {
    pub(crate) fn unpack(name: &str) -> Station {
        fs::create_dir_all(HERE).expect("a folder in /tmp");
        let lock = File::create(Path::new(HERE).join(format!("{name}.lock"))).expect("a lock file");
        lock.lock().expect("one test at a time");
        let mut sandbox = Sandbox::at(Path::new(HERE).join(name));
        sandbox.path_first.push(sandbox.path("bin"));
        // As it was recorded.
        sandbox.variables.push(("TMPDIR", "/tmp".into()));
        sandbox.variables.push(("ANTHROPIC_API_KEY", "key-of-a-test".into()));
        let station = Station { name: name.to_owned(), sandbox, _lock: lock };
        station.remove();
        let mut tar = Command::new("tar");
        tar.args(["--no-same-owner", "-xpzf"]).arg(archives().join(format!("{name}.tar.gz")));
        assert!(tar.args(["-C", HERE]).status().expect("tar").success(), "{name} cannot be unpacked");
        fs::create_dir(station.path("io")).expect("a folder");
        station
    }

    fn remove(&self) {
        if self.root().exists() {
            fs::remove_dir_all(self.root()).expect("removed");
        }
    }

    /// Runs this program; `@` in a word is the folder of the station.
    pub(crate) fn run(&self, words: &[&str]) -> Done {
        let root = self.root().display().to_string();
        let words: Vec<String> = words.iter().map(|it| it.replace('@', &root)).collect();
        self.sandbox.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a shell command.
    pub(crate) fn shell(&self, script: &str) -> Done {
        self.start(self.furnished("sh", &["-ec", script])).wait()
    }

    /// A session stops with these words, and the hook answers.
    pub(crate) fn stop(&self, said: &str) -> Done {
        let input = serde_json::json!({
            "session_id": "one", "transcript_path": self.path("none.jsonl"),
            "cwd": self.project, "permission_mode": "default", "hook_event_name": "Stop",
            "stop_hook_active": true, "last_assistant_message": said,
        });
        self.finish(self.command(&["hook", "stop"]), &input.to_string())
    }

    /// The calls that were started, by the agent's own record.
    pub(crate) fn starts(&self) -> Vec<u32> {
        starts(&self.note("starts"))
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.remove();
        }
    }
}

pub(crate) fn starts(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|it| it.parse().expect("a number")).collect()
}
