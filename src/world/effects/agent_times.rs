//! When the agents of a run worked, by its journal: from the moment a call begins until its work was
//! measured, because checks run the code that the agent wrote. A session that calls our hook works as
//! long as its process lives. Nobody works across a restart of the machine. Whatever changes outside of
//! these times was changed by somebody else.

use crate::clock::booted_at;
use loop_core::engine::{Effect, Event, Session};
use loop_store::Home;
use rustix::param::clock_ticks_per_second;

/// Events that are read at once.
const PAGE: usize = 1000;

/// Returns from when to when, in milliseconds since 1970, agents worked after `since`. A call that has not
/// ended works until now.
pub(crate) fn read(home: &Home, run: &str, since: i64) -> anyhow::Result<Vec<(i64, i64)>> {
    let mut times = AgentTimes::default();
    let mut next = 1;
    loop {
        let page = home.events(run, next, PAGE)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for recorded in &page {
            times.follow(recorded.at, &serde_json::from_str(&recorded.body)?);
        }
    }
    let booted = booted_at().map_or(0, |it| it.0);
    let ended = |(from, to): (i64, i64)| (from, if from < booted { to.min(booted) } else { to });
    let later = times.done.into_iter().chain(times.open).map(ended).filter(|it| since < it.1);
    Ok(later.map(|(from, to)| (from.max(since), to)).collect())
}

/// Returns from when to when a session that calls our hook worked after `since`.
pub(crate) fn of_session(session: &Session, since: i64) -> Vec<(i64, i64)> {
    let whole = vec![(since, i64::MAX)];
    let (Some(booted), Some(process)) = (booted_at(), &session.process) else { return whole };
    if booted.0 <= since {
        return whole;
    }
    let age_ms = process.start.saturating_mul(1000) / clock_ticks_per_second().max(1);
    vec![(since, booted.0), (booted.0.saturating_add_unsigned(age_ms), i64::MAX)]
}

#[derive(Default)]
struct AgentTimes {
    done: Vec<(i64, i64)>,
    /// The last call and how far it is known to have reached.
    open: Option<(i64, i64)>,
}

impl AgentTimes {
    fn follow(&mut self, at: i64, event: &Event) {
        if matches!(event, Event::Began(Effect::Work(_))) {
            self.done.extend(self.open.replace((at, i64::MAX)));
        } else if matches!(event, Event::Ended(_) | Event::Contained { .. } | Event::Measured(_))
            && let Some(open) = &mut self.open
        {
            open.1 = at;
        }
    }
}
