//! The name of an autonomy mode. Modes are the user's own words but for one, whose meaning the engine
//! knows.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ModeName {
    /// A run settles itself what may be settled without a person.
    Autonomous,
    Own(String),
}

impl ModeName {
    pub fn word(&self) -> &str {
        match self {
            ModeName::Autonomous => "autonomous",
            ModeName::Own(name) => name,
        }
    }
}

impl From<String> for ModeName {
    fn from(word: String) -> ModeName {
        if word == ModeName::Autonomous.word() { ModeName::Autonomous } else { ModeName::Own(word) }
    }
}

impl From<&str> for ModeName {
    fn from(word: &str) -> ModeName {
        ModeName::from(word.to_owned())
    }
}

impl From<ModeName> for String {
    fn from(name: ModeName) -> String {
        name.word().to_owned()
    }
}

/// By the word, so that stored maps keep their order.
impl Ord for ModeName {
    fn cmp(&self, other: &ModeName) -> Ordering {
        self.word().cmp(other.word())
    }
}

impl PartialOrd for ModeName {
    fn partial_cmp(&self, other: &ModeName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
