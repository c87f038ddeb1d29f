//! A call from its start to its end: what is sent to the shim, how its answer is awaited, what an
//! earlier controller's call came to, and what all of that means to the engine.

use crate::drive::Performed;
use crate::measure::checks::child_environment::child_environment;
use crate::tree::changes::Change;
use crate::tree::git::GitError;
use crate::world::agent_output::call_cause::{self, hands_on, not_handed_on, waits_in_silence};
use crate::world::agent_output::final_message;
use crate::world::agent_output::final_message::Hearing;
use crate::world::agent_output::live_output::{self, LiveCall, Observed};
use crate::world::before_call;
use crate::world::effects::calling::briefing;
use crate::world::effects::foreign;
use crate::world::real::{CallAllowance, Host, left_process};
use crate::world::wait::WaitResult;
use loop_base::secret::redact;
use loop_core::agents::{self, Detail, Limit};
use loop_core::engine::{Allowance, Call, Ended, Ending, Event, Step, Usage};
use loop_core::prompt;
use loop_core::report::Report;
use loop_core::workflow::model::{LostCall, Protocol};
use loop_store::run::Run;
use loop_supervise::RUN_MARK;
use loop_supervise::find_by_mark;
use loop_supervise::pid_namespace;
use loop_supervise::previous_call::{Attached, PreviousCall, before_restart, find};
use loop_supervise::program_version;
use loop_supervise::protocol::{Bounds, EndReason, Force, Order, OrderEnd as Exit, OrderKind};
use loop_supervise::shim::resources as shim_resources;
use loop_supervise::unstarted;
use loop_supervise::which::executable;
use rustix::fd::AsFd;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// What the next prompt shows of a message that held no report.
const TAIL_SHOWN: usize = 2000;

/// A whole day of verbose streaming is below 200 MB; what is beyond keeps its tail.
const TRANSCRIPT_MOST: u64 = 1 << 30;

/// How long an agent that was asked to end may take to write its result.
const GRACE_MS: u64 = 10_000;

