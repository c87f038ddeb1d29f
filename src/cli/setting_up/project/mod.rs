//! The files that a project gets.

pub(in crate::cli) mod design;
mod new_files;
mod planning_files;
pub(in crate::cli) mod setup;
