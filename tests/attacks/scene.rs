//! A project, a home, and the user who does everything in them: root, or somebody who owns nothing else.

use loop_harness::{Done, Sandbox, program, skipped};
use serde_json::Value;
use std::ops::Deref;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The usual number of a user who owns nothing.
const NOBODY: u32 = 65534;

/// A phase that is done at its first call, behind a gate.
pub(crate) const BUILD: &str = "name = \"gated\"\n[checks.unit]\nrun = \"test -f built\"\n[[phase]]\nname = \"BUILD\"\n\
     prompt = \"Build it.\"\nreport = \"json\"\nchecks = [\"unit\"]\ngates = [\"review\"]\n\
     breaker = { no_progress = 9, same_error = 9 }\n[gates.review]\nask = \"is it good?\"\n";

/// The agent's way through it.
pub(crate) const BUILT: &str = "touch built; git add -A; git commit -q --allow-empty -m built\n\
     echo '```json'; echo '{\"status\":\"done\"}'; echo '```'";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Self_,
    Ordinary,
}

/// Those who can be had here. Everything is tried as an ordinary user: who is none, becomes one.
pub(crate) fn users(test: &str) -> Vec<User> {
    if !rustix::process::geteuid().is_root() {
        skipped(test, "as root: the tests are not");
        return vec![User::Self_];
    }
    let tried = Command::new("setpriv").args(words_before()).arg(program()).arg("--version").output();
    if tried.is_ok_and(|it| it.status.success()) {
        return vec![User::Self_, User::Ordinary];
    }
    skipped(test, "as an ordinary user: setpriv is missing, or that user cannot start the program");
    vec![User::Self_]
}

fn words_before() -> [String; 5] {
    let number = NOBODY.to_string();
    ["--reuid".into(), number.clone(), "--regid".into(), number, "--clear-groups".into()]
}

pub(crate) struct Scene {
    sandbox: Sandbox,
    user: User,
}

impl Deref for Scene {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Scene {
    /// A repository with one commit.
    pub(crate) fn new(user: User) -> Scene {
        let scene = Scene { sandbox: Sandbox::new(), user };
        scene.sandbox.file("user/.gitconfig", "[user]\nname = Tester\nemail = t@example.org\n");
        scene.give();
        scene
    }

    /// Gives everything that the test itself has written to the user.
    pub(crate) fn give(&self) {
        if self.user == User::Ordinary {
            give(self.root());
        }
    }

    /// Any command, as the user.
    pub(crate) fn any(&self, program: &str, words: &[&str]) -> Command {
        match self.user {
            User::Self_ => self.furnished(program, words),
            User::Ordinary => {
                let mut command = self.furnished("setpriv", &[]);
                command.args(words_before()).arg(program).args(words);
                command
            }
        }
    }

    /// `loop`, as the user.
    pub(crate) fn act(&self, words: &[&str]) -> Done {
        self.start(self.any(program(), words)).wait()
    }

    /// A shell script of the user, who knows the program as `$LOOP` and the sandbox as `$ROOT`.
    pub(crate) fn script(&self, script: &str) -> Done {
        let mut command = self.any("sh", &["-c", script]);
        command.env("LOOP", program()).env("ROOT", self.root());
        self.start(command).wait()
    }

    /// The run as it stands.
    #[track_caller]
    pub(crate) fn stands(&self) -> Value {
        serde_json::from_str(&self.act(&["status", "--json"]).exits(0).out).expect("one object")
    }

    /// Writes the project's workflow and commits it.
    pub(crate) fn workflow(&self, text: &str) {
        self.write(".loop/workflow.toml", text);
        self.give();
        let done = self.script("git add -A; git commit -q -m 'a workflow'");
        assert_eq!(done.code, 0, "{}", done.err);
    }

    /// An agent of this script.
    pub(crate) fn plays(&self, script: &str) -> String {
        let agent = self.agent(&format!("LOOP='{}'; ROOT='{}'\n{script}", program(), self.root().display()));
        self.give();
        agent
    }

    /// A run that waits at its gate.
    pub(crate) fn waits(&self, workflow: &str) {
        self.workflow(workflow);
        let agent = self.plays(BUILT);
        self.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
        self.gate_is_open("before anything was tried");
    }

    #[track_caller]
    pub(crate) fn gate_is_open(&self, after: &str) {
        let status = self.stands();
        let (place, question) = (&status["status"], &status["question"]["kind"]);
        assert_eq!((place, question), (&"waiting".into(), &"gate".into()), "{after}: {status}");
    }

    /// What the run's journal says, after whoever drives it has read what was left for it.
    pub(crate) fn remembers(&self) -> String {
        self.act(&["run"]);
        self.act(&["log"]).exits(0).out
    }

    /// The folder of the run.
    pub(crate) fn folder(&self) -> PathBuf {
        self.home.join("runs").join(self.stands()["run"].as_str().expect("an id"))
    }
}

pub(crate) fn give(path: &Path) {
    lchown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
    for entry in is_folder.then(|| std::fs::read_dir(path).expect("a folder")).into_iter().flatten().flatten()
    {
        give(&entry.path());
    }
}
