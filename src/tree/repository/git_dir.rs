//! Where the `.git` of a working tree leads, read from the files where git documents it. A proof opens
//! its repository thirty times, and each question to git would be a process; what is kept in another way,
//! or by somebody else, is still git's to judge.

use super::git_text::{bytes_to_path, is_object_id};
use loop_base::files;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A link of git's is one path.
const LINK_MOST: usize = 8 << 10;

/// Settings that people and programs wrote are some kilobytes.
const SETTINGS_MOST: usize = 64 << 10;

/// A working tree and its repository.
pub(crate) struct Places {
    pub(crate) top: PathBuf,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
}

/// Returns where the parts of a repository are, if it is a plain one and all of it is ours.
pub(crate) fn places(folder: &Path) -> Option<Places> {
    let top = folder.canonicalize().ok()?;
    let dot = top.join(".git");
    if fs::symlink_metadata(&dot).ok()?.is_symlink() {
        return None;
    }
    let git_dir = own(&top)?.canonicalize().ok()?;
    let common_dir = shared(&git_dir).canonicalize().ok()?;
    let is_whole = git_dir.join("HEAD").is_file()
        && common_dir.join("objects").is_dir()
        && common_dir.join("refs").is_dir()
        && common_dir.join("config").is_file();
    // Git refuses the repository of another user, whose settings could start programs.
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |it: &PathBuf| fs::symlink_metadata(it).is_ok_and(|it| it.uid() == user);
    let owned = [&top, &dot, &git_dir, &common_dir].into_iter().all(is_ours);
    (is_whole && owned).then_some(Places { top, git_dir, common_dir })
}

/// Returns the same, if nothing in the repository's own settings could make git refuse it or look for its
/// files elsewhere.
pub(crate) fn plain_places(folder: &Path) -> Option<Places> {
    let found = places(folder)?;
    let read = |path: PathBuf, most| String::from_utf8(files::read(&path, most).ok()?).ok();
    let head = read(found.git_dir.join("HEAD"), LINK_MOST)?;
    let settings = read(found.common_dir.join("config"), SETTINGS_MOST)?;
    let is_head = head.starts_with("ref: refs/") || is_object_id(head.trim_end());
    (is_head && settings.lines().all(is_plain_setting)).then_some(found)
}

/// Whether a line of settings says nothing about where files are, and is one that git can read.
fn is_plain_setting(line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    let leads_elsewhere = ["worktree", "include", "repositoryformatversion", "extensions"];
    let is_usual = ["repositoryformatversion = 0", "bare = false"].contains(&line.as_str());
    let is_section = line.starts_with('[') && line.ends_with(']');
    let is_value = line.starts_with(|it: char| it.is_ascii_alphabetic()) && line.contains(" = ");
    let is_silent = line.is_empty() || line.starts_with(['#', ';']);
    let is_foreign = line.starts_with("bare") || leads_elsewhere.iter().any(|it| line.contains(it));
    is_usual || is_silent || (is_section || is_value) && !is_foreign && !line.ends_with('\\')
}

/// The folder with this working tree's HEAD and index.
pub(crate) fn own(top: &Path) -> Option<PathBuf> {
    let dot = top.join(".git");
    if fs::symlink_metadata(&dot).ok()?.is_dir() {
        return Some(dot);
    }
    let link = files::read(&dot, LINK_MOST).ok()?;
    Some(top.join(bytes_to_path(link.strip_prefix(b"gitdir: ")?.trim_ascii_end())))
}

/// The folder with the refs and objects that all working trees of the repository share.
pub(crate) fn shared(git_dir: &Path) -> PathBuf {
    match files::read(&git_dir.join("commondir"), LINK_MOST) {
        Ok(shared) => git_dir.join(bytes_to_path(shared.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::git::{Git, STARTED};
    use super::is_plain_setting;
    use crate::tree::sample::Sample;
    use std::fs;

    #[test]
    fn a_plain_repository_is_opened_without_git() {
        let sample = Sample::committed();
        sample.user(&["worktree", "add", "-q", "../beside"]);
        for place in [sample.top(), sample.top().join("../beside")] {
            sample.user(&["config", "core.repositoryformatversion", "1"]);
            let before = STARTED.get();
            let first = Git::open(&place).unwrap();
            assert_eq!(STARTED.get() - before, 1, "git is asked about what is unusual");
            sample.user(&["config", "core.repositoryformatversion", "0"]);
            let before = STARTED.get();
            let again = Git::open(&place).unwrap();
            assert_eq!(STARTED.get() - before, 0);
            assert_eq!(
                (again.work_tree(), again.git_dir(), again.common_dir()),
                (first.work_tree(), first.git_dir(), first.common_dir())
            );
            assert_eq!(again.run(["rev-parse", "HEAD"]).unwrap(), first.run(["rev-parse", "HEAD"]).unwrap());
        }
    }

    #[test]
    fn a_setting_that_leads_elsewhere_or_is_damaged_is_left_to_git() {
        let plain =
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n# a person's\n[user]\n\tname = Ann\n";
        assert!(plain.lines().all(is_plain_setting));
        let others = [
            "bare = true",
            "bare",
            "worktree = /",
            "[include]",
            "[includeIf \"gitdir:/\"]",
            "[core] worktree = /",
            "repositoryformatversion = 2",
            "[extensions]",
            "damaged",
            "= value",
            "[core",
            "name = a \\",
        ];
        for line in others {
            assert!(!is_plain_setting(line), "{line}");
        }
    }

    #[test]
    fn what_is_no_plain_repository_is_left_to_git() {
        let sample = Sample::committed();
        let dot = sample.top().join(".git");
        fs::rename(&dot, sample.top().join("elsewhere")).unwrap();
        assert!(Git::reopen(&sample.top()).is_err());
        std::os::unix::fs::symlink("elsewhere", &dot).unwrap();
        let before = STARTED.get();
        let _git_decides = Git::reopen(&sample.top());
        assert_eq!(STARTED.get() - before, 1);
        fs::remove_file(&dot).unwrap();
        fs::rename(sample.top().join("elsewhere"), &dot).unwrap();
        fs::remove_file(dot.join("HEAD")).unwrap();
        assert!(Git::reopen(&sample.top()).is_err());
    }
}
