//! The design file of `ralph`: how one is composed from a sentence, refined, and locked. A design
//! is for people to read and change before the work begins; from then on only its boxes are ticked.
//! Text in, text out: nothing here knows where the file lies, and what a run reads in it is
//! `input`'s affair.

mod refine;

pub use refine::{DesignSection, Edit, refine};

use crate::documents::input::{below, field, status_line};
use crate::documents::task_kind::{TaskKind, promise_of_type};
use loop_base::time::Timestamp;

/// The status of a design that a run works on.
const LOCKED: &str = "**Status**: LOCKED ✅ - Ready for Implementation";

/// What a design is composed from.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    pub sentence: &'a str,
    pub kind: Option<&'static TaskKind>,
    /// Commands that prove the work.
    pub checks: &'a [String],
    /// Whether a person is going to read it before the work begins. Boxes that nobody has agreed to
    /// would only be ticked; without them the checks decide alone.
    pub reviewed: bool,
    pub at: Timestamp,
}

/// Returns the name of a design that is made at this moment, without its ending.
pub fn stem(at: Timestamp) -> String {
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    format!("DESIGN-{day}-{time}")
}

/// Returns what orders designs by age: the moment in the name and the number after it.
pub fn age(name: &str) -> Option<(&str, u32)> {
    let rest = name.strip_prefix("DESIGN-")?.strip_suffix(".md")?;
    let stamp = rest.get(..15)?;
    let right = |(at, it): (usize, char)| if at == 8 { it == '-' } else { it.is_ascii_digit() };
    if !stamp.char_indices().all(right) {
        return None;
    }
    let number = rest[15..].strip_prefix('-').and_then(|it| it.parse().ok()).unwrap_or(1);
    Some((stamp, number))
}

/// Writes a design.
pub fn compose(draft: &Draft) -> String {
    let sentence = one_line(draft.sentence);
    let title = title(&sentence);
    let name = draft.kind.map_or("General", |it| it.name);
    let promise = promise_of_type(name);
    let quoted: String = draft.sentence.trim().lines().map(|it| format!("> {}\n", it.trim_end())).collect();
    let mark = if draft.reviewed { "- [ ]" } else { "-" };
    let more = draft.kind.map_or(String::new(), |it| format!("{mark} {}\n", it.criterion));
    let ticked = if draft.reviewed { " and ticked" } else { "" };
    let checks = match draft.checks {
        [] => "# The project's own build and tests are run; commands here are run too.".to_owned(),
        checks => checks.join("\n"),
    };
    format!(
        "# {title}\n\n**Status**: Design Phase\n**Task Type**: {name}\n**Created**: {at}\n\n\
         ## Context\n\n{quoted}\n\
         ## Goals\n\n- {sentence}\n\n\
         ## Requirements\n\n- {sentence}\n- Existing behaviour keeps working\n\n\
         ## Technical Approach\n\nFollow the conventions of the existing code, and prefer the smallest change that \
         meets the\nrequirements. Put reasons that the code cannot show into the commit messages.\n\n\
         ## Implementation Tasks\n\n1. Read the relevant code and its tests\n2. Write the tests that are missing\n\
         3. Make the change\n4. Run the validation checks and fix what they find\n5. Commit\n\n\
         ## Acceptance Criteria\n\n{mark} {sentence}\n{more}{mark} All tests pass, and none was skipped or weakened\n\n\
         ## Validation Checks\n\n```bash\n{checks}\n```\n\n\
         ## Completion Conditions\n\n- Every acceptance criterion is met{ticked}\n- The validation checks pass\n\
         - Everything is committed\n\nOnly then end the final message with `<promise>{promise}</promise>` \
         alone on its line.\n\n\
         ## Edge Cases\n\n- Empty, very large and malformed input\n- Errors returned by everything that is called\n\n\
         ## Rollback\n\nRevert the commits of this task; nothing outside the repository changes.\n",
        at = draft.at,
    )
}

