//! A finished run is looked at again. What was done once may be undone by now: somebody broke the
//! checks, or wants something else of the same document. Only what still holds is "already done".

use crate::desk::caller::Caller;
use crate::desk::caller::load;
use crate::desk::driving::open::FoundRun;
use crate::desk::kept_head::refuse_hidden_runs;
use crate::desk::note::Note;
use crate::desk::obstacles::prepare::fill_checks;
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::choose_workflow;
use crate::desk::resolving::input::RunInput;
use crate::measure::checks::run_once::{NO_RUN, Once, run_once};
use crate::measure::detect::{CHECK_HELP, proposed_flag};
use crate::measure::tests_in_place;
use crate::tree::changes::is_ancestor;
use crate::tree::git::Git;
use loop_core::documents::input;
use loop_core::engine::{Landing, Opening, State, Status, Worktree};
use loop_core::proof::{Exit, Level, Proof, Results, lost_since, read_results};
use loop_core::workflow::model::Workflow;
use loop_core::workflow::preset::BuiltIn;
use loop_store::{Row, TreeLock};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What a second look at a finished run came to.
pub(crate) enum Looked {
    /// Everything is as it was left.
    Done(String),
    /// Why another run is needed.
    Anew(Vec<String>),
}

/// Whether nothing in this run can be continued, so that it is only looked at.
fn is_finished(state: &State, request: &RunRequest) -> bool {
    let is_kept = !request.reset && request.phase.is_none() && state.guidance.is_empty();
    match Status::of(state) {
        Status::Completed => true,
        Status::Halted => is_kept && state.has_nothing_to_do(),
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Stopped
        | Status::Capped
        | Status::Cancelled => false,
    }
}

/// Looks at a run again if it is finished.
pub(crate) fn look_again(
    caller: &Caller,
    found: &FoundRun,
    request: &RunRequest,
) -> Result<Option<Looked>, Refusal> {
    let look_again = || -> anyhow::Result<Option<Looked>> {
        let found = as_recorded(found)?;
        let (_, state) = load(&found.home, &found.row)?;
        if !is_finished(&state, request) {
            return Ok(None);
        }
        look(caller, &found).map(Some)
    };
    look_again().map_err(Refusal::from)
}

/// The run with the status of its state, which the hash and the chain vouch for; the list may say
/// anything.
pub(crate) fn as_recorded(found: &FoundRun) -> anyhow::Result<FoundRun> {
    let FoundRun { home, row } = found;
    let (workflow, state) = load(home, row)?;
    let row = Row { status: Status::of(&state), reason: Some(state.reason(&workflow)), ..(**row).clone() };
    Ok(FoundRun { home: Rc::clone(home), row: Box::new(row) })
}

/// Looks at a finished run: its proof, its input, and its checks on the tree as it is.
fn look(caller: &Caller, found: &FoundRun) -> anyhow::Result<Looked> {
    let FoundRun { home, row } = found;
    refuse_hidden_runs(home, Path::new(&row.place))?;
    let (workflow, state) = load(home, row)?;
    let is_completed = row.status == Status::Completed;
    if is_completed && state.untested {
        let id = &row.id[..8];
        let text = format!("run {id} was completed by another controller; nothing was measured here");
        return Ok(Looked::Done(text));
    }
    let mut why = Vec::new();
    if is_completed && !state.verified() && !is_settled(&state) {
        why.push(state.closing(&workflow).unwrap_or_else(|| "it was not verified".to_owned()));
    }
    why.extend(input_change(&state.opening));
    let landed = landed_in(&state);
    let place = landed.unwrap_or(Path::new(&row.place));
    if !place.is_dir() {
        why.push(format!("{} is gone", row.place));
    }
    if !why.is_empty() {
        return Ok(Looked::Anew(why));
    }
    let results = {
        let _tree = TreeLock::take(&caller.home, place)?;
        run_once(&workflow, &state.commands, place, &row.id)?
    };
    why.extend(results.iter().filter(|it| !it.is_passed()).map(Once::words));
    if is_completed && why.is_empty() {
        why.extend(lost_tests(&home.folder(&row.id), &results));
    }
    if !why.is_empty() {
        return Ok(Looked::Anew(why));
    }
    Ok(Looked::Done(match is_completed {
        true => already_done(row, &workflow, &state),
        false => state.reason(&workflow),
    }))
}

/// Whether a person accepted what was found, and every check that was green before the run was green at its end: there
/// is nothing that another run could prove.
fn is_settled(state: &State) -> bool {
    let is_accepted = |it: &Proof| it.level == Level::UnchangedGreen && !it.weakened && !it.waived.is_empty();
    !state.unproven && state.proof().is_some_and(|it| it.findings.is_empty() && is_accepted(it))
}

/// Says which tests the run was completed with and do not run, or are skipped.
fn lost_tests(folder: &Path, now: &[Once]) -> Vec<String> {
    let finished = tests_in_place::read(folder, tests_in_place::LAST);
    let read = |it: &Once| read_results(&it.name, Exit::Green, &it.output, &[]);
    let now: Vec<Results> = now.iter().map(read).collect();
    lost_since(&finished, &now)
}

