//! All agents that a request can name. A table is a value: whoever reads the user's files makes one and hands
//! it on, so two callers in one process may know different agents.

use super::built_in::BUILT_IN;
use super::file;
use super::row::AgentRow;
use std::sync::LazyLock;

/// The agents that files of ours describe.
static SHIPPED: LazyLock<Vec<&'static AgentRow>> = LazyLock::new(|| {
    let files = [
        ("copilot", include_str!("shipped/copilot.toml")),
        ("qwen", include_str!("shipped/qwen.toml")),
        ("pi", include_str!("shipped/pi.toml")),
    ];
    files.map(|(name, text)| file::read(name, text).expect("a file of ours")).to_vec()
});

/// The agents of ours, and those that files of the user describe.
#[derive(Clone, Debug, Default)]
pub struct AgentTable {
    described: Vec<&'static AgentRow>,
}

impl AgentTable {
    /// Adds an agent that a file of the user describes. A name that is taken is a mistake.
    pub fn describe(&mut self, name: &str, text: &str) -> Result<(), String> {
        if self.named(name).is_some() {
            return Err(format!("there is an agent called \"{name}\" already; choose another name"));
        }
        self.described.push(file::read(name, text)?);
        Ok(())
    }

    /// Returns the agent of this name.
    pub fn named(&self, name: &str) -> Option<&'static AgentRow> {
        self.all().find(|it| it.name == name)
    }

    /// Returns every agent, in the order in which they are looked for when nobody named one.
    pub fn all(&self) -> impl Iterator<Item = &'static AgentRow> + use<> {
        BUILT_IN.into_iter().chain(SHIPPED.iter().copied()).chain(self.described.clone())
    }

    /// Returns the agents that can be found by their program's name.
    pub fn detected(&self) -> impl Iterator<Item = &'static AgentRow> + use<> {
        self.all().filter(|it| !it.is_any_program())
    }

    /// Returns the names of all.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.all().map(|it| it.name)
    }
}
