//! Continuing a run that exists: what stands against it, what a person wants changed first, and then
//! taking it with its working tree.

use crate::desk::caller::{Caller, load};
use crate::desk::commands::command::{insert, leave};
use crate::desk::driving::open::{self, FoundRun, OpenReply, OpenRun};
use crate::desk::driving::recheck::{Looked, as_recorded, look_again};
use crate::desk::driving::{adopt, reload};
use crate::desk::idle_world::IdleWorld;
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::note::Note;
use crate::desk::obstacles::held;
use crate::desk::obstacles::{missing_program, place, prepare};
use crate::desk::own_paths;
use crate::desk::question::{About, RequestQuestion};
use crate::desk::refusal::{NextStep, Refusal, meant};
use crate::desk::request::RunRequest;
use crate::desk::resolving::domain;
use crate::drive::drive;
use crate::world::wait::{Signals, now};
use loop_base::text::shell_word;
use loop_core::engine::{
    Answer, Choice, Command, Opening, QuestionKind, State, Station, Status, acceptable, run_again,
};
use loop_core::workflow::model::{MirrorFormat, PhaseId, Workflow};
use loop_store::mirror::domain_memory::{self, DomainMemory};
use loop_store::mirror::planning;
use loop_store::run::Run;
use loop_store::{Home, Row, TreeLock};
use std::path::Path;
use std::rc::Rc;

/// How a run that stopped continues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Going {
    pub reset: bool,
    pub phase: Option<PhaseId>,
    pub most: Option<u32>,
    /// Retries of a failure that count as used, where a person wrote another number.
    pub retries: Option<u32>,
    /// The person's word that what blocked the run is gone.
    pub unblock: bool,
    /// A wait for the provider is over.
    pub now: bool,
}

/// What came of a request to continue a run.
pub(crate) enum Continued {
    /// It can be taken, and continues like this.
    Ready(Going),
    /// There is nothing left to do, in words.
    Done(String),
    /// The run is finished, and this is why another one is needed.
    Anew(Vec<String>),
    Question(Box<RequestQuestion>),
}

/// What came of taking a run.
pub(crate) enum Took {
    Run(Box<OpenRun>),
    /// A session of the agent continues with it.
    Session(Box<Run>),
}

/// Finds the run that is to be continued, or a session of another controller to adopt.
pub(crate) fn find_to_resume(caller: &Caller, notes: &mut Vec<Note>) -> Result<FoundRun, Refusal> {
    let mut find = || -> anyhow::Result<FoundRun> {
        inside_call::refuse(caller, None, GuardedCommand::Resume)?;
        let home = caller.existing_home()?;
        let row = match &home {
            Some(home) => caller.find_to_change(home)?,
            None => None,
        };
        let found = match (home, row) {
            (Some(home), Some(row)) => Some((home, row)),
            _ => match adopt::to_resume(caller, notes)? {
                Some(found) => Some(found),
                None => left_system(caller, notes)?,
            },
        };
        let (home, row) = found.ok_or_else(Refusal::no_run)?;
        if row.status == Status::Cancelled {
            let text = format!("run {} is cancelled", &row.id[..8]);
            return Err(Refusal::usage(text, run_again(&load(&home, &row)?.0, &row.input)));
        }
        Ok(FoundRun { home, row: Box::new(row) })
    };
    find().map_err(Refusal::from)
}

/// Opens the system that another controller of the project's only domain worked on last.
fn left_system(caller: &Caller, notes: &mut Vec<Note>) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let project = caller.project()?;
    let domains = domain::domains(&project);
    let [domain] = domains.as_slice() else { return Ok(None) };
    let file = project.join(domain_memory::FOLDER).join(domain).join(domain_memory::STATE);
    let text = loop_base::files::text(&file).unwrap_or_default();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(id) = state["systemId"].as_str() else { return Ok(None) };
    let request =
        RunRequest { input: Some(id.to_owned()), domain: Some(domain.clone()), ..RunRequest::default() };
    match open::open(caller, &request, notes)? {
        OpenReply::Opened(opened) => {
            let (home, id) = (Rc::clone(&opened.home), opened.run.id.clone());
            // Whoever continues takes the run and its tree, so both are let go here.
            drop(opened);
            Ok(home.run(&id)?.map(|row| (home, row)))
        }
        OpenReply::Before(_) | OpenReply::Adopted(_) | OpenReply::Question(_) | OpenReply::Next(_) => {
            Ok(None)
        }
    }
}

