//! What a run works on, as far as the engine needs to know it: how many criteria the document
//! lists, which are open, what it promises, how it is validated, and whether anything but its
//! checkboxes and its status has changed. Text in, facts out.

use crate::documents::task_kind::{ANY_PROMISE, promise_of_type};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// A document is read up to this size; a larger one is no description of a task.
pub const LARGEST: u64 = 4 << 20;

/// The boxes below a heading that names criteria.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    pub total: u32,
    pub open: u32,
}

/// Counts `- [ ]` and `- [x]` below headings that say "criteria".
pub fn criteria(text: &str) -> Criteria {
    let mut found = Criteria::default();
    for (ticked, _) in boxes(text) {
        found.total += 1;
        found.open += u32::from(!ticked);
    }
    found
}

/// Returns what the open boxes say.
pub fn open_criteria(text: &str) -> Vec<&str> {
    boxes(text).filter(|(ticked, _)| !ticked).map(|(_, says)| says).collect()
}

fn boxes(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let names_criteria = |heading: &str| heading.to_ascii_lowercase().contains("criteria");
    below(text, names_criteria).filter(|it| !it.fenced).filter_map(|it| checkbox(it.text))
}

/// Returns the commands of the fenced blocks below a heading that begins with "Validation".
pub fn validation(text: &str) -> Vec<String> {
    let is_validation = |heading: &str| heading.to_ascii_lowercase().starts_with("validation");
    let commands = below(text, is_validation).filter(|it| it.fenced).map(|it| {
        let command = it.text.trim();
        command.strip_prefix("$ ").unwrap_or(command)
    });
    commands.filter(|it| !it.is_empty() && !it.starts_with('#')).map(str::to_owned).collect()
}

/// Returns the promise that belongs to the document's task type.
pub fn promise(text: &str) -> &'static str {
    let typed = text.lines().find_map(|line| field(line, "task type"));
    typed.map_or(ANY_PROMISE, promise_of_type)
}

/// Returns a hash of the text that ticking a box or locking the document does not change.
pub fn lock(text: &str) -> String {
    let status = status_line(text);
    let mut digest = Sha256::new();
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let start = at;
        at += whole.len();
        if status.as_ref().is_some_and(|it| it.start == start) {
            continue;
        }
        let line = whole.trim_end();
        // Locking may add an empty line, and formatters do what they like with them.
        if line.is_empty() {
            continue;
        }
        match box_of(line) {
            Some(mark) => {
                digest.update(&line[..mark]);
                digest.update("[ ]");
                digest.update(&line[mark + 3..]);
            }
            None => digest.update(line),
        }
        digest.update("\n");
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns where the document says its status: a line of its head, that is before its sections.
pub(crate) fn status_line(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        if line.starts_with("## ") || is_fence(line).is_some() {
            return None;
        }
        if field(line, "status").is_some() {
            return Some(at..at + line.len());
        }
        at += whole.len();
    }
    None
}

/// Returns the value of a line like `**Task Type**: Feature`.
pub fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let bare = |it: &'a str| it.trim_matches(|it: char| it == '*' || it.is_whitespace());
    let (key, value) = line.trim().split_once(':')?;
    bare(key).eq_ignore_ascii_case(name).then(|| bare(value))
}

/// Returns whether the line is a checkbox, whether it is ticked, and what it says.
pub(crate) fn checkbox(line: &str) -> Option<(bool, &str)> {
    let mark = box_of(line)?;
    Some((&line[mark..mark + 3] != "[ ]", line[mark + 3..].trim()))
}

/// Returns where the box of a list item begins.
fn box_of(line: &str) -> Option<usize> {
    let item = line.trim_start().strip_prefix(['-', '*', '+'])?.trim_start();
    let mark = item.get(..3)?;
    ["[ ]", "[x]", "[X]"].contains(&mark).then(|| line.len() - item.len())
}

/// A line of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionLine<'a> {
    /// Where it begins in the document.
    pub start: usize,
    pub text: &'a str,
    /// It stands in a code block.
    pub fenced: bool,
}

