//! `loop queue`: the systems of a domain, what each of them waits for, and what comes next.

use super::run::TellOnce;
use crate::cli::context::show as show_line;
use crate::cli::{Context, hint, values};
use crate::desk::{NextStep, Queue, SystemWords};
use clap::{Args, Subcommand};
use loop_base::text::sanitise;
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::Status;
use loop_store::{Job, Row};
use loop_supervise::interruption;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Systems that a list shows to a person; a program gets them all.
const SHOWN: usize = 200;

/// Cells of the bar.
const BAR: usize = 20;

#[derive(Args)]
pub(crate) struct QueueFlags {
    #[command(subcommand)]
    command: Option<QueueCommand>,
    /// The domain (default: the only folder below domain-memory/)
    #[arg(long, value_name = "NAME", global = true)]
    domain: Option<String>,
}

#[derive(Subcommand)]
enum QueueCommand {
    /// List the systems, how far they are and what they wait for
    List,
    /// Add a system
    Add {
        /// Its name
        name: String,
        #[command(flatten)]
        words: WordFlags,
    },
    /// Show one system
    Show {
        /// Its id, as `loop queue` lists it
        id: String,
    },
    /// Change a system
    Set {
        /// Its id, as `loop queue` lists it
        id: String,
        /// Its name
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        words: WordFlags,
    },
    /// Import the systems of another system-queue.json
    Import {
        /// The other queue
        file: PathBuf,
    },
    /// Print the system that would be started next
    Next,
    /// Accept what was changed while an agent worked, so that systems begin again
    Accept,
    /// Revert a landed system on its branch
    Revert {
        /// Its id, as `loop queue` lists it
        id: String,
    },
}

#[derive(Args)]
struct WordFlags {
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// 1 is the highest (default: 3)
    #[arg(long, value_name = "N", value_parser = values::count)]
    priority: Option<u32>,
    /// A system that must be complete first (repeatable)
    #[arg(long, value_name = "ID")]
    needs: Vec<String>,
    /// Something to build, in this order (repeatable)
    #[arg(long, value_name = "NAME")]
    capability: Vec<String>,
    /// discovered, specified, ready, blocked (default: specified)
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// The number of its issue
    #[arg(long, value_name = "N", value_parser = values::large_count)]
    issue: Option<u64>,
    /// Which gates ask: autonomous, supervised, hybrid
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
}

impl WordFlags {
    fn words(&self, name: Option<String>) -> SystemWords {
        let given = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        SystemWords {
            name,
            description: self.description.clone(),
            priority: self.priority,
            needs: given(&self.needs),
            capabilities: given(&self.capability),
            status: self.status.clone(),
            issue: self.issue,
            mode: self.mode.clone(),
        }
    }
}

pub(crate) fn run(context: &Context, flags: &QueueFlags) -> anyhow::Result<u8> {
    let domain = flags.domain.as_deref();
    let mut told = TellOnce::default();
    let look = |told: &mut TellOnce| told.with(context, |notes| Queue::open(&context.caller, domain, notes));
    let change = |told: &mut TellOnce| {
        told.with(context, |notes| Queue::open_to_change(&context.caller, domain, notes))
    };
    match flags.command.as_ref().unwrap_or(&QueueCommand::List) {
        QueueCommand::List => list(context, &look(&mut told)?),
        QueueCommand::Show { id } => show(context, &look(&mut told)?, id),
        QueueCommand::Next => next(context, &look(&mut told)?),
        QueueCommand::Accept => accept(context, &change(&mut told)?),
        QueueCommand::Revert { id } => revert(context, &change(&mut told)?, id),
        QueueCommand::Add { name, words } => {
            let queue = told.with(context, |notes| Queue::open_to_add(&context.caller, domain, notes))?;
            let id = queue.add(&words.words(Some(name.clone())))?;
            if context.json {
                println!("{}", json!({ "id": id }));
            } else {
                println!("{id} is in the queue of {}: {}", queue.domain(), sanitise(name));
                println!("{}", hint::next(&after_adding(&queue, &id)?));
            }
            Ok(0)
        }
        QueueCommand::Set { id, name, words } => {
            let queue = change(&mut told)?;
            let job = queue.set(id, &words.words(name.clone()))?;
            if context.json {
                println!("{}", crate::cli::json::pretty(&object(&queue, &job)?));
            } else {
                show_line(&sanitise(&line(&queue, &job)?));
            }
            Ok(0)
        }
        QueueCommand::Import { file } => {
            let queue = change(&mut told)?;
            let refused = queue.import(&context.caller.dir.join(file))?;
            refused.iter().for_each(|it| eprintln!("{}", sanitise(it)));
            list(context, &queue)
        }
    }
}