/// Returns the sentence that a design was composed from.
pub fn sentence_of(text: &str) -> Option<String> {
    let lines = below(text, |it| it.eq_ignore_ascii_case("context"));
    let quoted = lines.skip_while(|it| it.text.trim().is_empty()).map_while(|it| it.text.strip_prefix('>'));
    let lines: Vec<&str> = quoted.map(|it| it.strip_prefix(' ').unwrap_or(it)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

pub fn is_locked(text: &str) -> bool {
    let value = status_line(text).and_then(|it| field(&text[it], "status"));
    value.is_some_and(|it| it.to_ascii_uppercase().starts_with("LOCKED"))
}

/// Returns the design as it stands while a run works on it.
pub fn locked(text: &str) -> String {
    if is_locked(text) {
        return text.to_owned();
    }
    if let Some(status) = status_line(text) {
        return format!("{}{LOCKED}{}", &text[..status.start], &text[status.end..]);
    }
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        if whole.starts_with("# ") {
            let end = at + whole.trim_end().len();
            return format!("{}\n\n{LOCKED}{}", &text[..end], &text[end..]);
        }
        at += whole.len();
    }
    format!("{LOCKED}\n\n{text}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A title is read at a glance.
const TITLE_MOST: usize = 80;

fn title(sentence: &str) -> String {
    let bare = sentence.trim_start_matches(['#', '-', '*', ' ']).trim_end_matches(['.', ' ']);
    let mut letters = bare.chars();
    let first: String = letters.next().map(|it| it.to_uppercase().collect()).unwrap_or_default();
    let whole = format!("{first}{}", letters.as_str());
    if whole.chars().count() <= TITLE_MOST {
        return whole;
    }
    let cut: String = whole.chars().take(TITLE_MOST).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{words} …")
}

#[cfg(test)]
mod tests {
    use super::{DesignSection, Draft, Edit, age, compose, is_locked, locked, refine, sentence_of, stem};
    use crate::documents::input;
    use crate::documents::task_kind::kind_of;
    use loop_base::time::Timestamp;

    fn draft(sentence: &str) -> String {
        compose(&Draft {
            sentence,
            kind: kind_of(sentence),
            checks: &["cargo build".to_owned(), "cargo test".to_owned()],
            reviewed: true,
            at: Timestamp(1_768_833_022_000),
        })
    }

    #[test]
    fn a_design_has_every_section_and_reads_back() {
        insta::assert_snapshot!(draft("fix the date parser: it takes 31 February."));
        let text = draft("fix a\n## Acceptance Criteria\n- [ ] forged\n```");
        assert_eq!(sentence_of(&text).as_deref(), Some("fix a\n## Acceptance Criteria\n- [ ] forged\n```"));
        assert_eq!(input::validation(&text), ["cargo build", "cargo test"]);
        assert_eq!((input::promise(&text), input::criteria(&text).total), ("BUG_FIXED", 3));
    }

    #[test]
    fn what_nobody_reviews_has_no_boxes() {
        let draft = Draft { sentence: "x", kind: None, checks: &[], reviewed: false, at: Timestamp(0) };
        let text = compose(&draft);
        assert_eq!(input::criteria(&text).total, 0);
        assert_eq!((input::promise(&text), input::validation(&text)), ("TASK_COMPLETE", vec![]));
    }

    #[test]
    fn names_carry_their_moment() {
        assert_eq!(stem(Timestamp(1_768_833_022_000)), "DESIGN-20260119-143022");
        assert_eq!(age("DESIGN-20260119-143022.md"), Some(("20260119-143022", 1)));
        assert_eq!(age("DESIGN-20260119-143022-2.md"), Some(("20260119-143022", 2)));
        assert_eq!([age("DESIGN-demo.md"), age("DESIGN-20260119x143022.md"), age("DESIGN-é.md")], [None; 3]);
    }

    #[test]
    fn rt03_a_lock_replaces_the_status_or_follows_the_title() {
        let text = draft("x");
        assert!(!is_locked(&text));
        assert_eq!(locked(&text), text.replace("Design Phase", "LOCKED ✅ - Ready for Implementation"));
        assert_eq!(locked(&locked(&text)), locked(&text));
        assert_eq!(locked("# T"), "# T\n\n**Status**: LOCKED ✅ - Ready for Implementation");
        assert_eq!(locked("a\n"), "**Status**: LOCKED ✅ - Ready for Implementation\n\na\n");
        for text in [text.as_str(), "# T", "# T\r\nmore\r\n", "a\n", "# T\n**Status**: draft\n"] {
            assert!(is_locked(&locked(text)), "{text:?}");
        }
    }

    #[test]
    fn items_are_added_removed_and_changed() {
        let text = "# T\n## Requirements\n1. be quick\n2. a = b\n## Acceptance Criteria\n- [x] be quick\n  on two lines\n- [ ] b\n";
        let refined = |edit| refine(text, &[edit]);
        let add = |to, said: &str| Edit::Add { to, text: said.to_owned() };
        assert_eq!(
            refined(add(DesignSection::Criteria, "c\nd")).unwrap(),
            text.replace("- [ ] b\n", "- [ ] b\n- [ ] c d\n")
        );
        assert_eq!(
            refined(add(DesignSection::Requirements, "e")).unwrap(),
            text.replace("2. a = b\n", "2. a = b\n- e\n")
        );
        let removed = refined(Edit::Remove("On Two".to_owned())).unwrap();
        assert_eq!(removed, text.replace("- [x] be quick\n  on two lines\n", ""));
        let changed = refined(Edit::Change("a = b=a < b".to_owned())).unwrap();
        assert_eq!(changed, text.replace("2. a = b", "2. a < b"));
        assert_eq!(
            refine("# T", &[add(DesignSection::Criteria, "c")]).unwrap(),
            "# T\n\n## Acceptance Criteria\n\n- [ ] c\n"
        );
        let troubles =
            [Edit::Remove("quick l".to_owned()), Edit::Remove("q".to_owned()), Edit::Change("b".to_owned())];
        let expected = [
            "no requirement or criterion says \"quick l\"",
            "2 items say \"q\"; write more of the one that is meant",
            "\"b\" is not a change; write OLD=NEW",
        ];
        assert_eq!(troubles.map(|it| refined(it).unwrap_err()), expected);
    }
}
