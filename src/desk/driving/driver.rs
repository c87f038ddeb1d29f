//! A run that is being driven: the loop and the real world behind it, for whoever shows what happens
//! and answers its questions.

use crate::deliver::memory;
use crate::desk::commands::command::insert;
use crate::desk::driving::git_programs;
use crate::desk::driving::open::OpenRun;
use crate::desk::driving::workflow_edits::WorkflowEdits;
use crate::desk::idle_world::keep_mirrors;
use crate::desk::kept_head::{KeptHead, deleted_head, keep_head, match_kept_head};
use crate::desk::obstacles::place;
use crate::desk::obstacles::place::refuse_other_repository;
use crate::desk::record::write_record;
use crate::drive;
use crate::world::real::{CallAllowance, Host, Onlooker};
use crate::world::wait::{Listener, WaitResult, now};
use loop_base::time::Timestamp;
use loop_core::engine::{Command, Effect, Event, News, Question, Rest};
use loop_store::mirror::{self, RunMirror};
use loop_store::run::Run;
use loop_store::{Home, TreeLock};
use loop_supervise::pid_namespace;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// How far this process goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Far,
    OneCall,
}

pub(crate) struct Driver<'a> {
    pub run: Run,
    pub host: Host<'a>,
    home: Rc<Home>,
    place: PathBuf,
    _tree: TreeLock,
}

/// A run that has stopped, and that is no longer driven.
pub(crate) struct Rested {
    pub home: Rc<Home>,
    pub run: Run,
    pub place: PathBuf,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why the record of the completed run is missing, or not signed.
    pub record_trouble: Option<String>,
    tree: TreeLock,
}

impl<'a> Driver<'a> {
    /// Prepares to drive. `say` is told what became durable, `onlooker` what an agent is doing.
    pub(crate) fn new(
        opened: OpenRun,
        reach: Reach,
        mut say: impl FnMut(&Run, &[(Timestamp, Event)]) + 'a,
        onlooker: Option<Onlooker<'a>>,
    ) -> anyhow::Result<Driver<'a>> {
        let OpenRun { home, run, signals, place, own_paths, tree, environment } = opened;
        let allowance = match reach {
            Reach::Far => CallAllowance::Free,
            Reach::OneCall => CallAllowance::Calls(1),
        };
        let head = match_kept_head(&home, &run.id, &place)?;
        if head != KeptHead::Matches {
            refuse_other_repository(&run, &place)?;
        }
        if reach == Reach::Far {
            home.grow_log()?;
        }
        let mut mirror = RunMirror::open(Rc::clone(&home), &run, &place)?;
        let found = mirror.look_back(&run, &place)?;
        let mut edits = WorkflowEdits::watch(environment, &home, &place);
        let edited = edits.look_back(&run);
        let shown = place.clone();
        let watcher = Box::new(move |run: &Run, facts: &[_]| {
            say(run, facts);
            let mut noticed = mirror.follow(run, &shown, facts);
            noticed.extend(edits.follow(run, facts));
            noticed.extend(git_programs::follow(run, &shown, facts));
            noticed
        });
        let listener = Listener::new(Rc::clone(&home), &run.id, signals)?;
        let input = run.state.opening.path.as_ref().map(PathBuf::from);
        let mut host = Host::new(listener, &run, &place, input, &own_paths, allowance, watcher)?;
        host.onlooker = onlooker;
        host.news.extend(found.into_iter().chain(edited).map(|it| (now(), it)));
        let lost_head = (head == KeptHead::Deleted).then(|| deleted_head(&run.id));
        let warnings = lost_head.into_iter().chain(namespace_warning(&run, &host));
        host.news.extend(warnings.map(|text| (now(), News::Noted(text))).collect::<Vec<_>>());
        Ok(Driver { run, host, home, place, _tree: tree })
    }

    /// Goes on until there is nothing to do without a person. Where the worktree is gone, whatever failed in it says
    /// less than that.
    pub(crate) fn until_rest(&mut self) -> anyhow::Result<Rest> {
        let rested = drive::drive(&mut self.run, &mut self.host);
        let is_made = self.run.state.place.is_some();
        let Some((hold, refusal)) =
            rested.as_ref().err().filter(|_| is_made).and_then(|_| place::misplaced(&self.run))
        else {
            return rested;
        };
        self.host.news.push((now(), News::Held(hold)));
        drive::commit(&mut self.run, &mut self.host)?;
        Err(refusal.into())
    }

    /// Writes an answer down, which the next turn of the loop takes.
    pub(crate) fn answer(&self, command: &Command) -> anyhow::Result<()> {
        insert(&self.home, &self.run.id, command)
    }

    /// Waits until somebody answers elsewhere, or the question decides itself.
    pub(crate) fn wait(&mut self, question: &Question) -> anyhow::Result<()> {
        loop {
            let left = self.run.state.question_ends_at(question).map_or(u64::MAX, |it| it.since(now()));
            if left == 0 {
                return Ok(());
            }
            match self.host.shim.listener.listen(None, Duration::from_millis(left))? {
                WaitResult::Command | WaitResult::Now { .. } => return Ok(()),
                WaitResult::Answer | WaitResult::Nothing => (),
            }
        }
    }

    pub(crate) fn end(self) -> Rested {
        let Driver { run, host, home, place, _tree } = self;
        keep_head(&run, &place);
        memory::hand_over(&run);
        let record_trouble = write_record_of(&home, &run.id);
        Rested { home, run, place, signal: host.shim.listener.signals.last(), record_trouble, tree: _tree }
    }
}

