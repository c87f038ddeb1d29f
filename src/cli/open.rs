//! `loop run` and `loop next`: find out what is meant, continue the run that does it or open one,
//! and drive. Everything that could make a run pointless is said here, before the first call.

use super::context::{Context, is_unfinished};
use super::drive::{self, Ask, Reach};
use super::flags::{OnQuestion, RunFlags};
use super::furnish::prepare;
use super::work::Input;
use super::{Trouble, ask, choose, detach, later, place, reload, session};
use crate::tree::git::Git;
use crate::tree::worktree;
use crate::world::wait::now;
use loop_base::text::sanitise;
use loop_core::engine::{Command, Decision, Effect, Event, Status, alike, decide};
use loop_core::event_line::line;
use loop_core::workflow::model::{Place, Workflow};
use loop_store::mirror;
use loop_store::run::Run;
use loop_store::{Filter, Home, NewRun, Row, TreeLock, fold};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) fn run(context: &Context, flags: &RunFlags, reach: Reach) -> anyhow::Result<u8> {
    let interactive = context.is_interactive();
    detach::refuse_one_call(flags.detach, reach)?;
    match open(context, flags, By::Us)? {
        Found::Said(code) => Ok(code),
        Found::Before(home, row) | Found::Imported(home, row) => {
            go_on(context, home, &row, flags, reach, interactive)
        }
        Found::Opened(it) if flags.detach => {
            let (home, id) = (Rc::clone(&it.home), it.taken.run.id.clone());
            // Whoever goes on takes the run and its tree, so both are let go here.
            drop(it);
            detach::start(context, &home, &id, &drive::Going::default(), flags.on_question)
        }
        Found::Opened(it) => {
            drive::run(context, it.home, it.taken, &it.place, &it.kept, &asking(flags, interactive), reach)
        }
    }
}

/// Who carries the calls of a run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// An agent that we start.
    Us,
    /// A session of the agent that calls us.
    Session,
}

/// What there was to open.
pub(super) enum Found {
    Opened(Box<Opened>),
    /// A run of the same input that is not cancelled.
    Before(Rc<Home>, Box<Row>),
    /// One that another controller began and that was just taken over.
    Imported(Rc<Home>, Box<Row>),
    /// Nothing was to be opened, and everything has been said.
    Said(u8),
}

/// A run that was just opened, with its working tree held.
pub(super) struct Opened {
    pub home: Rc<Home>,
    pub taken: drive::Taken,
    pub place: PathBuf,
    pub kept: Vec<String>,
    pub _tree: TreeLock,
}

