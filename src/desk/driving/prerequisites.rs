//! What people have said about the skills of a project that need something: it is asked once, so a run that is opened
//! takes over what the newest of the others knows.

use crate::desk::caller::load;
use crate::desk::resolving::job;
use crate::desk::resolving::wanted_run::WantedRun;
use loop_store::{Filter, Home};
use std::collections::BTreeMap;

/// Runs that are looked through for an answer. Whoever was asked answered in one of the last.
const RUNS_MOST: usize = 20;

/// Returns what the skills of a workflow need, as far as a person has said it before in this project.
pub(crate) fn answered(home: &Home, wanted: &WantedRun) -> anyhow::Result<BTreeMap<String, Option<String>>> {
    let skills = wanted.workflow.skills.iter();
    let mut open: Vec<&String> =
        skills.filter(|(_, it)| it.needs.is_some() && it.target.is_none()).map(|it| it.0).collect();
    let mut found = BTreeMap::new();
    if let Some(job) = &wanted.input.job {
        let said = job::prerequisites(&wanted.project, &job.queue.domain)?;
        found.extend(said.into_iter().filter(|it| open.contains(&&it.0)));
        open.retain(|it| !found.contains_key(*it));
    }
    if open.is_empty() {
        return Ok(found);
    }
    let project = wanted.project.to_string_lossy();
    let (project, workflow) = (Some(project.as_ref()), Some(wanted.workflow.name.as_str()));
    let filter = Filter { project, workflow, limit: Some(RUNS_MOST), ..Filter::default() };
    for row in home.runs(&filter)? {
        // A run that was killed before it was opened has said nothing.
        if home.snapshot(&row.id)?.is_none() {
            continue;
        }
        let (_, state) = load(home, &row)?;
        open.retain(|skill| match state.prerequisites.get(*skill) {
            Some(target) => found.insert((*skill).clone(), target.clone()).is_some(),
            None => true,
        });
        if open.is_empty() {
            break;
        }
    }
    Ok(found)
}
