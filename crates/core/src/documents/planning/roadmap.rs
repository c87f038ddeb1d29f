//! `ROADMAP.md`: the phases of a project, what each is to reach and by what it is judged, and how a
//! phase is ticked. A phase is found by the exact number in its heading, `### Phase 3: Name`.

use super::number::PhaseNumber;
use super::{cells, checkbox, heading, plain_lines};

/// Criteria of one phase that are read; a longer list is no list of criteria.
const CRITERIA_MOST: usize = 50;

/// A goal is a sentence or a few.
const GOAL_CHARS: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct RoadmapPhase {
    pub number: PhaseNumber,
    pub name: String,
    /// The heading's own text, `Phase 3: Name`.
    pub heading: String,
    pub goal: String,
    /// Ids of requirements.
    pub requirements: Vec<String>,
    pub criteria: Vec<String>,
}

/// Returns the phases in their numeric order, each by the heading of its details; a phase that only the
/// list at the top names comes without a goal.
pub fn phases(text: &str) -> Vec<RoadmapPhase> {
    let mut found: Vec<RoadmapPhase> = Vec::new();
    let mut add = |phase: RoadmapPhase| {
        if found.iter().all(|it| it.number != phase.number) {
            found.push(phase);
        }
    };
    let lines: Vec<(usize, &str)> = plain_lines(text).collect();
    for (index, (_, line)) in lines.iter().enumerate() {
        let Some((level, title)) = heading(line) else { continue };
        let Some((number, name)) = phase_title(title).filter(|_| (2..=4).contains(&level)) else { continue };
        let below = lines[index + 1..].iter().map(|it| it.1);
        let section: Vec<&str> =
            below.take_while(|it| heading(it).is_none_or(|(deeper, _)| level < deeper)).collect();
        add(RoadmapPhase {
            number,
            name: name.to_owned(),
            heading: title.to_owned(),
            goal: goal(&section),
            requirements: requirements(&section),
            criteria: criteria(&section),
        });
    }
    for (_, line) in &lines {
        if let Some((number, name)) = listed(line) {
            let heading = format!("Phase {number}: {name}");
            let (goal, requirements, criteria) = (String::new(), Vec::new(), Vec::new());
            add(RoadmapPhase { number, name: name.to_owned(), heading, goal, requirements, criteria });
        }
    }
    found.sort_by(|one, other| one.number.cmp(&other.number));
    found
}

/// Returns the text of a requirement by its id, from a list of requirements: `- [ ] **AUTH-01**: text`.
pub fn requirement_text(text: &str, id: &str) -> Option<String> {
    plain_lines(text).find_map(|(_, line)| {
        let item = checkbox(line).map(|it| it.1).or_else(|| line.trim_start().strip_prefix("- "))?;
        let item = item.trim_start_matches(['*', '`', '[']);
        let rest = item.strip_prefix(id)?;
        let rest = rest.trim_start_matches(['*', '`', ']']);
        let rest = rest
            .strip_prefix([':', '-', '—'])
            .or_else(|| rest.strip_prefix(" — "))
            .or_else(|| rest.strip_prefix(" - "))?;
        let said = rest.trim_start_matches(['*', ' ']).trim();
        (!said.is_empty()).then(|| said.to_owned())
    })
}

/// Returns the text with a phase ticked: its box in the list at the top, those of these plans, and its row
/// in the table of progress. `mark` stands behind the date. A phase that is ticked already stays as it is.
pub fn tick(text: &str, number: &PhaseNumber, date: &str, mark: &str, plans: &[&str]) -> String {
    let mark = if mark.is_empty() { String::new() } else { format!(" ({mark})") };
    let mut out = String::with_capacity(text.len() + 64);
    let mut ticked = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let end = &line[bare.len()..];
        let is_it = listed(bare).is_some_and(|it| it.0 == *number);
        match checkbox(bare) {
            Some((is_ticked, _)) if is_it && !ticked => {
                ticked = true;
                match is_ticked {
                    true => out.push_str(bare),
                    false => out.push_str(&format!(
                        "{} (completed {date}){mark}",
                        bare.replacen("[ ]", "[x]", 1).trim_end()
                    )),
                }
            }
            Some((false, item)) if plans.iter().any(|it| is_plan(item, it)) => {
                out.push_str(&bare.replacen("[ ]", "[x]", 1));
            }
            _ => match row(bare, number) {
                Some(cells) => out.push_str(&progress_row(&cells, plans.len(), date, &mark)),
                None => out.push_str(bare),
            },
        }
        out.push_str(end);
    }
    out
}

