//! The corpus of limit texts and the arithmetic of their times, both through the reader: a text
//! stands where an agent's program would put it.

use super::row;
use crate::agent_table::{AgentRow, AgentTable, Stream};
use crate::agents::limit::zone_named;
use crate::agents::{AgentOutput, CallExit, Limit, StreamReader};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use loop_base::time::Timestamp;
use serde_json::json;

pub(super) fn at(time: &str) -> Timestamp {
    Timestamp(time.parse::<jiff::Timestamp>().expect("a moment").as_millisecond())
}

fn finish(reader: StreamReader, exit: i32, now: Timestamp, zone: &TimeZone) -> AgentOutput {
    reader.finish(&CallExit { exit: Some(exit), complaints: "", rollout: "", now, zone })
}

/// The text as the reason that the agent's program gives for a failure.
pub(super) fn failed(cli: &'static AgentRow, text: &str, now: Timestamp, zone: &TimeZone) -> AgentOutput {
    let event = match cli.stream {
        Stream::Claude => json!({"type": "result", "subtype": "success", "is_error": true, "result": text}),
        Stream::Codex => json!({"type": "turn.failed", "error": {"message": text}}),
        Stream::Gemini => {
            json!({"type": "result", "status": "error", "error": {"message": format!("[API Error: {text}]")}})
        }
        Stream::Opencode => {
            json!({"type": "error", "error": {"name": "APIError", "data": {"message": text}}})
        }
        Stream::Text | Stream::Described(_) => unreachable!("not asked for"),
    };
    let mut reader = StreamReader::new(cli);
    reader.bytes(format!("{event}\n").as_bytes());
    finish(reader, 1, now, zone)
}

/// The text as the agent's message and as the output of a tool, in a call that failed for no reason
/// that was told.
fn talked(cli: &'static AgentRow, text: &str, now: Timestamp) -> AgentOutput {
    let events = match cli.stream {
        Stream::Claude => vec![
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, "parent_tool_use_id": null}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": text}]}}),
            json!({"type": "result", "subtype": "success", "is_error": false, "result": text}),
        ],
        Stream::Codex => vec![
            json!({"type": "item.completed", "item": {"type": "command_execution", "command": "cat", "aggregated_output": text}}),
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
        ],
        Stream::Gemini => vec![
            json!({"type": "tool_result", "output": text}),
            json!({"type": "message", "role": "assistant", "content": text, "delta": true}),
        ],
        Stream::Opencode => vec![
            json!({"type": "tool_use", "part": {"tool": "bash", "state": {"output": text}}}),
            json!({"type": "text", "part": {"text": text}}),
        ],
        Stream::Text | Stream::Described(_) => unreachable!("not asked for"),
    };
    let mut reader = StreamReader::new(cli);
    for event in events {
        reader.bytes(format!("{event}\n").as_bytes());
    }
    finish(reader, 1, now, &TimeZone::UTC)
}

/// The agents that have a reader of their own.
pub(super) fn readers() -> impl Iterator<Item = &'static AgentRow> {
    AgentTable::default().detected().filter(|it| !matches!(it.stream, Stream::Described(_)))
}

fn clis(name: &str) -> Vec<&'static AgentRow> {
    readers().filter(|it| name == "any" || name == it.name).collect()
}

fn corpus() -> Vec<(bool, &'static AgentRow, String)> {
    let text = include_str!("../../../../../tests/fixtures/agents/limits.tsv");
    let lines = text.lines().map(|it| it.split('\t').collect::<Vec<_>>());
    lines
        .flat_map(|it| clis(it[1]).into_iter().map(move |cli| (it[0] == "pos", cli, it[2].to_owned())))
        .collect()
}

