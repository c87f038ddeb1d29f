//! What a workflow is made of before it is read: the texts of the layers, and the flags above them.

use crate::agent_table::AgentTable;
use crate::workflow::model::Overrides;
use std::path::PathBuf;

/// A text that a layer is read from.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// The path as shown.
    pub name: String,
    pub text: String,
    /// Where `prompt_file` is looked for.
    pub dir: Option<PathBuf>,
}

/// Everything that a workflow is made of, the earlier below the later.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// `--preset`, or what the input decided. Replaces what the project's file extends, and its phases.
    pub preset: Option<String>,
    /// `config.toml` of the user: `[agent] [limits] [notify]` only.
    pub user: Option<LayerSource>,
    /// `.loop/workflow.toml`, or `--workflow`.
    pub project: Option<LayerSource>,
    pub overrides: Overrides,
    /// The agents that they can name.
    pub agents: AgentTable,
}
