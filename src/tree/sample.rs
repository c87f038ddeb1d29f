//! A real repository in a temporary folder, with a home of its own, for tests. `user` plays whoever
//! works in it (a person or an agent) with plain git.

use crate::tree::repository::git::Git;
use crate::tree::repository::pinned::Pinned;
use crate::tree::status::path_patterns::Ours;
use crate::tree::status::working_tree::WorkingTree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub(crate) struct Sample {
    root: TempDir,
}

impl Sample {
    /// A repository without a commit.
    pub(crate) fn unborn() -> Sample {
        let sample = Sample { root: TempDir::new().unwrap() };
        for folder in ["home", "work"] {
            std::fs::create_dir(sample.outside(folder)).unwrap();
        }
        sample.user(&["init", "-q", "-b", "main"]);
        sample.user(&["config", "--global", "user.name", "somebody"]);
        sample.user(&["config", "--global", "user.email", "somebody@localhost"]);
        sample
    }

    /// A repository with one commit that holds `a.txt`.
    pub(crate) fn committed() -> Sample {
        let sample = Sample::unborn();
        sample.write("a.txt", b"a\n");
        sample.commit("first");
        sample
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.outside("work")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top().join(name)
    }

    /// A place beside the working tree.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// What a canary touches when it runs.
    pub(crate) fn marker(&self) -> PathBuf {
        self.outside("marker")
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.user(&["add", "-A"]);
        self.user(&["commit", "-qm", message]);
    }

    pub(crate) fn user(&self, arguments: &[&str]) -> String {
        self.user_in(&self.top(), arguments)
    }

    pub(crate) fn user_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        let output = command.envs(self.environment()).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn git(&self) -> Git {
        self.git_at(&self.top())
    }

    pub(crate) fn git_at(&self, folder: &Path) -> Git {
        Git::open_with(folder, self.environment()).unwrap()
    }

    pub(crate) fn pinned(&self) -> Pinned {
        Pinned::open(&self.git(), &self.outside("run/git")).unwrap()
    }

    pub(crate) fn tree(&self) -> WorkingTree {
        self.tree_with(&[])
    }

    pub(crate) fn tree_with(&self, ours: &[&str]) -> WorkingTree {
        WorkingTree::open(self.pinned(), Ours::read(ours).unwrap()).unwrap()
    }

    /// Everything in the repository's own folder that is neither an object nor a ref of ours.
    pub(crate) fn fingerprint(&self) -> BTreeMap<PathBuf, String> {
        let mut found = walk(&self.path(".git"));
        found.retain(|path, _| !path.starts_with("objects") && !path.starts_with("refs/loop"));
        found
    }

    /// Every file of the working tree.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = walk(&self.top());
        found.retain(|path, _| !path.starts_with(".git"));
        found
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let home = self.outside("home").into_os_string();
        vec![("HOME", home.clone()), ("XDG_CONFIG_HOME", home)]
    }
}

/// The files and links below a folder, each with its kind, mode and a hash of its content.
pub(crate) fn walk(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let state = if metadata.is_symlink() {
                format!("link {:?}", std::fs::read_link(&path).unwrap())
            } else {
                let executable = metadata.permissions().mode() & 0o100 != 0;
                format!("file {executable} {:x?}", Sha256::digest(std::fs::read(&path).unwrap()).as_slice())
            };
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), state);
        }
    }
    found
}
