//! The agents: one row for each CLI that this program can call. A row is a plain value that says where
//! the program comes from, how one logs in, which variables it is given, how it is started and how its
//! stream is read; everything else about agents is derived from it. The code that a row chooses by its
//! [`Start`] and [`Stream`] is in `agents/`.
//!
//! `row.rs` is what a row says (`usage_row.rs` about usage), `built_in.rs` the rows of ours that need code, `file.rs` reads a row from a file
//! (those in `shipped/` are ours), and `stream_rules.rs` is how such a file describes a stream. `test_wiring.rs` says how
//! a test points each of them at a scripted model. Nothing here
//! starts an agent or reads its stream.

mod built_in;
mod file;
mod row;
mod stream_rules;
mod test_wiring;
mod usage_row;

pub use built_in::COMMAND;
pub use row::{AgentEnvironment, AgentRow, DescribedStart, Folder, LoginRow, Start, Stream};
pub use stream_rules::{DescribedStream, ErrorRule, EventRule, ResultRule, ToolRule, UsageRule};
pub use test_wiring::TestWiring;
pub use usage_row::{CachedInput, UsageRow, UsageScope, UsageTold};

use built_in::BUILT_IN;
use std::sync::{LazyLock, OnceLock};

/// The agents that files of ours describe.
static SHIPPED: LazyLock<Vec<&'static AgentRow>> = LazyLock::new(|| {
    let files = [
        ("copilot", include_str!("shipped/copilot.toml")),
        ("qwen", include_str!("shipped/qwen.toml")),
        ("pi", include_str!("shipped/pi.toml")),
    ];
    files.map(|(name, text)| file::read(name, text).expect("a file of ours")).to_vec()
});

/// The agents that files of the user describe. A process reads them once, before it looks at a workflow, and
/// they stay as they are for the rest of its life.
static ADDED: OnceLock<Vec<&'static AgentRow>> = OnceLock::new();

impl AgentRow {
    /// Returns the agent of this name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AgentRow::all().find(|it| it.name == name)
    }

    /// Returns every agent, in the order in which they are looked for when nobody named one.
    pub fn all() -> impl Iterator<Item = &'static AgentRow> {
        let added = ADDED.get().into_iter().flatten();
        BUILT_IN.into_iter().chain(SHIPPED.iter().copied()).chain(added.copied())
    }

    /// Reads an agent that a file of the user describes. A name that is taken is a mistake.
    pub fn described(name: &str, text: &str) -> Result<&'static AgentRow, String> {
        match AgentRow::named(name) {
            Some(_) => Err(format!("there is an agent called \"{name}\" already; choose another name")),
            None => file::read(name, text),
        }
    }

    /// Adds the agents of the user. The first call in the life of a process counts.
    pub fn add(rows: Vec<&'static AgentRow>) {
        let _ = ADDED.set(rows);
    }

    /// Returns the agents that can be found by their program's name.
    pub fn detected() -> impl Iterator<Item = &'static AgentRow> {
        AgentRow::all().filter(|it| !it.is_any_program())
    }

    /// Returns the names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        AgentRow::all().map(|it| it.name)
    }

    /// Whether the workflow names the program.
    pub fn is_any_program(&self) -> bool {
        self.start == Start::Arguments
    }
}
