//! One execution of a workflow, held by its owner: its definition, the state that its journal
//! implies, and the journal itself. `record` takes a fact into account in memory; `commit` makes
//! everything since the last one durable. A simulated run is kept in memory instead.

pub use super::error::StoreError;
use super::fold;
use super::{Commit, Home, Journal, Opened};
use crate::derived::{call_at, ended_call, questions, row, spend};
use loop_base::secret;
use loop_base::time::Timestamp;
use loop_core::agents;
use loop_core::digest::sha256;
use loop_core::engine::{Command, Event, Listing, News, Opening, State, Station, Wait, acceptable};
use loop_core::workflow::model::Workflow;
use std::path::PathBuf;
use std::rc::Rc;

pub struct Run {
    pub id: String,
    pub workflow: Workflow,
    pub state: State,
    /// Whose plan its calls use up.
    pub account: String,
    storage: Storage,
    pending: Vec<(Timestamp, Event)>,
    /// Commands that the next commit marks as taken.
    taken: Vec<i64>,
    /// The next commit keeps the workflow too.
    reloaded: bool,
    /// The number of the event among the pending ones by which it came into force.
    reloaded_at: Option<i64>,
}

enum Storage {
    Disk { home: Rc<Home>, journal: Box<Journal>, project: String, place: String },
    Memory(Box<Memory>),
}

/// What is kept of a simulated run: what a crash would leave.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub events: Vec<(Timestamp, Event)>,
    pub commands: Vec<Command>,
    /// The state that the events lead to, as it would stand beside them.
    pub snapshot: Option<State>,
}

impl Run {
    /// Becomes the owner of a run that exists.
    pub fn open(home: Rc<Home>, id: &str, now: Timestamp) -> Result<Run, StoreError> {
        let opened = Journal::open(&home, id)?;
        Run::of(home, id, now, opened)
    }

    /// Takes the run for one commit. Until then the caller does only what is safe if two processes do
    /// it at once.
    pub fn visit(home: Rc<Home>, id: &str, now: Timestamp) -> Result<Run, StoreError> {
        let opened = Journal::visit(&home, id)?;
        Run::of(home, id, now, opened)
    }

    fn of(home: Rc<Home>, id: &str, now: Timestamp, opened: Opened) -> Result<Run, StoreError> {
        let workflow = fold::workflow(&home, id)?;
        let mut state = match &opened.state {
            Some(text) => {
                let mut state = fold::state_of(&home, id, text)?;
                for recorded in &opened.tail {
                    let event = fold::event_of(&home, id, recorded)?;
                    state.apply(&workflow, Timestamp(recorded.at), &event);
                }
                state
            }
            None => fold::refold(&home, id, &workflow)?,
        };
        if state.lacks_list(&workflow) {
            state.give_list(fold::item_list(&home, id)?);
        }
        let whole = opened.tail.is_empty() && opened.state.is_some();
        if let Some(what) =
            opened.listed.as_ref().filter(|_| whole).and_then(|it| fold::listed_fault(&state, it))
        {
            return Err(StoreError::damaged(format!("run {id}: {what}")).within(home.path()));
        }
        let working = match &state.station {
            Station::Working(call) => Some(call.number),
            _ => None,
        };
        if let (Station::Working(call), true, None) = (&state.station, opened.is_folder_new, &state.session) {
            claim_lost(&home, id, &call.stem())?;
        }
        home.void_reservations(id, working)?;
        let (project, place) = (opened.journal.project().to_owned(), opened.journal.place().to_owned());
        let epoch = u64::try_from(opened.journal.epoch()).unwrap_or(0);
        let opening = Some(opened.journal.opening());
        let account = account_of(&workflow, &project);
        let storage = Storage::Disk { home, journal: Box::new(opened.journal), project, place };
        let mut run = Run {
            id: id.to_owned(),
            workflow,
            state,
            account,
            storage,
            pending: Vec::new(),
            taken: Vec::new(),
            reloaded: false,
            reloaded_at: None,
        };
        run.record(now, Event::Owned { epoch, opening });
        Ok(run)
    }

    /// Makes a run that is kept in memory, going on from whatever is kept.
    pub fn simulated(workflow: Workflow, memory: Memory) -> Run {
        let state = memory.snapshot.clone().unwrap_or_else(|| State::new(&workflow));
        let storage = Storage::Memory(Box::new(memory));
        Run {
            id: "simulated".to_owned(),
            workflow,
            state,
            account: String::new(),
            storage,
            pending: Vec::new(),
            taken: Vec::new(),
            reloaded: false,
            reloaded_at: None,
        }
    }

