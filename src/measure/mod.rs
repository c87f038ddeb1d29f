//! Measuring: checks and what their output counts, facts about tree and input, and which checks a
//! project has. What the measurements lead to is decided in the core.

pub(crate) mod check_log;
pub(crate) mod check_place;
pub(crate) mod counts;
pub(crate) mod detect;
pub(crate) mod evidence;
pub(crate) mod facts;
pub(crate) mod item_list;
#[allow(dead_code, unused_imports, reason = "the engine takes no proofs yet")]
pub(crate) mod proof;
pub(crate) mod run_checks;