/// `03-01-PLAN.md — about` and `03-01: about` are about the plan `03-01`.
fn is_plan(item: &str, id: &str) -> bool {
    let rest = item.trim_start_matches(['*', '`', '[']).strip_prefix(id);
    rest.is_some_and(|it| !it.starts_with(|it: char| it.is_alphanumeric()))
}

fn progress_row(cells: &[&str], plans: usize, date: &str, mark: &str) -> String {
    let counts = if plans == 0 { cells[1].to_owned() } else { format!("{plans}/{plans}") };
    let mut cells: Vec<String> = cells.iter().map(|it| (*it).to_owned()).collect();
    let last = cells.len() - 1;
    cells[last - 2] = counts;
    cells[last - 1] = format!("Complete{mark}");
    cells[last] = date.to_owned();
    format!("| {} |", cells.join(" | "))
}

/// The row of a phase in the table of progress: `| 3. Name | 1/3 | In progress | - |`.
fn row<'a>(line: &'a str, number: &PhaseNumber) -> Option<Vec<&'a str>> {
    let cells = cells(line).filter(|it| 4 <= it.len())?;
    let first = cells[0].strip_prefix("Phase ").unwrap_or(cells[0]);
    let (found, rest) = PhaseNumber::prefix(first)?;
    let is_row = found == *number
        && rest.starts_with(['.', ':', ' '])
        && !cells[cells.len() - 2].starts_with("Complete");
    is_row.then_some(cells)
}

/// `- [ ] **Phase 3: Name** - about`, set in bold or not.
fn listed(line: &str) -> Option<(PhaseNumber, &str)> {
    let (_, item) = checkbox(line)?;
    match item.strip_prefix("**") {
        Some(bold) => phase_title(bold.split("**").next()?),
        None => phase_title(item).map(|(number, name)| (number, name.split(" - ").next().unwrap_or(name))),
    }
}

/// `Phase 3: Name`
fn phase_title(title: &str) -> Option<(PhaseNumber, &str)> {
    let (number, rest) = PhaseNumber::prefix(title.strip_prefix("Phase ")?.trim_start())?;
    let name = rest.trim_start().strip_prefix(':')?;
    Some((number, name.trim()))
}

/// What follows `**Goal**:`, however it is set.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim_start().trim_start_matches(['*', '-', ' ']);
    let rest = line.strip_prefix(name)?.trim_start_matches('*');
    let rest = rest.split_once(':').filter(|it| !it.0.contains('.')).map(|it| it.1)?;
    Some(rest.trim_start_matches('*').trim())
}

fn goal(section: &[&str]) -> String {
    let begin = ["Goal", "Objective"].into_iter().find_map(|name| {
        section.iter().enumerate().find_map(|(index, line)| field(line, name).map(|it| (index, it)))
    });
    let text = match begin {
        Some((index, first)) => {
            let more = section[index + 1..].iter().map(|it| it.trim());
            let more = more.take_while(|it| !it.is_empty() && !it.starts_with("**") && !it.starts_with('-'));
            std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ")
        }
        // Without a goal of its own the section is what the phase is about.
        None => section.iter().map(|it| it.trim()).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" "),
    };
    text.trim().chars().take(GOAL_CHARS).collect()
}

