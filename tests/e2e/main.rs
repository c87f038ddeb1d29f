//! The product's promises, attacked from the outside: the real binary, real git, real shells as
//! agents, a project and a home of their own for each test. Nothing here knows the inside.
//!
//! Tests are named after the promise or the case that they attack, or, where the contract alone says
//! it, after its subject. Random ones print their seed;
//! `LOOP_TEST_TIMES=N` repeats the expensive ones N times.

mod calls;
mod contract;
mod faults;
mod money;
mod people;
mod proving;
mod trees;
