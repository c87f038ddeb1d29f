//! The `exit-signal` protocol: a block between `---` lines whose `EXIT_SIGNAL:` line carries one of
//! three words, or `STUCK:` and a reason. The line alone decides; the lines around it (`COMMIT`,
//! `TASK`, …) are claims that come with it. A message that reached a checkpoint instead says so with
//! a heading. Whether there is a commit for the claim is for others to find out.

use super::block::{HIDDEN, LinePlace, ReportLine, Survey};
use super::simple_yaml::split;
use super::text_limits::{SUMMARY_CHARS, TEXT_CHARS, clean, is_none, is_placeholder, quote};
use super::{CHECKPOINT_METRIC, Report};
use crate::workflow::model::{Protocol, SignalWord};
use loop_base::value::Value;

const SIGNAL_LINE: &str = "EXIT_SIGNAL:";
const CHECKPOINT: &str = "## CHECKPOINT REACHED";
/// The format has four; a block with more than this many is no block.
const FIELDS_KEPT: usize = 50;

pub(super) fn read(text: &str) -> Report {
    let found = find(text);
    let mut report = Report::default();
    match (found.value, found.checkpoint) {
        (Some(value), checkpoint) => {
            take_signal(&mut report, value);
            if found.is_contradictory {
                report.note("the message has different EXIT_SIGNAL lines; the last one counts");
            }
            if report.found {
                take_fields(&mut report, &found.fields);
            }
            if checkpoint.is_some() {
                report.note("the message has a signal and a checkpoint; the signal counts");
            }
        }
        (None, Some(checkpoint)) => take_checkpoint(&mut report, checkpoint),
        (None, None) if found.is_hidden => report.note(HIDDEN),
        (None, None) => report.note("the message has no EXIT_SIGNAL line"),
    }
    report
}

#[derive(Default)]
struct FoundSignal<'a> {
    value: Option<&'a str>,
    is_contradictory: bool,
    /// The lines of the block that the last value stands in.
    fields: Vec<(&'a str, &'a str)>,
    /// What follows the last checkpoint's heading.
    checkpoint: Option<&'a str>,
    is_hidden: bool,
}

fn find(text: &str) -> FoundSignal<'_> {
    let mut found = FoundSignal::default();
    let mut block = Vec::new();
    let mut has_signal = false;
    for line in Survey::of(text).lines() {
        let is_readable = matches!(line.place, LinePlace::Open | LinePlace::LastFence);
        let value = line.text.strip_prefix(SIGNAL_LINE).map(|it| it.trim_matches([' ', '\t']));
        found.is_hidden |= value.is_some() && !is_readable;
        if is_readable && line.text == CHECKPOINT {
            found.checkpoint = Some(&text[line.end..]);
        }
        match (is_readable, value, field(line)) {
            (true, Some(value), _) => {
                found.is_contradictory |= found.value.is_some_and(|it| !it.eq_ignore_ascii_case(value));
                found.value = Some(value);
                found.fields.clear();
                has_signal = true;
            }
            (true, None, Some(field)) if block.len() < FIELDS_KEPT => block.push(field),
            (true, None, _) if line.text.is_empty() => {}
            (_, _, _) => {
                if has_signal {
                    found.fields = std::mem::take(&mut block);
                }
                block.clear();
                has_signal = false;
            }
        }
    }
    if has_signal {
        found.fields = block;
    }
    found
}

fn field(line: ReportLine<'_>) -> Option<(&str, &str)> {
    let is_capital = |it: u8| it.is_ascii_uppercase() || it == b'_';
    split(line.text).filter(|(key, _)| key.bytes().all(is_capital))
}

fn take_signal(report: &mut Report, value: &str) {
    let words = SignalWord::of(&Protocol::ExitSignal);
    let word = words.iter().find(|it| it.word().eq_ignore_ascii_case(value));
    let stuck = value.get(..5).filter(|it| it.eq_ignore_ascii_case("STUCK")).map(|_| &value[5..]);
    let reason =
        stuck.and_then(|it| if it.is_empty() { Some(it) } else { it.strip_prefix(':') }).map(str::trim);
    match (word, reason) {
        (Some(word), _) => report.signal = Some(word.clone()),
        (None, Some("")) => report.stuck = Some("unspecified".to_owned()),
        (None, Some(reason)) if !is_placeholder(reason) => report.stuck = Some(clean(reason, TEXT_CHARS)),
        (None, _) if is_placeholder(value) || reason.is_some() => {
            return report.note(&format!("EXIT_SIGNAL {} was not filled in", quote(value)));
        }
        (None, _) => {
            let known = words.iter().map(SignalWord::word).collect::<Vec<_>>().join(", ");
            return report
                .note(&format!("unknown EXIT_SIGNAL {}; it is {known} or STUCK: reason", quote(value)));
        }
    }
    report.found = true;
}

