//! `loop attach`: watches a run that another process drives, as if it were driven here, and answers
//! its questions. Everything shown comes from the journal and from the output of the agent's call;
//! leaving changes nothing about the run.

use crate::cli::hint::{self, next_step};
use crate::cli::terminal::{AskResult, RestingRun, RunOutput, WaitEnd};
use crate::cli::{Context, json};
use crate::desk::{Caller, GuardedCommand, Refusal, leave, load, refuse_agents};
use crate::world::agent_output::live_output::{self, LiveCall, Observed};
use crate::world::real::Onlooker;
use crate::world::wait::Signals;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::agents::Detail;
use loop_core::engine::{Event, Question, State, Station, Status, acceptable};
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Row};
use loop_supervise::follow::Watch;
use std::rc::Rc;
use std::time::Duration;

/// What is shown of the time before: enough to see what it is about.
const TOLD: usize = 8;

/// How far back facts are read for what is shown: the last call and the last measurement.
const LOOKED_AT: i64 = 200;

/// Events read at once.
const PAGE: usize = 1000;

pub(crate) fn run(context: &Context) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return Err(Refusal::no_run()) };
    let Some(row) = context.caller.find(&home)? else { return Err(Refusal::no_run()) };
    let signals = Signals::listen()?;
    let (workflow, state) = load(&home, &row)?;
    if home.holder(&row.id).is_none() {
        return nobody(context, &home, &row, &workflow, &state);
    }
    let output = context.run_output();
    let onlooker = output.onlooker();
    let seq = home.snapshot(&row.id)?.map_or(0, |it| it.seq);
    let mut follower = Follower {
        caller: context.caller.clone(),
        home,
        row,
        workflow,
        state,
        output,
        onlooker,
        live: None,
        next: (seq - LOOKED_AT).max(1),
        answered: 0,
        signals,
    };
    follower.catch_up()?;
    let end = follower.follow(context)?;
    follower.end(end)
}

/// Says that nobody drives the run, and what to do about it.
fn nobody(
    context: &Context,
    home: &Home,
    row: &Row,
    workflow: &Workflow,
    state: &State,
) -> anyhow::Result<u8> {
    let status = Status::of(state);
    let (reason, next_step) = (state.reason(workflow), next_step(home, &row.id, workflow, state)?);
    if context.json {
        let object = serde_json::json!({
            "status": status.word(), "reason": reason, "next_step": next_step, "exit": status.exit(),
        });
        println!("{}", json::line(&object));
        return Ok(status.exit());
    }
    let id = &row.id[..8];
    eprintln!("no controller drives run {id}; it is {}: {}", status.word(), sanitise(&reason));
    hint::before_next(state, &reason).iter().for_each(|it| eprintln!("{it}"));
    eprintln!("next: {}", sanitise(&next_step));
    Ok(status.exit())
}

struct Follower {
    caller: Caller,
    home: Rc<Home>,
    row: Row,
    workflow: Workflow,
    state: State,
    output: RunOutput,
    onlooker: Option<Onlooker<'static>>,
    /// The output of the call that is under way.
    live: Option<(String, LiveCall)>,
    /// The next event to read.
    next: i64,
    /// The question that was answered here, until the run has taken it.
    answered: u32,
    signals: Signals,
}

/// Why nothing is followed any more.
enum AttachEnd {
    /// Nobody drives the run.
    Rested,
    /// The person left, by a signal or by the end of their input.
    Left(Option<i32>),
}

impl Follower {
    /// Shows how things stand, with the last facts as an introduction.
    fn catch_up(&mut self) -> anyhow::Result<()> {
        self.output.greet(&self.row.id, &self.workflow);
        let facts = self.read()?;
        let told = facts.len().saturating_sub(TOLD);
        self.output.show(&self.workflow, &self.state, &facts[..told]);
        self.output.say(&self.workflow, &self.state, &facts[told..]);
        Ok(())
    }

    fn follow(&mut self, context: &Context) -> anyhow::Result<AttachEnd> {
        loop {
            let Some(holder) = self.home.holder(&self.row.id) else { return Ok(AttachEnd::Rested) };
            let Some(watch) = Watch::of(self.home.path(), holder.pid)? else { continue };
            // What was written before the watch began woke nobody.
            self.look()?;
            loop {
                if context.is_interactive()
                    && let Some(question) = self.state.question().filter(|it| it.id != self.answered).cloned()
                    && let Some(end) = self.ask(&watch, &question)?
                {
                    return Ok(end);
                }
                let nap = if self.onlooker.is_some() { live_output::EVERY } else { Duration::MAX };
                let woken = watch.wait(&mut self.signals, None, nap)?;
                self.look()?;
                if woken.signal.is_some() {
                    return Ok(AttachEnd::Left(woken.signal));
                }
                if woken.gone {
                    break;
                }
            }
        }
    }

