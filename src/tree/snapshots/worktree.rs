//! The worktree that a run has to itself, below `.worktrees/` of the tree it was opened in: planned,
//! made, looked at before every call, and removed.
//!
//! What is planned stands in the journal before anything is made, and making asks the world first at
//! every step (the branch, the entry in git's list, the files), so whoever was killed in between is
//! followed by somebody who finds what there is and makes only the rest. Nothing is written over
//! that was not kept in a snapshot before.
//!
//! An agent may do anything to the folder it works in. So before each call the way to it is walked
//! without following links, and its `.git`, its entry and its branch are read: a folder that is
//! gone, empty or another's would make git, and the agent with it, take the repository above.

use super::snapshot;
use crate::tree::repository::commit_name::commit_of;
use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_dir;
use crate::tree::repository::git_text::{bytes_to_path, single_line};
use crate::tree::repository::pinned::Pinned;
use crate::tree::status::path_patterns::Ours;
use crate::tree::status::working_tree::WorkingTree;
use loop_base::files;
use loop_core::engine::Worktree;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of all worktrees.
pub(crate) const FOLDER: &str = ".worktrees";

/// What git allows is longer; a folder is named after it, and 255 bytes is what a file system takes.
const BRANCH_MOST: usize = 200;

/// A git that was killed says nothing, and is tried again. Whoever kills every git wants the worktree to stay.
const REMOVALS_MOST: u32 = 3;

/// A `.git` file and the files of an entry hold one path each.
const LINK_MOST: usize = 8 << 10;

/// A worktree that cannot be made, or is not where it should be.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Misplaced {
    pub(crate) text: String,
    pub(crate) next: String,
}

fn misplaced(text: impl Into<String>, next: impl Into<String>) -> Misplaced {
    Misplaced { text: text.into(), next: next.into() }
}

/// Says whether a name may be a branch of ours: what git allows, and nothing that a shell, an option
/// or a path could be made of.
pub(crate) fn is_branch(name: &str) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let part = |it: &str| {
        !it.is_empty()
            && !it.starts_with(['-', '.'])
            && !it.ends_with('.')
            && !it.ends_with(".lock")
            && !it.contains("..")
            && it.bytes().all(plain)
    };
    name.len() <= BRANCH_MOST && name.split('/').all(part) && name != "HEAD"
}

