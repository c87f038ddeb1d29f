//! What a person sees: the real binary in a pseudo-terminal, its output read by a terminal emulator,
//! the screens as snapshots. Nothing sleeps: a test reads until the screen shows what it waits for.
//! What changes from run to run (times, ids, the spinner) is replaced in the snapshots.

mod attached;
#[path = "../e2e/fifo.rs"]
mod fifo;
mod interrupts;
mod live;
mod questions;
#[expect(dead_code, reason = "it serves other tests too")]
#[path = "../e2e/sandbox.rs"]
mod sandbox;
mod stage;
#[expect(dead_code, reason = "it serves other tests too")]
#[path = "../tdd/sandbox.rs"]
mod tdd;
mod terminal;
mod whole;
