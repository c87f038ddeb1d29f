//! What a finished piece of work is called when it leaves the machine: the branch, the commit
//! message, the title of its pull request. Names come from the document's file name, texts from the
//! document itself; everything has the length that people and tools expect. Nothing is done here.

/// Hosts cut longer names in their lists.
const SLUG_MOST: usize = 50;

/// What `git log --oneline` shows on a usual terminal.
const SUBJECT_MOST: usize = 72;

/// A reviewer reads this much before the diff.
const BODY_MOST: usize = 500;

/// A kind of change, by the words of Conventional Commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    Feat,
    Fix,
    Refactor,
    Docs,
    Test,
    Chore,
}

impl CommitKind {
    /// Returns the kind that a word names, as `--type` takes it.
    pub fn read(word: &str) -> Option<CommitKind> {
        [
            CommitKind::Feat,
            CommitKind::Fix,
            CommitKind::Refactor,
            CommitKind::Docs,
            CommitKind::Test,
            CommitKind::Chore,
        ]
        .into_iter()
        .find(|it| it.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            CommitKind::Feat => "feat",
            CommitKind::Fix => "fix",
            CommitKind::Refactor => "refactor",
            CommitKind::Docs => "docs",
            CommitKind::Test => "test",
            CommitKind::Chore => "chore",
        }
    }

    /// Returns the first part of a branch's name.
    fn folder(self) -> &'static str {
        match self {
            CommitKind::Feat => "feature",
            CommitKind::Fix
            | CommitKind::Refactor
            | CommitKind::Docs
            | CommitKind::Test
            | CommitKind::Chore => self.word(),
        }
    }

    /// Returns the words of a file name that speak for this kind.
    fn words(self) -> &'static [&'static str] {
        match self {
            CommitKind::Fix => &["fix", "bug", "patch", "hotfix", "bugfix"],
            CommitKind::Refactor => &["refactor", "cleanup", "improve"],
            CommitKind::Docs => &["doc", "docs", "readme", "guide"],
            CommitKind::Test => &["test", "tests", "spec", "e2e"],
            CommitKind::Feat | CommitKind::Chore => &[],
        }
    }

    /// Returns the kind that the words of a name speak for.
    fn of(words: &[String]) -> CommitKind {
        let speaks = |kind: &CommitKind| words.iter().any(|it| kind.words().contains(&it.as_str()));
        [CommitKind::Fix, CommitKind::Refactor, CommitKind::Docs, CommitKind::Test]
            .into_iter()
            .find(speaks)
            .unwrap_or(CommitKind::Feat)
    }
}

/// What the work is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryNames {
    pub kind: CommitKind,
    /// Nobody named the kind.
    pub is_detected: bool,
    pub feature: String,
    pub branch: String,
}

/// Names the work that a document describes, by the path of the document.
pub fn names(path: &str, kind: Option<CommitKind>) -> DeliveryNames {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let lower = stem.to_ascii_lowercase();
    let words = lower.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<String> = without_date(&words.map(str::to_owned).collect::<Vec<_>>()).to_vec();
    let chosen = kind.unwrap_or_else(|| CommitKind::of(&words));
    // The folder of the branch says it already.
    let rest = match words.split_first() {
        Some((first, rest)) if !rest.is_empty() && chosen.words().contains(&first.as_str()) => rest,
        _ => &words[..],
    };
    let feature = slug(rest);
    DeliveryNames {
        kind: chosen,
        is_detected: kind.is_none(),
        branch: format!("{}/{feature}", chosen.folder()),
        feature,
    }
}

fn without_date(words: &[String]) -> &[String] {
    let digits =
        |word: &String, count: usize| word.len() == count && word.bytes().all(|it| it.is_ascii_digit());
    match words {
        [year, month, day, rest @ ..] if digits(year, 4) && digits(month, 2) && digits(day, 2) => rest,
        [date, rest @ ..] if digits(date, 8) => rest,
        _ => words,
    }
}

fn slug(words: &[String]) -> String {
    let mut slug = String::new();
    for word in words {
        if !slug.is_empty() && SLUG_MOST < slug.len() + 1 + word.len() {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word[..word.len().min(SLUG_MOST)]);
    }
    if slug.is_empty() { "work".to_owned() } else { slug }
}

/// A commit message, or the title and text of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub subject: String,
    pub body: String,
    pub footer: String,
}

impl Message {
    pub fn whole(&self) -> String {
        let parts: Vec<&str> = [&self.subject, &self.body, &self.footer]
            .into_iter()
            .map(String::as_str)
            .filter(|it| !it.is_empty())
            .collect();
        format!("{}\n", parts.join("\n\n"))
    }
}

