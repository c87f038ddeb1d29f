//! A project in a folder of its own with a scripted agent: each call runs the script of its number,
//! or else of its phase, in the working tree, and the prompts are kept.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// What every script may use: `report true|false` prints a status block of the running phase, with
/// further lines from its standard input.
const AGENT: &str = r#"#!/bin/sh
cat > "@/prompts/$LOOP_CALL"
echo "$LOOP_PHASE $LOOP_ITERATION ${LOOP_MODEL:-none}" >> "@/calls"
report() {
    printf -- '---PRP_PHASE_STATUS---\nPHASE: %s\nSTATUS: IN_PROGRESS\nITERATION: %s\n' "$LOOP_PHASE" "$LOOP_ITERATION"
    cat
    printf 'EXIT_SIGNAL: %s\nRECOMMENDATION: go on\n---END_PRP_PHASE_STATUS---\n' "$1"
}
commit() { git add -A && git commit -qm "$1"; }
if [ -f "@/steps/$LOOP_CALL" ]; then . "@/steps/$LOOP_CALL"; else . "@/steps/$LOOP_PHASE"; fi
"#;

/// Scripts of the phases that are the same in every language.
const REFACTOR: &str = "report true <<E\nMETRICS:\n  REFACTORING_COMPLETE: true\nE\n";
const DOCUMENT: &str = "mkdir -p docs/adr\n\
    for it in overview usage parts adr/0001-one-file; do echo \"# $it\" > docs/$it.md; done\n\
    commit docs\nreport true </dev/null\n";
const QA: &str = "report true <<E\nQA_METRICS:\n  CHECKS_TOTAL: 11\n  CHECKS_PASSING: 11\n  CHECKS_FAILING: 0\n  \
    BLOCKING_ISSUES: 0\n  WARNING_ISSUES: 0\nVERDICT: APPROVE\nE\n";

pub(crate) const PRP: &str = "# PRP: Greetings\n\n## Goal\n\nPeople are greeted by name.\n\n## What\n\n\
    ### Success Criteria\n\n- [ ] a name is greeted\n- [ ] no name greets the world\n";

pub(crate) struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let sandbox = Sandbox { dir: tempfile::tempdir().expect("a folder") };
        for folder in ["project/docs/PRPs", "prompts", "steps", "user"] {
            std::fs::create_dir_all(sandbox.path(folder)).expect("a folder");
        }
        sandbox.file(
            "user/.gitconfig",
            "[user]\nname = Tester\nemail = t@example.org\n[init]\ndefaultBranch = main\n",
        );
        sandbox.program("agent", &AGENT.replace('@', &sandbox.root().to_string_lossy()));
        sandbox.file("project/docs/PRPs/2026-01-13-greetings.md", PRP);
        for (phase, script) in [("REFACTOR", REFACTOR), ("DOCUMENT", DOCUMENT), ("QA", QA)] {
            sandbox.step(phase, script);
        }
        sandbox
    }

    /// A project whose tests are lines of a file, each of which passes when `done.txt` has the same line.
    pub(crate) fn with_lines() -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.program(
            "check",
            "#!/bin/sh\nn=0; bad=0\nwhile read -r it; do n=$((n+1)); if grep -qx \"$it\" done.txt 2>/dev/null; then echo \"ok $n - $it\"; \
             else bad=$((bad+1)); echo \"not ok $n - $it\"; fi; done < tests/cases.txt\necho \"1..$n\"\n[ $bad = 0 ]\n",
        );
        sandbox.file("project/tests/cases.txt", "");
        sandbox.step(
            "RED",
            "printf 'greets\\nworld\\n' > tests/cases.txt; commit red; report true </dev/null\n",
        );
        sandbox
            .step("GREEN", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
        sandbox.begin();
        sandbox
    }

    /// Commits what is there.
    pub(crate) fn begin(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "begin"]);
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("a path")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    pub(crate) fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.file(name, text);
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// `loop run` of the project of lines, as soon as a call has left the file `here`.
    pub(crate) fn started_lines(&self) -> std::process::Child {
        let mut command = self.driving_lines(&[]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        until_there(&self.path("here"), &mut child);
        child
    }

    /// The check of a Python project: pytest where it is installed.
    pub(crate) fn python_tests(&self) -> &'static str {
        let pytest = self.command("python3").args(["-m", "pytest", "--version"]).output();
        match pytest {
            Ok(it) if it.status.success() => "tests=python3 -m pytest -q -p no:cacheprovider",
            Ok(_) | Err(_) => "tests=python3 -m unittest discover -v",
        }
    }

    /// Makes a pipe: whoever reads it waits for a writer, and whoever writes it for a reader.
    pub(crate) fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Says what a call does, by its number or its phase.
    pub(crate) fn step(&self, name: &str, script: &str) {
        self.file(&format!("steps/{name}"), script);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// A file of the session, where no other place is named.
    pub(crate) fn session(&self, name: &str) -> String {
        self.read(&format!("user/.bp-sessions/project/{name}"))
    }

    pub(crate) fn session_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.session(name)).expect("JSON")
    }

    /// Phase, iteration and model of every call.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let home = std::env::var("HOME").unwrap_or_default();
        let or = |name: &str, below: &str| std::env::var(name).unwrap_or_else(|_| format!("{home}/{below}"));
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("project"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("user")).env("LOOP_HOME", self.path("home"));
        command
            .env("CARGO_HOME", or("CARGO_HOME", ".cargo"))
            .env("RUSTUP_HOME", or("RUSTUP_HOME", ".rustup"));
        command
    }

    pub(crate) fn looper(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_loop"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs `loop` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.looper(arguments).output().expect("started"))
    }

    /// `loop run` on the document, with the scripted agent and further words.
    pub(crate) fn drive(&self, more: &[&str]) -> Done {
        Done::of(self.driving(more).output().expect("started"))
    }

    pub(crate) fn driving(&self, more: &[&str]) -> Command {
        let agent = self.path("agent");
        let mut words = vec!["run", "docs/PRPs/2026-01-13-greetings.md", "--preset", "tdd", "--agent-cmd"];
        let agent = agent.to_string_lossy().into_owned();
        words.push(&agent);
        words.extend(more);
        self.looper(&words)
    }

    /// The same for a project of lines.
    pub(crate) fn drive_lines(&self, more: &[&str]) -> Done {
        Done::of(self.driving_lines(more).output().expect("started"))
    }

    pub(crate) fn driving_lines(&self, more: &[&str]) -> Command {
        let check = format!("tests={}", self.path("check").display());
        let mut words = vec!["--check", &check];
        words.extend(more);
        self.driving(&words)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// How a command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Done {
        Done {
            exit: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.exit, Some(code), "\n{}\n{}", self.err, self.out);
        self
    }
}

/// Waits until a file is there, for as long as the process that makes it lives.
pub(crate) fn until_there(path: &Path, child: &mut Child) {
    while !path.exists() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before {} was there", path.display());
        std::thread::yield_now();
    }
}
