//! A system of the queue as the input of a run: which one is meant, what the queue and the domain's
//! configuration say about it, and the claim on it. Nothing is claimed before the run is about to open.

use crate::desk::caller::Caller;
use crate::desk::note::Note;
use crate::desk::refusal::{NextStep, Refusal, meant};
use crate::desk::request::RunRequest;
use crate::desk::resolving::choose_workflow;
use crate::desk::resolving::domain::{self, DomainQueue};
use crate::tree::git::Git;
use crate::tree::worktree;
use crate::world::wait::now;
use loop_base::files;
use loop_core::documents::system_queue::entry::Autonomy;
use loop_core::documents::system_queue::{JobStatus, SystemEntry, entry};
use loop_core::engine::{Beginning, Opening, ToldWork};
use loop_core::workflow::model::{InputKind, ModeName, Workflow};
use loop_store::mirror::domain_memory::import::ImportedSystem;
use loop_store::mirror::domain_memory::{self, FOLDER};
use loop_store::mirror::prp_session::import::Invalid;
use loop_store::{Home, Job, JobClaim};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What stands for the domain and the system in a workflow, until they are known.
const DOMAIN: &str = "<domain>";
const ID: &str = "<id>";

/// Where a project may keep instructions of its own for a skill.
const SKILL_FOLDERS: [&str; 3] = ["skills", ".claude/skills", ".agents/skills"];

/// Instructions are read whole by an agent, so they are a few pages.
const INSTRUCTIONS_MOST: usize = 64 << 10;

/// Documents beside the instructions that a prompt names.
const REFERENCES_MOST: usize = 20;

/// A system that a run is to build.
pub(crate) struct JobInput {
    pub queue: DomainQueue,
    pub job: Job,
    /// How far another controller had come with it.
    pub imported: Option<Box<ImportedSystem>>,
}

impl JobInput {
    pub(crate) fn add_to(&self, opening: Opening) -> Opening {
        let system = &self.job.system;
        let beginning = Beginning {
            title: Some(system.name.clone()),
            domain: Some(self.queue.domain.clone()),
            about: Some(system.description.clone()).filter(|it| !it.trim().is_empty()),
            issue: system.github_issue,
            capabilities: system.capabilities.clone(),
            interfaces: self.interfaces(),
            ..*opening.beginning.clone()
        };
        let opening = Opening { beginning: Box::new(beginning), ..opening };
        match &self.imported {
            Some(begun) => self.continued(opening, begun),
            None => opening,
        }
    }

    fn continued(&self, opening: Opening, begun: &ImportedSystem) -> Opening {
        let beginning = Beginning {
            done: self.capabilities(begun).into_iter().take(begun.done).collect(),
            failures: begun.failures.clone(),
            failures_total: begun.failures_total,
            retries: begun.retries,
            gates: begun.required.clone(),
            told: Some(Box::new(begun.told.clone())).filter(|it| **it != ToldWork::default()),
            ..*opening.beginning
        };
        Opening { beginning: Box::new(beginning), imported: true, ..opening }
    }

    /// The capabilities of a system that was begun elsewhere. Its file names only those that are open; the queue
    /// names the others, or they are called by their number.
    pub(crate) fn capabilities(&self, begun: &ImportedSystem) -> Vec<String> {
        let listed = self.job.system.capabilities.iter().filter(|it| !begun.open.contains(it)).cloned();
        let numbered = (1..).map(|it| format!("capability {it}"));
        let mut done: Vec<String> = listed.take(begun.done).collect();
        let missing = begun.done - done.len();
        done.extend(numbered.take(missing));
        done.into_iter().chain(begun.open.iter().cloned()).collect()
    }