/// Describes the work: by the document's title and goal, and by `facts`, which were measured.
pub fn message(path: &str, document: &str, names: &DeliveryNames, facts: &[String]) -> Message {
    let title = title(document).unwrap_or_else(|| names.feature.replace('-', " "));
    let subject = cut(&format!("{}: {}", names.kind.word(), lower_first(&title)), SUBJECT_MOST);
    let measured: Vec<String> = facts.iter().map(|it| format!("- {it}")).collect();
    let measured = cut(&measured.join("\n"), BODY_MOST);
    let room = BODY_MOST.saturating_sub(measured.chars().count() + 2);
    let goal = cut(&goal(document), room);
    let body = [goal, measured].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n");
    Message { subject, body, footer: format!("PRP: {}", one_line(path)) }
}

/// The document's first heading, without the word that says what kind of document it is.
fn title(document: &str) -> Option<String> {
    let heading = document.lines().find_map(|it| it.strip_prefix("# "))?;
    let heading = one_line(heading);
    let (first, rest) = heading.split_once(':').unwrap_or(("", &heading));
    let bare = if first.eq_ignore_ascii_case("prp") { rest.trim() } else { &heading };
    Some(bare.trim_end_matches('.').to_owned()).filter(|it| !it.is_empty())
}

/// The first paragraph below a heading "Goal".
fn goal(document: &str) -> String {
    let below = document.lines().skip_while(|it| !is_goal(it)).skip(1);
    let below = below.skip_while(|it| it.trim().is_empty());
    let lines: Vec<&str> = below.take_while(|it| !it.trim().is_empty() && !it.starts_with('#')).collect();
    one_line(&lines.join(" "))
}

fn is_goal(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').trim().eq_ignore_ascii_case("goal")
}

/// An abbreviation keeps its letters.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// Cuts at a word, so that the rest still reads.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most.saturating_sub(1)).collect();
    let end = short.rfind(char::is_whitespace).filter(|it| most / 2 < *it).unwrap_or(short.len());
    if most == 0 { String::new() } else { format!("{}…", short[..end].trim_end()) }
}

fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{CommitKind, message, names};
    use proptest::prelude::*;

    #[test]
    fn bp93_a_branch_is_named_after_the_document() {
        for (path, branch) in [
            ("docs/PRPs/2026-01-13-user-authentication.md", "feature/user-authentication"),
            ("2026-01-13-fix-login-bug.md", "fix/login-bug"),
            ("login-bug.md", "fix/login-bug"),
            ("Improve Startup Time.md", "refactor/startup-time"),
            ("20260113_readme.md", "docs/readme"),
            ("e2e-checkout.md", "test/checkout"),
            ("übung.md", "feature/bung"),
            (".md", "feature/work"),
            (
                "a-very-long-name-that-goes-on-and-on-until-nobody-reads-it-any-more.md",
                "feature/a-very-long-name-that-goes-on-and-on-until-nobody",
            ),
        ] {
            assert_eq!(names(path, None).branch, branch, "{path}");
        }
        assert_eq!(names("user-login.md", Some(CommitKind::Chore)).branch, "chore/user-login");
        assert_eq!(names("fix-login.md", Some(CommitKind::Feat)).branch, "feature/fix-login");
    }

    #[test]
    fn bp93_a_message_says_what_and_names_the_document() {
        let document = "# PRP: Work orders for the shop floor\n\n## Goal\n\nPeople can open\nand close orders.\n\nMore.\n";
        let path = "docs/PRPs/work-orders.md";
        let facts = ["4 tests pass".to_owned()];
        assert_eq!(
            message(path, document, &names(path, None), &facts).whole(),
            "feat: work orders for the shop floor\n\nPeople can open and close orders.\n\n- 4 tests pass\n\n\
             PRP: docs/PRPs/work-orders.md\n"
        );
        let bare = message("fix-api.md", "no title", &names("fix-api.md", None), &[]);
        assert_eq!(bare.whole(), "fix: api\n\nPRP: fix-api.md\n");
    }

    proptest! {
        #[test]
        fn whatever_a_document_says_the_lengths_hold(path in "\\PC{0,80}", document in "(# )?\\PC{0,200}\n(## Goal\n\n)?\\PC{0,900}", facts in proptest::collection::vec("\\PC{0,80}", 0..9)) {
            let names = names(&path, None);
            let message = message(&path, &document, &names, &facts);
            prop_assert!(message.subject.chars().count() <= 72 && !message.subject.contains('\n'));
            prop_assert!(message.body.chars().count() <= 500, "{}", message.body.chars().count());
            prop_assert!(names.feature.len() <= 50 && !names.feature.starts_with('-') && !names.feature.is_empty());
            prop_assert!(names.branch.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-' || it == b'/'));
        }
    }
}
