//! One project and one home below a temporary directory, and the words of a session's stop hook.

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) const LOOP: &str = env!("CARGO_BIN_EXE_loop");

pub(crate) struct Sandbox {
    pub(crate) root: PathBuf,
    pub(crate) project: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    /// A repository with one commit.
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::Builder::new().prefix("loop-ralph-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let sandbox = Sandbox { project: root.join("project"), root, _folder: folder };
        for name in ["project", "user", "out"] {
            fs::create_dir(sandbox.root.join(name)).expect("a folder");
        }
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.git(&["config", "user.name", "tester"]);
        sandbox.git(&["config", "user.email", "tester@localhost"]);
        sandbox.write("README.md", "a project\n");
        sandbox.commit("the beginning");
        sandbox
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).expect("a text file")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.project.join(name).exists()
    }

    /// A file outside of the repository, which agents and checks know as `$OUT/NAME`.
    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.root.join("out").join(name)
    }

    pub(crate) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.note(name)).expect("a note")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let done = self.finish(self.furnished("git", arguments), "");
        assert_eq!(done.code, 0, "git {arguments:?}: {done:?}");
        done.out
    }

    pub(crate) fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    /// The names of the designs, sorted.
    pub(crate) fn designs(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.project).expect("a folder").flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|it| it.starts_with("DESIGN-")).collect();
        names.sort();
        names
    }

    /// Writes an agent and returns it as the value of `--agent-cmd`. The prompt of call N lies in
    /// `$OUT/prompt-N`.
    pub(crate) fn agent(&self, script: &str) -> String {
        let path = self.root.join("agent.sh");
        fs::write(&path, format!("cat > \"$OUT/prompt-$LOOP_CALL\"\n{script}\n")).expect("a script");
        format!("sh '{}'", path.display())
    }

    pub(crate) fn furnished(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.project).env_clear();
        command.env("PATH", std::env::var_os("PATH").expect("a path")).env("LANG", "C.UTF-8");
        command.env("HOME", self.root.join("user")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("LOOP_HOME", self.root.join("home")).env("OUT", self.root.join("out"));
        command
    }

    pub(crate) fn finish(&self, mut command: Command, input: &str) -> Done {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        // A program that does not read its input closes it; that is its own business.
        let _unread = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let done = child.wait_with_output().expect("an end");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Done { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.finish(self.furnished(LOOP, arguments), "")
    }

    pub(crate) fn status(&self) -> Value {
        let done = self.run(&["status", "--json"]);
        serde_json::from_str(&done.out).expect("one object")
    }

    pub(crate) fn state_file(&self) -> Value {
        serde_json::from_str(&self.read(".claude-task-state.json")).expect("JSON")
    }

    /// Opens a run that sessions work on: a design with one criterion, and a check.
    pub(crate) fn begin(&self, check: &str) {
        self.write("DESIGN-20260101-000000.md", DESIGN);
        self.commit("a design");
        let done = self.run(&["init", "--preset", "ralph", "--hook", "--check", check]);
        assert_eq!(done.code, 0, "{done:?}");
    }

    /// What the agent sends when a session stops with these words.
    pub(crate) fn stop_input(&self, session: &str, active: bool, said: &str) -> Value {
        json!({
            "session_id": session,
            "transcript_path": self.root.join("none.jsonl"),
            "cwd": self.project,
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": active,
            "last_assistant_message": said,
        })
    }

    /// Lets the hook answer, called by a process that is the session: what descends from it is not a
    /// person.
    pub(crate) fn hook(&self, input: &str) -> Done {
        self.session("", input)
    }

    /// The same, and afterwards the session runs this script.
    pub(crate) fn session(&self, script: &str, input: &str) -> Done {
        let path = self.root.join("session.sh");
        std::fs::write(&path, format!("'{LOOP}' hook stop\ncode=$?\n{script}\nexit $code\n"))
            .expect("a script");
        self.finish(self.furnished("sh", &[path.to_str().expect("text")]), input)
    }

    /// A session stops; returns what it is told, or nothing when it may go.
    pub(crate) fn stop(&self, session: &str, active: bool, said: &str) -> Option<Value> {
        let done = self.hook(&self.stop_input(session, active, said).to_string());
        assert_eq!(done.code, 0, "{done:?}");
        answer(&done)
    }

    /// Does what the design asks for.
    pub(crate) fn fulfil(&self) {
        self.write("hello.txt", "hello\n");
        let name = "DESIGN-20260101-000000.md";
        self.write(name, &self.read(name).replace("- [ ]", "- [x]"));
        self.commit("say hello");
    }
}

pub(crate) fn answer(done: &Done) -> Option<Value> {
    (!done.out.is_empty()).then(|| serde_json::from_str(&done.out).expect("one object"))
}

pub(crate) const PROMISE: &str = "It is done.\n\n<promise>FEATURE_COMPLETE</promise>";

pub(crate) const CHECK: &str =
    "tests=grep -q hello hello.txt || { echo 'hello.txt does not say it'; exit 1; }";

pub(crate) const DESIGN: &str = "\
# Say hello

**Task Type**: Feature

## Requirements

- The greeting is unmistakable

## Acceptance Criteria

- [ ] hello.txt says hello
";
