//! A named value and who says so.

use loop_base::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A named value and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub value: Value,
    pub source: Source,
    /// What the agent said, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Value>,
}

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A check that we ran.
    Measured,
    /// The engine's own books, the tree, the input.
    Engine,
    /// The agent's report.
    Claimed,
}

pub(crate) type Metrics = BTreeMap<String, Metric>;
