//! What kind of error an iteration ended with: the one list of the classes, with the words that files,
//! reports and journals have for them. A failing check whose name is no class is a class of its own.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ErrorClass {
    Build,
    Test,
    Lint,
    Type,
    Security,
    Performance,
    External,
    Ambiguous,
    Other,
    /// The call ran out of time or waited for input.
    Timeout,
    /// A person asked for changes at a gate.
    GateRejection,
    /// The check of this name failed.
    Check(String),
}

impl ErrorClass {
    /// The classes that reports and workflow files can name.
    pub(crate) const REPORTED: [ErrorClass; 9] = [
        ErrorClass::Build,
        ErrorClass::Test,
        ErrorClass::Lint,
        ErrorClass::Type,
        ErrorClass::Security,
        ErrorClass::Performance,
        ErrorClass::External,
        ErrorClass::Ambiguous,
        ErrorClass::Other,
    ];

    pub fn word(&self) -> &str {
        match self {
            ErrorClass::Build => "build",
            ErrorClass::Test => "test",
            ErrorClass::Lint => "lint",
            ErrorClass::Type => "type",
            ErrorClass::Security => "security",
            ErrorClass::Performance => "performance",
            ErrorClass::External => "external",
            ErrorClass::Ambiguous => "ambiguous",
            ErrorClass::Other => "other",
            ErrorClass::Timeout => "timeout",
            ErrorClass::GateRejection => "gate-rejection",
            ErrorClass::Check(name) => name,
        }
    }

    /// Returns the class that a report or a workflow file calls so.
    pub(crate) fn reported(word: &str) -> Option<ErrorClass> {
        ErrorClass::REPORTED.into_iter().find(|it| it.word() == word)
    }

    /// Returns the words that reports and workflow files can use.
    pub(crate) fn reported_words() -> impl Iterator<Item = &'static str> {
        static CLASSES: [ErrorClass; 9] = ErrorClass::REPORTED;
        CLASSES.iter().map(ErrorClass::word)
    }

    /// Returns the class of a failure of this check.
    pub(crate) fn of_check(name: &str) -> ErrorClass {
        match name {
            "tests" | "integration" => ErrorClass::Test,
            "perf" => ErrorClass::Performance,
            "types" => ErrorClass::Type,
            name => ErrorClass::from(name.to_owned()),
        }
    }
}

impl From<String> for ErrorClass {
    fn from(word: String) -> ErrorClass {
        let known = ErrorClass::REPORTED.into_iter().chain([ErrorClass::Timeout, ErrorClass::GateRejection]);
        known.into_iter().find(|it| it.word() == word).unwrap_or(ErrorClass::Check(word))
    }
}

impl From<ErrorClass> for String {
    fn from(class: ErrorClass) -> String {
        class.word().to_owned()
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// By the word, so that stored maps keep their order.
impl Ord for ErrorClass {
    fn cmp(&self, other: &ErrorClass) -> Ordering {
        self.word().cmp(other.word())
    }
}

impl PartialOrd for ErrorClass {
    fn partial_cmp(&self, other: &ErrorClass) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorClass;
    use std::collections::BTreeMap;

    #[test]
    fn stored_words_are_read_and_written_in_their_order() {
        let stored = r#"{"build":1,"external":2,"gate-rejection":3,"smoke":4,"timeout":5,"type":6}"#;
        let read: BTreeMap<ErrorClass, u32> = serde_json::from_str(stored).expect("a map");
        assert_eq!(read.get(&ErrorClass::Check("smoke".to_owned())), Some(&4));
        assert_eq!(read.get(&ErrorClass::Timeout), Some(&5));
        assert_eq!(serde_json::to_string(&read).expect("text"), stored);
    }
}
