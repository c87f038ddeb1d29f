//! The `json` protocol: one object, every key of which is optional, in the code fence that ends the
//! message, or as the whole of the text (a result file). Unknown keys are ignored; a known key of the
//! wrong type is noted and left out, and the rest still counts. An object with none of our keys is
//! somebody's example and no report.

use super::block::Survey;
use super::text_limits::{ERROR_CHARS, SUMMARY_CHARS, TEXT_CHARS, clean, push, quote};
use super::{NestedSkill, Report, Trouble, VERDICT};
use crate::workflow::model::ErrorClass;
use crate::workflow::model::SignalWord;
use loop_base::value::Value;
use serde_json::{Map, Value as Json};

/// A report is a page. Parsed JSON takes up to twenty times its text in memory, so a longer object is
/// not read at all.
const REPORT_BYTES: usize = 256 * 1024;
const KEYS: [&str; 10] = [
    "status",
    "summary",
    "metrics",
    VERDICT,
    "error",
    "deliverables",
    "references",
    "skills",
    "gates",
    "capabilities",
];

/// What stands where nobody said more.
const UNSPECIFIED: &str = "unspecified";

/// Skills that one report may nest; a call does not run more of them.
const SKILLS_MOST: usize = 50;

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let Some(object) = find(text, &mut report) else { return report };
    if !KEYS.iter().any(|it| object.contains_key(*it)) {
        report.note("the JSON object has none of the keys of a report");
        return report;
    }
    report.found = true;
    report.summary = take_text(&mut report, &object, "summary").map(|it| clean(&it, SUMMARY_CHARS));
    take_metrics(&mut report, object.get("metrics"));
    if let Some(verdict) = take_text(&mut report, &object, VERDICT) {
        report.keep_verdict(&verdict);
    }
    report.error = take_error(&mut report, object.get("error"));
    report.deliverables = take_list(&mut report, &object, "deliverables");
    report.references = take_list(&mut report, &object, "references");
    report.skills = take_skills(&mut report, object.get("skills"));
    report.gates = take_list(&mut report, &object, "gates");
    report.items = take_list(&mut report, &object, "capabilities");
    take_status(&mut report, &object);
    report
}

fn find(text: &str, report: &mut Report) -> Option<Map<String, Json>> {
    let whole = text.trim_matches([' ', '\t', '\r', '\n']);
    let survey = Survey::of(text);
    let fenced = survey.last_fence.filter(|it| it.info.is_empty() || is_json(it.info)).map(|it| it.body);
    let Some(source) = fenced.or_else(|| whole.starts_with('{').then_some(whole)) else {
        report.note("the message does not end with a JSON object in a code fence");
        return None;
    };
    if source.len() > REPORT_BYTES {
        report.note(&format!("the JSON object is longer than {} KiB and was not read", REPORT_BYTES / 1024));
        return None;
    }
    match serde_json::from_str(source) {
        Ok(Json::Object(object)) => Some(object),
        Ok(_) => {
            report.note("the JSON at the end of the message is not an object");
            None
        }
        Err(problem) => {
            report.note(&format!("the JSON at the end of the message cannot be read: {problem}"));
            None
        }
    }
}

fn is_json(info: &str) -> bool {
    let language = info.split_ascii_whitespace().next().unwrap_or_default();
    language.eq_ignore_ascii_case("json")
}

fn take_text(report: &mut Report, object: &Map<String, Json>, key: &str) -> Option<String> {
    text_of(report, object.get(key), key)
}

fn text_of(report: &mut Report, value: Option<&Json>, key: &str) -> Option<String> {
    match value? {
        Json::String(text) => Some(text.clone()),
        Json::Null => None,
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            report.note(&format!("{key} is not a text"));
            None
        }
    }
}

fn take_metrics(report: &mut Report, metrics: Option<&Json>) {
    let metrics = match metrics {
        Some(Json::Object(metrics)) => metrics,
        None | Some(Json::Null) => return,
        Some(_) => return report.note("metrics is not an object"),
    };
    for (name, value) in metrics {
        match value {
            Json::String(text) if name == VERDICT => report.keep_verdict(text),
            Json::String(text) => report.keep(name, Value::from(text.as_str())),
            Json::Bool(it) => report.keep(name, Value::Bool(*it)),
            Json::Array(list) => report.keep(name, Value::from(list.len())),
            Json::Number(it) => match (it.as_i64(), it.as_f64().filter(|it| it.is_finite())) {
                (Some(whole), _) => report.keep(name, Value::Int(whole)),
                (None, Some(number)) => report.keep(name, Value::Number(number)),
                (None, None) => {
                    report.note(&format!("metric {} is not a number that can be compared", quote(name)))
                }
            },
            Json::Null | Json::Object(_) => {
                report.note(&format!(
                    "metric {} is neither a number, a boolean, a text nor a list",
                    quote(name)
                ));
            }
        }
    }
}