    /// Reads how far another controller had come with the system, where its file lies.
    pub(crate) fn import(&mut self, git: &Git, project: &Path, workflow: &Workflow) -> anyhow::Result<()> {
        let id = &self.job.system.id;
        let domain = project.join(FOLDER).join(&self.queue.domain);
        for folder in [domain.join("systems").join(id), domain] {
            let found = domain_memory::import::read(&folder, id, workflow, now());
            let Some(begun) = found.map_err(|it| invalid(&folder, id, &it))? else { continue };
            if let Some((field, why)) = worktree::not_continuable(git, &begun.branch, &begun.worktree)? {
                let wrong = Invalid { file: domain_memory::STATE, field: field.to_owned(), why };
                return Err(invalid(&folder, id, &wrong));
            }
            self.imported = Some(Box::new(begun));
            return Ok(());
        }
        Ok(())
    }

    /// What the systems that this one depends on said about the interfaces that they changed.
    fn interfaces(&self) -> Vec<String> {
        let folder = Path::new(&self.queue.project).join(FOLDER).join(&self.queue.domain).join("systems");
        let of = |id: &String| {
            let text = files::text(&folder.join(id).join("INTERFACES.md")).ok()?;
            let lines: Vec<String> =
                text.lines().filter_map(|it| it.strip_prefix("- ")).map(str::to_owned).collect();
            Some(lines.into_iter().map(|it| format!("{id}: {it}")).collect::<Vec<_>>())
        };
        self.job.system.dependencies.iter().filter_map(of).flatten().take(50).collect()
    }

    /// Gives the system to a run. A claim of a run that was never opened is taken over.
    pub(crate) fn claim(&self, home: &Home, run: &str) -> anyhow::Result<()> {
        let id = &self.job.system.id;
        if let Some(other) = self.job.run.as_deref().filter(|it| *it != run)
            && home.run(other)?.is_none()
        {
            let free =
                loop_store::JobMove { status: JobStatus::Blocked, reason: Some("left behind"), frees: true };
            home.move_job(self.queue.key(), other, free, now())?;
        }
        let claim = match &self.imported {
            Some(begun) => {
                let capabilities = self.capabilities(begun);
                let system = SystemEntry { capabilities, ..self.job.system.clone() };
                if let Err(mistakes) = home.put_job(self.queue.key(), system, now())? {
                    return Err(Refusal { text: mistakes.join("\n"), next: None, exit: 8 }.into());
                }
                home.adopt_job(self.queue.key(), id, run, now())?
            }
            None => home.claim_job(self.queue.key(), Some(id), run, now())?,
        };
        match claim {
            JobClaim::Claimed(_) => Ok(()),
            JobClaim::Nothing => Err(Refusal::usage(format!("{id} is not in the queue"), "loop queue list")),
            JobClaim::Waits(_, open) => {
                let text = format!("{id} waits for {}, which is not complete", open.join(", "));
                Err(Refusal::usage(text, ["loop queue list".to_owned(), format!("loop run {}", open[0])]))
            }
            JobClaim::NotStartable(job) => Err(not_startable(&job)),
        }
    }
}

fn invalid(folder: &Path, id: &str, error: &Invalid) -> anyhow::Error {
    let file = folder.join(error.file);
    let next =
        format!("repair {}, or start over with loop run {id} --fresh; the file is kept", file.display());
    let text = format!("the state of {id} in {} is invalid: {error}", folder.display());
    Refusal { text, next: Some(NextStep::by_hand(next)), exit: 8 }.into()
}

fn not_startable(job: &Job) -> anyhow::Error {
    let id = &job.system.id;
    match (job.system.status, &job.run) {
        (JobStatus::Complete, _) => {
            Refusal::usage(format!("{id} is complete; there is nothing to build"), "loop queue list")
        }
        (JobStatus::Discovered, _) => Refusal::usage(
            format!("{id} is only discovered: specify it before it can be built"),
            format!("loop queue set {id} --status specified"),
        ),
        (status, Some(run)) => Refusal::usage(
            format!("{id} is {status}: run {} works on it", run.get(..8).unwrap_or(run)),
            format!("loop status --run {}", run.get(..8).unwrap_or(run)),
        ),
        (status, None) => Refusal::usage(
            format!("{id} is {status}, and no run of this home works on it"),
            NextStep::PasteOrByHand(
                "loop queue list".to_owned(),
                format!(
                    "if another home builds it, wait; if nobody does, loop queue set {id} --status blocked, then loop run {id}"
                ),
            ),
        ),
    }
}

