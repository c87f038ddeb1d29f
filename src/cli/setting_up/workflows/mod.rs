//! Workflows that are read, explained and played.

pub(in crate::cli) mod check;
pub(in crate::cli) mod presets;
pub(in crate::cli) mod simulate;
