//! Caps around a call: what is set aside before it begins, what it may use, whether it has used that up
//! while it works, and what it cost in the end. What is allowed is the engine's to say; here it is looked
//! at and carried out.

use crate::world::agent_output::codex_rollout;
use crate::world::agent_output::final_message::{Hearing, codex_home};
use crate::world::price_list;
use crate::world::real::Host;
use crate::world::wait::now;
use loop_core::agent_table::UsageTold;
use loop_core::agents::AgentUsage;
use loop_core::engine::{Allowance, Call, Event, Hold, HoldKind, Usage, allowance, day_full};
use loop_core::prices::{Price, PriceList};
use loop_store::run::Run;
use loop_store::{Home, Reservation, Reserved};
use std::time::{Duration, Instant};

/// How often a call is looked at that has a cap. A request to a model takes seconds, so a call continues for
/// one request at most after its cap is passed. Without a cap nothing is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a call may use, and why it was ended.
pub(crate) struct CallCaps {
    stem: String,
    allowance: Allowance,
    told: UsageTold,
    looked: Option<Instant>,
    /// Why it was asked to end.
    pub passed: Option<String>,
}

impl CallCaps {
    /// How long to wait at most before it is looked at again.
    pub(crate) fn nap(&self) -> Duration {
        let is_watched = self.allowance.is_limited() && self.passed.is_none();
        if is_watched && self.told != UsageTold::Never { LOOK_EVERY } else { Duration::MAX }
    }
}

/// Sets aside what a call may cost, where runs share a cap, in a write of its own. Returns what is left of
/// the day's cap for it, or why the call may not begin.
pub(crate) fn reserve(home: &Home, run: &Run, call: &Call) -> Result<Option<f64>, Hold> {
    let Some(most) = run.workflow.limits.day_usd else { return Ok(None) };
    let usd = run.state.expected_call_usd(&run.workflow).unwrap_or_default();
    let wanted = Reservation { run: &run.id, call: call.number, attempt: call.attempt, usd, at: now() };
    match home.reserve(&wanted, most) {
        Ok(Reserved::Granted { left }) => Ok(Some(left)),
        Ok(Reserved::Full { spent, reserved }) => Err(day_full(most, spent, reserved)),
        Err(error) => {
            let reason = format!("no money could be reserved for the next call: {error}");
            Err(Hold { kind: HoldKind::Paused, reason })
        }
    }
}

impl Host<'_> {
    /// Takes a slot for a call and sets aside what it may cost. Returns why the call may not begin.
    pub(crate) fn set_aside(&mut self, run: &Run, call: &Call) -> Option<Event> {
        if let Some(waits) = self.take_slot(run, call) {
            return Some(waits);
        }
        match reserve(&self.shim.listener.shared_home(), run, call) {
            Ok(left) => {
                self.money.day_left = left;
                None
            }
            Err(hold) => {
                self.leave_slot(run);
                Some(Event::Held(hold))
            }
        }
    }

    /// Returns what a call may use.
    pub(crate) fn allowance(&mut self, run: &Run) -> Allowance {
        if let (Some(most), None) = (run.workflow.limits.day_usd, self.money.day_left) {
            let left = self.shim.listener.shared_home().day_left(&run.id, now(), most);
            self.money.day_left = Some(left.unwrap_or_default());
        }
        allowance(&run.workflow, &run.state, self.money.day_left)
    }

    /// Returns the caps of a call that is under way.
    pub(crate) fn call_caps(&mut self, run: &Run, call: &Call) -> CallCaps {
        let row = run.workflow.agent.cli.row();
        CallCaps {
            stem: call.stem(),
            allowance: self.allowance(run),
            told: row.map_or(UsageTold::Never, |it| it.usage.told),
            looked: None,
            passed: None,
        }
    }

    /// Looks whether a call has used up what it may. Says so once.
    pub(crate) fn is_beyond(&mut self, run: &Run, call: &Call, caps: &mut CallCaps) -> bool {
        let is_due = caps.looked.is_none_or(|it| LOOK_EVERY <= it.elapsed());
        if caps.nap() == Duration::MAX || !is_due || caps.stem != call.stem() {
            return false;
        }
        caps.looked = Some(Instant::now());
        let agent = &run.workflow.agent;
        let hearing = self.hearing.get_or_insert_with(|| Hearing::of(&self.folder, agent, call));
        hearing.read_on();
        let reader = &mut hearing.reader;
        if caps.told == UsageTold::InItsRecord {
            let record = codex_rollout::read(codex_home(agent).as_deref(), reader.session());
            reader.record(&record);
        }
        let (used, model) = (reader.usage(), reader.model().map(str::to_owned));
        let cost = self.priced(run, call, &used, model.as_deref()).cost.amount();
        caps.passed = caps.allowance.passed(&used.tokens, cost, used.turns);
        caps.passed.is_some()
    }

    /// Returns what a call used with its cost. The stream's own name for the model is the surest.
    pub(crate) fn priced(&self, run: &Run, call: &Call, used: &AgentUsage, model: Option<&str>) -> Usage {
        // What is wrong with the file was said when the run was opened.
        let prices =
            self.money.prices.get_or_init(|| price_list::read().unwrap_or_else(|_| PriceList::shipped()));
        let models = [model, call.model.as_deref(), run.workflow.agent.model.as_deref()];
        let price: Option<&Price> = models.into_iter().flatten().find_map(|it| prices.of(it));
        used.priced(price)
    }
}