/// Finds the system that is meant, and gives the workflow what the queue and the domain say.
pub(crate) fn find(
    caller: &Caller,
    request: &RunRequest,
    project: &Path,
    workflow: &mut Workflow,
) -> anyhow::Result<JobInput> {
    let mut notes = Vec::new();
    let queue = DomainQueue::find_existing(project, request.domain.as_deref())?;
    let job = if request.dry_run {
        unread(caller, request, &queue)?
    } else {
        let home = caller.home()?;
        queue.read(&home, &mut notes)?;
        match &request.input {
            Some(id) => match home.job(queue.key(), id)? {
                Some(job) => job,
                None => return Err(unknown(&home, &queue, id)?),
            },
            None => home.next_ready(queue.key())?.ok_or_else(none_ready)?,
        }
    };
    settle(project, workflow, &queue.domain, &job)?;
    Ok(JobInput { queue, job, imported: None })
}

/// Gives a workflow what the domain, the queue and the project say about a system.
fn settle(project: &Path, workflow: &mut Workflow, domain: &str, job: &Job) -> anyhow::Result<()> {
    let config = read_config(project, domain)?;
    for autonomy in config.autonomy.iter().chain(job.system.autonomy.iter()) {
        apply(autonomy, workflow)?;
    }
    point_at(workflow, domain, &job.system.id);
    read_skills(project, workflow);
    Ok(())
}

/// Does the same to a workflow that was read again for a run that has begun, so that the two can be
/// compared.
pub(crate) fn settle_again(
    home: &Home,
    project: &Path,
    opening: &Opening,
    workflow: &mut Workflow,
) -> anyhow::Result<()> {
    let Some(domain) = opening.beginning.domain.as_deref() else { return Ok(()) };
    let queue = DomainQueue::find(project, Some(domain))?;
    let gone = || {
        let system = SystemEntry { id: opening.input.clone(), ..SystemEntry::default() };
        Job { system, waits_for: 0, run: None }
    };
    let job = home.job(queue.key(), &opening.input)?.unwrap_or_else(gone);
    settle(project, workflow, domain, &job)
}

/// The system as the file has it, where nothing may be written.
fn unread(caller: &Caller, request: &RunRequest, queue: &DomainQueue) -> anyhow::Result<Job> {
    if let Some(home) = caller.existing_home()? {
        let found = match &request.input {
            Some(id) => home.job(queue.key(), id)?,
            None => home.next_ready(queue.key())?,
        };
        if let Some(job) = found {
            return Ok(job);
        }
    }
    let text = files::text(&queue.file).unwrap_or_default();
    let systems = entry::read(&text).map_err(|mistakes| queue.invalid(&mistakes))?.systems;
    let wanted = request.input.as_ref();
    let found = systems.into_iter().find(|it| match wanted {
        Some(id) => it.id == *id,
        None => it.status.is_startable() && it.dependencies.is_empty(),
    });
    let system = found.ok_or_else(none_ready)?;
    Ok(Job { system, waits_for: 0, run: None })
}

