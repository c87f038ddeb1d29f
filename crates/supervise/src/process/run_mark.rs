//! The mark of a run: a variable in the environment of everything that a run starts. By it what was left running is
//! found and ended, and a command of ours that comes out of a call is refused. Whoever starts something for
//! a run sets it.

/// Its name; the value is the id of the run.
pub const RUN_MARK: &str = "LOOP_RUN";
