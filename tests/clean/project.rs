//! A real project in a temporary folder, with a home of its own, and the executor of proofs applied to
//! it from outside.

use loop_harness::{Sandbox, program};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) struct Project {
    sandbox: Sandbox,
    /// Folders in front of PATH.
    pub(crate) path: RefCell<Vec<PathBuf>>,
    pub(crate) home: PathBuf,
    /// A toolchain lies in the project, so that nothing may be mounted over it.
    pub(crate) hides_a_toolchain: bool,
    /// Runs the program as somebody else.
    pub(crate) as_user: Option<u32>,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Project {
        let sandbox = Sandbox::empty();
        let home = sandbox.home.clone();
        for folder in [&home, &sandbox.path("bin")] {
            fs::create_dir(folder).expect("made");
        }
        let project =
            Project { sandbox, path: RefCell::default(), home, hides_a_toolchain: false, as_user: None };
        project.git(&["init", "-q", "-b", "main"]);
        project.write_all(files);
        project.commit();
        project
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.sandbox.path(name)
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.sandbox.project.clone()
    }

    pub(crate) fn write_all(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.sandbox.write(name, text);
        }
    }

    pub(crate) fn program(&self, folder: &str, name: &str, text: &str) {
        self.sandbox.program(&format!("{folder}/{name}"), text);
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.top(), words)
    }

    pub(crate) fn git_in(&self, folder: &Path, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(folder).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@localhost",
            "-c",
            "safe.directory=*",
        ]);
        command.args(["-c", "protocol.file.allow=always"]).args(words).env("HOME", &self.sandbox.user);
        text(command.output().expect("git"))
    }

    /// Commits everything; returns the tree.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "a change", "--allow-empty", "--no-verify"]);
        self.git(&["rev-parse", "HEAD^{tree}"])
    }

    /// The command, in the environment of the person who opened the run.
    pub(crate) fn sh(&self, command: &str) -> Output {
        self.dressed(Command::new("sh")).args(["-c", command]).current_dir(self.top()).output().expect("sh")
    }

    pub(crate) fn passes_in_place(&self, command: &str) -> bool {
        self.sh(command).status.success()
    }

    fn dressed(&self, mut command: Command) -> Command {
        let real = std::env::home_dir().expect("a home");
        let usual = std::env::var_os("PATH").expect("PATH");
        let path =
            self.path.borrow().iter().cloned().chain(std::env::split_paths(&usual)).collect::<Vec<_>>();
        command.env("HOME", &self.sandbox.user).env("PATH", std::env::join_paths(path).expect("a PATH"));
        for (name, usual) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv"), ("CARGO_HOME", ".cargo")]
        {
            command.env(name, std::env::var_os(name).map_or_else(|| real.join(usual), PathBuf::from));
        }
        if self.hides_a_toolchain {
            fs::create_dir_all(self.top().join("state")).expect("made");
            command.env("NVM_DIR", self.top().join("state"));
        }
        // The tools of this machine's own test run are none of the project's.
        for name in ["PYTHONDONTWRITEBYTECODE", "CARGO_TARGET_DIR", "GOFLAGS"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn executor(&self) -> Command {
        let mut command = match self.as_user {
            None => Command::new(program()),
            Some(user) => {
                let user = user.to_string();
                let mut command = Command::new("setpriv");
                command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
                command.arg(self.beside("bin/loop"));
                command
            }
        };
        command.arg("__proof");
        self.dressed(command)
    }

    /// Notes the conditions, as at the opening of a run.
    pub(crate) fn open(&self) -> Proof<'_> {
        self.open_at(self.top())
    }

    /// The same for a run in a worktree of the project.
    pub(crate) fn open_at(&self, place: PathBuf) -> Proof<'_> {
        let mut command = self.executor();
        let opening =
            text(command.arg("open").arg(&self.home).arg(&place).arg(self.top()).output().expect("loop"));
        let base = self.git(&["rev-parse", "HEAD^{tree}"]);
        Proof { project: self, place, opening, base, prepare: None, variables: Vec::new() }
    }
}

pub(crate) struct Proof<'a> {
    project: &'a Project,
    place: PathBuf,
    opening: String,
    base: String,
    pub(crate) prepare: Option<String>,
    pub(crate) variables: Vec<String>,
}

impl Proof<'_> {
    /// A0.
    pub(crate) fn baseline(&self, check: &str) -> Answer {
        self.step("baseline", &self.base, check)
    }

    /// D, of this tree.
    pub(crate) fn clean(&self, tree: &str, check: &str) -> Answer {
        self.step("clean", tree, check)
    }

    /// Every step, and what they add up to.
    pub(crate) fn prove(&self, tree: &str, check: &str) -> Value {
        self.command("clean", tree, check);
        let mut command = self.project.executor();
        command.arg("prove").arg(&self.project.home).arg(self.project.beside("request.json"));
        serde_json::from_str(&text(command.output().expect("loop"))).expect("a proof")
    }

    pub(crate) fn step(&self, step: &str, tree: &str, check: &str) -> Answer {
        let output = self.command(step, tree, check).output().expect("loop");
        Answer(serde_json::from_str(&text(output)).expect("a result"))
    }

    pub(crate) fn command(&self, step: &str, tree: &str, check: &str) -> Command {
        let request = json!({
            "place": self.place, "borrow_from": self.project.top(),
            "base": self.base, "base_commit": null, "tree": tree, "tree_commit": null,
            "opening": self.opening, "prepare": self.prepare, "variables": self.variables, "protect": [],
            "checks": [{ "name": "tests", "command": check, "prepare": null, "timeout_ms": 300_000 }],
        });
        let file = self.project.beside("request.json");
        fs::write(&file, request.to_string()).expect("written");
        let mut command = self.project.executor();
        command.arg("step").arg(&self.project.home).arg(&file).arg(step);
        command
    }
}

/// What a step printed.
pub(crate) struct Answer(pub(crate) Value);

impl Answer {
    pub(crate) fn is_green(&self) -> bool {
        match self.0["outcome"]["ran"]["attempts"][0][0]["exit"].as_str() {
            Some("green") => true,
            Some("red") => false,
            other => panic!("{other:?}\n{}", self.shown()),
        }
    }

    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let list = self.0[name].as_array().expect("a list");
        list.iter().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect()
    }

    pub(crate) fn touched(&self) -> &Value {
        &self.0["outcome"]["ran"]["touched"]
    }

    pub(crate) fn is_mounted(&self) -> bool {
        self.0["is_mounted"].as_bool().expect("a bool")
    }

    /// Everything, with the logs.
    pub(crate) fn shown(&self) -> String {
        let mut text = format!("{:#}", self.0);
        let folder = self.0["logs"].as_str().unwrap_or_default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            text.push_str(&format!("\n--- {}\n", entry.path().display()));
            text.push_str(&fs::read_to_string(entry.path()).unwrap_or_default());
        }
        text
    }

    #[track_caller]
    pub(crate) fn assert_green(&self) -> &Answer {
        assert!(self.is_green(), "{}", self.shown());
        self
    }

    #[track_caller]
    pub(crate) fn assert_red(&self) -> &Answer {
        assert!(!self.is_green(), "{}", self.shown());
        self
    }
}

#[track_caller]
pub(crate) fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}
