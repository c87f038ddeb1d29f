//! The `<task …>` elements of a plan: names, types, files, and what a person has to know where one is for a person.

use super::DocumentMistake;

/// Tasks of one plan; a longer list is no plan of one session a task.
pub(super) const TASKS_MOST: usize = 100;

/// How the element of a task begins and ends.
const OPEN: &str = "<task";
const CLOSE: &str = "</task>";

/// What a question shows of a task.
const ABOUT_CHARS: usize = 2000;

/// Options of a decision; a longer list is no question.
const OPTIONS_MOST: usize = 9;

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

/// The elements of a body.
pub(super) fn elements(body: &str, first_line: usize) -> Result<Vec<Task>, DocumentMistake> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(start) = find_open(rest) {
        let offset = body.len() - rest.len() + start;
        let line = first_line + body[..offset].matches('\n').count();
        let tail = &rest[start..];
        let Some(head_end) = tail.find('>') else {
            return Err(DocumentMistake::at(line, "a <task is not closed by >"));
        };
        let attributes = &tail[OPEN.len()..head_end];
        if tail.find(CLOSE).is_some_and(|it| it < head_end) {
            return Err(DocumentMistake::at(line, "a <task is not closed by >"));
        }
        let Some(end) = find_end(tail) else {
            return Err(DocumentMistake::at(line, "a <task> is not closed by </task>"));
        };
        let inside = &tail[head_end + 1..end];
        found.push(task(attributes, inside, found.len() + 1));
        rest = &tail[end + CLOSE.len()..];
        if TASKS_MOST < found.len() {
            return Err(DocumentMistake::at(line, format!("a plan has at most {TASKS_MOST} tasks")));
        }
    }
    Ok(found)
}

/// Finds `<task` as the name of an element; `<tasks>` is another.
fn find_open(text: &str) -> Option<usize> {
    let is_it = |at: &usize| text[at + OPEN.len()..].starts_with([' ', '>', '\n', '\r', '\t']);
    text.match_indices(OPEN).map(|it| it.0).find(is_it)
}

/// Returns where the element that begins here is closed. Others may stand inside, as an example; each of them is
/// closed first, so that a task which is not closed never swallows the one after it.
fn find_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let close = at + text[at..].find(CLOSE)?;
        depth += opens(&text[at..close]);
        depth -= 1;
        if depth <= 0 {
            return Some(close);
        }
        at = close + CLOSE.len();
    }
}

/// How many elements begin in a text.
fn opens(mut text: &str) -> i32 {
    let mut count = 0;
    while let Some(at) = find_open(text) {
        count += 1;
        text = &text[at + OPEN.len()..];
    }
    count
}

/// The type of a task. One for a person is known without `checkpoint:` too, and stays one.
fn kind(attributes: &str) -> String {
    let kind = attribute(attributes, "type").unwrap_or_default().trim().to_lowercase();
    match kind.as_str() {
        "" => "auto".to_owned(),
        "checkpoint" => "checkpoint:human-action".to_owned(),
        "human-verify" | "human-action" | "decision" => format!("checkpoint:{kind}"),
        _ => kind,
    }
}

fn task(attributes: &str, inside: &str, number: usize) -> Task {
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
        kind: kind(attributes),
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

pub(super) fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}
