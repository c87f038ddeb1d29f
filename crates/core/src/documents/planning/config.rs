//! `config.json` of a planning folder: the settings of another tool, as far as a run uses them. A value
//! of the wrong type is a mistake that names its key and its line; every other key is left alone.

use super::DocumentMistake;
use serde_json::{Map, Value};

/// What a run takes from the file; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub enabled: Option<bool>,
    pub max_iterations: Option<u32>,
    pub stuck_threshold: Option<u32>,
    pub validation_commands: Vec<String>,
    pub model_profile: Option<String>,
    pub verifier: Option<bool>,
    pub commit_docs: Option<bool>,
    pub autonomous: Option<bool>,
    /// A line for the end of our own commits, such as `Co-Authored-By: …`.
    pub commit_trailer: Option<String>,
    /// Plans of one wave beside each other.
    pub parallel_waves: Option<bool>,
}

/// Reads the file, or returns everything that is wrong with it.
pub fn read(text: &str) -> Result<Config, Vec<DocumentMistake>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| {
        vec![DocumentMistake::at(error.line().max(1), format!("is no JSON: {}", bare(&error)))]
    })?;
    let Value::Object(whole) = value else {
        return Err(vec![DocumentMistake::at(1, "is not a JSON object")]);
    };
    let mut reader = ConfigReader { text, mistakes: Vec::new() };
    let own = reader.section(&whole, "loop");
    let workflow = reader.section(&whole, "workflow");
    let planning = reader.section(&whole, "planning");
    let config = Config {
        enabled: reader.flag(&own, "loop", "enabled"),
        max_iterations: reader.count(&own, "loop", "max_iterations"),
        stuck_threshold: reader.count(&own, "loop", "stuck_threshold"),
        validation_commands: reader.commands(&own, "loop", "validation_commands"),
        model_profile: reader.word(&whole, "", "model_profile"),
        verifier: reader.flag(&workflow, "workflow", "verifier"),
        commit_docs: reader
            .flag(&planning, "planning", "commit_docs")
            .or_else(|| reader.flag(&whole, "", "commit_docs")),
        autonomous: reader.flag(&whole, "", "autonomous"),
        commit_trailer: reader.word(&planning, "planning", "commit_trailer"),
        parallel_waves: reader.flag(&own, "loop", "parallel_waves"),
    };
    if reader.mistakes.is_empty() { Ok(config) } else { Err(reader.mistakes) }
}

/// The message without the position, which is said apart.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

struct ConfigReader<'a> {
    text: &'a str,
    mistakes: Vec<DocumentMistake>,
}

impl ConfigReader<'_> {
    fn section(&mut self, whole: &Map<String, Value>, key: &str) -> Map<String, Value> {
        match whole.get(key) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(other) => {
                self.wrong("", key, other, "an object");
                Map::new()
            }
        }
    }

    fn flag(&mut self, map: &Map<String, Value>, section: &str, key: &str) -> Option<bool> {
        match map.get(key)? {
            Value::Bool(it) => Some(*it),
            Value::Null => None,
            other => {
                self.wrong(section, key, other, "true or false");
                None
            }
        }
    }

    fn count(&mut self, map: &Map<String, Value>, section: &str, key: &str) -> Option<u32> {
        match map.get(key)? {
            Value::Null => None,
            other => {
                let count = other.as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| 0 < *it);
                if count.is_none() {
                    self.wrong(section, key, other, "a whole number above 0");
                }
                count
            }
        }
    }

    fn word(&mut self, map: &Map<String, Value>, section: &str, key: &str) -> Option<String> {
        match map.get(key)? {
            Value::Null => None,
            Value::String(it) if !it.trim().is_empty() => Some(it.trim().to_owned()),
            other => {
                self.wrong(section, key, other, "a text");
                None
            }
        }
    }

    fn commands(&mut self, map: &Map<String, Value>, section: &str, key: &str) -> Vec<String> {
        let items = match map.get(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.wrong(section, key, other, "a list of commands");
                return Vec::new();
            }
        };
        let found: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        match found {
            Some(found) => {
                found.into_iter().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
            }
            None => {
                let value = Value::Array(items.clone());
                self.wrong(section, key, &value, "a list of commands");
                Vec::new()
            }
        }
    }

    fn wrong(&mut self, section: &str, key: &str, value: &Value, wanted: &str) {
        let name = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        let shown: String = value.to_string().chars().take(40).collect();
        self.mistakes
            .push(DocumentMistake::at(self.line(section, key), format!("{name} is {shown}, not {wanted}")));
    }

    /// The line of a key, which the parsed value does not know: the first one below its section.
    fn line(&self, section: &str, key: &str) -> usize {
        let find = |from: usize, name: &str| {
            let quoted = format!("\"{name}\"");
            let is_key = |at: &usize| self.text[at + quoted.len()..].trim_start().starts_with(':');
            self.text[from..].match_indices(&quoted).map(|it| from + it.0).find(is_key)
        };
        let from = if section.is_empty() { 0 } else { find(0, section).unwrap_or(0) };
        let at = find(from, key).unwrap_or(from);
        self.text[..at].matches('\n').count() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, read};

    #[test]
    fn the_file_of_another_tool_is_read_for_what_is_used() {
        let text = r#"{"mode": "yolo", "depth": 3, "autonomous": true, "model_profile": "budget",
            "workflow": {"verifier": false, "research": true}, "planning": {"commit_docs": false},
            "loop": {"enabled": true, "max_iterations": 20, "stuck_threshold": 2, "validation_commands": ["make", ""]}}"#;
        let expected = Config {
            enabled: Some(true),
            max_iterations: Some(20),
            stuck_threshold: Some(2),
            validation_commands: vec!["make".to_owned()],
            model_profile: Some("budget".to_owned()),
            verifier: Some(false),
            commit_docs: Some(false),
            autonomous: Some(true),
            commit_trailer: None,
            parallel_waves: None,
        };
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("{}"), Ok(Config::default()));
        assert_eq!(read("{\"commit_docs\": false}").expect("sound").commit_docs, Some(false));
    }

    #[test]
    fn mistakes_name_their_key_and_line() {
        let text = "{\n  \"max_iterations\": \"x\",\n  \"loop\": {\n    \"max_iterations\": \"x\",\n    \"enabled\": 1,\n    \"validation_commands\": [1]\n  },\n  \"autonomous\": \"no\"\n}\n";
        let mistakes = read(text).expect_err("it is wrong");
        let said: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let expected = [
            "line 5: loop.enabled is 1, not true or false",
            "line 4: loop.max_iterations is \"x\", not a whole number above 0",
            "line 6: loop.validation_commands is [1], not a list of commands",
            "line 8: autonomous is \"no\", not true or false",
        ];
        assert_eq!(said, expected);
        assert_eq!(read("{\n\"a\": }").expect_err("no JSON")[0].line, 2);
        assert!(read("[]").is_err() && read("{\"loop\": 3}").is_err());
    }
}
