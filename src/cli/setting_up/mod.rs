//! Commands before and beside a run: what is installed and allowed on this machine, the files that a
//! project gets, workflows that are read, explained and played. None of them works on a run; the hooks
//! that an agent calls are here because they are part of its settings.

pub(super) mod completions;
pub(super) mod hook;
mod machine;
pub(super) mod man;
mod project;
mod workflows;

pub(super) use machine::{agents, doctor, limits};
pub(super) use project::{design, setup};
pub(super) use workflows::{check, presets, simulate};
