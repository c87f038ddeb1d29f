//! A clean checkout of one tree: its files, the objects that its history needs, whether those are what
//! their ids say, and the build cache that it may start from. What a step changes in a checkout and what it
//! runs there belongs to `steps`.

pub(super) mod build_cache;
pub(super) mod clean_checkout;
pub(super) mod go_library;
pub(super) mod history_packs;
pub(super) mod objects;
