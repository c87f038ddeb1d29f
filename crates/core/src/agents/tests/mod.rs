//! Recordings of the real programs, and the corpus of limit texts.

mod invocations;
mod limits;
mod replay;
mod survival;
