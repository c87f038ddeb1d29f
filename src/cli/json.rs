//! JSON for programs, which ends on a terminal all the same when somebody looks. JSON itself
//! escapes only the first 32 characters; here everything goes escaped that could move a cursor,
//! hide or reorder text. A parser reads the same values.

use crate::world::question_text::QuestionText;
use loop_base::text::sanitise;
use loop_core::engine::{Question, State, choices};
use loop_core::workflow::model::Workflow;
use serde::Serialize;
use std::fmt::Write;

/// Returns an open question with everything that a person would be shown.
pub(super) fn question(workflow: &Workflow, state: &State, question: &Question) -> serde_json::Value {
    let text = QuestionText::of(workflow, state, question);
    serde_json::json!({
        "id": question.id, "kind": question.kind.word(), "text": question.text, "choices": choices(question),
        "answers": text.offers, "evidence": text.evidence,
        "deadline": question.deadline.map(|it| it.to_string()),
    })
}

/// Returns a value in one line.
pub(super) fn line(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string(value).expect("what we print is plain data"))
}

/// Returns a value for people's eyes too.
pub(super) fn pretty(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string_pretty(value).expect("what we print is plain data"))
}

fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        let mut room = [0; 4];
        if character <= '~' || !sanitise(character.encode_utf8(&mut room)).is_empty() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn what_is_escaped_is_read_as_it_was() {
        let text = "grün \u{9b}31m \u{7f}\u{202e}\u{feff}\u{e0041} \u{1f600}\n";
        let json = line(&text);
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
        assert!(json.contains("grün") && json.contains('\u{1f600}'));
        assert!(
            !json.chars().any(|it| it.is_control() || matches!(it, '\u{202e}' | '\u{feff}' | '\u{e0041}'))
        );
    }
}
