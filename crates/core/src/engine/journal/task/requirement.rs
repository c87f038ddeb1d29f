//! One row of what a run was asked for: a requirement or a success criterion, the task that was to bring
//! it, and what shows that it did. It is written to the journal, so it only ever grows.

use serde::{Deserialize, Serialize};

/// One thing that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    pub id: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<MetBy>,
    /// Tests that turned green in the iteration of its task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// The proof found those tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proven: bool,
    /// Only a person can say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_person: bool,
}

/// Who says that a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetBy {
    Measured,
    Verifier,
    Person,
}

impl MetBy {
    pub fn word(self) -> &'static str {
        match self {
            MetBy::Measured => "measured",
            MetBy::Verifier => "verifier",
            MetBy::Person => "person",
        }
    }
}

impl Requirement {
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Requirement {
        Requirement { id: id.into(), text: text.into(), ..Requirement::default() }
    }

    /// Whether it is not shown to be met, and no person has to judge it.
    pub fn is_open(&self) -> bool {
        self.by.is_none() && !self.for_person
    }

    /// Returns how it stands, in a word or a few.
    pub fn standing(&self) -> &'static str {
        match (self.by, self.proven, self.for_person) {
            (Some(MetBy::Measured), true, _) => "verified",
            (Some(MetBy::Measured), false, _) => "in place",
            (Some(MetBy::Verifier), _, _) => "claimed",
            (Some(MetBy::Person), _, _) => "accepted",
            (None, _, true) => "open for a person",
            (None, _, false) => "open",
        }
    }

    /// Whether a text names it: by its id, or by the same words.
    pub fn is_named(&self, said: &str) -> bool {
        let said = plain(said);
        let (id, text) = (plain(&self.id), plain(&self.text));
        said == id
            || (!text.is_empty() && said == text)
            || said.strip_prefix(&id).is_some_and(|it| it.starts_with(' '))
    }
}

/// Letters and digits alone, so that quotes, stars and dots make no difference.
pub(crate) fn plain(text: &str) -> String {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}
