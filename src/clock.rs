//! The clock of the wall, read in one place.

use loop_base::time::Timestamp;

/// Reads the clock.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