/// Returns the lines of the sections whose heading is wanted, headings and fences aside. A section
/// continues through headings of a deeper level. A heading in a code block is code.
pub fn below(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = SectionLine<'_>> {
    let mut inside: Option<usize> = None;
    let mut fence: Option<(char, usize)> = None;
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |whole| {
        let start = at;
        at += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        match (fence, is_fence(line)) {
            (None, Some(opened)) => {
                fence = Some(opened);
                return None;
            }
            (Some((mark, count)), Some((closing, closed))) if mark == closing && count <= closed => {
                fence = None;
                return None;
            }
            (None, None) | (Some(_), _) => (),
        }
        let level = line.chars().take_while(|it| *it == '#').count();
        if fence.is_none() && 0 < level {
            inside = inside.filter(|it| *it < level).or(wanted(line[level..].trim()).then_some(level));
            return None;
        }
        inside.map(|_| SectionLine { start, text: line, fenced: fence.is_some() })
    })
}

fn is_fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|it| ['`', '~'].contains(it))?;
    let count = line.chars().take_while(|it| *it == mark).count();
    (3 <= count).then_some((mark, count))
}

#[cfg(test)]
mod tests {
    use super::{Criteria, criteria, lock, open_criteria, promise, validation};

    const DESIGN: &str = "# A task\n**Task Type**: Bug Fix\n## Acceptance Criteria\n- [ ] one\n- [x] two\n\
        ## Validation Checks\n```bash\n# comment\n./scripts/test.sh\nmake check\n```\n## Notes\n- [ ] not one\n";

    #[test]
    fn counts_the_boxes_below_criteria_only() {
        assert_eq!(criteria(DESIGN), Criteria { total: 2, open: 1 });
        assert_eq!(criteria("no boxes"), Criteria { total: 0, open: 0 });
    }

    #[test]
    fn a_section_goes_on_through_deeper_headings_and_code_is_no_box() {
        let text = "# T\n## Acceptance Criteria\n### Fast\n- [ ] one\n```\n- [ ] code\n# no heading\n```\n\
            ### Safe\n* [X] two\n+ [ ] three\n## After\n- [ ] four\n";
        assert_eq!(criteria(text), Criteria { total: 3, open: 2 });
        assert_eq!(open_criteria(text), ["one", "three"]);
    }

    #[test]
    fn commands_may_stand_in_any_fence_and_after_a_prompt_sign() {
        let text = "## Validation\n~~~sh\n$ make check\n```\n~~~\n### More\n````\n./a b # c\n````\n";
        assert_eq!(validation(text), ["make check", "```", "./a b # c"]);
    }

    #[test]
    fn rt29_every_line_of_the_fenced_block_is_a_command() {
        assert_eq!(validation(DESIGN), ["./scripts/test.sh", "make check"]);
    }

    #[test]
    fn rt05_the_type_makes_the_promise() {
        let of = |kind: &str| promise(&format!("# T\n**Task Type**: {kind}\n"));
        let kinds = [
            "Feature",
            "Bug Fix",
            "Testing",
            "Performance",
            "Refactoring",
            "Security",
            "Documentation",
            "API",
        ];
        let promises = kinds.map(of);
        let expected = [
            "FEATURE_COMPLETE",
            "BUG_FIXED",
            "TESTS_COMPLETE",
            "OPTIMIZED",
            "REFACTORED",
            "SECURITY_FIXED",
            "DOCS_COMPLETE",
            "API_COMPLETE",
        ];
        assert_eq!(promises, expected);
        assert_eq!(
            [of("API Testing"), of("prefix work"), promise("# T\n")],
            ["TESTS_COMPLETE", "TASK_COMPLETE", "TASK_COMPLETE"]
        );
    }

    #[test]
    fn a_tick_or_a_status_does_not_break_the_lock_and_anything_else_does() {
        let ticked = DESIGN.replace("- [ ] one", "- [x] one");
        assert_eq!(lock(DESIGN), lock(&ticked));
        assert_ne!(lock(DESIGN), lock(&DESIGN.replace("one", "another")));
        let locked = DESIGN.replace("# A task\n", "# A task\n\n**Status**: LOCKED\n");
        assert_eq!(lock(DESIGN), lock(&locked));
        let below = DESIGN.replace("## Notes\n", "## Notes\n**Status**: LOCKED\n");
        assert_ne!(lock(DESIGN), lock(&below));
        assert_ne!(lock("- [ ] a [x]"), lock("- [ ] a [ ]"));
    }
}
