//! One file for each format. None of them decides whether a check passed.

pub(super) mod cargo;
pub(super) mod go;
pub(super) mod jest;
pub(super) mod junit;
pub(super) mod mocha;
pub(super) mod nextest;
mod node;
pub(super) mod pairs;
pub(super) mod pytest;
pub(super) mod tap;
mod tree;
pub(super) mod unittest;
pub(super) mod vitest;
