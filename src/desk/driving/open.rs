//! Opening a run: find out what is meant, return the run that does it already, or open one. Whatever
//! could make a run pointless is a refusal or a question here, before the first call.

use crate::deliver::github::{self, Road};
use crate::desk::caller::{Caller, CallerEnvironment, is_unfinished, load, several_unfinished};
use crate::desk::commands::command::cancel_unowned;
use crate::desk::driving::adopt::{settle_place, take_over};
use crate::desk::driving::git_programs;
use crate::desk::idle_world::IdleWorld;
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::note::Note;
use crate::desk::obstacles::caps;
use crate::desk::obstacles::dirty_tree::about_dirt;
use crate::desk::obstacles::other_input::{InTheWay, in_the_way};
use crate::desk::obstacles::prepare::refuse_or_prepare;
use crate::desk::obstacles::preview::{dry_run, of_run};
use crate::desk::obstacles::{held, left_files, place};
use crate::desk::own_paths;
use crate::desk::question::RequestQuestion;
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::domain::DomainQueue;
use crate::desk::resolving::input::RunInput;
use crate::desk::resolving::wanted_run::{self, Before, WantedRun};
use crate::desk::resolving::{choose_workflow, design_file};
use crate::drive;
use crate::tree::git::Git;
use crate::tree::worktree;
use crate::world::wait::{Signals, now};
use loop_base::secret;
use loop_core::engine::{Event, Hold, HoldKind, News, Worktree, alike, uncommittable};
use loop_core::workflow::model::{WorkPlace, Workflow};
use loop_store::run::Run;
use loop_store::{Home, OpeningLock, Row, TreeLock, mirror};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What came of a request to open a run.
pub(crate) enum OpenReply {
    Opened(Box<OpenRun>),
    /// A run of the same input that is not cancelled.
    Before(FoundRun),
    /// One that another controller began and that was just taken over.
    Adopted(FoundRun),
    Question(Box<RequestQuestion>),
    /// What would be done next, where only that was asked for.
    Next(String),
}

/// A run that nobody here holds.
pub(crate) struct FoundRun {
    pub home: Rc<Home>,
    pub row: Box<Row>,
}

/// A run that this process owns, with its working tree. Whoever wants it to end is heard from before
/// it is taken.
pub(crate) struct OpenRun {
    pub home: Rc<Home>,
    pub run: Run,
    pub signals: Signals,
    pub place: PathBuf,
    /// The files that belong to the run rather than to the work.
    pub own_paths: Vec<String>,
    pub tree: TreeLock,
    /// Where the person's settings are.
    pub environment: CallerEnvironment,
}

/// Finds the run that is meant, or opens one.
pub(crate) fn open(
    caller: &Caller,
    request: &RunRequest,
    notes: &mut Vec<Note>,
) -> Result<OpenReply, Refusal> {
    find_or_open(caller, request, notes).map_err(|it| held::refusal(caller, it))
}

fn find_or_open(caller: &Caller, request: &RunRequest, notes: &mut Vec<Note>) -> anyhow::Result<OpenReply> {
    if !request.nested && !request.dry_run {
        inside_call::refuse(caller, None, GuardedCommand::Run)?;
    }
    let project = caller.project()?;
    if let Some(found) = meant_without_input(caller, request, &project)? {
        return known(found, request);
    }
    let mut wanted = find_wanted(caller, request, project, notes)?;
    if request.dry_run {
        return dry_run(caller, request, wanted).map(OpenReply::Next);
    }
    let git = repository(caller, request, &wanted.project)?;
    let home = caller.home()?;
    if let Some(reply) = meant_by_input(&home, request, &wanted, notes)? {
        return Ok(reply);
    }
    if wanted.newest(&home)?.is_none() && !request.fresh {
        wanted.import_begun(&git, request.max)?;
    }
    refuse_or_prepare(caller, Some(&home), request, &mut wanted)?;
    let held = HeldTree::take(caller, &git, &wanted.workflow)?;
    // Whoever had the tree a moment ago may have opened this very run.
    let begun = match wanted.before(&home, request)? {
        Before::Opened(row) => return Ok(OpenReply::Before(FoundRun { home, row: Box::new(row) })),
        Before::Begun(row) => Some(row.id),
        Before::Nothing => None,
    };
    if let Some(question) = make_way(caller, &home, request, &git, &wanted, &held)? {
        return Ok(OpenReply::Question(question));
    }
    let wanted = with_document(caller, &git, wanted, notes)?;
    if request.fresh {
        cancel_before(caller, &home, &wanted, notes)?;
    }
    let seat = take_seat(caller, &home, &git, &wanted, begun, held)?;
    begin(caller, home, request, &wanted, seat, notes).map(|it| OpenReply::Opened(Box::new(it)))
}

