//! What another controller left in the place where a run keeps its files. It is read and kept, and
//! what cannot be read changes nothing.

use crate::desk::note::Note;
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::resolving::wanted_run::WantedRun;
use crate::world::wait::now;
use loop_core::documents::system_queue::entry;
use loop_core::engine::Status;
use loop_core::workflow::model::{MirrorFormat, Workflow};
use loop_store::mirror::prp_session::FILES;
use loop_store::mirror::prp_session::{folder, import};
use loop_store::mirror::{domain_memory, task_state};
use loop_store::{Filter, Home};
use std::path::{Path, PathBuf};

/// What another controller left for a workflow.
pub(crate) struct LeftFiles {
    pub folder: PathBuf,
    pub files: &'static [&'static str],
    pub found: import::ImportedSession,
    /// How many iterations it allows, and what it waits for, where its files say so.
    pub most: Option<u32>,
    pub promise: Option<String>,
}

/// Reads what another controller left in the place of this workflow's mirror.
pub(crate) fn left(
    home: Option<&Home>,
    project: &Path,
    workflow: &Workflow,
) -> anyhow::Result<Option<LeftFiles>> {
    if let Some(folder) = folder(workflow) {
        let found = import::read(&folder, workflow, now()).map_err(|it| invalid(&folder, &it))?;
        return Ok(found.map(|found| LeftFiles { folder, files: &FILES, found, most: None, promise: None }));
    }
    if !workflow.mirror.writes(MirrorFormat::TaskState) {
        return Ok(None);
    }
    // The file has no id. Where this home has a run that writes it, it is that run's.
    let name = project.to_string_lossy();
    let own = |home: &Home, statuses: &[Status], input: Option<&str>| {
        let own = Filter { project: Some(&name), workflow: Some(&workflow.name), ..Filter::default() };
        home.runs(&Filter { statuses, input, limit: Some(1), ..own }).map(|it| !it.is_empty())
    };
    if home.map_or(Ok(false), |it| own(it, &Status::unfinished(), None))? {
        return Ok(None);
    }
    let read = task_state::import::read(project, now()).map_err(|it| invalid(project, &it))?;
    let Some(task_state::import::ImportedLoop { found, most, promise }) = read else { return Ok(None) };
    if home.map_or(Ok(false), |it| own(it, &[], Some(&found.input)))? {
        return Ok(None);
    }
    let (folder, most) = (project.to_owned(), Some(most));
    Ok(Some(LeftFiles { folder, files: &[task_state::NAME], found, most, promise }))
}

/// Keeps what another controller left, before a run that takes its place writes its own files.
pub(crate) fn keep_before(home: &Home, id: &str, project: &Path, workflow: &Workflow) -> anyhow::Result<()> {
    let kept = home.folder(id).join("before");
    if workflow.mirror.writes(MirrorFormat::Planning) {
        let planning = project.join(".planning");
        return keep(&planning, &["LOOP-STATE.md"], &home.folder(id).join("imported"));
    }
    if workflow.mirror.writes(MirrorFormat::DomainMemory) {
        return Ok(());
    }
    let Some(folder) = folder(workflow) else {
        // A file that any run of ours may have written is kept all the same: it is small.
        let is_ours = !workflow.mirror.writes(MirrorFormat::TaskState);
        return if is_ours { Ok(()) } else { keep(project, &[task_state::NAME], &kept) };
    };
    let text = loop_base::files::text(&folder.join("loop-state.json")).unwrap_or_default();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let is_ours = match state["session_id"].as_str() {
        Some(session) => is_known(home, session)?,
        None => text.is_empty(),
    };
    if is_ours { Ok(()) } else { keep(&folder, &FILES, &kept) }
}

/// Keeps the state files of systems that this home does not know, before a run writes its own. The place of the domain
/// shows one system at a time: what lies there of another one is put where that system keeps its own.
pub(crate) fn keep_systems(home: &Home, id: &str, wanted: &WantedRun) -> anyhow::Result<()> {
    let Some(job) = &wanted.input.job else { return Ok(()) };
    let kept = home.folder(id).join("imported");
    let domain = wanted.project.join(domain_memory::FOLDER).join(&job.queue.domain);
    let own = domain.join("systems").join(&job.job.system.id);
    if wanted.newest(home)?.is_none_or(|it| it.id == id) {
        keep(&domain, &[domain_memory::STATE], &kept)?;
        keep(&own, &[domain_memory::STATE], &kept)?;
    }
    let text = loop_base::files::text(&domain.join(domain_memory::STATE)).unwrap_or_default();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(other) = state["systemId"].as_str().filter(|it| entry::number(it).is_some()) else {
        return Ok(());
    };
    let place = domain.join("systems").join(other);
    if other != job.job.system.id && !place.join(domain_memory::STATE).exists() {
        std::fs::create_dir_all(&place)?;
        loop_base::files::replace(&place.join(domain_memory::STATE), &text)?;
    }
    Ok(())
}

/// Says that this run continues a system that another controller began.
pub(crate) fn taken_over(home: &Home, id: &str, wanted: &WantedRun) -> Note {
    let kept = home.folder(id).join("imported");
    Note::usual(format!(
        "{} was started by another controller: the values in its {} were not measured here; a copy is kept in {}",
        wanted.input.name,
        domain_memory::STATE,
        kept.display()
    ))
}

pub(crate) fn keep(folder: &Path, files: &[&str], kept: &Path) -> anyhow::Result<()> {
    let found: Vec<&&str> = files.iter().filter(|it| folder.join(it).is_file()).collect();
    if found.is_empty() {
        return Ok(());
    }
    loop_base::files::private_folder(kept)?;
    for name in found {
        loop_base::files::copy_private(&folder.join(name), &kept.join(name))?;
    }
    Ok(())
}

/// A run whose journal was never begun is one that a crash left while it was taken over.
pub(crate) fn is_known(home: &Home, session: &str) -> anyhow::Result<bool> {
    Ok(match home.run(session)? {
        Some(_) => home.snapshot(session)?.is_some(),
        None => false,
    })
}

/// Whether what was found is of the input that is wanted.
pub(crate) fn is_same(found: &import::ImportedSession, wanted: &WantedRun) -> bool {
    let WantedRun { project, input, .. } = wanted;
    if found.project.as_ref().is_some_and(|it| Path::new(it) != project.as_path()) {
        return false;
    }
    let path = project.join(&found.input);
    found.input == input.name || (input.path.is_some() && path.canonicalize().ok() == input.path)
}

pub(crate) fn invalid(folder: &Path, error: &import::Invalid) -> anyhow::Error {
    let next = format!(
        "repair {}, or start over with loop run --fresh; the file is kept",
        folder.join(error.file).display()
    );
    Refusal {
        text: format!("the session in {} is damaged: {error}", folder.display()),
        next: Some(NextStep::ByHand(next)),
        exit: 8,
    }
    .into()
}