fn accept(context: &Context, queue: &Queue) -> anyhow::Result<u8> {
    let accepted = queue.accept()?;
    if context.json {
        println!("{}", json!({ "domain": queue.domain(), "accepted": accepted }));
        return Ok(0);
    }
    accepted.iter().for_each(|it| show_line(&format!("accepted: {}", sanitise(it))));
    if accepted.is_empty() {
        println!("nothing holds back the systems of {}", queue.domain());
    }
    println!("{}", hint::next("loop queue list"));
    Ok(0)
}

fn revert(context: &Context, queue: &Queue, id: &str) -> anyhow::Result<u8> {
    interruption::end_checks_first()?;
    let (reverted, dependants) = queue.revert(id)?;
    let stand: Vec<&Job> = dependants.iter().collect();
    if context.json {
        let ids: Vec<&str> = stand.iter().map(|it| it.system.id.as_str()).collect();
        let value = json!({
            "id": id, "into": reverted.into, "merge": reverted.merge, "commit": reverted.commit, "behind": reverted.behind,
            "dependants": ids,
        });
        println!("{}", crate::cli::json::pretty(&value));
        return Ok(0);
    }
    let short = |it: &str| it.get(..12).unwrap_or(it).to_owned();
    let (merge, commit) = (short(&reverted.merge), short(&reverted.commit));
    show_line(&format!(
        "{id} was reverted on {}: {commit} reverts {merge}; the system is blocked",
        reverted.into
    ));
    if let Some(why) = &reverted.behind {
        println!("{} does not have {commit} yet: {}", reverted.into, sanitise(why));
    }
    if !stand.is_empty() {
        let named = stand.iter().map(|it| format!("{} ({})", it.system.id, it.system.status));
        show_line(&format!("systems that depend on it: {}", sanitise(&named.collect::<Vec<_>>().join(", "))));
    }
    println!("{}", hint::next(&format!("loop run {id} --fresh")));
    Ok(0)
}

/// A system that waits is not begun; the one that it waits for may be.
fn after_adding(queue: &Queue, id: &str) -> anyhow::Result<String> {
    if queue.waits_for(id)?.is_empty() && queue.job(id)?.system.status.is_startable() {
        return Ok(format!("loop run {id}"));
    }
    Ok(queue.next()?.map_or("loop queue".to_owned(), |it| format!("loop run {}", it.system.id)))
}

fn list(context: &Context, queue: &Queue) -> anyhow::Result<u8> {
    let jobs = queue.jobs()?;
    if context.json {
        let all: Vec<Value> = jobs.iter().map(|it| object(queue, it)).collect::<anyhow::Result<_>>()?;
        let held_back = queue.held_back().map(|it| it.text);
        let list = json!({ "domain": queue.domain(), "systems": all, "heldBack": held_back });
        println!("{}", crate::cli::json::pretty(&list));
        return Ok(0);
    }
    if jobs.is_empty() {
        let empty = if queue.is_there() { "has no systems" } else { "is not there" };
        println!("{} {empty}", queue.file().display());
        println!(
            "{}",
            hint::next(&format!("loop queue add \"NAME OF A SYSTEM\" --domain {}", queue.domain()))
        );
        return Ok(0);
    }
    let done = jobs.iter().filter(|it| it.system.status == JobStatus::Complete).count();
    let percent = (done * 200 + jobs.len()) / (jobs.len() * 2);
    let cells = percent * BAR / 100;
    let bar = format!("{}{}", "━".repeat(cells), "─".repeat(BAR - cells));
    println!("{}: {bar} {percent} %, {done} of {} complete", queue.domain(), jobs.len());
    for job in jobs.iter().take(SHOWN) {
        show_line(&sanitise(&line(queue, job)?));
    }
    let more = jobs.len().saturating_sub(SHOWN);
    if 0 < more {
        println!("and {more} more; loop queue list --json has them all");
    }
    if let Some(held_back) = queue.held_back() {
        show_line(&sanitise(&held_back.text));
        let by_hand = |next: &NextStep| next.words().map(|it| format!("help: {it}"));
        let next =
            held_back.next.as_ref().and_then(|it| it.command().map(hint::next).or_else(|| by_hand(it)));
        next.iter().for_each(|it| println!("{it}"));
        return Ok(0);
    }
    let mut resting = None;
    for job in &jobs {
        if resting.is_none() && is_to_continue(queue, job)? {
            resting = Some(job);
        }
    }
    match queue.next()?.as_ref().or(resting) {
        Some(job) => println!("{}", hint::next(&format!("loop run {}", job.system.id))),
        None => println!("no system is ready"),
    }
    Ok(0)
}

