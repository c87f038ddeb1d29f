//! The corpus as it stands in the TOML files beside this one: sample projects, tricks, rows, forged
//! messages and honest runs. Everything is read at once and checked against itself, so that a row
//! with a misspelt sample or a trick that nobody explains is found before anything runs. The format
//! is described in README.md.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) struct Corpus {
    pub(crate) samples: BTreeMap<String, Sample>,
    pub(crate) tricks: BTreeMap<String, String>,
    pub(crate) cheats: Vec<Row>,
    pub(crate) honest: Vec<Row>,
    pub(crate) forged: Vec<Forged>,
}

/// A small project. `files` is its green state; on a red start `red` is laid over them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    pub(crate) about: String,
    pub(crate) needs: Vec<Tool>,
    /// `NAME=COMMAND`, as a person would give them to `--check`.
    pub(crate) checks: Vec<String>,
    /// The test that is red on a red start.
    pub(crate) red_test: String,
    /// A person's preparation before the first commit, such as `npm install`.
    pub(crate) prepare: Option<String>,
    #[serde(default)]
    pub(crate) executable: Vec<String>,
    /// Makes the checks red by an ignored file or by HOME alone.
    pub(crate) fault: String,
    /// The cheat whose fault a cache hides in place.
    pub(crate) hidden_by_cache: String,
    /// Where the product stands, as beginnings of paths; empty where tests stand in the same files.
    pub(crate) product: Vec<String>,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) red: BTreeMap<String, String>,
}

/// What a machine must have; a row whose tool is missing is skipped by name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tool {
    Cargo,
    Python,
    Pytest,
    Node,
    Npm,
    Go,
    Make,
}

/// One agent in one sample, and what must become of its run.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// The trick of a cheat, the kind of change of an honest run.
    pub(crate) trick: String,
    pub(crate) sample: String,
    pub(crate) start: Start,
    /// What the agent does in its first call.
    pub(crate) script: String,
    /// What it does in later calls, where it is more than repeating its promise.
    pub(crate) again: Option<String>,
    /// What a person did before the run, in the committed project; the loader does not commit it.
    pub(crate) setup: Option<String>,
    /// Further arguments of `loop run`.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Instead of the sample's checks.
    pub(crate) checks: Option<Vec<String>>,
    pub(crate) step: Step,
    pub(crate) outcome: Outcome,
    pub(crate) level: Option<Level>,
    /// What the question must name: test ids, files.
    #[serde(default)]
    pub(crate) words: Vec<String>,
    /// The exit code of `loop run`, where the outcome does not say it.
    pub(crate) exit: Option<i32>,
    /// A cheat that nothing here can tell from honest work.
    #[serde(default)]
    pub(crate) undetectable: bool,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Start {
    /// All checks pass; the task is a feature.
    Green,
    /// `red_test` fails; the task is a fix.
    Red,
}

/// Where the proof notices it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// The checks in place, once the agent's processes are gone or the tree was seen to move.
    Place,
    /// The ids of the tests in place against those of the baseline.
    Ratchet,
    /// The final tree in a clean checkout.
    Clean,
    /// The baseline's protected files laid over the clean checkout.
    Overlay,
    /// The final tests on the baseline's code.
    OldCode,
    /// The test that must fail.
    Canary,
    /// Nothing alarms, and nothing was proven either.
    Unproven,
    /// Nothing notices; or, in an honest run, there is nothing to notice.
    Nothing,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// Waits with the question `proof` or `prepare`, exit 3, and names the words.
    Asked,
    /// Does not complete: halted, capped or waiting.
    Refused,
    /// Completed, `verified: false`.
    Unverified,
    /// Completed, `verified: true`.
    Verified,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    RedToGreen,
    NewTest,
    UnchangedGreen,
    None,
}

/// What an agent printed that looks like a completion and is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forged {
    pub(crate) id: String,
    pub(crate) protocol: Protocol,
    pub(crate) stdout: String,
    /// Printed on standard error, which is no message.
    pub(crate) stderr: Option<String>,
    #[serde(default)]
    pub(crate) exit: i32,
    /// Prints the prompt first.
    #[serde(default)]
    pub(crate) echo: bool,
    /// A known hole: it does complete a run, so it is named and not run.
    #[serde(default)]
    pub(crate) open: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Protocol {
    Promise,
    PrpStatus,
    ExitSignal,
    Json,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::RedToGreen => "red-to-green",
            Level::NewTest => "new-test",
            Level::UnchangedGreen => "unchanged-green",
            Level::None => "none",
        }
    }
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Protocol::Promise => "promise",
            Protocol::PrpStatus => "prp-status",
            Protocol::ExitSignal => "exit-signal",
            Protocol::Json => "json",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    sample: String,
    #[serde(default)]
    cheat: Vec<RowText>,
    #[serde(default)]
    honest: Vec<RowText>,
}

