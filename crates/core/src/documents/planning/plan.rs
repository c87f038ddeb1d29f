//! One `NN-PP-PLAN.md`: what its front matter says, and its tasks, which are XML elements, checkboxes,
//! or both. A task has a type; `checkpoint:…` is one for a person.

use super::front_matter::{self, Node};
pub use super::task_elements::Task;
use super::task_elements::{TASKS_MOST, elements, single_line};
use super::{DocumentMistake, checkbox, heading, plain_lines};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub wave: Option<i64>,
    pub depends_on: Vec<String>,
    /// Ids of requirements, and the truths that must hold.
    pub requirements: Vec<String>,
    pub truths: Vec<String>,
    pub gap_closure: bool,
    /// `autonomous: false` says that a person is needed on the way.
    pub autonomous: Option<bool>,
    pub tasks: Vec<Task>,
}

/// Reads a plan, or says what is wrong with it.
pub fn read(text: &str) -> Result<Plan, DocumentMistake> {
    let parts = front_matter::read(text)?;
    let head = &parts.head;
    let must = head.get("must_haves");
    let truth = |it: &&Node| match it {
        Node::Text(text) => Some(text.clone()),
        // A truth with a colon in it that nobody put in quotes.
        Node::Map(entries) => it.text("truth").map(str::to_owned).or_else(|| match entries.as_slice() {
            [(key, Node::Text(rest))] => Some(format!("{key}: {rest}")),
            _ => None,
        }),
        Node::List(_) => None,
    };
    let mut truths: Vec<String> =
        must.map(|it| it.list("truths")).unwrap_or_default().iter().filter_map(truth).collect();
    truths.extend(head.texts("truths"));
    let at = |key: &str, why: String| DocumentMistake::at(line_of(text, key), format!("{key} {why}"));
    let wave = match head.text("wave") {
        None => None,
        Some(it) => Some(it.parse().map_err(|_| at("wave", format!("is {it:?}, which is not a number")))?),
    };
    // What could not be read there would be forgotten.
    let unread = |key: &str| head.list(key).iter().any(|it| it.as_text().is_none());
    if let Some(key) = ["depends_on", "requirements"].into_iter().find(|it| unread(it)) {
        return Err(at(key, "has an entry that is no plain text; write a list as [a, b]".to_owned()));
    }
    let mut tasks = elements(parts.body, parts.body_line)?;
    let boxes = boxes(parts.body);
    if tasks.is_empty() {
        tasks = boxes
            .into_iter()
            .map(|(ticked, name)| Task { name, kind: "auto".to_owned(), ticked, ..Task::default() })
            .collect();
    } else {
        for task in &mut tasks {
            task.ticked |= boxes.iter().any(|(ticked, name)| *ticked && is_about(name, &task.name));
        }
    }
    if TASKS_MOST < tasks.len() {
        return Err(DocumentMistake::at(1, format!("a plan has at most {TASKS_MOST} tasks")));
    }
    Ok(Plan {
        wave,
        depends_on: head.texts("depends_on").into_iter().filter(|it| !it.is_empty()).collect(),
        requirements: head.texts("requirements"),
        truths,
        gap_closure: flag(head, "gap_closure").map_err(|it| at("gap_closure", it))?.unwrap_or(false),
        autonomous: flag(head, "autonomous").map_err(|it| at("autonomous", it))?,
        tasks,
    })
}

