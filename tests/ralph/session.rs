//! One project and one home below a temporary directory, and the words of a session's stop hook.

use loop_harness::{Done, program};
use serde_json::{Value, json};
use std::fs;
use std::ops::{Deref, DerefMut};

/// A repository with one commit, in which sessions are played.
pub(crate) struct Sandbox(loop_harness::Sandbox);

impl Deref for Sandbox {
    type Target = loop_harness::Sandbox;

    fn deref(&self) -> &loop_harness::Sandbox {
        &self.0
    }
}

impl DerefMut for Sandbox {
    fn deref_mut(&mut self) -> &mut loop_harness::Sandbox {
        &mut self.0
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox(loop_harness::Sandbox::new())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.project.join(name).exists()
    }

    pub(crate) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.note(name)).expect("a note")
    }

    /// The names of the designs, sorted.
    pub(crate) fn designs(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.project).expect("a folder").flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|it| it.starts_with("DESIGN-")).collect();
        names.sort();
        names
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
            "transcript_path": self.path("none.jsonl"),
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
        self.file("session.sh", format!("'{}' hook stop\ncode=$?\n{script}\nexit $code\n", program()));
        self.finish(self.furnished("sh", &["../session.sh"]), input)
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
        self.write(name, self.read(name).replace("- [ ]", "- [x]"));
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