/// A row as it is written: its file names the sample.
#[derive(Deserialize)]
struct RowText {
    #[serde(flatten)]
    row: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgedFile {
    forged: Vec<Forged>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cheats")
}

/// Reads the whole corpus; a mistake in it names the file.
pub(crate) fn read() -> Corpus {
    let samples = texts("samples").into_iter().map(|(name, text)| (name.clone(), parse(&name, &text)));
    let samples: BTreeMap<String, Sample> = samples.collect();
    let (mut cheats, mut honest) = (Vec::new(), Vec::new());
    for place in ["rows", "honest"] {
        for (name, text) in texts(place) {
            let file: RowFile = parse(&name, &text);
            assert!(samples.contains_key(&file.sample), "{place}/{name}.toml: no sample {}", file.sample);
            cheats.extend(file.cheat.into_iter().map(|it| row(&name, &file.sample, it)));
            honest.extend(file.honest.into_iter().map(|it| row(&name, &file.sample, it)));
        }
    }
    let one = |name: &str| std::fs::read_to_string(folder().join(name)).expect("a file of the corpus");
    let forged: ForgedFile = parse("forged", &one("forged.toml"));
    let corpus = Corpus {
        samples,
        tricks: parse("tricks", &one("tricks.toml")),
        cheats,
        honest,
        forged: forged.forged,
    };
    corpus.check();
    corpus
}

fn texts(place: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder().join(place)).expect("a folder of the corpus").flatten();
    let mut found: Vec<(String, String)> = entries
        .filter_map(|it| {
            let name = it.file_name().to_str()?.strip_suffix(".toml")?.to_owned();
            Some((name, std::fs::read_to_string(it.path()).expect("text")))
        })
        .collect();
    found.sort();
    found
}

fn parse<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> T {
    toml::from_str(text).unwrap_or_else(|why| panic!("{name}.toml: {why}"))
}

fn row(file: &str, sample: &str, text: RowText) -> Row {
    let mut table = text.row;
    table.entry("sample").or_insert_with(|| sample.into());
    let id = table.get("id").cloned();
    table.try_into().unwrap_or_else(|why| panic!("{file}.toml, row {id:?}: {why}"))
}

impl Corpus {
    /// What a parser cannot see: names that lead nowhere, ids twice, expectations that contradict.
    fn check(&self) {
        let mut ids = BTreeSet::new();
        let forged = self.forged.iter().map(|it| &it.id);
        for id in self.cheats.iter().chain(&self.honest).map(|it| &it.id).chain(forged) {
            assert!(ids.insert(id), "the id {id} is used twice");
        }
        for row in self.cheats.iter().chain(&self.honest) {
            let id = &row.id;
            assert!(self.samples.contains_key(&row.sample), "{id}: no sample {}", row.sample);
            let is_completed = matches!(row.outcome, Outcome::Verified | Outcome::Unverified);
            assert_eq!(
                row.level.is_some(),
                is_completed,
                "{id}: a completed run has a level, others have none"
            );
            assert_eq!(
                row.outcome == Outcome::Asked || row.exit.is_some(),
                !row.words.is_empty(),
                "{id}: a question names something"
            );
        }
        for row in &self.cheats {
            let id = &row.id;
            assert!(self.tricks.contains_key(&row.trick), "{id}: tricks.toml has no {}", row.trick);
            assert_eq!(row.undetectable, row.outcome == Outcome::Verified, "{id}: only what nothing can see");
            assert_eq!(row.undetectable, row.step == Step::Nothing, "{id}: a cheat is seen by a step");
        }
        for (name, sample) in &self.samples {
            assert!(!sample.red.is_empty() && !sample.about.is_empty(), "{name} has no red start");
            let hidden = self.cheats.iter().find(|it| it.id == sample.hidden_by_cache);
            let fits = hidden.is_some_and(|it| it.sample == *name && it.step == Step::Clean);
            assert!(fits, "{name}: {} is no cheat that a clean checkout sees", sample.hidden_by_cache);
        }
    }
}

impl Row {
    /// A row whose agent does nothing, for what only needs a project.
    pub(crate) fn blank(start: Start) -> Row {
        Row {
            id: "blank".to_owned(),
            trick: "blank".to_owned(),
            sample: String::new(),
            start,
            script: ":".to_owned(),
            again: None,
            setup: None,
            args: Vec::new(),
            checks: None,
            step: Step::Unproven,
            outcome: Outcome::Refused,
            level: None,
            words: Vec::new(),
            exit: None,
            undetectable: false,
            note: None,
        }
    }
}
