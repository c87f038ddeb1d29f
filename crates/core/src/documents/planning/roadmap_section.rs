//! What the roadmap says about one phase: its goal, the requirements it names and its success criteria. Each stands
//! behind a word in bold, `**Goal**: …`, or below a heading of its own, as a line, a list or a table.

use super::{cells, checkbox, heading};

/// Criteria of one phase that are read; a longer list is no list of criteria.
const CRITERIA_MOST: usize = 50;

/// A goal is a sentence or a few.
const GOAL_CHARS: usize = 1000;

/// What stands for something that nobody has written yet.
const NOTHING: [&str; 5] = ["", "-", "none", "n/a", "tbd"];

/// What follows `**Goal**:`, however it is set.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim_start().trim_start_matches(['*', '-', ' ']);
    let rest = line.strip_prefix(name)?.trim_start_matches('*');
    let rest = rest.split_once(':').filter(|it| !it.0.contains('.')).map(|it| it.1)?;
    Some(rest.trim_start_matches('*').trim())
}

pub(super) fn goal(section: &[&str]) -> String {
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

/// What a phase says under a name: the rest of the line, and the lines below it up to the next heading.
fn part<'a>(section: &[&'a str], name: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let below_heading = |line: &'a str| {
        let rest = heading(line)?.1.trim_start_matches('*').strip_prefix(name)?;
        (!rest.starts_with(|it: char| it.is_alphanumeric())).then_some("")
    };
    let (index, said) = section.iter().enumerate().find_map(|(index, &line)| {
        field(line, name).or_else(|| below_heading(line)).map(|said| (index, said))
    })?;
    let below = section[index + 1..].iter().copied();
    Some((said, below.take_while(|it| heading(it).is_none()).collect()))
}

/// Returns the ids that a phase names on one line, or where there is nothing on it as a list or table below.
pub(super) fn requirements(section: &[&str]) -> Vec<String> {
    let Some((said, below)) = part(section, "Requirements") else { return Vec::new() };
    let mut found = ids(&words(said));
    for line in below.iter().map(|it| it.trim()).filter(|it| said.is_empty() && !it.is_empty()) {
        let begins = match cells(line) {
            Some(cells) => leading_ids(cells[0]),
            None if line.starts_with('|') => continue,
            None => leading_ids(list_item(line).unwrap_or(line)),
        };
        // The next field of the phase begins like this.
        if begins.is_empty() && line.starts_with("**") {
            break;
        }
        found.extend(begins);
    }
    found.truncate(CRITERIA_MOST);
    found
}

fn words(text: &str) -> Vec<String> {
    let text = text.replace('(', " ( ").replace(')', " ) ").replace("..", " - ").replace(['–', '—'], " - ");
    let words = text.split([',', ';', ' ', '\t']);
    let words = words.map(|it| it.trim_matches(['[', ']', '`', '*', '"', '.', ':']).to_owned());
    words.filter(|it| !it.is_empty()).collect()
}

/// The ids that a text begins with; in what follows them `R2` may be a word like any other.
fn leading_ids(text: &str) -> Vec<String> {
    let joins = |it: &String| matches!(it.as_str(), "through" | "to" | "-" | "and");
    let mut words = words(text.split([':', '—']).next().unwrap_or(text));
    let end = words.iter().position(|it| !is_requirement(it) && !joins(it)).unwrap_or(words.len());
    words.truncate(end);
    ids(&words)
}

/// Ids in a line such as `AUTH-01, AUTH-02 (later), [UI-01 through UI-04]`; what stands in parentheses is
/// about them.
fn ids(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut depth, mut is_range) = (0, false);
    for word in words {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ if 0 < depth => (),
            "through" | "to" | "-" => is_range = true,
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
    found
}

