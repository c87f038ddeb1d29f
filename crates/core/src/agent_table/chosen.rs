//! The agent of a workflow: the name that is stored, and the row that stands for it while the program runs.

use super::row::AgentRow;
use super::table::AgentTable;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The agent that a workflow names. Rows of ours are there as soon as it is read; one that a file of the user
/// describes is there once it was looked up in their table, and missing where the file is gone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ChosenAgent {
    name: String,
    row: Option<&'static AgentRow>,
}

impl ChosenAgent {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn row(&self) -> Option<&'static AgentRow> {
        self.row
    }

    /// Whether nobody has named one: it is chosen when the run opens.
    pub fn is_left_open(&self) -> bool {
        self.name.is_empty()
    }

    /// Finds its row among the agents of whoever asks.
    pub fn look_up(&mut self, table: &AgentTable) {
        self.row = table.named(&self.name);
    }
}

impl From<&'static AgentRow> for ChosenAgent {
    fn from(row: &'static AgentRow) -> ChosenAgent {
        ChosenAgent { name: row.name.to_owned(), row: Some(row) }
    }
}

impl From<String> for ChosenAgent {
    fn from(name: String) -> ChosenAgent {
        let row = AgentTable::default().named(&name);
        ChosenAgent { name, row }
    }
}

impl From<ChosenAgent> for String {
    fn from(chosen: ChosenAgent) -> String {
        chosen.name
    }
}

/// A name means one agent.
impl PartialEq for ChosenAgent {
    fn eq(&self, other: &ChosenAgent) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for ChosenAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
