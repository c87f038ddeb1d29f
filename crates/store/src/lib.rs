//! What is kept on disk: one SQLite database for each home, a folder for each run, and the kernel
//! locks that give a run and a working tree one owner. The engine's events, states and definitions
//! are stored as text; only `fold` and `mirror` read them, and nothing here decides.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod accounts;
mod chain;
pub mod derived;
mod error;
mod file_modes;
pub mod fold;
mod held_back;
mod holder;
mod home;
mod inbox;
mod journal;
mod lock;
mod lost_file;
pub mod mirror;
mod queue;
pub mod run;
mod schema;
mod tables;
mod turn;

#[cfg(test)]
mod tests;

pub use accounts::ledger::{AccountHold, PlanUse};
pub use accounts::slots::{SlotAnswer, SlotUse, SlotWish};
pub use accounts::spending::{Reservation, Reserved, Spend, local_day};
pub use error::{Locked, StoreError};
pub use file_modes::{set_right_modes, wrong_modes};
pub use holder::{DETACHED_POOL, Holder, OPTIONS_WITH_VALUE, as_typed, subcommands};
pub use home::Home;
pub use inbox::{COMMAND, NOW, Wake, is_listening, wait_for_listener_to_leave, wake};
pub use journal::rows::{QuestionRow, Recorded};
pub use journal::run_list::{ByPrefix, Filter, NewRun, Row};
pub use journal::verify::JournalVerdict;
pub use journal::writer::{Commit, Journal, Opened, QuestionChange, RowUpdate};
pub use lock::{LandingLock, OpeningLock, PoolLock, TreeLock};
pub use queue::file::QueueRead;
pub use queue::jobs::{JobClaim, JobMove};
pub use queue::rows::{Job, QueueKey};
