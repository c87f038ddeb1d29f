//! The wall clock, read in one place.

use loop_base::time::Timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads the clock.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// Returns the time since 1970, as precisely as the system has it.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns when the machine was started, where the kernel tells: no process is older.
pub(crate) fn booted_at() -> Option<Timestamp> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Some(Timestamp(now().0 - (seconds * 1000.0) as i64))
}
