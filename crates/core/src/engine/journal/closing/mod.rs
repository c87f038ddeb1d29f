//! How work is proven and brought to its target.

pub(in crate::engine) mod landing;
pub(in crate::engine) mod proof_steps;
