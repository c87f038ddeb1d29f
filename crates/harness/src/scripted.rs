//! A project in a folder of its own with a scripted agent: each call runs the script of its number,
//! or else of its phase, in the working tree, and the prompts are kept.

use crate::{Done, Sandbox, until_there};
use serde_json::Value;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};

/// What every script may use: `report true|false` prints a status block of the running phase, with
/// further lines from its standard input.
const AGENT: &str = r#"#!/bin/sh
cat > "@/prompts/$LOOP_CALL"
echo "$LOOP_PHASE $LOOP_ITERATION ${LOOP_MODEL:-none}" >> "@/calls"
report() {
    printf -- '---PRP_PHASE_STATUS---\nPHASE: %s\nSTATUS: IN_PROGRESS\nITERATION: %s\n' "$LOOP_PHASE" "$LOOP_ITERATION"
    cat
    printf 'EXIT_SIGNAL: %s\nRECOMMENDATION: continue\n---END_PRP_PHASE_STATUS---\n' "$1"
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

pub const PRP: &str = "# PRP: Greetings\n\n## Goal\n\nPeople are greeted by name.\n\n## What\n\n\
    ### Success Criteria\n\n- [ ] a name is greeted\n- [ ] no name greets the world\n";

/// A sandbox whose agent does what the test wrote down for each call or phase.
pub struct Scripted {
    sandbox: Sandbox,
}

impl Deref for Scripted {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Scripted {
    /// A document, and scripts for the phases that are the same in every language; nothing is committed.
    pub fn new() -> Scripted {
        let mut sandbox = Sandbox::empty();
        let home = std::env::var("HOME").unwrap_or_default();
        for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let folder = std::env::var(name).unwrap_or_else(|_| format!("{home}/{usual}"));
            sandbox.variables.push((name, folder.into()));
        }
        std::fs::create_dir(sandbox.path("prompts")).expect("a folder");
        sandbox.file(
            "user/.gitconfig",
            "[user]\nname = Tester\nemail = t@example.org\n[init]\ndefaultBranch = main\n",
        );
        sandbox.program("agent", &AGENT.replace('@', &sandbox.root().to_string_lossy()));
        sandbox.write("docs/PRPs/2026-01-13-greetings.md", PRP);
        let scripted = Scripted { sandbox };
        for (phase, script) in [("REFACTOR", REFACTOR), ("DOCUMENT", DOCUMENT), ("QA", QA)] {
            scripted.step(phase, script);
        }
        scripted
    }

    /// A project whose tests are lines of a file, each of which passes when `done.txt` has the same line.
    pub fn with_lines() -> Scripted {
        let sandbox = Scripted::new();
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
    pub fn begin(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "begin"]);
    }

    /// `loop run` of the project of lines, as soon as a call has left the file `here`.
    pub fn started_lines(&self) -> Child {
        let mut command = self.driving_lines(&[]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        until_there(&self.path("here"), &mut child);
        child
    }

    /// The check of a Python project: pytest where it is installed.
    pub fn python_tests(&self) -> &'static str {
        let pytest = self.furnished("python3", &["-m", "pytest", "--version"]).output();
        match pytest {
            Ok(it) if it.status.success() => "tests=python3 -m pytest -q -p no:cacheprovider",
            Ok(_) | Err(_) => "tests=python3 -m unittest discover -v",
        }
    }

    /// Makes a pipe: whoever reads it waits for a writer, and whoever writes it for a reader.
    pub fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Says what a call does, by its number or its phase.
    pub fn step(&self, name: &str, script: &str) {
        self.file(&format!("steps/{name}"), script);
    }

    /// A file of the session, where no other place is named.
    pub fn session(&self, name: &str) -> String {
        self.text(&format!("user/.bp-sessions/project/{name}"))
    }

    pub fn session_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.session(name)).expect("JSON")
    }

    /// Phase, iteration and model of every call.
    pub fn phase_calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// `loop run` on the document, with the scripted agent and further words.
    pub fn drive(&self, more: &[&str]) -> Done {
        self.start(self.driving(more)).wait()
    }

    pub fn driving(&self, more: &[&str]) -> Command {
        let agent = self.path("agent");
        let mut words = vec!["run", "docs/PRPs/2026-01-13-greetings.md", "--preset", "tdd", "--agent-cmd"];
        let agent = agent.to_string_lossy().into_owned();
        words.push(&agent);
        words.extend(more);
        self.command(&words)
    }

    /// The same for a project of lines.
    pub fn drive_lines(&self, more: &[&str]) -> Done {
        self.start(self.driving_lines(more)).wait()
    }

    pub fn driving_lines(&self, more: &[&str]) -> Command {
        let check = format!("tests={}", self.path("check").display());
        let mut words = vec!["--check", &check];
        words.extend(more);
        self.driving(&words)
    }
}

impl Default for Scripted {
    fn default() -> Scripted {
        Scripted::new()
    }
}
