//! The outside of the program, table by table: each file is one table of the contract, and each row
//! of it is a line that is tried with the real binary. Rows that another file tries already are named
//! in the head of the table's file.

mod commands;
mod configuration;
mod dialogue;
mod exits;
mod mirrors;
mod notify;
mod questions;
mod reload;
mod runs;
mod show;
