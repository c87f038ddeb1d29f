//! The queue of systems for whoever looks after it: list, show, add, change, import, what is next.

use super::caller::{Caller, load};
use super::commands::revert::{self, Reverted};
use super::inside_call::{self, GuardedCommand};
use super::note::Note;
use super::refusal::{NextStep, Refusal, meant, why_unreadable};
use super::request::RunRequest;
use super::resolving::domain::{self, DomainQueue};
use super::resolving::queue_rules::{self, QueueRules};
use crate::tree::git::Git;
use crate::tree::worktree::current_branch;
use crate::world::wait::now;
use loop_base::files;
use loop_core::documents::system_queue::entry::{Autonomy, next_id};
use loop_core::documents::system_queue::{JobStatus, SystemEntry};
use loop_core::engine::Status;
use loop_store::mirror::domain_memory::REVERTED;
use loop_store::{Home, Job, PoolLock, QueueRead};
use std::path::Path;
use std::rc::Rc;

/// What is said about a system, by `add` and by `set`.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemWords {
    pub name: Option<String>,
    pub description: Option<String>,
    pub priority: Option<u32>,
    pub needs: Option<Vec<String>>,
    pub capabilities: Option<Vec<String>>,
    pub status: Option<String>,
    pub issue: Option<u64>,
    pub mode: Option<String>,
}

/// A queue that was read.
pub(crate) struct Queue {
    home: Rc<Home>,
    queue: DomainQueue,
}

impl Queue {
    /// Reads the queue of a domain, for looking.
    pub(crate) fn open(
        caller: &Caller,
        named: Option<&str>,
        notes: &mut Vec<Note>,
    ) -> Result<Queue, Refusal> {
        let mut open = || -> anyhow::Result<Queue> {
            let project = caller.project()?;
            let (home, queue) = domain::read_queue(caller, &project, named, notes)?;
            Ok(Queue { home, queue })
        };
        open().map_err(Refusal::from)
    }

    /// Reads the queue of a domain, for changing it.
    pub(crate) fn open_to_change(
        caller: &Caller,
        named: Option<&str>,
        notes: &mut Vec<Note>,
    ) -> Result<Queue, Refusal> {
        inside_call::refuse(caller, None, GuardedCommand::Queue)?;
        Queue::open(caller, named, notes)
    }

    /// Reads the queue that a system is added to. A project without any domain gets its first one.
    pub(crate) fn open_to_add(
        caller: &Caller,
        named: Option<&str>,
        notes: &mut Vec<Note>,
    ) -> Result<Queue, Refusal> {
        let is_first = caller.project().is_ok_and(|it| domain::domains(&it).is_empty());
        Queue::open_to_change(caller, named.or(is_first.then_some(domain::FIRST)), notes)
    }

    /// Takes the queue for a process that builds so many of its systems at once.
    pub(crate) fn lock(&self, jobs: usize) -> Result<PoolLock, Refusal> {
        let DomainQueue { project, domain, .. } = &self.queue;
        Ok(PoolLock::take(self.home.path(), project, domain, jobs).map_err(anyhow::Error::from)?)
    }

    /// Takes over what somebody has changed in the queue's file meanwhile, or says why nobody can read it.
    pub(crate) fn read_again(&self, notes: &mut Vec<Note>) -> Result<Option<Refusal>, Refusal> {
        match self.queue.read(&self.home, notes) {
            Ok(()) => Ok(None),
            Err(invalid) if invalid.is::<Refusal>() => Ok(Some(invalid.into())),
            Err(error) => Err(error.into()),
        }
    }

    /// The branch that the project is on: a system that begins now is merged into it.
    pub(crate) fn branch(&self) -> Option<String> {
        let git = Git::reopen(Path::new(&self.queue.project)).ok()?;
        current_branch(&git).ok()?
    }

    /// What says how its systems are built.
    pub(crate) fn rules(&self, caller: &Caller, request: &RunRequest) -> QueueRules {
        QueueRules::read(caller, request, &self.queue)
    }

    /// Says why none of its systems begins, if so.
    pub(crate) fn held_back(&self) -> Option<Refusal> {
        queue_rules::held_back(&self.home, &self.queue)
    }

    /// None of its systems begins any more, for this reason.
    pub(crate) fn hold_back(&self, why: &str) -> Result<(), Refusal> {
        let DomainQueue { project, domain, .. } = &self.queue;
        Ok(self.home.hold_back(project, domain, why, now()).map_err(anyhow::Error::from)?)
    }

