//! The commit that is checked out and the commits that led to it, read from the repository's files:
//! HEAD, the branch it names, and the log that git keeps of HEAD. Whatever is not plain in them (a
//! branch without commits, another ref format, a merge, a rebase, a log that is switched off) is
//! `None`, and git is asked. A pipe in place of a file is never waited for.

use crate::tree::git_text::is_object_id;
use loop_base::files;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The end of the log that is read: some hundred commits, more than an iteration makes.
const LOG_BYTES: u64 = 64 << 10;

/// Returns the commit that is checked out, and how many were made on top of one another since
/// another was.
pub(super) fn commits_since(place: &Path, before: &str) -> Option<(String, u32)> {
    let git_dir = git_dir(place)?;
    let commit = head(&git_dir)?;
    if commit == before {
        return Some((commit, 0));
    }
    let log = tail(&git_dir.join("logs/HEAD"))?;
    let mut at = commit.as_str();
    for (count, line) in (1..).zip(log.lines().rev()) {
        let (ids, what) = line.split_once('\t')?;
        let mut ids = ids.split(' ');
        let (old, new) = (ids.next()?, ids.next()?);
        if new != at || !what.starts_with("commit: ") {
            return None;
        }
        if old == before {
            return Some((commit.clone(), count));
        }
        at = old;
    }
    None
}

/// Where HEAD and its log lie; in a linked working tree a file says that.
fn git_dir(place: &Path) -> Option<PathBuf> {
    let path = place.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = files::text(&path).ok()?;
    Some(place.join(text.strip_prefix("gitdir: ")?.trim_end()))
}

/// Where everything lies that all working trees of the repository share.
pub(super) fn common_dir(place: &Path) -> Option<PathBuf> {
    git_dir(place).map(|it| common(&it))
}

fn common(git_dir: &Path) -> PathBuf {
    match files::text(&git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim_end()),
        Err(_) => git_dir.to_owned(),
    }
}

fn head(git_dir: &Path) -> Option<String> {
    let text = files::text(&git_dir.join("HEAD")).ok()?;
    let Some(name) = text.trim_end().strip_prefix("ref: ") else {
        return Some(text.trim_end().to_owned()).filter(|it| is_object_id(it));
    };
    let common = common(git_dir);
    let id = match files::text(&common.join(name)) {
        Ok(loose) => Some(loose.trim_end().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let packed = files::text(&common.join("packed-refs")).ok()?;
            let found = packed.lines().find_map(|it| it.strip_suffix(name)?.strip_suffix(' '));
            found.map(str::to_owned)
        }
        Err(_) => None,
    };
    id.filter(|it| is_object_id(it))
}

fn tail(path: &Path) -> Option<String> {
    let mut file = files::open(path).ok()?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::commits_since;
    use std::fmt::Write;
    use std::path::Path;

    const IDS: [&str; 4] = ["0", "1", "2", "3"];

    fn id(digit: &str) -> String {
        digit.repeat(40)
    }

    fn repository(place: &Path, words: &str) {
        let git = place.join(".git");
        std::fs::create_dir_all(git.join("refs/heads/deep")).expect("folders");
        std::fs::create_dir_all(git.join("logs")).expect("folders");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/deep/main\n").expect("written");
        std::fs::write(git.join("refs/heads/deep/main"), format!("{}\n", id("3"))).expect("written");
        let mut log = String::new();
        for pair in IDS.windows(2) {
            let (old, new) = (id(pair[0]), id(pair[1]));
            writeln!(log, "{old} {new} me <me@localhost> 1 +0000\t{words}: x").expect("a text");
        }
        std::fs::write(git.join("logs/HEAD"), log).expect("written");
    }

    #[test]
    fn commits_on_top_of_one_another_are_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        repository(dir.path(), "commit");
        for (before, count) in [("3", 0), ("2", 1), ("1", 2), ("0", 3)] {
            assert_eq!(commits_since(dir.path(), &id(before)), Some((id("3"), count)));
        }
        assert_eq!(commits_since(dir.path(), &id("9")), None);
        repository(dir.path(), "rebase (finish)");
        assert_eq!(commits_since(dir.path(), &id("2")), None);
    }

    #[test]
    fn packed_and_detached_heads_are_read_and_anything_else_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        repository(dir.path(), "commit");
        let git = dir.path().join(".git");
        let known = Some((id("3"), 0));
        std::fs::remove_file(git.join("refs/heads/deep/main")).expect("removed");
        let packed =
            format!("# pack-refs\n{} refs/heads/x/deep/main\n{} refs/heads/deep/main\n", id("1"), id("3"));
        std::fs::write(git.join("packed-refs"), packed).expect("written");
        assert_eq!(commits_since(dir.path(), &id("3")), known);
        std::fs::write(git.join("HEAD"), format!("{}\n", id("3"))).expect("written");
        assert_eq!(commits_since(dir.path(), &id("3")), known);
        std::fs::write(git.join("HEAD"), "ref: refs/heads/.invalid\n").expect("written");
        assert_eq!(commits_since(dir.path(), &id("3")), None);
        let linked = dir.path().join("linked");
        std::fs::create_dir_all(git.join("worktrees/linked")).expect("folders");
        std::fs::create_dir(&linked).expect("a folder");
        std::fs::write(linked.join(".git"), "gitdir: ../.git/worktrees/linked\n").expect("written");
        std::fs::write(git.join("worktrees/linked/HEAD"), "ref: refs/heads/deep/main\n").expect("written");
        std::fs::write(git.join("worktrees/linked/commondir"), "../..\n").expect("written");
        assert_eq!(commits_since(&linked, &id("3")), known);
        let (head, read) = (git.join("HEAD"), rustix::fs::Mode::RUSR);
        std::fs::remove_file(&head).expect("removed");
        rustix::fs::mknodat(rustix::fs::CWD, &head, rustix::fs::FileType::Fifo, read, 0).expect("a pipe");
        assert_eq!(commits_since(dir.path(), &id("3")), None);
    }
}
