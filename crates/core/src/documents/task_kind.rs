//! The types of tasks that a design can have: what gives each away in a sentence, and what is promised when it is done.

/// A type of task: its id, its name, what is promised when it is done, the words that give it away, and what its
/// acceptance needs beyond the task itself.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskKind {
    pub id: &'static str,
    pub name: &'static str,
    promise: &'static str,
    words: &'static [&'static str],
    pub(super) criterion: &'static str,
}

/// In the order in which a sentence is tried: "fix a slow query" is about the fix, "add tests" is
/// about tests, and nearly everything adds something.
pub const KINDS: [TaskKind; 8] = [
    TaskKind {
        id: "security",
        name: "Security",
        promise: "SECURITY_FIXED",
        words: &[
            "security",
            "vulnerability",
            "vulnerabilities",
            "cve",
            "xss",
            "csrf",
            "injection",
            "exploit",
            "sanitize",
            "sanitise",
        ],
        criterion: "A test shows that the attack fails",
    },
    TaskKind {
        id: "performance",
        name: "Performance",
        promise: "OPTIMIZED",
        words: &[
            "performance",
            "optimize",
            "optimise",
            "optimization",
            "faster",
            "speed",
            "slow",
            "latency",
            "throughput",
            "benchmark",
        ],
        criterion: "A measurement before and after shows the difference",
    },
    TaskKind {
        id: "refactoring",
        name: "Refactoring",
        promise: "REFACTORED",
        words: &["refactor", "refactoring", "restructure", "reorganize", "reorganise", "simplify", "rename"],
        criterion: "Behaviour is unchanged: the tests that existed pass as they were",
    },
    TaskKind {
        id: "bug-fix",
        name: "Bug Fix",
        promise: "BUG_FIXED",
        words: &[
            "bug",
            "bugs",
            "bugfix",
            "fix",
            "fixes",
            "crash",
            "crashes",
            "broken",
            "regression",
            "repair",
        ],
        criterion: "A test fails without the fix and passes with it",
    },
    TaskKind {
        id: "documentation",
        name: "Documentation",
        promise: "DOCS_COMPLETE",
        words: &["documentation", "document", "docs", "readme", "changelog", "tutorial"],
        criterion: "Every command and example in the text works as written",
    },
    TaskKind {
        id: "testing",
        name: "Testing",
        promise: "TESTS_COMPLETE",
        words: &["test", "tests", "testing", "coverage"],
        criterion: "Each added test fails when what it tests is taken away",
    },
    TaskKind {
        id: "api",
        name: "API",
        promise: "API_COMPLETE",
        words: &["api", "endpoint", "endpoints", "rest", "graphql", "webhook", "grpc"],
        criterion: "Every endpoint has tests for what it accepts and what it refuses",
    },
    TaskKind {
        id: "feature",
        name: "Feature",
        promise: "FEATURE_COMPLETE",
        words: &["feature", "add", "implement", "support", "create", "introduce", "build"],
        criterion: "Tests cover the added behaviour",
    },
];

/// Returns the type with this id or name.
pub fn kind_named(name: &str) -> Option<&'static TaskKind> {
    let name = name.trim();
    KINDS.iter().find(|it| it.id.eq_ignore_ascii_case(name) || it.name.eq_ignore_ascii_case(name))
}

/// Returns the type that a sentence speaks of.
pub fn kind_of(sentence: &str) -> Option<&'static TaskKind> {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split(|it: char| !it.is_alphanumeric()).collect();
    KINDS.iter().find(|kind| kind.words.iter().any(|it| words.contains(it)))
}

/// The promise where the type is not one of ours.
pub(super) const ANY_PROMISE: &str = "TASK_COMPLETE";

/// Returns the promise that belongs to what stands behind "Task Type". The type itself first, then its words in a fixed
/// order: "API Testing" is about tests.
pub(super) fn promise_of_type(text: &str) -> &'static str {
    const BY_WORD: [(&str, &[&str]); 8] = [
        ("testing", &["testing", "tests", "test"]),
        ("feature", &["feature"]),
        ("bug-fix", &["bug", "fix", "bugfix"]),
        ("performance", &["performance", "optimization"]),
        ("refactoring", &["refactoring", "refactor"]),
        ("security", &["security"]),
        ("documentation", &["documentation", "docs"]),
        ("api", &["api"]),
    ];
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|it: char| !it.is_ascii_alphanumeric()).collect();
    let by_word = || BY_WORD.iter().find(|(_, names)| names.iter().any(|it| words.contains(it)));
    let kind = kind_named(text).or_else(|| kind_named(by_word()?.0));
    kind.map_or(ANY_PROMISE, |it| it.promise)
}

#[cfg(test)]
mod tests {
    use super::{ANY_PROMISE, KINDS, kind_named, kind_of, promise_of_type};

    #[test]
    fn the_words_of_a_sentence_give_its_type_away() {
        let of = |sentence: &str| kind_of(sentence).map(|it| it.id);
        assert_eq!(of("Fix the crash when a test fails"), Some("bug-fix"));
        assert_eq!(of("add tests for the parser"), Some("testing"));
        assert_eq!(of("a REST endpoint for todos"), Some("api"));
        assert_eq!(of("make the slow API faster"), Some("performance"));
        assert_eq!(of("close the SQL injection"), Some("security"));
        assert_eq!(of("prefix every line"), None);
        assert_eq!(of("Implement undo"), Some("feature"));
        assert_eq!(kind_named(" bug fix ").map(|it| it.id), Some("bug-fix"));
        assert_eq!(kind_named("chore"), None);
        let promises: Vec<&str> = KINDS.iter().map(|it| promise_of_type(it.id)).collect();
        let by_name: Vec<&str> = KINDS.iter().map(|it| promise_of_type(it.name)).collect();
        assert_eq!(promises, by_name);
        assert!(!promises.contains(&ANY_PROMISE));
    }
}
