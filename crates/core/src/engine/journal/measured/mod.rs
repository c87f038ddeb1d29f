//! What was measured after a call, and what that came to.

pub(in crate::engine) mod evidence;
pub(in crate::engine) mod judgement;
pub(in crate::engine) mod metric;
