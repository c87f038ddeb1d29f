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

/// What may follow a time: a zone in brackets, one by its distance from Greenwich, or one as people call it.
const ZONE: &str =
    r"(?: \(([^)]{1,40})\)| (?:gmt|utc)([+-]\d{1,2})?(?::?(\d{2}))?| ([a-z]{2,8})\b(?: time\b)?)?";

/// What stands before a time.
const SAID: &str = r"(?:resets?|again|until|available|renews?|refresh(?:es)?)(?: daily| weekly| monthly| automatically| again)?";

/// Zones as people call them; those that name several zones are none.
const CALLED: [(&str, &str); 21] = [
    ("pt", "America/Los_Angeles"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("pacific", "America/Los_Angeles"),
    ("mt", "America/Denver"),
    ("mst", "America/Denver"),
    ("mdt", "America/Denver"),
    ("mountain", "America/Denver"),
    ("ct", "America/Chicago"),
    ("cdt", "America/Chicago"),
    ("central", "America/Chicago"),
    ("et", "America/New_York"),
    ("est", "America/New_York"),
    ("edt", "America/New_York"),
    ("eastern", "America/New_York"),
    ("cet", "Europe/Paris"),
    ("cest", "Europe/Paris"),
    ("jst", "Asia/Tokyo"),
    ("kst", "Asia/Seoul"),
    ("sgt", "Asia/Singapore"),
    ("z", "UTC"),
];

static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?";
    let time = r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?";
    Regex::new(&format!(r"\b{SAID}(?: on| at)?:? {date}{time}{ZONE}")).expect("a pattern of ours")
});

/// The same with 24 hours.
static CLOCK_24: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?";
    Regex::new(&format!(r"\b{SAID}(?: on| at)?:? {date}(\d{{1,2}}):(\d{{2}})()(?::\d{{2}})?{ZONE}"))
        .expect("a pattern of ours")
});

/// A day without a time: `resets on November 23`, `until 2026-11-23`, `reset on 11/23`.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let day = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?|(\d{4}-\d{2}-\d{2})|on (\d{1,2})/(\d{1,2})(?:/(\d{4}))?)\b";
    Regex::new(&format!(r"\b{SAID}(?: on)?:? {day}")).expect("a pattern of ours")
});

/// A moment as programs write it: `2026-11-18T03:00:00Z`, `2026-11-18 03:00:00 +00:00`.
static MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    let row = r"\b(?:resets?|reset|again|until|available|after|renews?|access)\b[\w ]{0,12}[:=]?\W{0,3}(\d{4}-\d{2}-\d{2})(?:t| at | )(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)? ?(z\b|utc|gmt|[+-]\d{2}:?\d{2})?";
    Regex::new(row).expect("a pattern of ours")
});

/// What a header says, in seconds.
static HEADER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bretry[-_ ]after[-_ s]*\W{1,4}(\d{1,6})\b").expect("a pattern of ours"));

static LENGTH: LazyLock<Regex> = LazyLock::new(|| {
    let unit = r"\d+(?:\.\d+)? ?(?:milliseconds?|ms|weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b";
    let glued = r"(?:\d+(?:\.\d+)?[wdhm])+\d+(?:\.\d+)?(?:h|ms|m|s)\b";
    let about = r"(?:about |around |approximately |roughly |at least |~ ?)?";
    Regex::new(&format!(
        r"\b(?:in|after|wait|for|another):? {about}((?:(?:{glued}|{unit})[ ,]*(?:and )?)+|an? (?:minute|hour|day|week)\b)"
    ))
    .expect("a pattern of ours")
});

static EPOCH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\|(\d{10,13})\b").expect("a pattern of ours"));

/// Returns the zone of this IANA name.
pub(crate) fn zone_named(name: &str) -> Option<TimeZone> {
    ZONES.get(name.trim_start_matches(':')).ok()
}