/// Whether a system was begun, here or by another controller, and nobody is at work on it.
fn is_to_continue(queue: &Queue, job: &Job) -> anyhow::Result<bool> {
    let is_begun = matches!(job.system.status, JobStatus::InProgress | JobStatus::Review);
    // Another controller has left its state, unless it is at work elsewhere.
    let left = |folder: &Path| folder.join("loop-state.json").is_file();
    let folder = queue.file().parent().unwrap_or(Path::new(""));
    let is_left = || left(folder) || left(&folder.join("systems").join(&job.system.id));
    Ok(is_begun && run_of(queue, job)?.map_or_else(is_left, |it| it.status != Status::Running))
}

fn run_of(queue: &Queue, job: &Job) -> anyhow::Result<Option<Row>> {
    Ok(job.run.as_ref().map(|it| queue.home().run(it)).transpose()?.flatten())
}

/// `[x] sys-001  p1  #12  Auth  complete`
fn line(queue: &Queue, job: &Job) -> anyhow::Result<String> {
    let system = &job.system;
    let mark = match system.status {
        JobStatus::Complete => "[x]",
        JobStatus::InProgress => "[>]",
        JobStatus::Review => "[?]",
        JobStatus::Blocked => "[!]",
        JobStatus::Discovered | JobStatus::Specified | JobStatus::Ready => "[ ]",
    };
    let issue = system.github_issue.map(|it| format!("#{it} ")).unwrap_or_default();
    let mut text =
        format!("{mark} {}  p{}  {issue}{}  {}", system.id, system.priority, system.name, system.status);
    if 0 < job.waits_for {
        text.push_str(&format!(", waits for {}", queue.waits_for(&system.id)?.join(", ")));
    }
    let is_begun = matches!(system.status, JobStatus::InProgress | JobStatus::Review);
    if let Some(run) =
        run_of(queue, job)?.filter(|it| is_begun && !matches!(it.status, Status::Ready | Status::Running))
    {
        let why = run.reason.as_deref().and_then(|it| it.lines().next()).unwrap_or_default();
        text.push_str(&format!(", {}: {why}", run.status.word()));
    }
    if let Some(reason) = &system.blocked_reason {
        text.push_str(&format!(": {}", reason.lines().next().unwrap_or_default()));
    }
    Ok(text)
}

fn object(queue: &Queue, job: &Job) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(&job.system)?;
    value["waitsFor"] = queue.waits_for(&job.system.id)?.into();
    value["run"] = job.run.clone().into();
    Ok(value)
}

fn show(context: &Context, queue: &Queue, id: &str) -> anyhow::Result<u8> {
    let job = queue.job(id)?;
    if context.json {
        println!("{}", crate::cli::json::pretty(&object(queue, &job)?));
        return Ok(0);
    }
    show_line(&sanitise(&line(queue, &job)?));
    let system = &job.system;
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend((!system.description.is_empty()).then(|| ("about", system.description.clone())));
    rows.extend((!system.dependencies.is_empty()).then(|| ("depends on", system.dependencies.join(", "))));
    let dependants = queue.dependants(id)?;
    rows.extend((!dependants.is_empty()).then(|| ("needed by", dependants.join(", "))));
    rows.extend((!system.capabilities.is_empty()).then(|| ("capabilities", system.capabilities.join(", "))));
    rows.extend(job.run.as_ref().map(|it| ("run", it.get(..8).unwrap_or(it).to_owned())));
    rows.extend(system.started_at.as_ref().map(|it| ("started", it.clone())));
    rows.extend(system.completed_at.as_ref().map(|it| ("completed", it.clone())));
    for (key, value) in rows {
        show_line(&format!("{:<14}{}", format!("{key}:"), sanitise(&value)));
    }
    Ok(0)
}

fn next(context: &Context, queue: &Queue) -> anyhow::Result<u8> {
    let job = queue.next()?;
    if context.json {
        let value = job.as_ref().map(|it| object(queue, it)).transpose()?;
        println!("{}", value.unwrap_or(Value::Null));
        return Ok(0);
    }
    match job {
        Some(job) => {
            show_line(&sanitise(&line(queue, &job)?));
            println!("{}", hint::next(&format!("loop run {}", job.system.id)));
        }
        None => show_line("no system is ready; loop queue list shows what they wait for"),
    }
    Ok(0)
}