#[test]
fn the_corpus_is_judged_right() {
    let now = at("2026-05-10T12:00:00Z");
    let local = zone_named("America/Sao_Paulo").expect("a zone");
    let mut out = String::new();
    for (is_limit, cli, text) in corpus() {
        let said = if text.starts_with('{') {
            let mut reader = StreamReader::new(cli);
            reader.line(text.as_bytes(), false);
            finish(reader, 1, now, &local)
        } else {
            failed(cli, &text, now, &local)
        };
        assert_eq!(said.limit.is_some(), is_limit, "{} {text}", cli.name);
        assert_eq!(talked(cli, &text, now).limit, None, "{} {text}", cli.name);
        if let Some(limit) = said.limit {
            let until = limit.until(now).map(|it| it.to_string()).unwrap_or_default();
            let kind = format!("{limit:?}");
            let kind = kind.split(' ').next().unwrap_or_default();
            out.push_str(&format!("{:<8} {kind:<14} {until:<20} {text}\n", cli.name));
        }
    }
    insta::assert_snapshot!(out);
}

/// Agent, when it said so, its own zone, until when that is, and what it said.
#[rustfmt::skip]
const TIMES: &[(&str, &str, &str, &str, &str)] = &[
    // As recorded from 2.1.325 and 2.1.197.
    ("claude", "2026-11-15T07:00:00Z", "UTC", "2026-11-15T09:36:00Z",
        "You've hit your 5-hour limit · resets 10:36am (Europe/Paris)"),
    ("claude", "2026-11-15T07:00:00Z", "UTC", "2026-11-18T07:26:00Z",
        "You've hit your weekly limit · resets Nov 18, 8:26am (Europe/Paris)"),
    ("claude", "2026-11-15T07:00:00Z", "UTC", "2026-11-18T07:26:00Z",
        "You've hit your Fable limit · resets Nov 18, 8:26am (Europe/Paris). Switch to another model to continue."),
    ("claude", "2026-11-15T07:00:00Z", "UTC", "2026-11-18T06:57:00Z",
        "You've hit your weekly limit · resets Nov 17, 10:57pm (America/Los_Angeles)"),
    ("claude", "2026-12-29T07:00:00Z", "UTC", "2027-01-02T08:00:00Z",
        "You've hit your weekly limit · resets Jan 2, 2027, 8am (UTC)"),
    ("claude", "2026-12-29T07:00:00Z", "UTC", "2027-01-02T08:00:00Z",
        "You've hit your weekly limit · resets Jan 2, 8am (UTC)"),
    ("claude", "2026-02-01T07:00:00Z", "UTC", "2026-02-04T19:00:00Z",
        "You're out of extra usage · resets Feb 4, 8pm (Europe/Budapest)"),
    ("claude", "2026-09-12T07:00:00Z", "Europe/Paris", "2026-09-15T17:00:00Z",
        "You've hit your weekly limit · resets Sep 15 at 7pm"),
    ("claude", "2026-07-01T12:00:00Z", "UTC", "2026-07-01T14:00:00Z",
        "Claude usage limit reached. Your limit will reset at 9am (America/Chicago)."),
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-01T13:00:00Z",
        "5-hour limit reached · resets 3pm (Europe/Stockholm) · /upgrade to increase"),
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-02T01:00:00Z",
        "Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade"),
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-02T08:00:00Z",
        "You've hit your limit · resets 4pm (Asia/Kuala_Lumpur)"),
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-31T00:00:00Z",
        "You've hit your org's monthly usage limit · resets Jul 31, 12am (UTC)"),
    ("claude", "2025-12-23T12:00:00Z", "UTC", "2025-12-23T15:00:00Z",
        "Claude AI usage limit reached|1766502000"),
    // Midnight and noon.
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-02T00:00:00Z",
        "You've hit your limit · resets 12am (UTC)"),
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-01T12:30:00Z",
        "You've hit your limit · resets 12:30pm (UTC)"),
    // A zone that nobody knows is the agent's own.
    ("claude", "2026-07-01T09:00:00Z", "Europe/Paris", "2026-07-01T12:00:00Z",
        "You've hit your limit · resets 2pm (Mars/Olympus)"),
    // Just over: in a minute, not tomorrow.
    ("claude", "2026-07-01T09:07:20Z", "UTC", "2026-07-01T09:07:59Z",
        "You've hit your session limit · resets 9:07am (UTC)"),
    ("claude", "2026-07-01T09:40:00Z", "UTC", "2026-07-01T09:41:00Z",
        "You've hit your session limit · resets 9:07am (UTC)"),
    ("claude", "2026-07-01T09:40:00Z", "UTC", "2026-07-01T09:41:00Z",
        "You've hit your weekly limit · resets Jun 30, 9am (UTC)"),
    // As it was told, however far: a session of fourteen hours is the provider's business.
    ("claude", "2026-07-01T19:00:00Z", "UTC", "2026-07-02T09:00:00Z",
        "You've hit your session limit · resets 9am (UTC)"),
    // Codex: local time without a zone, a day only when it is not today.
    ("codex", "2026-11-15T07:00:00Z", "Europe/Paris", "2026-11-15T08:28:00Z",
        "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 9:28 AM."),
    ("codex", "2026-11-15T07:00:00Z", "UTC", "2026-11-15T14:57:00Z",
        "You've hit your usage limit. Try again at 2:57\u{202f}PM."),
    ("codex", "2026-11-15T07:00:00Z", "Asia/Kolkata", "2026-11-19T16:35:00Z",
        "You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 19th, 2026 10:05 PM."),
    ("codex", "2026-03-27T07:00:00Z", "Europe/Paris", "2026-04-02T05:11:00Z",
        "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes."),
    ("codex", "2026-03-27T07:00:00Z", "UTC", "2026-03-27T07:00:11Z",
        "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 11.5s. Visit https://platform.openai.com"),
    // Zones as people call them, half a day's beginning, and a day without a time.
    ("claude", "2026-07-01T09:00:00Z", "UTC", "2026-07-01T22:00:00Z",
        "You've hit your session limit · resets 3pm PT"),
    ("codex", "2026-12-01T09:00:00Z", "Asia/Tokyo", "2026-12-02T08:00:00Z",
        "You've hit your usage limit. It resets at midnight Pacific time."),
    ("codex", "2026-11-15T07:00:00Z", "Europe/Paris", "2026-11-22T23:00:00Z",
        "You've reached your monthly limit. Your limit resets on November 23."),
    ("codex", "2026-11-15T07:00:00Z", "UTC", "2026-11-15T07:02:27Z",
        "Rate limit reached. Please try again later. Resets in: 2m27s"),
    ("codex", "2026-11-15T07:00:00Z", "UTC", "2026-11-15T08:00:00Z",
        "Rate limit reached. Try again in about an hour."),
    ("codex", "2026-11-15T07:00:00Z", "UTC", "2026-12-06T07:00:00Z",
        "You've hit your usage limit. Try again in 3 weeks."),
    ("gemini", "2026-03-27T07:00:00Z", "UTC", "2026-03-27T15:44:07Z",
        "You have exhausted your capacity on this model. Your quota will reset after 8h44m7s."),
    ("gemini", "2026-03-27T07:00:00Z", "UTC", "2026-03-28T01:57:00Z",
        "Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3."),
    ("gemini", "2026-03-27T07:00:00Z", "UTC", "2026-03-27T09:00:00Z",
        "Resource has been exhausted (e.g. check quota).\nSuggested retry after 7200s."),
    ("codex", "2026-07-15T12:00:00Z", "UTC", "2026-08-01T00:00:00Z",
        "Monthly request limit reached - The limits reset on 08/01"),
];

