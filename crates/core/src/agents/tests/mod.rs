//! Recordings of the real programs, and the corpus of limit texts.

mod invocations;
mod limit_texts;
mod limits;
mod replay;
mod survival;

use crate::agent_table::{AgentRow, AgentTable};

fn row(name: &str) -> &'static AgentRow {
    AgentTable::default().named(name).expect("known")
}
