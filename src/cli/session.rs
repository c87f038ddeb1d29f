//! Sessions of other controllers, and of other inputs, in the place where a run keeps its files: the
//! first are taken over once, the second are a question. Everything here happens before a run is
//! driven, and a session that cannot be read changes nothing.

use super::context::{Context, is_unfinished};
use super::flags::RunFlags;
use super::work::Input;
use super::{Trouble, ask, choose, furnish, open};
use crate::tree::git::{Git, single_line};
use crate::world::wait::now;
use loop_core::engine::{Event, Facts, Status};
use loop_core::workflow::model::Workflow;
use loop_store::mirror::prp_session::{folder, import, place};
use loop_store::mirror::task_state;
use loop_store::run::Run;
use loop_store::{Filter, Home, NewRun, Row, fold};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files of a session, as far as they are kept when another takes their place.
const FILES: [&str; 7] = [
    "loop-state.json",
    "circuit-breaker.json",
    "rate-limit.json",
    "metrics.json",
    "dual-gate.json",
    "qa-state.json",
    "phase-status.log",
];

/// Settles where the mirror of a run is written, so that the run's own copy of the workflow says it.
pub(super) fn settle_place(context: &Context, flags: &RunFlags, project: &Path, workflow: &mut Workflow) {
    if workflow.mirror.off || workflow.mirror.format.as_deref() != Some("prp-session") {
        return;
    }
    let variable = std::env::var_os("PRP_SESSION_DIR").filter(|it| !it.is_empty()).map(PathBuf::from);
    let told = flags.mirror.clone().or(variable).map(|it| context.dir().join(it));
    let told = told.or_else(|| workflow.mirror.dir.as_ref().map(PathBuf::from));
    let chosen = place::choose(told.as_deref(), project, std::env::home_dir().as_deref());
    // Where a link leads is settled once, and a link that comes later is not followed.
    let chosen = chosen.map(|it| it.canonicalize().unwrap_or(it));
    workflow.mirror.dir = chosen.map(|it| it.to_string_lossy().into_owned());
}

/// What another controller left for a workflow.
struct Left {
    folder: PathBuf,
    files: &'static [&'static str],
    found: import::Found,
    /// How many iterations it allows, and what it waits for, where its files say so.
    most: Option<u32>,
    promise: Option<String>,
}

/// Reads what another controller left in the place of this workflow's mirror.
fn left(home: Option<&Home>, project: &Path, workflow: &Workflow) -> anyhow::Result<Option<Left>> {
    if let Some(folder) = folder(workflow) {
        let found = import::read(&folder, workflow, now()).map_err(|it| invalid(&folder, &it))?;
        return Ok(found.map(|found| Left { folder, files: &FILES, found, most: None, promise: None }));
    }
    if workflow.mirror.off || workflow.mirror.format.as_deref() != Some("task-state") {
        return Ok(None);
    }
    // The file has no id. Where this home has a run that writes it, it is that run's.
    let name = project.to_string_lossy();
    let own = |home: &Home, statuses: &[&str], input: Option<&str>| {
        let own = Filter { project: Some(&name), workflow: Some(&workflow.name), ..Filter::default() };
        home.runs(&Filter { statuses, input, limit: Some(1), ..own }).map(|it| !it.is_empty())
    };
    if home.map_or(Ok(false), |it| own(it, &UNFINISHED, None))? {
        return Ok(None);
    }
    let read = task_state::import::read(project, now()).map_err(|it| invalid(project, &it))?;
    let Some(task_state::import::Left { found, most, promise }) = read else { return Ok(None) };
    if home.map_or(Ok(false), |it| own(it, &[], Some(&found.input)))? {
        return Ok(None);
    }
    let (folder, most) = (project.to_owned(), Some(most));
    Ok(Some(Left { folder, files: &[task_state::NAME], found, most, promise }))
}