/// Finds the run that is meant, or opens one.
pub(super) fn open(context: &Context, flags: &RunFlags, by: By) -> anyhow::Result<Found> {
    refuse_nesting(flags)?;
    later::refuse_flags(flags)?;
    let project = context.project()?;
    if let Some((home, row)) = meant_without_input(context, flags, &project)? {
        if flags.dry_run {
            let (workflow, state) = super::status::load(&home, &row)?;
            return tell_decision(&workflow, &state).map(Found::Said);
        }
        return Ok(Found::Before(home, Box::new(row)));
    }
    let mut workflow = choose::workflow(context, flags, &project)?;
    session::settle_place(context, flags, &project, &mut workflow);
    let input = Input::find(context, flags, &project, &mut workflow)?;
    if flags.dry_run {
        return dry_run(context, flags, &project, &workflow, &input).map(Found::Said);
    }
    let git = Git::around(&project)?;
    git.excluded()?;
    let home = context.home()?;
    if let Before::Opened(row) = before(&home, flags, &project, &workflow, &input)? {
        return Ok(Found::Before(home, Box::new(row)));
    }
    if let Some(row) = session::take_over(context, &home, flags, &project, &workflow, &input, by)? {
        return Ok(Found::Imported(home, Box::new(row)));
    }
    prepare(&mut workflow, flags, &project, &input, by)?;
    // A run with a worktree to itself disturbs nobody who works in this tree; only the opening of
    // the same run twice has to be kept out.
    let alone = workflow.workspace.at == Place::Worktree;
    let (tree, _opening) = match alone {
        true => (None, Some(TreeLock::opening(context.home_path(), git.work_tree())?)),
        false => (Some(TreeLock::take(context.home_path(), git.work_tree())?), None),
    };
    // Whoever had the tree a moment ago may have opened this very run.
    let begun = match before(&home, flags, &project, &workflow, &input)? {
        Before::Opened(row) => {
            drop(tree);
            return Ok(Found::Before(home, Box::new(row)));
        }
        Before::Begun(row) => Some(row.id),
        Before::Nothing => None,
    };
    if !alone {
        let kept = ours(git.work_tree(), &input, &workflow);
        ask::about_dirt(context, flags, &git, &kept, &context.home_path().join("looks"))?;
    }
    session::settle_other(context, &home, flags, &project, &workflow, &input)?;
    let input = input.into_design(context, &project, &git, &workflow)?;
    if let Some(path) = input.path.as_ref().filter(|_| workflow.input.lock) {
        super::design::lock(path, &input.text)?;
    }
    if flags.fresh {
        cancel_before(&home, &project, &workflow, &input)?;
    }
    let id = begun.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let plan = place::plan(&git, &workflow, &input, &id)?;
    let place = plan.as_ref().map_or(git.work_tree().to_owned(), |it| PathBuf::from(&it.place));
    if begun.is_none() {
        create(&home, &id, &project, &workflow, &input, &place)?;
    }
    session::keep_before(&home, &id, git.work_tree(), &workflow)?;
    exclude_mirror(&git, &workflow)?;
    let tree = match (tree, &plan) {
        (Some(tree), _) => tree,
        (None, plan) => {
            git.exclude(&[&format!("/{}", worktree::FOLDER)])?;
            worktree::reserve(plan.as_ref().expect("a run that is alone has a plan"))?;
            TreeLock::take(context.home_path(), &place)?
        }
    };
    let mut taken = drive::Taken::open(&home, &id)?;
    let opening = place::inside(input.opening(flags, &workflow), plan.as_ref());
    taken.run.record(now(), Event::Opened(opening));
    for text in alike(&workflow) {
        taken.run.record(now(), Event::Noted { text });
    }
    let noted = taken.run.commit()?;
    if !context.quiet && !context.json {
        for (_, event) in &noted {
            if let Event::Noted { text } = event {
                eprintln!("{}", sanitise(text));
            }
        }
    }
    let kept = ours_of(&place, &taken.run);
    Ok(Found::Opened(Box::new(Opened { home, taken, place, kept, _tree: tree })))
}

/// Takes a run that was opened before, with its working tree.
pub(super) fn retake(context: &Context, home: Rc<Home>, row: &Row) -> anyhow::Result<Opened> {
    let place = PathBuf::from(&row.place);
    let tree = TreeLock::take(context.home_path(), &place)?;
    let taken = drive::Taken::open(&home, &row.id)?;
    let kept = ours_of(&place, &taken.run);
    Ok(Opened { home, taken, place, kept, _tree: tree })
}

/// Without an input, the project's only unfinished run of this workflow is meant, or the one that
/// `--run` names.
fn meant_without_input(
    context: &Context,
    flags: &RunFlags,
    project: &Path,
) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    if flags.input.is_some() || flags.fresh {
        return Ok(None);
    }
    let Some(home) = context.existing_home()? else { return Ok(None) };
    if context.names_a_run() {
        return Ok(context.find(&home)?.map(|row| (home, row)));
    }
    let named = match (&flags.preset, &flags.workflow) {
        (Some(preset), _) => Some(preset.clone()),
        (None, None) if !project.join(".loop/workflow.toml").exists() => None,
        // Which run a file asks for cannot be said while it has mistakes, or is about to be read anew.
        (None, _) if flags.reload => None,
        (None, _) => choose::workflow(context, flags, project).ok().map(|it| it.name),
    };
    let fits = |row: &Row| named.as_ref().is_none_or(|it| row.workflow.eq_ignore_ascii_case(it));
    let runs = context.runs_of_project(&home)?;
    let open: Vec<&Row> = runs.iter().filter(|it| is_unfinished(it) && fits(it)).collect();
    match open.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some((home, (*row).clone()))),
        several => Err(super::context::several_unfinished(several)),
    }
}

