//! The tdd preset end to end: the real binary, a scripted agent, real test runners, real git.

mod agents;
mod brownfield;
mod delivery;
mod greenfield;
mod input;
mod limits;
#[path = "../agents/programs.rs"]
mod programs;
mod rules;
mod sandbox;
mod schema;
mod session;
mod ship;
mod trouble;