/// Plans the worktree of a run: a branch that there is not yet, and a folder that is free.
pub(crate) fn plan(git: &Git, run: &str, branch: &str) -> anyhow::Result<Worktree> {
    if !is_branch(branch) {
        let shown: String = branch.chars().take(80).collect();
        return Err(misplaced(
            format!("\"{shown}\" cannot be the name of a branch"),
            "use letters, digits, and - _ . / between them, in branch of [workspace]",
        )
        .into());
    }
    let short = &run[..8];
    let base = commit_of(git, "HEAD")?.ok_or_else(|| {
        misplaced(
            format!("{} has no commit that a worktree could start from", git.work_tree().display()),
            "git commit, then again",
        )
    })?;
    let root = git.work_tree();
    let folder = |branch: &str| root.join(FOLDER).join(branch.replace('/', "-"));
    // A folder that bears the run's own name and is empty is what a killed opening left.
    let is_free = |branch: &str| match fs::read_dir(folder(branch)) {
        Ok(mut entries) => branch.contains(short) && entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    let is_taken = commit_of(git, &format!("refs/heads/{branch}"))?.is_some() || !is_free(branch);
    let branch = if is_taken { format!("{branch}-{short}") } else { branch.to_owned() };
    let place = folder(&branch);
    Ok(Worktree {
        root: root.to_string_lossy().into_owned(),
        place: place.to_string_lossy().into_owned(),
        branch,
        base,
        target: current_branch(git)?,
        existing: false,
    })
}

/// Plans to continue in a branch that somebody else began, in the folder that they had; `None` where there is no such
/// branch.
pub(crate) fn plan_existing(git: &Git, branch: &str, place: &str) -> anyhow::Result<Option<Worktree>> {
    let (Some(tip), Some(head)) = (commit_of(git, &format!("refs/heads/{branch}"))?, commit_of(git, "HEAD")?)
    else {
        return Ok(None);
    };
    // A branch that has nothing in common with HEAD began by itself.
    let base = git.run(["merge-base", &tip, &head]).map(|it| single_line(&it)).unwrap_or(tip);
    let root = git.work_tree();
    Ok(Some(Worktree {
        root: root.to_string_lossy().into_owned(),
        place: root.join(place).to_string_lossy().into_owned(),
        branch: branch.to_owned(),
        base,
        target: current_branch(git)?,
        existing: true,
    }))
}

/// Says which of the two keeps the work on a branch that somebody else began from being continued there, and why.
pub(crate) fn not_continuable(
    git: &Git,
    branch: &str,
    place: &str,
) -> Result<Option<(&'static str, String)>, GitError> {
    let name = place.strip_prefix(FOLDER).and_then(|it| it.strip_prefix('/')).unwrap_or_default();
    if !is_branch(branch) {
        return Ok(Some(("branch", format!("is {branch:?}, which no branch of a run can be called"))));
    }
    if current_branch(git)?.as_deref() == Some(branch) {
        let why = format!("is {branch:?}, which the project itself is on: a system has a branch of its own");
        return Ok(Some(("branch", why)));
    }
    let is_outside = !is_branch(name) || name.contains('/');
    Ok(is_outside.then(|| ("worktree", format!("is {place:?}, which is no folder directly below {FOLDER}/"))))
}

/// Makes the empty folder, so that it can be locked before anything else happens to it.
pub(crate) fn reserve(plan: &Worktree) -> Result<(), Misplaced> {
    let root = Path::new(&plan.root);
    for path in [root.join(FOLDER), PathBuf::from(&plan.place)] {
        match fs::create_dir(&path) {
            Ok(()) => (),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => (),
            Err(error) => {
                return Err(unreachable(plan, &format!("{} cannot be made: {error}", path.display())));
            }
        }
    }
    walk(plan).map(drop)
}

/// Makes whatever of the worktree is missing. `run` names its snapshots and `view` is where they
/// are prepared.
pub(crate) fn ensure(
    plan: &Worktree,
    run: &str,
    view: &Path,
    git_programs: Option<&[String]>,
) -> anyhow::Result<()> {
    let git = Git::open(Path::new(&plan.root))?.trusting(git_programs);
    reserve(plan)?;
    // What somebody has in a worktree of their own stays as it is.
    if !(plan.existing && verify(plan).is_ok()) {
        ensure_branch(&git, plan)?;
        ensure_entry(&git, plan)?;
        fill(&git, plan, run, view)?;
    }
    verify(plan)?;
    // A power loss must not leave a journal that says "made" and files that are empty.
    let place = fs::File::open(&plan.place)?;
    files::everything(&place)?;
    Ok(())
}

fn ensure_branch(git: &Git, plan: &Worktree) -> anyhow::Result<()> {
    let name = format!("refs/heads/{}", plan.branch);
    match commit_of(git, &name)? {
        None => git.run(["update-ref", &name, &plan.base, ""]).map(drop)?,
        Some(commit) if commit == plan.base || plan.existing => (),
        Some(_) => {
            return Err(misplaced(
                format!("branch {} was created by somebody else at the same time", plan.branch),
                "rename or delete it, then loop run",
            )
            .into());
        }
    }
    Ok(())
}

fn ensure_entry(git: &Git, plan: &Worktree) -> anyhow::Result<()> {
    let (place, branch) = (Path::new(&plan.place), format!("refs/heads/{}", plan.branch));
    let entries = entries(git)?;
    if let Some(other) = entries.iter().find(|it| it.branch.as_ref() == Some(&branch) && it.path != place) {
        return Err(misplaced(
            format!("branch {} is checked out in {}", plan.branch, other.path.display()),
            "check out another one there, then loop run",
        )
        .into());
    }
    let entry = entries.iter().find(|it| it.path == place);
    if verify(plan).is_err() {
        // A git that was killed leaves its own link behind, and takes a folder with one for taken.
        let only_a_link = fs::read_dir(place)?.all(|it| it.is_ok_and(|it| it.file_name() == ".git"));
        let is_link = fs::symlink_metadata(place.join(".git")).is_ok_and(|it| it.is_file());
        if only_a_link && is_link {
            fs::remove_file(place.join(".git"))?;
        }
        // Twice: an entry whose making was interrupted is locked. That the branch is free was seen.
        let force: &[&str] = if entry.is_some() { &["--force", "--force"] } else { &[] };
        let asked =
            [&["worktree", "add", "--quiet", "--no-checkout"], force, &["--", &plan.place, &plan.branch]];
        git.run(asked.concat())?;
    } else if entry.is_some_and(|it| it.is_locked) {
        git.run(["worktree", "unlock", "--", &plan.place])?;
    }
    Ok(())
}

/// Writes the files. Whatever lies there already is kept first, since somebody may have put it there.
fn fill(root: &Git, plan: &Worktree, run: &str, view: &Path) -> anyhow::Result<()> {
    let place = Path::new(&plan.place);
    let git = root.open_other(place)?;
    let found = fs::read_dir(place)?.filter_map(Result::ok).any(|it| it.file_name() != ".git");
    if found {
        let mut tree = WorkingTree::open(Pinned::open(&git, view)?, Ours::read::<&str>(&[])?)?;
        let status = tree.status()?;
        snapshot::take(&tree.pinned, &status, run)?;
    }
    Ok(write_files(&git)?)
}

/// Writes the files of a worktree that was added without them. Git itself would write them under the configuration
/// of the tree that it was started in, with whatever drivers that of the worktree names beside.
fn write_files(worktree: &Git) -> Result<(), GitError> {
    let git = worktree.without_drivers()?;
    git.run(["read-tree", "HEAD"])?;
    git.run(["checkout-index", "--quiet", "--all", "--force", "--index"])?;
    Ok(())
}

/// Adds a worktree that is on no branch, and writes its files.
pub(crate) fn add_detached(git: &Git, place: &Path, commit: &str) -> Result<(), GitError> {
    let words = ["worktree", "add", "--quiet", "--no-checkout", "--detach", "--"].map(AsRef::as_ref);
    git.run(words.into_iter().chain([place.as_os_str(), commit.as_ref()]))?;
    write_files(&git.open_other(place)?)
}

/// Brings the run's document along. A design that nobody committed is not part of the worktree, and
/// a locked one differs from what was committed.
pub(crate) fn bring(plan: &Worktree, document: Option<&Path>) -> std::io::Result<()> {
    let Some(to) = document else { return Ok(()) };
    let Ok(inside) = to.strip_prefix(&plan.place) else { return Ok(()) };
    let text = files::text(&Path::new(&plan.root).join(inside))?;
    if fs::symlink_metadata(to).is_ok_and(|it| it.is_file()) && fs::read(to)? == text.as_bytes() {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // Whatever was checked out there, a link is replaced and not followed.
    let _may_be_absent = fs::remove_file(to);
    fs::write(to, text)
}

/// Looks whether the worktree is where it was made, on its own branch, and nobody else's.
pub(crate) fn verify(plan: &Worktree) -> Result<(), Misplaced> {
    let folder = walk(plan)?;
    let lost = |what: &str| unreachable(plan, what);
    let root = Path::new(&plan.root);
    let link = files::read_at(&folder, ".git", LINK_MOST)
        .map_err(|error| lost(&format!("its .git cannot be read: {error}")))?;
    let named = |bytes: &[u8], base: &Path| {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        base.join(bytes_to_path(line))
    };
    let entry = link.strip_prefix(b"gitdir: ").ok_or_else(|| lost("its .git is not a link of git's"))?;
    let entry = named(entry, Path::new(&plan.place));
    let real =
        |path: &Path| path.canonicalize().map_err(|error| lost(&format!("{}: {error}", path.display())));
    let entry = real(&entry)?;
    let ours = git_dir::own(root)
        .map(|it| git_dir::shared(&it))
        .ok_or_else(|| lost("its repository is missing"))?
        .join("worktrees");
    if entry.parent() != real(&ours).ok().as_deref() {
        return Err(lost(&format!("its .git leads to another repository, {}", entry.display())));
    }
    let read = |name: &str| {
        files::read(&entry.join(name), LINK_MOST)
            .map_err(|error| lost(&format!("{} of its entry cannot be read: {error}", name)))
    };
    let back = named(&read("gitdir")?, &entry);
    if real(&back).ok() != real(&Path::new(&plan.place).join(".git")).ok() {
        return Err(lost(&format!("git's entry for it leads to {}", back.display())));
    }
    let head = String::from_utf8_lossy(&read("HEAD")?).trim_end().to_owned();
    let expected = format!("ref: refs/heads/{}", plan.branch);
    if head != expected {
        let shown = head.strip_prefix("ref: refs/heads/").unwrap_or(&head);
        return Err(misplaced(
            format!("the worktree {} is on {shown} and not on its branch {}", plan.place, plan.branch),
            format!("git -C {} checkout {}, then loop resume", quoted(&plan.place), plan.branch),
        ));
    }
    Ok(())
}

/// Looks whether a run that works in the user's own tree still has it there.
pub(crate) fn verify_here(place: &Path, git_dir: &Path) -> Result<(), Misplaced> {
    let dot = place.join(".git");
    let found = match files::read(&dot, LINK_MOST) {
        Ok(link) => link
            .strip_prefix(b"gitdir: ")
            .and_then(|it| place.join(bytes_to_path(it.trim_ascii_end())).canonicalize().ok()),
        Err(_) => dot.canonicalize().ok(),
    };
    if found.is_some() && found == git_dir.canonicalize().ok() {
        return Ok(());
    }
    Err(misplaced(
        format!("{} is no longer the working tree of {}", place.display(), git_dir.display()),
        "bring it back, then loop resume",
    ))
}

/// Removes a worktree that holds nothing which is not committed, and leaves its branch. Says why not
/// otherwise.
pub(crate) fn remove(plan: &Worktree, git_programs: Option<&[String]>) -> Result<Option<String>, GitError> {
    if fs::symlink_metadata(&plan.place).is_err() {
        return Ok(None);
    }
    let git = Git::reopen(Path::new(&plan.root))?.trusting(git_programs);
    // Without force, git looks for changes itself: with a git in the worktree, whose configuration may name drivers
    // that that of the root does not.
    let removed =
        git.open_other(Path::new(&plan.place)).and_then(|it| unsaved(&it)).and_then(|why| match why {
            Some(why) => Ok(Some(why.to_owned())),
            None => delete(&git, plan).map(|()| None),
        });
    let why = match removed {
        Ok(why) => why,
        Err(GitError::Failed { stderr, .. }) => {
            let said = stderr.lines().next().unwrap_or("git was killed");
            Some(said.trim_start_matches("fatal: ").to_owned())
        }
        Err(error @ GitError::NotARepository { .. }) => Some(error.to_string()),
        Err(error) => return Err(error),
    };
    Ok(why.map(|it| format!("the worktree {} stays: {it}", plan.place)))
}

/// Removes a worktree of which nothing is lost.
fn delete(git: &Git, plan: &Worktree) -> Result<(), GitError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match git.run(["worktree", "remove", "--force", "--", &plan.place]) {
            Err(GitError::Failed { stderr, .. }) if stderr.is_empty() && tries < REMOVALS_MOST => (),
            done => return done.map(drop),
        }
    }
}

