//! Parts of what the commands of this room print: costs, progress, plans, systems, pools, signing, the report.
//! Each turns a state into text or JSON; none is a command.

pub(in crate::cli) mod breaker_banner;
pub(in crate::cli) mod cost;
pub(in crate::cli) mod plan_view;
pub(in crate::cli) mod pool_view;
pub(in crate::cli) mod progress;
pub(in crate::cli) mod report;
pub(in crate::cli) mod signing;
pub(in crate::cli) mod system_view;
