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
const SAID: &str = r"(?:resets?|again|until|available|renews?|refresh(?:es)?|replenish(?:es|ed)?|restored)(?: daily| weekly| monthly| automatically| again)?";

/// A day by its name.
const NAMED_DAY: &str =
    r"(today|tomorrow|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b)\.?";

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
    let time = r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?";
    Regex::new(&format!(r"\b{SAID}(?: on| at)?:? {}{time}{ZONE}", *NAMED_OR_DATED))
        .expect("a pattern of ours")
});

/// What may stand before the time: the day by its name, and its date.
static NAMED_OR_DATED: LazyLock<String> = LazyLock::new(|| {
    let date = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?";
    format!("(?:{NAMED_DAY},?(?: at)? )?{date}")
});

/// The same with 24 hours.
static CLOCK_24: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(
        r"\b{SAID}(?: on| at)?:? {}(\d{{1,2}}):(\d{{2}})()(?::\d{{2}})?{ZONE}",
        *NAMED_OR_DATED
    ))
    .expect("a pattern of ours")
});

/// A day without a time: `resets on November 23`, `until 2026-11-23`, `reset on 11/23`.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let day = r"(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?|(\d{4}-\d{2}-\d{2})|on (\d{1,2})/(\d{1,2})(?:/(\d{4}))?)\b";
    Regex::new(&format!(r"\b{SAID}(?: on)?:? {day}")).expect("a pattern of ours")
});

/// A moment as programs write it: `2026-11-18T03:00:00Z`, `2026-11-18 03:00:00 +00:00`.
static MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    let row = r"\b(?:resets?|reset|again|until|available|after|renews?|replenish(?:es|ed)?|restored|access)\b[\w ]{0,12}[:=]?\W{0,3}(\d{4}-\d{2}-\d{2})(?:t| at | )(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)? ?(z\b|utc|gmt|[+-]\d{2}:?\d{2}|[a-z]{2,8}\b|\([a-z_/]{2,40}\))?";
    Regex::new(row).expect("a pattern of ours")
});

/// A day by its name alone: `resets on Monday`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\b{SAID}(?: on| at)?:? (?:the )?{NAMED_DAY}(?:\W|$)")).expect("a pattern of ours")
});

/// A day by its name behind the time: `resets at 9am on Friday`.
static NAMED_BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    let zone = r"(?:\.?m\b\.?)?(?::\d{2})?(?: \([^)]{1,40}\)| [a-z]{2,4}\b)?";
    Regex::new(&format!(r"^{zone},?(?: on)? {NAMED_DAY}")).expect("a pattern of ours")
});

/// A moment as HTTP writes it: `Sat, 21 Nov 2026 00:00:00 GMT`.
static HTTP_DATE: LazyLock<Regex> = LazyLock::new(|| {
    let row = r"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?(\d{1,2})[ -](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -](\d{4}),?(?: at)? (\d{2}:\d{2})";
    Regex::new(row).expect("a pattern of ours")
});