fn take_error(report: &mut Report, error: Option<&Json>) -> Option<Trouble> {
    let (class, text) = match error? {
        Json::Null => return None,
        Json::String(text) => ("other".to_owned(), Some(text.clone())),
        Json::Object(error) => {
            let class = text_of(report, error.get("class"), "error.class");
            let text = text_of(report, error.get("text"), "error.text");
            (class.unwrap_or_else(|| "other".to_owned()), text)
        }
        Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
            report.note("error is not an object");
            return None;
        }
    };
    let known = ErrorClass::reported(&class);
    if known.is_none() {
        report.note(&format!("unknown class of error {}; taken as other", quote(&class)));
    }
    let text = text.map(|it| clean(&it, ERROR_CHARS)).filter(|it| !it.is_empty());
    let text = text.or_else(|| report.summary.clone()).unwrap_or_else(|| UNSPECIFIED.to_owned());
    Some(Trouble { class: known.unwrap_or(ErrorClass::Other), text })
}

fn take_list(report: &mut Report, object: &Map<String, Json>, key: &str) -> Vec<String> {
    let mut kept = Vec::new();
    match object.get(key) {
        None | Some(Json::Null) => {}
        Some(Json::Array(entries)) => {
            for entry in entries {
                match entry.as_str().map(str::trim).filter(|it| !it.is_empty()) {
                    Some(text) if push(&mut kept, text) => {}
                    Some(_) => report.note(&format!("{key} is too long and was cut")),
                    None => report.note(&format!("{key} has an entry that is not a text")),
                }
            }
        }
        Some(_) => report.note(&format!("{key} is not a list")),
    }
    kept
}

fn take_skills(report: &mut Report, skills: Option<&Json>) -> Vec<NestedSkill> {
    let entries = match skills {
        None | Some(Json::Null) => return Vec::new(),
        Some(Json::Array(entries)) => entries,
        Some(_) => {
            report.note("skills is not a list");
            return Vec::new();
        }
    };
    let mut kept = Vec::new();
    for entry in entries.iter().take(SKILLS_MOST) {
        let Json::Object(entry) = entry else {
            report.note("skills has an entry that is not an object");
            continue;
        };
        let Some(skill) = text_of(report, entry.get("skill"), "skills.skill") else { continue };
        let text = |report: &mut Report, key: &str| {
            text_of(report, entry.get(key), &format!("skills.{key}"))
                .map(|it| clean(&it, TEXT_CHARS))
                .unwrap_or_default()
        };
        let (reason, status) = (text(report, "reason"), text(report, "status"));
        let deliverables = take_list(report, entry, "deliverables");
        kept.push(NestedSkill { skill: clean(&skill, TEXT_CHARS), reason, status, deliverables });
    }
    kept
}

