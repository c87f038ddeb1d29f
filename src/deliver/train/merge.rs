//! The merge itself: a commit whose first parent is the target as it is and whose second is the commit that
//! was proven and approved. It is made in memory, so nobody's files move, and it stands nowhere until the
//! target is moved to it.

use super::lost::{self, LostLines};
use crate::tree::changes::is_ancestor;
use crate::tree::commit_name::commit_of;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::single_line;
use loop_core::engine::{Landing, Merge, Worktree};
use std::collections::BTreeSet;

/// Files that are named where work collides; git names the others.
const FILES_NAMED: usize = 20;

/// What is to be landed.
pub(crate) struct Work<'a> {
    pub(crate) run: &'a str,
    pub(crate) plan: &'a Worktree,
    pub(crate) target: &'a str,
    /// The commit that was proven.
    pub(crate) proven: &'a str,
    /// The first line of the merge's message.
    pub(crate) subject: &'a str,
}

impl Work<'_> {
    /// Merges it with this commit of the target.
    pub(crate) fn merge_with(&self, git: &Git, from: &str) -> Result<Result<Merge, Landing>, GitError> {
        if let Some(changed) = self.changed(git)? {
            return Ok(Err(changed));
        }
        let (plan, head) = (self.plan, self.proven);
        let tree = match merged_tree(git, from, head)? {
            Ok(tree) => tree,
            Err(files) => {
                return Ok(Err(Landing::Collides { why: self.conflict(&files, &self.name(git, from)?) }));
            }
        };
        let lost = lost::lines(git, &plan.base, from, head, &tree)?;
        if !lost.is_empty() {
            return Ok(Err(Landing::Collides { why: self.loss(&lost, &self.name(git, from)?) }));
        }
        let message = format!("{}\n\nLoop-Run: {}\n", self.subject, self.run);
        let made = commit(git, &tree, &[from, head], &message)?;
        Ok(made.map_err(not).map(|commit| Merge {
            into: self.target.to_owned(),
            from: from.to_owned(),
            commit,
            tree,
        }))
    }

    /// Says that the branch is not the one that was proven, if so.
    pub(crate) fn changed(&self, git: &Git) -> Result<Option<Landing>, GitError> {
        let (branch, head) = (&self.plan.branch, tip(git, &self.plan.branch)?.unwrap_or_default());
        if head == self.proven {
            return Ok(None);
        }
        let (is, was) = (short(&head), short(self.proven));
        let why = format!("{branch} was changed after the review: it is at {is} and {was} was proven");
        Ok(Some(Landing::Not { why, unreviewed: true }))
    }

    /// The commit of the target's first parents with which the proven one came to it, if it has.
    pub(crate) fn landed_as(&self, git: &Git, from: &str) -> Result<Option<String>, GitError> {
        if !is_ancestor(git, self.proven, from)? {
            return Ok(None);
        }
        let range = format!("{}..{from}", self.plan.base);
        let chain = git.run(["rev-list", "--first-parent", "--reverse", &range, "--"])?;
        let chain = String::from_utf8_lossy(&chain).into_owned();
        let chain: Vec<&str> = chain.lines().collect();
        // Whatever has it has it from there on.
        let (mut without, mut with) = (0, chain.len());
        while without < with {
            let middle = (without + with) / 2;
            match is_ancestor(git, self.proven, chain[middle])? {
                true => with = middle,
                false => without = middle + 1,
            }
        }
        Ok(Some(chain.get(with).map_or(from, |it| *it).to_owned()))
    }

    /// What an agent calls this commit of the target: the branch here may not have it yet.
    fn name(&self, git: &Git, from: &str) -> Result<String, GitError> {
        let is_here = tip(git, self.target)?.is_some_and(|it| it == from);
        Ok(if is_here { self.target } else { short(from) }.to_owned())
    }

    fn conflict(&self, files: &[String], from: &str) -> Vec<String> {
        let (target, place) = (self.target, &self.plan.place);
        vec![
            format!("{target} has moved and changes the same lines: {}", named(files)),
            format!(
                "merge it in {place}: git merge {from}; where both changed a line, keep the line of {target} \
                 in the merge and commit that, then make your own change again in a commit of its own"
            ),
        ]
    }

    fn loss(&self, lost: &[LostLines], from: &str) -> Vec<String> {
        let target = self.target;
        let mut why =
            vec![format!("merging the branch into {target} would take away what others added there")];
        why.extend(lost.iter().take(FILES_NAMED).map(LostLines::line));
        let more = lost.len().saturating_sub(FILES_NAMED);
        why.extend((0 < more).then(|| format!("and {more} more files")));
        why.push(format!(
            "bring them back, for example with git checkout {from} -- FILE, and commit; what your work has \
             to replace of them, it replaces in a commit of its own after the merge"
        ));
        why
    }
}

