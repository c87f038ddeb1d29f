//! What people say to a run: answers to its questions, guidance, skipped skills. It is written down
//! for whoever drives the run. A person's word comes from outside every agent call.

use crate::desk::caller::{
    Caller, is_unfinished, load, naming_run, next_step, refuse_hidden, several_unfinished, untaken,
};
use crate::desk::commands::command::{insert, leave, settle};
use crate::desk::commands::sign_gate::{SignatureSource, refuse_unsigned, sign_gate};
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::obstacles::place::refuse_lost_repository;
use crate::desk::own_paths;
use crate::desk::refusal::{NextStep, Refusal, meant};
use crate::tree::path_patterns::Ours;
use crate::tree::pinned::Pinned;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use crate::world::deliverables::deliverables;
use crate::world::question_text;
use crate::world::wait::now;
use loop_core::engine::{
    Answer, Choice, Command, Question, QuestionKind, State, Station, Status, Subject, acceptable, choices,
    names_waivable, run_again, unknown_to_waive,
};
use loop_core::workflow::model::Workflow;
use loop_store::run::Run;
use loop_store::{Home, Row};
use std::path::Path;
use std::rc::Rc;

/// A view of the tree that no controller uses.
pub(super) const VIEW: &str = "git-look";

/// Something that a person says.
pub(crate) struct AnswerRequest {
    pub words: Saying,
    /// Who says it.
    pub by: String,
}

/// What is said.
pub(crate) enum Saying {
    /// To the open question: its number, which may be left out, the choice, and a text.
    Answer(Vec<String>),
    /// At a gate: its name, which may be left out, and a text.
    Gate {
        choice: Choice,
        words: Vec<String>,
        sign: Option<SignatureSource>,
    },
    Guide(String),
    Skip {
        skill: String,
        reason: String,
    },
    /// A finding of the proof is accepted: a test, a path, or a glob of paths.
    Waive {
        what: String,
        reason: String,
    },
}

impl Saying {
    fn deed(&self) -> GuardedCommand {
        match self {
            Saying::Answer(_) => GuardedCommand::Answer,
            Saying::Gate { .. } => GuardedCommand::Gate,
            Saying::Guide(_) => GuardedCommand::Guide,
            Saying::Skip { .. } => GuardedCommand::Skip,
            Saying::Waive { .. } => GuardedCommand::Waive,
        }
    }
}

/// Words of our hints and lists that stand for a text of the person's own.
const PLACEHOLDERS: [&str; 5] = ["REASON", "TEXT", "COMMAND", "TARGET", "NAME"];

impl Saying {
    /// A reason is recorded, and a text is passed to the agent: neither may be the word that we printed for it.
    fn refuse_placeholders(&self) -> anyhow::Result<()> {
        let said = match self {
            Saying::Answer(words) | Saying::Gate { words, .. } => words.last(),
            Saying::Guide(text) => Some(text),
            Saying::Skip { reason, .. } | Saying::Waive { reason, .. } => Some(reason),
        };
        let Some(word) = said.filter(|it| PLACEHOLDERS.contains(&it.as_str())) else { return Ok(()) };
        let own = match word.as_str() {
            "REASON" => "write the reason in its place, such as \"the old test was wrong\"",
            _ => "write your own words in its place",
        };
        Err(Refusal::usage(format!("{word} stands for words of your own"), NextStep::by_hand(own)))
    }
}

/// Who takes what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Whoever drives the run, at once.
    AtOnce,
    /// The session that works on it, when it stops.
    AtNextStop,
    /// Whoever continues the run, with this command; an answer that was given before gives way.
    WhenContinued { with: String, instead_of: Option<Choice> },
    /// Whoever drives the run, who will find that what was asked about is no longer there.
    Void(String),
}

/// A question that is open.
pub(crate) struct OpenQuestion {
    pub run: String,
    pub question: Question,
    /// What is asked, what there is to know, and what each answer does.
    pub text: String,
    /// The command that takes an answer which was given already.
    pub next: Option<String>,
}

