//! The workflow language: what a loop is, as data. Four very different loops, and any that a user
//! invents, are values of [`model::Workflow`].
//!
//! `grammar/` reads the small texts that have a grammar of their own and prints what is wrong, `model.rs`
//! is a workflow as it is meant, `syntax/` declares and reads what users type, and `resolving/` lays the
//! layers over each other and gives them their meaning.

mod grammar;
pub mod model;
mod resolving;
mod syntax;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;

pub use grammar::{condition, problem, template};
pub use resolving::{completion, names, preset, resolve};
pub use syntax::file;
