//! How well limit texts are told from ordinary ones: what providers, gateways and programs were seen to write
//! when they refuse a call, and what people, agents, compilers and tests write about their work.

use super::limits::{at, failed, readers};
use super::row;
use crate::agents::{CallExit, Limit, StreamReader};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Limit texts: whether the digest of the text holds it out, the class, the text. Nobody chooses the half.
fn limit_texts() -> Vec<(bool, &'static str, &'static str)> {
    let text = include_str!("../../../../../tests/fixtures/agents/limit_texts.tsv");
    let rows = text.lines().map(|it| it.split('\t').collect::<Vec<_>>());
    rows.map(|it| (is_held_out(it[2]), it[1], it[2])).collect()
}

/// A half that depends on the text alone (FNV-1a), so that it is the same on every machine.
fn is_held_out(text: &str) -> bool {
    let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix).count_ones() % 2 == 1
}

fn class(limit: Option<Limit>) -> &'static str {
    match limit {
        Some(Limit::Plan { .. } | Limit::Throttle { .. } | Limit::Unknown) => "wait",
        Some(Limit::Overloaded | Limit::Unreachable) => "overloaded",
        Some(Limit::Credit | Limit::Auth) => "account",
        Some(Limit::ContextTooLong) => "context",
        Some(Limit::UnknownModel) => "model",
        Some(Limit::Refusal) => "refusal",
        Some(Limit::Empty) => "empty",
        None => "none",
    }
}

/// Most of a half that nobody chose is found, and what people and agents write about their work never is. The
/// score of texts that were collected from reports of users after the patterns were written is printed. When
/// they were first read, 9 of the first 16 were found, and 10 of the last 17; what was missed got a pattern.
#[test]
fn texts_that_nobody_had_seen_are_found_and_ordinary_ones_are_not() {
    let now = at("2026-05-10T12:00:00Z");
    let of = |cli: &str, text: &str| failed(row(cli), text, now, &TimeZone::UTC).limit;
    let (mut seen, mut held_out) = ((0, 0), (0, 0));
    let mut missed = String::new();
    for (is_held_out, expected, text) in limit_texts() {
        let found = class(of("codex", text));
        let score = if is_held_out { &mut held_out } else { &mut seen };
        score.1 += 1;
        if found == expected {
            score.0 += 1;
        } else {
            missed += &format!("  {expected}, found {found}: {text}\n");
        }
    }
    let percent = 100 * held_out.0 / held_out.1;
    println!(
        "limit texts: {} of {} seen, {} of {} held out ({percent} %)",
        seen.0, seen.1, held_out.0, held_out.1
    );
    println!("{missed}");
    let unseen = include_str!("../../../../../tests/fixtures/agents/unseen_limit_texts.tsv");
    let unseen = unseen.lines().map(|it| it.split('\t').collect::<Vec<_>>()).collect::<Vec<_>>();
    let unfound: Vec<&&str> =
        unseen.iter().filter(|it| class(of("codex", it[1])) != it[0]).map(|it| &it[1]).collect();
    println!(
        "unseen limit texts: {} of {}; missed: {unfound:#?}",
        unseen.len() - unfound.len(),
        unseen.len()
    );
    assert!(
        seen.0 == seen.1 && 80 <= percent,
        "{percent} % of what was held out is found; missed:\n{missed}"
    );
    let ordinary = include_str!("../../../../../tests/fixtures/agents/ordinary_texts.txt");
    let texts: Vec<&str> = ordinary.lines().collect();
    assert!(200 <= texts.len(), "{}", texts.len());
    let mut alarms = String::new();
    for text in texts {
        for cli in readers() {
            if let Some(limit) = of(cli.name, text) {
                alarms += &format!("{} {limit:?}: {text}\n", cli.name);
            }
        }
        let zone = TimeZone::UTC;
        let end = CallExit { exit: Some(1), complaints: text, rollout: "", now, zone: &zone };
        if let Some(limit) = StreamReader::new(row("command")).finish(&end).limit {
            alarms += &format!("command {limit:?}: {text}\n");
        }
    }
    assert!(alarms.is_empty(), "false alarms:\n{alarms}");
}

