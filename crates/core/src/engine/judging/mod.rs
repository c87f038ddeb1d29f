//! What an iteration comes to: the names that conditions see, the error that it ended with, and the
//! verdict. What follows from the verdict is decided in `deciding`.

mod failure;
pub(super) mod judge;
pub(super) mod metrics;
pub(super) mod reasons;
pub(super) mod signature;