/// What the gaps of a report are compared with in a plan that closes them.
pub fn names_gap(text: &str, gap: &str) -> bool {
    let plain = |it: &str| {
        it.split(|it: char| !it.is_alphanumeric())
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    let gap = plain(gap);
    !gap.is_empty() && plain(text).contains(&gap)
}

/// The line of the front matter that a key stands in.
fn line_of(text: &str, key: &str) -> usize {
    let is_it = |line: &str| line.strip_prefix(key).is_some_and(|it| it.trim_start().starts_with(':'));
    text.lines().position(is_it).map_or(1, |it| it + 1)
}

fn flag(head: &Node, key: &str) -> Result<Option<bool>, String> {
    match head.text(key) {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(text) => Err(format!("is {text:?}, neither true nor false")),
    }
}

/// The checkboxes that are tasks: those below headings and elements that say so, or all of them where
/// none does; never those of a checklist for verification.
fn boxes(body: &str) -> Vec<(bool, String)> {
    let mut under = None;
    let mut found = Vec::new();
    for (_, line) in plain_lines(body) {
        let opens = line
            .trim()
            .strip_prefix('<')
            .and_then(|it| it.strip_suffix('>'))
            .filter(|it| !it.starts_with('/'));
        if let Some(title) = heading(line).map(|it| it.1).or(opens) {
            under = Some(title.to_lowercase());
        } else if let Some((ticked, text)) = checkbox(line) {
            found.push((
                under.clone(),
                ticked,
                single_line(text.trim_start_matches("**").trim_end_matches("**")),
            ));
        }
    }
    let says = |title: &Option<String>, word: &str| title.as_ref().is_some_and(|it| it.contains(word));
    let named = found.iter().any(|it| says(&it.0, "task"));
    let other =
        |title: &Option<String>| ["verif", "criteria", "must", "checklist"].iter().any(|it| says(title, it));
    let is_task =
        |it: &(Option<String>, bool, String)| if named { says(&it.0, "task") } else { !other(&it.0) };
    // An empty checkbox is a slot of a template: nothing is asked for there.
    let asks = |it: &(Option<String>, bool, String)| !it.2.is_empty();
    found.into_iter().filter(is_task).filter(asks).map(|it| (it.1, it.2)).collect()
}

/// Whether a checkbox names a task: `Task 1: Add login` and `Add login` are the same.
pub(super) fn is_about(said: &str, task: &str) -> bool {
    fn bare(text: &str) -> &str {
        let rest =
            text.strip_prefix("Task ").unwrap_or(text).trim_start_matches(|it: char| it.is_ascii_digit());
        rest.trim_start_matches([':', '.', ' ', '-']).trim()
    }
    said.trim() == task.trim() || (!bare(said).is_empty() && bare(said) == bare(task))
}

#[cfg(test)]
mod tests {
    use super::{names_gap, read};

    const PLAN: &str = "---\nphase: 03-auth\nplan: 02\nwave: 2\ndepends_on: [\"03-01\"]\nrequirements: [AUTH-01]\ngap_closure: true\n\
        must_haves:\n  truths:\n    - A person can log in\n---\n\n<tasks>\n\n<task type=\"auto\" tdd=\"true\">\n  <name>Task 1: Add login</name>\n\
        \x20 <files>src/a.rs, src/b.rs</files>\n  <action>Do it</action>\n</task>\n\n<task type=\"checkpoint:decision\" gate=\"blocking\">\n\
        \x20 <decision>Which store</decision>\n  <options>\n    <option id=\"sqlite\"><name>SQLite</name></option>\n    <option id=\"big server\"/>\n  </options>\n</task>\n\n\
        </tasks>\n\n<verification>\n- [ ] all tests pass\n</verification>\n";

    #[test]
    fn tasks_are_elements_with_types() {
        let plan = read(PLAN).expect("it is sound");
        assert_eq!(
            (plan.wave, plan.gap_closure, plan.depends_on.as_slice()),
            (Some(2), true, &["03-01".to_owned()][..])
        );
        assert_eq!(
            (plan.requirements.as_slice(), plan.truths.as_slice()),
            (&["AUTH-01".to_owned()][..], &["A person can log in".to_owned()][..])
        );
        let kinds: Vec<(&str, &str, bool)> =
            plan.tasks.iter().map(|it| (it.name.as_str(), it.kind.as_str(), it.ticked)).collect();
        assert_eq!(
            kinds,
            [("Task 1: Add login", "auto", false), ("Which store", "checkpoint:decision", false)]
        );
        assert_eq!(plan.tasks[0].files, ["src/a.rs", "src/b.rs"]);
        let other = PLAN
            .replace("- A person can log in", "- Log in: by name")
            .replace("<name>Task 1: Add login</name>", "<title>Add login</title>")
            .replace("src/a.rs, src/b.rs", "\n    - src/a.rs\n    - `src/b.rs`\n  ");
        let other = read(&other).expect("it is sound");
        assert_eq!(
            (other.truths.as_slice(), other.tasks[0].name.as_str()),
            (&["Log in: by name".to_owned()][..], "Add login")
        );
        assert_eq!(other.tasks[0].files, plan.tasks[0].files);
        assert_eq!(plan.tasks[1].options, ["sqlite", "big-server"]);
    }

    #[test]
    fn a_question_has_what_a_person_has_to_know_and_nothing_to_type_elsewhere() {
        let text = "<task type=\"checkpoint:decision\">\n  <decision>Which store</decision>\n  <context>\n    We need one.\n    Soon.\n  </context>\n\
            \x20 <option id=\"sqlite\"><name>SQLite</name><pros>small</pros><cons>one writer</cons></option>\n  <option id=\"other\"/>\n\
            \x20 <resume-signal>Type \"approved\"</resume-signal>\n</task>\n";
        let plan = read(text).expect("it is sound");
        assert_eq!(
            plan.tasks[0].about,
            "We need one.\nSoon.\nsqlite: SQLite; for it: small; against it: one writer"
        );
    }

    #[test]
    fn checkboxes_are_tasks_too() {
        let plan = read(
            "# Plan\n\n## Tasks\n- [x] one\n- [ ]\n- [ ] ****\n- [ ] two\n\n## Verification\n- [ ] no task\n",
        )
        .expect("sound");
        let tasks: Vec<(&str, bool)> = plan.tasks.iter().map(|it| (it.name.as_str(), it.ticked)).collect();
        assert_eq!(tasks, [("one", true), ("two", false)]);
        let both = PLAN.replace("</tasks>", "</tasks>\n\n## Tasks\n- [x] Add login\n");
        assert!(read(&both).expect("sound").tasks[0].ticked);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            (PLAN.replace("wave: 2", "wave: two"), "wave is \"two\""),
            (PLAN.replace("gap_closure: true", "gap_closure: yes"), "neither true nor false"),
            (PLAN.replacen("</task>", "", 2), "not closed by </task>"),
            (PLAN.replacen("</task>", "", 1), "not closed by </task>"),
            (PLAN.replace("[\"03-01\"]", "\n  plan: 03-01"), "depends_on has an entry"),
            (PLAN.replace("[AUTH-01]", "\n  - id: AUTH-01"), "requirements has an entry"),
            (format!("## Tasks\n{}", "- [ ] one\n".repeat(101)), "at most 100 tasks"),
        ] {
            let mistake = read(&text).expect_err(says);
            assert!(mistake.text.contains(says), "{mistake}");
        }
        let wave = read(&PLAN.replace("wave: 2", "wave: two")).expect_err("it is no number");
        assert_eq!(wave.line, 4);
    }

    #[test]
    fn elements_inside_a_task_are_an_example() {
        let example = "<action>Write:\n<task type=\"auto\"><name>inner</name></task>\n</action>";
        let plan = read(&PLAN.replace("<action>Do it</action>", example)).expect("sound");
        let names: Vec<&str> = plan.tasks.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["Task 1: Add login", "Which store"]);
    }

    #[test]
    fn tasks_in_comments_and_blocks_of_code_are_examples() {
        let names = |text: &str| -> Vec<String> {
            read(text).expect("sound").tasks.into_iter().map(|it| it.name).collect()
        };
        let task = |name: &str| format!("<task type=\"auto\">\n<name>{name}</name>\n</task>\n");
        let example = format!("<context>\n```xml\n{}```\n</context>\n", task("shown"));
        let comment = format!("<!-- later:\n{}-->\n", task("dropped"));
        let own = format!("<tasks>\n{}{}</tasks>\n", task("one"), task("two"));
        assert_eq!(names(&format!("{example}{comment}{own}")), ["one", "two"]);
        assert_eq!(names(&own.replace("<name>two", "<!-- a note --><name>two")), ["one", "two"]);
        // A mark whose end is missing takes no task along.
        assert_eq!(names(&format!("```\n{own}```\n")), ["one", "two"]);
        assert_eq!(names(&format!("<!-- {own}-->\n")), ["one", "two"]);
        let odd =
            format!("{}```\nmore\n{}", task("one"), task("two").replace("<name>", "```sh\nx\n```\n<name>"));
        assert_eq!(names(&odd), ["one", "two"]);
        assert_eq!(names(&format!("## Tasks\n```xml\n{}```\n", task("one"))), ["one"]);
        assert!(read(&format!("<!-- <task> -->\n{own}")).is_err(), "it may be the beginning of one");
    }

    #[test]
    fn a_task_for_a_person_is_one_however_it_is_written() {
        let kind = |kind: &str| {
            let text = format!("<task type=\"{kind}\"><name>x</name></task>");
            read(&text).expect("sound").tasks[0].kind.clone()
        };
        assert_eq!(kind("Human-Verify"), "checkpoint:human-verify");
        for text in ["<task type=human-verify>", "<task gate = 'blocking' type = checkpoint:human-verify >"] {
            let plan = read(&format!("{text}<name>x</name></task>")).expect("sound");
            assert_eq!(plan.tasks[0].kind, "checkpoint:human-verify", "{text}");
        }
        assert_eq!((kind("checkpoint").as_str(), kind("").as_str()), ("checkpoint:human-action", "auto"));
    }

    #[test]
    fn a_gap_is_named_by_its_words() {
        assert!(names_gap("must_haves:\n  - \"Users can *log out*\"", "users can log out"));
        assert!(!names_gap("users can log in", "users can log out") && !names_gap("x", ""));
    }
}