    /// Returns the head of its journal, for keeping it elsewhere; none while something is not durable.
    pub fn head(&self) -> Option<String> {
        match &self.storage {
            Storage::Disk { journal, .. } => journal.head(),
            Storage::Memory(_) => None,
        }
    }

    /// Returns the folder that holds prompts, transcripts and check logs.
    pub fn folder(&self) -> PathBuf {
        match &self.storage {
            Storage::Disk { home, .. } => home.folder(&self.id),
            Storage::Memory(_) => PathBuf::new(),
        }
    }

    /// Takes one fact into account, without the secrets that may be in it: what stands in the journal
    /// is shown, mirrored, and told to agents. It is durable after the next commit.
    pub fn record(&mut self, at: Timestamp, event: Event) {
        let event = match &mut self.storage {
            Storage::Disk { journal, .. } => {
                // Lists are compared without secrets, as the journal knows them. One that reads as it
                // did has none.
                let event = match &event {
                    Event::Listed(Listing::Whole(items)) if !self.state.is_list(items) => {
                        secret::redact_data(event).0
                    }
                    _ => event,
                };
                let (event, body) = secret::redact_data(self.state.journaled(&self.workflow, event));
                let seq = journal.append(at.0, event.kind(), &body);
                if matches!(event, Event::Reloaded { .. }) {
                    self.reloaded_at.get_or_insert(seq);
                }
                event
            }
            Storage::Memory(_) => self.state.journaled(&self.workflow, event),
        };
        self.state.apply(&self.workflow, at, &event);
        self.pending.push((at, event));
    }

    /// Takes in what came from outside.
    pub fn take_news(&mut self, news: Vec<(Timestamp, News)>) {
        for (at, news) in news {
            let is_opened = self.state.opening != Opening::default();
            news.events(at, is_opened).into_iter().for_each(|(at, event)| self.record(at, event));
        }
    }

    /// Goes on by another workflow from here, which has the same phases. `Event::Reloaded` says what
    /// differs and names its hash, and the commit that makes it durable keeps the workflow.
    pub fn take_workflow(&mut self, workflow: Workflow) {
        self.workflow = workflow;
        self.reloaded = true;
    }

    /// Returns the hash of the workflow as it is stored.
    pub fn definition_hash(&self) -> String {
        sha256(&definition(&self.workflow))
    }

    /// Takes what has happened outside since the last time: what people have asked for, what other
    /// runs have called, what providers have told them.
    pub fn take_commands(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.take_wishes(now)?;
        if self.state.station == Station::Ready {
            self.notice_calls(now)?;
            self.notice_hold(now)?;
        }
        Ok(())
    }

    /// The window of calls is shared by all runs of a project.
    fn notice_calls(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let (Storage::Disk { home, project, .. }, Some(window)) =
            (&self.storage, &self.workflow.limits.window)
        else {
            return Ok(());
        };
        let own = self.state.calls.at(window, now);
        let every = i64::try_from(window.every).unwrap_or(i64::MAX);
        let since = if own.made == 0 { now.0.saturating_sub(every) } else { own.start.0 };
        let all = home.calls_between(project, since, now.0)?;
        let made = u32::try_from(all.count).unwrap_or(u32::MAX);
        // A window that begins in the future is one that a clock has left behind; that it begins again
        // is a fact that people should find.
        let is_ahead = self.state.calls.made != 0 && now < self.state.calls.start;
        if own.made < made || is_ahead {
            let start = all.oldest_at.map_or(own.start, Timestamp);
            self.record(now, Event::Counted { start, made });
        }
        Ok(())
    }

    /// A provider that says no to one run says it to all that use the same account.
    fn notice_hold(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let Storage::Disk { home, .. } = &self.storage else { return Ok(()) };
        if self.state.wait.is_some() {
            return Ok(());
        }
        if let Some(hold) = home.hold(&self.account)?.filter(|it| now.0 < it.until) {
            let (until, why) = (Timestamp(hold.until), hold.reason);
            self.record(now, Event::Waits { until, why, wait: Wait::Provider });
        }
        Ok(())
    }

