//! What every other room stands on: secrets and their removal, text that is safe to show, moments,
//! metric values, JSON that is changed in place, names of shells and interpreters, and files that somebody else may have replaced. Nothing here knows what a run is.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod files;
pub mod json_text;
pub mod programs;
pub mod secret;
pub mod text;
pub mod time;
pub mod value;
