//! `STATE.md`: where a project stands. It is read for the phase that is meant without being named,
//! rebuilt where it is missing, and moved on when a phase is completed; nothing else of it is touched.

use super::number::PhaseNumber;
use super::plain_lines;
use super::roadmap::{RoadmapPhase, next_after};

/// It is a digest; what is longer belongs into other documents.
pub const LINES_MOST: usize = 100;

/// What the lines of a position are called.
const PHASE: &[&str] = &["Phase", "Current Phase"];
const PLAN: &[&str] = &["Plan", "Current Plan"];
const STATUS: &[&str] = &["Status"];
const LAST_ACTIVITY: &[&str] = &["Last activity", "Last Activity"];
const PROGRESS: &[&str] = &["Progress"];

/// Returns the phase that the position names.
pub fn current_phase(text: &str) -> Option<PhaseNumber> {
    plain_lines(text).find_map(|(_, line)| {
        let (_, rest) = value(line, PHASE)?;
        PhaseNumber::prefix(rest.strip_prefix("Phase ").unwrap_or(rest)).map(|it| it.0)
    })
}

/// Returns a position from nothing but the roadmap.
pub fn rebuilt(phases: &[RoadmapPhase], current: &PhaseNumber, date: &str) -> String {
    let position = position(phases, current);
    format!(
        "# Project State\n\n## Current Position\n\nPhase: {position}\nPlan: not started\nStatus: Ready to execute\n\
         Last activity: {date} — rebuilt from ROADMAP.md\n"
    )
}

/// Returns the text with its position after a phase was completed: at the next phase, or at the end of
/// the roadmap. What the file does not say is added.
pub fn moved_on(text: &str, phases: &[RoadmapPhase], done: &PhaseNumber, date: &str, how: &str) -> String {
    let next = next_after(phases, done);
    let total = phases.len().max(1);
    let is_done = |it: &&RoadmapPhase| it.number == *done || it.ticked.unwrap_or(it.number <= *done);
    let before = phases.iter().filter(is_done).count();
    let percent = before * 100 / total;
    let bar = format!("[{}{}] {percent}%", "█".repeat(percent / 10), "░".repeat(10 - percent / 10));
    let (phase, status) = match next {
        Some(next) => (position(phases, &next.number), "Ready to plan"),
        None => (position(phases, done), "Phase complete"),
    };
    let fields = [
        (PHASE, phase),
        (PLAN, if next.is_some() { "not started".to_owned() } else { "all done".to_owned() }),
        (STATUS, status.to_owned()),
        (LAST_ACTIVITY, format!("{date} — phase {done} completed{how}")),
        (PROGRESS, bar),
    ];
    let mut missing: Vec<bool> = vec![true; fields.len()];
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let field =
            fields.iter().enumerate().find_map(|(index, field)| Some((index, value(bare, field.0)?.0)));
        match field.filter(|it| missing[it.0]) {
            Some((index, name)) => {
                missing[index] = false;
                let value = &fields[index].1;
                let mark = if bare.trim_start().starts_with("**") { "**" } else { "" };
                out.push_str(&format!("{mark}{name}:{mark} {value}{}", &line[bare.len()..]));
            }
            None => out.push_str(line),
        }
    }
    if missing[0] {
        let lines: Vec<String> =
            fields.iter().map(|(names, value)| format!("{}: {value}", names[0])).collect();
        out = format!("{}\n\n## Current Position\n\n{}\n", out.trim_end(), lines.join("\n"));
    }
    out
}

fn position(phases: &[RoadmapPhase], number: &PhaseNumber) -> String {
    // How a phase came into the roadmap is no part of its name.
    let bare = |it: &RoadmapPhase| it.name.trim_end_matches("(INSERTED)").trim_end().to_owned();
    let name = phases.iter().find(|it| it.number == *number).map(|it| format!(" ({})", bare(it)));
    // Numbers may have gaps, and a phase beyond the last would read as a mistake.
    let highest = phases.iter().map(|it| it.number.whole()).max().unwrap_or(0) as usize;
    format!("{number} of {}{}", phases.len().max(highest), name.unwrap_or_default())
}

/// The name that a line begins with and what follows it, `Name: …`, set in bold or not.
fn value<'a>(line: &'a str, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
    let bare = line.trim_start().trim_start_matches('*');
    names.iter().find_map(|name| {
        let rest = bare.strip_prefix(name)?.trim_start_matches('*').strip_prefix(':')?;
        Some((*name, rest.trim_start_matches('*').trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{current_phase, moved_on, rebuilt};
    use crate::documents::planning::number::PhaseNumber;
    use crate::documents::planning::roadmap::phases;

    #[test]
    fn the_position_moves_to_the_next_phase_and_nothing_else_changes() {
        let phases = phases("### Phase 1: A\n### Phase 2: B\n### Phase 2.1: C\n### Phase 3: D\n");
        let done = PhaseNumber::read("2").expect("a number");
        let text = "# State\n\nCore: x\n\n## Current Position\n\nPhase: 2 of 4 (B)\nPlan: 1 of 2\nStatus: In progress\nLast activity: y\nProgress: [##] 10%\n\n## Notes\n\nPhase: mine\n";
        let moved = moved_on(text, &phases, &done, "2026-01-02", "");
        assert_eq!(current_phase(&moved), PhaseNumber::read("2.1"));
        assert!(moved.contains("Phase: 2.1 of 4 (C)\nPlan: not started\nStatus: Ready to plan\nLast activity: 2026-01-02 — phase 2 completed\nProgress: [█████░░░░░] 50%\n\n## Notes\n\nPhase: mine\n"), "{moved}");
        let built = rebuilt(&phases, &done, "2026-01-02");
        assert_eq!(current_phase(&built), Some(done));
        assert!(
            moved_on("# State\n", &phases, &PhaseNumber::read("3").expect("a number"), "d", "")
                .contains("Status: Phase complete")
        );
    }

    #[test]
    fn lines_keep_the_names_that_the_file_has_for_them() {
        let phases = phases(
            "- [x] **Phase 1: A**\n- [ ] **Phase 2: B**\n- [x] **Phase 3: C**\n- [ ] **Phase 4: D**\n",
        );
        let text = "# State\n\n**Current Phase:** 02 — B (planned)\n**Status:** x\n**Last Activity:** y\n";
        assert_eq!(current_phase(text), PhaseNumber::read("2"));
        let moved = moved_on(text, &phases, &PhaseNumber::read("2").expect("a number"), "2026-01-02", "");
        assert_eq!(
            moved,
            "# State\n\n**Current Phase:** 4 of 4 (D)\n**Status:** Ready to plan\n**Last Activity:** 2026-01-02 — phase 2 completed\n"
        );
        let counted =
            moved_on("Phase: 2\nProgress: x\n", &phases, &PhaseNumber::read("2").expect("a number"), "d", "");
        assert!(counted.contains("75%"), "the phase after it is done: {counted}");
    }
}
