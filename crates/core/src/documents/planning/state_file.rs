//! `STATE.md`: where a project stands. It is read for the phase that is meant without being named,
//! rebuilt where it is missing, and moved on when a phase is completed; nothing else of it is touched.

use super::number::PhaseNumber;
use super::plain_lines;
use super::roadmap::RoadmapPhase;

/// It is a digest; what is longer belongs into other documents.
pub const LINES_MOST: usize = 100;

/// Returns the phase that the position names.
pub fn current_phase(text: &str) -> Option<PhaseNumber> {
    plain_lines(text).find_map(|(_, line)| {
        let rest = value(line, "Phase")?;
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
    let next = phases.iter().find(|it| *done < it.number);
    let total = phases.len().max(1);
    let before = phases.iter().filter(|it| it.number <= *done).count();
    let percent = before * 100 / total;
    let bar = format!("[{}{}] {percent}%", "█".repeat(percent / 10), "░".repeat(10 - percent / 10));
    let (phase, status) = match next {
        Some(next) => (position(phases, &next.number), "Ready to plan"),
        None => (position(phases, done), "Phase complete"),
    };
    let fields = [
        ("Phase", phase),
        ("Plan", if next.is_some() { "not started".to_owned() } else { "all done".to_owned() }),
        ("Status", status.to_owned()),
        ("Last activity", format!("{date} — phase {done} completed{how}")),
        ("Progress", bar),
    ];
    let mut missing: Vec<bool> = vec![true; fields.len()];
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let field = fields.iter().position(|(name, _)| value(bare, name).is_some());
        match field.filter(|it| missing[*it]) {
            Some(index) => {
                missing[index] = false;
                let (name, value) = &fields[index];
                let mark = if bare.trim_start().starts_with("**") { "**" } else { "" };
                out.push_str(&format!("{mark}{name}:{mark} {value}{}", &line[bare.len()..]));
            }
            None => out.push_str(line),
        }
    }
    if missing[0] {
        let lines: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
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

/// What follows `Name:` at the beginning of a line, set in bold or not.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_start().trim_start_matches('*').strip_prefix(name)?;
    let rest = rest.trim_start_matches('*').strip_prefix(':')?;
    Some(rest.trim_start_matches('*').trim())
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
}
