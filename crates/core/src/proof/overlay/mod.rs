//! What steps E and F lay over a plain checkout: the plan, and how it is made from the changes of a run. Which
//! files are protected is decided in `protecting/`; whoever runs a step carries the plan out.

mod added_modules;
mod hunks;
pub(super) mod plan;
pub(super) mod planning;