/// Does what has to be done before a run is taken: what a person wants changed in it is changed.
pub(crate) fn ready(
    caller: &Caller,
    found: &FoundRun,
    request: &RunRequest,
    notes: &mut Vec<Note>,
) -> Result<Continued, Refusal> {
    let found = &as_recorded(found)?;
    let FoundRun { home, row } = found;
    inside_call::refuse_own(caller, row, GuardedCommand::Run)?;
    match look_again(caller, found, request)? {
        Some(Looked::Done(text)) => return Ok(Continued::Done(text)),
        Some(Looked::Anew(why)) => return Ok(Continued::Anew(why)),
        None => (),
    }
    if request.reset {
        inside_call::refuse(caller, Some((home, row)), GuardedCommand::Reset)?;
    }
    place::refuse_move(home, row, request.worktree)?;
    // A run that somebody drives is refused below, with the one who drives it.
    let rests = matches!(row.status, Status::Paused | Status::Stopped | Status::Running);
    if request.ask_before_resuming && rests && home.holder(&row.id).is_none() {
        let (_, state) = load(home, row)?;
        return Ok(Continued::Question(Box::new(about_resuming(row, &state))));
    }
    let phase = match &request.phase {
        Some(name) => Some(phase_named(&load(home, row)?.0, name)?),
        None => phase_of_file(found, notes)?,
    };
    let retries = retries_of_file(found, notes)?;
    reload::before_going_on(caller, home, row, request, notes)?;
    let RunRequest { mut reset, max, unblock, .. } = *request;
    if matches!(row.status, Status::Halted | Status::Capped)
        && load(home, row)?.0.mirror.writes(MirrorFormat::Planning)
        && planning::says_running(Path::new(&row.place))
    {
        notes.push(Note::usual(format!(
            "{} says running: the run continues with its counters at 0",
            planning::NAME
        )));
        reset = true;
    }
    Ok(Continued::Ready(Going { reset, phase, most: max, retries, unblock, now: request.now }))
}

/// Has a run that somebody drives ask its provider again; says whether there is such a run.
pub(crate) fn ask_again(found: &FoundRun) -> anyhow::Result<bool> {
    let FoundRun { home, row } = found;
    if home.holder(&row.id).is_none() {
        return Ok(false);
    }
    let (workflow, _) = load(home, row)?;
    home.clear_hold(&loop_store::run::account_of(&workflow, &row.project))?;
    leave(home, row, &Command::Unhold)?;
    Ok(true)
}

/// The states of a system that are no stages: a run gets there by itself.
const BETWEEN_STAGES: [&str; 3] = ["FAILED", "RETRY", "BLOCKED"];

/// A person may write into `loop-state.json` where a system is to continue: a stage that was reached before.
fn phase_of_file(found: &FoundRun, notes: &mut Vec<Note>) -> anyhow::Result<Option<PhaseId>> {
    let FoundRun { home, row } = found;
    if matches!(row.status, Status::Running | Status::Completed | Status::Cancelled) {
        return Ok(None);
    }
    let (workflow, state) = load(home, row)?;
    let memory = DomainMemory::open(home, &row.id, &workflow)?;
    let Some(said) = memory.and_then(|it| it.edited_state(&workflow)) else { return Ok(None) };
    let name = "loop-state.json";
    if BETWEEN_STAGES.contains(&said.as_str()) {
        return Ok(None);
    }
    let Some(phase) = workflow.phases.iter().position(|it| it.name == said) else {
        let names: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
        let next = NextStep::by_hand(format!("write one of {} as \"state\"", names.join(", ")));
        let text = format!("{name} of {} says {said:?}, which is not a state", row.input);
        return Err(Refusal { text, next: Some(next), exit: 8 }.into());
    };
    if state.phase < phase {
        notes.push(Note::for_people(format!(
            "{name} says {said}, which has not been reached: the edit was ignored"
        )));
        return Ok(None);
    }
    notes.push(Note::usual(format!("{name} says {said}: the run continues there")));
    Ok(Some(phase))
}

/// A person may set how many retries of a failure count as used, never to more than there were.
fn retries_of_file(found: &FoundRun, notes: &mut Vec<Note>) -> anyhow::Result<Option<u32>> {
    let FoundRun { home, row } = found;
    if matches!(row.status, Status::Running | Status::Completed | Status::Cancelled) {
        return Ok(None);
    }
    let (workflow, state) = load(home, row)?;
    let memory = DomainMemory::open(home, &row.id, &workflow)?;
    let said = memory.and_then(|it| it.edited_retries(&workflow));
    let used = state.retry.count;
    match said {
        Some(said) if said < used => {
            notes.push(Note::usual(format!(
                "loop-state.json says {said} of {used} retries: that many count as used"
            )));
            Ok(Some(said))
        }
        Some(said) => {
            let text =
                format!("loop-state.json says {said} retries, and {used} were made: the edit was ignored");
            notes.push(Note::for_people(text));
            Ok(None)
        }
        None => Ok(None),
    }
}

