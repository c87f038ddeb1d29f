//! A run whose agent we do not start: a session of the agent does the work and calls us whenever it
//! wants to stop. Everything is decided as always; only three effects differ. Work is carried out
//! elsewhere: its prompt is what the hook answers. Collecting a call takes what the session said.
//! And checks run only after a promise, and only as long as the hook may take.

mod file_stamps;
mod head;
mod ignore_rules;
mod own_paths;
mod settings;
mod stop_input;
mod transcript;
mod tree_changes;

use crate::drive::{Performed, World};
use crate::world::effects::calling::calls::{handed_back, prompt_for, reports_by_file};
use crate::world::effects::calling::caps::reserve;
use crate::world::effects::closing::proving::{InTime, is_proven};
use crate::world::real::{CallAllowance, Host, Watcher};
use crate::world::wait::{Listener, Signals, now};
use file_stamps::Marks;
use loop_base::time::{Timestamp, length};
use loop_core::engine::{
    Baseline, Call, CheckOutcome, CheckResult, Effect, Ended, Ending, Event, Evidence, How, News, Station,
};
use loop_core::proof::ProofStep;
use loop_store::Home;
use loop_store::run::Run;
use own_paths::OwnPaths;
pub(crate) use settings::{install, installed, is_only_installed, remove};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
pub(crate) use stop_input::Stop;
pub(crate) use transcript::last_message;
#[cfg(test)]
pub(crate) use transcript::last_of as last_words;

/// A build that starts cold may be cut once or twice and be quick afterwards; what is cut again
/// and again does not fit into a hook.
const CUTS_MOST: u32 = 3;

/// A session is held so often for a proof that is under way.
pub(crate) const PROOF_BLOCKS_MOST: u32 = 3;

/// The agent ends a turn that was blocked so many times in a row.
const BLOCKS_MOST: u32 = 8;

/// Where a session works, and on what.
pub(crate) struct Setting<'a> {
    pub home: Rc<Home>,
    pub place: &'a Path,
    /// The run's folder.
    pub folder: PathBuf,
    pub input: Option<PathBuf>,
    /// The paths that belong to the run rather than to the work.
    pub ours: &'a [String],
}

impl Setting<'_> {
    /// Looks at the tree without git, where that is possible.
    fn marks(&self) -> Option<Marks> {
        Marks::take(self.place, &OwnPaths::read(self.ours))
    }
}

/// The world of a run that a session works on.
pub(crate) struct HookWorld<'a> {
    setting: Setting<'a>,
    /// Who joined, and what somebody did to the run's files, until it is recorded.
    news: Vec<(Timestamp, News)>,
    /// What starts processes. Most stops need none, and preparing for them costs more than the rest
    /// of the decision.
    host: Option<Host<'a>>,
    watcher: Watcher<'a>,
    timeout: Duration,
    until: Option<Instant>,
    /// What the session said, until it is taken.
    said: Option<String>,
    /// The tree as it is, where it was just looked at.
    marks: Option<Marks>,
    /// What the session is to do next.
    pub prompt: Option<String>,
    /// The checks would have taken longer than the hook may, or the agent lost its patience.
    pub cut: bool,
    /// A proof that continues beside the session.
    pub proof: Option<UnderWay>,
}

/// A proof that did not fit into the time of a stop.
pub(crate) struct UnderWay {
    expected_s: Option<f64>,
}

impl UnderWay {
    /// Returns what the session is told.
    pub(crate) fn words(&self) -> String {
        let long = match self.expected_s {
            Some(seconds) => format!("about {:.0} s more", seconds.max(1.0)),
            None => "a few times as long as the checks".to_owned(),
        };
        format!(
            "The work is being proven in a clean checkout, which takes {long}. Change nothing; run `loop wait`, \
             which returns when the proof is done, then say in one sentence that you are done and stop again"
        )
    }
}

