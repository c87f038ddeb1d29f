//! The tdd preset end to end: the real binary, a scripted agent, real test runners, real git.

mod greenfield;
mod sandbox;
mod session;
mod ship;
mod trouble;