/// Words for a time, in whatever form.
static ANY_TIME: LazyLock<Regex> = LazyLock::new(|| {
    let time = r"\d{1,2}:\d{2}|\d{4}-\d{2}|\d ?[ap]\.?m\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\bnoon\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d";
    Regex::new(&format!(r"\b(?:{SAID}|after)\b[^.;!?]{{0,24}}?(?:{time})")).expect("a pattern of ours")
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

/// Whether a text says when to try again, in words that may be readable or not. The text is in lower case with
/// single spaces.
pub(super) fn is_named(text: &str) -> bool {
    ANY_TIME.is_match(text)
}

/// Returns until when the limit of this text lasts. The text is in lower case with single spaces.
pub(super) fn until(text: &str, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    // Midnight is the beginning of the day that the zone beside it has.
    let text = &text.replace("midnight", "12am");
    let text = &HTTP_DATE.replace_all(text, |found: &Captures<'_>| {
        let month = month_of(&found[2]).unwrap_or(1);
        format!("{}-{month:02}-{:0>2} {}", &found[3], &found[1], &found[4])
    });
    if let Some(found) = EPOCH.captures(text) {
        return Some(settle(epoch(found[1].parse().ok()?)?, now));
    }
    if let Some(found) = CLOCK.captures(text) {
        return by_clock(&found, text, now, local);
    }
    if let Some(found) = MOMENT.captures(text) {
        return by_moment(&found, now, local);
    }
    if let Some(found) = CLOCK_24.captures(text) {
        return by_clock(&found, text, now, local);
    }
    let Some(found) = LENGTH.captures(text) else {
        if let Some(found) = HEADER.captures(text) {
            let seconds: Millis = found[1].parse().ok()?;
            return Some(now.plus(seconds.saturating_mul(1000)));
        }
        return match DATE.captures(text) {
            Some(found) => by_date(&found, now, local),
            None => by_named_day(&NAMED.captures(text)?[1], now, local),
        };
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

fn by_clock(found: &Captures<'_>, text: &str, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    let part = |index: usize| found.get(index).map(|it| it.as_str());
    let number = |index: usize| part(index).and_then(|it| it.parse::<i16>().ok());
    let hour = match part(7)? {
        "" => number(5)?,
        half => number(5).filter(|it| (1..=12).contains(it))? % 12 + if half == "p" { 12 } else { 0 },
    };
    let minute = number(6).unwrap_or(0);
    let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
    let called = part(11).and_then(|it| CALLED.iter().find(|called| called.0 == it));
    let zone = match (part(8).or(called.map(|it| it.1)), part(9)) {
        (Some(name), _) => zone_named(name).unwrap_or_else(|| local.clone()),
        (None, Some(hours)) => {
            let hours: i32 = hours.parse().ok()?;
            let minutes: i32 = part(10).and_then(|it| it.parse().ok()).unwrap_or(0);
            Offset::from_seconds(hours * 3600 + hours.signum() * minutes * 60).ok()?.to_time_zone()
        }
        (None, None) if found[0].ends_with("utc") || found[0].ends_with("gmt") => TimeZone::UTC,
        (None, None) => local.clone(),
    };
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone()).date();
    let behind = found.get(7).map_or("", |it| &text[it.end()..]);
    let named = part(1).map(str::to_owned).or_else(|| Some(NAMED_BEHIND.captures(behind)?[1].to_owned()));
    let is_dated = part(2).is_some() || named.as_deref().is_some_and(|it| it != "today");
    let days = match (part(2), named.as_deref()) {
        (Some(month), _) => dates(month, number(3)?, number(4), today)?,
        (None, Some("tomorrow")) => shifted(today, 1.days()).into_iter().collect(),
        (None, Some(day)) if is_dated => days_named(day, today).collect(),
        (None, _) => (-1..=2).filter_map(|it| shifted(today, it.days())).collect(),
    };
    // A day on which a clock is set back has 25 hours.
    let window = stated(text).unwrap_or(if is_dated { LONGEST } else { DAY + HOUR });
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

/// The days of this name, from yesterday on: one may be today, and over.
fn days_named(name: &str, today: Date) -> impl Iterator<Item = Date> + use<> {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let offset = days.iter().position(|it| name.starts_with(it)).and_then(|it| i8::try_from(it).ok());
    (-1..=7)
        .filter_map(move |it| shifted(today, it.days()))
        .filter(move |it| offset.is_some_and(|offset| it.weekday().to_monday_zero_offset() == offset))
}

/// Returns the beginning of a day that is told by its name.
fn by_named_day(name: &str, now: Timestamp, local: &TimeZone) -> Option<Timestamp> {
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(local.clone()).date();
    let days: Vec<Date> = match name {
        "tomorrow" => shifted(today, 1.days()).into_iter().collect(),
        name => days_named(name, today).collect(),
    };
    let mut begins = days.into_iter().flat_map(|it| moments(local, it.to_datetime(Time::midnight())));
    begins.find(|it| now < *it)
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
        Some(zone) if !zone.starts_with(['+', '-']) => {
            let zone = zone.trim_matches(['(', ')']);
            let called = CALLED.iter().find(|called| called.0 == zone).map_or(zone, |it| it.1);
            zone_named(called).unwrap_or_else(|| local.clone())
        }
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
    Some(of_years(month_of(month)?, i8::try_from(day).ok()?, year, today))
}

fn month_of(name: &str) -> Option<i8> {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    i8::try_from(months.iter().position(|it| *it == name)? + 1).ok()
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
