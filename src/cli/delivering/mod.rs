//! Commands about what a run made: handing it in, and bringing a snapshot of its tree back. What the
//! last steps of a run do by themselves is in `crate::deliver`.

pub(super) mod restore;
pub(super) mod ship;
