//! Which files belong to the baseline: tests and what only tests use, what says how they run, and the
//! parts of mixed files that do. [`protected`] is the door; the others each know one language or one kind
//! of manifest.

pub(super) mod build_scripts;
pub(super) mod class;
pub(super) mod foreign_modules;
pub(super) mod make_targets;
pub(super) mod names;
pub(super) mod only_tests;
pub(super) mod parts;
pub(super) mod protected;
pub(super) mod redirects;
pub(super) mod rust_lexer;
pub(super) mod rust_tests;
pub(super) mod scripts;
pub(super) mod test_packages;
pub(super) mod test_texts;