#[test]
fn times_are_read_as_they_are_meant() {
    for (cli, now, local, until, text) in TIMES {
        let now = at(now);
        let said = failed(row(cli), text, now, &zone_named(local).expect("a zone"));
        let found = said.limit.unwrap_or_else(|| panic!("no limit in {text}")).until(now);
        // A clock shows the minute that has begun, so the wait ends when that minute does.
        let late = found.map(|it| it.0 - at(until).0);
        assert!(late.is_some_and(|it| (0..=60_000).contains(&it)), "{text} at {now}: {found:?}");
    }
}

/// Half hours, both hemispheres, and rules of every kind.
const ZONES: [&str; 12] = [
    "UTC",
    "Europe/Paris",
    "Europe/London",
    "America/New_York",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Africa/Cairo",
];

/// When clocks change in one of them, and the end of a year.
const DAYS: [&str; 9] = [
    "2026-03-08",
    "2026-03-29",
    "2026-04-05",
    "2026-04-24",
    "2026-10-04",
    "2026-10-25",
    "2026-10-29",
    "2026-11-01",
    "2026-12-31",
];

/// In every zone, on the days when clocks change and on those around them.
#[test]
fn times_are_right_to_the_minute_when_clocks_change() {
    let mut checked = 0;
    for name in ZONES {
        let zone = zone_named(name).expect("a zone");
        for day in DAYS {
            let noon: jiff::Timestamp = format!("{day}T00:00:00Z").parse().expect("a day");
            for step in (-720..2160).step_by(53) {
                let reset = noon.checked_add(step.minutes()).expect("a moment").to_zoned(zone.clone());
                for (ahead_minutes, text) in [
                    (1, session(&reset)),
                    (299, session(&reset)),
                    (1500, weekly(&reset)),
                    (10_000, weekly(&reset)),
                ] {
                    let now = Timestamp(reset.timestamp().as_millisecond() - ahead_minutes * 60_000 - 7_000);
                    let limit = failed(row("claude"), &text, now, &TimeZone::UTC).limit.expect("a limit");
                    let Limit::Plan { until: Some(until) } = limit else { panic!("{text}: {limit:?}") };
                    // The same words mean two moments when a clock is set back; the first that is
                    // still ahead is taken.
                    let wrong = (until.0 - reset.timestamp().as_millisecond()).abs();
                    let twice = zone.to_ambiguous_timestamp(reset.datetime());
                    let is_other = twice.is_ambiguous()
                        && twice.earlier().is_ok_and(|it| it.as_millisecond() / 60_000 == until.0 / 60_000);
                    let is_early = until.0 < reset.timestamp().as_millisecond();
                    assert!(!is_early || is_other, "{text} at {now}: {until} is early");
                    assert!(wrong < 60_000 || is_other, "{text} at {now}: {until}, wrong by {wrong} ms");
                    checked += 1;
                }
            }
        }
    }
    assert!(20_000 < checked, "{checked}");
}

