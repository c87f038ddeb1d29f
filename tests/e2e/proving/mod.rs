//! What completes a run and what does not, and what a completed run stands on.

mod call_diff;
mod decidable;
mod facts;
mod forged;
mod items;
mod liar;
mod proof;
mod proofs;
mod records;
mod written_first;
