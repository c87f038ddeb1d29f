//! When a call has taken too long: three limits, and which of them is due. It is told the time and
//! how busy the call is, and decides; it reads no clock. The clock that feeds it stands still while
//! the machine sleeps, so a closed lid is no silence.

use crate::contain::sweep::Load;
use crate::records::protocol::{Bounds, EndReason};
use std::time::{Duration, Instant};

/// How long the first look at a silent call lasts: long enough for a hundred clock ticks, the unit in
/// which the kernel counts processor time.
const LOOK: Duration = Duration::from_secs(1);

/// A call works if it uses a twentieth of one processor. A quiet compiler uses all of one; timers and
/// garbage collection of a process that only waits stay below a hundredth.
const WORKING_SHARE: u32 = 20;

/// The limits of one call under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deadlines {
    idle: Option<Duration>,
    /// Until the first output, when that is due; then, when silence is looked into.
    quiet_at: Option<Instant>,
    has_spoken: bool,
    total_at: Option<Instant>,
    /// The last look at the processor time, since the last output.
    look: Option<(Instant, Duration)>,
}

/// What is due.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Due {
    /// A limit is reached: the call is over.
    Over(EndReason),
    /// It has been silent; only the process table can tell whether it works.
    Silent,
}

impl Deadlines {
    pub(crate) fn new(bounds: &Bounds, now: Instant) -> Deadlines {
        let limit = |ms| (ms != u64::MAX).then(|| Duration::from_millis(ms));
        let after = |ms| limit(ms).and_then(|it| now.checked_add(it));
        Deadlines {
            idle: limit(bounds.idle_ms),
            quiet_at: after(bounds.first_ms),
            has_spoken: false,
            total_at: after(bounds.total_ms),
            look: None,
        }
    }

    /// Returns when something is due, if ever.
    pub(crate) fn next(&self) -> Option<Instant> {
        [self.quiet_at, self.total_at].into_iter().flatten().min()
    }

    /// Returns what is due.
    pub(crate) fn due(&self, now: Instant) -> Option<Due> {
        if self.total_at.is_some_and(|it| it <= now) {
            return Some(Due::Over(EndReason::TimedOut));
        }
        if self.quiet_at.is_none_or(|it| it > now) {
            return None;
        }
        Some(if self.has_spoken { Due::Silent } else { Due::Over(EndReason::NoFirstOutput) })
    }

    /// Notes that there was output.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.has_spoken = true;
        self.look = None;
        self.quiet_at = self.idle.and_then(|it| now.checked_add(it));
    }

    /// Notes how busy a silent call is; returns true when it has used next to no processor time since
    /// the last look, has no work either, and is therefore hung.
    pub(crate) fn looked(&mut self, now: Instant, load: Load) -> bool {
        let idle = self.idle.unwrap_or(LOOK);
        let next = match self.look {
            None => idle.min(LOOK),
            Some((then, before)) => {
                let used = load.cpu.saturating_sub(before);
                if !load.has_work && used * WORKING_SHARE < now - then {
                    return true;
                }
                idle
            }
        };
        self.look = Some((now, load.cpu));
        self.quiet_at = now.checked_add(next);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Deadlines, Due, EndReason, Load};
    use std::time::{Duration, Instant};

    const BOUNDS: Bounds = Bounds {
        first_ms: 100,
        idle_ms: 5_000,
        total_ms: 60_000,
        pipe_ms: 0,
        grace_ms: 0,
        out_bytes: 0,
        memory_bytes: u64::MAX,
        processes: u64::MAX,
    };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn quiet(cpu_ms: u64) -> Load {
        Load { cpu: ms(cpu_ms), has_work: false }
    }

    #[test]
    fn the_first_output_has_its_own_limit() {
        let start = Instant::now();
        let mut deadlines = Deadlines::new(&BOUNDS, start);
        assert_eq!(deadlines.next(), Some(start + ms(100)));
        assert_eq!(deadlines.due(start + ms(99)), None);
        assert_eq!(deadlines.due(start + ms(100)), Some(Due::Over(EndReason::NoFirstOutput)));
        deadlines.heard(start + ms(99));
        assert_eq!(deadlines.due(start + ms(100)), None);
        assert_eq!(deadlines.next(), Some(start + ms(5_099)));
        assert_eq!(deadlines.due(start + ms(5_099)), Some(Due::Silent));
    }

    #[test]
    fn the_total_ends_a_talking_call() {
        let start = Instant::now();
        let mut deadlines = Deadlines::new(&BOUNDS, start);
        deadlines.heard(start + ms(59_999));
        assert_eq!(deadlines.next(), Some(start + ms(60_000)));
        assert_eq!(deadlines.due(start + ms(60_000)), Some(Due::Over(EndReason::TimedOut)));
    }

    #[test]
    fn silence_is_looked_into_twice() {
        let start = Instant::now();
        let mut deadlines = Deadlines::new(&BOUNDS, start);
        deadlines.heard(start);
        assert!(!deadlines.looked(start + ms(5_000), quiet(700)));
        assert_eq!(deadlines.next(), Some(start + ms(6_000)));
        // A twentieth of a second in one second is work.
        assert!(!deadlines.looked(start + ms(6_000), quiet(750)));
        assert_eq!(deadlines.next(), Some(start + ms(11_000)));
        // A little less is none, unless it only waits for a processor.
        let starved = Load { has_work: true, ..quiet(990) };
        assert!(!deadlines.clone().looked(start + ms(11_000), starved));
        assert!(deadlines.looked(start + ms(11_000), quiet(990)));
    }

    #[test]
    fn output_forgets_the_look() {
        let start = Instant::now();
        let mut deadlines = Deadlines::new(&BOUNDS, start);
        deadlines.heard(start);
        assert!(!deadlines.looked(start + ms(5_000), quiet(0)));
        deadlines.heard(start + ms(5_500));
        assert_eq!(deadlines.next(), Some(start + ms(10_500)));
        assert!(!deadlines.looked(start + ms(10_500), quiet(0)));
    }

    #[test]
    fn no_limit_is_never_due() {
        let start = Instant::now();
        let none = Bounds { first_ms: u64::MAX, idle_ms: u64::MAX, total_ms: u64::MAX, ..BOUNDS };
        let mut deadlines = Deadlines::new(&none, start);
        assert_eq!(deadlines.next(), None);
        deadlines.heard(start);
        assert_eq!((deadlines.next(), deadlines.due(start + ms(1_000_000))), (None, None));
    }
}