fn take_fields(report: &mut Report, fields: &[(&str, &str)]) {
    for (key, value) in fields {
        if is_none(value) || is_placeholder(value) || value.eq_ignore_ascii_case("n/a") {
            continue;
        }
        // A short hash may consist of digits, and a task may be called 3: neither is a number.
        let value = match *key {
            "COMMIT" | "TASK" | "NEXT" => Value::Text((*value).to_owned()),
            _ => Value::read(value),
        };
        report.keep(key, value);
    }
}

fn take_checkpoint(report: &mut Report, text: &str) {
    let kind = text.lines().take(FIELDS_KEPT).find_map(|line| {
        let line = line.trim().trim_start_matches(['*', '-', ' ']);
        let value = line.strip_prefix("Type")?.trim_start_matches('*').strip_prefix(':')?;
        Some(value.trim_matches(['*', '`', ' ', '\t']))
    });
    report.found = true;
    report.keep(CHECKPOINT_METRIC, Value::from(kind.filter(|it| !it.is_empty()).unwrap_or("unspecified")));
    report.options = options(text);
    report.summary = Some(clean(text, SUMMARY_CHARS)).filter(|it| !it.is_empty());
    report.note("the message stops at a checkpoint and has no EXIT_SIGNAL line");
}

/// More than a person can weigh is no list to choose from.
const OPTIONS_MOST: usize = 9;
/// An option is a word or a few, to be typed.
const OPTION_CHARS: usize = 40;

/// What a checkpoint lists to choose from: `Options: a, b`, or a list below that word, each entry up to
/// its colon or dash.
fn options(text: &str) -> Vec<String> {
    let mut lines = text.lines().take(FIELDS_KEPT).map(str::trim);
    let Some(rest) = lines.find_map(heading) else { return Vec::new() };
    let entries: Vec<&str> = if rest.is_empty() {
        let below = lines.skip_while(|it| it.is_empty());
        below.map_while(entry).collect()
    } else {
        rest.split([',', '|']).collect()
    };
    let mut found: Vec<String> = Vec::new();
    for it in entries {
        let name = it.split(": ").next().unwrap_or(it).split(" - ").next().unwrap_or(it);
        let name = name.split(" — ").next().unwrap_or(name).trim_matches(['*', '`', ':', ' ', '\t']);
        let name = clean(name, OPTION_CHARS).to_lowercase();
        // What is answered is one word and a text, so an option is one word too.
        let name = name.split_whitespace().collect::<Vec<_>>().join("-");
        if !name.is_empty() && !found.contains(&name) && found.len() < OPTIONS_MOST {
            found.push(name);
        }
    }
    found
}

/// Returns what follows the word `Options:`, however it is set.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['*', '-', '#', ' ']);
    let rest = line.strip_prefix("Options")?.trim_start_matches('*').strip_prefix(':')?;
    Some(rest.trim_matches(['*', ' ', '\t']))
}

