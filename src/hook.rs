//! A run whose agent we do not start: a session of the agent does the work and calls us whenever it
//! wants to stop. Everything is decided as always; only three effects differ. Work is carried out
//! elsewhere: its prompt is what the hook answers. Collecting a call takes what the session said.
//! And checks run only after a promise, and only as long as the hook may take.

mod settings;
mod stop;
mod transcript;

use crate::drive::{Performed, World};
use crate::engine::{Baseline, CheckOutcome, CheckResult, Effect, Ended, Ending, Event, Evidence, Station};
use crate::host::world::Host;
use crate::store::run::Run;
use crate::time::{Timestamp, length};
pub(crate) use settings::install;
use std::time::{Duration, Instant};
pub(crate) use stop::Stop;
pub(crate) use transcript::last_message;

/// A build that starts cold may be cut once or twice and be quick afterwards; what is cut again
/// and again does not fit into a hook.
const CUTS_MOST: u32 = 3;

/// The agent ends a turn that was blocked so many times in a row.
const BLOCKS_MOST: u32 = 8;

/// The world of a run that a session works on.
pub(crate) struct Visit<'a> {
    host: Host<'a>,
    timeout: Duration,
    /// What the session said, until it is taken.
    said: Option<String>,
    /// What the session is to do next.
    pub prompt: Option<String>,
    /// The checks would have taken longer than the hook may.
    pub cut: bool,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(mut host: Host<'a>, said: Option<String>, timeout: Duration) -> Visit<'a> {
        host.until = Instant::now().checked_add(timeout);
        Visit { host, timeout, said, prompt: None, cut: false }
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
            return self.host.perform(&look, run);
        }
        let whole = Effect::Measure { checks: checks.to_vec(), deliverables: deliverables.to_vec() };
        let performed = self.host.perform(&whole, run)?;
        if !self.was_cut(&performed) {
            return Ok(performed);
        }
        let cuts = run.state.session.as_ref().map_or(0, |it| it.cuts);
        if cuts + 1 < CUTS_MOST {
            self.cut = true;
            return Ok(Performed::Elsewhere);
        }
        let Performed::Done(Event::Measured(evidence)) = self.host.perform(&look, run)? else {
            return Ok(Performed::Elsewhere);
        };
        let results = checks.iter().map(|it| too_slow(it, self.timeout)).collect();
        Ok(Performed::Done(Event::Measured(Box::new(Evidence { results, ..*evidence }))))
    }

    fn was_cut(&self, performed: &Performed) -> bool {
        let out_of_time = self.host.until.is_some_and(|it| it <= Instant::now());
        out_of_time && matches!(performed, Performed::Begun)
    }

    /// Where the hook has no time for it, the run goes on without knowing what failed before.
    fn baseline(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let performed = self.host.perform(&Effect::Baseline, run)?;
        if !self.was_cut(&performed) {
            return Ok(performed);
        }
        let look = Effect::Measure { checks: Vec::new(), deliverables: Vec::new() };
        let Performed::Done(Event::Measured(evidence)) = self.host.perform(&look, run)? else {
            return Ok(Performed::Elsewhere);
        };
        let baseline = Baseline { results: Vec::new(), facts: evidence.facts, ms: 0 };
        Ok(Performed::Done(Event::Baselined(baseline)))
    }
}

impl World for Visit<'_> {
    fn now(&self) -> Timestamp {
        self.host.now()
    }

    fn takes(&self, effect: &Effect) -> bool {
        !matches!(effect, Effect::Sleep { .. })
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        match effect {
            Effect::Work(call) => {
                self.prompt = Some(self.host.hand_over(run, call)?);
                Ok(Performed::Elsewhere)
            }
            Effect::Collect(call) => {
                let Some(said) = self.said.take() else { return Ok(Performed::Elsewhere) };
                let mut ended: Ended = self.host.handed_back(run, call, &said);
                if run.state.wish_is_urgent() {
                    ended.ending = Ending::Interrupted;
                }
                Ok(Performed::Done(Event::Ended(Box::new(ended))))
            }
            Effect::Measure { checks, deliverables } => self.measure(run, checks, deliverables),
            Effect::Baseline => self.baseline(run),
            Effect::Workspace
            | Effect::List
            | Effect::Contain
            | Effect::Sleep { .. }
            | Effect::Ask(_)
            | Effect::Finish => self.host.perform(effect, run),
        }
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<Event> {
        self.host.committed(run, facts)
    }
}

fn too_slow(name: &str, timeout: Duration) -> CheckResult {
    let took = length(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let why = format!("it takes longer than the {took} that the hook may take; raise its timeout");
    CheckResult::plain(name, CheckOutcome::Failed(why))
}

/// Returns what the hook answers so that the session goes on: the prompt for the agent, and a line
/// for the person.
pub(crate) fn block(run: &Run, reason: &str, cap_lifted: bool) -> String {
    let state = &run.state;
    let most =
        state.iterations_limit(&run.workflow).map(|it| format!(" of at most {it}")).unwrap_or_default();
    let iteration = state.visit.iteration + 1;
    let mut message = format!(
        "loop: iteration {iteration}{most} of {}; loop status shows it, loop cancel ends it",
        state.opening.document().lines().next().unwrap_or_default()
    );
    let stops = state.session.as_ref().map_or(0, |it| it.stops);
    if BLOCKS_MOST <= stops + 1 && !cap_lifted {
        message.push_str(&format!(
            ". This was block {stops} in a row; after {BLOCKS_MOST} the agent stops all the same. To lift that, start \
             it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0; or say anything, and the loop goes on"
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