/// Texts of gateways, SDKs and CLIs that users reported: half, class, text and source. A half that a seeded
/// shuffle chose was put aside while the patterns were changed, and the unseen ones were collected after that.
/// At the first reading 21 of the 43 that were put aside were found.
#[test]
fn texts_that_users_reported_are_found() {
    let now = at("2026-05-10T12:00:00Z");
    let zone = TimeZone::UTC;
    let texts = include_str!("../../../../../tests/fixtures/agents/reported_limit_texts.tsv");
    let (mut seen, mut held_out, mut unseen) = ((0, 0), (0, 0), (0, 0));
    let mut missed = String::new();
    for row_of_text in texts.lines() {
        let parts: Vec<&str> = row_of_text.split('\t').collect();
        let text = unescaped(parts[2]);
        let by_agent = class(failed(row("codex"), &text, now, &zone).limit);
        let end = CallExit { exit: Some(1), complaints: &text, rollout: "", now, zone: &zone };
        let by_command = class(StreamReader::new(row("command")).finish(&end).limit);
        let score = match parts[0] {
            "seen" => &mut seen,
            "held-out" => &mut held_out,
            _ => &mut unseen,
        };
        score.1 += 1;
        if by_agent == parts[1] && by_command == parts[1] {
            score.0 += 1;
        } else {
            let found = format!("agent {by_agent}, command {by_command}");
            missed += &format!("  {}: {}, found by {found}: {text}\n", parts[0], parts[1]);
        }
    }
    let percent = |score: (usize, usize)| 100 * score.0 / score.1;
    println!("reported: {seen:?} seen, {held_out:?} held out, {unseen:?} unseen");
    println!("missed:\n{missed}");
    assert!(seen.0 == seen.1 && 80 <= percent(held_out) && 80 <= percent(unseen), "missed:\n{missed}");
}

/// Texts of Claude Code, Codex, Gemini and opencode from their users' reports: half, class, text and source. A
/// digest of the text chose the half, and the class was written down before the oracle was asked. At the first
/// reading 16 of the 25 seen and 14 of the 25 held out were found; with patterns for the seen half alone, 18 of
/// those held out. What was missed then got a rule. Nine were collected later; 6 of them were found at once.
#[test]
fn texts_of_the_four_clis_are_found() {
    let now = at("2026-05-10T12:00:00Z");
    let zone = TimeZone::UTC;
    let texts = include_str!("../../../../../tests/fixtures/agents/cli_limit_texts.tsv");
    let (mut seen, mut held_out, mut later) = ((0, 0), (0, 0), (0, 0));
    let mut missed = String::new();
    for row_of_text in texts.lines() {
        let parts: Vec<&str> = row_of_text.split('\t').collect();
        let text = unescaped(parts[2]);
        let by_agent = timed_class(failed(row("codex"), &text, now, &zone).limit);
        let end = CallExit { exit: Some(1), complaints: &text, rollout: "", now, zone: &zone };
        let by_command = timed_class(StreamReader::new(row("command")).finish(&end).limit);
        let score = match parts[0] {
            "seen" => &mut seen,
            "held-out" => &mut held_out,
            _ => &mut later,
        };
        score.1 += 1;
        if by_agent == parts[1] && by_command == parts[1] {
            score.0 += 1;
        } else {
            let found = format!("agent {by_agent}, command {by_command}");
            missed += &format!("  {}: {}, found by {found}: {text}\n", parts[0], parts[1]);
        }
    }
    println!("CLIs: {seen:?} seen, {held_out:?} held out, {later:?} later\n{missed}");
    assert!(seen.0 == seen.1 && 80 * held_out.1 <= 100 * held_out.0, "missed:\n{missed}");
}

/// Texts that users of many agents reported, none of which shares eight words in a row with the other lists: half,
/// class, text and source. A seeded shuffle chose the halves and the classes were written down before any text was
/// tried. At the first reading 16 of the 22 held out and 15 of the 23 seen were judged right; with rules for what was
/// missed of the seen half, 19 of those held out. The later ones were collected after that, and no rule was changed
/// for them. What is missed of the half that is held out, and of the later ones, is counted and not printed. The last
/// ones were collected when ordinary texts had been looked at again, and 17 of the 20 were judged right at once.
#[test]
fn errors_of_agents_that_nobody_had_seen_are_found() {
    let texts = include_str!("../../../../../tests/fixtures/agents/agent_error_texts.tsv");
    let mut halves: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = String::new();
    for row_of_text in texts.lines() {
        let parts: Vec<&str> = row_of_text.split('\t').collect();
        let score = halves.entry(parts[0]).or_default();
        score.1 += 1;
        let found = both_ways(&unescaped(parts[2]));
        if found == (parts[1], parts[1]) {
            score.0 += 1;
        } else if parts[0] == "seen" {
            missed += &format!("  {}, found {found:?}: {}\n", parts[1], parts[2]);
        }
    }
    println!("errors of agents: {halves:?}\n{missed}");
    let is_enough = |half: &str| 80 * halves[half].1 <= 100 * halves[half].0;
    let are_enough = ["held-out", "later", "last"].into_iter().all(is_enough);
    assert!(missed.is_empty() && are_enough, "{halves:?}, missed:\n{missed}");
}