/// Takes over the session of another controller that works on this input, if there is one.
pub(super) fn take_over(
    context: &Context,
    home: &Rc<Home>,
    flags: &RunFlags,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
    by: open::By,
) -> anyhow::Result<Option<Row>> {
    if flags.fresh {
        return Ok(None);
    }
    let Some(left) = left(Some(home), project, workflow)? else { return Ok(None) };
    let Left { folder, files, found, most, promise } = left;
    if is_known(home, &found.session)? || !is_same(&found, project, input) {
        return Ok(None);
    }
    let mut workflow = workflow.clone();
    if flags.max.is_none() && most.is_some() {
        workflow.limits.iterations = most;
    }
    furnish::prepare(&mut workflow, flags, project, input, by)?;
    let git = Git::around(project)?;
    let base = base(&git, &found)?;
    let id = &found.session;
    if home.run(id)?.is_none() {
        home.create_run(&NewRun {
            id,
            project: &project.to_string_lossy(),
            workflow: &workflow.name,
            input: &input.name,
            status: Status::Ready.word(),
            place: &git.work_tree().to_string_lossy(),
            definition: &serde_json::to_string(&workflow)?,
            at: now().0,
        })?;
    }
    let kept = home.folder(id).join("imported");
    keep(&folder, files, &kept)?;
    if let Some(path) = input.path.as_ref().filter(|_| workflow.input.lock) {
        super::design::lock(path, &input.text)?;
    }
    open::exclude_mirror(&git, &workflow)?;
    let mut run = Run::open(Rc::clone(home), id, now())?;
    let mut opening = input.opening(flags, &workflow);
    if let Some(promise) = promise.filter(|_| flags.promise.is_none()) {
        opening.promise = Some(promise);
    }
    for (at, event) in found.events(&workflow, opening, &base, now()) {
        run.record(at, event);
    }
    let source = match files {
        [file] => folder.join(file),
        _ => folder,
    };
    let text = format!(
        "taken over from {}: what it says was not measured here; a copy is kept in {}",
        source.display(),
        kept.display()
    );
    if !context.quiet {
        eprintln!("{text}");
    }
    if found.is_unfinished {
        run.record(now(), Event::Noted { text });
    }
    run.commit()?;
    drop(run);
    Ok(home.run(id)?)
}

/// Finds a session for `loop resume` where this home knows no run of the project.
pub(super) fn to_resume(context: &Context) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let project = context.project()?;
    let presets: &[&str] =
        if project.join(".loop/workflow.toml").exists() { &[""] } else { &["tdd", "ralph"] };
    for preset in presets {
        let preset = Some((*preset).to_owned()).filter(|it| !it.is_empty());
        let flags = RunFlags { preset, ..RunFlags::default() };
        let mut workflow = choose::workflow(context, &flags, &project)?;
        settle_place(context, &flags, &project, &mut workflow);
        let Some(left) = left(context.existing_home()?.as_deref(), &project, &workflow)? else { continue };
        let path = project.join(&left.found.input);
        let input = Input::document(context, &project, &path.to_string_lossy())?;
        let home = context.home()?;
        let row = take_over(context, &home, &flags, &project, &workflow, &input, open::By::Us)?;
        return Ok(row.map(|it| (home, it)));
    }
    Ok(None)
}

/// An unfinished run of another input that writes into the same place.
enum Other {
    Run(Box<Row>),
    Files(Box<import::Found>),
}

/// Asks what to do about an unfinished run of another input. `--fresh` says "new" beforehand.
pub(super) fn settle_other(
    context: &Context,
    home: &Rc<Home>,
    flags: &RunFlags,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
) -> anyhow::Result<()> {
    let Some(folder) = folder(workflow) else {
        return settle_other_file(context, home, flags, project, workflow, input);
    };
    let Some(other) = other(home, flags, project, &folder, workflow, input)? else { return Ok(()) };
    let (text, cost) = match &other {
        Other::Run(row) => (
            format!(
                "run {} of {} is {} and writes to {}",
                &row.id[..8],
                row.input,
                row.status,
                folder.display()
            ),
            "that run is cancelled",
        ),
        Other::Files(found) => (
            format!("{} holds an unfinished session of {}", folder.display(), found.input),
            "its files are kept with the run that replaces it",
        ),
    };
    if !flags.fresh {
        if !context.is_interactive() {
            let next = format!(
                "loop run {} --fresh for new ({cost}), or --mirror DIR for another place",
                input.name
            );
            return Err(Trouble { text: format!("other-input: {text}"), next: Some(next), exit: 3 }.into());
        }
        if !ask::new_or_abort(&format!("{text}\nnew: {cost}"))? {
            return Err(Trouble::usage(text, "loop run with its own input goes on with it"));
        }
    }
    match other {
        Other::Run(row) => open::cancel(home, &row),
        Other::Files(_) => Ok(()),
    }
}

