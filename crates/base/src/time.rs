//! Moments, as the engine sees them: milliseconds of UTC since 1970, handed in from outside.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A moment. The engine never reads a clock; it is given one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment that is `millis` later.
    pub fn plus(self, millis: u64) -> Timestamp {
        Timestamp(self.0.saturating_add_unsigned(millis))
    }

    /// Returns how long ago `earlier` was; zero when it lies ahead, as after a clock was set back.
    pub fn since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(it) => write!(f, "{it:.0}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// Returns the day of a moment where the clocks show this zone's time, as `2026-01-31`.
pub fn day(at: Timestamp, zone: &jiff::tz::TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(it) => it.to_zoned(zone.clone()).date().to_string(),
        Err(_) => "0000-00-00".to_owned(),
    }
}

/// Writes a length of time as people say it: `42s`, `3m 05s`, `2h 10m`, `35d 02h`.
pub fn length(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..TWO_DAYS_S => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// From here on nobody counts in hours.
const TWO_DAYS_S: u64 = 48 * 3600;

/// Writes how long something took: `0.3 s`, `42 s`, and from a minute on like [`length`].
pub fn took(millis: u64) -> String {
    match millis {
        0..100 => "0.1 s".to_owned(),
        100..1000 => format!("0.{} s", millis / 100),
        1000..60_000 => format!("{} s", millis / 1000),
        _ => length(millis),
    }
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, day, length, took};
    use jiff::tz::{Offset, TimeZone};

    #[test]
    fn a_moment_reads_as_utc() {
        assert_eq!(Timestamp(1_763_197_200_123).to_string(), "2025-11-15T09:00:00Z");
        assert_eq!(Timestamp(5).since(Timestamp(9)), 0);
    }

    #[test]
    fn a_day_begins_at_midnight_where_one_is() {
        let at = Timestamp(1_763_197_200_123);
        let zone = |hours| TimeZone::fixed(Offset::constant(hours));
        assert_eq!(
            [day(at, &zone(0)), day(at, &zone(15)), day(at, &zone(-10))],
            ["2025-11-15", "2025-11-16", "2025-11-14"]
        );
    }

    #[test]
    fn lengths_read_as_people_say_them() {
        assert_eq!([length(999), length(185_000), length(7_800_000)], ["0s", "3m 05s", "2h 10m"]);
        assert_eq!([length(172_799_000), length(3_031_980_000)], ["47h 59m", "35d 02h"]);
        assert_eq!([took(4), took(350), took(3_900), took(61_000)], ["0.1 s", "0.3 s", "3 s", "1m 01s"]);
    }
}
