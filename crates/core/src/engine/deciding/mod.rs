//! What comes next: the one policy, and its parts by subject (answers, ways out of a phase, gates,
//! limits, proof, landing). The state is read here and never changed.

pub(super) mod allowance;
pub(super) mod answer;
mod answer_outcome;
mod ask;
pub(super) mod decide;
pub(crate) mod gate;
pub(crate) mod landing;
mod limits;
pub(crate) mod offer;
mod proof_summary;
pub(super) mod proving;
mod route;