/// `AUTH-01`, `R1`: letters first, and a number; or words in capitals, `UI-SHELL`.
pub fn is_requirement(text: &str) -> bool {
    let begins = text.starts_with(|it: char| it.is_ascii_alphabetic());
    let only = text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.'));
    let is_shouted = text.contains('-') && !text.contains(|it: char| it.is_ascii_lowercase());
    let is_numbered = text.contains(|it: char| it.is_ascii_digit());
    begins && only && (is_numbered || is_shouted) && text.len() <= 40
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

/// Returns what a phase is judged by: the points of a list, or the one sentence that stands in its place.
pub(super) fn criteria(section: &[&str]) -> Vec<String> {
    let Some((said, below)) = part(section, "Success Criteria") else { return Vec::new() };
    let mut sentence = said.to_owned();
    let mut found: Vec<String> = Vec::new();
    for line in below {
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
            // Words before the list.
            None if found.is_empty() && !item.starts_with("**") => {
                if sentence.is_empty() && !item.ends_with(':') {
                    item.clone_into(&mut sentence);
                }
            }
            Some(_) | None => break,
        }
    }
    if found.is_empty() && !NOTHING.contains(&sentence.to_lowercase().as_str()) {
        found.push(sentence);
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
    use super::{criteria, is_requirement, requirements};

    fn lines(text: &str) -> Vec<&str> {
        text.lines().collect()
    }

    #[test]
    fn what_stands_below_headings_is_read_too() {
        let text = "**Goal:** People have accounts\n\n### Dependencies\n\n- Phase 1\n\n### Requirements\n\n| ID | Requirement |\n|---|---|\n\
            | AUTH-01 | Log in with R2 |\n| **UI-SHELL** | A frame |\n\n### Success Criteria\n\nIn the end:\n\n1. **Login:** people log in\n   by name\n2. They log out\n\n\
            ### Plans\n\n- [ ] 03-01-PLAN.md\n";
        assert_eq!(requirements(&lines(text)), ["AUTH-01", "UI-SHELL"]);
        assert_eq!(criteria(&lines(text)), ["**Login:** people log in by name", "They log out"]);
    }

    #[test]
    fn requirements_may_be_a_list() {
        let list = |text: &str| requirements(&lines(text)).join(" ");
        let below = "\n**Success Criteria**:\n  1. R2 keeps files\n";
        for (text, expected) in [
            (
                "**Requirements**:\n- **AUTH-01**: log in to R2\n- [ ] AUTH-02 — R2 is out\n",
                "AUTH-01 AUTH-02",
            ),
            ("**Requirements:**\n\n- AUTH-01 through AUTH-03\n", "AUTH-01 AUTH-02 AUTH-03"),
            ("**Requirements**: None\n- AUTH-01\n", ""),
            ("**Requirements**:\n", ""),
            ("#### Requirements\nAUTH-01, AUTH-02\n", "AUTH-01 AUTH-02"),
        ] {
            assert_eq!(list(&format!("{text}{below}")), expected, "{text}");
        }
    }

    #[test]
    fn one_sentence_is_a_criterion() {
        let read = |text: &str| criteria(&lines(text)).join("|");
        assert_eq!(read("**Success Criteria**: people log in\n**Plans**: 2\n"), "people log in");
        assert_eq!(read("### Success Criteria\n\nPeople log in\n"), "People log in");
        assert_eq!(read("**Success Criteria**: all of these:\n- a\n- b\n"), "a|b");
        for text in
            ["**Success Criteria**: TBD\n", "**Success Criteria** (what must be TRUE):\n**Plans**: 2\n"]
        {
            assert_eq!(read(text), "", "{text}");
        }
    }

    #[test]
    fn ids_have_a_number_or_are_capitals() {
        for id in ["AUTH-01", "R1", "auth-1", "UI-SHELL", "A_B-C"] {
            assert!(is_requirement(id), "{id}");
        }
        for word in ["login", "TBD", "None", "log-in", "03-01", "-A", "A/B-C"] {
            assert!(!is_requirement(word), "{word}");
        }
    }
}
