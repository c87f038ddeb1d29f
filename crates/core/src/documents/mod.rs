//! Documents that people write and runs read: the input of a run, the design file of `ralph`, and the
//! planning folder of `plan`. Text in, facts out; where a file lies is the caller's business.

pub mod design;
pub mod input;
pub mod planning;
