//! How long a run took, in the same words wherever it is told.

use loop_base::time::took;
use loop_core::engine::State;

/// A shorter time without work is not worth a word.
const IDLE_TOLD_MS: u64 = 60_000;

/// Returns how long a run has worked, and how long it waited apart from that.
pub(crate) fn time_taken(state: &State) -> String {
    let elapsed = (!state.opening.imported).then(|| state.updated_at.since(state.opened_at));
    worked(state.spent.ms, elapsed)
}

/// Says how long calls, checks and proof took, and apart from that how long the run waited for people
/// and providers. `elapsed` is not known of a run that another controller began.
fn worked(spent_ms: u64, elapsed: Option<u64>) -> String {
    // The first step of the proof runs beside the first call, so both together may exceed the clock.
    let working = elapsed.map_or(spent_ms, |it| spent_ms.min(it));
    match elapsed.map(|it| it - working).filter(|it| IDLE_TOLD_MS <= *it) {
        Some(idle) => format!("{} of work, {} idle", took(working), took(idle)),
        None => took(working),
    }
}

#[cfg(test)]
mod tests {
    use super::worked;

    #[test]
    fn idle_time_is_told_apart_from_work() {
        assert_eq!(worked(12_000, Some(13_000)), "12 s");
        assert_eq!(worked(12_000, Some(12_000 + 3 * 3_600_000)), "12 s of work, 3h 00m idle");
        assert_eq!(worked(15_000, Some(13_000)), "13 s");
        assert_eq!(worked(12_000, None), "12 s");
    }
}
