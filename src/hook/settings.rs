//! Puts our stop hook into an agent's settings file, or takes it out, and touches nothing else in it: the text
//! is spliced, not rewritten, so order, indentation and everything that we do not know stay. What
//! comes out is read again and must be what was meant, else nothing is changed.

use loop_base::json_text::{append, cut, elements, member, whole_member};
use serde_json::{Value, json};
use std::ops::Range;

/// Returns the settings with the hook, nothing where they have it already, or why they cannot be
/// changed.
pub(crate) fn install(text: &str, command: &str, timeout_seconds: u64) -> Result<Option<String>, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let value = understood(text)?;
    if our_command_in(&value).is_some() {
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
    as_meant(spliced, &meant).map(Some)
}

/// Returns the settings without our hook, nothing where they do not have it, or why they cannot be
/// changed. Entries and lists that held nothing else go with it.
pub(crate) fn remove(text: &str) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value = understood(text)?;
    if our_command_in(&value).is_none() {
        return Ok(None);
    }
    let meant = without_ours(value);
    let mut spliced = text.to_owned();
    // One is cut out at a time, because each moves those behind it.
    while let Some(ours) = first_of_ours(&spliced) {
        spliced = cut(&spliced, ours);
    }
    as_meant(spliced, &meant).map(Some)
}

/// Returns the command of our hook, where the settings have it.
pub(crate) fn installed(text: &str) -> Option<String> {
    our_command_in(&serde_json::from_str(text).ok()?)
}

/// Settings of the form that we know; anything else is left alone.
fn understood(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(settings) = &value else { return Err("it is not a JSON object".to_owned()) };
    let hooks = settings.get("hooks");
    if hooks.is_some_and(|it| !it.is_object()) {
        return Err("its \"hooks\" is not an object".to_owned());
    }
    if hooks.and_then(|it| it.get("Stop")).is_some_and(|it| !it.is_array()) {
        return Err("\"Stop\" in its \"hooks\" is not a list".to_owned());
    }
    Ok(value)
}

/// Whoever writes some JSON twice under one name, or formats it as nobody does, keeps what is there.
fn as_meant(spliced: String, meant: &Value) -> Result<String, String> {
    match serde_json::from_str::<Value>(&spliced) {
        Ok(read) if read == *meant => Ok(spliced),
        Ok(_) | Err(_) => Err("its formatting cannot be edited safely".to_owned()),
    }
}

fn our_command_in(settings: &Value) -> Option<String> {
    let entries = settings["hooks"]["Stop"].as_array()?.iter();
    let mut hooks = entries.flat_map(|it| it["hooks"].as_array().into_iter().flatten());
    hooks.find(|it| is_ours(it))?["command"].as_str().map(str::to_owned)
}

fn without_ours(mut settings: Value) -> Value {
    let Some(entries) = settings["hooks"]["Stop"].as_array_mut() else { return settings };
    entries.retain_mut(|entry| {
        let Some(hooks) = entry.get_mut("hooks").and_then(Value::as_array_mut) else { return true };
        let before = hooks.len();
        hooks.retain(|it| !is_ours(it));
        hooks.len() == before || !hooks.is_empty()
    });
    if !entries.is_empty() {
        return settings;
    }
    let object = settings.as_object_mut().expect("it was understood");
    let hooks = object.get_mut("hooks").and_then(Value::as_object_mut).expect("it was understood");
    hooks.remove("Stop");
    if hooks.is_empty() {
        object.remove("hooks");
    }
    settings
}

/// Returns where the first hook of ours stands, with whatever holds nothing else.
fn first_of_ours(text: &str) -> Option<Range<usize>> {
    let start = text.find('{')?;
    let hooks = member(text, start, "hooks")?;
    let stop = member(text, hooks.start, "Stop")?;
    let entries = elements(text, stop.start);
    let is_ours_at =
        |it: &Range<usize>| serde_json::from_str::<Value>(&text[it.clone()]).is_ok_and(|it| is_ours(&it));
    let (entry, list, ours) = entries.iter().find_map(|entry| {
        let list = text[entry.start..].starts_with('{').then(|| member(text, entry.start, "hooks"))??;
        let list = text[list.start..].starts_with('[').then(|| elements(text, list.start))?;
        let ours = list.iter().find(|it| is_ours_at(it))?.clone();
        Some((entry.clone(), list, ours))
    })?;
    let is_alone = |object: &Range<usize>| {
        serde_json::from_str::<Value>(&text[object.clone()])
            .is_ok_and(|it| it.as_object().is_some_and(|it| it.len() == 1))
    };
    match (list.len(), entries.len()) {
        (1, 1) if is_alone(&hooks) => whole_member(text, start, "hooks"),
        (1, 1) => whole_member(text, hooks.start, "Stop"),
        (1, _) => Some(entry),
        (_, _) => Some(ours),
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

fn is_ours(hook: &Value) -> bool {
    hook["command"].as_str().is_some_and(|it| it.contains("hook stop"))
}

#[cfg(test)]
mod tests {
    use super::{install, is_only_installed, remove};
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
    fn what_was_put_there_is_taken_out_again() {
        let rows = [
            ("", "{}\n"),
            ("{\n  \"model\" : \"opus\"\n}\n", "{\n  \"model\" : \"opus\"\n}\n"),
            ("{ \"hooks\": { \"PreToolUse\": [] } }", "{ \"hooks\": { \"PreToolUse\": []\n   } }"),
            (
                "{\"hooks\": {\"Stop\": [\n      {\"hooks\": [{\"command\": \"say done\"}]}\n    ]}, \"z\": 1}",
                "{\"hooks\": {\"Stop\": [\n      {\"hooks\": [{\"command\": \"say done\"}]}\n    ]}, \"z\": 1}",
            ),
        ];
        for (before, after) in rows {
            assert_eq!(remove(before), Ok(None), "{before}");
            assert_eq!(remove(&installed(before)), Ok(Some(after.to_owned())), "{before}");
        }
        let shared =
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "loop hook stop"}, {"command": "say done"}]}]}}"#;
        let kept = r#"{"hooks": {"Stop": [{"hooks": [{"command": "say done"}]}]}}"#;
        assert_eq!(remove(shared), Ok(Some(kept.to_owned())));
        let twice = r#"{"a": 1, "hooks": {"Stop": [{"hooks": [{"command": "loop hook stop"}]}, {"hooks": [{"command": "/x/loop hook stop"}]}]}}"#;
        assert_eq!(remove(twice), Ok(Some("{\"a\": 1}".to_owned())));
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
            assert!(remove(text).is_err(), "{text}");
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
                let left = remove(&changed).expect("can be changed").expect("is changed");
                let mut left: Value = serde_json::from_str(&left).expect("JSON");
                let mut meant = settings.clone();
                // Lists that were empty already look like ours that became empty.
                for settings in [&mut left, &mut meant] {
                    if settings["hooks"]["Stop"].as_array().is_none_or(Vec::is_empty) {
                        settings["hooks"]["Stop"] = json!([]);
                    }
                }
                prop_assert_eq!(left, meant);
            } else if settings.is_object() {
                let odd = !settings["hooks"].is_null() && !settings["hooks"].is_object()
                    || settings.get("hooks").is_some_and(Value::is_null)
                    || settings["hooks"].get("Stop").is_some_and(|it| !it.is_array());
                prop_assert!(odd, "{}", text);
            }
        }
    }
}