impl<'a> HookWorld<'a> {
    pub(crate) fn new(
        setting: Setting<'a>,
        news: Vec<(Timestamp, News)>,
        said: Option<String>,
        timeout: Duration,
        watcher: Watcher<'a>,
    ) -> HookWorld<'a> {
        HookWorld {
            setting,
            news,
            host: None,
            watcher,
            timeout,
            until: Instant::now().checked_add(timeout),
            said,
            marks: None,
            prompt: None,
            cut: false,
            proof: None,
        }
    }

    fn host(&mut self, run: &Run) -> anyhow::Result<&mut Host<'a>> {
        if self.host.is_none() {
            let Setting { home, place, input, ours, .. } = &self.setting;
            let mut listener = Listener::new(Rc::clone(home), &run.id, Signals::listen()?)?;
            // The agent ends a hook that takes too long; that is no wish of a person's.
            listener.pauses = false;
            let watcher = Box::new(|_: &Run, _: &[_]| Vec::new());
            let mut host =
                Host::new(listener, run, place, input.clone(), ours, CallAllowance::Free, watcher)?;
            host.shim.until = self.until;
            self.host = Some(host);
        }
        Ok(self.host.as_mut().expect("it was just made"))
    }

    fn collect(&mut self, run: &Run, call: &Call) -> Option<Event> {
        let said = self.said.take()?;
        // A run that cannot look at its tree finds no report, and says so.
        let changes = if reports_by_file(run, call) {
            self.host(run).ok().and_then(|it| it.changed_files_for_report(run, call))
        } else {
            None
        };
        let Setting { folder, place, .. } = &self.setting;
        let mut ended: Ended = handed_back(folder, place, run, call, &said, changes);
        if run.state.wish_is_urgent() {
            ended.ending = Ending::Interrupted;
        }
        Some(Event::Ended(Box::new(ended)))
    }

    /// Hands the next call over. Where git is at work anyway, the tree is kept in a snapshot first.
    fn work(&mut self, run: &Run, call: &Call) -> anyhow::Result<Performed> {
        // Where the report is a file, the tree before the call has to be known.
        if reports_by_file(run, call) {
            self.host(run)?;
        }
        self.prompt = Some(match &mut self.host {
            Some(host) => host.hand_over(run, call)?,
            None => prompt_for(&self.setting.folder, self.setting.place, run, call),
        });
        if let Some(marks) = self.marks.take().or_else(|| self.setting.marks()) {
            marks.keep(&self.setting.folder, call.number);
        }
        if call.number == 1 && is_proven(run) {
            self.host(run)?.leave_baseline_to_prover(run);
        }
        Ok(Performed::Elsewhere)
    }

    /// The tree is looked at after every stop. Checks cost the session's time, so they wait for a
    /// promise: without one nothing that they say could end the phase.
    fn measure(
        &mut self,
        run: &Run,
        checks: &[String],
        deliverables: &[String],
    ) -> anyhow::Result<Performed> {
        let promised =
            matches!(&run.state.station, Station::Reported(turn) if turn.ended.report.signal.is_some());
        let look = Effect::Measure { checks: Vec::new(), deliverables: deliverables.to_vec() };
        if !promised || checks.is_empty() {
            let performed = self.host(run)?.perform(&look, run)?;
            return Ok(self.corrected(run, performed));
        }
        let whole = Effect::Measure { checks: checks.to_vec(), deliverables: deliverables.to_vec() };
        let performed = self.host(run)?.perform(&whole, run)?;
        if !self.was_cut(&performed) {
            return Ok(self.corrected(run, performed));
        }
        let cuts = run.state.session.as_ref().map_or(0, |it| it.cuts);
        if cuts + 1 < CUTS_MOST || self.is_told_to_end() {
            self.cut = true;
            return Ok(Performed::Elsewhere);
        }
        let Performed::Done(Event::Measured(evidence)) = self.host(run)?.perform(&look, run)? else {
            return Ok(Performed::Elsewhere);
        };
        let results = checks.iter().map(|it| too_slow(it, self.timeout)).collect();
        let measured = Event::Measured(Box::new(Evidence { results, ..*evidence }));
        Ok(self.corrected(run, Performed::Done(measured)))
    }

    /// A step of the proof that does not fit into the hook's time continues without it.
    fn prove(&mut self, run: &Run, step: ProofStep) -> anyhow::Result<Performed> {
        let Some(until) = self.until else {
            return self.host(run)?.perform(&Effect::Prove(step), run);
        };
        Ok(match self.host(run)?.prove_until(run, step, until)? {
            InTime::Done(event) => Performed::Done(event),
            InTime::GoesOn { expected_s } => {
                self.proof = Some(UnderWay { expected_s });
                Performed::Elsewhere
            }
            InTime::Moved => {
                let why = vec!["the tree was changed after it was judged, so it is judged again".to_owned()];
                let how = How::Unproven { why, by_person: true };
                Performed::Done(Event::Entered { phase: run.state.phase, how })
            }
        })
    }

    fn was_cut(&self, performed: &Performed) -> bool {
        let out_of_time = self.until.is_some_and(|it| it <= Instant::now());
        (out_of_time || self.is_told_to_end()) && matches!(performed, Performed::Begun)
    }

    /// Whether the agent has lost its patience with us, or a person with the agent.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.host.as_ref().is_some_and(|it| 0 < it.shim.listener.signals.count)
    }

    /// Where the hook has no time for it, the run continues without knowing what failed before.
    fn baseline(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let performed = self.host(run)?.perform(&Effect::Baseline, run)?;
        if !self.was_cut(&performed) {
            return Ok(performed);
        }
        let look = Effect::Measure { checks: Vec::new(), deliverables: Vec::new() };
        let Performed::Done(Event::Measured(evidence)) = self.host(run)?.perform(&look, run)? else {
            return Ok(Performed::Elsewhere);
        };
        let baseline = Baseline { results: Vec::new(), facts: evidence.facts, ms: 0, opening: None };
        Ok(Performed::Done(Event::Baselined(baseline)))
    }
}

