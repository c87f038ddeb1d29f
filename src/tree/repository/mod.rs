//! The repository itself: the one function that runs git, where git keeps its files, whether somebody
//! else holds its lock, how to read what it prints, and the head of a journal that is kept as a ref. What is
//! in the working tree belongs to `status/`.

pub(crate) mod commit_name;
pub(crate) mod git;
pub(crate) mod git_dir;
mod git_error;
pub(crate) mod git_lock;
pub(crate) mod git_text;
pub(crate) mod journal_head;
pub(crate) mod pinned;
pub(crate) mod programs;
mod view_settings;
