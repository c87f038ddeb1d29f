//! A workflow as it is meant: every default filled in, every name looked up, every condition
//! parsed. The engine reads nothing else. A run keeps its own copy of this, so it serialises; what
//! a user types has types of its own (`file.rs`).

mod agent;
mod completion;
mod error_class;
mod finish;
mod mode_name;
mod overrides;
mod phase;
pub(crate) mod routes;

pub use agent::{Agent, Model, Models, Permissions, Protocol};
pub use completion::{CompletionRow, ShownKind};
pub use error_class::ErrorClass;
pub use finish::{Finish, MergeBy, MergeRules, MergeThrough, Mirror, MirrorFormat, Ship};
pub use mode_name::ModeName;
pub use overrides::Overrides;
pub use phase::{
    Back, BreakerLimits, Gate, GateUse, Next, Phase, PhaseProof, Progress, Reject, RejectThen, Signal,
    SignalWord,
};

use crate::proof::{CountFormat, Level};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The position of a phase in [`Workflow::phases`].
pub type PhaseId = usize;

/// Milliseconds, where a length of time is meant.
pub type Millis = u64;

pub(crate) const MINUTE: Millis = 60_000;

/// The version of what a stored workflow holds. A field that is added has a default and needs no other
/// version; one that changes its meaning does.
pub const DEFINITION_VERSION: i64 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub about: String,
    pub input: Input,
    pub workspace: Workspace,
    pub agent: Agent,
    pub models: Models,
    /// The autonomy mode in force, one of [`Workflow::modes`].
    pub mode: Option<ModeName>,
    /// The gates that each mode requires.
    pub modes: BTreeMap<ModeName, Vec<String>>,
    pub limits: Limits,
    pub checks: BTreeMap<String, Check>,
    pub facts: BTreeMap<String, Fact>,
    pub items: Option<Items>,
    pub skills: BTreeMap<String, Skill>,
    pub phases: Vec<Phase>,
    pub gates: BTreeMap<String, Gate>,
    pub retries: Option<Retries>,
    pub finish: Finish,
    #[serde(default, skip_serializing_if = "is_usual")]
    pub merge: MergeRules,
    /// What must be shown before the work is merged. `None`: stored by a program whose workflows had no rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<Vec<CompletionRow>>,
    #[serde(default)]
    pub proof: ProofRules,
    pub mirror: Mirror,
    /// The command that tells a person, by `sh -c`.
    pub notify: Option<String>,
    /// What chose it beside the files, so that a run can read its files again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<Given>>,
}

/// The check that proves the work; every other may lack a command.
pub const TESTS_CHECK: &str = "tests";

impl Workflow {
    /// Whether the mode in force is the autonomous one.
    pub fn is_autonomous(&self) -> bool {
        self.mode == Some(ModeName::Autonomous)
    }

    /// The files that phases and skills have to leave behind, as patterns.
    pub fn deliverables(&self) -> impl Iterator<Item = &String> {
        let phases = self.phases.iter().flat_map(|it| &it.deliverables);
        phases.chain(self.skills.values().flat_map(|it| &it.deliverables))
    }
}

/// The part of a workflow that no file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// `--preset`, or what the input decided.
    pub preset: Option<String>,
    /// `--workflow`, as a whole path.
    pub file: Option<String>,
    pub overrides: Overrides,
}

/// What a run works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    pub kind: InputKind,
    pub about: String,
    /// The text is fixed when the run opens; ticking a checkbox is the only edit allowed.
    pub lock: bool,
    /// A lock that was broken halts the run; otherwise it is a warning.
    pub halt_on_edit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// A file that must exist, with success criteria (`tdd`).
    File,
    /// A system of the queue (`engineering`).
    Job,
    /// A phase of a roadmap (`plan`).
    Phase,
    /// A design file or a sentence (`ralph`).
    Design,
    /// A sentence.
    Text,
    /// The workflow takes none.
    None,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    pub at: WorkPlace,
    pub branch: String,
    pub cleanup: bool,
    /// The branch goes with the worktree, once it is merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delete_branch: bool,
    /// The command that makes a new worktree ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    #[serde(default)]
    pub lost_call: LostCall,
}

/// What happens to the files of a call whose end is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostCall {
    /// They stay, and the call is judged by them.
    #[default]
    Judge,
    /// They are kept in a snapshot and put back to the last commit; the call does not count.
    Undo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkPlace {
    Here,
    Worktree,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Iterations of the run; `None`: no such limit.
    pub iterations: Option<u32>,
    /// Iterations of one visit to a phase.
    pub phase_iterations: u32,
    pub window: Option<Window>,
    /// How long to wait for a provider that names no time.
    pub provider_wait: Millis,
    pub usd: Option<f64>,
    /// Tokens of all classes.
    pub tokens: Option<u64>,
    /// The most that one call may cost, and what one is taken to cost before any has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_usd: Option<f64>,
    /// Requests to the model in one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_turns: Option<u32>,
    /// Money of all calls of one phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_usd: Option<f64>,
    /// Money of all runs of this home on one local day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day_usd: Option<f64>,
    /// Calls of the account at once, over all runs of this home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Time spent working, waits for a person aside.
    pub time: Option<Millis>,
    /// Bytes of documents that a prompt brings along.
    #[serde(default = "context_bytes")]
    pub context_bytes: u64,
}

