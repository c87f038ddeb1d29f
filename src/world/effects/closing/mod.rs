//! What follows the work: steps of the proof, landings, the end of a run.

mod finish_run;
mod landing;
mod landing_proof;
pub(crate) mod proving;