fn session(reset: &Zoned) -> String {
    let zone = reset.time_zone().iana_name().unwrap_or("UTC");
    let clock = reset.strftime("%-I:%M%p").to_string().to_lowercase().replace(":00", "");
    format!("You've hit your 5-hour limit · resets {clock} ({zone})")
}

fn weekly(reset: &Zoned) -> String {
    session(reset)
        .replace("5-hour", "weekly")
        .replace("resets ", &reset.strftime("resets %b %-d, ").to_string())
}

/// The wordings that agents use or used, with `WHEN` where the moment stands and how it is written.
fn wordings() -> Vec<(&'static AgentRow, String, bool)> {
    let mut all = Vec::new();
    for limit in [
        "5-hour limit",
        "session limit",
        "limit",
        "usage limit",
        "weekly limit",
        "Opus limit",
        "Sonnet limit",
    ] {
        all.push((row("claude"), format!("You've hit your {limit} · resets WHEN")));
        all.push((row("claude"), format!("You’ve reached your {limit} · resets WHEN")));
    }
    for text in [
        "You've hit your Fable limit · resets WHEN. Switch to another model to continue.",
        "You've hit your org's monthly usage limit · resets WHEN",
        "You're out of extra usage · resets WHEN",
        "You're out of usage credits · resets WHEN",
        "Claude usage limit reached. Your limit will reset at WHEN.",
        "5-hour limit reached · resets WHEN · /upgrade to increase",
        "Session limit reached · resets WHEN",
        "Weekly limit reached · resets WHEN · /upgrade",
        "Opus weekly limit reached · resets WHEN",
        "Sonnet limit reached · resets WHEN",
    ] {
        all.push((row("claude"), text.to_owned()));
    }
    for text in [
        "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at WHEN.",
        "You've hit your usage limit. Try again at WHEN.",
        "You've hit your usage limit for gpt-5.5. Switch to another model now, or try again at WHEN.",
        "You've hit your usage limit. To get more access now, send a request to your admin or try again at WHEN.",
    ] {
        all.push((row("codex"), text.to_owned()));
    }
    let is_short = |text: &str| text.contains("5-hour") || text.to_lowercase().contains("session");
    // What lasts some hours is told without a day, everything else with one or without.
    let dated = all.iter().filter(|it| !is_short(&it.1)).map(|it| (it.0, it.1.clone(), true));
    let dated: Vec<_> = dated.collect();
    all.into_iter().map(|(cli, text)| (cli, text, false)).chain(dated).collect()
}

