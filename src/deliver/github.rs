//! Pull requests through `gh`: the branch is pushed, the request is opened or found, gets its labels, reviewers
//! and a comment, is read, and is merged by us where the workflow says so. Everything is asked of the host before it
//! is done, so that whoever comes after a crash finds what was done. What the host says is read, never assumed.

use super::remote::{self, Remote, RemoteResult, usual_remote};
use crate::tree::changes::is_ancestor;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::{is_object_id, single_line};
use loop_core::engine::{CodeHost, Worktree};
use loop_core::workflow::model::{MergeThrough, Workflow};
use loop_store::mirror::domain_memory::FOLDER;
use loop_store::run::Run;
use loop_supervise::{foreground, which};
use serde::Deserialize;
use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The program that talks to the host.
const PROGRAM: &str = "gh";

/// A host that says nothing for so long is asked again later.
const HOST_TIME: Duration = Duration::from_secs(60);

/// What the host takes as the text of a request or a comment is 65,536 characters.
const TEXT_MOST: usize = 60_000;

/// The fields of a request that we read.
const FIELDS: &str = "number,url,state,headRefOid,mergeCommit,mergedBy,reviews,comments,labels";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PullRequest {
    pub number: u64,
    pub url: String,
    pub state: RequestState,
    pub head_ref_oid: String,
    pub merge_commit: Option<CommitId>,
    pub merged_by: Option<Account>,
    pub reviews: Vec<Review>,
    pub comments: Vec<Comment>,
    pub labels: Vec<Label>,
}

impl PullRequest {
    /// Whether a run wrote on it.
    fn is_of(&self, run: &str) -> bool {
        self.comments.iter().any(|it| it.body.contains(&mark_of(run)))
    }
}