/// Limit texts from public issues, each of which was new to the lists above: half, class, text and source. A digest
/// of the text chose the half before any of them was tried. At the first reading 21 of the 22 seen and 20 of the 21
/// held out were found both ways. The later ones were collected after the patterns had been changed for what was
/// missed, and for ordinary texts that were taken for limits: 26 of 28 at the first reading. What is missed of the
/// last two is counted, not printed.
#[test]
fn limit_texts_from_issues_are_found() {
    let texts = include_str!("../../../../../tests/fixtures/agents/issue_limit_texts.tsv");
    let mut halves: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut missed = String::new();
    for row_of_text in texts.lines() {
        let parts: Vec<&str> = row_of_text.split('\t').collect();
        let score = halves.entry(parts[0]).or_default();
        score.2 += 1;
        let (by_agent, by_command) = both_ways(&unescaped(parts[2]));
        // A provider that is overloaded and counts requests is waited for either way.
        let is_waited_for = |it: &str| it.starts_with("wait") || parts[1] == "overloaded" && it == parts[1];
        let is_found = is_waited_for(by_agent) && is_waited_for(by_command);
        let tells_end = by_agent == "wait-until" && by_command == "wait-until";
        score.0 += usize::from(is_found && (tells_end || parts[1] != "wait-until"));
        score.1 += usize::from(is_found);
        if !is_found && parts[0] == "seen" {
            missed += &format!("  agent {by_agent}, command {by_command}: {}\n", parts[2]);
        }
    }
    println!("issues (with the time, found, all): {halves:?}\n{missed}");
    let is_enough = |half: &str| 80 * halves[half].2 <= 100 * halves[half].1;
    assert!(
        missed.is_empty() && is_enough("held-out") && is_enough("later"),
        "{halves:?}, missed:\n{missed}"
    );
}

/// Descriptions of changes, discussions, documents and logs that speak of limits and are none. The first 49 were
/// collected after the patterns had been changed for other texts: 9 of them were taken for limits at the first reading,
/// and 17 by the patterns before. For those, and for 40 more of which 11 were taken for limits, the rules of `talk.rs`
/// were written. The last 40, in other words here than where they were found, came after that: 10 of them were taken
/// for limits, half of which say in the words of a model provider that another service's limit is reached.
#[test]
fn hardly_any_ordinary_text_that_nobody_had_seen_is_taken_for_a_limit() {
    let texts: Vec<&str> =
        include_str!("../../../../../tests/fixtures/agents/later_ordinary_texts.txt").lines().collect();
    let alarms = texts.iter().filter(|it| both_ways(it) != ("none", "none")).count();
    println!("later ordinary texts: {alarms} of {} taken for a limit", texts.len());
    assert!(5 * alarms < texts.len(), "{alarms} of {}", texts.len());
}

/// The class of a text that ends an agent's stream, and of one that a program writes before it fails.
fn both_ways(text: &str) -> (&'static str, &'static str) {
    let now = at("2026-05-10T12:00:00Z");
    let zone = TimeZone::UTC;
    let end = CallExit { exit: Some(1), complaints: text, rollout: "", now, zone: &zone };
    let by_command = StreamReader::new(row("command")).finish(&end).limit;
    (timed_class(failed(row("codex"), text, now, &zone).limit), timed_class(by_command))
}

/// The class, and for a wait whether its end was told.
fn timed_class(limit: Option<Limit>) -> &'static str {
    match limit {
        Some(Limit::Throttle { after: Some(_) } | Limit::Plan { until: Some(_) }) => "wait-until",
        _ => class(limit),
    }
}

/// A text that was put into one line.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next() == Some('n') => plain.push('\n'),
            '\\' => plain.push('\\'),
            _ => plain.push(character),
        }
    }
    plain
}
