//! The turns of a pool: look at the queue and the runs, begin what can begin, wait until something
//! happened.

use super::caps::{Caps, Counter};
use super::end::{self, PoolEnd};
use super::follow::{Followed, PoolNews, PoolTotal, opened};
use crate::desk::{
    self, Caller, Continued, DetachedWays, FoundRun, Going, GuardedCommand, Note, OpenReply, Queue,
    QueueRules, Refusal, RunRequest, leave,
};
use crate::world::wait::{Signals, now};
use loop_base::text::shell_word;
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::{Command, Status, may_be_answered_outside};
use loop_store::{Job, PoolLock};
use loop_supervise::detached::{self, Started};
use loop_supervise::follow::Watch;
use loop_supervise::signals;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What a pool is asked to do.
#[derive(Clone, Debug)]
pub(crate) struct PoolRequest {
    /// What is said of each run.
    pub run: RunRequest,
    /// How many systems are worked on at the same time.
    pub jobs: usize,
    /// It stays for answers, instead of ending when only people can continue.
    pub waits_for_people: bool,
}

/// A controller that dies again and again without any call has a fault that another start does not mend.
const VAIN_STARTS_MOST: u32 = 5;

/// Whoever edits the queue's file wakes nobody, so it is looked at now and then.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Why no system begins, and until when.
#[derive(Clone)]
struct NothingBegins {
    why: Refusal,
    until: &'static str,
}

/// Why nothing more is begun.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PoolStop {
    Capped(String),
    Signal(i32),
}

pub(crate) struct Pool<'a> {
    caller: &'a Caller,
    request: &'a PoolRequest,
    queue: Queue,
    signals: Signals,
    followed: Vec<Followed>,
    /// Systems that could not be opened, and why.
    refused: BTreeMap<String, Refusal>,
    counter: Counter,
    ending: Option<PoolStop>,
    /// Runs that were told of the end. A controller that was just started is told when it holds its run.
    told: HashSet<String>,
    /// Runs that had stopped before this pool began; they are continued once.
    left: HashSet<String>,
    /// What was found when the queue was read.
    notes: Vec<Note>,
    /// Why the queue's file cannot be read, and since when nothing else is under way.
    unreadable: Option<(Refusal, Instant)>,
    /// Every system begins from this branch, and is merged into it.
    branch: Option<String>,
    /// Why no system begins at the moment.
    away: Option<NothingBegins>,
    /// What said how systems are built, when somebody last looked at it.
    rules: QueueRules,
    /// That was changed, and nobody has accepted it.
    away_for_rules: bool,
    /// Nobody else builds this queue meanwhile.
    held: PoolLock,
}

