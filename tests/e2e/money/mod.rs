//! What calls cost and what keeps them from costing more: the real binary with programs that are called
//! like the agents and print streams of the real ones.

mod caps;
mod counting;
mod shared;

use loop_harness::{Done, Sandbox, source_tree};
use serde_json::Value;

/// One phase that goes on until a limit is reached.
const WORKFLOW: &str = "name = \"money\"\n[[phase]]\nname = \"BUILD\"\nprompt = \"Build it.\"\nreport = \"json\"\n\
     breaker = { no_progress = 1000, same_error = 1000, failures = 1000 }\n";

/// A project, and a program for each agent.
struct Till {
    pub(super) sandbox: Sandbox,
}

impl Till {
    /// `agent` is what the program of that name does, a shell script; `limits` are lines of `[limits]`.
    pub(super) fn new(agent: &str, script: &str, limits: &str) -> Till {
        let mut sandbox = Sandbox::new();
        let path = std::env::var_os("PATH").expect("a path");
        let all = [sandbox.root().join("bin")].into_iter().chain(std::env::split_paths(&path));
        sandbox.variables.push(("PATH", std::env::join_paths(all).expect("a path")));
        sandbox.variables.push(("CODEX_HOME", sandbox.root().join("codex").into()));
        sandbox.program(
            &format!("bin/{agent}"),
            &format!(
                "#!/bin/sh\ncat > /dev/null\necho \"$*\" >> '{}'\n{script}",
                sandbox.note("argv").display()
            ),
        );
        sandbox.write(".loop/workflow.toml", format!("{WORKFLOW}[limits]\n{limits}\n"));
        sandbox.commit("a workflow");
        Till { sandbox }
    }

    /// The agent prints a recording of the real one.
    pub(super) fn playing(agent: &str, recording: &str, limits: &str) -> Till {
        let file = source_tree().join(format!("tests/fixtures/agents/{agent}/{recording}.stdout"));
        Till::new(agent, &format!("cat '{}'\n", file.display()), limits)
    }

    pub(super) fn run(&self, agent: &str, more: &[&str]) -> Done {
        let words = ["run", "a bridge", "--agent", agent, "--unverified"];
        self.sandbox.run(&[&words[..], more].concat())
    }

    pub(super) fn budget(&self) -> Value {
        self.sandbox.status()["budget"].clone()
    }

    /// Puts a file into the user's configuration folder.
    pub(super) fn configure(&self, name: &str, text: &str) {
        self.sandbox.file(&format!("user/.config/loop/{name}"), text);
    }

    /// Asks the database for a number.
    pub(super) fn count(&self, question: &str) -> i64 {
        let database = rusqlite::Connection::open(self.sandbox.home.join("loop.db")).expect("a database");
        database.query_row(question, [], |row| row.get(0)).expect("a number")
    }
}

/// The last event of a Claude stream, with what is said about its cost.
fn result(usage: &str) -> String {
    format!(
        "printf '%s\\n' '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\",{usage}}}'\n"
    )
}

const INIT: &str = "printf '%s\\n' '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"claude-opus-4-8\"}'\n";

/// A message of a Claude stream; its number makes it a request of its own.
fn message(number: &str, input: u64) -> String {
    format!(
        "printf '%s\\n' \"{{\\\"type\\\":\\\"assistant\\\",\\\"message\\\":{{\\\"id\\\":\\\"m{number}\\\",\\\"model\\\":\\\"claude-opus-4-8\\\",\
         \\\"content\\\":[{{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"hm\\\"}}],\\\"usage\\\":{{\\\"input_tokens\\\":{input},\\\"output_tokens\\\":1}}}},\
         \\\"session_id\\\":\\\"s\\\"}}\"\n"
    )
}
