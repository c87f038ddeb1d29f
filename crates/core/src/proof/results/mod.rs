//! What a check brought: test ids and their outcomes, how runners are made to name their tests, and the readers
//! of what they print. What the results mean is concluded elsewhere.

pub(super) mod environment;
pub(super) mod ids;
pub(super) mod readers;
