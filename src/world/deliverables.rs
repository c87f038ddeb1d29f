//! The files that a workflow's calls have to leave behind.

use loop_core::workflow::model::{ItemSource, Protocol, Workflow};

/// Returns the patterns of the files that calls have to leave behind.
pub(crate) fn deliverables(workflow: &Workflow) -> Vec<String> {
    let reports = workflow.phases.iter().filter_map(|it| match &it.report {
        Protocol::Frontmatter(pattern) => Some(pattern),
        Protocol::Json | Protocol::PrpStatus | Protocol::ExitSignal | Protocol::Promise | Protocol::None => {
            None
        }
    });
    let plans = workflow.items.iter().filter_map(|it| match &it.from {
        ItemSource::Plans(folder) => Some([format!("{folder}/*-PLAN.md"), format!("{folder}/*-SUMMARY.md")]),
        ItemSource::List(_) | ItemSource::Json { .. } | ItemSource::Queue(_) | ItemSource::Command(_) => None,
    });
    reports.chain(workflow.deliverables()).cloned().chain(plans.flatten()).collect()
}
