//! Tests, and what only tests use, found by what files say and by who uses them.

mod code_text;
mod documents;
pub(in crate::proof) mod foreign_modules;
pub(in crate::proof) mod hidden_files;
pub(in crate::proof) mod only_tests;
pub(in crate::proof) mod predeclared;
pub(in crate::proof) mod test_generators;
pub(in crate::proof) mod test_packages;
pub(in crate::proof) mod test_texts;
