//! The words of the journal: facts, effects, and what they carry. All of it is written to disk, so it
//! only ever grows. Data only; what it means for a run is told in `state/`.
//!
//! `event` is a fact, `effect` what is done to the world, `decision` one of the two or a rest, `hold` why a run
//! rests, `news` what may come from outside. What they carry has rooms: `task/` what a run works on, `people/` questions and answers, `calls/` how an
//! agent call ended, `measured/` what came of it, `closing/` proof and landing.

pub(super) mod calls;
pub(super) mod closing;
pub(super) mod decision;
pub(super) mod effect;
pub(super) mod event;
pub(super) mod hold;
pub(super) mod measured;
pub(super) mod news;
pub(super) mod people;
pub(super) mod task;
