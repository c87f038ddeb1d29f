//! One `NN-PP-PLAN.md`: what its front matter says, and its tasks, which are XML elements, checkboxes,
//! or both. A task has a type; `checkpoint:…` is one for a person.

use super::front_matter::{self, Node};
use super::{DocumentMistake, checkbox, heading, plain_lines};

/// Tasks of one plan; a longer list is no plan of one session a task.
const TASKS_MOST: usize = 100;

/// What a question shows of a task.
const ABOUT_CHARS: usize = 2000;

/// Options of a decision; a longer list is no question.
const OPTIONS_MOST: usize = 9;

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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    pub name: String,
    /// `auto`, `checkpoint:human-verify` …
    pub kind: String,
    pub files: Vec<String>,
    /// What the question about a checkpoint shows.
    pub about: String,
    /// What a decision can be.
    pub options: Vec<String>,
    pub ticked: bool,
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
    let wave = match head.text("wave") {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| DocumentMistake::at(1, format!("wave is {text:?}, which is not a number")))?,
        ),
    };
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
        gap_closure: flag(head, "gap_closure")?.unwrap_or(false),
        autonomous: flag(head, "autonomous")?,
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

fn flag(head: &Node, key: &str) -> Result<Option<bool>, DocumentMistake> {
    match head.text(key) {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(text) => Err(DocumentMistake::at(1, format!("{key} is {text:?}, neither true nor false"))),
    }
}

/// The `<task …>` elements of a body.
fn elements(body: &str, first_line: usize) -> Result<Vec<Task>, DocumentMistake> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(start) = find_open(rest) {
        let offset = body.len() - rest.len() + start;
        let line = first_line + body[..offset].matches('\n').count();
        let tail = &rest[start..];
        let Some(head_end) = tail.find('>') else {
            return Err(DocumentMistake::at(line, "a <task is not closed by >"));
        };
        let attributes = &tail["<task".len()..head_end];
        let Some(end) = tail.find("</task>") else {
            return Err(DocumentMistake::at(line, "a <task> is not closed by </task>"));
        };
        if end < head_end {
            return Err(DocumentMistake::at(line, "a <task is not closed by >"));
        }
        let inside = &tail[head_end + 1..end];
        found.push(task(attributes, inside, found.len() + 1));
        rest = &tail[end + "</task>".len()..];
        if TASKS_MOST < found.len() {
            return Err(DocumentMistake::at(line, format!("a plan has at most {TASKS_MOST} tasks")));
        }
    }
    Ok(found)
}

/// Finds `<task` as the name of an element; `<tasks>` is another.
fn find_open(text: &str) -> Option<usize> {
    text.match_indices("<task").map(|it| it.0).find(|at| text[at + 5..].starts_with([' ', '>', '\n', '\t']))
}

fn task(attributes: &str, inside: &str, number: usize) -> Task {
    let kind = attribute(attributes, "type").unwrap_or("auto").trim().to_lowercase();
    // What an option is called is not what the task is called.
    let own = inside.split("<option").next().unwrap_or(inside);
    let name = element(own, "name")
        .or_else(|| element(own, "title"))
        .or_else(|| element(inside, "what-built"))
        .or_else(|| element(inside, "decision"));
    let name = name.or_else(|| element(inside, "action")).unwrap_or_default();
    let name = single_line(name);
    let files = element(inside, "files").unwrap_or_default();
    let is_done =
        attribute(attributes, "status").is_some_and(|it| matches!(it, "done" | "complete" | "completed"));
    Task {
        about: about(inside, &name),
        name: if name.is_empty() { format!("task {number}") } else { name },
        files: files
            .split([',', '\n'])
            .map(|it| it.trim().trim_start_matches("- ").trim_matches('`').trim())
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect(),
        options: options(inside),
        kind: if kind.is_empty() { "auto".to_owned() } else { kind },
        ticked: is_done,
    }
}

/// The parts of a task that tell a person what to do, as text. What they are to type is left out: that is for
/// another program, and a question of ours says itself what can be answered.
fn about(inside: &str, name: &str) -> String {
    let parts =
        ["what-built", "decision", "context", "action", "instructions", "how-to-verify", "verification"];
    let own = inside.split("<option").next().unwrap_or(inside);
    let said = parts.iter().filter_map(|it| element(own, it)).map(outdented);
    let said = said.filter(|it| !it.is_empty() && single_line(it) != name);
    let said: Vec<String> = said.chain(options_in_words(inside)).collect();
    said.join("\n").chars().take(ABOUT_CHARS).collect()
}

/// A text without the indentation that all of its lines but the first share.
fn outdented(text: &str) -> String {
    let indent = |it: &&str| it.len() - it.trim_start_matches(' ').len();
    let least = text.lines().skip(1).filter(|it| !it.trim().is_empty()).map(|it| indent(&it)).min();
    let least = least.unwrap_or(0);
    let lines = text.lines().map(|it| it.get(least.min(indent(&it))..).unwrap_or(it).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// What each option means: its name, what speaks for it and what against.
fn options_in_words(inside: &str) -> Vec<String> {
    let option = |text: &str| {
        let id = option_id(text)?;
        let parts = [("name", ""), ("pros", "for it: "), ("cons", "against it: ")];
        let said = parts.iter().filter_map(|(name, title)| {
            let text = single_line(element(text, name)?);
            (!text.is_empty()).then(|| format!("{title}{text}"))
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| format!("{id}: {}", said.join("; ")))
    };
    inside.split("<option").skip(1).take(OPTIONS_MOST).filter_map(option).collect()
}

fn option_id(text: &str) -> Option<String> {
    let id = attribute(text.split('>').next()?, "id")?;
    let id = id.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    (!id.is_empty()).then_some(id)
}

/// `<option id="a">`, each a word to answer with.
fn options(inside: &str) -> Vec<String> {
    inside.split("<option").skip(1).filter_map(option_id).take(OPTIONS_MOST).collect()
}

fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("{name}="))?.1;
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    rest[1..].split(quote).next()
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("<{name}>"))?.1;
    rest.split_once(&format!("</{name}>")).map(|it| it.0)
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

fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
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
            (format!("## Tasks\n{}", "- [ ] one\n".repeat(101)), "at most 100 tasks"),
        ] {
            let mistake = read(&text).expect_err(says);
            assert!(mistake.text.contains(says), "{mistake}");
        }
    }

    #[test]
    fn a_gap_is_named_by_its_words() {
        assert!(names_gap("must_haves:\n  - \"Users can *log out*\"", "users can log out"));
        assert!(!names_gap("users can log in", "users can log out") && !names_gap("x", ""));
    }
}