    /// A person has looked at what held it back; returns that.
    pub(crate) fn accept(&self) -> Result<Vec<String>, Refusal> {
        let DomainQueue { project, domain, .. } = &self.queue;
        // Nobody has seen what cannot be read.
        queue_rules::readable(&self.home, &self.queue)?;
        Ok(self.home.accept_held_back(project, domain).map_err(anyhow::Error::from)?)
    }

    pub(crate) fn home(&self) -> &Rc<Home> {
        &self.home
    }

    pub(crate) fn domain(&self) -> &str {
        &self.queue.domain
    }

    pub(crate) fn file(&self) -> &Path {
        &self.queue.file
    }

    pub(crate) fn is_there(&self) -> bool {
        self.queue.is_there()
    }

    pub(crate) fn jobs(&self) -> Result<Vec<Job>, Refusal> {
        Ok(self.home.jobs(self.queue.key()).map_err(anyhow::Error::from)?)
    }

    pub(crate) fn next(&self) -> Result<Option<Job>, Refusal> {
        Ok(self.home.next_ready(self.queue.key()).map_err(anyhow::Error::from)?)
    }

    /// Returns what a system waits for.
    pub(crate) fn waits_for(&self, id: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.home.job_waits_for(self.queue.key(), id).map_err(anyhow::Error::from)?)
    }

    /// Returns what waits for a system.
    pub(crate) fn dependants(&self, id: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.home.dependants(self.queue.key(), id).map_err(anyhow::Error::from)?)
    }

    pub(crate) fn job(&self, id: &str) -> Result<Job, Refusal> {
        let found = self.home.job(self.queue.key(), id).map_err(anyhow::Error::from)?;
        match found {
            Some(job) => Ok(job),
            None => {
                let jobs = self.jobs()?;
                let text = format!("{id} is not in the queue of {}", self.domain());
                let next = match jobs.is_empty() {
                    true => NextStep::from("loop queue add \"NAME OF A SYSTEM\""),
                    false => meant(id, jobs.iter().map(|it| it.system.id.as_str())),
                };
                Err(Refusal { text, next: Some(next), exit: 2 })
            }
        }
    }

    /// Adds a system, and returns its id.
    pub(crate) fn add(&self, words: &SystemWords) -> Result<String, Refusal> {
        let jobs = self.jobs()?;
        let mut system = SystemEntry {
            id: next_id(jobs.iter().map(|it| it.system.id.as_str())),
            priority: 3,
            status: JobStatus::Specified,
            created_at: Some(now().to_string()),
            ..SystemEntry::default()
        };
        say(&mut system, words)?;
        if let Some(status) = &words.status {
            system.status = status_named(status)?;
        }
        let id = system.id.clone();
        self.put(system)?;
        Ok(id)
    }

    /// Changes what is said about a system.
    pub(crate) fn set(&self, id: &str, words: &SystemWords) -> Result<Job, Refusal> {
        let job = self.job(id)?;
        let mut system = job.system.clone();
        say(&mut system, words)?;
        if let Some(status) = &words.status {
            let (from, to) = (system.status, status_named(status)?);
            if let Some(run) = job.run.as_ref().filter(|_| from != to) {
                let run = run.get(..8).unwrap_or(run);
                let text =
                    format!("{id} is {from}: run {run} works on it; only that run changes its progress");
                return Err(Refusal { text, next: Some(format!("loop status --run {run}").into()), exit: 2 });
            }
            let is_progress = is_of_runs(to);
            if from != to && (is_progress || !from.may_become(to)) {
                let legal: Vec<&str> = from.edges().iter().map(|it| it.word()).collect();
                let text = format!("{id} is {from} and cannot become {to}");
                let next = match legal.as_slice() {
                    [] => NextStep::by_hand("a complete system stays complete; add another one"),
                    _ if is_progress => {
                        NextStep::by_hand(format!("only a run sets that status: loop run {id}"))
                    }
                    legal => NextStep::by_hand(format!("it can become: {}", legal.join(", "))),
                };
                return Err(Refusal { text, next: Some(next), exit: 2 });
            }
            system.status = to;
            if to != JobStatus::Blocked {
                system.blocked_reason = None;
            }
        }
        self.put(system)?;
        self.job(id)
    }

    /// Takes a landed system out of its target again. Returns those who build on it too, with how far they are.
    pub(crate) fn revert(&self, id: &str) -> Result<(Reverted, Vec<Job>), Refusal> {
        let job = self.job(id)?;
        let Some(run) = &job.run else {
            let (text, next) = match job.system.blocked_reason.as_deref() == Some(REVERTED) {
                true => (format!("{id} was reverted before"), format!("loop run {id} --fresh").into()),
                false => (format!("{id} was not landed by a run of this home"), "loop queue list".into()),
            };
            return Err(Refusal { text, next: Some(next), exit: 2 });
        };
        let reverted = revert::revert(&self.home, run).map_err(Refusal::from)?;
        let mut found: Vec<String> = vec![id.to_owned()];
        let mut next = 0;
        while let Some(id) = found.get(next).cloned() {
            let more = self.dependants(&id)?;
            let fresh: Vec<String> = more.into_iter().filter(|it| !found.contains(it)).collect();
            found.extend(fresh);
            next += 1;
        }
        let dependants =
            found.iter().skip(1).map(|it| self.job(it)).collect::<Result<Vec<Job>, Refusal>>()?;
        Ok((reverted, dependants))
    }

    fn put(&self, system: SystemEntry) -> Result<(), Refusal> {
        let put = self.home.put_job(self.queue.key(), system, now()).map_err(anyhow::Error::from)?;
        put.map_err(|mistakes| Refusal {
            text: mistakes.join("\n"),
            next: Some("loop queue list".into()),
            exit: 2,
        })
    }

    /// Takes over the systems of another file, and returns what of it was not.
    pub(crate) fn import(&self, path: &Path) -> Result<Vec<String>, Refusal> {
        let text = files::text(path).map_err(|error| Refusal {
            text: format!("{} {}", path.display(), why_unreadable(&error)),
            next: Some(NextStep::by_hand("name a file in the format of system-queue.json")),
            exit: 2,
        })?;
        let read = self.home.import_queue(self.queue.key(), &text, now()).map_err(anyhow::Error::from)?;
        match read {
            QueueRead::Read { refused } => Ok(refused),
            QueueRead::Invalid { mistakes } => {
                let lines: Vec<String> =
                    mistakes.iter().map(|it| format!("{}: {it}", path.display())).collect();
                let next = NextStep::by_hand(format!("repair {}; nothing was changed", path.display()));
                Err(Refusal { text: lines.join("\n"), next: Some(next), exit: 8 })
            }
        }
    }
}

