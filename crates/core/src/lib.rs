//! The pure core: what a loop is, what agents say, what comes next. It does no IO, reads no clock and
//! no environment, and uses no randomness; `clippy.toml` beside this crate holds that. Reading order is
//! dependency order.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod open_words;

pub mod digest;

pub mod facts;

pub mod build_output;

pub mod agent_table;

pub mod proof;

pub mod workflow;

pub mod report;

pub mod engine;

pub mod record;

pub mod bounds;

pub mod documents;

pub mod event_line;

pub mod prompt;

pub mod delivery_names;

pub mod prices;

pub mod agents;