/// Opens the repository that a run is to work in.
fn repository(caller: &Caller, request: &RunRequest, project: &Path) -> anyhow::Result<Git> {
    let git = match Git::around(project) {
        Ok(git) => git,
        Err(error) => {
            refuse_lost_repository(caller, project)?;
            return Err(error.into());
        }
    };
    git.excluded()?;
    if !request.worktree {
        inside_call::refuse_same_tree(caller)?;
    }
    Ok(git)
}

/// Returns the run of this input that there is, here or as another controller began it.
fn meant_by_input(
    home: &Rc<Home>,
    request: &RunRequest,
    wanted: &WantedRun,
    notes: &mut Vec<Note>,
) -> anyhow::Result<Option<OpenReply>> {
    let found = |row: Row| FoundRun { home: Rc::clone(home), row: Box::new(row) };
    if let Before::Opened(row) = wanted.before(home, request)? {
        return Ok(Some(OpenReply::Before(found(row))));
    }
    if let Some(row) = take_over(home, request, wanted, notes)? {
        return Ok(Some(OpenReply::Adopted(found(row))));
    }
    if !request.fresh {
        // What somebody deleted from the list may be this very run.
        home.refuse_missing_runs()?;
    }
    Ok(None)
}

/// Asks about what is in the tree that the run would work in and about other runs there, and cancels the one that is to
/// make way.
fn make_way(
    caller: &Caller,
    home: &Rc<Home>,
    request: &RunRequest,
    git: &Git,
    wanted: &WantedRun,
    held: &HeldTree,
) -> anyhow::Result<Option<Box<RequestQuestion>>> {
    if let HeldTree::Tree(_) = held
        && let Some(question) = about_dirt(request, git, wanted)?
    {
        return Ok(Some(Box::new(question)));
    }
    match in_the_way(home, request, wanted)? {
        InTheWay::Nothing => (),
        InTheWay::Run(row) => {
            inside_call::refuse(caller, None, GuardedCommand::Cancel)?;
            cancel_unowned(home, &row)?;
        }
        InTheWay::Question(question) => return Ok(Some(question)),
    }
    Ok(None)
}

/// The repository that an unfinished run began in is to be restored, and not made anew.
fn refuse_lost_repository(caller: &Caller, project: &Path) -> anyhow::Result<()> {
    let Some(home) = caller.existing_home()? else { return Ok(()) };
    if caller.runs_of_project(&home)?.iter().any(is_unfinished) {
        place::refuse_lost_repository(project)?;
    }
    Ok(())
}

/// Takes a run that was opened before, with its working tree.
pub(crate) fn retake(caller: &Caller, found: FoundRun) -> Result<OpenRun, Refusal> {
    let retake = || -> anyhow::Result<OpenRun> {
        let place = PathBuf::from(&found.row.place);
        let signals = Signals::listen()?;
        let tree = TreeLock::take(&caller.home, &place)?;
        let run = Run::open(Rc::clone(&found.home), &found.row.id, now())?;
        let own_paths = own_paths::of_run(&place, &run);
        let (home, environment) = (Rc::clone(&found.home), caller.environment.clone());
        Ok(OpenRun { home, run, signals, place, own_paths, tree, environment })
    };
    retake().map_err(|it| held::refusal(caller, it))
}

/// A run that was found without an input.
fn known(found: FoundRun, request: &RunRequest) -> anyhow::Result<OpenReply> {
    if !request.dry_run {
        return Ok(OpenReply::Before(found));
    }
    of_run(&found.home, &found.row, request).map(OpenReply::Next)
}