/// Returns the systems that could be begun at once, the first first; nothing is written.
pub(crate) fn startable(caller: &Caller, domain: Option<&str>) -> Result<Vec<SystemEntry>, Refusal> {
    let project = caller.project()?;
    let queue = DomainQueue::find_existing(&project, domain)?;
    let known = match caller.existing_home()? {
        Some(home) => home.jobs(queue.key()).map_err(anyhow::Error::from)?,
        None => Vec::new(),
    };
    let mut systems: Vec<SystemEntry> = if known.is_empty() {
        let text = files::text(&queue.file).unwrap_or_default();
        let all = entry::read(&text).map_err(|mistakes| queue.invalid(&mistakes))?.systems;
        let is_done = |id: &String| all.iter().any(|it| it.id == *id && it.status == JobStatus::Complete);
        all.iter().filter(|it| it.dependencies.iter().all(is_done)).cloned().collect()
    } else {
        known.into_iter().filter(|it| it.waits_for == 0 && it.run.is_none()).map(|it| it.system).collect()
    };
    systems.retain(|it| it.status.is_startable());
    systems.sort_by_key(|it| it.priority);
    Ok(systems)
}

fn none_ready() -> anyhow::Error {
    Refusal::usage("no system of the queue is ready", "loop queue list")
}

fn unknown(home: &Home, queue: &DomainQueue, id: &str) -> anyhow::Result<anyhow::Error> {
    let jobs = home.jobs(queue.key())?;
    let text = format!("{id} is not in the queue of {}", queue.domain);
    if jobs.is_empty() {
        return Ok(Refusal::usage(text, "loop queue add \"NAME OF A SYSTEM\""));
    }
    Ok(Refusal::usage(text, meant(id, jobs.iter().map(|it| it.system.id.as_str()))))
}

/// `config.json` of a domain, as far as it says something about runs.
#[derive(Default, Deserialize)]
struct DomainConfig {
    #[serde(default)]
    autonomy: Option<Autonomy>,
    /// Skill → what it needs, in the form that `loop-state.json` has it.
    #[serde(default)]
    prerequisites: BTreeMap<String, Prerequisite>,
}

#[derive(Default, Deserialize)]
struct Prerequisite {
    #[serde(default)]
    target: Option<String>,
}

/// Returns what the domain says that skills need; nothing for one that is done without it.
pub(crate) fn prerequisites(
    project: &Path,
    domain: &str,
) -> anyhow::Result<BTreeMap<String, Option<String>>> {
    let said = read_config(project, domain)?.prerequisites;
    Ok(said.into_iter().map(|(skill, it)| (skill, it.target)).collect())
}

fn read_config(project: &Path, domain: &str) -> anyhow::Result<DomainConfig> {
    let name = format!("{FOLDER}/{domain}/config.json");
    let path = project.join(&name);
    if !path.exists() {
        return Ok(DomainConfig::default());
    }
    let text = files::text(&path)?;
    serde_json::from_str(&text).map_err(|error| {
        let next = NextStep::by_hand(format!("repair {name}; nothing was changed"));
        Refusal { text: format!("{name}: {error}"), next: Some(next), exit: 8 }.into()
    })
}

/// Which gates are asked, and how often a failure is tried again.
fn apply(autonomy: &Autonomy, workflow: &mut Workflow) -> anyhow::Result<()> {
    let named = autonomy.mode.as_deref().or_else(|| autonomy.rest.get("defaultMode")?.as_str());
    if let Some(name) = named {
        let mode = ModeName::from(name.to_owned());
        if !workflow.modes.contains_key(&mode) {
            let known: Vec<String> = workflow.modes.keys().cloned().map(String::from).collect();
            let text = format!("the autonomy mode {name:?} does not exist");
            return Err(Refusal::usage(
                text,
                NextStep::by_hand(format!("write one of: {}", known.join(", "))),
            ));
        }
        workflow.mode = Some(mode);
    }
    for (name, required) in autonomy.required() {
        let Some(gate) = workflow.gates.get_mut(name) else {
            let known: Vec<&str> = workflow.gates.keys().map(String::as_str).collect();
            let text = format!("the autonomy of a system names the gate {name:?}, which does not exist");
            return Err(Refusal::usage(
                text,
                NextStep::by_hand(format!("write one of: {}", known.join(", "))),
            ));
        };
        gate.required = required;
        if !required && let Some(listed) = workflow.mode.as_ref().and_then(|it| workflow.modes.get_mut(it)) {
            listed.retain(|it| it != name);
        }
    }
    if let Some(retries) = autonomy.rest.get("failureRetries").and_then(serde_json::Value::as_u64)
        && let Some(rules) = &mut workflow.retries
    {
        rules.at_most = u32::try_from(retries).unwrap_or(rules.at_most);
    }
    Ok(())
}

