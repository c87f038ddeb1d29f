//! The run that is wanted: this input, by this workflow, in this project. Three things make two runs
//! the same, and by them a run is found again.

use crate::desk::kept_head::refuse_hidden_runs;
use crate::desk::request::RunRequest;
use crate::desk::resolving::input::RunInput;
use crate::tree::git::Git;
use crate::world::wait::now;
use loop_core::engine::Status;
use loop_core::workflow::model::Workflow;
use loop_store::{Filter, Home, NewRun, Row, mirror};
use std::path::{Path, PathBuf};

pub(crate) struct WantedRun {
    pub project: PathBuf,
    pub workflow: Workflow,
    pub input: RunInput,
}

/// What a home knows of the run that is wanted.
pub(crate) enum Before {
    Nothing,
    /// Created, and killed before its first event; whoever comes next opens it.
    Begun(Row),
    Opened(Row),
}

impl WantedRun {
    /// Looks for the run, unless a new one is asked for.
    pub(crate) fn before(&self, home: &Home, request: &RunRequest) -> anyhow::Result<Before> {
        if request.fresh {
            return Ok(Before::Nothing);
        }
        let row = self.newest(home)?.filter(|it| it.status != Status::Cancelled);
        Ok(match row {
            Some(row) if home.snapshot(&row.id)?.is_some() => Before::Opened(row),
            Some(row) => Before::Begun(row),
            None => {
                refuse_hidden_runs(home, &self.project)?;
                Before::Nothing
            }
        })
    }

    /// Takes over how far another controller had come with the phase or the system that is wanted. `most` is the limit
    /// of iterations on the command line.
    pub(crate) fn import_begun(&mut self, git: &Git, most: Option<u32>) -> anyhow::Result<()> {
        if let Some(phase) = &mut self.input.phase {
            phase.import(&self.project, &mut self.workflow, most)?;
        }
        if let Some(job) = &mut self.input.job {
            job.import(git, &self.project, &self.workflow)?;
        }
        Ok(())
    }

    /// Returns the newest run of this input, under either of its names.
    pub(crate) fn newest(&self, home: &Home) -> anyhow::Result<Option<Row>> {
        let project = self.project.to_string_lossy();
        for name in [Some(&self.input.name), self.input.alias.as_ref()].into_iter().flatten() {
            let filter = Filter {
                project: Some(&project),
                workflow: Some(&self.workflow.name),
                input: Some(name),
                limit: Some(1),
                ..Filter::default()
            };
            if let Some(row) = home.runs(&filter)?.into_iter().next() {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// Puts a run into the home's list. It has no event yet.
pub(crate) fn create(
    home: &Home,
    id: &str,
    project: &Path,
    workflow: &Workflow,
    input: &str,
    place: &Path,
) -> anyhow::Result<()> {
    home.create_run(&NewRun {
        id,
        project: &project.to_string_lossy(),
        workflow: &workflow.name,
        input,
        status: Status::Ready,
        place: &place.to_string_lossy(),
        definition: &serde_json::to_string(workflow)?,
        at: now().0,
    })?;
    Ok(())
}

/// Agents stage everything they see; what a mirror writes is not theirs.
pub(crate) fn exclude_mirror(git: &Git, workflow: &Workflow) -> anyhow::Result<()> {
    let excluded = mirror::paths(workflow, git.work_tree());
    git.exclude(&excluded.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(())
}
