//! Changes of a design before it is locked: requirements and criteria that are added, removed or reworded.

use super::one_line;
use crate::documents::input::{self, below};

/// One change of a design's requirements or criteria.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Add {
        to: DesignSection,
        text: String,
    },
    Remove(String),
    /// As typed: `OLD=NEW`.
    Change(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesignSection {
    Requirements,
    Criteria,
}

/// Returns the design after these changes, or what cannot be done.
pub fn refine(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut text = text.to_owned();
    for edit in edits {
        text = match edit {
            Edit::Add { to, text: said } => add(&text, *to, &one_line(said))?,
            Edit::Remove(said) => {
                let item = find(&text, said)?;
                format!("{}{}", &text[..item.start], &text[item.end..])
            }
            Edit::Change(typed) => change(&text, typed)?,
        };
    }
    Ok(text)
}

fn add(text: &str, to: DesignSection, said: &str) -> Result<String, String> {
    if said.is_empty() {
        return Err("there is nothing to add".to_owned());
    }
    let (mark, heading) = match to {
        DesignSection::Requirements => ("-", "Requirements"),
        DesignSection::Criteria => ("- [ ]", "Acceptance Criteria"),
    };
    if let Some(last) = items(text, to).last() {
        let gap = if text[..last.end].ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{}{gap}{mark} {said}\n{}", &text[..last.end], &text[last.end..]));
    }
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        at += whole.len();
        if whole.starts_with('#') && is_of(to, whole.trim_start_matches('#').trim()) {
            return Ok(format!("{}\n{mark} {said}\n{}", &text[..at], &text[at..]));
        }
    }
    Ok(format!("{}\n\n## {heading}\n\n{mark} {said}\n", text.trim_end()))
}

/// What is changed may contain the sign between the two, so every place of it is tried: first for
/// an item that says exactly what stands before it.
fn change(text: &str, typed: &str) -> Result<String, String> {
    let halves: Vec<(&str, &str)> =
        typed.match_indices('=').map(|(at, _)| (&typed[..at], &typed[at + 1..])).collect();
    let exact = halves.iter().find_map(|(old, new)| Some((exactly(text, &one_line(old))?, *new)));
    let found = match (exact, halves.first()) {
        (Some(found), _) => found,
        (None, Some((old, new))) => (find(text, old)?, *new),
        (None, None) => return Err(format!("\"{typed}\" is not a change; write OLD=NEW")),
    };
    let (item, new) = (found.0, one_line(found.1));
    if new.is_empty() {
        return Err(format!("\"{typed}\" would leave nothing; use --remove"));
    }
    let gap = if text[..item.end].ends_with('\n') { "\n" } else { "" };
    Ok(format!("{}{new}{gap}{}", &text[..item.says], &text[item.end..]))
}

/// An item of a list, from its first line to its last, and where its words begin.
struct DesignItem {
    start: usize,
    says: usize,
    end: usize,
}

fn is_of(section: DesignSection, heading: &str) -> bool {
    let heading = heading.to_ascii_lowercase();
    match section {
        DesignSection::Requirements => heading.contains("requirements"),
        DesignSection::Criteria => heading.contains("criteria"),
    }
}

fn items(text: &str, section: DesignSection) -> Vec<DesignItem> {
    let mut items: Vec<DesignItem> = Vec::new();
    let mut open = false;
    for line in below(text, |it| is_of(section, it)) {
        let whole = text[line.start..].split_inclusive('\n').next().unwrap_or_default().len();
        let end = line.start + whole;
        if let Some(says) = words_of(line.text).filter(|_| !line.fenced) {
            items.push(DesignItem { start: line.start, says: line.start + says, end });
            open = true;
        } else if open && !line.fenced && line.text.starts_with([' ', '\t']) && !line.text.trim().is_empty() {
            if let Some(last) = items.last_mut() {
                last.end = end;
            }
        } else {
            open = false;
        }
    }
    items
}

/// Returns where the words of a list item begin.
fn words_of(line: &str) -> Option<usize> {
    if let Some((_, says)) = input::checkbox(line) {
        return Some(line.trim_end().len() - says.len());
    }
    let item = line.trim_start();
    let numbered = item.trim_start_matches(|it: char| it.is_ascii_digit());
    let rest = if numbered.len() < item.len() {
        numbered.strip_prefix(['.', ')'])?
    } else {
        item.strip_prefix(['-', '*', '+'])?
    };
    rest.starts_with(' ').then(|| line.len() - rest.trim_start().len())
}

/// Returns the one item that says this, or that alone contains it.
fn find(text: &str, said: &str) -> Result<DesignItem, String> {
    let wanted = one_line(said);
    if wanted.is_empty() {
        return Err("an empty text names no item".to_owned());
    }
    if let Some(item) = exactly(text, &wanted) {
        return Ok(item);
    }
    let mut alike: Vec<DesignItem> =
        all_items(text).filter(|it| says(text, it).contains(&wanted.to_lowercase())).collect();
    match alike.len() {
        0 => Err(format!("no requirement or criterion says \"{wanted}\"")),
        1 => Ok(alike.remove(0)),
        count => Err(format!("{count} items say \"{wanted}\"; write more of the one that is meant")),
    }
}

fn exactly(text: &str, wanted: &str) -> Option<DesignItem> {
    all_items(text).find(|it| says(text, it) == wanted.to_lowercase())
}

fn all_items(text: &str) -> impl Iterator<Item = DesignItem> {
    items(text, DesignSection::Criteria).into_iter().chain(items(text, DesignSection::Requirements))
}

fn says(text: &str, item: &DesignItem) -> String {
    one_line(&text[item.says..item.end]).to_lowercase()
}