/// Without an input, the project's only unfinished run of this workflow is meant, or the one that is
/// named.
fn meant_without_input(
    caller: &Caller,
    request: &RunRequest,
    project: &Path,
) -> anyhow::Result<Option<FoundRun>> {
    if request.input.is_some() || request.fresh || request.next_job {
        return Ok(None);
    }
    let Some(home) = caller.existing_home()? else { return Ok(None) };
    if caller.run.is_some() {
        return Ok(caller.find(&home)?.map(|row| FoundRun { home, row: Box::new(row) }));
    }
    let domain = request.domain.as_deref();
    if domain.is_some() {
        DomainQueue::find_existing(project, domain)?;
    }
    let named = match (&request.preset, &request.workflow) {
        (Some(preset), _) => Some(preset.clone()),
        (None, None) if !project.join(".loop/workflow.toml").exists() => None,
        // Which run a file asks for cannot be said while it has mistakes, or is about to be read again.
        (None, _) if request.reload => None,
        (None, _) => {
            let mut notes = Vec::new();
            choose_workflow::workflow(caller, request, project, &mut notes).ok().map(|it| it.name)
        }
    };
    let fits = |row: &Row| named.as_ref().is_none_or(|it| row.workflow.eq_ignore_ascii_case(it));
    let runs = caller.runs_of_project(&home)?;
    let is_of_domain = |row: &Row| -> anyhow::Result<bool> {
        let Some(domain) = domain else { return Ok(true) };
        Ok(load(&home, row)?.1.opening.beginning.domain.as_deref() == Some(domain))
    };
    let mut open: Vec<&Row> = Vec::new();
    for row in runs.iter().filter(|it| is_unfinished(it) && fits(it)) {
        if is_of_domain(row)? {
            open.push(row);
        }
    }
    match open.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some(FoundRun { home, row: Box::new((*row).clone()) })),
        several => Err(several_unfinished(several)),
    }
}

/// Settles which workflow is meant, where its files for other tools go, and what it works on.
fn find_wanted(
    caller: &Caller,
    request: &RunRequest,
    project: PathBuf,
    notes: &mut Vec<Note>,
) -> anyhow::Result<WantedRun> {
    let mut workflow = choose_workflow::workflow(caller, request, &project, notes)?;
    settle_place(caller, request, &project, &mut workflow);
    let input = RunInput::find(caller, request, &project, &mut workflow)?;
    Ok(WantedRun { project, workflow, input })
}

/// What is held while a run is opened.
enum HeldTree {
    /// The tree that the run works in.
    Tree(TreeLock),
    /// A run with a worktree to itself disturbs nobody who works in this tree; only the opening of
    /// the same run twice has to be kept out.
    Opening(OpeningLock),
}

impl HeldTree {
    fn take(caller: &Caller, git: &Git, workflow: &Workflow) -> anyhow::Result<HeldTree> {
        Ok(match workflow.workspace.at {
            WorkPlace::Worktree => HeldTree::Opening(TreeLock::opening(&caller.home, git.work_tree())?),
            WorkPlace::Here => HeldTree::Tree(TreeLock::take(&caller.home, git.work_tree())?),
        })
    }
}

/// Gives the run its document, where the workflow works on one, and locks it.
fn with_document(
    caller: &Caller,
    git: &Git,
    wanted: WantedRun,
    notes: &mut Vec<Note>,
) -> anyhow::Result<WantedRun> {
    let WantedRun { project, workflow, input } = wanted;
    let input = input.into_design(caller, &project, git, &workflow, notes)?;
    if let Some(path) = input.path.as_ref().filter(|_| workflow.input.lock) {
        design_file::lock(path, &input.text)?;
    }
    if let Some(phase) = &input.phase {
        phase.write_missing(git.work_tree())?;
    }
    Ok(WantedRun { project, workflow, input })
}

/// An unfinished run of the same input makes way for a fresh one.
fn cancel_before(
    caller: &Caller,
    home: &Rc<Home>,
    wanted: &WantedRun,
    notes: &mut Vec<Note>,
) -> anyhow::Result<()> {
    let Some(row) = wanted.newest(home)?.filter(is_unfinished) else { return Ok(()) };
    inside_call::refuse(caller, None, GuardedCommand::Cancel)?;
    if row.branch.is_some() {
        notes.push(Note::worktree_stays(&row));
    }
    cancel_unowned(home, &row)
}

/// Where a run that is about to begin works, and its id.
struct Seat {
    id: String,
    road: Road,
    plan: Option<Worktree>,
    place: PathBuf,
    tree: TreeLock,
    /// Held until the run has its first event.
    _opening: Option<OpeningLock>,
}