impl Host<'_> {
    /// Leaves the proof that this call was not started, which its shim takes away.
    pub(crate) fn provably_unstarted(&self, call: &Call) -> Call {
        Call { unstarted: Some(unstarted::issue(&self.folder, &call.stem())), ..call.clone() }
    }

    pub(crate) fn work(&mut self, run: &Run, call: &Call) -> anyhow::Result<Performed> {
        if let CallAllowance::Calls(left) = &mut self.allowance {
            *left = left.saturating_sub(1);
        }
        if let Some(why) = self.unfit(run) {
            return Ok(Performed::Done(without_start(call, Ending::Barred { why })));
        }
        if let Some(paused) = self.without_room() {
            return Ok(Performed::Done(paused));
        }
        // It gets ready while the tree is looked at; why it could not is known when it gets its order.
        let _asked_again_below = self.shim.keeper(call.epoch);
        self.clear_stale_locks();
        let kept = self.keep_before(run, call);
        if let Err(error) = kept {
            // Without a snapshot the agent could destroy work for good, so the call is not started.
            return Ok(Performed::Done(not_started(
                call,
                &format!("the working tree could not be kept: {error}"),
            )));
        }
        self.growth.look(run, &self.folder);
        let text = prompt_for(&self.folder, &self.place, run, call);
        let allowance = self.allowance(run);
        let order = match self.order(run, call, text, &allowance) {
            Ok(order) => order,
            Err(why) => return Ok(Performed::Done(not_started(call, &why))),
        };
        let stem = order.stem.clone();
        self.hearing = None;
        let sent = self.shim.keeper(call.epoch).and_then(|it| it.send(order));
        match sent {
            Ok(()) => self.shim.under_way = Some(stem),
            // Whether the shim has it is found out when the call is collected.
            Err(_) => drop(self.shim.bury()),
        }
        Ok(Performed::Begun)
    }

    /// Prepares a call that somebody else carries out, and returns its prompt.
    pub(crate) fn hand_over(&mut self, run: &Run, call: &Call) -> Result<String, GitError> {
        self.keep_before(run, call)?;
        Ok(prompt_for(&self.folder, &self.place, run, call))
    }

    /// Keeps the working tree, and writes down what the call begins with.
    fn keep_before(&mut self, run: &Run, call: &Call) -> Result<(), GitError> {
        let status = match self.status.take() {
            Some(status) => status,
            None => self.tree.status()?,
        };
        self.status = Some(status.clone());
        self.keep()?;
        // Without it the last measurement says what was there.
        let target = foreign::target_now(run);
        let _only_a_cache =
            before_call::note(&self.folder, call, &status.tree, status.commit.as_deref(), target);
        Ok(())
    }

    /// Returns the words that give a call a namespace of its own, where the workflow asks for one.
    pub(crate) fn namespace(&self, run: &Run) -> Option<Vec<OsString>> {
        if !run.workflow.agent.namespace {
            return None;
        }
        self.namespace.get_or_init(pid_namespace::words).clone()
    }

    fn order(&self, run: &Run, call: &Call, text: String, allowance: &Allowance) -> Result<Order, String> {
        let workflow = &run.workflow;
        let phase = &workflow.phases[call.phase];
        let invocation = agents::invocation(
            &workflow.agent,
            &agents::InvocationContext {
                model: call.model.as_deref(),
                usd: allowance.usd.as_ref().map(|it| it.usd),
                turns: allowance.turns,
                root: rustix::process::geteuid().is_root(),
                find: &|name| executable(name, workflow.agent.env.get("PATH")),
                version: &|program| self.version(program),
            },
        )?;
        let row = workflow.agent.cli.row().expect("it was just asked for its invocation");
        let (role, skill) = match &call.step {
            Step::Main => (phase.role.as_str(), ""),
            Step::Skill(skill) | Step::Fix(skill) => (phase.role.as_str(), skill.as_str()),
        };
        let item = call.item.as_ref().map(|it| it.id.clone()).unwrap_or_default();
        let result = final_message::result_file(&self.folder, call).to_string_lossy().into_owned();
        let (iteration, number) = (call.iteration.to_string(), call.number.to_string());
        let mut set = vec![
            (RUN_MARK, self.run_id.as_str()),
            ("LOOP_PHASE", &phase.name),
            ("LOOP_ITERATION", &iteration),
            ("LOOP_CALL", &number),
            ("LOOP_ROLE", role),
            ("LOOP_SKILL", skill),
            ("LOOP_MODEL", call.model.as_deref().unwrap_or("")),
            ("LOOP_ITEM", &item),
            ("LOOP_RESULT_FILE", &result),
        ];
        set.extend(invocation.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let limits = &workflow.agent;
        let identity = if row.hides_git_config { self.tree.pinned.identity() } else { Vec::new() };
        let is_set = |name: &str| std::env::var_os(name).is_some() || limits.env.contains_key(name);
        let committer = identity.iter().filter(|it| !is_set(it.0));
        set.extend(committer.map(|(name, value)| (*name, value.as_str())));
        let before = self.namespace(run).unwrap_or_default();
        Ok(Order {
            stem: call.stem(),
            kind: OrderKind::Call,
            argv: before.into_iter().chain(invocation.argv.iter().map(OsString::from)).collect(),
            cwd: self.place.clone(),
            env: child_environment(&set, &|name| hands_on(row, limits, name)),
            stdin: text,
            bounds: Bounds {
                first_ms: limits.first_timeout,
                idle_ms: limits.idle_timeout,
                total_ms: limits.timeout.min(allowance.ms.map_or(u64::MAX, |it| it.0.max(1))),
                pipe_ms: 2000,
                grace_ms: GRACE_MS,
                out_bytes: TRANSCRIPT_MOST,
                memory_bytes: limits.memory_mb.map_or(u64::MAX, |it| it.saturating_mul(1 << 20)),
                processes: limits.processes.unwrap_or(u64::MAX),
            },
        })
    }

    /// Returns the version of an agent's program, which is asked once.
    fn version(&self, program: &str) -> Option<String> {
        let path = Path::new(program);
        self.version.get_or_init(|| program_version::version(path)).clone()
    }

    /// Waits for the call that our shim has, or finds out what became of one that another
    /// controller began.
    pub(crate) fn collect(&mut self, run: &Run, call: &Call) -> anyhow::Result<Performed> {
        let unwanted = run.state.wish_is_urgent();
        let exit = if self.shim.under_way.as_ref() == Some(&call.stem()) {
            self.await_own(run, call, unwanted)?
        } else {
            self.await_found(run, call, unwanted)?
        };
        self.shim.under_way = None;
        self.growth.add(exit.out_bytes + exit.err_bytes);
        self.stay()?;
        Ok(Performed::Done(Event::Ended(Box::new(self.ended(run, call, exit)))))
    }

    fn await_own(&mut self, run: &Run, call: &Call, unwanted: bool) -> anyhow::Result<Exit> {
        let mut asked = false;
        let mut ending = false;
        let mut live: Option<LiveCall> = None;
        let mut caps = self.call_caps(run, call);
        loop {
            if self.is_beyond(run, call, &mut caps) {
                let keeper = self.shim.keeper.as_mut().expect("it has the call");
                keeper.interrupt(Force::Soft)?;
                ending = true;
                self.money.cut_off.clone_from(&caps.passed);
            }
            let keeper = self.shim.keeper.as_mut().expect("it has the call");
            match keeper.answer() {
                Ok(Some(exit)) => {
                    self.tell_the_rest(run, call, live);
                    return Ok(exit);
                }
                Ok(None) => (),
                Err(error) => {
                    let swept = self.shim.bury();
                    let lost = Exit::without_exit(EndReason::Lost(format!("{error}, possibly by the agent")));
                    return Ok(Exit { swept: swept.ended, left: swept.left, ..lost });
                }
            }
            if keeper.has_grown() {
                let hearing = &mut self.hearing;
                hearing.get_or_insert_with(|| Hearing::of(&self.folder, &run.workflow.agent, call)).read_on();
            }
            if unwanted && !asked {
                asked = true;
                keeper.interrupt(Force::Soft)?;
            }
            let nap = if self.onlooker.is_some() { live_output::EVERY } else { Duration::MAX };
            let nap = nap.min(caps.nap());
            let heard = self.shim.listener.listen(Some(keeper.as_fd()), keeper.patience().min(nap));
            // Whoever wants the call to end gets that, also where the wish could not be written down.
            let heard = match heard {
                Ok(heard) => heard,
                Err(error) => {
                    if keeper.end().is_err() {
                        self.shim.bury();
                    }
                    return Err(error);
                }
            };
            match heard {
                WaitResult::Now { impatient: false } => {
                    keeper.interrupt(Force::Soft)?;
                    ending = true;
                    self.money.cut_off = None;
                    if let Some(onlooker) = &mut self.onlooker {
                        onlooker(&Observed::Note(
                            "asked to end within 10 s; the same signal again ends it at once",
                        ));
                    }
                }
                WaitResult::Now { impatient: true } => keeper.interrupt(Force::Hard)?,
                WaitResult::Nothing => {
                    keeper.end_if_overdue()?;
                    if let (Some(onlooker), Some(cli), false) =
                        (&mut self.onlooker, run.workflow.agent.cli.row(), ending)
                    {
                        let output = self.folder.join(format!("{}.out", call.stem()));
                        let live = live
                            .get_or_insert_with(|| LiveCall::at(&output, cli, &self.place, Detail::Results));
                        onlooker(&Observed::Call(&live.look()));
                    }
                }
                WaitResult::Answer | WaitResult::Command => (),
            }
        }
    }

    /// Tells the onlooker what the call wrote since the last look.
    fn tell_the_rest(&mut self, run: &Run, call: &Call, live: Option<LiveCall>) {
        let (Some(onlooker), Some(cli)) = (&mut self.onlooker, run.workflow.agent.cli.row()) else {
            return;
        };
        let output = self.folder.join(format!("{}.out", call.stem()));
        let mut live = live.unwrap_or_else(|| LiveCall::at(&output, cli, &self.place, Detail::Results));
        onlooker(&Observed::Call(&live.finish()));
    }

    fn await_found(&mut self, run: &Run, call: &Call, unwanted: bool) -> anyhow::Result<Exit> {
        loop {
            match find(&self.folder, &call.stem(), call.epoch, call.unstarted.as_deref())? {
                PreviousCall::NotStarted => return Ok(Exit::without_exit(EndReason::NotStarted)),
                PreviousCall::Ended(exit) => return Ok(exit),
                PreviousCall::Lost(why) => {
                    // Neither controller nor shim was there to clean up.
                    let is_same_boot = !matches!(before_restart(&self.folder, call.epoch), Ok(true));
                    self.uncontained = is_same_boot
                        && !shim_resources::is_contained(&self.folder, call.epoch)
                        && self.namespace(run).is_none();
                    let mut left = shim_resources::clear(&self.folder, call.epoch);
                    left.extend(find_by_mark::end_marked(&self.run_id));
                    return Ok(Exit { left, ..Exit::without_exit(EndReason::Lost(why)) });
                }
                PreviousCall::Live(attached) => self.await_attached(run, call, &attached, unwanted)?,
            }
        }
    }

    fn await_attached(
        &mut self,
        run: &Run,
        call: &Call,
        attached: &Attached,
        unwanted: bool,
    ) -> anyhow::Result<()> {
        if unwanted {
            attached.interrupt(Force::Soft)?;
        }
        let mut caps = self.call_caps(run, call);
        loop {
            if self.is_beyond(run, call, &mut caps) {
                attached.interrupt(Force::Soft)?;
                self.money.cut_off.clone_from(&caps.passed);
            }
            let heard = self.shim.listener.listen(Some(attached.as_fd()), caps.nap());
            if heard.is_err() {
                attached.interrupt(Force::Soft)?;
            }
            match heard? {
                WaitResult::Answer => return Ok(()),
                WaitResult::Now { impatient: false } => attached.interrupt(Force::Soft)?,
                WaitResult::Now { impatient: true } => attached.interrupt(Force::Hard)?,
                WaitResult::Command | WaitResult::Nothing => (),
            }
        }
    }

    /// What a lost call left is put back, where the workflow says so.
    pub(crate) fn why_lost(&mut self, run: &Run, call: &Call, why: String) -> String {
        match run.workflow.workspace.lost_call {
            LostCall::Judge => why,
            LostCall::Undo => match self.undo_lost(call) {
                Ok(None) => why,
                Ok(Some(undone)) => format!("{why}; {undone}"),
                Err(error) => format!("{why}; its changes could not be undone: {error}"),
            },
        }
    }

    /// What the call changed, if that is where its report is.
    pub(crate) fn changed_files_for_report(&mut self, run: &Run, call: &Call) -> Changed {
        reports_by_file(run, call).then(|| self.changed_by_call())
    }

    /// Turns an exit into what the engine needs to know: how it ended, and what the agent said.
    fn ended(&mut self, run: &Run, call: &Call, exit: Exit) -> Ended {
        let workflow = &run.workflow;
        let never_ran = matches!(exit.how, EndReason::CouldNotStart(_) | EndReason::NotStarted);
        let mut ending = self.ending(run, call, &exit);
        self.money.cut_off = None;
        let started = ending != Ending::NotStarted;
        let mut usage = Usage::default();
        let mut report = Report::default();
        let mut said_tail = String::new();
        let mut warning = None;
        let (mut model, mut session, mut complaint, mut denied) = (None, None, None, None);
        if started {
            let said =
                final_message::read(&self.folder, &workflow.agent, call, exit.code, self.hearing.take());
            complaint = said.complaint.clone();
            usage = match never_ran {
                true => Usage::nothing(),
                false => self.priced(run, call, &said.usage, said.model.as_deref()),
            };
            denied = said.denied();
            (model, session) = (said.model.clone(), said.session.clone());
            // An agent that waited for a network or its provider until its time was over does not hang.
            let waited = matches!(ending, Ending::TimedOut { .. }) && said.waited && said.limit.is_some();
            if let (Ending::Done | Ending::Failed { .. }, _, Some(why)) | (_, true, Some(why)) =
                (&ending, waited, said.trouble.clone())
            {
                let why = not_handed_on(&workflow.agent, why, &said);
                ending = call_cause::ending(workflow, &said, why);
                if let (Ending::Limited { why, until: Some(until) }, Some(Limit::Plan { .. })) =
                    (&ending, said.limit)
                {
                    self.shim.listener.hold(&run.account, *until, why);
                }
            } else if let (Ending::TimedOut { why }, true) = (&ending, waits_in_silence(workflow, &said)) {
                let why = format!("{why}; it was probably waiting for its provider");
                ending = Ending::Unreachable { why };
            }
            let changes = self.changed_files_for_report(run, call);
            report = final_message::report(&self.folder, &self.place, run, call, &said.message, changes);
            final_message::redact_result_file(&self.folder, call);
            report.notes.extend(denied.clone());
            report.notes.extend(said.usage.is_absurd.then(|| ABSURD_USAGE.to_owned()));
            report.notes.extend(exit.trouble);
            if let Some(warned) = said.warning {
                self.shim.listener.warn(&run.account, &warned);
                warning = Some(warned.text);
            }
            said_tail = last_characters(&said.message, TAIL_SHOWN);
        }
        let commits = self.commits_of_unjudged(run, call, &ending);
        Ended {
            call: call.number,
            ending,
            report,
            usage,
            ms: exit.ms,
            bytes: exit.out_bytes,
            swept: exit.swept,
            uncontained: std::mem::take(&mut self.uncontained),
            warning,
            context: briefing::noted(&self.folder, call),
            model,
            session,
            complaint,
            denied,
            commits,
            left: exit.left.into_iter().map(left_process).collect(),
            tail: said_tail,
        }
    }
}

