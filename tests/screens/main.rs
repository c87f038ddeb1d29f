//! What a person sees: the real binary in a pseudo-terminal, its output read by a terminal emulator,
//! the screens as snapshots. Nothing sleeps: a test reads until the screen shows what it waits for.
//! What changes from run to run (times, ids, the spinner) is replaced in the snapshots.

mod attached;
mod endings;
mod interrupts;
mod live;
mod questions;
mod stage;
mod whole;
