//! The words of the journal: facts, effects, and what they carry. All of it is written to disk, so it
//! only ever grows. Data only; what it means for a run is told in `state/`.

pub(super) mod approval;
pub(super) mod command;
pub(super) mod decision;
pub(super) mod effect;
pub(super) mod ending;
pub(super) mod event;
pub(super) mod evidence;
pub(super) mod hold;
pub(super) mod item;
pub(super) mod judgement;
pub(super) mod landing;
pub(super) mod metric;
pub(super) mod opening;
pub(super) mod proof_steps;
pub(super) mod question;
pub(super) mod requirement;
pub(super) mod usage;