    /// Reads what was written, says it, and looks at what the agent is doing.
    fn look(&mut self) -> anyhow::Result<()> {
        let facts = self.read()?;
        if !facts.is_empty() {
            self.output.say(&self.workflow, &self.state, &facts);
        }
        let Station::Working(call) = &self.state.station else {
            self.live = None;
            return Ok(());
        };
        let (Some(onlooker), Some(cli)) = (&mut self.onlooker, self.workflow.agent.cli.row()) else {
            return Ok(());
        };
        let stem = call.stem();
        if self.live.as_ref().is_none_or(|it| it.0 != stem) {
            let output = self.home.folder(&self.row.id).join(format!("{stem}.out"));
            let place = std::path::Path::new(&self.row.place);
            let live = || (stem, LiveCall::at(&output, cli, place, Detail::Results));
            self.live = output.exists().then(live);
        }
        if let Some((_, live)) = &mut self.live {
            onlooker(&Observed::Call(&live.look()));
        }
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<Vec<(Timestamp, Event)>> {
        let mut facts = Vec::new();
        loop {
            let page = self.home.events(&self.row.id, self.next, PAGE)?;
            for recorded in &page {
                self.next = recorded.seq + 1;
                // What a later version wrote is not for us to tell.
                if let Ok(event) = serde_json::from_str(&recorded.body) {
                    facts.push((Timestamp(recorded.at), event));
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
        if !facts.is_empty() {
            self.state = load(&self.home, &self.row)?.1;
        }
        Ok(facts)
    }

    /// Asks until there is an answer, from here or from elsewhere; says if the person leaves.
    fn ask(&mut self, watch: &Watch, question: &Question) -> anyhow::Result<Option<AttachEnd>> {
        refuse_agents(&self.caller, Some((&self.home, &self.row)), GuardedCommand::Answer)?;
        let mut signal = None;
        let Follower { home, row, workflow, state, output, signals, .. } = self;
        let is_open = |home: &Home, row: &Row| -> anyhow::Result<bool> {
            Ok(home.open_questions(&row.id)?.iter().any(|it| it.id == question.id.to_string()))
        };
        let check = |command| acceptable(workflow, state, command);
        let said = output.ask(workflow, state, question, &check, &mut |nap| {
            let woken = watch.wait(signals, Some(rustix::stdio::stdin()), nap)?;
            signal = woken.signal;
            Ok(match woken {
                _ if woken.signal.is_some() || woken.gone || !is_open(home, row)? => WaitEnd::Elsewhere,
                _ if woken.typed => WaitEnd::Typed,
                _ => WaitEnd::Nothing,
            })
        })?;
        match said {
            AskResult::Answer(command) => {
                self.answered = question.id;
                leave(&self.home, &self.row, &command)?;
                Ok(None)
            }
            AskResult::Elsewhere if signal.is_some() => Ok(Some(AttachEnd::Left(signal))),
            AskResult::Elsewhere => {
                self.answered = question.id;
                Ok(None)
            }
            AskResult::Nothing => Ok(Some(AttachEnd::Left(None))),
        }
    }

    fn end(mut self, end: AttachEnd) -> anyhow::Result<u8> {
        self.look()?;
        let id = &self.row.id[..8];
        let status = Status::of(&self.state);
        match end {
            AttachEnd::Left(signal) => {
                let exit = signal.map_or(0, |it| 128 + u8::try_from(it).unwrap_or(0));
                let text = format!("run {id} continues in the background");
                self.output.end(status.word(), &text, &hint::pasteable("loop attach"), exit);
                Ok(exit)
            }
            AttachEnd::Rested if status == Status::Running => {
                let text = format!("the process that drove run {id} died; nothing was lost");
                self.output.end(status.word(), &text, &hint::pasteable("loop run"), status.exit());
                Ok(status.exit())
            }
            AttachEnd::Rested => {
                let folder = self.home.folder(&self.row.id);
                let place = std::path::Path::new(&self.row.place);
                let (workflow, state) = (&self.workflow, &self.state);
                let asked = Some(self.answered);
                let next = &next_step(&self.home, &self.row.id, workflow, state)?;
                self.output.rest(
                    &RestingRun {
                        workflow,
                        state,
                        place,
                        folder: &folder,
                        asked,
                        next,
                        other: hint::other_step(&self.home, &self.row.id, state)?,
                        tells_next: true,
                        more: &[],
                    },
                    status.exit(),
                );
                Ok(status.exit())
            }
        }
    }
}
