//! The documents of a `.planning/` folder: the roadmap and its phases, plans and their tasks, summaries,
//! verification reports, the position, the learnings and the configuration. Text in, facts out: nothing
//! here reads a file, and nothing fails on what people or agents wrote. What cannot be understood is a
//! [`DocumentMistake`] with its line. [`phase::Phase`] puts the files of one phase together.

pub mod config;
pub mod front_matter;
pub mod learnings;
pub mod number;
pub mod phase;
pub mod plan;
#[cfg(test)]
mod properties;
pub mod roadmap;
mod roadmap_section;
pub mod state_file;
mod task_elements;
pub mod verification;

/// Something in a document that cannot be meant, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentMistake {
    /// From 1.
    pub line: usize,
    pub text: String,
}

impl DocumentMistake {
    pub(super) fn at(line: usize, text: impl Into<String>) -> DocumentMistake {
        DocumentMistake { line, text: text.into() }
    }
}

impl std::fmt::Display for DocumentMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// Lines that stand outside of code fences, with their numbers from 1.
pub(super) fn plain_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((index + 1, line))
    })
}

/// Returns the level and the text of a Markdown heading.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|it| *it == b'#').count();
    let rest = line.get(level..)?;
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

/// Returns the cells of a row of a Markdown table; none for the line below its head.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?;
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
    let is_rule = cells.iter().all(|it| !it.is_empty() && it.chars().all(|it| matches!(it, '-' | ':')));
    (!is_rule).then_some(cells)
}

/// Returns whether a list item is ticked, and what it says.
pub(super) fn checkbox(line: &str) -> Option<(bool, &str)> {
    let item = line.trim_start();
    let item = item.strip_prefix("- ").or_else(|| item.strip_prefix("* "))?.trim_start();
    let (ticked, rest) = match item.get(..3)? {
        "[ ]" => (false, &item[3..]),
        "[x]" | "[X]" => (true, &item[3..]),
        _ => return None,
    };
    Some((ticked, rest.trim()))
}
