//! How an agent tells what a call used up.

use serde::Deserialize;

/// How an agent tells what a call used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageRow {
    pub cached: CachedInput,
    pub scope: UsageScope,
    pub told: UsageTold,
    /// Whether it names dollars and not only tokens.
    pub reports_cost: bool,
    /// The flag that gives it a cap on dollars which it keeps itself.
    pub usd_flag: Option<&'static str>,
    /// The flag that gives it a cap on turns which it keeps itself.
    pub turns_flag: Option<&'static str>,
}

/// Whether an agent counts cached tokens as input too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedInput {
    Within,
    Beside,
}

/// What one of its counts is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageScope {
    /// What came since the last count: they are added up.
    Sum,
    /// The whole call: the last one counts.
    Last,
    /// The whole conversation: the largest one counts. We continue no conversation, so it begins at 0.
    Cumulative,
}

/// When it can be known what a call has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageTold {
    /// On its output, while it works.
    WhileWorking,
    /// In the record that it keeps of the session, while it works.
    InItsRecord,
    AtTheEnd,
    Never,
}