fn entry(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    bullet.or_else(|| {
        let (number, rest) = line.split_once(['.', ')'])?;
        (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn text(it: &str) -> Value {
        Value::from(it)
    }

    #[test]
    fn lp_the_block_of_the_seed_is_read() {
        let message = "Done.\n\n---\nEXIT_SIGNAL: TASK_COMPLETE\nITERATION: 3\nTASK: add: login\nCOMMIT: 0123456\n\
            NEXT: [next task or plan]\n---\n";
        let metrics =
            [("iteration", Value::Int(3)), ("task", text("add: login")), ("commit", text("0123456"))];
        let expected = Report {
            found: true,
            signal: Some(SignalWord::TaskComplete),
            metrics: metrics.map(|(key, value)| (key.to_owned(), value)).into(),
            ..Report::default()
        };
        assert_eq!(read(message), expected);
        assert_eq!(read(&message.replace('\n', "\r\n")), expected);
        assert_eq!(read(&format!("```\n{message}```\n")), expected);
        let turned = "---\nCOMMIT: 0123456\nITERATION: 3\n\nTASK: add: login\nEXIT_SIGNAL: task_complete \n---\nBye: x\nTASK: y";
        assert_eq!(read(turned), expected);
    }

    #[test]
    fn lp_every_word_counts_in_any_case() {
        for word in SignalWord::of(&Protocol::ExitSignal) {
            for value in [word.to_string(), word.word().to_ascii_lowercase()] {
                assert_eq!(read(&format!("EXIT_SIGNAL:{value}")).signal.as_ref(), Some(word));
            }
        }
    }

    #[test]
    fn lp_10_stuck_has_a_reason_with_colons() {
        let cases = [
            ("STUCK: db: no schema", "db: no schema"),
            ("stuck:no", "no"),
            ("STUCK:", "unspecified"),
            ("STUCK", "unspecified"),
            ("STUCK: : x\u{202e}", ": x\u{fffd}"),
        ];
        for (value, reason) in cases {
            let expected = Report { found: true, stuck: Some(reason.into()), ..Report::default() };
            assert_eq!(read(&format!("---\nEXIT_SIGNAL: {value}\n---")), expected, "{value}");
        }
    }

    #[test]
    fn lp_two_values_are_noted_and_the_last_counts() {
        let report =
            read("EXIT_SIGNAL: TASK_COMPLETE\nCOMMIT: a\n---\n---\nEXIT_SIGNAL: STUCK: x\nTASK: t\n---");
        let expected = Report {
            found: true,
            stuck: Some("x".into()),
            metrics: BTreeMap::from([("task".to_owned(), text("t"))]),
            notes: vec!["the message has different EXIT_SIGNAL lines; the last one counts".into()],
            ..Report::default()
        };
        assert_eq!(report, expected);
        assert_eq!(
            read("EXIT_SIGNAL: TASK_COMPLETE\n\nEXIT_SIGNAL: Task_Complete").notes,
            Vec::<String>::new()
        );
        assert_eq!(read("EXIT_SIGNAL: TASK_COMPLETE\n\nEXIT_SIGNAL: [signal]").signal, None);
    }

    #[test]
    fn lp_unknown_words_and_placeholders_are_unclear() {
        let cases = [
            ("[signal]", "EXIT_SIGNAL \"[signal]\" was not filled in"),
            ("{{SIGNAL}}", "EXIT_SIGNAL \"{{SIGNAL}}\" was not filled in"),
            ("STUCK: [reason]", "EXIT_SIGNAL \"STUCK: [reason]\" was not filled in"),
            ("TASK_COMPLETE | STUCK", "EXIT_SIGNAL \"TASK_COMPLETE | STUCK\" was not filled in"),
            (
                "true",
                "unknown EXIT_SIGNAL \"true\"; it is TASK_COMPLETE, PLAN_COMPLETE, PHASE_COMPLETE or STUCK: reason",
            ),
        ];
        for (value, note) in cases {
            let expected = Report { notes: vec![note.into()], ..Report::default() };
            assert_eq!(read(&format!("EXIT_SIGNAL: {value}\nCOMMIT: abc")), expected, "{value}");
        }
    }

    #[test]
    fn lp_no_signal_is_said() {
        let missing =
            Report { notes: vec!["the message has no EXIT_SIGNAL line".into()], ..Report::default() };
        assert_eq!(read("I did it.\n EXIT_SIGNAL: TASK_COMPLETE"), missing);
        let hidden = Report { notes: vec![HIDDEN.into()], ..Report::default() };
        assert_eq!(read("```\nEXIT_SIGNAL: TASK_COMPLETE\n```\nNot yet."), hidden);
    }

    #[test]
    fn lp_a_checkpoint_stands_in_for_a_signal() {
        let message = "## CHECKPOINT REACHED\n\n**Type:** human-verify\n**Plan:** 02-01\n";
        let expected = Report {
            found: true,
            metrics: BTreeMap::from([("checkpoint".to_owned(), text("human-verify"))]),
            summary: Some("**Type:** human-verify\n**Plan:** 02-01".into()),
            notes: vec!["the message stops at a checkpoint and has no EXIT_SIGNAL line".into()],
            ..Report::default()
        };
        assert_eq!(read(message), expected);
        let other = read("## CHECKPOINT REACHED\n- **Type**: decision");
        assert_eq!(other.metrics["checkpoint"], text("decision"));
        let listed = "## CHECKPOINT REACHED\n**Type:** decision\n\n**Options:**\n\n1. **SQLite**: one file\n\
                      2. Big server - more to run\n\nAwaiting: a choice";
        assert_eq!(read(listed).options, ["sqlite", "big-server"]);
        assert_eq!(read("## CHECKPOINT REACHED\nOptions: `a`, b | a").options, ["a", "b"]);
        assert_eq!(read("## CHECKPOINT REACHED").metrics["checkpoint"], text("unspecified"));
        let both = read("## CHECKPOINT REACHED\nType: decision\n\nEXIT_SIGNAL: PLAN_COMPLETE");
        assert_eq!((both.signal, both.metrics.len()), (Some(SignalWord::PlanComplete), 0));
        assert!(!read("> ## CHECKPOINT REACHED").found);
    }
}
