//! Filter, diff and merge drivers: programs that git starts for the contents of files, as a configuration and the
//! attributes of files say. Whoever may write into a repository may name one there, so for every command that looks at
//! files those of the repository are switched off by name. Those of the person's own configuration stay.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Commands that read or write files of the working tree, and so ask the drivers. `worktree` looks whether a working tree
/// is clean before it removes it.
const OF_FILES: [&str; 9] =
    ["add", "checkout", "commit", "diff", "merge", "reset", "status", "switch", "worktree"];

/// Whether a command of git looks at files.
pub(super) fn asks_drivers(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_bytes() {
            b"-c" => drop(words.next()),
            option if option.starts_with(b"-") => (),
            b"ls-files" => return arguments.iter().any(|it| it == "--modified"),
            command => return OF_FILES.iter().any(|it| it.as_bytes() == command),
        }
    }
    false
}

/// Returns the drivers that the repository's own configuration names, from a listing of scopes and names.
pub(super) fn repository_drivers(listing: &[u8]) -> Vec<OsString> {
    let fields: Vec<&[u8]> = listing.split(|it| *it == 0).collect();
    let mut drivers = Vec::new();
    for pair in fields.chunks_exact(2) {
        let (scope, name) = (pair[0], pair[1]);
        let ours = scope == b"local" || scope == b"worktree";
        let kind = [&b"filter."[..], b"diff.", b"merge."].into_iter().find(|it| name.starts_with(it));
        let Some(kind) = kind.filter(|_| ours) else { continue };
        let Some(end) = name.iter().rposition(|it| *it == b'.').filter(|it| *it >= kind.len()) else {
            continue;
        };
        let driver = OsString::from_vec(name[..end].to_vec());
        if !drivers.contains(&driver) {
            drivers.push(driver);
        }
    }
    drivers
}

pub(super) fn silenced(driver: &OsStr) -> Vec<OsString> {
    let endings: &[&str] = match driver.as_bytes() {
        it if it.starts_with(b"filter.") => &[".clean=", ".smudge=", ".process=", ".required=false"],
        it if it.starts_with(b"diff.") => &[".command=", ".textconv="],
        // An empty merge driver is an error; this one reports a conflict, which a person sees.
        _ => &[".driver=false"],
    };
    let with = |ending: &&str| [driver, OsStr::new(ending)].iter().copied().collect::<OsString>();
    endings.iter().map(with).collect()
}

/// Returns the paths of submodules, from a listing of the index with modes.
pub(super) fn submodules(listing: &[u8]) -> impl Iterator<Item = &OsStr> {
    let links = listing.split(|it| *it == 0).filter(|it| it.starts_with(b"160000 "));
    links.filter_map(|it| Some(OsStr::from_bytes(&it[it.iter().position(|it| *it == b'\t')? + 1..])))
}
