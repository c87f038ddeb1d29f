//! `LEARNINGS.md`: what sessions hand on to each other. Read for the commands that validate the work and
//! for the last issues that were found; agents append to it, people tidy it.

use super::{cells, heading};

/// More is not read by anybody, and every session pays for it.
pub const LINES_MOST: usize = 150;

/// Returns the commands of the primary block: the first code block below "Validation Commands", or the
/// one that follows the word "primary".
pub fn validation(text: &str) -> Vec<String> {
    let section = section(text, "validation commands");
    let mut blocks: Vec<(bool, Vec<String>)> = Vec::new();
    let mut is_primary = false;
    let mut open: Option<Vec<String>> = None;
    for line in section {
        let is_fence = line.trim_start().starts_with("```");
        match (&mut open, is_fence) {
            (None, true) => open = Some(Vec::new()),
            (Some(_), true) => {
                blocks.push((std::mem::take(&mut is_primary), open.take().unwrap_or_default()))
            }
            (Some(commands), false) => commands.push(line.trim().to_owned()),
            (None, false) if line.to_lowercase().contains("primary") => is_primary = true,
            (None, false) if line.to_lowercase().contains("secondary") => is_primary = false,
            (None, false) => (),
        }
    }
    let chosen = blocks.iter().find(|it| it.0).or(blocks.first());
    let commands = chosen.map(|it| it.1.clone()).unwrap_or_default();
    let is_command = |it: &String| !it.is_empty() && !it.starts_with('#');
    commands
        .into_iter()
        .filter(is_command)
        .map(|it| it.strip_prefix("$ ").map(str::to_owned).unwrap_or(it))
        .collect()
}

/// Returns the last rows of the table of discovered issues, as one line each.
pub fn last_issues(text: &str, most: usize) -> Vec<String> {
    let rows = section(text, "discovered issues").into_iter().filter_map(cells).skip(1);
    let rows: Vec<String> =
        rows.filter(|it| it.iter().any(|it| !it.is_empty())).map(|it| it.join(" | ")).collect();
    rows[rows.len().saturating_sub(most)..].to_vec()
}

/// How many entries the file has of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    pub patterns: usize,
    pub constraints: usize,
    pub decisions: usize,
    pub issues: usize,
}

/// Counts what was learned: points of lists, and rows of tables.
pub fn entries(text: &str) -> Entries {
    let rows = |title: &str| {
        let rows = section(text, title).into_iter().filter_map(cells).skip(1);
        rows.filter(|it| it.iter().any(|it| !it.is_empty())).count()
    };
    let points = |title: &str| {
        let is_point = |it: &&str| it.trim_start().starts_with("- ") || it.trim_start().starts_with("* ");
        section(text, title).into_iter().filter(is_point).count()
    };
    Entries {
        patterns: points("patterns"),
        constraints: points("constraints"),
        decisions: rows("session decisions"),
        issues: rows("discovered issues"),
    }
}

fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let mut level = None;
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match (heading(line).filter(|_| !fenced), level) {
            (Some((at, name)), None) if name.to_lowercase().starts_with(title) => level = Some(at),
            (Some((at, _)), Some(own)) if at <= own => break,
            (_, Some(_)) => found.push(line),
            (_, None) => (),
        }
        fenced ^= is_fence;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Entries, entries, last_issues, validation};

    #[test]
    fn the_primary_block_and_the_last_issues_are_read() {
        let text = "# Learnings\n\n## Validation Commands\n\nSecondary:\n\n```sh\nslow\n```\n\n### Primary (must pass)\n\n```bash\n# tests\n$ cargo test\ncargo build\n```\n\n\
            ## Session Decisions\n\n| ID | D |\n|---|---|\n| 1 | x |\n\n## Discovered Issues\n\n| Date | Issue |\n|---|---|\n| 1 | a |\n| 2 | b |\n| 3 | c |\n| 4 | d |\n";
        assert_eq!(validation(text), ["cargo test", "cargo build"]);
        assert_eq!(last_issues(text, 3), ["2 | b", "3 | c", "4 | d"]);
        let lists = format!("{text}\n## Patterns\n\n### Code\n- a\n- b\n\n## Constraints\n\n### Do\n- c\n");
        assert_eq!(entries(&lists), Entries { patterns: 2, constraints: 1, decisions: 1, issues: 4 });
        assert_eq!(validation("## Validation Commands\n```\nmake\n```\n"), ["make"]);
        assert_eq!(validation("nothing"), Vec::<String>::new());
    }
}
