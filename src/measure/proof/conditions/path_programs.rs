//! The programs of one folder of PATH, as they were at one moment. There are thousands of them, and every step
//! of a proof compares them with those of the opening, so they are kept as the text that is compared.

use crate::measure::proof::storage::files;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Scripts of this size are hashed, because version managers rewrite theirs with the same text; other programs
/// are known by what the kernel says about them.
const SCRIPT_MOST: u64 = 64 << 10;

const SCRIPT_START: [u8; 2] = *b"#!";

/// Nobody but the system's own package manager writes here.
const SYSTEM_FOLDERS: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// A folder in PATH with more entries is no folder of programs.
const PROGRAMS_MOST: usize = 20_000;

/// Between a name and its stamp.
const TAB: char = '\t';

/// The programs of a folder at the opening.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub(crate) struct PathPrograms {
    /// A line for each, sorted: its name and its stamp.
    stamps: String,
    /// The hashes of the scripts among them.
    scripts: BTreeMap<String, String>,
}

/// What a program was kept as before.
#[derive(Deserialize)]
struct KeptProgram {
    stamp: String,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Lines { stamps: String, scripts: BTreeMap<String, String> },
    Each(BTreeMap<String, KeptProgram>),
}

impl From<Kept> for PathPrograms {
    fn from(kept: Kept) -> PathPrograms {
        match kept {
            Kept::Lines { stamps, scripts } => PathPrograms { stamps, scripts },
            Kept::Each(programs) => PathPrograms {
                stamps: programs.iter().map(|(name, it)| line(name, &it.stamp)).collect(),
                scripts: programs.into_iter().filter_map(|(name, it)| Some((name, it.text?))).collect(),
            },
        }
    }
}

/// A program as it is now.
pub(crate) struct FoundProgram {
    name: String,
    line: String,
    length: u64,
}

impl PathPrograms {
    pub(crate) fn take(folder: &Path) -> PathPrograms {
        let found = programs_in(folder);
        let script = |it: &FoundProgram| Some((it.name.clone(), text(&folder.join(&it.name), it.length)?));
        let is_the_systems = SYSTEM_FOLDERS.iter().any(|it| folder == Path::new(it));
        let scripts = match is_the_systems {
            true => BTreeMap::new(),
            false => found.iter().filter_map(script).collect(),
        };
        PathPrograms { stamps: lines(&found), scripts }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        let start = format!("{name}{TAB}");
        self.stamps.starts_with(&start) || self.stamps.contains(&format!("\n{start}"))
    }

    /// Returns the names of those that are still the same, and of the others: changed, or added since.
    pub(crate) fn compare(&self, folder: &Path, now: &[FoundProgram]) -> (Vec<String>, Vec<String>) {
        let names = |of: Vec<&FoundProgram>| of.into_iter().map(|it| it.name.clone()).collect();
        if lines(now) == self.stamps {
            return (names(now.iter().collect()), Vec::new());
        }
        let before: BTreeSet<&str> = self.stamps.split_inclusive('\n').collect();
        let is_same_text = |it: &FoundProgram| {
            let script = self.scripts.get(&it.name);
            script.is_some() && script == text(&folder.join(&it.name), it.length).as_ref()
        };
        let (same, other) = now.iter().partition(|it| before.contains(it.line.as_str()) || is_same_text(it));
        (names(same), names(other))
    }
}

/// The programs in a folder now, by name.
pub(crate) fn programs_in(folder: &Path) -> Vec<FoundProgram> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(PROGRAMS_MOST);
    let mut programs: Vec<FoundProgram> = entries.filter_map(|it| found(&it)).collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs
}

/// A link is known by what it says and by what it leads to.
fn found(entry: &fs::DirEntry) -> Option<FoundProgram> {
    let name = entry.file_name().into_string().ok()?;
    let path = entry.path();
    let found = fs::metadata(&path).ok()?;
    if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
        return None;
    }
    let is_link = entry.file_type().is_ok_and(|it| it.is_symlink());
    let link = is_link.then(|| fs::read_link(&path).ok()).flatten();
    let link = link.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let line = line(&name, &format!("{link}|{}", files::stamp(&found)));
    Some(FoundProgram { name, line, length: found.len() })
}

fn lines(programs: &[FoundProgram]) -> String {
    programs.iter().map(|it| it.line.as_str()).collect()
}

/// One program is one line, whatever is in its name.
fn line(name: &str, stamp: &str) -> String {
    let line = format!("{name}{TAB}{stamp}");
    match line.contains('\n') {
        true => line.replace('\n', "?") + "\n",
        false => line + "\n",
    }
}

/// Returns the hash of a script's text.
fn text(path: &Path, length: u64) -> Option<String> {
    if SCRIPT_MOST < length {
        return None;
    }
    let mut script = loop_base::files::open(path).ok()?;
    let mut start = [0; SCRIPT_START.len()];
    script.read_exact(&mut start).ok()?;
    (start == SCRIPT_START).then_some(())?;
    let mut text = start.to_vec();
    script.take(SCRIPT_MOST).read_to_end(&mut text).ok()?;
    Some(files::hash(&text)[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(folder: &Path) -> PathPrograms {
        PathPrograms::take(folder)
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    #[test]
    fn a_program_that_was_added_or_changed_is_told_from_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        for name in ["binary", "line\nbreak", "rewritten", "script"] {
            write(folder, name, if name == "binary" { "\u{7f}ELF" } else { "#!/bin/sh\n" });
        }
        let before = programs(folder);
        let all = ["binary", "line\nbreak", "rewritten", "script"].map(str::to_owned).to_vec();
        assert_eq!(before.compare(folder, &programs_in(folder)), (all, Vec::new()));
        // A version manager writes the same text again.
        fs::remove_file(folder.join("rewritten")).expect("removed");
        write(folder, "rewritten", "#!/bin/sh\n");
        write(folder, "script", "#!/bin/sh\ntrue\n");
        write(folder, "binary", "\u{7f}ELF, longer");
        write(folder, "added\n", "#!/bin/sh\n");
        let (same, other) = before.compare(folder, &programs_in(folder));
        assert_eq!(same, ["line\nbreak", "rewritten"]);
        assert_eq!(other, ["added\n", "binary", "script"]);
        assert!(before.has("binary") && !before.has("bin") && !before.has("added\n"));
    }

    #[test]
    fn what_was_kept_program_by_program_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "script", "#!/bin/sh\n");
        let now = programs(folder.path());
        let stamp = now.stamps.trim_end().split_once(TAB).expect("a stamp").1;
        let kept = serde_json::json!({ "script": { "stamp": stamp, "text": now.scripts["script"] } });
        assert_eq!(serde_json::from_value::<PathPrograms>(kept).expect("the older form"), now);
        let kept = serde_json::to_value(&now).expect("the form of today");
        assert_eq!(serde_json::from_value::<PathPrograms>(kept).expect("the form of today"), now);
    }
}