fn say(system: &mut SystemEntry, words: &SystemWords) -> Result<(), Refusal> {
    let SystemWords { name, description, priority, needs, capabilities, status: _, issue, mode } =
        words.clone();
    if let Some(name) = name {
        system.name = name;
    }
    if let Some(description) = description {
        system.description = description;
    }
    if let Some(priority) = priority {
        system.priority = priority;
    }
    if let Some(needs) = needs {
        system.dependencies = needs;
    }
    if let Some(capabilities) = capabilities {
        system.capabilities = capabilities;
    }
    system.github_issue = issue.or(system.github_issue);
    if let Some(mode) = mode {
        system.autonomy.get_or_insert_with(Autonomy::default).mode = Some(mode);
    }
    Ok(())
}

/// Whether a status says how far a run has come.
fn is_of_runs(status: JobStatus) -> bool {
    matches!(status, JobStatus::Complete | JobStatus::Review | JobStatus::InProgress)
}

fn status_named(word: &str) -> Result<JobStatus, Refusal> {
    JobStatus::named(word).ok_or_else(|| {
        let known = JobStatus::ALL.map(JobStatus::word);
        Refusal {
            text: format!("no system of a queue is {word:?}"),
            next: Some(NextStep::by_hand(format!("one of: {}", known.join(", ")))),
            exit: 2,
        }
    })
}

/// Returns the system that is begun after this run, where the workflow says so and the run wakes anybody.
pub(crate) fn next_system(home: &Home, run: &str) -> anyhow::Result<Option<String>> {
    let Some(row) = home.run(run)? else { return Ok(None) };
    let (workflow, state) = load(home, &row)?;
    let is_done = row.status == Status::Completed && (state.is_proven() || workflow.proof.accept_unverified);
    let next = state.next_run.filter(|_| is_done && workflow.finish.begin_next);
    Ok(next.and_then(|it| it.strip_prefix("loop run ").map(str::to_owned)))
}
