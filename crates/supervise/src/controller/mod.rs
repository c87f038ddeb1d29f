//! The side of whoever drives a run or looks on: its end of the shim, what it finds of a call that was
//! open, who is above it, following another controller, and starting one that belongs to no terminal.
//! Calls themselves are held by `shim`.

pub mod detached;
pub mod follow;
pub mod keeper;
pub mod previous_call;
pub mod process_line;
