//! The tdd preset end to end: the real binary, a scripted agent, real test runners, real git.

mod agents;
mod brownfield;
mod delivery;
mod files;
mod greenfield;
mod input;
mod limits;
mod rules;
mod schema;
mod session;
mod ship;
mod trouble;