/// Puts the domain and the system where the workflow has a place for them.
fn point_at(workflow: &mut Workflow, domain: &str, id: &str) {
    let fill = |text: &mut String| *text = text.replace(DOMAIN, domain).replace(ID, id);
    for skill in workflow.skills.values_mut() {
        skill.deliverables.iter_mut().for_each(fill);
    }
    for phase in &mut workflow.phases {
        phase.deliverables.iter_mut().for_each(fill);
        phase.context.iter_mut().for_each(fill);
    }
}

/// A project's own instructions for a skill take the place of ours.
fn read_skills(project: &Path, workflow: &mut Workflow) {
    for (name, skill) in &mut workflow.skills {
        let found = SKILL_FOLDERS.iter().map(|it| project.join(it).join(name)).find_map(|folder| {
            let bytes = files::read(&folder.join("SKILL.md"), INSTRUCTIONS_MOST).ok()?;
            Some((folder, String::from_utf8_lossy(&bytes).into_owned()))
        });
        let Some((folder, text)) = found else { continue };
        let listed = std::fs::read_dir(folder.join("references")).into_iter().flatten().flatten();
        let mut references: Vec<String> = listed
            .map(|it| it.path())
            .filter(|it| it.is_file())
            .filter_map(|it| Some(it.strip_prefix(project).ok()?.to_string_lossy().into_owned()))
            .collect();
        references.sort();
        references.truncate(REFERENCES_MOST);
        skill.instructions = Some(text);
        skill.references = references;
    }
}

/// Returns the workflow that the systems of a queue are built by, and whether one of them has a run
/// already. Refuses one whose runs are not of systems, since there is no queue of anything else, and a
/// domain that has no queue.
pub(crate) fn workflow_of_queue(caller: &Caller, request: &RunRequest) -> Result<(Workflow, bool), Refusal> {
    let project = caller.project()?;
    // A system is what is meant, whichever comes first.
    let request = RunRequest { input: Some("sys-001".to_owned()), ..request.clone() };
    let workflow = choose_workflow::workflow(caller, &request, &project, &mut Vec::new())?;
    if workflow.input.kind == InputKind::Job {
        let queue = DomainQueue::find_existing(&project, request.domain.as_deref())?;
        let jobs = match caller.existing_home()? {
            Some(home) => home.jobs(queue.key()).map_err(anyhow::Error::from)?,
            None => Vec::new(),
        };
        return Ok((workflow, jobs.iter().any(|it| it.run.is_some())));
    }
    let text = format!("--jobs builds systems of a queue, and a run of {} is not one", workflow.name);
    let next = NextStep::by_hand("leave --jobs out, or use --preset engineering");
    Err(Refusal { text, next: Some(next), exit: 2 })
}

/// Says whose run was left by its controller, before another system is begun.
pub(crate) fn left_behind(
    caller: &Caller,
    project: &Path,
    named: Option<&str>,
    notes: &mut Vec<Note>,
) -> anyhow::Result<Option<String>> {
    let (home, queue) = domain::read_queue(caller, project, named, notes)?;
    for job in home.jobs(queue.key())? {
        let Some(run) = &job.run else { continue };
        let is_running = home.run(run)?.is_some_and(|it| it.status == loop_core::engine::Status::Running);
        if is_running && home.holder(run).is_none() {
            return Ok(Some(job.system.id));
        }
    }
    Ok(None)
}
