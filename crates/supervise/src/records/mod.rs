//! What controller and shim leave for each other: the orders and replies on their pipes, the claim on
//! a call, the proof that it was never started, its exit record and the end of its output. Everything here is data and files; nothing is
//! started or ended.

pub mod claim;
pub mod exit_records;
pub mod protocol;
pub mod tail;
pub mod unstarted;
