//! The merge train: proven work comes to its target one run at a time. The merge is made without touching any
//! working tree (`merge.rs`), nothing of another's may be missing in it (`lost.rs`), the merged tree is
//! proven by the world, and only then does the target move (`advance.rs`), never under somebody who works
//! on it; what was landed is taken out the same way (`revert.rs`). Everything here can be done again after a crash: the target's tip decides what is left to do.

pub(crate) mod advance;
mod lost;
pub(crate) mod merge;
pub(crate) mod revert;
#[cfg(test)]
mod seeds;