fn phase_named(workflow: &Workflow, name: &str) -> anyhow::Result<PhaseId> {
    let found = workflow.phases.iter().position(|it| it.name.eq_ignore_ascii_case(name));
    let names = workflow.phases.iter().map(|it| it.name.as_str());
    let text = format!("unknown phase \"{name}\"");
    found.ok_or_else(|| Refusal::usage(text, meant(name, names)))
}

fn about_resuming(row: &Row, state: &State) -> RequestQuestion {
    let left = if row.status == Status::Running { ", but no controller is alive" } else { "" };
    let reason = state.hold.as_ref().map(|it| it.reason.clone());
    let wait = state.no_call_before(now()).map(|(until, why)| format!("no call before {until}: {why}"));
    let mut lines = vec![
        format!("run {} of {} is {}{left}", &row.id[..8], row.workflow, row.status),
        format!("  input: {}", row.input.lines().next().unwrap_or_default()),
        format!("  {}, iteration {}", row.phase.as_deref().unwrap_or("not begun"), row.iteration),
    ];
    lines.extend(
        reason.into_iter().chain(wait).map(|it| format!("  {}", it.lines().next().unwrap_or_default())),
    );
    lines.extend([
        "  resume  continue it where it was".to_owned(),
        "  new     cancel it and start over".to_owned(),
        "  abort   leave it as it is".to_owned(),
    ]);
    let next = Some(format!("loop resume --run {}", &row.id[..8]).into());
    let refusal = Refusal { text: lines[0].clone(), next, exit: 5 };
    RequestQuestion { about: About::Resume, lines, unasked: refusal.clone(), aborted: refusal }
}

/// Takes a run that exists, with its working tree.
pub(crate) fn take(caller: &Caller, found: FoundRun, going: &Going) -> Result<Took, Refusal> {
    taken(caller, found, going).map_err(|it| held::refusal(caller, it))
}

fn taken(caller: &Caller, found: FoundRun, going: &Going) -> anyhow::Result<Took> {
    let FoundRun { home, row } = found;
    let signals = Signals::listen()?;
    let mut run = Run::open(Rc::clone(&home), &row.id, now())?;
    if run.state.opening == Opening::default() {
        return Err(Refusal::usage(
            format!("run {} was killed before it was opened", &row.id[..8]),
            format!("loop run {}", shell_word(&row.input)),
        ));
    }
    let place = place::again(&home, &mut run, &row.place)?;
    if run.state.opening.worktree.is_none() {
        place::refuse_lost_repository(&place)?;
    }
    let tree = TreeLock::take(&caller.home, &place)?;
    if run.state.session.is_none() {
        prepare::refuse_undescribed(&run.workflow.agent)?;
        // A call that is under way continues without its program in PATH.
        if !matches!(run.state.station, Station::Working(_)) {
            prepare::find_agent(&run.workflow.agent)?;
            missing_program::refuse_unstartable(&run.workflow, &run.state.commands, &place)?;
        }
    }
    let command =
        Command::Resume { reset: going.reset, phase: going.phase, most: going.most, retries: going.retries };
    let command =
        acceptable(&run.workflow, &run.state, command).map_err(|why| Refusal::usage(why, "loop status"))?;
    insert(&home, &run.id, &command)?;
    if going.now {
        home.clear_hold(&run.account)?;
        insert(&home, &run.id, &Command::Unhold)?;
    }
    if run.state.session.is_some() {
        drive(&mut run, &mut IdleWorld::new(&home, &place))?;
        loop_store::mirror::restore(&home, &run.id, &run.workflow, &run.state, &place);
        return Ok(Took::Session(Box::new(run)));
    }
    let unblocks = |kind: &QuestionKind| match kind {
        QuestionKind::Blocked => Some(Choice::Resume),
        QuestionKind::Agent => Some(Choice::Retry),
        _ => None,
    };
    let is_answer = |it: &(i64, String)| matches!(serde_json::from_str(&it.1), Ok(Command::Answer(_)));
    let is_answered = home.untaken_commands(&run.id)?.iter().any(is_answer);
    let question = run.state.question().filter(|_| going.unblock && !is_answered);
    if let Some((question, choice)) = question.and_then(|it| Some((it, unblocks(&it.kind)?))) {
        let by = caller.environment.user.clone();
        let answer = Answer { question: question.id, choice, text: String::new(), by, signature: None };
        insert(&home, &run.id, &Command::Answer(answer))?;
    }
    let own_paths = own_paths::of_run(&place, &run);
    let environment = caller.environment.clone();
    Ok(Took::Run(Box::new(OpenRun { home, run, signals, place, own_paths, tree, environment })))
}
