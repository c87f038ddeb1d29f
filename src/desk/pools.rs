//! Who builds several systems of a queue at once, for whoever looks.

use super::caller::Caller;
use super::resolving::domain::{DomainQueue, domains};
use loop_store::mirror::domain_memory::queue_file;
use loop_store::{Holder, Home, Job, QueueKey, Row, StoreError};
use std::path::{Path, PathBuf};

/// A process that builds the systems of a queue.
pub(crate) struct LivePool {
    pub holder: Holder,
    /// How many at once.
    pub jobs: usize,
    pub systems: Vec<PoolSystem>,
}

pub(crate) struct PoolSystem {
    pub job: Job,
    /// Its run, as lists show it.
    pub row: Option<Row>,
    /// The systems that it waits for.
    pub waits_for: Vec<String>,
}

/// Returns where the pool of a queue writes its messages when it has no terminal.
pub(crate) fn pool_log(caller: &Caller, domain: Option<&str>) -> anyhow::Result<PathBuf> {
    let project = caller.project()?;
    let queue = DomainQueue::find_existing(&project, domain)?;
    Ok(caller.home()?.pool_log(&queue.project, &queue.domain))
}

/// Returns the pool that builds systems of a project: where there are several, the one with this run.
pub(crate) fn live_pool(home: &Home, project: &str, run: &str) -> Result<Option<LivePool>, StoreError> {
    let mut found = None;
    for domain in domains(Path::new(project)) {
        let Some((holder, jobs)) = home.pool(project, &domain) else { continue };
        let file = queue_file(Path::new(project), &domain);
        let queue = QueueKey { project, domain: &domain, file: &file };
        let mut systems = Vec::new();
        for job in home.jobs(queue)? {
            let row = match &job.run {
                Some(run) => home.run(run)?,
                None => None,
            };
            let waits_for = home.job_waits_for(queue, &job.system.id)?;
            systems.push(PoolSystem { job, row, waits_for });
        }
        let has_run = systems.iter().any(|it| it.job.run.as_deref() == Some(run));
        if has_run || found.is_none() {
            found = Some(LivePool { holder, jobs, systems });
        }
        if has_run {
            break;
        }
    }
    Ok(found)
}