/// Ids in a line such as `AUTH-01, AUTH-02 (later), [UI-01 through UI-04]`; what stands in parentheses is
/// about them.
fn requirements(section: &[&str]) -> Vec<String> {
    let Some(list) = section.iter().find_map(|it| field(it, "Requirements")) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    let (mut depth, mut is_range) = (0, false);
    let words = list.replace('(', " ( ").replace(')', " ) ").replace("..", " - ").replace(['–', '—'], " - ");
    for word in words.split([',', ';', ' ', '\t']) {
        let word = word.trim_matches(['[', ']', '`', '*', '"', '.']);
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ if 0 < depth => (),
            "through" | "to" | "-" => is_range = true,
            "" => (),
            number if is_range && number.bytes().all(|it| it.is_ascii_digit()) => {
                is_range = false;
                let first = found.last().cloned().unwrap_or_default();
                let last = format!("{}{number}", first.trim_end_matches(|it: char| it.is_ascii_digit()));
                found.extend(between(&first, &last));
                found.push(last);
            }
            id if is_requirement(id) => {
                if let Some(first) = found.last().cloned().filter(|_| std::mem::take(&mut is_range)) {
                    found.extend(between(&first, id));
                }
                found.push(id.to_owned());
            }
            _ => is_range = false,
        }
    }
    found.truncate(CRITERIA_MOST);
    found
}

/// `AUTH-01`, `R1`: letters first, and a number.
pub fn is_requirement(text: &str) -> bool {
    let begins = text.starts_with(|it: char| it.is_ascii_alphabetic());
    let only = text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.'));
    begins && only && text.contains(|it: char| it.is_ascii_digit()) && text.len() <= 40
}

/// The ids between two of the same kind.
fn between(first: &str, last: &str) -> Vec<String> {
    let split = |id: &str| {
        let digits = id.len() - id.trim_end_matches(|it: char| it.is_ascii_digit()).len();
        let (name, number) = id.split_at(id.len() - digits);
        Some((name.to_owned(), number.parse::<usize>().ok()?, digits))
    };
    match (split(first), split(last)) {
        (Some((name, from, width)), Some((other, to, _)))
            if name == other && to.saturating_sub(from) <= CRITERIA_MOST =>
        {
            (from + 1..to).map(|it| format!("{name}{it:0width$}")).collect()
        }
        _ => Vec::new(),
    }
}

