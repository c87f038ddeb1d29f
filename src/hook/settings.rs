//! Puts our stop hook into an agent's settings file without touching anything else in it: the text
//! is spliced, not written anew, so order, indentation and everything that we do not know stay. What
//! comes out is read again and must be what was meant, else nothing is changed.

use loop_base::json_text::{append, member};
use serde_json::{Value, json};

/// Returns the settings with the hook, nothing where they have it already, or why they cannot be
/// changed.
pub(crate) fn install(text: &str, command: &str, timeout_seconds: u64) -> Result<Option<String>, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(settings) = &value else { return Err("it is not a JSON object".to_owned()) };
    let hooks = settings.get("hooks");
    if hooks.is_some_and(|it| !it.is_object()) {
        return Err("its \"hooks\" is not an object".to_owned());
    }
    let stop = hooks.and_then(|it| it.get("Stop"));
    if stop.is_some_and(|it| !it.is_array()) {
        return Err("\"Stop\" in its \"hooks\" is not a list".to_owned());
    }
    if stop.is_some_and(has_ours) {
        return Ok(None);
    }
    let entry = json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout_seconds }] });
    let mut meant = value.clone();
    match &mut meant["hooks"]["Stop"] {
        Value::Array(entries) => entries.push(entry.clone()),
        absent => *absent = json!([entry.clone()]),
    }
    let start = text.find('{').expect("it is an object");
    let hooks_at = member(text, start, "hooks");
    let stop_at = hooks_at.as_ref().and_then(|it| member(text, it.start, "Stop"));
    let spliced = match (hooks_at, stop_at) {
        (_, Some(list)) => append(text, list.start, &entry.to_string(), 3),
        (Some(object), None) => append(text, object.start, &format!("\"Stop\": [{entry}]"), 2),
        (None, None) => append(text, start, &format!("\"hooks\": {{\"Stop\": [{entry}]}}"), 1),
    };
    match serde_json::from_str::<Value>(&spliced) {
        Ok(read) if read == meant => Ok(Some(spliced)),
        Ok(_) | Err(_) => Err("its formatting cannot be edited safely".to_owned()),
    }
}

/// Whether all that changed in the settings is that our hook was put there.
pub(crate) fn is_only_installed(before: &str, now: &str) -> bool {
    let Ok(settings) = serde_json::from_str::<Value>(now) else { return false };
    let entries = settings["hooks"]["Stop"].as_array().into_iter().flatten();
    let mut hooks = entries.flat_map(|it| it["hooks"].as_array().into_iter().flatten());
    let Some(ours) = hooks.find(|it| is_ours(it)) else { return false };
    let (Some(command), Some(timeout)) = (ours["command"].as_str(), ours["timeout"].as_u64()) else {
        return false;
    };
    install(before, command, timeout).is_ok_and(|it| it.as_deref() == Some(now))
}

fn has_ours(stop: &Value) -> bool {
    let entries = stop.as_array().into_iter().flatten();
    entries.flat_map(|it| it["hooks"].as_array().into_iter().flatten()).any(is_ours)
}

fn is_ours(hook: &Value) -> bool {
    hook["command"].as_str().is_some_and(|it| it.contains("hook stop"))
}

#[cfg(test)]
mod tests {
    use super::{install, is_only_installed};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn installed(text: &str) -> String {
        install(text, "loop hook stop", 60).expect("can be changed").expect("is changed")
    }

    #[test]
    fn nothing_else_is_touched() {
        let ours = r#"{"hooks":[{"command":"loop hook stop","timeout":60,"type":"command"}]}"#;
        assert_eq!(installed(""), format!("{{\n  \"hooks\": {{\"Stop\": [{ours}]}}\n}}\n"));
        let theirs = "{\n  \"model\" : \"opus\",\n  \"a\": [ 1,2 ]\n}\n";
        assert_eq!(
            installed(theirs),
            format!(
                "{{\n  \"model\" : \"opus\",\n  \"a\": [ 1,2 ],\n  \"hooks\": {{\"Stop\": [{ours}]}}\n}}\n"
            )
        );
        let theirs = "{ \"hooks\": { \"PreToolUse\": [] } }";
        assert_eq!(
            installed(theirs),
            format!("{{ \"hooks\": {{ \"PreToolUse\": [],\n    \"Stop\": [{ours}]\n   }} }}")
        );
        let theirs = "{\"hooks\": {\"Stop\": [\n      {\"hooks\": []}\n    ]}, \"z\": 1}";
        assert_eq!(
            installed(theirs),
            format!(
                "{{\"hooks\": {{\"Stop\": [\n      {{\"hooks\": []}},\n      {ours}\n    ]}}, \"z\": 1}}"
            )
        );
    }

    #[test]
    fn it_is_put_there_once() {
        let once = installed("{\"hooks\": {\"Stop\": []}}");
        assert_eq!(install(&once, "loop hook stop", 60), Ok(None));
        let elsewhere = once.replace("loop hook stop", "/opt/bin/loop hook stop --timeout 90");
        assert_eq!(install(&elsewhere, "loop hook stop", 60), Ok(None));
    }

    #[test]
    fn only_the_hook_itself_counts_as_installed() {
        let theirs = "{\n  \"model\": \"opus\"\n}\n";
        for before in ["", theirs] {
            let now = installed(before);
            assert!(is_only_installed(before, &now));
            assert!(!is_only_installed(before, &now.replace("\"hooks\": {", "\"b\": 1, \"hooks\": {")));
            assert!(!is_only_installed(&now, &now));
        }
        assert!(!is_only_installed("", theirs));
        assert!(!is_only_installed("", "{"));
    }

    #[test]
    fn what_cannot_be_understood_is_left_alone() {
        for text in ["{", "[]", "3", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "// x\n{}"] {
            assert!(install(text, "loop hook stop", 60).is_err(), "{text}");
        }
    }

    fn any_settings() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: é]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key = prop::sample::select(vec!["hooks", "Stop", "a", "b\"}", "command"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(key, inner, 0..4).prop_map(|it| Value::Object(
                    it.into_iter().map(|(key, it)| (key.to_owned(), it)).collect()
                )),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_was_there_is_there_afterwards(settings in any_settings(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&settings) } else { serde_json::to_string(&settings) };
            let text = text.expect("JSON");
            if let Ok(Some(changed)) = install(&text, "loop hook stop", 60) {
                let mut read: Value = serde_json::from_str(&changed).expect("JSON");
                let entries = read["hooks"]["Stop"].as_array_mut().expect("a list");
                let last = entries.pop().expect("ours");
                prop_assert_eq!(&last["hooks"][0]["command"], &json!("loop hook stop"));
                let mut before = settings.clone();
                if before["hooks"].get("Stop").is_none() {
                    before["hooks"]["Stop"] = json!([]);
                }
                prop_assert_eq!(read, before);
            } else if settings.is_object() {
                let odd = !settings["hooks"].is_null() && !settings["hooks"].is_object()
                    || settings.get("hooks").is_some_and(Value::is_null)
                    || settings["hooks"].get("Stop").is_some_and(|it| !it.is_array());
                prop_assert!(odd, "{}", text);
            }
        }
    }
}
