//! What a request means: which workflow, which input, which run. Only reading and comparing; what
//! stands against it is found in `obstacles`.

pub(super) mod agent_files;
pub(super) mod choose_workflow;
pub(super) mod design_file;
pub(super) mod domain;
pub(super) mod input;
pub(super) mod job;
pub(super) mod planning;
mod planning_ledger;
pub(super) mod queue_rules;
mod split_words;
pub(super) mod wanted_run;