/// Every way in which an agent writes a moment.
fn written(cli: &'static AgentRow, reset: &Zoned, dated: bool) -> Vec<String> {
    let zone = reset.time_zone().iana_name().unwrap_or("UTC").to_owned();
    let clock = reset.strftime("%-I:%M%p").to_string().to_lowercase().replace(":00", "");
    let at = |format: &str| reset.strftime(format).to_string();
    match (cli.stream, dated) {
        (Stream::Codex, false) => vec![at("%-I:%M %p"), at("%-I:%M\u{202f}%p")],
        (Stream::Codex, true) => {
            let ordinal = match reset.day() {
                1 | 21 | 31 => "st",
                2 | 22 => "nd",
                3 | 23 => "rd",
                _ => "th",
            };
            vec![format!("{}{ordinal}, {}", at("%b %-d"), at("%Y %-I:%M %p"))]
        }
        (_, false) => vec![format!("{clock} ({zone})")],
        (_, true) => vec![
            format!("{}, {clock} ({zone})", at("%b %-d")),
            format!("{} at {clock} ({zone})", at("%b %-d")),
            format!("{}, {clock} ({zone})", at("%b %-d, %Y")),
        ],
    }
}

/// More than sixty messages, twelve zones, the days on which clocks change: right to the minute.
#[test]
fn g31_every_wording_is_right_in_every_zone_when_clocks_change() {
    let (mut messages, mut checked) = (0, 0);
    for (cli, text, dated) in wordings() {
        let any =
            "2026-06-01T10:00:00Z".parse::<jiff::Timestamp>().expect("a moment").to_zoned(TimeZone::UTC);
        messages += written(cli, &any, dated).len();
        for name in ZONES {
            let zone = zone_named(name).expect("a zone");
            for day in DAYS {
                let midnight: jiff::Timestamp = format!("{day}T00:00:00Z").parse().expect("a day");
                for hour in [-3, 2, 9] {
                    let reset = midnight
                        .checked_add((hour * 60 + 17).minutes())
                        .expect("a moment")
                        .to_zoned(zone.clone());
                    let ahead_minutes = if dated { 4321 } else { 191 };
                    let now = Timestamp(reset.timestamp().as_millisecond() - ahead_minutes * 60_000 - 7_000);
                    for when in written(cli, &reset, dated) {
                        let text = text.replace("WHEN", &when);
                        let limit = failed(cli, &text, now, &zone).limit;
                        let Some(Limit::Plan { until: Some(until) }) = limit else {
                            panic!("{text}: {limit:?}")
                        };
                        let wrong = (until.0 - reset.timestamp().as_millisecond()).abs();
                        let twice = zone.to_ambiguous_timestamp(reset.datetime());
                        let is_other = twice.is_ambiguous()
                            && twice
                                .earlier()
                                .is_ok_and(|it| it.as_millisecond() / 60_000 == until.0 / 60_000);
                        assert!(wrong < 60_000 || is_other, "{text} at {now} in {name}: {until}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(60 < messages && 20_000 < checked, "{messages} messages, {checked} moments");
}

/// A program of the user's says until when it has to wait, and what it prints about its provider before it
/// fails is read like an agent's own words.
#[test]
fn a_command_can_report_a_limit() {
    let now = at("2026-05-10T12:00:00Z");
    let zone = TimeZone::UTC;
    let of = |exit: i32, out: &str, complaints: &str| {
        let mut reader = StreamReader::new(row("command"));
        reader.bytes(out.as_bytes());
        reader.finish(&CallExit { exit: Some(exit), complaints, rollout: "", now, zone: &zone }).limit
    };
    let until = |time: &str| Some(Limit::Plan { until: Some(at(time)) });
    let line = "LOOP_LIMIT until=2026-05-11T03:00:00Z\n";
    assert_eq!(of(75, &format!("working\n{line}"), ""), until("2026-05-11T03:00:00Z"));
    assert_eq!(of(75, "working\n", line), until("2026-05-11T03:00:00Z"));
    assert_eq!(
        of(75, "LOOP_LIMIT until=2026-09-01T00:00:00+02:00", ""),
        until("2026-08-31T22:00:00Z"),
        "however far"
    );
    assert_eq!(of(75, "LOOP_LIMIT\n", ""), Some(Limit::Plan { until: None }));
    assert_eq!(of(75, &format!("{line}and more\n"), ""), None, "only the last line");
    assert_eq!(of(1, line, ""), None, "only with that status");
    assert_eq!(of(0, line, ""), None);
    assert_eq!(
        of(1, "", "connecting\nError: 429 Too Many Requests\n  at main (x.js:1)\n"),
        Some(Limit::Throttle { after: None })
    );
    assert_eq!(
        of(1, "", "HTTP error {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"no\"}}"),
        Some(Limit::ContextTooLong)
    );
    assert_eq!(of(0, "", "Error: 429 Too Many Requests"), None, "it went well");
}

/// A provider's answer that is handed on as JSON is read by its fields.
#[test]
fn an_answer_inside_a_text_is_read() {
    let now = at("2026-05-10T12:00:00Z");
    let of = |text: &str| failed(row("codex"), text, now, &TimeZone::UTC).limit;
    assert_eq!(
        of(
            r#"{"error": {"type": "context_length_exceeded", "code": "context_length_exceeded", "message": "Your input exceeds it."}}"#
        ),
        Some(Limit::ContextTooLong)
    );
    assert_eq!(
        of(
            r#"unexpected status 429 Too Many Requests: {"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1781000000}}"#
        ),
        Some(Limit::Plan { until: Some(Timestamp(1_781_000_000_000)) })
    );
    assert_eq!(
        of(
            r#"{"error":{"code":429,"message":"Quota exceeded for metric x","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"7200s"}]}}"#
        ),
        Some(Limit::Plan { until: Some(at("2026-05-10T14:00:00Z")) })
    );
    assert_eq!(
        of(
            r#"{"error":{"message":"The 'gpt-9' model is not supported when using Codex with a ChatGPT account."}}"#
        ),
        Some(Limit::UnknownModel)
    );
    assert_eq!(of(r#"the test printed {"error": {"message": "it is red"}}"#), None);
}

/// What a test, a service of the project and a document say about limits stops nobody.
#[test]
fn reports_of_tests_and_documents_are_no_limits() {
    let zone = TimeZone::UTC;
    let of = |complaints: &str| {
        let now = at("2026-05-10T12:00:00Z");
        let end = CallExit { exit: Some(1), complaints, rollout: "", now, zone: &zone };
        StreamReader::new(row("command")).finish(&end)
    };
    for text in [
        "  x rate limit > blocks the 11th request\n    Expected: 429\n    Received: 200\n",
        "  x rate limit exceeded\n    Expected: 429\n    Received: 200\n",
        "## 2.4.0\n- You've hit your limit banner is shown when the plan is used up\n- Retry after 429\n",
        "Error: insufficient funds for transfer: account 7 has balance 10, needs 500",
        "ERROR  payments.test.js  insufficient_balance: expected code 402 but got 200",
        "Invalid API key: test_invalid_api_key_is_rejected failed",
        "ERROR: test_quota: You have exceeded your quota",
        "The endpoint now answers 429 Too Many Requests once the client exceeded 100 requests per minute; please try again after the window.",
    ] {
        assert_eq!(of(text).limit, None, "{text}");
    }
    let words =
        of("starting\nYou've reached your weekly\nlimit; it comes back.\n").trouble.unwrap_or_default();
    assert!(words.contains("You've reached your weekly / limit; it comes back"), "both lines: {words}");
    let words = of("Error: 429 Too Many Requests\n  at main (x.js:1)\n").trouble.unwrap_or_default();
    assert!(words.contains("429 Too Many Requests"), "the line that says so: {words}");
}

/// The day of a time may be told by its name, before or behind it, or as HTTP does.
#[test]
fn days_are_read_by_their_names() {
    // A Thursday.
    let now = at("2026-11-19T22:00:00Z");
    for (said, expected) in [
        ("resets Friday at 9:00 AM", "2026-11-20T09:00:59Z"),
        ("resets on Monday at 9am", "2026-11-23T09:00:59Z"),
        ("resets at 9am on Monday", "2026-11-23T09:00:59Z"),
        ("Try again on Sunday 8:00 AM UTC", "2026-11-22T08:00:59Z"),
        ("resets Thursday at 11:30 PM", "2026-11-19T23:30:59Z"),
        ("resets Thursday at 9 PM", "2026-11-26T21:00:59Z"),
        ("Try again tuesday 18:30", "2026-11-24T18:30:59Z"),
        ("resets Fri, Nov 27, 9am", "2026-11-27T09:00:59Z"),
        ("wait until Sat, 21 Nov 2026 00:00:00 GMT", "2026-11-21T00:00:00Z"),
        ("Retry-After: Fri, 20 Nov 2026 06:00:00 GMT", "2026-11-20T06:00:00Z"),
        ("will reset tomorrow at 6 AM", "2026-11-20T06:00:59Z"),
        ("resets at 6:00 AM tomorrow", "2026-11-20T06:00:59Z"),
        ("resets Friday at 9:00 AM (Asia/Tokyo)", "2026-11-20T00:00:59Z"),
        ("resets on Saturday", "2026-11-21T00:00:00Z"),
        ("will be restored at 23:40 (Asia/Shanghai)", "2026-11-20T15:40:59Z"),
        ("They replenish at 07:15 PM PST", "2026-11-20T03:15:59Z"),
        ("resets at 2026-11-20 08:00 PST", "2026-11-20T16:00:59Z"),
    ] {
        let text = format!("You've hit your usage limit. {said}.");
        let found = failed(row("codex"), &text, now, &TimeZone::UTC);
        let until = found.limit.and_then(|it| it.until(now)).map(|it| it.to_string());
        assert_eq!(until.as_deref(), Some(expected), "{said}");
    }
    for (said, named) in [("It resets on 2026-11-45", true), ("Please try again later", false)] {
        let found =
            failed(row("codex"), &format!("You've hit your usage limit. {said}"), now, &TimeZone::UTC);
        assert_eq!((found.limit, found.is_time_unread), (Some(Limit::Plan { until: None }), named), "{said}");
    }
}

#[test]
fn limits_in_the_words_of_more_providers_are_found_with_their_time() {
    let now = at("2026-11-19T12:00:00Z");
    let zone = TimeZone::UTC;
    for (text, expected) in [
        (
            "[quota] Daily limit hit (1500/1500 requests). Next reset: 2026-11-20T08:00:00Z",
            "2026-11-20T08:00:00Z",
        ),
        (
            "Amp Free: you have used today's free credits. They replenish at 07:15 PM PST.",
            "2026-11-20T03:15:59Z",
        ),
        (
            "Z.ai: 1308 - Usage limit reached for 5 hour window, will be restored at 23:40 (Asia/Shanghai)",
            "2026-11-19T15:40:59Z",
        ),
        (
            "Quota resets at 2026-11-20 08:00 PST: you have used 100% of your monthly quota.",
            "2026-11-20T16:00:59Z",
        ),
        ("Rate limited. Retry-After: Fri, 20 Nov 2026 06:00:00 GMT", "2026-11-20T06:00:00Z"),
    ] {
        let end = CallExit { exit: Some(1), complaints: text, rollout: "", now, zone: &zone };
        let found = StreamReader::new(row("command")).finish(&end);
        let until = found.limit.and_then(|it| it.until(now)).map(|it| it.to_string());
        assert_eq!(until.as_deref(), Some(expected), "{text}: {found:?}");
    }
}

#[test]
fn a_command_that_reports_a_limit_with_an_unreadable_time_is_told_how() {
    let zone = TimeZone::UTC;
    let end = CallExit {
        exit: Some(75),
        complaints: "",
        rollout: "",
        now: at("2026-05-10T12:00:00Z"),
        zone: &zone,
    };
    let mut reader = StreamReader::new(row("command"));
    reader.bytes(b"LOOP_LIMIT until=in two hours\n");
    let found = reader.finish(&end);
    assert_eq!((found.limit, found.is_time_unread), (Some(Limit::Plan { until: None }), true));
    let words = found.trouble.unwrap_or_default();
    assert!(words.contains("\"until=in two hours\" behind LOOP_LIMIT is not like until=2026-"), "{words}");
}
