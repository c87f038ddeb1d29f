//! Who may act, attacked: each attack is a row that says what is done, by whom, and what must come out.
//! The rows run against the real program, as root where the tests are root, and always as an ordinary
//! user too. After every attack on a gate the gate is still open, and the run has kept what was tried.
//!
//! `LOOP_TEST_TIMES=N` repeats what chance decides N times, `LOOP_TEST_SEED=N` repeats a failure.

mod causes;
mod checks;
mod columns;
mod commands;
mod contained;
mod database;
mod files;
mod git_programs;
mod handed_in;
mod kills;
mod outlived;
mod pages;
mod planted;
mod removed;
mod scene;
mod signatures;
