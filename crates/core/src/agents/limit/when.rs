//! Reads until when a limit lasts, from words like `resets Nov 18, 8:26am (Europe/Paris)`, `try again
//! at 9:28 AM`, `in 2 days 17 hours`, `|1760000400`. A time without a day is its next occurrence, a
//! day without a year too. Zones are looked up in the database that is part of this program: a small
//! machine has none, and reading one would be none of this layer's business.

use crate::workflow::model::Millis;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Span, ToSpan};
use loop_base::time::Timestamp;
use regex_lite::{Captures, Regex};
use std::sync::LazyLock;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// No plan has a window longer than a month; what seems to lie further ahead lies behind.
const LONGEST: Millis = 32 * DAY;

/// How long after a moment a message may still name it: the agent wrote it, tried again some times,
/// and ended.
const LATE: Millis = 5 * MINUTE;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?";
    let time = r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?";
    let zone = r"(?: \(([^)]{1,40})\)| (?:gmt|utc)([+-]\d{1,2})?(?::?(\d{2}))?)?";
    Regex::new(&format!(r"\b(?:resets?|reset|again)(?: on| at)? {date}{time}{zone}"))
        .expect("a pattern of ours")
});

static LENGTH: LazyLock<Regex> = LazyLock::new(|| {
    let unit = r"\d+(?:\.\d+)? ?(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)";
    Regex::new(&format!(r"\b(?:in|after) ((?:{unit}[ ,]*(?:and )?)+)")).expect("a pattern of ours")
});

static EPOCH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\|(\d{10,13})\b").expect("a pattern of ours"));

/// Returns the zone of this IANA name.
pub(crate) fn zone_named(name: &str) -> Option<TimeZone> {
    ZONES.get(name.trim_start_matches(':')).ok()
}

/// Returns until when the limit of this text lasts. The text is in lower case with single spaces.
pub(super) fn until(text: &str, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    if let Some(found) = EPOCH.captures(text) {
        return Some(settle(epoch(found[1].parse().ok()?)?, now));
    }
    if let Some(found) = CLOCK.captures(text) {
        return by_clock(&found, stated(text), now, local);
    }
    let found = LENGTH.captures(text)?;
    let (length, finest) = length(&found[1]);
    // Two days and three hours may be any number of minutes more; what is told in seconds was rounded too.
    Some(now.plus(length.saturating_add(finest.min(MINUTE))))
}

/// Returns a moment given in seconds of UTC since 1970, or in milliseconds.
pub(super) fn epoch(number: i64) -> Option<Timestamp> {
    let millis = if number < 100_000_000_000 { number.checked_mul(1000)? } else { number };
    (0 < millis).then_some(Timestamp(millis))
}

/// Returns the moment as it was told, however far it is; one that is over is a minute ahead.
pub(super) fn settle(moment: Timestamp, now: Timestamp) -> Timestamp {
    if moment <= now {
        // It is over by our clock, but the provider just said that it is not. Times are told to the
        // minute, so one minute later is the best guess.
        return now.plus(MINUTE);
    }
    moment
}

/// The window that the words name.
fn stated(text: &str) -> Option<Millis> {
    let windows = [
        ("5-hour", 5 * HOUR),
        ("session limit", 5 * HOUR),
        ("daily", DAY),
        ("weekly", 7 * DAY),
        ("opus limit", 7 * DAY),
        ("sonnet limit", 7 * DAY),
        ("fable limit", 7 * DAY),
    ];
    windows.iter().find(|(word, _)| text.contains(word)).map(|(_, window)| *window)
}

