//! `loop design` and `loop refine`: the files that `ralph` works on. A design is never overwritten;
//! one that a run has locked is no longer refined.

use super::{Context, Trouble};
use crate::measure::detect::detect;
use crate::world::wait::now;
use clap::{Args, ValueEnum};
use loop_base::files::replace_for_good;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::documents::design::{self, Draft, Edit, KINDS, Section};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Flags {
    /// What to build, in a sentence or more
    text: String,
    /// The type of the task (default: what the text speaks of)
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Args)]
pub(super) struct RefineFlags {
    /// The design (default: the newest)
    file: Option<String>,
    /// An item to add
    #[arg(long, value_name = "TEXT")]
    add: Vec<String>,
    /// Where it is added
    #[arg(long, value_enum, value_name = "SECTION", default_value = "criteria")]
    to: To,
    /// An item to remove, by its text or by a part that no other has
    #[arg(long, value_name = "TEXT")]
    remove: Vec<String>,
    /// An item to reword
    #[arg(long, value_name = "OLD=NEW")]
    change: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    Criteria,
    Requirements,
}

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    if flags.text.trim().is_empty() {
        return Err(Trouble::usage("the text is empty", "loop design \"what to build\""));
    }
    let kind = match &flags.kind {
        Some(name) => {
            let known: Vec<&str> = KINDS.iter().map(|it| it.id).collect();
            let text = format!("no type is called \"{name}\"");
            let next = format!("one of: {}", known.join(", "));
            Some(design::kind_named(name).ok_or_else(|| Trouble::usage(text, next))?)
        }
        None => design::kind_of(&flags.text),
    };
    let project = context.project()?;
    let checks: Vec<String> = detect(&project).into_iter().map(|it| it.run).collect();
    let at = now();
    let draft = Draft { sentence: &flags.text, kind, checks: &checks, reviewed: true, at };
    let path = write(&project, at, &design::compose(&draft))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if context.json {
        let kind = kind.map(|it| it.id);
        println!("{}", serde_json::json!({ "design": path, "type": kind, "checks": checks }));
        return Ok(0);
    }
    println!("{name}");
    if !context.quiet {
        eprintln!("task type: {}", kind.map_or("General", |it| it.name));
        if checks.is_empty() {
            eprintln!("no check was found; write those that prove the work below \"Validation Checks\"");
        }
        eprintln!("next: read it, loop refine --add \"a criterion\", then loop run {name}");
    }
    Ok(0)
}

pub(super) fn refine(context: &Context, flags: &RefineFlags) -> anyhow::Result<u8> {
    let project = context.project()?;
    let path = match &flags.file {
        Some(name) => context.dir().join(name),
        None => newest(&project).ok_or_else(|| {
            Trouble::usage(
                format!("no design in {}", project.display()),
                "loop design \"what to build\" writes one",
            )
        })?,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = loop_base::files::text(&path).map_err(|error| {
        Trouble::usage(format!("{} cannot be read: {error}", path.display()), "name another file")
    })?;
    if design::is_locked(&text) {
        return Err(Trouble::usage(
            format!("{name} is locked: a run works on it"),
            "loop cancel, then set its status line back to \"Design Phase\", or loop design another",
        ));
    }
    let to = match flags.to {
        To::Criteria => Section::Criteria,
        To::Requirements => Section::Requirements,
    };
    let removed = flags.remove.iter().map(|it| Edit::Remove(it.clone()));
    let changed = flags.change.iter().map(|it| Edit::Change(it.clone()));
    let added = flags.add.iter().map(|it| Edit::Add { to, text: it.clone() });
    let edits: Vec<Edit> = removed.chain(changed).chain(added).collect();
    if edits.is_empty() {
        let next = "loop refine --add TEXT, --remove TEXT, or --change OLD=NEW";
        return Err(Trouble::usage("nothing is to be changed", next));
    }
    let refined = design::refine(&text, &edits)
        .map_err(|why| Trouble::usage(why, format!("read {name}; nothing was changed")))?;
    replace_for_good(&path, &refined)?;
    let count = loop_core::documents::input::criteria(&refined).total;
    if context.json {
        println!("{}", serde_json::json!({ "design": path, "criteria": count }));
    } else {
        if !context.quiet {
            // An item may have been named by a part of it, so it is said which one it was.
            told(&text, &refined).for_each(|it| eprintln!("{}", sanitise(&it)));
        }
        println!("{name}: {count} acceptance criteria");
    }
    Ok(0)
}

/// Returns the lines that are gone and those that came, marked as such.
fn told(before: &str, after: &str) -> impl Iterator<Item = String> {
    let only = |one: &str, other: &str, mark: char| {
        let others: Vec<&str> = other.lines().collect();
        let lines = one.lines().filter(|it| !it.trim().is_empty() && !others.contains(it));
        lines.map(|it| format!("{mark} {it}")).collect::<Vec<_>>()
    };
    only(before, after, '-').into_iter().chain(only(after, before, '+'))
}

/// Returns the newest design of a project. One without a moment in its name is as old as its file.
pub(super) fn newest(project: &Path) -> Option<PathBuf> {
    let aged = designs(project).into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (stamp, number) = match design::age(&name) {
            Some((stamp, number)) => (stamp.to_owned(), number),
            None => (written_at(&path), 1),
        };
        (stamp, number, path)
    });
    aged.max().map(|(_, _, path)| path)
}

