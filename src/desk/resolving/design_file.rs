//! The design files of a project: which is the newest, which belongs to a sentence, and how one is
//! written and locked. A design is never overwritten.

use crate::desk::refusal::{NextStep, Refusal};
use crate::world::wait::now;
use loop_base::files::replace_for_good;
use loop_base::time::Timestamp;
use loop_core::documents::design::{self, Draft};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the newest design of a project. One without a moment in its name is as old as its file.
pub(crate) fn newest(project: &Path) -> Option<PathBuf> {
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
pub(crate) fn of_sentence(project: &Path, sentence: &str) -> Option<PathBuf> {
    let is_same = |path: &PathBuf| {
        let small = std::fs::metadata(path).is_ok_and(|it| it.len() <= loop_core::documents::input::LARGEST);
        let text = if small { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        design::sentence_of(&text).is_some_and(|it| it.trim() == sentence.trim())
    };
    designs(project).into_iter().filter(is_same).max()
}

/// Writes the design of a sentence that is worked on at once.
pub(crate) fn for_sentence(project: &Path, sentence: &str) -> anyhow::Result<PathBuf> {
    let at = now();
    let draft = Draft { sentence, kind: None, checks: &[], reviewed: false, at };
    write(project, at, &design::compose(&draft))
}

/// Two designs of the same second are told apart; more than this many in one are no person's work.
const SUFFIX_MOST: u32 = 99;

pub(crate) fn write(project: &Path, at: Timestamp, text: &str) -> anyhow::Result<PathBuf> {
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
pub(crate) fn lock(path: &Path, text: &str) -> anyhow::Result<()> {
    if design::is_locked(text) {
        return Ok(());
    }
    replace_for_good(path, &design::locked(text)).map_err(|error| {
        let text = format!("{} cannot be locked: {error}", path.display());
        let help = "make it writable, or put lock = false below input in the workflow";
        Refusal::usage(text, NextStep::by_hand(help))
    })
}