/// Returns every question that is open in this project.
pub(crate) fn open_questions(caller: &Caller) -> Result<Vec<OpenQuestion>, Refusal> {
    let list = || -> anyhow::Result<Vec<OpenQuestion>> {
        let Some(home) = caller.existing_home()? else { return Ok(Vec::new()) };
        let runs = caller.runs_of_project(&home)?;
        refuse_hidden(&home, &runs)?;
        let mut open = Vec::new();
        for row in runs.iter().filter(|it| is_unfinished(it)) {
            // What the journal says, and not the list of questions, which somebody may have edited.
            let (workflow, state) = load(&home, row)?;
            home.match_recent_events(&row.id)?;
            if let Some(asked) = state.question() {
                let given = untaken(&home, &row.id)?;
                let (text, next) = match given.answer_to(&state) {
                    Some(given) => {
                        let with = taken_with(&state, &given.choice);
                        let next = naming_run(&home, &row.id, with.to_owned())?;
                        (format!("question {} is answered: {}", asked.id, given.choice), Some(next))
                    }
                    None => (question_text::whole(&workflow, &state, asked), None),
                };
                open.push(OpenQuestion { run: row.id.clone(), question: asked.clone(), text, next });
            }
        }
        Ok(open)
    };
    list().map_err(Refusal::from)
}

/// Writes down what a person says, if it can be taken.
pub(crate) fn answer(caller: &Caller, request: AnswerRequest) -> Result<Answered, Refusal> {
    say(caller, request).map_err(Refusal::from)
}

fn say(caller: &Caller, request: AnswerRequest) -> anyhow::Result<Answered> {
    let AnswerRequest { words, by } = request;
    words.refuse_placeholders()?;
    inside_call::refuse(caller, None, words.deed())?;
    let (home, row) = found(caller, &words)?;
    inside_call::refuse(caller, Some((&home, &row)), words.deed())?;
    let (workflow, state) = load(&home, &row)?;
    home.match_recent_events(&row.id)?;
    let command = match words {
        Saying::Answer(words) => to_question(&state, &words, by)?,
        Saying::Gate { choice, words, sign } => {
            let command = at_gate(&workflow, &state, choice, words, by)?;
            sign_gate(caller, &row, &workflow, &state, command, sign)?
        }
        Saying::Guide(text) => Command::Guide { text },
        Saying::Skip { skill, reason } => Command::Skip { skill, reason },
        Saying::Waive { what, reason } => Command::Waive { what, reason, by },
    };
    let helps = helps(&workflow, &state, &row, &command);
    let command = acceptable(&workflow, &state, command).map_err(|why| Refusal::usage(why, helps))?;
    refuse_unknown_waiver(&home, &row, &state, &command)?;
    let changed = gate_changed(&home, &row, &workflow, &state, &command)?;
    if changed.is_none() {
        refuse_unsigned(&row, &workflow, &state, &command)?;
    }
    if let Station::Closed(_) = state.station {
        accept_afterwards(&home, &row, &state, &command)?;
        return Ok(Answered::AtOnce);
    }
    let instead_of = give_way(&home, &row, &state, &command)?;
    let owned = leave(&home, &row, &command)?;
    Ok(match (owned, &state.session) {
        _ if changed.is_some() => Answered::Void(changed.unwrap_or_default()),
        (true, _) => Answered::AtOnce,
        (false, Some(_)) => Answered::AtNextStop,
        (false, None) => Answered::WhenContinued { with: continued_with(&home, &row, &command)?, instead_of },
    })
}

/// Whoever continues a run takes the first answer that it finds, so one that nobody has taken gives way to
/// another. Returns it. At a gate both stay: what lies there first may lack the signature that counts.
fn give_way(home: &Home, row: &Row, state: &State, command: &Command) -> anyhow::Result<Option<Choice>> {
    let Command::Answer(answer) = command else { return Ok(None) };
    let is_gate = state.question().is_some_and(|it| matches!(it.kind, QuestionKind::Gate(_)));
    if is_gate || home.holder(&row.id).is_some() {
        return Ok(None);
    }
    let untaken = untaken(home, &row.id)?;
    let given = untaken.numbered_answer_to(state).filter(|it| it.1.question == answer.question);
    let Some((number, given)) = given else { return Ok(None) };
    home.withdraw_command(number)?;
    Ok(Some(given.choice.clone()))
}

/// Returns the command that continues a run after something was said to it. An answer opens the way; a
/// question that is still open has to be answered first. Guidance is taken down at once where the run is
/// held, so that whoever looks at the run sees it, and so is a requirement that a person closes.
fn continued_with(home: &Rc<Home>, row: &Row, command: &Command) -> anyhow::Result<String> {
    let (_, state) = load(home, row)?;
    if let Command::Answer(answer) = command {
        return Ok(naming_run(home, &row.id, taken_with(&state, &answer.choice).to_owned())?);
    }
    if (state.hold.is_some() || closes_row(&state, command))
        && let Ok(mut run) = Run::open(Rc::clone(home), &row.id, now())
    {
        settle(home, &mut run, Path::new(&row.place), command)?;
    }
    let (workflow, state) = load(home, row)?;
    Ok(next_step(home, &row.id, &workflow, &state)?)
}