impl<'a> Pool<'a> {
    /// Takes the queue for a pool.
    pub(crate) fn take(caller: &'a Caller, request: &'a PoolRequest) -> Result<Pool<'a>, Refusal> {
        desk::refuse_agents(caller, None, GuardedCommand::Queue)?;
        desk::refuse_pool(caller, &request.run)?;
        let mut notes = Vec::new();
        let queue = Queue::open_to_change(caller, request.run.domain.as_deref(), &mut notes)?;
        let held = queue.lock(request.jobs)?;
        let branch = queue.branch();
        let rules = queue.rules(caller, &request.run);
        let signals = Signals::listen().map_err(anyhow::Error::from)?;
        let RunRequest { max, budget, tokens, time, .. } = request.run;
        let caps = Caps {
            iterations: max,
            micro_usd: budget.map(|it| (it * 1e6).round() as i64),
            tokens,
            time_ms: time,
        };
        let mut pool = Pool {
            caller,
            request,
            queue,
            signals,
            followed: Vec::new(),
            refused: BTreeMap::new(),
            counter: Counter::new(caps, now()),
            ending: None,
            told: HashSet::new(),
            left: HashSet::new(),
            notes,
            unreadable: None,
            branch,
            away: None,
            rules,
            away_for_rules: false,
            held,
        };
        pool.remember_what_stopped()?;
        Ok(pool)
    }

    /// Where a pool without a terminal writes its messages.
    pub(crate) fn log(&self) -> PathBuf {
        self.held.log()
    }

    /// Builds the systems of the queue until nothing more can be done without a person.
    pub(crate) fn run(mut self, tell: &mut dyn FnMut(PoolNews)) -> Result<PoolEnd, Refusal> {
        std::mem::take(&mut self.notes).into_iter().for_each(|it| tell(PoolNews::Pool(it.text)));
        self.tell_who_works(tell);
        self.drive(tell).map_err(Refusal::from)
    }

    /// Tells which runs have a controller already: they outlived another pool, or a person started them. They may work
    /// for long before they write anything.
    fn tell_who_works(&self, tell: &mut dyn FnMut(PoolNews)) {
        for (index, pid) in self.living() {
            let now = self.followed[index].now(true);
            tell(system_line(
                &now.id,
                format!("is at work already (pid {pid}), and is followed: {}", now.doing),
            ));
        }
    }

    /// Tells how every system stands that is worked on or waits for somebody.
    fn tell_how_all_stand(&self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let driven: HashSet<usize> = self.living().into_iter().map(|it| it.0).collect();
        let is_open = |it: &Followed| !matches!(it.status(), Status::Completed | Status::Cancelled);
        let shown = self.followed.iter().enumerate().filter(|it| is_open(it.1));
        let systems = shown.map(|(index, it)| it.now(driven.contains(&index))).collect();
        let jobs = self.queue.jobs()?;
        let total = PoolTotal {
            done: jobs.iter().filter(|it| it.system.status == JobStatus::Complete).count(),
            all: jobs.len(),
            jobs: self.request.jobs,
            began: self.counter.began(),
            used: self.counter.used(),
        };
        tell(PoolNews::Now { systems, total });
        Ok(())
    }

    fn drive(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<PoolEnd> {
        loop {
            // Whoever lets go of a run between the look at it and here has written what was not read.
            let worked = !self.living().is_empty();
            self.look(tell)?;
            self.hold_caps(tell)?;
            let has_begun = self.ending.is_none() && self.begin_what_can(tell)?;
            let working = self.living();
            if !working.is_empty()
                && let Some((_, since)) = &mut self.unreadable
            {
                *since = Instant::now();
            }
            if working.is_empty() {
                match &self.unreadable {
                    _ if worked || has_begun => continue,
                    _ if self.is_worth_waiting() => (),
                    Some(_) if self.ending.is_none() && self.request.waits_for_people => (),
                    // Somebody may be in the middle of writing it.
                    Some((_, since)) if self.ending.is_none() && since.elapsed() < LOOK_EVERY => (),
                    Some((why, _)) if self.ending.is_none() => return Err(why.clone().into()),
                    Some(_) | None => break,
                }
            }
            self.tell_how_all_stand(tell)?;
            let pids: Vec<i32> = working.into_iter().map(|it| it.1).collect();
            let watch = Watch::of_all(self.queue.home().path(), &pids)?;
            // What was written before the watch began woke nobody.
            if self.look(tell)? {
                continue;
            }
            let left = self.counter.time_left_ms(now()).filter(|_| self.ending.is_none());
            let nap = left.map_or(LOOK_EVERY, |it| LOOK_EVERY.min(Duration::from_millis(it)));
            if let Some(signal) = watch.wait(&mut self.signals, None, nap)?.signal {
                if matches!(self.ending, Some(PoolStop::Signal(_))) {
                    break;
                }
                self.pause_all(signal, tell)?;
            }
        }
        let (capped, signal) = match self.ending.clone() {
            Some(PoolStop::Capped(which)) => (Some(which), None),
            Some(PoolStop::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        if let Some(away) = self.away.clone()
            && let Some(job) = self.next_ready()?
        {
            self.refused.insert(job.system.id, away.why);
        }
        if let Some(refusal) = self.only_refusal() {
            return Err(refusal.into());
        }
        Ok(end::report(&self.queue, &self.followed, &self.refused, capped, signal)?)
    }

    /// A run that stopped before is continued, and one that waits for the world looks at it, as with `loop run`.
    fn remember_what_stopped(&mut self) -> anyhow::Result<()> {
        self.look(&mut |_| ())?;
        let goes_on = |it: &&Followed| match it.status() {
            Status::Paused | Status::Stopped => true,
            Status::Waiting | Status::Halted => may_be_answered_outside(&it.workflow, &it.state),
            Status::Ready | Status::Running | Status::Capped | Status::Completed | Status::Cancelled => false,
        };
        self.left = self.followed.iter().filter(goes_on).map(|it| it.row.id.clone()).collect();
        Ok(())
    }

    /// Reads the queue and every run of it. Says whether a run has written something.
    fn look(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<bool> {
        self.read_queue(tell)?;
        let home = Rc::clone(self.queue.home());
        for job in self.queue.jobs()? {
            let Some(run) = job.run.filter(|_| job.system.status != JobStatus::Complete) else { continue };
            if self.followed.iter().any(|it| it.row.id == run) {
                continue;
            }
            let Some(row) = opened(&home, &run)? else { continue };
            self.followed.retain(|it| it.system != job.system.id);
            let run = Followed::new(&home, &job.system.id, row)?;
            self.counter.count(&run, false);
            self.followed.push(run);
        }
        let mut is_changed = false;
        for followed in &mut self.followed {
            if let Some(pid) = followed.pid {
                detached::reap(pid);
            }
            let news = followed.look(&home)?;
            is_changed |= !news.is_empty();
            self.counter.count(followed, false);
            news.into_iter().for_each(&mut *tell);
        }
        Ok(is_changed)
    }

    /// Takes over what somebody has changed in the queue. While its file cannot be read, what is under way continues.
    fn read_queue(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let mut notes = Vec::new();
        let invalid = self.queue.read_again(&mut notes)?;
        notes.into_iter().for_each(|it| tell(PoolNews::Pool(it.text)));
        let Some(why) = invalid else {
            self.unreadable = None;
            return Ok(());
        };
        let (known, since) = match self.unreadable.take() {
            Some((known, since)) => (known == why, since),
            None => (false, Instant::now()),
        };
        if !known {
            tell(PoolNews::Pool(format!("{}; no system is begun until that is repaired", why.text)));
        }
        self.unreadable = Some((why, since));
        Ok(())
    }

    /// The runs that somebody drives, by their place in the list, with who does.
    fn living(&self) -> Vec<(usize, i32)> {
        let home = self.queue.home();
        let holders = self.followed.iter().enumerate();
        holders.filter_map(|(index, it)| Some((index, home.holder(&it.row.id)?.pid))).collect()
    }

    /// Whether somebody is expected: a person who answers or goes back to the branch, or a moment at which a question
    /// is looked at again.
    fn is_worth_waiting(&self) -> bool {
        let waits = |it: &Followed| matches!(it.status(), Status::Waiting | Status::Halted);
        let is_expected = self.away.is_some() || self.followed.iter().any(waits);
        self.ending.is_none() && self.request.waits_for_people && is_expected
    }

    /// Ends every run after its iteration once a cap over all of them is reached.
    fn hold_caps(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        if self.ending.is_some() {
            return self.tell_the_end();
        }
        let Some(which) = self.counter.reached(now()) else { return Ok(()) };
        tell(PoolNews::Pool(format!("cap reached: {which}; every run stops after this iteration")));
        self.ending = Some(PoolStop::Capped(which));
        self.tell_the_end()
    }

    /// Tells every run that is driven, and was not told, that the pool ends.
    fn tell_the_end(&mut self) -> anyhow::Result<()> {
        let command = match &self.ending {
            None => return Ok(()),
            Some(PoolStop::Capped(_)) => Command::Stop,
            Some(PoolStop::Signal(signal)) => Command::Pause { reason: signals::reason(*signal).to_owned() },
        };
        for (index, _) in self.living() {
            let row = &self.followed[index].row;
            if self.told.insert(row.id.clone()) {
                leave(self.queue.home(), row, &command)?;
            }
        }
        Ok(())
    }

    /// Ends every call at once; the runs can continue later.
    fn pause_all(&mut self, signal: i32, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let living = self.living().len();
        tell(PoolNews::Pool(format!("pausing {} (press again to leave at once)", runs(living))));
        // Who was asked to stop after an iteration is asked for more.
        self.told.clear();
        self.ending = Some(PoolStop::Signal(signal));
        self.tell_the_end()
    }

    /// Begins or continues systems while there is room for them. Says whether any was.
    fn begin_what_can(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<bool> {
        let mut has_begun = false;
        let told = self.away.take();
        while self.working() < self.request.jobs && self.unreadable.is_none() {
            if let Some(index) = self.next_to_continue(tell)? {
                self.resume(index, tell)?;
            } else if let Some(job) = self.next_ready()? {
                self.away = match self.on_another_branch() {
                    Some(away) => Some(away),
                    None => self.by_other_rules(),
                };
                if let Some(away) = &self.away {
                    if told.is_none_or(|it| it.why != away.why) {
                        tell(PoolNews::Pool(format!(
                            "{}; no system begins until {}",
                            away.why.text, away.until
                        )));
                    }
                    break;
                }
                self.open(&job, tell)?;
            } else {
                break;
            }
            has_begun = true;
        }
        Ok(has_begun)
    }

    /// Somebody works on another branch in the project. A system that began there would lack those that it needs, and
    /// would be merged there.
    fn on_another_branch(&self) -> Option<NothingBegins> {
        let here = self.queue.branch();
        if here == self.branch {
            return None;
        }
        let name = |it: &Option<String>| it.clone().unwrap_or_else(|| "no branch".to_owned());
        let text =
            format!("the project is on {}, and this pool builds on {}", name(&here), name(&self.branch));
        let next = self.branch.as_ref().map(|it| format!("git switch {}", shell_word(it)).into());
        Some(NothingBegins { why: Refusal { text, next, exit: 2 }, until: "it is back" })
    }

    /// Somebody changed how systems are built while agents worked: it may have been one of them, in a call that has not
    /// ended yet. What a person accepts is what later changes are compared with.
    fn by_other_rules(&mut self) -> Option<NothingBegins> {
        let rules = self.queue.rules(self.caller, &self.request.run);
        let was_held = self.away_for_rules;
        let changed = rules.changed_since(&self.rules).filter(|_| !was_held && !self.followed.is_empty());
        if let Some(text) = changed
            && let Err(why) = self.queue.hold_back(&text)
        {
            return Some(NothingBegins { why, until: "it is repaired" });
        }
        let held = self.queue.held_back();
        self.away_for_rules = held.is_some();
        if held.is_none() {
            self.rules = rules;
        }
        held.map(|why| NothingBegins { why, until: "it is accepted" })
    }

    /// How many systems are worked on. One that waits for a person takes nobody's place.
    fn working(&self) -> usize {
        let waits = |index: usize| matches!(self.followed[index].status(), Status::Waiting | Status::Halted);
        self.living().into_iter().filter(|(index, _)| !waits(*index)).count()
    }

    /// The first run that nobody drives and that can continue without a person: it comes before a system
    /// that nobody has begun.
    fn next_to_continue(&mut self, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<Option<usize>> {
        let home = Rc::clone(self.queue.home());
        for (index, it) in self.followed.iter_mut().enumerate() {
            if home.holder(&it.row.id).is_some() || self.refused.contains_key(&it.system) {
                continue;
            }
            // Whoever let go of it since the last look, while a system was opened, has written why.
            it.look(&home)?.into_iter().for_each(&mut *tell);
            self.counter.count(it, false);
            let is_due = it.looks_again_at().is_some_and(|it| it <= now());
            let is_left = self.left.contains(&it.row.id);
            let goes_on = match it.status() {
                Status::Ready | Status::Running => true,
                // A person who stopped a run while this pool works wants it stopped.
                Status::Paused | Status::Stopped => is_left,
                Status::Waiting | Status::Halted => {
                    let is_answered = !home.untaken_commands(&it.row.id)?.is_empty();
                    is_left || is_due || is_answered || it.state.was_told_more()
                }
                Status::Capped | Status::Completed | Status::Cancelled => false,
            };
            if goes_on {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The next system to begin. A claim of somebody who was killed before the run had its first event
    /// keeps nobody out.
    fn next_ready(&self) -> anyhow::Result<Option<Job>> {
        let home = self.queue.home();
        let mut found: Option<Job> = None;
        for job in self.queue.jobs()? {
            let may_begin = match &job.run {
                Some(run) => job.system.status != JobStatus::Complete && opened(home, run)?.is_none(),
                None => job.system.status.is_startable(),
            };
            let is_first = found.as_ref().is_none_or(|it| job.system.priority < it.system.priority);
            // What could not be opened would be tried for ever.
            let is_new = !self.refused.contains_key(&job.system.id);
            if may_begin && is_first && is_new && job.waits_for == 0 {
                found = Some(job);
            }
        }
        Ok(found)
    }

    /// What is said of the run of one system: the caps over all are held here, not by each run. Only money and tokens
    /// are held there too, because a run looks at them in the middle of a call.
    fn request_for(&self, system: &str, run: Option<&str>) -> RunRequest {
        let (budget, tokens) = (self.counter.budget_of(run), self.counter.tokens_of(run));
        let input = Some(system.to_owned());
        RunRequest { input, max: None, time: None, budget, tokens, ..self.request.run.clone() }
    }

    fn open(&mut self, job: &Job, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let id = &job.system.id;
        let request = self.request_for(id, None);
        let mut notes = Vec::new();
        let opened = desk::open(self.caller, &request, &mut notes);
        notes.into_iter().for_each(|it| tell(system_line(id, it.text)));
        let row = match opened {
            Ok(OpenReply::Opened(it)) => {
                let (home, run) = (Rc::clone(&it.home), it.run.id.clone());
                // Whoever continues takes the run and its tree, so both are let go here.
                drop(it);
                home.run(&run)?
            }
            Ok(OpenReply::Before(found) | OpenReply::Adopted(found)) => {
                // Another process claimed it meanwhile, or its files were taken over: it is followed.
                Some(*found.row)
            }
            Ok(OpenReply::Question(question)) => return self.refuse(id, question.unasked, tell),
            // Only a preview is answered so.
            Ok(OpenReply::Next(_)) => None,
            Err(refusal) => {
                self.read_queue(tell)?;
                return match self.unreadable {
                    // It is tried again once its entry can be read.
                    Some(_) => Ok(()),
                    None if self.is_taken_elsewhere(id)? => {
                        tell(system_line(id, "not begun: another home works on it".to_owned()));
                        Ok(())
                    }
                    None => self.refuse(id, refusal, tell),
                };
            }
        };
        let Some(row) = row else {
            let text = "its run was deleted".to_owned();
            return self.refuse(id, Refusal { text, next: None, exit: 1 }, tell);
        };
        let home = Rc::clone(self.queue.home());
        let run = Followed::new(&home, id, row)?;
        self.counter.count(&run, true);
        self.followed.retain(|it| it.system != *id);
        self.followed.push(run);
        tell(system_line(id, format!("begins: {}", job.system.name)));
        self.start(self.followed.len() - 1, &Going::default(), tell)
    }

    /// Whether the queue's file says that somebody works on a system, and it is no run of this home.
    fn is_taken_elsewhere(&self, id: &str) -> anyhow::Result<bool> {
        let job = self.queue.job(id)?;
        let is_begun =
            matches!(job.system.status, JobStatus::InProgress | JobStatus::Review | JobStatus::Complete);
        Ok(is_begun && job.run.is_none())
    }

    /// Continues a run that nobody drives.
    fn resume(&mut self, index: usize, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let id = self.followed[index].system.clone();
        self.left.remove(&self.followed[index].row.id);
        let row = self.followed[index].row.clone();
        let request = self.request_for(&id, Some(&row.id));
        let found = FoundRun { home: Rc::clone(self.queue.home()), row: Box::new(row) };
        let mut notes = Vec::new();
        let ready = desk::ready(self.caller, &found, &request, &mut notes);
        notes.into_iter().for_each(|it| tell(system_line(&id, it.text)));
        match ready {
            Ok(Continued::Ready(going)) => {
                tell(system_line(&id, "continues".to_owned()));
                self.start(index, &going, tell)
            }
            Ok(Continued::Done(text)) => self.refuse(&id, Refusal { text, next: None, exit: 5 }, tell),
            Ok(Continued::Anew(why)) => {
                let next = Some(format!("loop run {id} --fresh").into());
                self.refuse(&id, Refusal { text: why.join("; "), next, exit: 5 }, tell)
            }
            Ok(Continued::Question(question)) => self.refuse(&id, question.unasked, tell),
            Err(refusal) => self.refuse(&id, refusal, tell),
        }
    }

    fn start(&mut self, index: usize, going: &Going, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        let home = Rc::clone(self.queue.home());
        let ways = DetachedWays { exits_at_question: true, json: false, quiet: true };
        let followed = &mut self.followed[index];
        let (id, run) = (followed.system.clone(), followed.row.id.clone());
        if home.holder(&run).is_some() {
            return Ok(());
        }
        if VAIN_STARTS_MOST <= followed.vain_starts {
            let text = format!("its controller ended {VAIN_STARTS_MOST} times without a call");
            let next = Some(format!("loop resume --run {}", &run[..8]).into());
            return self.refuse(&id, Refusal { text, next, exit: 1 }, tell);
        }
        match desk::start_controller(self.caller, &home, &followed.row.id, going, ways)? {
            Started::Owns(pid) => {
                followed.started(pid);
                Ok(())
            }
            Started::Failed { out, err, exit } => {
                // A run may be over before it is seen to begin, and somebody else may have taken it.
                let news = followed.look(&home)?;
                if !news.is_empty() || home.holder(&run).is_some() {
                    news.into_iter().for_each(&mut *tell);
                    return Ok(());
                }
                let said = if err.trim().is_empty() { out } else { err };
                let text = said.lines().next().unwrap_or("its controller could not be started").to_owned();
                let next = Some(format!("loop run {id}").into());
                self.refuse(&id, Refusal { text, next, exit }, tell)
            }
        }
    }

    fn refuse(&mut self, id: &str, refusal: Refusal, tell: &mut dyn FnMut(PoolNews)) -> anyhow::Result<()> {
        tell(system_line(id, format!("not begun: {}", refusal.text)));
        self.refused.insert(id.to_owned(), refusal);
        Ok(())
    }

    /// Where nothing could be begun at all, the first refusal is the answer.
    fn only_refusal(&self) -> Option<Refusal> {
        let is_alone = self.followed.is_empty();
        self.refused.values().next().filter(|_| is_alone).cloned()
    }
}

fn system_line(id: &str, line: String) -> PoolNews {
    PoolNews::System { id: id.to_owned(), line, is_detail: false }
}

fn runs(count: usize) -> String {
    loop_base::text::counted(count, "run")
}