/// Says what a worktree holds that would be lost with it.
fn unsaved(worktree: &Git) -> Result<Option<&'static str>, GitError> {
    let changes = [
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=normal",
        "--ignore-submodules=none",
    ];
    if !worktree.run(changes)?.is_empty() {
        return Ok(Some("it contains modified or untracked files"));
    }
    // The repositories of submodules lie in the worktree's own entry, which goes with it.
    let has_submodules = worktree.git_dir().join("modules").exists()
        || worktree
            .run(["ls-files", "--stage", "-z"])?
            .split(|it| *it == 0)
            .any(|it| it.starts_with(b"160000 "));
    Ok(has_submodules.then_some("it contains submodules"))
}

/// Makes a worktree again that was removed, from its branch; from where the run began, if the branch is
/// gone too.
pub(crate) fn make_again(plan: &Worktree, git_programs: Option<&[String]>) -> Result<(), GitError> {
    let git = Git::open(Path::new(&plan.root))?.trusting(git_programs);
    // Git keeps an entry for a folder whose removal was interrupted.
    git.run(["worktree", "prune"])?;
    let (place, branch) = (plan.place.as_str(), plan.branch.as_str());
    let words: &[&str] = match commit_of(&git, &format!("refs/heads/{branch}"))? {
        Some(_) => &["--", place, branch],
        None => &["-b", branch, "--", place, &plan.base],
    };
    let add = ["worktree", "add", "--quiet", "--no-checkout"].iter().chain(words);
    git.run(add)?;
    write_files(&git.open_other(Path::new(place))?)
}

