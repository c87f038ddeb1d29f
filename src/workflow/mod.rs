//! The workflow language: what a loop is, as data. Four very different loops, and any that a user
//! invents, are values of [`model::Workflow`].
//!
//! `file.rs` declares what users type, `typed.rs` and `shape.rs` read it, `merge.rs` lays the layers
//! over each other, `resolve.rs` gives them their meaning, and `problem.rs` prints what is wrong.

pub(crate) mod condition;
pub(crate) mod file;
mod holds;
mod merge;
pub(crate) mod model;
pub(crate) mod names;
mod pattern;
mod phases;
pub(crate) mod preset;
pub(crate) mod problem;
pub(crate) mod resolve;
mod routes;
mod sections;
mod shape;
pub(crate) mod template;
mod typed;

#[cfg(test)]
pub(crate) mod published;
#[cfg(test)]
mod tests;
