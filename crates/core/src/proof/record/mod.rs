//! What a proof leaves: its steps with their outcomes, the findings, and the proof itself with the sentence that
//! people read. Data and its words; how a proof is reached is in `conclude/`.

pub(super) mod finding;
pub(super) mod proof_record;
pub(super) mod sentence;
pub(super) mod steps;
