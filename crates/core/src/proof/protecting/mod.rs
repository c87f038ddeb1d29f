//! Which files belong to the baseline: tests and what only tests use, what says how they run, and the
//! parts of mixed files that do. [`protected`] is the door; `class` and `names` tell files by their names,
//! `finding/` by what they say and who uses them, `commands/` by the checks that start them. `mixed/` takes files
//! apart.

pub(super) mod class;
pub(super) mod commands;
pub(super) mod finding;
pub(super) mod mixed;
pub(super) mod names;
pub(super) mod protected;