/// What this home knows of the run that is asked for.
enum Before {
    Nothing,
    /// Created, and killed before its first event; whoever comes next opens it.
    Begun(Row),
    Opened(Row),
}

fn before(
    home: &Home,
    flags: &RunFlags,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
) -> anyhow::Result<Before> {
    if flags.fresh {
        return Ok(Before::Nothing);
    }
    let row = same_run(home, project, workflow, input)?.filter(|it| it.status != "cancelled");
    Ok(match row {
        Some(row) if home.snapshot(&row.id)?.is_some() => Before::Opened(row),
        Some(row) => Before::Begun(row),
        None => Before::Nothing,
    })
}

fn create(
    home: &Home,
    id: &str,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
    place: &Path,
) -> anyhow::Result<()> {
    home.create_run(&NewRun {
        id,
        project: &project.to_string_lossy(),
        workflow: &workflow.name,
        input: &input.name,
        status: Status::Ready.word(),
        place: &place.to_string_lossy(),
        definition: &serde_json::to_string(workflow)?,
        at: now().0,
    })?;
    Ok(())
}

/// Agents stage everything they see; what a mirror writes is none of theirs.
pub(super) fn exclude_mirror(git: &Git, workflow: &Workflow) -> anyhow::Result<()> {
    let excluded = mirror::paths(workflow, git.work_tree());
    git.exclude(&excluded.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(())
}

/// What to do at a question: as the flag says, else ask on a terminal and exit elsewhere.
pub(super) fn asking(flags: &RunFlags, interactive: bool) -> Ask {
    match flags.on_question {
        Some(OnQuestion::Wait) => Ask::Wait,
        Some(OnQuestion::Exit) => Ask::Exit,
        Some(OnQuestion::Ask) | None if interactive => Ask::Here,
        Some(OnQuestion::Ask) | None => Ask::Exit,
    }
}

fn refuse_nesting(flags: &RunFlags) -> anyhow::Result<()> {
    match std::env::var("LOOP_RUN") {
        Ok(run) if !flags.nested => Err(Trouble::usage(
            format!("this is inside an agent call of run {run}"),
            "a run inside a run needs --nested",
        )),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The files that belong to the run rather than to the work.
fn ours(place: &Path, input: &Input, workflow: &Workflow) -> Vec<String> {
    let named = [".loop/", ".claude-task-state.json", ".prp-session/", ".worktrees/"];
    let mut ours: Vec<String> = named.map(str::to_owned).to_vec();
    let mut designs = vec!["DESIGN-????????-??????*.md".to_owned()];
    if let Some(path) = input.path.as_ref().and_then(|it| it.strip_prefix(place).ok()) {
        designs.push(globset::escape(&path.to_string_lossy()));
    }
    // A killed controller can leave one half written.
    ours.extend(designs.iter().map(|it| format!("{it}.tmp")));
    ours.extend(designs);
    ours.extend(mirror::folder_inside(workflow, place).map(|it| globset::escape(&it)));
    ours
}

/// Returns what a run that exists keeps out of its books.
pub(super) fn ours_of(place: &Path, run: &Run) -> Vec<String> {
    let path = run.state.opening.path.as_ref().map(PathBuf::from);
    let input = Input { name: String::new(), alias: None, document: None, path, text: String::new() };
    ours(place, &input, &run.workflow)
}

/// Returns the newest run of this input, under either of its names.
fn same_run(home: &Home, project: &Path, workflow: &Workflow, input: &Input) -> anyhow::Result<Option<Row>> {
    let project = project.to_string_lossy();
    for name in [Some(&input.name), input.alias.as_ref()].into_iter().flatten() {
        let filter = Filter {
            project: Some(&project),
            workflow: Some(&workflow.name),
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

fn cancel_before(home: &Rc<Home>, project: &Path, workflow: &Workflow, input: &Input) -> anyhow::Result<()> {
    match same_run(home, project, workflow, input)?.filter(is_unfinished) {
        Some(row) => {
            if row.branch.is_some() {
                eprintln!("the worktree of run {} stays: {}", &row.id[..8], sanitise(&row.place));
            }
            cancel(home, &row)
        }
        None => Ok(()),
    }
}

/// Ends a run that nobody drives for good.
pub(super) fn cancel(home: &Rc<Home>, row: &Row) -> anyhow::Result<()> {
    let mut run = Run::open(Rc::clone(home), &row.id, now())?;
    drive::end_call(home, &mut run, Path::new(&row.place))?;
    run.record(now(), Event::Commanded(Command::Cancel));
    run.record(now(), Event::Closed(loop_core::engine::Outcome::Cancelled));
    run.commit()?;
    Ok(())
}

fn go_on(
    context: &Context,
    home: Rc<Home>,
    row: &Row,
    flags: &RunFlags,
    reach: Reach,
    interactive: bool,
) -> anyhow::Result<u8> {
    let asking = asking(flags, interactive);
    if row.status == "completed" {
        return drive::completed_before(context, &home, row);
    }
    place::refuse_move(&home, row, flags.worktree)?;
    if interactive && asking == Ask::Here && matches!(row.status.as_str(), "paused" | "stopped" | "running") {
        match ask::resume(row)? {
            ask::Wanted::Resume => (),
            ask::Wanted::New => {
                let flags = RunFlags { fresh: true, ..flags.clone() };
                return run(context, &flags, reach);
            }
            ask::Wanted::Abort => return Ok(5),
        }
    }
    reload::before_going_on(context, &home, row, flags)?;
    let going = drive::Going { reset: flags.reset, phase: None, most: flags.max, unblock: false };
    if flags.detach {
        return detach::start(context, &home, &row.id, &going, flags.on_question);
    }
    drive::resume(context, home, row, &going, &asking, reach)
}

fn dry_run(
    context: &Context,
    flags: &RunFlags,
    project: &Path,
    workflow: &Workflow,
    input: &Input,
) -> anyhow::Result<u8> {
    use loop_core::engine::State;
    let before = match context.existing_home()? {
        Some(home) => match same_run(&home, project, workflow, input)? {
            Some(row) if home.snapshot(&row.id)?.is_some() => {
                Some(fold::state(&home, &row.id, &fold::workflow(&home, &row.id)?)?)
            }
            Some(_) | None => None,
        },
        None => None,
    };
    let state = match before {
        Some(state) => state,
        None => {
            let mut state = State::new(workflow);
            state.apply(workflow, now(), &Event::Opened(input.opening(flags, workflow)));
            state
        }
    };
    tell_decision(workflow, &state)
}

fn tell_decision(workflow: &Workflow, state: &loop_core::engine::State) -> anyhow::Result<u8> {
    let next = match decide(workflow, state, now()) {
        Decision::Perform(effect) => intent(workflow, &effect),
        Decision::Record(event) => line(workflow, &event).unwrap_or_else(|| event.kind().to_owned()),
        Decision::Rest(_) => format!("{}: {}", Status::of(state).word(), state.reason(workflow)),
    };
    println!("next: {}", sanitise(&next));
    Ok(0)
}

/// What would be done, as a wish.
fn intent(workflow: &Workflow, effect: &Effect) -> String {
    match effect {
        Effect::Workspace => "make the branch and the worktree".to_owned(),
        Effect::Baseline => "run every check once, before the first call".to_owned(),
        Effect::List => "read the list of items".to_owned(),
        Effect::Work(call) => {
            let phase = &workflow.phases[call.phase].name;
            format!("start call {}: {phase}, iteration {}", call.number, call.iteration)
        }
        Effect::Collect(call) => format!("find out what became of call {}", call.number),
        Effect::Contain => "end what a call left running".to_owned(),
        Effect::Measure { checks, .. } => format!("run the checks: {}", checks.join(", ")),
        Effect::Sleep { until, why } => format!("wait until {until}: {why}"),
        Effect::Ask(question) => format!("ask: {}", question.text),
        Effect::Tell => "tell a person where it stands".to_owned(),
        Effect::Finish => "finish".to_owned(),
    }
}
