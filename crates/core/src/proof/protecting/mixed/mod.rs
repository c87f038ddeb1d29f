//! Files of which a part is protected, and how the part of one version is put into another.

pub(in crate::proof) mod build_scripts;
pub(in crate::proof) mod makefile_sources;
pub(in crate::proof) mod parts;
pub(in crate::proof) mod redirects;
pub(in crate::proof) mod rust_lexer;
pub(in crate::proof) mod rust_tests;
