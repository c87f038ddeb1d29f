//! Tests that must fail, to show that a check reports failures. What a check said about them is read in
//! `results/`.

mod assertions;
mod carrier;
pub(super) mod program_canary;
pub(super) mod shell_canary;
pub(super) mod test_canary;
