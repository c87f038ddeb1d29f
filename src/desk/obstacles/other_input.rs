//! An unfinished run of another input in the place where this one would write its files: a question
//! for a person, who may let it make way.

use super::left_files::{invalid, is_same, left};
use crate::desk::caller::is_unfinished;
use crate::desk::question::{About, RequestQuestion};
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::measure::planning::document;
use crate::world::wait::now;
use loop_base::text::{counted, shell_word};
use loop_core::engine::Status;
use loop_core::workflow::model::{MirrorFormat, WorkPlace};
use loop_store::mirror::planning;
use loop_store::mirror::prp_session::{self, import};
use loop_store::{Filter, Home, Row, fold};
use std::path::Path;

/// What stands in the way of a run.
pub(crate) enum InTheWay {
    Nothing,
    /// A run that is to be cancelled, which a person has agreed to.
    Run(Box<Row>),
    Question(Box<RequestQuestion>),
}

/// Finds what stands in the way. A fresh start says "new" beforehand.
pub(crate) fn in_the_way(home: &Home, request: &RunRequest, wanted: &WantedRun) -> anyhow::Result<InTheWay> {
    let agreed = request.fresh || request.replace_other;
    if wanted.workflow.mirror.writes(MirrorFormat::Planning) {
        return Ok(match other_phase(home, wanted)? {
            None if agreed => InTheWay::Nothing,
            None => {
                let question = other_phase_file(home, wanted)?;
                question.map_or(InTheWay::Nothing, |it| InTheWay::Question(Box::new(it)))
            }
            Some(row) if agreed => InTheWay::Run(Box::new(row)),
            Some(row) => {
                let (id, name) = (&row.id[..8], planning::NAME);
                let text = format!("run {id} of phase {} is {} and writes to {name}", row.input, row.status);
                let continues = format!("loop run --run {id}").into();
                InTheWay::Question(Box::new(question(text, "that run is cancelled", continues)))
            }
        });
    }
    let Some(folder) = prp_session::folder(&wanted.workflow) else {
        let question = if agreed { None } else { other_file(home, wanted)? };
        return Ok(question.map_or(InTheWay::Nothing, |it| InTheWay::Question(Box::new(it))));
    };
    let Some(other) = other(home, request, &folder, wanted)? else { return Ok(InTheWay::Nothing) };
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
            format!("{} has an unfinished session of {}", folder.display(), found.input),
            "its files are kept with the run that replaces it",
        ),
    };
    Ok(match other {
        Other::Run(row) if agreed => InTheWay::Run(row),
        Other::Files(_) if agreed => InTheWay::Nothing,
        Other::Run(_) | Other::Files(_) => {
            let continues = match &other {
                Other::Run(row) => format!("loop run --run {}", &row.id[..8]).into(),
                Other::Files(found) => continued_by_hand(&found.input),
            };
            InTheWay::Question(Box::new(question(text, cost, continues)))
        }
    })
}

/// An unfinished run of another phase in this working tree; one in a worktree has a state file of its own.
fn other_phase(home: &Home, wanted: &WantedRun) -> anyhow::Result<Option<Row>> {
    if wanted.workflow.workspace.at == WorkPlace::Worktree {
        return Ok(None);
    }
    let name = wanted.project.to_string_lossy();
    let filter = Filter {
        project: Some(&name),
        statuses: &Status::unfinished(),
        limit: Some(LOOKED_AT),
        ..Filter::default()
    };
    let is_it = |row: &Row| {
        row.workflow == wanted.workflow.name
            && row.input != wanted.input.name
            && Path::new(&row.place) == wanted.project.as_path()
    };
    Ok(home.runs(&filter)?.into_iter().find(is_it))
}

