//! How the summary of a check can be read: the one list of the formats, with the words that files,
//! journals and `status --json` have for them.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountFormat {
    /// Every format reads along, and the ones with evidence count.
    Auto,
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    Go,
    Tap,
    Junit,
    KeyValue,
}

impl CountFormat {
    pub const ALL: [CountFormat; 12] = [
        CountFormat::Auto,
        CountFormat::Cargo,
        CountFormat::Nextest,
        CountFormat::Pytest,
        CountFormat::Unittest,
        CountFormat::Jest,
        CountFormat::Vitest,
        CountFormat::Mocha,
        CountFormat::Go,
        CountFormat::Tap,
        CountFormat::Junit,
        CountFormat::KeyValue,
    ];

    pub fn word(self) -> &'static str {
        match self {
            CountFormat::Auto => "auto",
            CountFormat::Cargo => "cargo",
            CountFormat::Nextest => "nextest",
            CountFormat::Pytest => "pytest",
            CountFormat::Unittest => "unittest",
            CountFormat::Jest => "jest",
            CountFormat::Vitest => "vitest",
            CountFormat::Mocha => "mocha",
            CountFormat::Go => "go",
            CountFormat::Tap => "tap",
            CountFormat::Junit => "junit",
            CountFormat::KeyValue => "key-value",
        }
    }

    /// Returns the format that a file calls so.
    pub fn named(word: &str) -> Option<CountFormat> {
        CountFormat::ALL.into_iter().find(|it| it.word() == word)
    }
}
