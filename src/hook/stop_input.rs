//! What the agent's stop hook sends: the wire format of Claude Code, read with distrust. Whatever is
//! not as expected is a reason to let the session go, so every doubt is an error with its reason.

use serde_json::{Map, Value};
use std::path::PathBuf;

/// A session that wants to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub session: String,
    /// Where the session works.
    pub cwd: Option<PathBuf>,
    /// This stop follows one that was blocked.
    pub active: bool,
    /// The session's last words, where the agent sends them.
    pub message: Option<String>,
    pub transcript: Option<PathBuf>,
}

/// The longest id that is taken; real ones are UUIDs.
const SESSION_MOST: usize = 200;

impl Stop {
    /// Returns the stop, or nothing where the hook was called for another event.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Stop>, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("no JSON: {error}"))?;
        let Value::Object(fields) = value else { return Err("no JSON object".to_owned()) };
        if text(&fields, "hook_event_name")?.is_some_and(|it| it != "Stop") {
            return Ok(None);
        }
        let session = text(&fields, "session_id")?.unwrap_or_default();
        if session.trim().is_empty() || SESSION_MOST < session.len() {
            return Err("no session id".to_owned());
        }
        let active = match fields.get("stop_hook_active") {
            Some(Value::Bool(active)) => *active,
            None | Some(Value::Null) => false,
            Some(_) => return Err("stop_hook_active is not a boolean".to_owned()),
        };
        Ok(Some(Stop {
            session,
            cwd: text(&fields, "cwd")?.map(PathBuf::from).filter(|it| it.is_absolute()),
            active,
            message: text(&fields, "last_assistant_message")?,
            transcript: text(&fields, "transcript_path")?.map(PathBuf::from),
        }))
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(format!("{name} is not a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::Stop;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    fn real() -> Value {
        json!({
            "session_id": "5e6a1c0f-0000-4000-8000-000000000001",
            "transcript_path": "/home/me/.claude/projects/x/1.jsonl",
            "cwd": "/home/ann/project",
            "prompt_id": "p",
            "permission_mode": "bypassPermissions",
            "effort": {"level": "high"},
            "hook_event_name": "Stop",
            "stop_hook_active": true,
            "last_assistant_message": "done",
            "background_tasks": [],
            "session_crons": []
        })
    }

    fn parse(value: &Value) -> Result<Option<Stop>, String> {
        Stop::parse(value.to_string().as_bytes())
    }

    #[test]
    fn a_real_input_is_understood() {
        let expected = Stop {
            session: "5e6a1c0f-0000-4000-8000-000000000001".to_owned(),
            cwd: Some(PathBuf::from("/home/ann/project")),
            active: true,
            message: Some("done".to_owned()),
            transcript: Some(PathBuf::from("/home/me/.claude/projects/x/1.jsonl")),
        };
        assert_eq!(parse(&real()), Ok(Some(expected)));
    }

    #[test]
    fn g38_every_doubt_has_a_reason() {
        let with = |name: &str, value: Value| {
            let mut fields = real();
            fields[name] = value;
            parse(&fields)
        };
        assert_eq!(with("hook_event_name", json!("SubagentStop")), Ok(None));
        assert_eq!(with("session_id", json!("")), Err("no session id".to_owned()));
        assert_eq!(with("session_id", Value::Null), Err("no session id".to_owned()));
        assert_eq!(with("session_id", json!(["x"])), Err("session_id is not a text".to_owned()));
        assert_eq!(
            with("stop_hook_active", json!("no")),
            Err("stop_hook_active is not a boolean".to_owned())
        );
        assert_eq!(
            with("last_assistant_message", json!(1)),
            Err("last_assistant_message is not a text".to_owned())
        );
        for bytes in [&b""[..], b"[]", b"null", b"{", b"\xff\xfe", b"{\"session_id\": \"x\"} {}"] {
            assert!(Stop::parse(bytes).is_err(), "{bytes:?}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Stop::parse(deep.as_bytes()).is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,8}", inner, 0..4)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn bytes_never_panic_and_nonsense_is_no_stop(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some(stop)) = Stop::parse(&bytes) {
                prop_assert!(!stop.session.is_empty());
            }
        }

        #[test]
        fn a_changed_field_is_a_doubt_or_harmless(
            field in prop::sample::select(vec![
                "session_id", "cwd", "hook_event_name", "stop_hook_active", "last_assistant_message",
                "transcript_path", "anything",
            ]),
            value in any_json(),
        ) {
            let mut fields = real();
            fields[field] = value.clone();
            if let Ok(Some(stop)) = parse(&fields) {
                // What was taken is what was sent, or what was sent before.
                prop_assert!(stop.session == real()["session_id"] || value == stop.session.as_str());
                prop_assert!(stop.cwd.is_none_or(|it| it.is_absolute()));
            }
        }

        #[test]
        fn a_cut_input_is_no_stop(keep in 0usize..400) {
            let text = real().to_string();
            prop_assume!(keep < text.len());
            prop_assert!(Stop::parse(&text.as_bytes()[..keep]).is_err());
        }
    }
}
