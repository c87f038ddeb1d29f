//! From layers to a workflow: presets, user configuration, project file and flags are merged, every
//! default is filled in, every name looked up and every condition held against what is known. All
//! problems are collected. How a value is written belongs to `syntax/`.

pub mod completion;
mod condition_checks;
mod context;
mod layers;
mod merge;
pub mod names;
mod phases;
pub mod preset;
pub mod resolve;
mod sections;