/// Four documents of 150 lines, or a third of that and a long plan: about 16,000 tokens, which leaves any
/// agent room to work.
pub(super) fn context_bytes() -> u64 {
    64 << 10
}

/// A limit on calls per time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub calls: u32,
    pub every: Millis,
    pub then: WindowThen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowThen {
    /// A person decides; without a terminal the run pauses.
    Ask,
    Wait,
    Pause,
    Abort,
}

/// A command that we run ourselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// `None`: nobody defined it and nothing was detected; it is recorded as skipped.
    pub run: Option<String>,
    /// How its summary is read: `auto`, or the name of a format. `None`: only its exit counts.
    pub counts: Option<CountFormat>,
    /// A missing or empty summary fails the check, whatever it exits with.
    pub must_count: bool,
    pub timeout: Millis,
    /// A pass is confirmed at once until it has passed this often.
    pub repeat: u32,
    /// Metric → glob: how many such files were added or changed since the run began.
    pub files: BTreeMap<String, String>,
    /// A command that a fresh checkout needs first.
    pub prepare: Option<String>,
    /// Whether it is part of the proof.
    #[serde(default = "yes")]
    pub proof: bool,
}

/// A boolean over the run's changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// A changed path matches one of these globs.
    Path(Vec<String>),
    /// An added line matches this regular expression.
    Diff(String),
}

/// What a body of phases repeats over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Items {
    pub name: String,
    pub from: ItemSource,
    /// Globs of files that only record the work. A commit of nothing else is no work, unless all files of
    /// the item are such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bookkeeping: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemSource {
    List(Vec<String>),
    /// A JSON file and a pointer into it.
    Json {
        file: String,
        pointer: String,
    },
    /// Tasks of the plan files below a folder that have no summary.
    Plans(String),
    /// A field of the job's entry in the queue.
    Queue(String),
    /// One item a line.
    Command(String),
}

/// A call of a phase that has a name, a prompt and deliverables of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    pub about: String,
    /// Template of the prompt; `None`: the phase's.
    pub prompt: Option<String>,
    pub deliverables: Vec<String>,
    /// Names that its report has to bring; without one of them it is not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// The project's own instructions for it, which take the place of `about`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Documents that belong to those instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// What has to be known before it can be called, such as `a deploy target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// That, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retries {
    pub at_most: u32,
    pub same_error: u32,
    pub total: u32,
    /// The skill that diagnoses a failure before the next try.
    pub with: Option<String>,
    /// A different error starts the count again.
    pub reset_on_different: bool,
    /// Classes of error that are never retried.
    pub never: Vec<ErrorClass>,
    pub backoff: BTreeMap<ErrorClass, Backoff>,
}

/// Waits between tries: `first`, doubled each time, at most `most`, `tries` of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    pub first: Millis,
    pub most: Millis,
    pub tries: u32,
}

/// How the work is proven before the run is completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProofRules {
    /// Less is a question to a person.
    pub require: Level,
    pub clean: CleanWhen,
    pub prepare: Option<String>,
    pub protect: Vec<String>,
    /// Changes of these protected files are accepted before the run begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    pub borrow: Vec<String>,
    pub env: Vec<String>,
    pub network: bool,
    /// The phase before whose end the proof is taken; `None`: the one that leads to the end.
    pub at: Option<PhaseId>,
    /// The phase that a finding goes back to.
    pub go: PhaseId,
    /// The agent is told once when nothing measures its work.
    pub feedback: bool,
    pub accept_unverified: bool,
    pub sign_key: Option<String>,
}

impl Default for ProofRules {
    fn default() -> ProofRules {
        ProofRules {
            require: Level::None,
            clean: CleanWhen::Completion,
            prepare: None,
            protect: Vec::new(),
            allow: Vec::new(),
            borrow: Vec::new(),
            env: Vec::new(),
            network: true,
            at: None,
            go: 0,
            feedback: false,
            accept_unverified: false,
            sign_key: None,
        }
    }
}

/// When checks run in a clean checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleanWhen {
    Completion,
    Never,
}

fn is_usual(rules: &MergeRules) -> bool {
    *rules == MergeRules::default()
}

fn yes() -> bool {
    true
}
