//! What an iteration comes to: the names that conditions see, the error that it ended with, and the
//! verdict. What follows from the verdict is decided in `deciding`.

mod failure;
mod grounds;
pub(super) mod judge;
pub(super) mod metrics;
mod needed;
pub(super) mod reasons;
mod report_words;
pub(super) mod signature;
