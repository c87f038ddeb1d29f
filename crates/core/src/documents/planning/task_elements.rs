//! The `<task …>` elements of a plan: names, types, files, and what a person has to know where one is for a person.

use super::DocumentMistake;
use std::ops::Range;

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
    /// The word that the plan asks a person to type when a checkpoint holds.
    pub resume: Option<String>,
    pub ticked: bool,
}

/// The elements of a body. One in a comment or in a block of code shows how a task is written, unless there are no
/// others.
pub(super) fn elements(body: &str, first_line: usize) -> Result<Vec<Task>, DocumentMistake> {
    let found = elements_outside(body, first_line, &examples(body))?;
    if found.is_empty() { elements_outside(body, first_line, &[]) } else { Ok(found) }
}

fn elements_outside(
    body: &str,
    first_line: usize,
    examples: &[Range<usize>],
) -> Result<Vec<Task>, DocumentMistake> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(start) = find_open(rest) {
        let offset = body.len() - rest.len() + start;
        if let Some(example) = examples.iter().find(|it| it.contains(&offset)) {
            rest = &body[example.end..];
            continue;
        }
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

/// The comments and blocks of code of a body. What holds a task only in part is none: its own end is missing, and a
/// task must not be lost with it.
fn examples(body: &str) -> Vec<Range<usize>> {
    let comments = body.match_indices("<!--").filter_map(|(start, _)| {
        let length = body[start..].find("-->")?;
        Some(start..start + length + "-->".len())
    });
    let mut found: Vec<Range<usize>> = comments.collect();
    let (mut at, mut open) = (0, None);
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let fence = line.trim();
        if !fence.starts_with("```") && !fence.starts_with("~~~") {
            continue;
        }
        let closes = fence.chars().all(|it| matches!(it, '`' | '~'));
        match open.filter(|_| closes) {
            Some(begin) => {
                found.push(begin..at);
                open = None;
            }
            None => open = Some(start),
        }
    }
    found.retain(|it| holds_whole_tasks(&body[it.clone()]));
    found
}

fn holds_whole_tasks(mut text: &str) -> bool {
    if text.contains("<tasks>") || text.contains("</tasks>") {
        return false;
    }
    while let Some(close) = text.find(CLOSE) {
        let Some(end) =
            find_open(text).filter(|it| *it < close).and_then(|it| Some(it + find_end(&text[it..])?))
        else {
            return false;
        };
        text = &text[end + CLOSE.len()..];
    }
    find_open(text).is_none()
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
        resume: element(inside, "resume-signal").and_then(resume_word),
        kind: kind(attributes),
        ticked: is_done,
    }
}

/// Reads `Type "approved" or describe issues`. Only a text that begins like that is understood: a word that is
/// quoted later may be the one for what does not work.
fn resume_word(text: &str) -> Option<String> {
    let mut words = text.trim().splitn(2, char::is_whitespace);
    let (_verb, rest) = (words.next()?, words.next()?.trim_start());
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))?;
    let word = single_line(rest[1..].split_once(quote)?.0).to_lowercase();
    (!word.is_empty()).then_some(word)
}

/// The parts of a task that tell a person what to do, as text. What they are to type is left out: a question of
/// ours says itself what can be answered.
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

/// The value of an attribute, in quotes or without.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let values = text.match_indices(name).filter_map(|(at, _)| {
        let begins = text[..at].chars().next_back().is_none_or(char::is_whitespace);
        begins.then(|| text[at + name.len()..].trim_start().strip_prefix('=')).flatten()
    });
    let rest = values.map(str::trim_start).next()?;
    match rest.chars().next().filter(|it| matches!(it, '"' | '\'')) {
        Some(quote) => rest[1..].split(quote).next(),
        None => rest.split(|it: char| it.is_whitespace() || matches!(it, '/' | '>')).next(),
    }
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("<{name}>"))?.1;
    rest.split_once(&format!("</{name}>")).map(|it| it.0)
}

pub(super) fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}
