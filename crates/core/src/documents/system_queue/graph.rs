//! Whether the systems of a queue fit together: no id twice, every dependency known, and none that leads
//! back to itself. One walk over the edges, so that a large queue takes milliseconds.

use super::entry::SystemEntry;
use std::collections::HashMap;

/// Mistakes that are named; whoever mends these finds the others by the next try.
const NAMED_MOST: usize = 10;

/// Returns everything that is wrong with these systems together.
pub fn mistakes(systems: &[SystemEntry]) -> Vec<String> {
    let mut known: HashMap<&str, usize> = HashMap::with_capacity(systems.len());
    let mut found = Vec::new();
    for (index, system) in systems.iter().enumerate() {
        if known.insert(&system.id, index).is_some() {
            found.push(format!("{} is listed twice", system.id));
        }
    }
    for system in systems {
        for needed in system.dependencies.iter().filter(|it| !known.contains_key(it.as_str())) {
            found.push(format!("{} depends on {needed}, which is not in the queue", system.id));
        }
    }
    if found.is_empty() {
        found.extend(
            cycle(systems, &known).map(|ids| format!("a cycle of dependencies: {}", ids.join(" → "))),
        );
    }
    found.truncate(NAMED_MOST);
    found
}

/// Returns the ids of a cycle, the first one again at its end.
fn cycle<'a>(systems: &'a [SystemEntry], known: &HashMap<&str, usize>) -> Option<Vec<&'a str>> {
    let needs = |index: usize| systems[index].dependencies.iter().map(|it| known[it.as_str()]);
    let mut open: Vec<usize> = (0..systems.len()).map(|it| needs(it).count()).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); systems.len()];
    for index in 0..systems.len() {
        needs(index).for_each(|it| needed_by[it].push(index));
    }
    let mut free: Vec<usize> = (0..systems.len()).filter(|it| open[*it] == 0).collect();
    while let Some(index) = free.pop() {
        for follower in &needed_by[index] {
            open[*follower] -= 1;
            if open[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    // Whatever is left has a dependency that is left too, so following them comes back.
    let mut way = vec![open.iter().position(|it| 0 < *it)?];
    loop {
        let next = needs(way[way.len() - 1]).find(|it| 0 < open[*it])?;
        if let Some(begin) = way.iter().position(|it| *it == next) {
            way.push(next);
            return Some(way[begin..].iter().map(|it| systems[*it].id.as_str()).collect());
        }
        way.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::{SystemEntry, mistakes};

    fn queue(systems: &[(&str, &[&str])]) -> Vec<SystemEntry> {
        let system = |(id, needs): &(&str, &[&str])| SystemEntry {
            id: (*id).to_owned(),
            dependencies: needs.iter().map(|it| (*it).to_owned()).collect(),
            ..SystemEntry::default()
        };
        systems.iter().map(system).collect()
    }

    #[test]
    fn cycles_and_unknown_ids_are_named() {
        let fine =
            queue(&[("sys-001", &[]), ("sys-002", &["sys-001"]), ("sys-003", &["sys-001", "sys-002"])]);
        assert_eq!(mistakes(&fine), Vec::<String>::new());
        let cyclic =
            queue(&[("sys-001", &["sys-003"]), ("sys-002", &["sys-001"]), ("sys-003", &["sys-002"])]);
        assert_eq!(mistakes(&cyclic), ["a cycle of dependencies: sys-001 → sys-003 → sys-002 → sys-001"]);
        let own = queue(&[("sys-001", &["sys-001"])]);
        assert_eq!(mistakes(&own), ["a cycle of dependencies: sys-001 → sys-001"]);
        let unknown = queue(&[("sys-001", &["sys-009"]), ("sys-001", &[])]);
        assert_eq!(
            mistakes(&unknown),
            ["sys-001 is listed twice", "sys-001 depends on sys-009, which is not in the queue"]
        );
    }
}
