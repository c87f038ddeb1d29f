//! What follows the work: steps of the proof, landings, the end of a run.

mod finish_run;
mod landing;
pub(crate) mod proving;