/// Deletes a branch whose commits are all in the branch that it was merged into.
pub(crate) fn delete_merged_branch(plan: &Worktree) -> Result<(), GitError> {
    let git = Git::open(Path::new(&plan.root))?;
    let (Some(target), Some(tip)) = (&plan.target, commit_of(&git, &format!("refs/heads/{}", plan.branch))?)
    else {
        return Ok(());
    };
    let is_merged = git.run(["merge-base", "--is-ancestor", &tip, &format!("refs/heads/{target}")]).is_ok();
    if is_merged {
        git.run(["update-ref", "-d", &format!("refs/heads/{}", plan.branch), &tip])?;
    }
    Ok(())
}

/// Opens the folder from the root on, and follows no link.
fn walk(plan: &Worktree) -> Result<OwnedFd, Misplaced> {
    let root = Path::new(&plan.root);
    let inside =
        Path::new(&plan.place).strip_prefix(root).map_err(|_| unreachable(plan, "it is elsewhere"))?;
    files::folder(root, inside).map_err(|error| {
        unreachable(
            plan,
            match error {
                Errno::NOENT => "it is gone",
                Errno::LOOP | Errno::XDEV => "a link is on the way to it",
                Errno::NOTDIR => "a file or a link is in its place",
                _ => "it cannot be entered",
            },
        )
    })
}

