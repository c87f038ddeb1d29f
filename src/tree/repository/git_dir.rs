//! Where the `.git` of a working tree leads, read from the files where git documents it. A run that
//! continues has its tree opened by git before, so that it need not wait for a process to hear the
//! same again; what is kept in another way, or by somebody else, is still git's to judge.

use super::git_text::bytes_to_path;
use loop_base::files;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A link of git's is one path.
const LINK_MOST: usize = 8 << 10;

/// A working tree and its repository.
pub(crate) struct Places {
    pub(crate) top: PathBuf,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
}

/// Returns where the parts of a repository are, if it is a plain one and all of it is ours.
pub(crate) fn places(folder: &Path) -> Option<Places> {
    let top = folder.canonicalize().ok()?;
    let dot_git = top.join(".git");
    if fs::symlink_metadata(&dot_git).ok()?.is_symlink() {
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
    let owned = [&top, &dot_git, &git_dir, &common_dir].into_iter().all(is_ours);
    (is_whole && owned).then_some(Places { top, git_dir, common_dir })
}

/// The folder with this working tree's HEAD and index.
pub(crate) fn own(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if fs::symlink_metadata(&dot_git).ok()?.is_dir() {
        return Some(dot_git);
    }
    let link = files::read(&dot_git, LINK_MOST).ok()?;
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
    use crate::tree::sample::Sample;
    use std::fs;

    #[test]
    fn a_tree_that_was_opened_is_opened_again_without_git() {
        let sample = Sample::committed();
        sample.user(&["worktree", "add", "-q", "../beside"]);
        for place in [sample.top(), sample.top().join("../beside")] {
            let first = Git::open(&place).unwrap();
            let before = STARTED.get();
            let again = Git::reopen(&place).unwrap();
            assert_eq!(STARTED.get() - before, 0);
            assert_eq!(
                (again.work_tree(), again.git_dir(), again.common_dir()),
                (first.work_tree(), first.git_dir(), first.common_dir())
            );
            assert_eq!(again.run(["rev-parse", "HEAD"]).unwrap(), first.run(["rev-parse", "HEAD"]).unwrap());
        }
    }

    #[test]
    fn what_is_no_plain_repository_is_left_to_git() {
        let sample = Sample::committed();
        let dot_git = sample.top().join(".git");
        fs::rename(&dot_git, sample.top().join("elsewhere")).unwrap();
        assert!(Git::reopen(&sample.top()).is_err());
        std::os::unix::fs::symlink("elsewhere", &dot_git).unwrap();
        let before = STARTED.get();
        let _git_decides = Git::reopen(&sample.top());
        assert_eq!(STARTED.get() - before, 1);
        fs::remove_file(&dot_git).unwrap();
        fs::rename(sample.top().join("elsewhere"), &dot_git).unwrap();
        fs::remove_file(dot_git.join("HEAD")).unwrap();
        assert!(Git::reopen(&sample.top()).is_err());
    }
}