/// Returns until when the limit of this text lasts. The text is in lower case with single spaces.
pub(super) fn until(text: &str, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    // Midnight is the beginning of the day that the zone beside it has.
    let text = &text.replace("midnight", "12am");
    if let Some(found) = EPOCH.captures(text) {
        return Some(settle(epoch(found[1].parse().ok()?)?, now));
    }
    if let Some(found) = CLOCK.captures(text) {
        return by_clock(&found, stated(text), now, local);
    }
    if let Some(found) = MOMENT.captures(text) {
        return by_moment(&found, now, local);
    }
    if let Some(found) = CLOCK_24.captures(text) {
        return by_clock(&found, stated(text), now, local);
    }
    let Some(found) = LENGTH.captures(text) else {
        if let Some(found) = HEADER.captures(text) {
            let seconds: Millis = found[1].parse().ok()?;
            return Some(now.plus(seconds.saturating_mul(1000)));
        }
        return by_date(&DATE.captures(text)?, now, local);
    };
    let told = &found[1].replace("an ", "1 ").replace("a ", "1 ");
    let (length, finest) = length(told);
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
    let hour = match part(6)? {
        "" => number(4)?,
        half => number(4).filter(|it| (1..=12).contains(it))? % 12 + if half == "p" { 12 } else { 0 },
    };
    let minute = number(5).unwrap_or(0);
    let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
    let called = part(10).and_then(|it| CALLED.iter().find(|called| called.0 == it));
    let zone = match (part(7).or(called.map(|it| it.1)), part(8)) {
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

/// Returns the beginning of a day that is still ahead; nobody knows a better moment of it.
fn by_date(found: &Captures<'_>, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    let part = |index: usize| found.get(index).map(|it| it.as_str());
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(local.clone()).date();
    let days = match (part(4), part(5)) {
        (Some(day), _) => vec![day.parse().ok()?],
        (None, Some(month)) => numbered(month.parse().ok()?, part(6)?.parse().ok()?, part(7), today),
        (None, None) => {
            dates(part(1)?, part(2)?.parse().ok()?, part(3).and_then(|it| it.parse().ok()), today)?
        }
    };
    let mut begins = days.into_iter().flat_map(|it| moments(local, it.to_datetime(Time::midnight())));
    begins.find(|it| now < *it).filter(|it| *it <= now.plus(LONGEST))
}

fn by_moment(found: &Captures<'_>, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    let wall: DateTime = format!("{}T{}", &found[1], &found[2]).parse().ok()?;
    let zone = match found.get(3).map(|it| it.as_str()) {
        None => local.clone(),
        Some("z" | "utc" | "gmt") => TimeZone::UTC,
        Some(offset) => {
            let (hours, minutes) =
                offset.replace(':', "").split_at_checked(3).map(|it| (it.0.to_owned(), it.1.to_owned()))?;
            let hours: i32 = hours.parse().ok()?;
            let minutes: i32 = minutes.parse().ok()?;
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            Offset::from_seconds(hours * 3600 + sign * minutes * 60).ok()?.to_time_zone()
        }
    };
    let moment = moments(&zone, wall).into_iter().last()?;
    // Without seconds it may be the end of the minute.
    let finest = if found[2].len() == 5 { MINUTE - 1000 } else { 999 };
    Some(settle(moment.plus(finest), now))
}

fn shifted(day: Date, by: Span) -> Option<Date> {
    day.checked_add(by).ok()
}

/// The days that a month and a day may mean.
fn dates(month: &str, day: i16, year: Option<i16>, today: Date) -> Option<Vec<Date>> {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = i8::try_from(months.iter().position(|it| *it == month)? + 1).ok()?;
    Some(of_years(month, i8::try_from(day).ok()?, year, today))
}

/// The days that `08/01` may mean: the services that write so write the month first.
fn numbered(first: i8, second: i8, year: Option<&str>, today: Date) -> Vec<Date> {
    let (month, day) = if 12 < first { (second, first) } else { (first, second) };
    of_years(month, day, year.and_then(|it| it.parse().ok()), today)
}

fn of_years(month: i8, day: i8, year: Option<i16>, today: Date) -> Vec<Date> {
    let years = match year {
        Some(year) => year..=year,
        None => today.year() - 1..=today.year() + 1,
    };
    years.filter_map(|year| Date::new(year, month, day).ok()).collect()
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
            it if it.starts_with('w') => 7 * DAY,
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
