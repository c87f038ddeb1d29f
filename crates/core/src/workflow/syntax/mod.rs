//! What users type: the sections and keys of a workflow file, each declared once with its description,
//! and how TOML becomes those types without stopping at the first mistake. Every value remembers its
//! place. What a value means is decided in `resolving/`.

pub mod file;
pub(crate) mod file_words;
pub(crate) mod phase_file;
pub(crate) mod shape;
pub(crate) mod typed;
pub(crate) mod value_types;
