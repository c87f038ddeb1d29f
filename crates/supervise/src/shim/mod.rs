//! The process that holds a call and outlives its controller: it takes orders, starts the program,
//! keeps its output, watches its deadlines and ends it. What the controller does with it is in
//! `controller`; what it writes down is in `records`.

mod call;
mod capture;
mod deadlines;
mod input;
pub mod resources;
mod serve;
mod signals;
pub mod spawn;

pub use serve::serve;
