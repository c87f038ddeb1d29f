//! What is kept on disk: one SQLite database for each home, a folder for each run, and the kernel
//! locks that give a run and a working tree one owner. The engine's events, states and definitions
//! are stored as text; only `fold` and `mirror` read them, and nothing here decides.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod chain;
mod error;
pub mod fold;
mod holder;
mod home;
mod inbox;
mod index;
mod journal;
mod ledger;
mod lock;
pub mod mirror;
mod queue;
mod rows;
pub mod run;
mod run_row;
mod schema;
mod seal;
mod verify;

#[cfg(test)]
mod tests;

pub use error::{Locked, StoreError};
pub use home::Home;
pub use inbox::{COMMAND, NOW, Wake, is_listening, wake};
pub use index::{ByPrefix, Filter, NewRun, Row};
pub use journal::{Commit, Journal, Opened, QuestionChange, RowUpdate};
pub use ledger::{AccountHold, PlanUse, Spend};
pub use lock::{OpeningLock, TreeLock};
pub use queue::{Claim, Job, JobMove, QueueKey, QueueRead};
pub use rows::{QuestionRow, Recorded};
pub use verify::JournalVerdict;