fn by_clock(
    found: &Captures<'_>,
    stated: Option<Millis>,
    now: Timestamp,
    local: &TimeZone,
) -> Option<Timestamp> {
    let part = |index: usize| found.get(index).map(|it| it.as_str());
    let number = |index: usize| part(index).and_then(|it| it.parse::<i16>().ok());
    let hour = number(4).filter(|it| (1..=12).contains(it))? % 12;
    let hour = if part(6) == Some("p") { hour + 12 } else { hour };
    let minute = number(5).unwrap_or(0);
    let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
    let zone = match (part(7), part(8)) {
        (Some(name), _) => zone_named(name).unwrap_or_else(|| local.clone()),
        (None, Some(hours)) => {
            let hours: i32 = hours.parse().ok()?;
            let minutes: i32 = part(9).and_then(|it| it.parse().ok()).unwrap_or(0);
            Offset::from_seconds(hours * 3600 + hours.signum() * minutes * 60).ok()?.to_time_zone()
        }
        (None, None) if found[0].ends_with("utc") || found[0].ends_with("gmt") => TimeZone::UTC,
        (None, None) => local.clone(),
    };
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone()).date();
    let is_dated = part(1).is_some();
    let days = match part(1) {
        None => (-1..=2).filter_map(|it| shifted(today, it.days())).collect(),
        Some(month) => dates(month, number(2)?, number(3), today)?,
    };
    // A day on which a clock is set back has 25 hours.
    let window = stated.unwrap_or(if is_dated { LONGEST } else { DAY + HOUR });
    let mut moments = days.into_iter().flat_map(|day| moments(&zone, day.to_datetime(time)));
    let earliest = Timestamp(now.0 - LATE as i64);
    let next = moments.find(|it| earliest < *it);
    let is_over = next.is_none_or(|next| match is_dated {
        // It cannot be that far ahead, so it lies behind us: the year, or the day, before.
        true => now.plus(LONGEST) < next,
        false => now.plus(window) < next && now.since(Timestamp(next.0 - DAY as i64)) <= HOUR,
    });
    // A clock without seconds shows the minute that has begun, so the moment may be its end.
    Some(settle(next.filter(|_| !is_over).map_or(now, |it| it.plus(MINUTE - 1000)), now))
}

fn shifted(day: Date, by: Span) -> Option<Date> {
    day.checked_add(by).ok()
}

/// The days that a month and a day may mean.
fn dates(month: &str, day: i16, year: Option<i16>, today: Date) -> Option<Vec<Date>> {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = i8::try_from(months.iter().position(|it| *it == month)? + 1).ok()?;
    let day = i8::try_from(day).ok()?;
    let years = match year {
        Some(year) => year..=year,
        None => today.year() - 1..=today.year() + 1,
    };
    Some(years.filter_map(|year| Date::new(year, month, day).ok()).collect())
}

/// The moments at which a clock on the wall shows this: two when it is set back, and when it is set
/// forward over it, the one that it would have been.
fn moments(zone: &TimeZone, wall: DateTime) -> Vec<Timestamp> {
    let there = zone.to_ambiguous_timestamp(wall);
    let found = match there.offset() {
        AmbiguousOffset::Fold { .. } => vec![there.earlier(), there.later()],
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => vec![there.compatible()],
    };
    found.into_iter().flatten().map(|it| Timestamp(it.as_millisecond())).collect()
}

/// Adds up numbers with units, `2 days 17 hours 14 minutes` or `8h44m7s`; also the finest unit.
fn length(text: &str) -> (Millis, Millis) {
    let (mut total, mut finest) = (0.0, DAY);
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        let number = &rest[start..];
        let end = number.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(number.len());
        let unit = number[end..].trim_start();
        let unit_end = unit.find(|it: char| !it.is_ascii_lowercase()).unwrap_or(unit.len());
        let factor = match &unit[..unit_end] {
            "ms" | "millisecond" | "milliseconds" => 1,
            it if it.starts_with('d') => DAY,
            it if it.starts_with('h') => HOUR,
            it if it.starts_with('m') => MINUTE,
            _ => 1000,
        };
        finest = finest.min(factor);
        total += number[..end].trim_end_matches('.').parse().unwrap_or(0.0) * factor as f64;
        rest = &unit[unit_end..];
    }
    (f64::ceil(total) as Millis, finest)
}