/// The tree that has the work of a run whose own worktree was removed after the merge: the one that it was opened in,
/// while what is checked out there contains the merge.
fn landed_in(state: &State) -> Option<&Path> {
    let plan = state.opening.worktree.as_ref().filter(|it| !Path::new(&it.place).exists())?;
    let Some(Landing::Merged { commit, .. }) = &state.landing else { return None };
    let git = Git::open(Path::new(&plan.root)).ok()?;
    is_ancestor(&git, commit, "HEAD").ok()?.then_some(Path::new(&plan.root))
}

/// Returns the worktree of a run while what is checked out in the project lacks the work that was done there.
pub(crate) fn unmerged(state: &State) -> Option<&Worktree> {
    let plan = state.opening.worktree.as_deref()?;
    let git = Git::open(Path::new(&plan.root)).ok()?;
    (!is_ancestor(&git, &plan.branch, "HEAD").ok()?).then_some(plan)
}

fn already_done(row: &Row, workflow: &Workflow, state: &State) -> String {
    let proof = state.shown_proof(workflow);
    let commit = state.delivered.clone().or_else(|| proof.as_ref().and_then(|it| it.commit.clone()));
    let at = match (commit, proof) {
        (Some(commit), _) => format!("commit {}", commit.get(..7).unwrap_or(&commit)),
        (None, Some(proof)) => format!("tree {}", proof.tree.get(..7).unwrap_or(&proof.tree)),
        (None, None) => "an unknown tree".to_owned(),
    };
    let said = state.closing(workflow).unwrap_or_default();
    let holds = match unmerged(state) {
        Some(it) => format!("every check still passes in {}; {} is not merged yet", it.place, it.branch),
        None => "every check still passes".to_owned(),
    };
    format!("already done: run {} at {at}, {}; {said}; {holds}", &row.id[..8], state.updated_at)
}

/// Says how the run's document differs from what it was opened with. Ticks are no difference.
fn input_change(opening: &Opening) -> Option<String> {
    let (path, text) = (opening.path.as_ref()?, opening.text.as_ref()?);
    let path = match &opening.worktree {
        Some(plan) => match Path::new(path).strip_prefix(&plan.place) {
            Ok(inside) => Path::new(&plan.root).join(inside),
            Err(_) => PathBuf::from(path),
        },
        None => PathBuf::from(path),
    };
    match loop_base::files::text(&path) {
        Ok(now) if input::lock(&now) == *text => None,
        Ok(_) => Some(format!("{} has changed", opening.document())),
        Err(_) => Some(format!("{} cannot be read any more", opening.document())),
    }
}

/// Where the checks of a run are asked for. One that is over in a worktree of its own says nothing about the tree that
/// the person is in; of one that is not, the work lies there.
fn place_to_check<'a>(caller: &Caller, row: &'a Row, project: &'a Path, notes: &mut Vec<Note>) -> &'a Path {
    let place = Path::new(&row.place);
    let is_over = matches!(row.status, Status::Completed | Status::Cancelled);
    if place == project || caller.dir.starts_with(place) && place.starts_with(project) {
        return place;
    }
    if is_over && caller.run.is_none() {
        return project;
    }
    notes.push(Note::usual(format!("run {} works in {}; its checks are run there", &row.id[..8], row.place)));
    place
}

/// Runs the checks once: those of the run that is meant, else those that the request, the files or
/// the project say.
pub(crate) fn checks(
    caller: &Caller,
    request: &RunRequest,
    notes: &mut Vec<Note>,
) -> Result<Vec<Once>, Refusal> {
    let mut run = || -> anyhow::Result<Vec<Once>> {
        let project = caller.project()?;
        let is_plain = request.input.is_none() && request.preset.is_none() && request.workflow.is_none();
        if is_plain
            && request.checks.is_empty()
            && let Some(home) = caller.existing_home()?
            && let Some(row) = caller.find(&home)?.filter(|it| Path::new(&it.place).is_dir())
        {
            let (workflow, state) = load(&home, &row)?;
            let place = place_to_check(caller, &row, &project, notes);
            return Ok(run_once(&workflow, &state.commands, place, &row.id)?);
        }
        let mut request = request.clone();
        if is_plain && !project.join(choose_workflow::FILE).exists() {
            request.preset = Some(BuiltIn::Ralph.name().to_owned());
        }
        let mut workflow = choose_workflow::workflow(caller, &request, &project, notes)?;
        let text = match &request.input {
            Some(_) => RunInput::find(caller, &request, &project, &mut workflow)?.text,
            None => String::new(),
        };
        fill_checks(&mut workflow, &project, &text);
        let results = run_once(&workflow, &Default::default(), &project, NO_RUN)?;
        if results.is_empty() {
            let text = format!("no check found in {}", project.display());
            let next = proposed_flag(&project).map(|it| format!("loop checks {it}").into());
            return Err(Refusal::usage(text, next.unwrap_or_else(|| NextStep::by_hand(CHECK_HELP))));
        }
        Ok(results)
    };
    run().map_err(Refusal::from)
}