fn unreachable(plan: &Worktree, what: &str) -> Misplaced {
    misplaced(
        format!("the worktree {} is not what it was: {what}", plan.place),
        format!(
            "move away what is there, git worktree add --force {} {}, loop restore, then loop resume; or loop cancel",
            quoted(&plan.place),
            plan.branch
        ),
    )
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// A working tree that git knows of.
pub(crate) struct WorktreeEntry {
    pub(crate) path: PathBuf,
    pub(crate) branch: Option<String>,
    is_locked: bool,
}

/// Returns every working tree of a repository.
pub(crate) fn entries(git: &Git) -> Result<Vec<WorktreeEntry>, GitError> {
    let listing = git.run(["worktree", "list", "--porcelain", "-z"])?;
    let mut found: Vec<WorktreeEntry> = Vec::new();
    for line in listing.split(|it| *it == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            found.push(WorktreeEntry { path: bytes_to_path(path), branch: None, is_locked: false });
        } else if let Some(last) = found.last_mut() {
            if let Some(branch) = line.strip_prefix(b"branch ") {
                last.branch = Some(String::from_utf8_lossy(branch).into_owned());
            }
            last.is_locked |= line.starts_with(b"locked");
        }
    }
    Ok(found)
}

/// Returns the branch that is checked out, where one is.
pub(crate) fn current_branch(git: &Git) -> Result<Option<String>, GitError> {
    match git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]) {
        Ok(output) => Ok(Some(single_line(&output)).filter(|it| !it.is_empty())),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{add_detached, make_again, remove};
    use crate::tree::sample::Sample;
    use loop_core::engine::Worktree;

    /// Only in a worktree does the repository's configuration name a filter, and every file goes through it.
    #[test]
    fn g29_a_filter_that_only_a_worktree_has_is_not_started_by_what_is_done_to_it() {
        let sample = Sample::committed();
        let marker = sample.marker().display().to_string();
        let evil =
            format!("[filter \"evil\"]\n\tclean = touch {marker}; cat\n\tsmudge = touch {marker}; cat\n");
        std::fs::write(sample.outside("evil"), evil).unwrap();
        let place = sample.path(".worktrees/one");
        let plan = Worktree {
            root: sample.top().display().to_string(),
            place: place.display().to_string(),
            branch: "one".to_owned(),
            base: sample.user(&["rev-parse", "HEAD"]),
            target: None,
            existing: false,
        };
        let settings = sample.outside("evil").display().to_string();
        sample.user(&["config", "includeIf.gitdir:**/worktrees/**.path", &settings]);
        sample.write(".git/info/attributes", b"* filter=evil\n");
        make_again(&plan, None).unwrap();
        let touch = || {
            let file = std::fs::File::options().append(true).open(place.join("a.txt")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        };
        assert_eq!(std::fs::read(place.join("a.txt")).unwrap(), b"a\n");
        std::fs::write(place.join("draft"), "").unwrap();
        touch();
        let why = remove(&plan, None).unwrap().unwrap();
        assert!(why.ends_with("it contains modified or untracked files"), "{why}");
        std::fs::remove_file(place.join("draft")).unwrap();
        touch();
        assert_eq!(remove(&plan, None).unwrap(), None);
        assert!(!place.exists());
        let room = sample.outside("room");
        add_detached(&sample.git(), &room, "HEAD").unwrap();
        assert_eq!(std::fs::read(room.join("a.txt")).unwrap(), b"a\n");
        assert!(!sample.marker().exists());
        // Git by itself starts it there.
        std::fs::File::options()
            .append(true)
            .open(room.join("a.txt"))
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        sample.user_in(&room, &["status"]);
        assert!(sample.marker().exists());
    }
}
