//! Folders on the disk: where proofs keep their files below the home, copying and comparing whole folders,
//! and the dependency folders of a project that a clean checkout may use. Nothing here knows what a
//! step is or runs a check.

pub(super) mod dependency_folders;
pub(super) mod files;
pub(super) mod folders;
