//! Which agent works, what it may do, how it reports, and which model each phase asks for.

use super::{MINUTE, Millis, PhaseId};
use crate::agent_table::ChosenAgent;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub cli: ChosenAgent,
    pub model: Option<String>,
    pub permissions: Permissions,
    /// From start to end of a call.
    pub timeout: Millis,
    /// Without any output while no process of the call uses the processor.
    pub idle_timeout: Millis,
    /// Until the first output.
    pub first_timeout: Millis,
    /// Mebibytes of memory for everything that a call starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// Processes and threads of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Each call in a PID namespace of its own, where the kernel grants one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub namespace: bool,
    pub env: BTreeMap<String, String>,
    /// The user's own variables that are handed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    /// Further arguments; for the `command` agent, the program and its arguments.
    pub args: Vec<String>,
}

impl Agent {
    /// Returns an agent of which nothing but the program is said.
    pub fn new(cli: ChosenAgent) -> Agent {
        Agent {
            cli,
            model: None,
            // Without it an agent stops at the first command that it may not run, and nobody is there to
            // allow it.
            permissions: Permissions::All,
            // An iteration is one task; a call that lasts longer has most likely gone astray.
            timeout: 45 * MINUTE,
            // A model may think for minutes, and a test suite may be silent; ten minutes of silence without
            // any work is neither.
            idle_timeout: 10 * MINUTE,
            // An agent that is up says something within seconds; five minutes allow for a cold start.
            first_timeout: 5 * MINUTE,
            memory_mb: None,
            processes: None,
            namespace: false,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            args: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permissions {
    /// Everything, without asking.
    All,
    /// Files of the working tree, and no commit.
    Edit,
    /// Whatever the agent's own configuration says.
    Agent,
}

/// How an agent reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    PrpStatus,
    ExitSignal,
    Promise,
    Json,
    /// The front matter of the newest file that matches; `status` becomes `verdict`.
    Frontmatter(String),
    None,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Models {
    /// The profile in force.
    pub profile: Option<String>,
    /// Profile → role → model.
    pub profiles: BTreeMap<String, BTreeMap<String, String>>,
    /// Role → model, whatever the profile.
    pub roles: BTreeMap<String, String>,
    /// Models that only a preset names: they are Claude's, and mean nothing to another agent.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub presets: BTreeSet<String>,
}

/// Which model a phase asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    Named(String),
    /// The first of `of` that differs from the model which `other_than` ran with.
    Differing {
        of: Vec<String>,
        other_than: PhaseId,
        unknown: String,
        /// A person is asked where it would not differ, or where nobody knows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        required: bool,
    },
}
