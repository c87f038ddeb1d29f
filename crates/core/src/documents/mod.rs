//! Documents that people write and runs read: the input of a run, and the design file of `ralph`.
//! Text in, facts out; where a file lies is the caller's business.

pub mod design;
pub mod input;
