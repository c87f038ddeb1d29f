//! What the commands of checks start: scripts, and the rules of `make`.

pub(in crate::proof) mod make_targets;
pub(in crate::proof) mod scripts;
