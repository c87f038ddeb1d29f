//! The product's promises, attacked from the outside: the real binary, real git, real shells as
//! agents, a project and a home of their own for each test. Nothing here knows the inside.
//!
//! Tests are named after the promise or the case that they attack, or, where the contract alone says
//! it, after its subject. Random ones print their seed;
//! `LOOP_TEST_TIMES=N` repeats the expensive ones N times.

mod agents;
mod approvals;
mod asking;
mod attach;
mod bounded;
mod call_diff;
mod canaries;
mod causes;
mod contract;
mod control;
mod crowd;
mod database;
mod demo;
mod facts;
mod fair;
mod fits;
mod forged;
mod gates;
mod hints;
mod history;
mod holds;
mod homes;
mod inside;
mod items;
mod json;
mod kills;
mod liar;
mod mirror;
mod money;
mod moved;
mod narrative;
mod newcomer;
mod places;
mod power;
mod proof;
mod proofs;
mod questions;
mod records;
mod replaced;
mod secrets;
mod signals;
mod slots;
mod snapshots;
mod starved;
mod states;
mod terminal;
mod upheaval;
mod worktree;
mod written_first;
