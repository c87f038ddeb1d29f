//! The file itself: a domain and its systems. Keys that this program does not know are kept as they are.

use super::status::JobStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A larger number of systems is no queue that people could look after; reading it would stall every command.
const SYSTEMS_MOST: usize = 200_000;

/// What a domain says about its queue, without the systems.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemQueue {
    #[serde(skip)]
    pub systems: Vec<SystemEntry>,
    /// Everything else.
    #[serde(flatten)]
    pub header: Map<String, Value>,
}

/// One system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemEntry {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub github_issue: Option<u64>,
    #[serde(default)]
    pub status: JobStatus,
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// 1 comes first.
    #[serde(default = "usual_priority")]
    pub priority: u32,
    /// What is to be built, in this order; else what the specification lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Value>,
    /// Which gates are asked for this system: `mode`, `gates`, `reason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomy: Option<Autonomy>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How much of a system is decided without a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Autonomy {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub gates: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Autonomy {
    /// Returns the gates that it asks for or leaves out: `{"deploy": {"required": false}}`, or `true` alone.
    pub fn required(&self) -> impl Iterator<Item = (&str, bool)> {
        self.gates.iter().filter_map(|(name, it)| {
            let required = it.as_bool().or_else(|| it.get("required")?.as_bool())?;
            Some((name.as_str(), required))
        })
    }
}

const fn usual_priority() -> u32 {
    3
}

/// How the ids of systems begin.
const PREFIX: &str = "sys-";

/// Returns the number of a system's id: `sys-` and at least three digits.
pub fn number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(PREFIX)?;
    (3 <= digits.len() && digits.bytes().all(|it| it.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Returns the id of the next system: one more than the highest, so that a deleted one is not taken again.
pub fn next_id<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let highest = ids.filter_map(number).max().unwrap_or(0);
    format!("{PREFIX}{:03}", highest + 1)
}

/// Reads a queue. Every mistake is named by the system and the field that it is in.
pub fn read(text: &str) -> Result<SystemQueue, Vec<String>> {
    let value: Value = serde_json::from_str(text).map_err(|error| vec![format!("no JSON: {error}")])?;
    let Value::Object(mut header) = value else { return Err(vec!["not a JSON object".to_owned()]) };
    let listed = match header.remove("systems") {
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err(vec!["systems is not a list".to_owned()]),
        None => return Err(vec!["systems is missing".to_owned()]),
    };
    if SYSTEMS_MOST < listed.len() {
        return Err(vec![format!("{} systems are more than {SYSTEMS_MOST}", listed.len())]);
    }
    let (mut systems, mut mistakes) = (Vec::new(), Vec::new());
    for (index, value) in listed.into_iter().enumerate() {
        let named = value.get("id").and_then(Value::as_str).map(str::to_owned);
        let place = named.unwrap_or_else(|| format!("systems[{index}]"));
        match serde_json::from_value::<SystemEntry>(value) {
            Ok(system) => {
                mistakes.extend(wrong(&system).map(|why| format!("{place}: {why}")));
                systems.push(system);
            }
            Err(error) => mistakes.push(format!("{place}: {error}")),
        }
    }
    if mistakes.is_empty() { Ok(SystemQueue { systems, header }) } else { Err(mistakes) }
}

/// Says what is wrong with one system by itself.
pub fn wrong(system: &SystemEntry) -> Option<String> {
    if number(&system.id).is_none() {
        return Some(format!("the id {:?} is not of the form sys-001", system.id));
    }
    if system.name.trim().is_empty() {
        return Some("name is empty".to_owned());
    }
    if system.priority == 0 {
        return Some("priority is 0; 1 comes first".to_owned());
    }
    system.capabilities.iter().any(|it| it.trim().is_empty()).then(|| "a capability has no name".to_owned())
}

/// Returns the text of the file.
pub fn write(header: &Map<String, Value>, systems: &[SystemEntry]) -> String {
    /// Each system begins with its id and its name, as people write it.
    #[derive(Serialize)]
    struct QueueText<'a> {
        #[serde(flatten)]
        header: &'a Map<String, Value>,
        systems: &'a [SystemEntry],
    }
    let mut text = serde_json::to_string_pretty(&QueueText { header, systems }).expect("plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{next_id, read, write};
    use crate::documents::system_queue::JobStatus;

    const SEED: &str = r#"{
      "domain": "field-service", "repository": "org/repo", "dreamState": "dream-state.md",
      "systems": [
        {"id": "sys-001", "name": "Auth", "description": "", "githubIssue": null, "status": "complete",
         "dependencies": [], "priority": 1, "owner": "ann"},
        {"id": "sys-002", "name": "Work Order Service", "status": "specified", "dependencies": ["sys-001"],
         "priority": 1, "capabilities": ["create", "assign"], "autonomy": {"mode": "supervised"}}
      ]}"#;

    #[test]
    fn a_queue_reads_back_with_the_keys_that_nobody_knows() {
        let queue = read(SEED).expect("a queue");
        assert_eq!(queue.systems[0].status, JobStatus::Complete);
        assert_eq!(queue.systems[0].rest["owner"], "ann");
        assert_eq!(queue.systems[1].capabilities, ["create", "assign"]);
        let again = read(&write(&queue.header, &queue.systems)).expect("the same queue");
        assert_eq!(again, queue);
        assert_eq!(again.header["domain"], "field-service");
    }

    #[test]
    fn mistakes_are_named_by_system_and_field() {
        let bad = SEED
            .replace("\"specified\"", "\"done\"")
            .replace("\"sys-001\", \"name\": \"Auth\"", "\"a\", \"name\": \"\"");
        let mistakes = read(&bad).expect_err("mistakes");
        assert!(mistakes[0].starts_with("a: the id \"a\" is not of the form sys-001"), "{mistakes:?}");
        assert!(mistakes[1].starts_with("sys-002: unknown variant `done`"), "{mistakes:?}");
        assert_eq!(read("{}").expect_err("no systems"), ["systems is missing"]);
    }

    #[test]
    fn or_ids_go_on_after_the_highest() {
        assert_eq!(next_id(["sys-001", "sys-007", "sys-1200"].into_iter()), "sys-1201");
        assert_eq!(next_id(std::iter::empty()), "sys-001");
    }
}
