//! The queue of systems: jobs and what they wait for, and the file that people read and edit. Which run
//! works on a job is decided by its caller.

pub(crate) mod file;
pub(crate) mod jobs;
pub(crate) mod rows;
