//! The agents: one row for each CLI that this program can call. A row is a plain value that says where
//! the program comes from, how one logs in, which variables it is given, how it is started and how its
//! stream is read; everything else about agents is derived from it. The code that a row chooses by its
//! [`Start`] and [`Stream`] is in `agents/`.
//!
//! `row.rs` is what a row says (`usage_row.rs` about usage), `built_in.rs` the rows of ours that need code, `file.rs`
//! reads a row from a file (those in `shipped/` are ours), and `stream_rules.rs` is how such a file describes a
//! stream. `table.rs` is all of them with those of the user, `chosen.rs` the one that a workflow names, and
//! `model_family.rs` says which names mean one model.
//! `test_wiring.rs` says how a test points each of them at a scripted model. Nothing here starts an agent or reads
//! its stream.

mod built_in;
mod chosen;
mod file;
mod model_family;
mod row;
mod stream_rules;
mod table;
mod test_wiring;
mod usage_row;

pub use built_in::COMMAND;
pub use chosen::ChosenAgent;
pub(crate) use model_family::is_same_family;
pub use row::{AgentEnvironment, AgentRow, DescribedStart, Folder, LoginRow, Start, Stream};
pub use stream_rules::{DescribedStream, ErrorRule, EventRule, ResultRule, ToolRule, UsageRule};
pub use table::AgentTable;
pub use test_wiring::TestWiring;
pub use usage_row::{CachedInput, UsageRow, UsageScope, UsageTold};

impl AgentRow {
    /// Whether the workflow names the program.
    pub fn is_any_program(&self) -> bool {
        self.start == Start::Arguments
    }
}