/// The moment of the file's last change, as a name would carry it.
fn written_at(path: &Path) -> String {
    let modified = std::fs::metadata(path).and_then(|it| it.modified()).ok();
    let age = modified.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    let stem = design::stem(Timestamp(i64::try_from(age.as_millis()).unwrap_or(0)));
    stem.trim_start_matches("DESIGN-").to_owned()
}

fn designs(project: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project).into_iter().flatten().flatten().map(|it| it.path());
    let is_design = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("DESIGN-") && name.ends_with(".md") && it.is_file()
    };
    entries.filter(is_design).collect()
}

/// Returns the newest design that was made from this sentence.
pub(super) fn of_sentence(project: &Path, sentence: &str) -> Option<PathBuf> {
    let is_same = |path: &PathBuf| {
        let small = std::fs::metadata(path).is_ok_and(|it| it.len() <= loop_core::documents::input::LARGEST);
        let text = if small { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        design::sentence_of(&text).is_some_and(|it| it.trim() == sentence.trim())
    };
    designs(project).into_iter().filter(is_same).max()
}

/// Writes the design of a sentence that is worked on at once.
pub(super) fn for_sentence(context: &Context, project: &Path, sentence: &str) -> anyhow::Result<PathBuf> {
    let at = now();
    let draft = Draft { sentence, kind: None, checks: &[], reviewed: false, at };
    let path = write(project, at, &design::compose(&draft))?;
    if !context.quiet {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("the sentence became {name}; loop design and loop refine make a better one");
    }
    Ok(path)
}

/// Two designs of the same second are told apart; more than this many in one are no person's work.
const SUFFIX_MOST: u32 = 99;

fn write(project: &Path, at: Timestamp, text: &str) -> anyhow::Result<PathBuf> {
    let stem = design::stem(at);
    for number in 1..=SUFFIX_MOST {
        let name = if number == 1 { format!("{stem}.md") } else { format!("{stem}-{number}.md") };
        let path = project.join(name);
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => (),
            Err(error) => {
                return Err(anyhow::anyhow!("{} cannot be written: {error}", path.display()));
            }
        }
    }
    anyhow::bail!("{SUFFIX_MOST} designs were written in this second")
}

/// Locks a design for the run that begins.
pub(super) fn lock(path: &Path, text: &str) -> anyhow::Result<()> {
    if design::is_locked(text) {
        return Ok(());
    }
    replace_for_good(path, &design::locked(text)).map_err(|error| {
        let text = format!("{} cannot be locked: {error}", path.display());
        Trouble::usage(text, "make it writable, or put lock = false below input in the workflow")
    })
}