fn take_status(report: &mut Report, object: &Map<String, Json>) {
    let Some(status) = take_text(report, object, "status") else { return };
    match status.as_str() {
        "done" => report.signal = Some(SignalWord::Done),
        "continue" => {}
        "failed" => report.failed = true,
        "blocked" => {
            // What a person has to mend stands in the error; the summary may only say what was done.
            let error = report.error.as_ref().map(|it| &it.text).filter(|it| *it != UNSPECIFIED);
            let reason = error.or(report.summary.as_ref());
            report.stuck = Some(reason.map_or_else(|| UNSPECIFIED.to_owned(), |it| clean(it, TEXT_CHARS)));
        }
        _ => report
            .note(&format!("unknown status {}; it is done, continue, failed or blocked", quote(&status))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn found() -> Report {
        Report { found: true, ..Report::default() }
    }

    fn noted(note: &str) -> Report {
        Report { notes: vec![note.to_owned()], ..Report::default() }
    }

    #[test]
    fn or_a_full_report_is_read() {
        let object = r#"{"status":"done","summary":"built it","metrics":{"endpoints":5,"coverage":81.5,"hasAdr":true,
            "stack":"axum","files":["a","b"],"big":18446744073709551615,"digits":"3"},"verdict":"approve",
            "error":{"class":"build","text":"E0308"},"deliverables":["docs/a.md"],"gates":["security"],
            "references":["docs/spec.md"],"skills":[{"skill":"spec","reason":"first","status":"complete",
            "deliverables":["F.md"]},3],"capabilities":["login","logout"],"extra":{"x":1}}"#;
        let metrics = [
            ("endpoints", Value::Int(5)),
            ("coverage", Value::Number(81.5)),
            ("has_adr", Value::Bool(true)),
            ("stack", Value::from("axum")),
            ("files", Value::Int(2)),
            ("big", Value::Number(18446744073709551615.0)),
            ("digits", Value::from("3")),
            ("verdict", Value::from("APPROVE")),
        ];
        let expected = Report {
            signal: Some(SignalWord::Done),
            summary: Some("built it".into()),
            metrics: metrics.map(|(key, value)| (key.to_owned(), value)).into(),
            error: Some(Trouble { class: ErrorClass::Build, text: "E0308".into() }),
            deliverables: vec!["docs/a.md".into()],
            references: vec!["docs/spec.md".into()],
            skills: vec![NestedSkill {
                skill: "spec".into(),
                reason: "first".into(),
                status: "complete".into(),
                deliverables: vec!["F.md".into()],
            }],
            notes: vec!["skills has an entry that is not an object".into()],
            gates: vec!["security".into()],
            items: vec!["login".into(), "logout".into()],
            ..found()
        };
        assert_eq!(read(object), expected);
        assert_eq!(read(&format!("Done.\r\n\r\n```json\r\n{object}\r\n```\r\n")), expected);
        assert_eq!(read(&format!("```\n{{}}\n```\ntext\n~~~ JSON\n{object}\n~~~")), expected);
    }

    #[test]
    fn or_each_status_means_one_thing() {
        let cases = [
            (r#"{"status":"done"}"#, Report { signal: Some(SignalWord::Done), ..found() }),
            (r#"{"status":"continue"}"#, found()),
            (r#"{"status":"failed"}"#, Report { failed: true, ..found() }),
            (r#"{"status":"blocked"}"#, Report { stuck: Some("unspecified".into()), ..found() }),
            (
                r#"{"status":"blocked","summary":"no key"}"#,
                Report { stuck: Some("no key".into()), summary: Some("no key".into()), ..found() },
            ),
            (
                r#"{"status":"blocked","summary":"read it","error":{"class":"ambiguous","text":"in euros?"}}"#,
                Report {
                    stuck: Some("in euros?".into()),
                    summary: Some("read it".into()),
                    error: Some(Trouble { class: ErrorClass::Ambiguous, text: "in euros?".into() }),
                    ..found()
                },
            ),
            (
                r#"{"status":"blocked","error":"no net"}"#,
                Report {
                    stuck: Some("no net".into()),
                    error: Some(Trouble { class: ErrorClass::Other, text: "no net".into() }),
                    ..found()
                },
            ),
            (r#"{"status":"failed","status":"done"}"#, Report { signal: Some(SignalWord::Done), ..found() }),
            (
                r#"{"status":"DONE"}"#,
                Report {
                    notes: vec!["unknown status \"DONE\"; it is done, continue, failed or blocked".into()],
                    ..found()
                },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn or_wrong_types_are_noted_and_the_rest_counts() {
        let text = r#"{"status":["done"],"summary":1,"metrics":{"a":null,"b":{},"c":1,"d e!":2},"verdict":true,
            "error":{"class":"odd","text":[]},"deliverables":"x","gates":[1,"security"],"capabilities":null}"#;
        let expected = Report {
            metrics: BTreeMap::from([("c".to_owned(), Value::Int(1))]),
            error: Some(Trouble { class: ErrorClass::Other, text: "unspecified".into() }),
            gates: vec!["security".into()],
            notes: [
                "summary is not a text",
                "metric \"a\" is neither a number, a boolean, a text nor a list",
                "metric \"b\" is neither a number, a boolean, a text nor a list",
                "\"d e!\" cannot name a metric",
                "verdict is not a text",
                "error.text is not a text",
                "unknown class of error \"odd\"; taken as other",
                "deliverables is not a list",
                "gates has an entry that is not a text",
                "status is not a text",
            ]
            .map(str::to_owned)
            .into(),
            ..found()
        };
        assert_eq!(read(text), expected);
    }

    #[test]
    fn or_what_is_no_report_says_why() {
        let deep = format!("{{\"status\":{}", "[".repeat(100_000));
        let long = format!("{{\"status\":\"done\",\"x\":\"{}\"}}", "x".repeat(REPORT_BYTES));
        let no_end = "the message does not end with a JSON object in a code fence";
        let cases = [
            ("", no_end),
            ("done", no_end),
            ("{\"status\":\"done\"} as I said", "cannot be read: trailing characters at line 1 column 19"),
            ("```json\n{\"status\":\"done\"}\n```\nas I said", no_end),
            ("I say {\"status\":\"done\"}", no_end),
            ("```python\n{\"status\":\"done\"}\n```", no_end),
            ("```json\n[{\"status\":\"done\"}]\n```", "the JSON at the end of the message is not an object"),
            ("```json\n{\"name\":\"demo\"}\n```", "the JSON object has none of the keys of a report"),
            (deep.as_str(), "cannot be read: recursion limit exceeded at line 1 column 137"),
            (long.as_str(), "the JSON object is longer than 256 KiB and was not read"),
        ];
        for (text, note) in cases {
            let full = format!("the JSON at the end of the message {note}");
            let note = if note.starts_with("cannot") { &full } else { note };
            assert_eq!(read(text), noted(note), "{:?}", &text[..text.len().min(60)]);
        }
    }
}
