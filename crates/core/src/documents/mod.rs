//! Documents that people write and runs read: the input of a run, the design file of `ralph`, the planning
//! folder of `plan`, and the queue of `engineering`. Text in, facts out; where a file lies is the caller's business.

pub mod design;
pub mod input;
pub mod planning;
pub mod system_queue;
pub mod task_kind;
