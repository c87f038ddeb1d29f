//! What flags and the environment say about a workflow. A run keeps it, so that its files can be read
//! again under the same flags.

use super::{Millis, Workflow};
use crate::proof::Level;
use serde::{Deserialize, Serialize};

/// Flags and environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    pub agent: Option<String>,
    /// The words of `--agent-cmd`; alone they choose the `command` agent.
    pub agent_args: Option<Vec<String>>,
    pub model: Option<String>,
    pub mode: Option<String>,
    pub max: Option<u32>,
    /// Name and command. One that no phase names is run in every phase that runs checks.
    pub checks: Vec<(String, String)>,
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub time: Option<Millis>,
    pub calls_per_hour: Option<u32>,
    pub notify: Option<String>,
    pub mirror: Option<String>,
    pub worktree: bool,
    /// The least that must be proven.
    pub require: Option<Level>,
    /// Globs of protected files whose changes are accepted.
    pub allow: Vec<String>,
}

impl Overrides {
    /// Puts what was given about the proof on top of a workflow's rules.
    pub fn bring_proof(&self, workflow: &mut Workflow) {
        if let Some(level) = self.require {
            workflow.proof.require = level;
        }
        for glob in self.allow.iter().filter(|it| !workflow.proof.allow.contains(it)).collect::<Vec<_>>() {
            workflow.proof.allow.push(glob.clone());
        }
    }
}
