//! The remote that has the target: fetched from before a merge is made, pushed to once it is proven. Nothing is
//! ever forced, so a target that has moved there meanwhile refuses the push, and that is the only way in which we
//! find out.

use super::train::merge::{short, tip};
use crate::tree::changes::is_ancestor;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::single_line;
use loop_base::text::{counted, sanitise};
use loop_store::run::Run;
use loop_supervise::RUN_MARK;

/// What could not be asked or done, in words.
pub(crate) type RemoteResult<T> = Result<T, String>;

/// Commits that are named where a branch has them and its remote has not.
const COMMITS_NAMED: &str = "-5";

pub(crate) struct Remote<'a> {
    pub(crate) name: &'a str,
    pub(crate) target: &'a str,
    run: &'a str,
    git: &'a Git,
}

/// What came of a push.
pub(crate) enum Pushed {
    Done,
    /// The remote refused it, and how it stands there.
    Rejected(String),
    /// It could not be asked.
    Unreachable(String),
}

/// Returns the name of the remote that work goes to: `origin`, else the first.
pub(crate) fn usual_remote(git: &Git) -> Result<Option<String>, GitError> {
    let remotes = String::from_utf8_lossy(&git.run(["remote"])?).into_owned();
    let origin = remotes.lines().find(|it| *it == "origin");
    Ok(origin.or(remotes.lines().next()).map(str::to_owned))
}

impl<'a> Remote<'a> {
    pub(crate) fn new(git: &'a Git, run: &'a str, name: &'a str, target: &'a str) -> Remote<'a> {
        Remote { name, target, run, git }
    }

    /// The remote that has the target of a run: the one of its code host, or the one that it pushes to.
    pub(crate) fn of(run: &'a Run, git: &'a Git) -> Option<Remote<'a>> {
        let beginning = &run.state.opening.beginning;
        let name = beginning.host.as_deref().map(|it| it.remote.as_str()).or(beginning.remote.as_deref())?;
        let target = run.state.opening.worktree.as_deref()?.target.as_deref()?;
        Some(Remote::new(git, &run.id, name, target))
    }

    /// Fetches the target and returns its tip.
    pub(crate) fn fetch(&self) -> RemoteResult<String> {
        let kept = format!("refs/loop/remote/{}", self.run);
        let refs = format!("+refs/heads/{}:{kept}", self.target);
        let asked = [
            "fetch",
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            "--upload-pack=git-upload-pack",
            self.name,
            &refs,
        ];
        let failed =
            |error: GitError| format!("{} could not be fetched from {}: {error}", self.target, self.name);
        self.marked().run(asked).map_err(failed)?;
        self.git.run(["rev-parse", "-q", "--verify", &kept]).map(|it| single_line(&it)).map_err(failed)
    }

    /// Pushes a commit as a branch. Nothing is forced.
    pub(crate) fn push(&self, commit: &str, branch: &str) -> Result<(), GitError> {
        let refs = format!("{commit}:refs/heads/{branch}");
        self.marked().run(["push", "-q", "--receive-pack=git-receive-pack", self.name, &refs]).map(drop)
    }

    /// Pushes a commit as the target. Whatever was said, the tip that the remote has then decides.
    pub(crate) fn push_target(&self, commit: &str) -> Result<Pushed, GitError> {
        let Err(error) = self.push(commit, self.target) else { return Ok(Pushed::Done) };
        let now = match self.fetch() {
            Ok(now) => now,
            Err(why) => return Ok(Pushed::Unreachable(why)),
        };
        if is_ancestor(self.git, commit, &now)? {
            return Ok(Pushed::Done);
        }
        let last = self.git.run(["log", "-1", "--format=%an: %s", &now, "--"])?;
        Ok(Pushed::Rejected(format!(
            "{} refused the push: {}; {} is at {} there ({})",
            self.name,
            said(&error),
            self.target,
            short(&now),
            sanitise(&single_line(&last))
        )))
    }

    /// Says what the branch here has and the remote has not: that is somebody's to push.
    pub(crate) fn unpushed(&self, there: &str) -> Result<Option<String>, GitError> {
        let Some(here) = tip(self.git, self.target)? else { return Ok(None) };
        if is_ancestor(self.git, &here, there)? {
            return Ok(None);
        }
        let range = format!("{there}..{here}");
        let count = single_line(&self.git.run(["rev-list", "--count", &range, "--"])?);
        let log =
            self.git.run(["log", "--format=%h %an: %s", "--first-parent", COMMITS_NAMED, &range, "--"])?;
        let lines: String =
            String::from_utf8_lossy(&log).lines().map(|it| format!("\n  {}", sanitise(it))).collect();
        let (name, target) = (self.name, self.target);
        let count = counted(count.parse::<usize>().unwrap_or_default(), "commit");
        let how = match is_ancestor(self.git, there, &here)? {
            true => format!("git push {name} {target}"),
            false => {
                format!("merge both with git pull {name} {target}, then git push {name} {target}")
            }
        };
        Ok(Some(format!("{target} has {count} that {name} does not have; {how}{lines}")))
    }

    /// A hook of the repository knows by this that a run is pushing.
    fn marked(&self) -> Git {
        self.git.with(vec![(RUN_MARK, self.run.into())])
    }
}

/// What the remote said and why git calls that a refusal, without the address and the advice: it is one line.
pub(crate) fn said(error: &GitError) -> String {
    let GitError::Failed { stderr, .. } = error else { return error.to_string() };
    let text = stderr.split("error: failed to push").next().unwrap_or_default();
    let Some((before, refusal)) = text.split_once("! [") else { return stderr.trim().to_owned() };
    let words = before.split(" To ").next().filter(|it| it.starts_with("remote:")).unwrap_or_default();
    let words = words.split("remote:").map(str::trim).filter(|it| !it.is_empty());
    let why = refusal.rsplit_once('(').map_or(refusal, |it| it.1).trim().trim_end_matches(')');
    words.chain([why]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_what_the_remote_and_git_say_of_it() {
        let said = |stderr: &str| {
            let arguments = "push".to_owned();
            said(&GitError::Failed { arguments, code: Some(1), stderr: stderr.to_owned() })
        };
        let moved = "To /srv/shop.git  ! [rejected]        abc -> main (fetch first) error: failed to push some \
                     refs to '/srv/shop.git' hint: Updates were rejected (see the 'Note about fast-forwards')";
        assert_eq!(said(moved), "fetch first");
        let hook = "remote: not on a Friday         To /srv/shop.git  ! [remote rejected] abc -> main (pre-receive \
                    hook declined) error: failed to push some refs to '/srv/shop.git'";
        assert_eq!(said(hook), "not on a Friday, pre-receive hook declined");
        assert_eq!(said("fatal: no such remote"), "fatal: no such remote");
    }
}
