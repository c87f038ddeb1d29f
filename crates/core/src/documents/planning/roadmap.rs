//! `ROADMAP.md`: the phases of a project, what each is to reach and by what it is judged, and how a
//! phase is ticked. A phase is found by the exact number in its heading, `### Phase 3: Name`.

use super::number::PhaseNumber;
pub use super::roadmap_section::is_requirement;
use super::roadmap_section::{criteria, goal, requirements};
use super::{cells, checkbox, heading, plain_lines};

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
    /// Whether its box in the list at the top is ticked; `None` where the list has no such box.
    pub ticked: Option<bool>,
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
            ticked: None,
        });
    }
    for (_, line) in &lines {
        if let Some((number, name)) = listed(line) {
            let heading = format!("Phase {number}: {name}");
            let (goal, requirements, criteria) = (String::new(), Vec::new(), Vec::new());
            let name = name.to_owned();
            add(RoadmapPhase { number, name, heading, goal, requirements, criteria, ticked: None });
        }
    }
    for (_, line) in &lines {
        if let (Some((number, _)), Some((ticked, _))) = (listed(line), checkbox(line)) {
            let phase = found.iter_mut().find(|it| it.number == number && it.ticked.is_none());
            phase.into_iter().for_each(|it| it.ticked = Some(ticked));
        }
    }
    found.sort_by(|one, other| one.number.cmp(&other.number));
    found
}

/// Returns the phase that comes after one that is done: the next one that is not ticked.
pub fn next_after<'a>(phases: &'a [RoadmapPhase], done: &PhaseNumber) -> Option<&'a RoadmapPhase> {
    phases.iter().find(|it| *done < it.number && it.ticked != Some(true))
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
    let mut columns: Option<ProgressColumns> = None;
    let mut is_table = false;
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
            _ => match columns.as_ref().and_then(|it| Some((it, row(bare, number, it)?))) {
                Some((columns, cells)) => {
                    out.push_str(&columns.completed_row(&cells, plans.len(), date, &mark));
                }
                None => out.push_str(bare),
            },
        }
        let was_table = std::mem::replace(&mut is_table, bare.trim_start().starts_with('|'));
        if !is_table {
            columns = None;
        } else if !was_table {
            columns = cells(bare).and_then(|it| ProgressColumns::of(&it));
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

/// Where the table of progress says what, by the names of its columns; other tables may begin with a number too.
struct ProgressColumns {
    plans: Option<usize>,
    status: usize,
    completed: Option<usize>,
}

impl ProgressColumns {
    /// Reads the head of a table: `| Phase | Plans Complete | Status | Completed |`.
    fn of(head: &[&str]) -> Option<ProgressColumns> {
        let column = |name: &str| head.iter().position(|it| it.to_lowercase().starts_with(name));
        (column("phase") == Some(0)).then_some(())?;
        Some(ProgressColumns {
            plans: column("plans"),
            status: column("status")?,
            completed: column("completed").or_else(|| column("date")),
        })
    }

    fn completed_row(&self, cells: &[&str], plans: usize, date: &str, mark: &str) -> String {
        let mut cells: Vec<String> = cells.iter().map(|it| (*it).to_owned()).collect();
        let mut set = |index: Option<usize>, text: String| {
            if let Some(cell) = index.and_then(|it| cells.get_mut(it)) {
                *cell = text;
            }
        };
        set(self.plans.filter(|_| plans != 0), format!("{plans}/{plans}"));
        set(Some(self.status), format!("Complete{mark}"));
        set(self.completed, date.to_owned());
        format!("| {} |", cells.join(" | "))
    }
}

/// The row of a phase that the table of progress does not call complete: `| 3. Name | 1/3 | In progress | - |`.
fn row<'a>(line: &'a str, number: &PhaseNumber, columns: &ProgressColumns) -> Option<Vec<&'a str>> {
    let cells = cells(line)?;
    let first = cells[0].strip_prefix("Phase ").unwrap_or(cells[0]);
    let (found, rest) = PhaseNumber::prefix(first)?;
    let status = cells.get(columns.status)?.trim_start_matches(|it: char| !it.is_alphanumeric());
    let is_row = found == *number
        && (rest.is_empty() || rest.starts_with(['.', ':', ' ']))
        && !status.starts_with("Complete");
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

#[cfg(test)]
mod tests {
    use super::{next_after, phases, requirement_text, tick};
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
    fn a_row_is_known_by_the_columns_of_its_table() {
        let number = PhaseNumber::read("3").expect("a number");
        let ticked = |text: &str| tick(text, &number, "2026-02-03", "", &["03-01"]);
        let head = "| Phase | Status | Progress | Requirements |\n|---|---|---|---|\n";
        assert_eq!(
            ticked(&format!("{head}| 3 - Accounts | Planned | 0% | 0/26 |\n")),
            format!("{head}| 3 - Accounts | Complete | 0% | 0/26 |\n")
        );
        let head = "| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n";
        assert_eq!(
            ticked(&format!("{head}| 3. Accounts | v2 | 0/? | Not started | - |\n")),
            format!("{head}| 3. Accounts | v2 | 1/1 | Complete | 2026-02-03 |\n")
        );
        for other in [
            "| Risk | Status | Who | When |\n|---|---|---|---|\n| 3. Late | open | me | - |\n",
            "| Phase | Goal | Size | Who |\n|---|---|---|---|\n| 3. Accounts | log in | 2 | me |\n",
            "| Phase | Status |\n|---|---|\n| 3 | ✅ Complete |\n",
        ] {
            assert_eq!(ticked(other), other);
        }
    }

    #[test]
    fn the_next_phase_is_the_next_one_that_is_not_ticked() {
        let text = "- [ ] **Phase 1: A**\n- [x] **Phase 2: B**\n- [ ] **Phase 3: C**\n### Phase 4: D\n";
        let found = phases(text);
        let next = |done: &str| next_after(&found, &PhaseNumber::read(done)?).map(|it| it.number.to_string());
        assert_eq!((next("1").as_deref(), next("3").as_deref(), next("4")), (Some("3"), Some("4"), None));
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
