//! The executor of proofs against real projects: what a clean run must not see (ignored files, HOME,
//! poisoned caches, programs that were added to PATH, the original tree by a link) and what it must
//! have (every file of the tree, submodules, dependencies).

mod checkout;
mod cost;
mod dependencies;
mod environment;
mod kills;
mod project;
mod steps;
mod toolchains;