/// How lines begin that people do not see, by which a comment of a run is known again.
pub(crate) fn mark_of(run: &str) -> String {
    format!("<!-- loop {run}: ")
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Label {
    pub name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum RequestState {
    #[default]
    Open,
    Merged,
    Closed,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CommitId {
    pub oid: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Account {
    pub login: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Review {
    pub author: Account,
    pub state: String,
    pub body: String,
    pub submitted_at: String,
    pub commit: CommitId,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Comment {
    pub author: Account,
    pub body: String,
    pub created_at: String,
}

/// The host of a run, as it was when the run was opened.
pub(crate) struct GitHub<'a> {
    host: &'a CodeHost,
    pub run: &'a Run,
    pub plan: &'a Worktree,
    pub target: &'a str,
    pub git: Git,
    /// What a person should know beside what came of it.
    pub notes: RefCell<Vec<String>>,
}

impl<'a> GitHub<'a> {
    /// Returns the host that the work of a run goes through, if it goes through one.
    pub(crate) fn of(run: &'a Run) -> Result<Option<GitHub<'a>>, GitError> {
        let opening = &run.state.opening;
        let (Some(host), Some(plan)) = (opening.beginning.host.as_deref(), opening.worktree.as_deref())
        else {
            return Ok(None);
        };
        let Some(target) = plan.target.as_deref() else { return Ok(None) };
        let git = Git::open(Path::new(&plan.root))?.trusting(opening.git_programs());
        Ok(Some(GitHub { host, run, plan, target, git, notes: RefCell::default() }))
    }

    /// Returns the account that our `gh`, and so the agents', works with. Its word approves nothing.
    pub(crate) fn account(&self) -> RemoteResult<String> {
        let login = self.ask(&["api", "user", "--jq", ".login"])?.trim().to_owned();
        if login.is_empty() { Err("gh does not say which account it uses".to_owned()) } else { Ok(login) }
    }

    /// Returns the request of this branch: an open one, else one that was merged with this commit, or with it and
    /// what others pushed on top of it.
    pub(crate) fn find(&self, commit: &str) -> RemoteResult<Option<PullRequest>> {
        let listed = self.ask(&[
            "pr",
            "list",
            "--head",
            &self.plan.branch,
            "--base",
            self.target,
            "--state",
            "all",
            "--limit",
            "50",
            "--json",
            "number,url,state,headRefOid",
        ])?;
        let listed: Vec<PullRequest> =
            serde_json::from_str(&listed).map_err(|error| format!("gh pr list: {error}"))?;
        let open = listed.iter().find(|it| it.state == RequestState::Open);
        let over = listed.iter().find(|it| it.state != RequestState::Open && it.head_ref_oid == commit);
        if let Some(found) = open.or(over) {
            return self.view(found.number).map(Some);
        }
        for merged in listed.iter().filter(|it| it.state == RequestState::Merged && !commit.is_empty()) {
            let request = self.view(merged.number)?;
            if request.is_of(&self.run.id) && self.has_arrived(commit, &request)? {
                return Ok(Some(request));
            }
        }
        Ok(None)
    }

    /// Whether what a request brought to the target has the work of this commit. Documents of ours that came after
    /// it was merged are no work.
    fn has_arrived(&self, commit: &str, request: &PullRequest) -> RemoteResult<bool> {
        self.remote().fetch()?;
        let merge = request.merge_commit.as_ref().map_or("", |it| it.oid.as_str());
        let look = || -> anyhow::Result<bool> {
            let git = &self.git;
            if !is_object_id(merge) || is_ancestor(git, commit, merge)? {
                return Ok(is_object_id(merge));
            }
            let base = single_line(&git.run(["merge-base", commit, merge])?);
            let named = git.run(["diff-tree", "-r", "-z", "--name-only", &base, commit, "--"])?;
            let ours = format!("{FOLDER}/");
            Ok(named.split(|it| *it == 0).all(|it| it.is_empty() || it.starts_with(ours.as_bytes())))
        };
        look().map_err(|error| error.to_string())
    }

    pub(crate) fn view(&self, number: u64) -> RemoteResult<PullRequest> {
        let text = self.ask(&["pr", "view", &number.to_string(), "--json", FIELDS])?;
        serde_json::from_str(&text).map_err(|error| format!("gh pr view: {error}"))
    }

    /// Opens a request for what was pushed.
    pub(crate) fn open(&self, title: &str, body: &str) -> RemoteResult<PullRequest> {
        let body: String = body.chars().take(TEXT_MOST).collect();
        let asked = [
            "pr",
            "create",
            "--head",
            &self.plan.branch,
            "--base",
            self.target,
            "--title",
            title,
            "--body",
            &body,
        ];
        let made = self.ask(&asked);
        // One that was killed may have opened it a moment ago, and the host takes no second one.
        match (self.find("")?, made) {
            (Some(found), _) => Ok(found),
            (None, Err(why)) => Err(why),
            (None, Ok(said)) => Err(format!("gh pr create said {:?}, and there is no request", said.trim())),
        }
    }

    /// Adds labels and reviewers. A label that the repository does not have is made.
    pub(crate) fn dress(&self, number: u64, labels: &[String], reviewers: &[String]) -> RemoteResult<()> {
        if labels.is_empty() && reviewers.is_empty() {
            return Ok(());
        }
        for label in labels {
            // It is refused where it exists.
            let _there_already = self.ask(&["label", "create", label]);
        }
        let number = number.to_string();
        let labels = labels.iter().flat_map(|it| ["--add-label", it.as_str()]);
        let reviewers = reviewers.iter().flat_map(|it| ["--add-reviewer", it.trim_start_matches('@')]);
        let asked: Vec<&str> = ["pr", "edit", &number].into_iter().chain(labels).chain(reviewers).collect();
        self.ask(&asked).map(drop)
    }

    /// Takes those labels off that the request has.
    pub(crate) fn undress(&self, request: &PullRequest, is_over: impl Fn(&str) -> bool) -> RemoteResult<()> {
        let over = request.labels.iter().map(|it| it.name.as_str()).filter(|it| is_over(it));
        let over: Vec<&str> = over.flat_map(|it| ["--remove-label", it]).collect();
        if over.is_empty() {
            return Ok(());
        }
        let number = request.number.to_string();
        let asked: Vec<&str> = ["pr", "edit", &number].into_iter().chain(over).collect();
        self.ask(&asked).map(drop)
    }

    /// Writes again what the request is about.
    pub(crate) fn describe(&self, number: u64, body: &str) -> RemoteResult<()> {
        let body: String = body.chars().take(TEXT_MOST).collect();
        self.ask(&["pr", "edit", &number.to_string(), "--body", &body]).map(drop)
    }

    pub(crate) fn comment(&self, number: u64, body: &str) -> RemoteResult<()> {
        let body: String = body.chars().take(TEXT_MOST).collect();
        self.ask(&["pr", "comment", &number.to_string(), "--body", &body]).map(drop)
    }

    /// Merges the request if its head is still this commit.
    pub(crate) fn merge(&self, number: u64, head: &str) -> RemoteResult<()> {
        self.ask(&["pr", "merge", &number.to_string(), "--merge", "--match-head-commit", head]).map(drop)
    }

    /// The remote that has the target.
    pub(crate) fn remote(&self) -> Remote<'_> {
        Remote::new(&self.git, &self.run.id, &self.host.remote, self.target)
    }

    /// Pushes a commit as the branch of the run. Nothing is forced.
    pub(crate) fn push(&self, commit: &str) -> RemoteResult<()> {
        let pushed = self.remote().push(commit, &self.plan.branch);
        pushed.map_err(|error| format!("{} could not be pushed: {}", self.plan.branch, remote::said(&error)))
    }

    /// Whether the branch of the run has commits on the remote that are not in this one.
    pub(crate) fn has_commits_of_others(&self, commit: &str) -> bool {
        let branch = Remote::new(&self.git, &self.run.id, &self.host.remote, &self.plan.branch);
        branch.fetch().is_ok_and(|tip| is_ancestor(&self.git, &tip, commit).is_ok_and(|it| !it))
    }

    fn ask(&self, arguments: &[&str]) -> RemoteResult<String> {
        if stamp(Path::new(&self.host.program)).as_ref() != Some(&self.host.stamp) {
            return Err(format!(
                "{} has changed since the run began, so loop does not use it",
                self.host.program
            ));
        }
        let folder = Path::new(&self.plan.root);
        let environment = self.git.environment_of_others().map_err(|error| error.to_string())?;
        let said = foreground::run(&self.host.program, arguments, folder, environment, HOST_TIME)
            .map_err(|error| format!("{}: {error}", self.host.program))?;
        let what = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        if said.is_done { Ok(said.output) } else { Err(format!("gh {what}: {}", said.trouble)) }
    }
}

/// What a program looked like when the run was opened; an agent that puts another in its place is noticed.
pub(crate) fn stamp(program: &Path) -> Option<String> {
    let meta = std::fs::metadata(program).ok()?;
    Some(format!("{} {} {}.{:09}", meta.len(), meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

/// How the work of a new run comes to its target.
pub(crate) enum Road {
    /// A merge in this repository.
    Here,
    /// A merge that is pushed to this remote.
    Push(String),
    /// A pull request.
    Request(CodeHost),
}

/// Finds how the work of a new run comes to its target, or says what stands against the way that is asked for.
pub(crate) fn choose(workflow: &Workflow, git: &Git) -> Result<Road, String> {
    let remote = usual_remote(git).map_err(|error| error.to_string())?;
    let remote = remote.as_deref();
    match workflow.merge.through {
        MergeThrough::Local => Ok(Road::Here),
        MergeThrough::Gh => match request(git, remote, true) {
            Ok(host) => Ok(host.map_or(Road::Here, Road::Request)),
            Err(why) => Err(format!("[merge] through = \"gh\": {why}")),
        },
        MergeThrough::Push => match remote {
            Some(remote) => Ok(Road::Push(remote.to_owned())),
            None => Err("[merge] through = \"push\": the repository has no remote to push to".to_owned()),
        },
        MergeThrough::Auto => Ok(match (request(git, remote, false)?, remote) {
            (Some(host), _) => Road::Request(host),
            (None, Some(remote)) if has_branch(git, remote) => Road::Push(remote.to_owned()),
            (None, _) => Road::Here,
        }),
    }
}

/// Whether a remote is known to have the branch that the project is on: somebody pushed it there or cloned it.
fn has_branch(git: &Git, remote: &str) -> bool {
    let branch = git.run(["symbolic-ref", "-q", "--short", "HEAD"]).map(|it| single_line(&it));
    branch.is_ok_and(|branch| {
        let name = format!("refs/remotes/{remote}/{branch}");
        git.run(["rev-parse", "-q", "--verify", &name]).is_ok()
    })
}

fn request(git: &Git, remote: Option<&str>, is_asked: bool) -> Result<Option<CodeHost>, String> {
    let url = remote.and_then(|it| git.run(["remote", "get-url", "--push", it]).ok());
    let is_github = url.is_some_and(|it| host_of(&String::from_utf8_lossy(&it)).contains("github"));
    let program = which::executable(PROGRAM, None);
    match (remote, program) {
        (Some(remote), Some(program)) if is_asked || is_github => {
            let stamp = stamp(&program).ok_or_else(|| format!("{} cannot be read", program.display()))?;
            let program = program.to_string_lossy().into_owned();
            Ok(Some(CodeHost { program, stamp, remote: remote.to_owned() }))
        }
        (None, _) if is_asked => Err("the repository has no remote to open a pull request at".to_owned()),
        (Some(_), None) if is_asked => Err(format!("{PROGRAM} is not installed")),
        (_, _) => Ok(None),
    }
}

/// The host's name in the address of a remote: `https://github.com/org/shop`, `git@github.com:org/shop.git`.
fn host_of(url: &str) -> String {
    let rest = url.trim().split_once("://").map_or(url.trim(), |it| it.1);
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn the_host_of_a_remote_is_its_name_and_no_part_of_a_path() {
        for (url, host) in [
            ("https://github.com/org/shop.git", "github.com"),
            ("git@github.com:org/shop.git", "github.com"),
            ("ssh://git@GitHub.example.com:22/org/shop", "github.example.com"),
            ("https://gitlab.com/github/shop", "gitlab.com"),
            ("/srv/github/shop.git", ""),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