    /// Each command becomes a fact in the same
    /// transaction that marks it as taken.
    fn take_wishes(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let commands = match &mut self.storage {
            Storage::Disk { home, journal, .. } => journal.pending_commands(home)?,
            Storage::Memory(memory) => {
                let untaken: Vec<Command> = memory.commands.iter().skip(self.taken.len()).cloned().collect();
                for command in untaken {
                    self.taken.push(0);
                    self.obey(now, command);
                }
                return Ok(());
            }
        };
        for (id, body) in commands {
            if self.taken.contains(&id) {
                continue;
            }
            self.taken.push(id);
            match serde_json::from_str(&body) {
                Ok(command) => self.obey(now, command),
                Err(error) => {
                    self.record(now, Event::Noted { text: format!("command {id} cannot be read: {error}") });
                }
            }
        }
        Ok(())
    }

    fn obey(&mut self, now: Timestamp, command: Command) {
        let event = match acceptable(&self.workflow, &self.state, command.clone()) {
            Ok(command) => Event::Commanded(command),
            Err(why) => Event::Refused { command, why },
        };
        self.record(now, event);
    }

    /// Makes everything since the last commit durable, or nothing, and returns it.
    pub fn commit(&mut self) -> Result<Vec<(Timestamp, Event)>, StoreError> {
        if self.pending.is_empty() {
            return Ok(Vec::new());
        }
        match &mut self.storage {
            Storage::Disk { home, journal, place, .. } => {
                let state = serde_json::to_string(&self.state).expect("a state is plain data");
                let definition = self.reloaded.then(|| definition(&self.workflow));
                let commit = Commit {
                    at: self.state.updated_at.0,
                    state: &state,
                    row: row(&self.workflow, &self.state, place),
                    taken: &self.taken,
                    questions: &questions(&self.pending, &self.state),
                    call_at: self.pending.iter().find_map(call_at),
                    spend: spend(&self.pending, &self.workflow, &self.state),
                    settles: self.pending.iter().find_map(ended_call),
                    definition: definition.as_deref(),
                    reloaded_at: self.reloaded_at,
                };
                journal.commit(home, &commit)?;
                self.taken.clear();
                self.reloaded = false;
                self.reloaded_at = None;
            }
            Storage::Memory(memory) => {
                memory.events.extend(self.pending.iter().cloned());
                memory.commands.drain(..self.taken.len());
                self.taken.clear();
                memory.snapshot = Some(self.state.clone());
            }
        }
        Ok(std::mem::take(&mut self.pending))
    }

    /// Returns what is kept of a simulated run as a crash would leave it.
    pub fn memory(&self) -> &Memory {
        match &self.storage {
            Storage::Memory(memory) => memory,
            Storage::Disk { .. } => panic!("only a simulated run is kept in memory"),
        }
    }

    /// Returns them, and forgets what was not committed.
    pub fn into_memory(self) -> Memory {
        match self.storage {
            Storage::Memory(memory) => *memory,
            Storage::Disk { .. } => panic!("only a simulated run is kept in memory"),
        }
    }

    /// Leaves a command for a simulated run.
    pub fn simulate_command(&mut self, command: Command) {
        match &mut self.storage {
            Storage::Memory(memory) => memory.commands.push(command),
            Storage::Disk { .. } => panic!("only a simulated run is kept in memory"),
        }
    }
}

/// A call that had begun when the folder of its run was removed may have been started: whoever finds it
/// claimed takes it for lost and never starts it again. This is done before the folder notes the end of
/// the journal, so a crash in between changes nothing.
fn claim_lost(home: &Home, run: &str, stem: &str) -> Result<(), StoreError> {
    let claim = home.folder(run).join(format!("{stem}.out"));
    match loop_base::files::ours().write(true).create_new(true).open(&claim) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::file(&claim, &error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The workflow as it is stored.
fn definition(workflow: &Workflow) -> String {
    serde_json::to_string(workflow).expect("a workflow is plain data")
}

/// Returns whose plan the calls of this workflow use up: as the agent's process would see it.
pub fn account_of(workflow: &Workflow, project: &str) -> String {
    let set = |name: &str| workflow.agent.env.get(name).cloned().or_else(|| std::env::var(name).ok());
    match workflow.agent.cli.row() {
        Some(row) if row.is_any_program() => {
            let args: Vec<String> =
                workflow.agent.args.iter().map(|it| secret::redact(it).into_owned()).collect();
            agents::account_of_program(&args, project)
        }
        Some(row) => agents::account(row, &set),
        None => workflow.agent.cli.to_string(),
    }
}