impl World for HookWorld<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn news(&mut self) -> Vec<(Timestamp, News)> {
        std::mem::take(&mut self.news)
    }

    fn takes(&self, effect: &Effect) -> bool {
        !matches!(effect, Effect::Sleep { .. })
    }

    /// The session's words are at hand, and so is what the tree shows without git. Both could be found
    /// out again, so what follows from them shares their commit.
    fn knows(&mut self, effect: &Effect, run: &Run) -> Option<Event> {
        match effect {
            Effect::Collect(call) => self.collect(run, call),
            Effect::Measure { deliverables, .. } => self.measure_without_git(run, deliverables),
            Effect::Work(call) => reserve(&self.setting.home, run, call).err().map(Event::Held),
            Effect::Workspace
            | Effect::List
            | Effect::Contain
            | Effect::Baseline
            | Effect::Prove(_)
            | Effect::Conclude
            | Effect::Confirm
            | Effect::Land
            | Effect::ProveMerge
            | Effect::Move(_)
            | Effect::Look
            | Effect::Sleep { .. }
            | Effect::Ask(_)
            | Effect::Tell
            | Effect::Finish => None,
        }
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        match effect {
            Effect::Work(call) => self.work(run, call),
            // Whatever the session said is taken; it says more at its next stop.
            Effect::Collect(_) => Ok(Performed::Elsewhere),
            Effect::Measure { checks, deliverables } => self.measure(run, checks, deliverables),
            Effect::Baseline => self.baseline(run),
            Effect::Prove(step) => self.prove(run, *step),
            Effect::Ask(_) if run.workflow.notify.is_none() => {
                Ok(Performed::Done(Event::Told { trouble: None }))
            }
            Effect::Workspace
            | Effect::List
            | Effect::Contain
            | Effect::Conclude
            | Effect::Confirm
            | Effect::Land
            | Effect::ProveMerge
            | Effect::Move(_)
            | Effect::Look
            | Effect::Sleep { .. }
            | Effect::Ask(_)
            | Effect::Tell
            | Effect::Finish => self.host(run)?.perform(effect, run),
        }
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
        (self.watcher)(run, facts)
    }
}

fn too_slow(name: &str, timeout: Duration) -> CheckResult {
    let took = length(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let why = format!("it takes longer than the {took} that the hook may take; raise its timeout");
    CheckResult::plain(name, CheckOutcome::Failed(why))
}

/// Returns what the hook answers so that the session continues: the prompt for the agent, and a line
/// for the person.
pub(crate) fn block(run: &Run, reason: &str, cap_lifted: bool) -> String {
    let state = &run.state;
    let most =
        state.iterations_limit(&run.workflow).map(|it| format!(" of at most {it}")).unwrap_or_default();
    let iteration = state.iterations_shown(&run.workflow) + 1;
    let mut message = format!(
        "loop: iteration {iteration}{most} of {}; loop status shows it, loop cancel ends it",
        state.opening.document().lines().next().unwrap_or_default()
    );
    let stops = state.session.as_ref().map_or(0, |it| it.stops);
    if BLOCKS_MOST <= stops + 1 && !cap_lifted {
        message.push_str(&format!(
            ". This was block {stops} in a row; after {BLOCKS_MOST} the agent stops anyway. To lift that limit, start \
             it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0; or say anything, and the loop continues"
        ));
    }
    serde_json::json!({ "decision": "block", "reason": reason, "systemMessage": message }).to_string()
}

/// Returns what the session is told when its promise could not be checked in time.
pub(crate) fn carried_over(timeout: Duration) -> String {
    let took = length(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    format!(
        "The checks did not end within the {took} that the hook may take. They are carried over: change nothing, say in one \
         sentence that you are done, and stop again; they are run once more then. A check that needs longer does so \
         because of its own work or a cold cache: running it yourself first makes it quicker."
    )
}