fn criteria(section: &[&str]) -> Vec<String> {
    let Some(start) = section.iter().position(|it| field(it, "Success Criteria").is_some()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for line in &section[start + 1..] {
        let item = line.trim();
        if item.is_empty() {
            continue;
        }
        let is_indented = line.starts_with("   ") && !found.is_empty();
        match list_item(item) {
            Some(text) if found.len() < CRITERIA_MOST => found.push(text.to_owned()),
            None if is_indented => {
                let last = found.last_mut().expect("there is one");
                last.push(' ');
                last.push_str(item);
            }
            Some(_) | None => break,
        }
    }
    found
}

fn list_item(item: &str) -> Option<&str> {
    if let Some((_, text)) = checkbox(item) {
        return Some(text);
    }
    let bullet = item.strip_prefix("- ").or_else(|| item.strip_prefix("* "));
    bullet.map(str::trim).or_else(|| {
        let (number, rest) = item.split_once(['.', ')'])?;
        (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())).then(|| rest.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::{phases, requirement_text, tick};
    use crate::documents::planning::number::PhaseNumber;

    const ROADMAP: &str = "# Roadmap\n\n- [x] **Phase 1: Base** - first (completed 2026-01-01)\n- [ ] **Phase 2.1: Fix** - inserted\n\
        - [ ] **Phase 10: Far** - later\n- [ ] **Phase 11: Only listed**\n\n## Phase Details\n\n### Phase 10: Far\n**Goal**: far away\n\n\
        ### Phase 1: Base\n**Goal:** A base\nthat holds\n**Depends on**: Nothing\n**Requirements**: [BASE-01, `BASE-02`]\n\
        **Success Criteria** (what must be TRUE):\n  1. It starts\n  2. It stops\n     in time\n**Plans**: 2 plans\n\nPlans:\n- [ ] 01-01: x\n\n\
        ### Phase 2.1: Fix (INSERTED)\nNo goal here.\n\n## Progress\n\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n\
        | 1. Base | 2/2 | Complete | 2026-01-01 |\n| 10. Far | 0/3 | Not started | - |\n";

    #[test]
    fn phases_are_found_by_their_exact_number() {
        let found = phases(ROADMAP);
        let names: Vec<(String, &str)> =
            found.iter().map(|it| (it.number.to_string(), it.name.as_str())).collect();
        let expected = [("1", "Base"), ("2.1", "Fix (INSERTED)"), ("10", "Far"), ("11", "Only listed")];
        assert_eq!(names, expected.map(|it| (it.0.to_owned(), it.1)));
        assert_eq!(found[0].goal, "A base that holds");
        assert_eq!(found[0].requirements, ["BASE-01", "BASE-02"]);
        assert_eq!(found[0].criteria, ["It starts", "It stops in time"]);
        assert_eq!(found[1].goal, "No goal here.");
        assert_eq!(found[2].goal, "far away");
    }

    #[test]
    fn a_phase_is_ticked_once_with_its_date() {
        let number = PhaseNumber::read("10").expect("a number");
        let once = tick(ROADMAP, &number, "2026-02-03", "notes", &["10-01", "10-02", "10-03"]);
        assert!(once.contains("- [x] **Phase 10: Far** - later (completed 2026-02-03) (notes)\n"), "{once}");
        assert!(once.contains("| 10. Far | 3/3 | Complete (notes) | 2026-02-03 |\n"), "{once}");
        assert_eq!(tick(&once, &number, "2026-03-03", "", &["10-01", "10-02", "10-03"]), once);
        assert_eq!(once.lines().count(), ROADMAP.lines().count());
    }

    #[test]
    fn plans_are_ticked_with_their_phase() {
        let text = "- [ ] Phase 1: Base (2 plans)\n### Phase 1: Base\n- [ ] 01-01-PLAN.md — a\n- [ ] 01-011: b\n- [ ] **01-02**: c\n";
        let number = PhaseNumber::read("1").expect("a number");
        assert_eq!(
            tick(text, &number, "2026-02-03", "", &["01-01"]),
            "- [x] Phase 1: Base (2 plans) (completed 2026-02-03)\n### Phase 1: Base\n- [x] 01-01-PLAN.md — a\n- [ ] 01-011: b\n- [ ] **01-02**: c\n"
        );
    }

    #[test]
    fn requirements_are_found_however_they_are_listed() {
        let ids = |line: &str| {
            phases(&format!("### Phase 1: A\n**Requirements**: {line}\n"))[0].requirements.join(" ")
        };
        for (line, expected) in [
            ("AUTH-01 (log in, by 2FA), AUTH-02", "AUTH-01 AUTH-02"),
            ("[AUTH-01 through AUTH-03], `UI-1`", "AUTH-01 AUTH-02 AUTH-03 UI-1"),
            ("AUTH-08–AUTH-10; R1", "AUTH-08 AUTH-09 AUTH-10 R1"),
            ("AUTH-01..03", "AUTH-01 AUTH-02 AUTH-03"),
            ("None (3 later)", ""),
            ("all of them", ""),
        ] {
            assert_eq!(ids(line), expected, "{line}");
        }
    }

    #[test]
    fn requirements_have_their_text_elsewhere() {
        let list = "- [ ] **AUTH-01**: People log in\n- **AUTH-011**: no\n- [x] AUTH-02 — out\n";
        assert_eq!(requirement_text(list, "AUTH-01").as_deref(), Some("People log in"));
        assert_eq!(requirement_text(list, "AUTH-02").as_deref(), Some("out"));
        assert_eq!(requirement_text(list, "AUTH-0"), None);
    }
}
