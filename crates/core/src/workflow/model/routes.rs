//! Where phases lead: that every phase can be reached and that no circle is endless. `reject` and the
//! body of items have bounds of their own, so only a circle of `next` alone has none.

use super::{Gate, Next, Phase, PhaseId};
use std::collections::BTreeMap;

/// Returns the phases that nothing leads to.
pub(crate) fn unreachable(phases: &[Phase], gates: &BTreeMap<String, Gate>) -> Vec<PhaseId> {
    let mut reached = vec![false; phases.len()];
    let mut open: Vec<PhaseId> = if phases.is_empty() { Vec::new() } else { vec![0] };
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut reached[id], true) {
            continue;
        }
        let phase = &phases[id];
        match phase.next {
            Next::Phase(next) => open.push(next),
            Next::Done => {}
        }
        open.extend(phase.reject.as_ref().map(|it| it.go));
        open.extend(phase.gates.iter().filter_map(|it| gates.get(&it.gate)?.changes_to));
    }
    (0..phases.len()).filter(|it| !reached[*it]).collect()
}

/// Returns the circles of `next`, each beginning with its first phase in the file.
pub(crate) fn circles(phases: &[Phase]) -> Vec<Vec<PhaseId>> {
    let mut circles: Vec<Vec<PhaseId>> = Vec::new();
    for start in 0..phases.len() {
        let mut path = vec![start];
        let mut at = start;
        while let Next::Phase(next) = phases[at].next {
            if next == start {
                // Each circle is found from all of its phases; the smallest stands for it.
                if path.iter().min() == Some(&start) {
                    circles.push(path);
                }
                break;
            }
            if path.contains(&next) {
                break;
            }
            path.push(next);
            at = next;
        }
    }
    circles
}
