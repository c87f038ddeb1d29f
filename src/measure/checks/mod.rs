//! Running checks: where they run and with which variables, how their output is kept, and what one came to.
//! How summaries are counted is in `counts`, which checks a project has in `detect`, and a clean
//! checkout for a proof in `proof`.

pub(crate) mod check_folder;
pub(crate) mod check_log;
pub(crate) mod child_environment;
pub(crate) mod run_checks;
pub(crate) mod run_once;
