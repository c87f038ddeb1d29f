//! Adopting the session of another controller: what its files say becomes the beginning of a run,
//! once. Everything here happens before a run is driven.

use crate::desk::caller::{Caller, CallerEnvironment};
use crate::desk::idle_world::IdleWorld;
use crate::desk::note::Note;
use crate::desk::obstacles::left_files::{LeftFiles, is_known, is_same, keep, left};
use crate::desk::obstacles::prepare::prepare;
use crate::desk::own_paths::own_paths;
use crate::desk::request::RunRequest;
use crate::desk::resolving::input::RunInput;
use crate::desk::resolving::wanted_run::{self, WantedRun};
use crate::desk::resolving::{choose_workflow, design_file};
use crate::drive;
use crate::tree::git::Git;
use crate::tree::git_text::single_line;
use crate::tree::path_patterns::Ours;
use crate::tree::tree_without::tree_without;
use crate::world::wait::now;
use loop_core::engine::{Event, Facts, News};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use loop_core::workflow::preset::BuiltIn;
use loop_store::mirror::prp_session::{import, place};
use loop_store::run::Run;
use loop_store::{Home, Row};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Settles where the mirror of a run is written, so that the run's own copy of the workflow says it.
pub(crate) fn settle_place(caller: &Caller, request: &RunRequest, project: &Path, workflow: &mut Workflow) {
    if !workflow.mirror.writes(MirrorFormat::PrpSession) {
        return;
    }
    let CallerEnvironment { session_dir, user_home, .. } = &caller.environment;
    let told = request.mirror.clone().or(session_dir.clone()).map(|it| caller.dir.join(it));
    let told = told.or_else(|| workflow.mirror.dir.as_ref().map(PathBuf::from));
    let chosen = place::choose(told.as_deref(), project, user_home.as_deref());
    // Where a link leads is settled once, and a link that comes later is not followed.
    let chosen = chosen.map(|it| it.canonicalize().unwrap_or(it));
    workflow.mirror.dir = chosen.map(|it| it.to_string_lossy().into_owned());
}

/// Takes over the session of another controller that works on this input, if there is one.
pub(crate) fn take_over(
    home: &Rc<Home>,
    request: &RunRequest,
    wanted: &WantedRun,
    notes: &mut Vec<Note>,
) -> anyhow::Result<Option<Row>> {
    if request.fresh {
        return Ok(None);
    }
    let WantedRun { project, workflow, input } = wanted;
    let Some(left) = left(Some(home), project, workflow)? else { return Ok(None) };
    let LeftFiles { folder, files, found, most, promise } = left;
    if is_known(home, &found.session)? || !is_same(&found, wanted) {
        return Ok(None);
    }
    let mut workflow = workflow.clone();
    if request.max.is_none() && most.is_some() {
        workflow.limits.iterations = most;
        // The limit counts like one that was given here: the files know nothing of it.
        if let Some(given) = &mut workflow.given {
            given.overrides.max = most;
        }
    }
    prepare(home.agents(), &mut workflow, request, project, input)?;
    let git = Git::around(project)?;
    let base = base(&git, &found, &own_paths(git.work_tree(), input.path.as_deref(), &workflow))?;
    let id = &found.session;
    if home.run(id)?.is_none() {
        wanted_run::create(home, id, project, &workflow, &input.name, git.work_tree())?;
    }
    let kept = home.folder(id).join("imported");
    keep(&folder, files, &kept)?;
    if let Some(path) = input.path.as_ref().filter(|_| workflow.input.lock) {
        design_file::lock(path, &input.text)?;
    }
    wanted_run::exclude_mirror(&git, &workflow)?;
    let mut run = Run::open(Rc::clone(home), id, now())?;
    let mut opening = input.opening(request, &workflow);
    if let Some(promise) = promise.filter(|_| request.promise.is_none()) {
        opening.promise = Some(promise);
    }
    let mut news = found.events(&workflow, opening, &base, now());
    let source = match files {
        [file] => folder.join(file),
        _ => folder,
    };
    let text = format!(
        "imported from {}: its values were not measured here; a copy is kept in {}",
        source.display(),
        kept.display()
    );
    notes.push(Note::usual(text.clone()));
    if found.is_unfinished {
        news.push((now(), Event::Noted { text }));
    }
    drive::commit(&mut run, &mut IdleWorld::new(home, git.work_tree()).with(News::Opening(news)))?;
    drop(run);
    Ok(home.run(id)?)
}

/// Finds a session for `loop resume` where this home knows no run of the project.
pub(crate) fn to_resume(caller: &Caller, notes: &mut Vec<Note>) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let project = caller.project()?;
    // Those whose files another controller may have left.
    let presets: &[Option<BuiltIn>] = match project.join(choose_workflow::FILE).exists() {
        true => &[None],
        false => &[Some(BuiltIn::Tdd), Some(BuiltIn::Ralph)],
    };
    for preset in presets {
        let preset = preset.map(|it| it.name().to_owned());
        let request = RunRequest { preset, ..RunRequest::default() };
        let mut workflow = choose_workflow::workflow(caller, &request, &project, notes)?;
        settle_place(caller, &request, &project, &mut workflow);
        let Some(left) = left(caller.existing_home()?.as_deref(), &project, &workflow)? else { continue };
        let path = project.join(&left.found.input);
        let input = RunInput::document(caller, &project, &path.to_string_lossy())?;
        let home = caller.home()?;
        let wanted = WantedRun { project, workflow, input };
        let row = take_over(&home, &request, &wanted, notes)?;
        return Ok(row.map(|it| (home, it)));
    }
    Ok(None)
}

/// What the tree was when the session began: the last commit before it.
fn base(git: &Git, found: &import::ImportedSession, ours: &[String]) -> anyhow::Result<Facts> {
    let before = format!("--before={}", found.started_at);
    // A branch without commits has none, which is no error here.
    let commit = git.run(["rev-list", "-1", &before, "HEAD"]).map(|it| single_line(&it)).unwrap_or_default();
    let tree = if commit.is_empty() {
        single_line(&git.run(["hash-object", "-t", "tree", "/dev/null"])?)
    } else {
        // What belongs to a run is in no tree that is compared; left in here it would seem deleted.
        tree_without(git, &commit, &Ours::read(ours)?)?
    };
    Ok(Facts { commit, tree, ..Facts::default() })
}
