//! What is kept on disk: one SQLite database for each home, a folder for each run, and the kernel
//! locks that give a run and a working tree one owner. The engine's events, states and definitions
//! are text here; nothing in this module reads them, and nothing here decides.

mod chain;
mod error;
mod home;
mod inbox;
mod index;
mod journal;
mod ledger;
mod lock;
pub(crate) mod mirror;
pub(crate) mod run;
mod schema;
mod standing;
mod verify;

#[cfg(test)]
mod tests;

pub(crate) use error::StoreError;
pub(crate) use home::Home;
pub(crate) use inbox::{COMMAND, NOW, Wake, wake};
pub(crate) use index::{ByPrefix, Filter, NewRun, Row};
pub(crate) use journal::{Commit, Journal, Opened, Question, QuestionChange, Recorded, RowUpdate};
pub(crate) use ledger::{Hold, Plan, Spend};
pub(crate) use lock::TreeLock;
pub(crate) use verify::Verdict;