/// A state file of another design that this home does not know is a question too.
fn settle_other_file(
    context: &Context,
    home: &Home,
    flags: &RunFlags,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
) -> anyhow::Result<()> {
    if flags.fresh {
        return Ok(());
    }
    let Some(left) = left(Some(home), project, workflow)? else { return Ok(()) };
    if is_same(&left.found, project, input) {
        return Ok(());
    }
    let (file, other) = (left.folder.join(left.files[0]), &left.found.input);
    let text = format!("{} tells of an unfinished loop on {other}", file.display());
    let cost = "a copy of the file is kept with the run that replaces it";
    if !context.is_interactive() {
        let next = format!("loop run {other} goes on with it; --fresh for new ({cost})");
        return Err(Trouble { text: format!("other-input: {text}"), next: Some(next), exit: 3 }.into());
    }
    if !ask::new_or_abort(&format!("{text}\nnew: {cost}"))? {
        return Err(Trouble::usage(text, format!("loop run {other} goes on with it")));
    }
    Ok(())
}

fn other(
    home: &Home,
    flags: &RunFlags,
    project: &Path,
    folder: &Path,
    workflow: &Workflow,
    input: &Input,
) -> anyhow::Result<Option<Other>> {
    let is_other =
        |row: &Row| is_unfinished(row) && (row.input != input.name || Path::new(&row.project) != project);
    let writes_here = |row: &Row| -> anyhow::Result<bool> {
        let theirs = fold::workflow(home, &row.id)?;
        Ok(self::folder(&theirs).as_deref() == Some(folder))
    };
    let name = project.to_string_lossy();
    let filter =
        Filter { project: Some(&name), statuses: &UNFINISHED, limit: Some(LOOKED_AT), ..Filter::default() };
    for row in home.runs(&filter)? {
        if is_other(&row) && writes_here(&row)? {
            return Ok(Some(Other::Run(Box::new(row))));
        }
    }
    let found = match import::read(folder, workflow, now()) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(_) if flags.fresh => return Ok(None),
        Err(error) => return Err(invalid(folder, &error)),
    };
    Ok(match home.run(&found.session)? {
        Some(row) if is_other(&row) && writes_here(&row)? => Some(Other::Run(Box::new(row))),
        Some(_) => None,
        None if found.is_unfinished && !is_same(&found, project, input) => {
            Some(Other::Files(Box::new(found)))
        }
        None => None,
    })
}

/// Everything that is neither completed nor cancelled.
const UNFINISHED: [&str; 7] = ["ready", "running", "waiting", "paused", "halted", "stopped", "capped"];

/// A project with more unfinished runs than this has other troubles.
const LOOKED_AT: usize = 50;

/// Keeps what another controller left, before a run that takes its place writes its own files.
pub(super) fn keep_before(home: &Home, id: &str, project: &Path, workflow: &Workflow) -> anyhow::Result<()> {
    let kept = home.folder(id).join("before");
    let Some(folder) = folder(workflow) else {
        // A file that any run of ours may have written is kept all the same: it is small.
        let is_ours = workflow.mirror.off || workflow.mirror.format.as_deref() != Some("task-state");
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

fn keep(folder: &Path, files: &[&str], kept: &Path) -> anyhow::Result<()> {
    let found: Vec<&&str> = files.iter().filter(|it| folder.join(it).is_file()).collect();
    if found.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(kept)?;
    for name in found {
        std::fs::copy(folder.join(name), kept.join(name))?;
    }
    Ok(())
}

/// A run whose journal was never begun is one that a crash left while it was taken over.
fn is_known(home: &Home, session: &str) -> anyhow::Result<bool> {
    Ok(match home.run(session)? {
        Some(_) => home.snapshot(session)?.is_some(),
        None => false,
    })
}

fn is_same(found: &import::Found, project: &Path, input: &Input) -> bool {
    if found.project.as_ref().is_some_and(|it| Path::new(it) != project) {
        return false;
    }
    let path = project.join(&found.input);
    found.input == input.name || (input.path.is_some() && path.canonicalize().ok() == input.path)
}

fn invalid(folder: &Path, error: &import::Invalid) -> anyhow::Error {
    let next = format!(
        "mend {}, or loop run --fresh to begin anew; the file is kept",
        folder.join(error.file).display()
    );
    Trouble {
        text: format!("the session in {} is damaged: {error}", folder.display()),
        next: Some(next),
        exit: 8,
    }
    .into()
}

/// What the tree was when the session began: the last commit before it.
fn base(git: &Git, found: &import::Found) -> anyhow::Result<Facts> {
    let before = format!("--before={}", found.started_at);
    // A branch without commits has none, which is no error here.
    let commit = git.run(["rev-list", "-1", &before, "HEAD"]).map(|it| single_line(&it)).unwrap_or_default();
    let tree = if commit.is_empty() {
        git.run(["hash-object", "-t", "tree", "/dev/null"])?
    } else {
        git.run(["rev-parse", &format!("{commit}^{{tree}}")])?
    };
    Ok(Facts { commit, tree: single_line(&tree), ..Facts::default() })
}
