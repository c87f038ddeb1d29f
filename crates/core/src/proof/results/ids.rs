//! Test ids and their outcomes. An id is the name of a check and the name that its runner gives the
//! test; a check that shows no test names has one id, its exit code, whose name is empty. What one
//! run of one check brought is a [`Results`].

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// More ids of one check are not kept: the check then counts by its exit code and its numbers. The
/// largest suites of public projects have some 40,000 tests.
pub(crate) const IDS_LIMIT: usize = 50_000;

/// A longer name is cut; parametrised tests put whole values into their names.
pub(crate) const NAME_LIMIT: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestId {
    pub check: String,
    /// The runner's name for the test, or empty for the exit code of the check.
    #[serde(rename = "test")]
    pub name: String,
}

/// The first half of a SHA-256: short enough for a table of many thousand ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdHash(pub [u8; 16]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    Passed,
    Failed,
    Skipped,
}

/// How the command of a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    Green,
    Red,
    /// The shell could not start the command (exit 126 or 127): says nothing about the code.
    NotStarted,
    /// Ended by a limit, a signal or a stop, so that what it did not report is unknown.
    Interrupted,
}

/// Which tests the output names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedTests {
    /// Every test that ran, by name.
    All,
    /// The failing ones by name, the others as a number.
    Failures,
    /// None: the check has one id, its exit code.
    Nothing,
}

/// What one run of one check brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    pub check: String,
    pub exit: Exit,
    pub listing: NamedTests,
    pub ids: BTreeMap<String, TestOutcome>,
    /// Numbers of passing, failing and skipped tests as far as the output tells; with
    /// [`NamedTests::All`] they are those of `ids`.
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
    /// The runner got to its end: a test that is not listed was not there. False after a test
    /// process died, a build failed or `cargo test` stopped at the first failing target.
    pub complete: bool,
    /// A test file or target did not compile or import, so that its tests are missing.
    pub build_failed: bool,
    /// There were more ids than [`IDS_LIMIT`], so that none are kept.
    pub too_many: bool,
}

impl TestId {
    pub fn new(check: impl Into<String>, name: impl Into<String>) -> TestId {
        TestId { check: check.into(), name: name.into() }
    }

    /// Returns the id that stands for the exit code of a check.
    pub fn exit(check: impl Into<String>) -> TestId {
        TestId::new(check, "")
    }

    pub(crate) fn is_exit(&self) -> bool {
        self.name.is_empty()
    }

    pub fn hash(&self) -> IdHash {
        let mut hasher = Sha256::new();
        hasher.update(self.check.as_bytes());
        hasher.update([0]);
        hasher.update(self.name.as_bytes());
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize()[..16]);
        IdHash(short)
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exit() { write!(f, "check {}", self.check) } else { write!(f, "test {}", self.name) }
    }
}

impl fmt::Display for IdHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|it| write!(f, "{it:02x}"))
    }
}

impl fmt::Debug for IdHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Exit {
    /// Reads the exit code of `sh -c`; without one the command was ended from outside.
    pub fn from_code(code: Option<i32>) -> Exit {
        match code {
            Some(0) => Exit::Green,
            Some(126 | 127) => Exit::NotStarted,
            Some(_) => Exit::Red,
            None => Exit::Interrupted,
        }
    }
}

impl Results {
    /// Returns the results of a check of which only the exit code is known.
    pub(crate) fn by_exit(check: impl Into<String>, exit: Exit) -> Results {
        Results {
            check: check.into(),
            exit,
            listing: NamedTests::Nothing,
            ids: BTreeMap::new(),
            passed: 0,
            failed: 0,
            skipped: 0,
            complete: matches!(exit, Exit::Green | Exit::Red),
            build_failed: false,
            too_many: false,
        }
    }

    /// Returns the number of tests that ran, or nothing where the output has no numbers.
    pub fn executed(&self) -> Option<u32> {
        match self.listing {
            NamedTests::All | NamedTests::Failures => Some(self.passed + self.failed),
            NamedTests::Nothing => None,
        }
    }

    pub fn outcome(&self, name: &str) -> Option<TestOutcome> {
        self.ids.get(name).copied()
    }

    pub fn names(&self, outcome: TestOutcome) -> impl Iterator<Item = &str> {
        self.ids.iter().filter(move |(_, it)| **it == outcome).map(|(name, _)| name.as_str())
    }

    pub fn id(&self, name: &str) -> TestId {
        TestId::new(&self.check, name)
    }
}
