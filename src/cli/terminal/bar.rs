//! How far a run has come, as one bar for a terminal. It is drawn from the weights of the phases and
//! what is done of each; how many percent that is, is computed elsewhere.

use super::fit::Ink;

/// One bar with a stretch for each phase, as long as its weight says; where a stretch would be too
/// short to be seen, the bar is whole. Done is drawn heavy and open light, so colour is not needed.
pub(crate) fn bar(segments: &[(u32, u32)], percent: u32, cells: usize) -> Vec<(String, Ink)> {
    const SHORTEST: usize = 2;
    let gaps = segments.len().saturating_sub(1);
    let total: usize = segments.iter().map(|it| it.0 as usize).sum();
    let room = cells.saturating_sub(gaps);
    let mut stretches = Vec::new();
    let (mut weight, mut end) = (0, 0);
    for (own, tenths) in segments {
        weight += *own as usize;
        let next = (weight * room + total / 2).checked_div(total).unwrap_or(0);
        stretches.push((next - end, *tenths as usize));
        end = next;
    }
    if segments.len() < 2 || stretches.iter().any(|it| it.0 < SHORTEST) {
        let done = (percent as usize * cells / 100).min(cells);
        return vec![("━".repeat(done), Ink::Good), ("─".repeat(cells - done), Ink::Dim)];
    }
    let mut drawn = Vec::new();
    for (at, (length, tenths)) in stretches.into_iter().enumerate() {
        if at != 0 {
            drawn.push((" ".to_owned(), Ink::Plain));
        }
        let done = length * tenths / 10;
        drawn.push(("━".repeat(done), Ink::Good));
        drawn.push(("─".repeat(length - done), Ink::Dim));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::bar;

    fn drawn(segments: &[(u32, u32)], percent: u32, cells: usize) -> String {
        bar(segments, percent, cells).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn the_bar_has_a_stretch_for_each_phase() {
        let tdd = [(10, 10), (45, 5), (15, 0), (15, 0), (15, 0)];
        assert_eq!(drawn(&tdd, 32, 24), "━━ ━━━━───── ─── ─── ───");
        assert_eq!(drawn(&tdd, 32, 10), "━━━───────");
        assert_eq!(drawn(&[(1, 3)], 30, 10), "━━━───────");
        assert_eq!(drawn(&[], 0, 4), "────");
    }
}