/// Returns the command that continues the run with an answer to its question. After an abort `loop run` would
/// only halt it; at an hourly limit an abort pauses the run, and `loop run` continues it.
fn taken_with(state: &State, choice: &Choice) -> &'static str {
    let halts = state.question().is_some_and(|it| it.kind != QuestionKind::Hourly);
    if *choice == Choice::Abort && halts { "loop resume --reset" } else { "loop run" }
}

/// While nobody drives the run, what it has found is known: a waiver of anything else is a typing error.
fn refuse_unknown_waiver(home: &Home, row: &Row, state: &State, command: &Command) -> anyhow::Result<()> {
    let Command::Waive { what, .. } = command else { return Ok(()) };
    if names_waivable(state, what) || home.holder(&row.id).is_some() {
        return Ok(());
    }
    Err(Refusal::usage(unknown_to_waive(state, what), "loop status"))
}

/// Whether a person closes a requirement at a question that may be answered differently once it is closed.
fn closes_row(state: &State, command: &Command) -> bool {
    let Command::Waive { what, .. } = command else { return false };
    let is_row = state.requirements.iter().any(|it| it.id.eq_ignore_ascii_case(what));
    is_row && state.question().is_some_and(|it| it.kind != QuestionKind::Proof)
}

/// Returns the command that helps where a run cannot take what was said.
fn helps(workflow: &Workflow, state: &State, row: &Row, command: &Command) -> String {
    match Status::of(state) {
        Status::Completed if matches!(command, Command::Answer(_)) => "loop show".to_owned(),
        Status::Completed => format!("{} --fresh", run_again(workflow, &row.input)),
        Status::Cancelled => run_again(workflow, &row.input),
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Halted
        | Status::Stopped
        | Status::Capped => "loop status".to_owned(),
    }
}

/// Returns the run that is meant. Of several unfinished ones, an answer is for the one that asks.
fn found(caller: &Caller, words: &Saying) -> anyhow::Result<(Rc<Home>, Row)> {
    let home = caller.existing_home()?.ok_or_else(Refusal::no_run)?;
    let is_answer = match words {
        Saying::Answer(_) | Saying::Gate { .. } => true,
        Saying::Guide(_) | Saying::Skip { .. } | Saying::Waive { .. } => false,
    };
    if is_answer && caller.run.is_none() {
        let unfinished: Vec<Row> = caller.runs_of_project(&home)?.into_iter().filter(is_unfinished).collect();
        let is_one_of_several = 1 < unfinished.len();
        let (mut asking, mut fitting) = (Vec::new(), Vec::new());
        for row in unfinished {
            if let Some(question) = load(&home, &row)?.1.question() {
                fitting.extend(can_be_for(words, question).then(|| row.clone()));
                asking.push(row);
            }
        }
        // Where the words fit none, whoever typed them is told of all.
        let asking = if fitting.is_empty() { asking } else { fitting };
        match asking.as_slice() {
            [] if is_one_of_several => return Err(Refusal::usage("no question is open", "loop runs")),
            [] => (),
            [one] => return Ok((home, one.clone())),
            several => return Err(several_unfinished(&several.iter().collect::<Vec<_>>())),
        }
    }
    let row = caller.find_to_change(&home)?.ok_or_else(Refusal::no_run)?;
    Ok((home, row))
}

/// Whether the words can be an answer to a question.
fn can_be_for(words: &Saying, question: &Question) -> bool {
    let word = match words {
        Saying::Gate { .. } => return matches!(question.kind, QuestionKind::Gate(_)),
        Saying::Guide(_) | Saying::Skip { .. } | Saying::Waive { .. } => return true,
        Saying::Answer(words) => words.first(),
    };
    let Some(word) = word.map(|it| it.to_ascii_lowercase()) else { return true };
    if let Ok(id) = word.parse::<u32>() {
        return id == question.id;
    }
    let is_meant = |known: &&str| **known == word || (word.len() == 1 && known.starts_with(&word));
    let known = choices(question);
    known.contains(&Choice::Command.word()) || known.iter().any(is_meant)
}

/// What a person accepts is the tree that was proven, so it must be the one that is there. A requirement that was
/// left to a person is about what the person saw.
fn accept_afterwards(home: &Rc<Home>, row: &Row, state: &State, command: &Command) -> anyhow::Result<()> {
    let place = Path::new(&row.place);
    let mut run = Run::open(Rc::clone(home), &row.id, now())?;
    let view = run.folder().join(VIEW);
    let is_row = matches!(command, Command::Waive { .. });
    let now = if is_row { None } else { tree_now(place, &view, &run.workflow, &run.state)? };
    if !is_row && now.is_none_or(|it| it.tree != state.seen.tree) {
        let text = format!("the tree in {} is no longer the one that was proven", row.place);
        return Err(Refusal::usage(text, run_again(&run.workflow, &row.input)));
    }
    insert(home, &run.id, command)?;
    settle(home, &mut run, place, command)
}

