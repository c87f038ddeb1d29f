//! The small texts inside a workflow file that have a grammar of their own: conditions, patterns and
//! templates; and how a mistake is shown with the line that it stands in. None of them knows a section
//! or a phase.

pub mod condition;
pub(crate) mod pattern;
pub mod problem;
pub mod template;
