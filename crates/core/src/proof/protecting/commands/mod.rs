//! What the commands of checks start: scripts, the rules of `make`, and the test programs of CMake.

pub(in crate::proof) mod cmake_tests;
pub(in crate::proof) mod make_targets;
mod make_variables;
pub(in crate::proof) mod scripts;
