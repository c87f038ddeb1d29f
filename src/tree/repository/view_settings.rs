//! The settings of a run's view of a repository. They lie in the run's folder, where an agent can write, and
//! git obeys them: a filter or an included file in them would start a program outside of every call, which
//! nobody could tell from a person's own. So the text that was read when the view was opened is compared
//! before every git command, and one that could start a program is never taken over from the disk.

use super::git_error::GitError;
use loop_base::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What decides how bytes become blobs, and starts no program.
pub(super) const COPIED_SETTINGS: [&str; 11] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "extensions.objectformat",
];

/// What we set ourselves, whatever the repository says.
const OWN_SETTINGS: [&str; 7] = [
    "core.repositoryformatversion",
    "core.bare",
    "core.safecrlf",
    "core.splitindex",
    "core.untrackedcache",
    "status.showuntrackedfiles",
    "index.sparse",
];

/// Some lines; the longest values are paths.
const TEXT_MOST: usize = 64 << 10;

/// The settings as they were when the view was opened.
#[derive(Debug)]
pub(super) struct ViewSettings {
    folder: PathBuf,
    text: Vec<u8>,
}

/// What lies in the folder of a view.
pub(super) enum FoundSettings {
    /// Nothing yet.
    Missing,
    Ours(ViewSettings),
    /// Settings that this program never writes.
    Altered,
}

impl ViewSettings {
    pub(super) fn find(folder: &Path) -> Result<FoundSettings, GitError> {
        if leads_elsewhere(folder) {
            remove_way_elsewhere(folder)?;
            return Ok(FoundSettings::Altered);
        }
        match files::read(&place(folder), TEXT_MOST) {
            Ok(_) if !is_complete(folder) => Ok(FoundSettings::Missing),
            Ok(text) if starts_no_program(&text) => {
                Ok(FoundSettings::Ours(ViewSettings { folder: folder.to_owned(), text }))
            }
            Err(error) if is_absent(&error) => Ok(FoundSettings::Missing),
            Ok(_) | Err(_) => Ok(FoundSettings::Altered),
        }
    }

    /// Fails where the settings are not those that were opened, and brings them back. What else is missing
    /// with them is made when the view is opened the next time.
    pub(super) fn check(&self) -> Result<(), GitError> {
        let path = place(&self.folder);
        let found = files::read(&path, TEXT_MOST);
        if found.as_ref().is_ok_and(|it| *it == self.text) && !leads_elsewhere(&self.folder) {
            return Ok(());
        }
        if fs::symlink_metadata(&self.folder).is_err() {
            // The whole folder is gone, which is named by whoever keeps it.
            return Ok(());
        }
        remove_way_elsewhere(&self.folder)?;
        if found.is_err_and(|it| is_absent(&it)) {
            return Err(GitError::Altered { path });
        }
        match files::replace_ours_bytes(&path, &self.text) {
            Err(source) => Err(GitError::File { doing: "writing", path, source }),
            Ok(()) => Err(GitError::Altered { path }),
        }
    }
}

/// Whether git would take the folder for a repository.
fn is_complete(folder: &Path) -> bool {
    let is_folder = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok_and(|it| it.is_dir());
    let has_head = fs::symlink_metadata(folder.join("HEAD")).is_ok_and(|it| it.is_file());
    has_head && is_folder("objects") && is_folder("refs")
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn place(folder: &Path) -> PathBuf {
    folder.join("config")
}

/// A file of this name would send git to the settings of another folder.
fn way_elsewhere(folder: &Path) -> PathBuf {
    folder.join("commondir")
}

fn leads_elsewhere(folder: &Path) -> bool {
    fs::symlink_metadata(way_elsewhere(folder)).is_ok()
}

fn remove_way_elsewhere(folder: &Path) -> Result<(), GitError> {
    let path = way_elsewhere(folder);
    match files::remove_any(&path) {
        Err(source) => Err(GitError::File { doing: "removing", path, source }),
        Ok(()) => Ok(()),
    }
}

/// Whether every line is one that this program writes: the name of a section, or one known setting. What git
/// takes for a value that continues is one line more here, and has to be a setting too.
fn starts_no_program(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut section = "";
    text.lines().all(|line| {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name;
            return known_settings().any(|it| it.split_once('.').is_some_and(|(it, _)| it == name));
        }
        let Some((key, _)) = line.strip_prefix('\t').and_then(|it| it.split_once(" = ")) else {
            return false;
        };
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        known_settings().any(|it| it == name)
    })
}

