//! Questions at the terminal. Nothing here runs without one.

use super::flags::RunFlags;
use super::{Context, Trouble};
use crate::engine::{Answer, Command, Question, choices};
use crate::host::git::Git;
use crate::host::tree::{Ours, Tree};
use crate::store::Row;
use crate::text::sanitise;
use std::io::{BufRead, Write};
use std::path::Path;

/// What a person wants with a run that rested.
pub(super) enum Wanted {
    Resume,
    New,
    Abort,
}

pub(super) fn resume(row: &Row) -> anyhow::Result<Wanted> {
    eprintln!("run {} of {} is {}", &row.id[..8], row.workflow, row.status);
    eprintln!("  input: {}", sanitise(&row.input));
    eprintln!("  {}, iteration {}", row.phase.as_deref().unwrap_or("not begun"), row.iteration);
    loop {
        match prompt("resume, new or abort?")?.as_deref() {
            Some("r" | "resume") => return Ok(Wanted::Resume),
            Some("n" | "new") => return Ok(Wanted::New),
            Some("a" | "abort") | None => return Ok(Wanted::Abort),
            Some(_) => (),
        }
    }
}

/// Asks a question of the run; `None` when the person leaves it open, or `ready` says that nobody is
/// going to type a line.
pub(super) fn question(
    question: &Question,
    ready: &mut dyn FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<Option<Command>> {
    let words = choices(&question.kind);
    eprintln!();
    eprintln!("{}", sanitise(&question.text));
    loop {
        eprint!("{}? ", words.join(", "));
        std::io::stderr().flush()?;
        if !ready()? {
            eprintln!();
            return Ok(None);
        }
        let Some(line) = line()? else { return Ok(None) };
        let (choice, text) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let Some(word) =
            words.iter().find(|it| **it == choice || (choice.len() == 1 && it.starts_with(choice)))
        else {
            continue;
        };
        if matches!(*word, "modify" | "changes") && text.trim().is_empty() {
            eprintln!("{word} needs a text that says what to change");
            continue;
        }
        let answer = Answer {
            question: question.id,
            choice: (*word).to_owned(),
            text: text.trim().to_owned(),
            by: std::env::var("USER").unwrap_or_default(),
        };
        return Ok(Some(Command::Answer(answer)));
    }
}

/// Asks until there is an answer; `None` at the end of input.
fn prompt(text: &str) -> anyhow::Result<Option<String>> {
    eprint!("{text} ");
    std::io::stderr().flush()?;
    line()
}

fn line() -> anyhow::Result<Option<String>> {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(None);
    }
    Ok(Some(line.trim().to_owned()))
}

/// Whether a person wants a run of another input to make way.
pub(super) fn new_or_abort(text: &str) -> anyhow::Result<bool> {
    eprintln!("{}", sanitise(text));
    loop {
        match prompt("new, abort?")?.as_deref() {
            Some("n" | "new") => return Ok(true),
            Some("a" | "abort") | None => return Ok(false),
            Some(_) => (),
        }
    }
}

pub(super) fn confirm(text: &str) -> anyhow::Result<bool> {
    Ok(matches!(prompt(&format!("{text} (yes, no)"))?.as_deref(), Some("y" | "yes")))
}

/// A tree with uncommitted changes needs a word from a person.
pub(super) fn about_dirt(
    context: &Context,
    flags: &RunFlags,
    git: &Git,
    ours: &[String],
    looks: &Path,
) -> anyhow::Result<()> {
    if flags.allow_dirty {
        return Ok(());
    }
    let folder = looks.join(std::process::id().to_string());
    let look = Tree::watch(git, &folder, Ours::read(ours)?)?.look();
    let _only_a_cache = std::fs::remove_dir_all(&folder);
    let look = look?;
    if look.clean {
        return Ok(());
    }
    let names: Vec<&str> = look.dirty_paths.iter().take(5).map(String::as_str).collect();
    let more = look.dirty_count.saturating_sub(names.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let text = format!("the tree has uncommitted changes: {}{more}", sanitise(&names.join(", ")));
    if context.is_interactive() && confirm(&format!("{text}\nwork on top of them?"))? {
        return Ok(());
    }
    Err(Trouble::usage(
        text,
        "commit them, or allow them with --allow-dirty; they are kept in a snapshot first",
    ))
}
