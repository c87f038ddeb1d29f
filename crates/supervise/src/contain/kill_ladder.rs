//! The steps by which a call is ended, from asking to killing, and when the next one is due. It names
//! the signals and sends none.

use crate::records::protocol::Force;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// SIGTERM after an ignored SIGINT is a formality: what has not ended within two seconds more will
/// not end by asking.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// A killed process that is still there after this time is held by the kernel; nothing more can be
/// done.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Where on the way down a call is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ladder {
    step: KillStep,
    until: Option<Instant>,
    grace: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KillStep {
    /// Nobody wants it to end.
    Top,
    Asked,
    Told,
    Killed,
    /// It cannot be ended.
    GivenUp,
}

impl KillStep {
    /// Returns the signal that this step sends to the call's group.
    pub(crate) fn signal(self) -> Option<Signal> {
        match self {
            KillStep::Top | KillStep::GivenUp => None,
            KillStep::Asked => Some(Signal::INT),
            KillStep::Told => Some(Signal::TERM),
            KillStep::Killed => Some(Signal::KILL),
        }
    }
}

impl Ladder {
    pub(crate) fn new(grace_ms: u64) -> Ladder {
        Ladder { step: KillStep::Top, until: None, grace: Duration::from_millis(grace_ms) }
    }

    /// Returns whether nobody has asked the call to end.
    pub(crate) fn is_at_top(&self) -> bool {
        self.step == KillStep::Top
    }

    /// Returns when the next step is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.until
    }

    /// Goes down as far as this force asks for; returns the step taken, if one was.
    pub(crate) fn press(&mut self, force: Force, now: Instant) -> Option<KillStep> {
        let step = match (force, self.step) {
            (Force::Soft, KillStep::Top) => KillStep::Asked,
            (Force::Hard, KillStep::Top | KillStep::Asked) => KillStep::Told,
            (Force::Hard, KillStep::Told) => KillStep::Killed,
            (Force::Soft, KillStep::Asked | KillStep::Told | KillStep::Killed | KillStep::GivenUp)
            | (Force::Hard, KillStep::Killed | KillStep::GivenUp) => return None,
        };
        Some(self.go(step, now))
    }

    /// Kills at once, without asking.
    pub(crate) fn kill(&mut self, now: Instant) -> Option<KillStep> {
        match self.step {
            KillStep::Top | KillStep::Asked | KillStep::Told => Some(self.go(KillStep::Killed, now)),
            KillStep::Killed | KillStep::GivenUp => None,
        }
    }

    /// Takes the next step if its time has come.
    pub(crate) fn descend(&mut self, now: Instant) -> Option<KillStep> {
        if self.until.is_none_or(|it| it > now) {
            return None;
        }
        let step = match self.step {
            KillStep::Top | KillStep::Asked => KillStep::Told,
            KillStep::Told => KillStep::Killed,
            KillStep::Killed | KillStep::GivenUp => KillStep::GivenUp,
        };
        Some(self.go(step, now))
    }

    fn go(&mut self, step: KillStep, now: Instant) -> KillStep {
        self.step = step;
        self.until = match step {
            KillStep::Top | KillStep::GivenUp => None,
            KillStep::Asked => now.checked_add(self.grace),
            KillStep::Told => Some(now + TERM_GRACE),
            KillStep::Killed => Some(now + KILL_PATIENCE),
        };
        step
    }
}

#[cfg(test)]
mod tests {
    use super::{Force, KillStep, Ladder};
    use std::time::{Duration, Instant};

    #[test]
    fn asks_tells_kills_and_gives_up() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut ladder = Ladder::new(10_000);
        assert_eq!(ladder.descend(at(100)), None);
        assert_eq!(ladder.press(Force::Soft, start), Some(KillStep::Asked));
        assert_eq!(ladder.press(Force::Soft, start), None);
        assert_eq!(ladder.descend(at(9)), None);
        assert_eq!(ladder.descend(at(10)), Some(KillStep::Told));
        assert_eq!(ladder.descend(at(12)), Some(KillStep::Killed));
        assert_eq!(ladder.kill(at(12)), None);
        assert_eq!(ladder.descend(at(17)), Some(KillStep::GivenUp));
        assert_eq!(ladder.next(), None);
    }

    #[test]
    fn force_skips_the_grace() {
        let start = Instant::now();
        let mut ladder = Ladder::new(10_000);
        ladder.press(Force::Soft, start);
        assert_eq!(ladder.press(Force::Hard, start), Some(KillStep::Told));
        assert_eq!(ladder.press(Force::Hard, start), Some(KillStep::Killed));
        assert_eq!(ladder.press(Force::Hard, start), None);
        assert_eq!(Ladder::new(10_000).press(Force::Hard, start), Some(KillStep::Told));
        assert_eq!(Ladder::new(10_000).kill(start), Some(KillStep::Killed));
    }
}