fn known_settings() -> impl Iterator<Item = &'static str> {
    COPIED_SETTINGS.into_iter().chain(OWN_SETTINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "[core]\n\trepositoryformatversion = 1\n\tsplitIndex = true\n[core]\n\teol = \"lf\"\n";

    fn found(folder: &Path) -> &'static str {
        match ViewSettings::find(folder).expect("readable") {
            FoundSettings::Missing => "missing",
            FoundSettings::Ours(_) => "ours",
            FoundSettings::Altered => "altered",
        }
    }

    fn complete(folder: &Path) {
        fs::write(folder.join("HEAD"), "ref: refs/heads/unborn\n").expect("written");
        for name in ["objects", "refs"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
    }

    #[test]
    fn g28_settings_that_start_a_program_are_not_taken_over() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(found(dir.path()), "missing");
        fs::write(place(dir.path()), OURS).expect("written");
        assert_eq!(found(dir.path()), "missing");
        complete(dir.path());
        let added = [
            ("", "ours"),
            ("[filter \"x\"]\n\tclean = evil\n", "altered"),
            ("[filter]\n\tclean = evil\n", "altered"),
            ("[include]\n\tpath = /evil\n", "altered"),
            ("[core]\n\tfsmonitor = evil\n", "altered"),
            ("[core] fsmonitor = evil\n", "altered"),
            ("[core]\n\tfsmonitor=evil\n", "altered"),
            ("\teol = \"lf\\\n\tsshCommand = evil\n", "altered"),
            ("[extensions]\n\tworktreeConfig = true\n", "altered"),
            ("[extensions]\n\tobjectformat = \"sha256\"\n", "ours"),
        ];
        for (more, expected) in added {
            fs::write(place(dir.path()), format!("{OURS}{more}")).expect("written");
            assert_eq!(found(dir.path()), expected, "{more:?}");
        }
        fs::write(place(dir.path()), OURS).expect("written");
        fs::write(way_elsewhere(dir.path()), "/evil\n").expect("written");
        assert_eq!(found(dir.path()), "altered");
        assert_eq!(found(dir.path()), "ours");
    }

    #[test]
    fn g28_settings_that_were_changed_are_named_once_and_brought_back() {
        let dir = tempfile::tempdir().expect("a folder");
        complete(dir.path());
        fs::write(place(dir.path()), OURS).expect("written");
        let Ok(FoundSettings::Ours(settings)) = ViewSettings::find(dir.path()) else { panic!("ours") };
        settings.check().expect("as they were");
        let changes: [fn(&Path); 4] = [
            |it| fs::write(place(it), "[filter \"x\"]\n\tclean = evil\n").expect("written"),
            |it| {
                fs::remove_file(place(it)).expect("removed");
                fs::create_dir_all(place(it).join("below")).expect("a folder");
            },
            |it| fs::write(way_elsewhere(it), "/evil\n").expect("written"),
            |it| fs::create_dir_all(way_elsewhere(it).join("below")).expect("a folder"),
        ];
        for change in changes {
            change(dir.path());
            assert!(matches!(settings.check(), Err(GitError::Altered { .. })));
            settings.check().expect("brought back");
            assert_eq!(fs::read_to_string(place(dir.path())).expect("there"), OURS);
        }
        fs::remove_file(place(dir.path())).expect("removed");
        assert!(matches!(settings.check(), Err(GitError::Altered { .. })));
        assert_eq!(found(dir.path()), "missing");
    }
}
