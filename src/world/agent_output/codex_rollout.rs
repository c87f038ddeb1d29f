//! Codex keeps a record of each session in its own folder; it alone says exactly when a limit ends.

use loop_base::files;
use loop_supervise::tail::tail;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The last lines hold the limits and how the session ended.
const RECORD_MOST: u64 = 64 << 10;

/// A session that began before midnight is filed under the day before.
const DAYS_LOOKED_AT: usize = 2;

/// Returns the beginning and the end of the record of this session, or nothing.
pub(crate) fn read(home: Option<&Path>, session: Option<&str>) -> String {
    let found = home.zip(session).and_then(|(home, session)| find(&home.join("sessions"), session));
    let Some(path) = found else { return String::new() };
    let end = tail(&path, RECORD_MOST).unwrap_or_default();
    let is_longer = std::fs::metadata(&path).is_ok_and(|it| RECORD_MOST < it.len());
    let beginning = if is_longer { head(&path).unwrap_or_default() } else { String::new() };
    // A line that is cut on either side is no record and is skipped.
    format!("{beginning}\n{end}")
}

/// The beginning of the record names the model.
fn head(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    files::open(path)?.take(RECORD_MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn find(sessions: &Path, session: &str) -> Option<PathBuf> {
    let days = newest(sessions, 1)
        .into_iter()
        .flat_map(|it| newest(&it, 1))
        .flat_map(|it| newest(&it, DAYS_LOOKED_AT));
    let ending = format!("{session}.jsonl");
    days.flat_map(|it| entries(&it)).find(|it| it.to_string_lossy().ends_with(&ending))
}

/// The folders are named by year, month and day, so the last names are the newest.
fn newest(folder: &Path, most: usize) -> Vec<PathBuf> {
    let mut names = entries(folder);
    names.sort();
    names.into_iter().rev().take(most).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_record_of_the_session_is_found_in_the_last_days() {
        let home = tempfile::tempdir().expect("a folder");
        for (day, session) in [("2026/11/14", "one"), ("2026/11/15", "two")] {
            let folder = home.path().join("sessions").join(day);
            std::fs::create_dir_all(&folder).expect("made");
            std::fs::write(folder.join(format!("rollout-x-{session}.jsonl")), session).expect("written");
        }
        let found = |session| read(Some(home.path()), session);
        assert_eq!(
            [found(Some("one")), found(Some("two")), found(Some("three")), found(None)],
            ["\none", "\ntwo", "", ""]
        );
    }
}
