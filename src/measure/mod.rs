//! Measuring: checks and what their output counts, facts about tree and input, and which checks a
//! project has. What the measurements lead to is decided in the core; how a command is carried out
//! is the caller's part, handed in as [`Execute`].

pub(crate) mod checks;
pub(crate) mod commits;
pub(crate) mod counts;
pub(crate) mod detect;
pub(crate) mod differences;
pub(crate) mod evidence;
pub(crate) mod facts;
pub(crate) mod item_list;
pub(crate) mod planning;
pub(crate) mod proof;
pub(crate) mod report_file;
pub(crate) mod tests_in_place;
pub(crate) mod uncommitted;
pub(crate) mod unignored_output;
