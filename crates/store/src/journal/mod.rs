//! A run in the database: its row and its events, the seal over what never changes, the owner that
//! appends, and the verification of all of it. What the events mean is folded
//! elsewhere; what runs share is in `accounts` and `queue`.

pub(crate) mod rows;
pub(crate) mod run_list;
pub(crate) mod run_records;
pub(crate) mod run_row;
pub(crate) mod seal;
pub(crate) mod verify;
pub(crate) mod writer;