/// Puts the run into the home's list and takes the tree that it works in.
fn take_seat(
    caller: &Caller,
    home: &Home,
    git: &Git,
    wanted: &WantedRun,
    begun: Option<String>,
    held: HeldTree,
) -> anyhow::Result<Seat> {
    let WantedRun { project, workflow, input } = wanted;
    let road = match input.job {
        Some(_) => github::choose(workflow, git).map_err(no_road)?,
        None => Road::Here,
    };
    let is_new = begun.is_none();
    let id = begun.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let plan = place::plan(git, workflow, input, &id)?;
    let place = plan.as_ref().map_or(git.work_tree().to_owned(), |it| PathBuf::from(&it.place));
    if let Some(job) = &input.job {
        job.claim(home, &id)?;
    }
    if is_new {
        wanted_run::create(home, &id, project, workflow, &input.name, &place)?;
    }
    left_files::keep_before(home, &id, git.work_tree(), workflow)?;
    left_files::keep_systems(home, &id, wanted)?;
    wanted_run::exclude_mirror(git, workflow)?;
    let (tree, opening) = match held {
        HeldTree::Tree(tree) => (tree, None),
        HeldTree::Opening(lock) => {
            git.exclude(&[&format!("/{}", worktree::FOLDER)])?;
            worktree::reserve(plan.as_ref().expect("a run that is alone has a plan"))?;
            (TreeLock::take(&caller.home, &place)?, Some(lock))
        }
    };
    Ok(Seat { id, road, plan, place, tree, _opening: opening })
}

fn no_road(text: String) -> anyhow::Error {
    Refusal::usage(text, NextStep::by_hand("repair that, or write through = \"local\" in [merge]"))
}

/// Writes the first events of a run.
fn begin(
    caller: &Caller,
    home: Rc<Home>,
    request: &RunRequest,
    wanted: &WantedRun,
    seat: Seat,
    notes: &mut Vec<Note>,
) -> anyhow::Result<OpenRun> {
    let Seat { id, road, plan, place, tree, _opening } = seat;
    let signals = Signals::listen()?;
    let mut run = Run::open(Rc::clone(&home), &id, now())?;
    let mut opening = place::inside(wanted.input.opening(request, &wanted.workflow), plan.as_ref(), &place);
    opening.beginning.run = Some(id.clone());
    match road {
        Road::Here => (),
        Road::Push(remote) => opening.beginning.remote = Some(remote),
        Road::Request(host) => opening.beginning.host = Some(Box::new(host)),
    }
    opening.beginning.git_programs = Some(git_programs::named(&wanted.project)?);
    opening.beginning.prerequisites = super::prerequisites::answered(&home, wanted)?;
    let noted = alike(&wanted.workflow).into_iter().chain(uncommittable(&wanted.workflow));
    let noted = noted.chain(caps::kept_between_calls(&wanted.workflow)).map(|text| Event::Noted { text });
    let phase = wanted.input.phase.as_deref();
    let warned = phase.into_iter().flat_map(|it| it.warnings.clone()).map(|text| Event::Noted { text });
    let held = phase.and_then(|it| it.stuck.clone());
    let held = held.map(|reason| Event::Held(Hold { kind: HoldKind::Halted, reason }));
    let facts = std::iter::once(Event::Opened(opening)).chain(noted).chain(warned).chain(held);
    let job = wanted.input.job.as_deref();
    let begun = job.and_then(|it| Some((it, it.imported.as_deref()?)));
    let opened_at = begun.map_or_else(now, |it| it.1.started_at);
    let mut news: Vec<_> = facts.map(|it| (opened_at, it)).collect();
    if let Some((job, begun)) = begun {
        news.extend(begun.events(&wanted.workflow, &job.capabilities(begun), now()));
        notes.push(left_files::taken_over(&home, &id, wanted));
    }
    let told = news.iter().filter_map(|(_, it)| match it {
        Event::Noted { text } => Some(Note::for_people(secret::redact(text).into_owned())),
        _ => None,
    });
    notes.extend(told);
    drive::commit(&mut run, &mut IdleWorld::new(&home, &place).with(News::Opening(news)))?;
    if begun.is_some() {
        // What lies there is another controller's, and no edit of ours.
        mirror::write_anew(&home, &run.id, &run.workflow)?;
    }
    let own_paths = own_paths::of_run(&place, &run);
    Ok(OpenRun { home, run, signals, place, own_paths, tree, environment: caller.environment.clone() })
}