const ABSURD_USAGE: &str = "the agent reports more tokens than any call can use; they are not counted";

/// The files that a call changed, where its report is one of them.
pub(crate) type Changed = Option<Result<Vec<Change>, GitError>>;

fn not_started(call: &Call, why: &str) -> Event {
    without_start(call, Ending::Failed { why: why.to_owned() })
}

fn without_start(call: &Call, ending: Ending) -> Event {
    let ended = Ended::plain(call.number, ending, Report::default());
    Event::Ended(Box::new(Ended { usage: Usage::nothing(), ..ended }))
}

/// Says whether a call reports by a file in the working tree.
pub(crate) fn reports_by_file(run: &Run, call: &Call) -> bool {
    match &run.workflow.phases[call.phase].report {
        Protocol::Frontmatter(_) => true,
        Protocol::Json | Protocol::PrpStatus | Protocol::ExitSignal | Protocol::Promise | Protocol::None => {
            false
        }
    }
}

/// Renders the prompt of a call and adds it to the run's prompts.
pub(crate) fn prompt_for(folder: &Path, place: &Path, run: &Run, call: &Call) -> String {
    let gathered = briefing::gather(place, &run.workflow, &run.state, call);
    let (context, briefing) = gathered.unzip();
    if let Some(briefing) = &briefing {
        briefing::note(folder, call, briefing);
    }
    let context = context.unwrap_or_default();
    let text = redact(&prompt::render(&run.workflow, &run.state, call, &context)).into_owned();
    note_prompt(folder, call, &text);
    text
}

/// Returns what a call came to that somebody else carried out, by its last message and, where its
/// protocol needs them, the files that it changed.
pub(crate) fn handed_back(
    folder: &Path,
    place: &Path,
    run: &Run,
    call: &Call,
    message: &str,
    changes: Changed,
) -> Ended {
    let report = final_message::report(folder, place, run, call, message, changes);
    Ended {
        bytes: message.len() as u64,
        tail: last_characters(message, TAIL_SHOWN),
        ..Ended::plain(call.number, Ending::Done, report)
    }
}

/// Prompts of a run lie in one file, a JSON object a line: for people, not for deciding.
fn note_prompt(folder: &Path, call: &Call, text: &str) {
    use std::io::Write;
    // One write: a formatter would make one for every piece of every line.
    let line = format!("{}\n", serde_json::json!({ "call": call.stem(), "prompt": text }));
    let file = loop_base::files::ours().create(true).append(true).open(folder.join("prompts.jsonl"));
    let _for_people_only = file.and_then(|mut it| it.write_all(line.as_bytes()));
}

fn last_characters(text: &str, most: usize) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(most)).collect()
}
