//! What a check brought: the formats of test runners, test ids and their outcomes, how runners are made to name
//! their tests, what a line of a runner says, and the readers of what they print. What the results mean is concluded elsewhere.

pub(super) mod count_format;
pub(super) mod environment;
pub(super) mod ids;
pub(super) mod readers;
pub mod runner_lines;
