//! The workflow language: what a loop is, as data. Four very different loops, and any that a user
//! invents, are values of [`model::Workflow`].
//!
//! `file.rs` and `phase_file.rs` declare what users type, `typed.rs` and `shape.rs` read it, `merge.rs` lays the layers
//! over each other, `resolve.rs` gives them their meaning, and `problem.rs` prints what is wrong.

pub mod condition;
pub mod file;
pub(crate) mod file_words;
mod holds;
mod merge;
pub mod model;
pub mod names;
mod pattern;
mod phase_file;
mod phases;
pub mod preset;
pub mod problem;
pub mod resolve;
mod routes;
mod sections;
mod shape;
pub mod template;
mod typed;

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