fn not(why: String) -> Landing {
    Landing::Not { why, unreviewed: false }
}

fn named(files: &[String]) -> String {
    let shown = files.iter().take(FILES_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(FILES_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The tree of two commits merged, or the files in which they contradict each other.
pub(crate) fn merged_tree(
    git: &Git,
    one: &str,
    other: &str,
) -> Result<Result<String, Vec<String>>, GitError> {
    // A merge driver is a program that the branch may have chosen.
    let quiet = git.without_drivers()?;
    match quiet.run(["merge-tree", "--write-tree", "--name-only", "--no-messages", one, other]) {
        Ok(output) => Ok(Ok(first_line(&output))),
        Err(GitError::Failed { code: Some(1), stderr, .. }) => {
            Ok(Err(in_conflict(git, one, other, &stderr)?))
        }
        Err(error) => Err(error),
    }
}

/// The files that git names among those which both sides changed.
fn in_conflict(git: &Git, one: &str, other: &str, said: &str) -> Result<Vec<String>, GitError> {
    let base = first_line(&git.run(["merge-base", one, other])?);
    let changed = |side: &str| -> Result<BTreeSet<String>, GitError> {
        let listing = git.run(["diff-tree", "-r", "-z", "--name-only", "--no-renames", &base, side])?;
        let names = listing.split(|it| *it == 0).filter(|it| !it.is_empty());
        Ok(names.map(|it| String::from_utf8_lossy(it).into_owned()).collect())
    };
    let (ours, theirs) = (changed(one)?, changed(other)?);
    let named: Vec<String> = ours.intersection(&theirs).filter(|it| said.contains(*it)).cloned().collect();
    // A renamed file is in conflict under a name that one side does not know.
    let words = || said.split(' ').skip(1).map(str::to_owned).collect();
    Ok(if named.is_empty() { words() } else { named })
}

/// Makes a commit, or says why nobody could.
pub(crate) fn commit(
    git: &Git,
    tree: &str,
    parents: &[&str],
    message: &str,
) -> Result<Result<String, String>, GitError> {
    let mut words = vec!["commit-tree", tree];
    parents.iter().for_each(|it| words.extend(["-p", it]));
    words.extend(["-m", message]);
    match git.durable().run(words) {
        Ok(output) => Ok(Ok(single_line(&output))),
        Err(GitError::Failed { stderr, .. }) => {
            // Git explains at length who it takes for nobody, and its first lines do not say what is missing.
            let is_nobody = ["Please tell me who you are", "empty ident", "unable to auto-detect"];
            if is_nobody.iter().any(|it| stderr.contains(it)) {
                let commands = "git config user.name \"YOUR NAME\" && git config user.email YOU@EXAMPLE.COM";
                return Ok(Err(format!("git does not know whose commit the merge is; {commands} tells it")));
            }
            let why = stderr.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
            Ok(Err(format!("the merge could not be committed: {why}")))
        }
        Err(error) => Err(error),
    }
}

/// The commit that a branch stands at.
pub(crate) fn tip(git: &Git, branch: &str) -> Result<Option<String>, GitError> {
    commit_of(git, &format!("refs/heads/{branch}"))
}

pub(crate) fn tree_of(git: &Git, commit: &str) -> Result<String, GitError> {
    let asked = format!("{commit}^{{tree}}");
    Ok(first_line(&git.run(["rev-parse", "--verify", "--end-of-options", &asked])?))
}

fn first_line(output: &[u8]) -> String {
    single_line(output).lines().next().unwrap_or_default().to_owned()
}

pub(crate) fn short(commit: &str) -> &str {
    if commit.is_empty() { "no commit" } else { commit.get(..12).unwrap_or(commit) }
}

#[cfg(test)]
mod tests {
    use super::{commit, tree_of};
    use crate::tree::git::Git;
    use crate::tree::sample::Sample;

    #[test]
    fn a_merge_that_git_knows_no_name_for_says_which_commands_tell_it() {
        let sample = Sample::committed();
        sample.user(&["config", "user.name", ""]);
        sample.user(&["config", "user.email", "somebody@localhost"]);
        let git = Git::open(&sample.top()).expect("a repository");
        let tree = tree_of(&git, "HEAD").expect("a tree");
        let why = commit(&git, &tree, &["HEAD"], "a merge").expect("git works").expect_err("no name");
        assert!(why.contains("git config user.name ") && why.contains("git config user.email "), "{why}");
    }
}
