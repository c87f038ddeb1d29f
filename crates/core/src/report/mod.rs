//! What an agent says at the end of a call: text in, [`Report`] out. Parsing never fails and never
//! panics; it returns what it understood and notes what it did not. Nothing here decides anything:
//! a report is a claim.
//!
//! [`read`] is the way in; each protocol has a file of its own. `block.rs` says which lines of a
//! message can carry a report at all, `simple_yaml.rs` reads the keys, sections and lists that two of the
//! protocols share, and `text_limits.rs` holds the limits on what is kept. Every reader takes time linear in
//! the length of its input, and memory that the limits bound.

mod block;
mod exit_signal;
#[cfg(test)]
mod forged;
mod frontmatter;
mod json;
mod promise;
#[cfg(test)]
mod properties;
mod prp_status;
mod simple_yaml;
mod text_limits;

use crate::documents::planning::verification::VerifiedTruth;
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, Protocol, SignalWord};
use loop_base::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name that a reviewer's word has in every protocol: the fact's own.
const VERDICT: &str = FactName::Verdict.name();

/// What a final message said, as far as its protocol could read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// False when the protocol found nothing that it could read (`no_report`).
    pub found: bool,
    /// The word that asks to leave the phase: `exit` (a `prp-status` block with `EXIT_SIGNAL: true`),
    /// `TASK_COMPLETE` …, the promise's text, `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<SignalWord>,
    /// A promise that is not the one that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_promise: Option<String>,
    /// The promise that was asked for stands in the message, but in a place where it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_promise: Option<PromisePlace>,
    /// Everything that has a name and a value; `verdict` is one of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Trouble>,
    /// The agent says that it cannot continue, and why (`STUCK:`, a `json` report that is blocked).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// A `json` report said `failed`: the skill is not done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<String>,
    /// Documents that the skill read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Skills that this one called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<NestedSkill>,
    /// Gates that the agent asks for. A report can only add one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// Items that the agent proposes (`capabilities`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// What a checkpoint lists for a person to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What the report leaves to a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub for_person: Vec<String>,
    /// What it says about the things that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truths: Vec<VerifiedTruth>,
    /// The counts contradict themselves and must not be believed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_broken: bool,
    /// What was odd, in words for the next prompt and for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The metric in which a report that stops at a checkpoint says at which.
pub const CHECKPOINT_METRIC: &str = "checkpoint";

/// The metric in which a report names its commit.
const COMMIT_METRIC: &str = "commit";

impl Report {
    /// Whether the report says anything about a commit.
    pub(crate) fn says_commit(&self) -> bool {
        self.metrics.contains_key(COMMIT_METRIC)
    }

    /// Returns the hash of the commit that the report names, where it names one.
    pub fn commit(&self) -> Option<String> {
        let Value::Text(named) = self.metrics.get(COMMIT_METRIC)? else { return None };
        let is_hash = HASH_LEAST <= named.len() && named.chars().all(|it| it.is_ascii_hexdigit());
        is_hash.then(|| named.to_ascii_lowercase())
    }
}

/// Shorter names are no hashes.
const HASH_LEAST: usize = 4;

/// A skill that another one called, as its report tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedSkill {
    pub skill: String,
    #[serde(default)]
    pub reason: String,
    /// In the agent's own word: `complete`, `failed`, `skipped`.
    #[serde(default)]
    pub status: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<String>,
}

/// Where a promise stands that does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromisePlace {
    /// With other text on its line.
    InsideLine,
    /// In a quote, in code, or indented.
    Shown,
    /// Next to the lines that surround it in the prompt.
    Echoed,
}

impl PromisePlace {
    /// Returns why the promise does not count, for people and for the next prompt.
    pub fn words(self) -> &'static str {
        match self {
            PromisePlace::InsideLine => "it is inside a line of text",
            PromisePlace::Shown => "it is quoted, indented or in code",
            PromisePlace::Echoed => "it repeats the lines of the prompt around it",
        }
    }
}

/// An error as an agent names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    /// One of [`ErrorClass::REPORTED`].
    pub class: ErrorClass,
    pub text: String,
}

/// What the running phase expects of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected<'a> {
    pub phase: &'a str,
    /// The promise's exact text, where the protocol is `promise`.
    pub promise: &'a str,
    /// What the agent was asked; a promise that it only repeats from there is not given.
    pub prompt: &'a str,
    /// Whether the phase is left by how many tests it has generated.
    pub generates_tests: bool,
}

/// Returns what the agent's final message says. For `frontmatter` the text is the content of the
/// file; for `json` it is the message or the content of `LOOP_RESULT_FILE`.
pub fn read(protocol: &Protocol, expected: Expected<'_>, text: &str) -> Report {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match protocol {
        Protocol::PrpStatus => prp_status::read(expected.phase, expected.generates_tests, text),
        Protocol::ExitSignal => exit_signal::read(text),
        Protocol::Promise => promise::read(expected.promise, expected.prompt, text),
        Protocol::Json => json::read(text),
        Protocol::Frontmatter(_) => frontmatter::read(text),
        // Nothing is asked for, so nothing is missing.
        Protocol::None => Report { found: true, ..Report::default() },
    }
}
