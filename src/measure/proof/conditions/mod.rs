//! What held when the run was opened, and what a clean run sees of the machine because of it: programs,
//! variables, toolchains, package caches, and whether the tools have changed since. Checkouts and
//! commands are not made here.

pub(super) mod changed_tools;
pub(super) mod environment;
pub(super) mod opening;
pub(super) mod path_programs;
pub(super) mod tool_homes;
pub(super) mod writable;