/// Says what `[agent] namespace = true` means here, once in a run.
fn namespace_warning(run: &Run, host: &Host<'_>) -> Option<String> {
    if !run.workflow.agent.namespace {
        return None;
    }
    let text = match host.namespace(run) {
        None => "PID namespaces are not available here; calls run without one",
        Some(_) if pid_namespace::keeps_setuid() => return None,
        Some(_) => {
            "calls run in a PID namespace of their own, where programs that change the user (sudo, su, on some \
             systems ping) do not work"
        }
    };
    Some(text.to_owned()).filter(|it| !run.state.warnings.contains(it))
}

/// Writes the record of a run that is completed; says what went wrong with it.
fn write_record_of(home: &Home, run: &str) -> Option<String> {
    let written = home.run(run).map_err(anyhow::Error::from).and_then(|row| match row {
        Some(row) => write_record(home, &row),
        None => Ok(None),
    });
    match written {
        Ok(written) => written.and_then(|it| it.trouble),
        Err(error) => Some(format!("the record could not be written: {error:#}")),
    }
}

impl Rested {
    /// Lets the run go, and keeps its working tree.
    pub(crate) fn let_go(self) -> (Rc<Home>, String, TreeLock) {
        (self.home, self.run.id.clone(), self.tree)
    }
}

/// Makes what an opened run needs that is not driven yet: its worktree, and its files for other tools.
pub(crate) fn make_place(opened: OpenRun) -> anyhow::Result<Run> {
    let OpenRun { home, mut run, signals, place, own_paths, tree: _held, environment: _ } = opened;
    if run.state.opening.worktree.is_some() && run.state.place.is_none() {
        let listener = Listener::new(Rc::clone(&home), &run.id, signals)?;
        let input = run.state.opening.path.as_ref().map(PathBuf::from);
        let watcher = Box::new(|run: &Run, facts: &[_]| keep_mirrors(&home, &place, run, facts));
        let mut host =
            Host::new(listener, &run, &place, input, &own_paths, CallAllowance::Calls(0), watcher)?;
        drive::carry_out(&mut run, &mut host, &Effect::Workspace)?;
        drive::commit(&mut run, &mut host)?;
    }
    mirror::restore(&home, &run.id, &run.workflow, &run.state, &place);
    Ok(run)
}
