//! What people and programs ask, answer and read: questions, gates, commands, hints, the first ten minutes.

mod approvals;
mod control;
mod demo;
mod fits;
mod gates;
mod hints;
mod history;
mod inside;
mod json;
mod newcomer;
mod pasted;
mod questions;
mod terminal;