/// The state file of another controller that had begun with another phase. Where this home has a run of that phase,
/// the file is that run's; a run in a worktree leaves this one alone.
fn other_phase_file(home: &Home, wanted: &WantedRun) -> anyhow::Result<Option<RequestQuestion>> {
    if wanted.workflow.workspace.at == WorkPlace::Worktree {
        return Ok(None);
    }
    let text = document(&wanted.project, planning::NAME);
    let Some(found) = text.and_then(|it| planning::import::read(&it).ok()) else { return Ok(None) };
    let (phase, name) = (found.phase.to_string(), wanted.project.to_string_lossy());
    if found.is_complete || phase == wanted.input.name {
        return Ok(None);
    }
    let own = Filter {
        project: Some(&name),
        workflow: Some(&wanted.workflow.name),
        input: Some(&phase),
        limit: Some(1),
        ..Filter::default()
    };
    if !home.runs(&own)?.is_empty() {
        return Ok(None);
    }
    let done = counted(found.iterations, "iteration");
    let text = format!("{} describes an unfinished loop on phase {phase} ({done})", planning::NAME);
    Ok(Some(question(text, FILE_IS_KEPT, continued_by_hand(&phase))))
}

/// A state file of another design that this home does not know is a question too.
fn other_file(home: &Home, wanted: &WantedRun) -> anyhow::Result<Option<RequestQuestion>> {
    let Some(left) = left(Some(home), &wanted.project, &wanted.workflow)? else { return Ok(None) };
    if is_same(&left.found, wanted) {
        return Ok(None);
    }
    let (file, other) = (left.folder.join(left.files[0]), &left.found.input);
    let text = format!("{} describes an unfinished loop on {other}", file.display());
    Ok(Some(question(text, FILE_IS_KEPT, continued_by_hand(other))))
}

/// What "new" costs where another controller's state file is replaced.
const FILE_IS_KEPT: &str = "a copy of the file is kept with the run that replaces it";

/// What another controller began may need flags that nobody here knows.
fn continued_by_hand(input: &str) -> NextStep {
    NextStep::ByHand(format!("loop run {} continues it", shell_word(input)))
}

fn question(text: String, cost: &str, continues: NextStep) -> RequestQuestion {
    let mut steps = vec!["loop run --fresh".to_owned()];
    if let NextStep::Paste(commands) = &continues {
        steps.extend(commands.iter().cloned());
    }
    RequestQuestion {
        about: About::OtherInput,
        lines: vec![text.clone(), format!("  new    {cost}"), "  abort  change nothing".to_owned()],
        unasked: Refusal {
            text: format!("other-input: {text}; with --fresh {cost}"),
            next: Some(NextStep::Paste(steps)),
            exit: 3,
        },
        aborted: Refusal { text, next: Some(continues), exit: 2 },
    }
}

/// An unfinished run of another input that writes into the same place.
enum Other {
    Run(Box<Row>),
    Files(Box<import::ImportedSession>),
}

fn other(
    home: &Home,
    request: &RunRequest,
    folder: &Path,
    wanted: &WantedRun,
) -> anyhow::Result<Option<Other>> {
    let WantedRun { project, workflow, input } = wanted;
    let is_other = |row: &Row| {
        is_unfinished(row) && (row.input != input.name || Path::new(&row.project) != project.as_path())
    };
    let writes_here = |row: &Row| -> anyhow::Result<bool> {
        let theirs = fold::workflow(home, &row.id)?;
        Ok(prp_session::folder(&theirs).as_deref() == Some(folder))
    };
    let name = project.to_string_lossy();
    let filter = Filter {
        project: Some(&name),
        statuses: &Status::unfinished(),
        limit: Some(LOOKED_AT),
        ..Filter::default()
    };
    for row in home.runs(&filter)? {
        if is_other(&row) && writes_here(&row)? {
            return Ok(Some(Other::Run(Box::new(row))));
        }
    }
    let found = match import::read(folder, workflow, now()) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(_) if request.fresh => return Ok(None),
        Err(error) => return Err(invalid(folder, &error)),
    };
    Ok(match home.run(&found.session)? {
        Some(row) if is_other(&row) && writes_here(&row)? => Some(Other::Run(Box::new(row))),
        Some(_) => None,
        None if found.is_unfinished && !is_same(&found, wanted) => Some(Other::Files(Box::new(found))),
        None => None,
    })
}

/// A project with more unfinished runs than this has other troubles.
const LOOKED_AT: usize = 50;