/// Returns the tree that is there, as a run of this workflow sees it.
pub(crate) fn tree_now(
    place: &Path,
    view: &Path,
    workflow: &Workflow,
    state: &State,
) -> anyhow::Result<Option<TreeStatus>> {
    match working_tree(place, view, workflow, state)? {
        Some(mut tree) => Ok(Some(tree.status()?)),
        None => Ok(None),
    }
}

/// Returns the working tree of a run that somebody else may hold.
pub(crate) fn working_tree(
    place: &Path,
    view: &Path,
    workflow: &Workflow,
    state: &State,
) -> anyhow::Result<Option<WorkingTree>> {
    if !place.is_dir() {
        return Ok(None);
    }
    refuse_lost_repository(place)?;
    let ours = Ours::read(&own_paths::of_state(place, workflow, state))?;
    let mut tree = WorkingTree::open(Pinned::at(place, view, state.opening.git_programs())?, ours)?;
    tree.ask_for(&deliverables(workflow));
    Ok(Some(tree))
}

fn to_question(state: &State, words: &[String], by: String) -> anyhow::Result<Command> {
    let is_accepted = words.first().is_some_and(|it| it == Choice::Accept.word());
    if let (Station::Closed(_), true) = (&state.station, is_accepted) {
        let text = words[1..].join(" ");
        return Ok(Command::Answer(Answer {
            question: 0,
            choice: Choice::Accept,
            text,
            by,
            signature: None,
        }));
    }
    let Some(question) = state.question() else {
        return Err(Refusal::usage("no question is open", "loop status"));
    };
    let (id, words) = match words.first().and_then(|it| it.parse::<u32>().ok()) {
        Some(id) => (id, &words[1..]),
        None => (question.id, words),
    };
    let Some((choice, text)) = words.split_first() else {
        let help = format!("one of: {}", choices(question).join(", "));
        return Err(Refusal::usage("the answer is missing", NextStep::ByHand(help)));
    };
    let (choice, text) = (choice.clone().into(), text.join(" "));
    Ok(Command::Answer(Answer { question: id, choice, text, by, signature: None }))
}

fn at_gate(
    workflow: &Workflow,
    state: &State,
    choice: Choice,
    mut words: Vec<String>,
    by: String,
) -> anyhow::Result<Command> {
    let (question, open) = match state.question().map(|it| (it.id, &it.kind)) {
        Some((id, QuestionKind::Gate(gate))) => (id, gate.clone()),
        Some(_) | None => {
            return Err(Refusal::usage("no gate is waiting", "loop status"));
        }
    };
    let named = words.first().and_then(|it| workflow.gates.keys().find(|gate| gate.eq_ignore_ascii_case(it)));
    if let Some(first) = named {
        if *first != open {
            let text = format!("the gate \"{first}\" is not waiting; \"{open}\" is");
            return Err(Refusal::usage(text, format!("loop {choice} {open}")));
        }
        words.remove(0);
    } else if choice == Choice::Approve && !words.is_empty() {
        let known = workflow.gates.keys().map(String::as_str);
        let text = format!("unknown gate \"{}\"; {}", words[0], meant(&words[0], known).first());
        return Err(Refusal::usage(text, format!("loop approve {open}")));
    }
    Ok(Command::Answer(Answer { question, choice, text: words.join(" "), by, signature: None }))
}

/// Says what differs between what an open gate asked about and what is there. Such an approval is taken
/// down all the same: it makes whoever drives the run look again, and ask again.
fn gate_changed(
    home: &Home,
    row: &Row,
    workflow: &Workflow,
    state: &State,
    command: &Command,
) -> anyhow::Result<Option<String>> {
    let Command::Answer(Answer { choice: Choice::Approve, .. }) = command else { return Ok(None) };
    let Some(asked) = state.question().and_then(|it| it.about.clone()) else { return Ok(None) };
    let view = home.folder(&row.id).join(VIEW);
    let Some(status) = tree_now(Path::new(&row.place), &view, workflow, state)? else { return Ok(None) };
    let mut there = state.clone();
    there.seen.commit = status.commit.unwrap_or_default();
    there.seen.tree = status.tree;
    Ok(Subject::of(workflow, &there, None).and_then(|it| asked.changed(&it)))
}
