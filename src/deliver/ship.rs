//! A completed run as something to hand in: what stands in the way, what changed, and the steps that
//! take it out of the house. Everything that could stop it is looked at first; then come a branch, a
//! commit, a push and a pull request, and each step asks whether it was done already, so that whoever
//! comes after a crash continues where it ended. Nothing is ever forced, nothing empty is committed, and
//! what was uncommitted before the run began stays where it is.
//!
//! Hooks of the repository do not run: an agent could have written them. What a pre-commit hook would
//! look at, the checks look at here.

mod documents;
mod pull_request;

use super::remote::usual_remote;
use crate::clock::now;
use crate::measure::detect::detect;
use crate::tree::changes::changes;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::{bytes_to_path, single_line};
use crate::tree::working_tree::WorkingTree;
use loop_base::text::{counted, sanitise};
use loop_core::delivery_names::{CommitKind, DeliveryNames, Message, message, names};
use loop_core::engine::{Facts, State, Station, Status};
use loop_core::proof::Level;
use loop_core::workflow::model::Workflow;
use loop_store::Row;
use loop_store::mirror::{self, domain_memory, prp_session};
use loop_supervise::RUN_MARK;
use loop_supervise::foreground;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A preflight check without a time limit of its own.
const CHECK_TIME: Duration = Duration::from_secs(15 * 60);

/// What the person or the workflow wants of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShipOptions {
    pub kind: Option<CommitKind>,
    pub request: bool,
}

/// A completed run and the tree that it worked in.
pub(crate) struct CompletedWork {
    row: Row,
    workflow: Workflow,
    pub(crate) state: State,
    git: Git,
    pub(crate) names: DeliveryNames,
    pub(crate) message: Message,
    /// A phase that was to review the work was skipped.
    is_unreviewed: bool,
    wanted: ShipOptions,
    /// What differs from the tree that the run judged last.
    pub(crate) changed_since: Vec<PathBuf>,
}

/// What stands in the way, and what would be handed in.
#[derive(Default)]
pub(crate) struct Preflight {
    tests: Option<bool>,
    lint: Option<bool>,
    build: Option<bool>,
    pub(crate) branch: Option<String>,
    /// Paths to commit, and those that were uncommitted before the run began.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) unrelated: Vec<PathBuf>,
    pub(crate) commits: usize,
    /// The branch is there and holds what HEAD does.
    is_branch_made: bool,
    pub(crate) errors: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Shipped {
    pub(crate) is_done: bool,
    pub(crate) branch: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl CompletedWork {
    pub(crate) fn look(
        row: Row,
        workflow: Workflow,
        state: State,
        wanted: ShipOptions,
        changed_since: Vec<PathBuf>,
    ) -> anyhow::Result<CompletedWork> {
        let git = Git::open(Path::new(&row.place))?.trusting(state.opening.git_programs());
        let names = names(&state.opening.input, wanted.kind);
        let path = state.opening.path.clone().unwrap_or_default();
        let document = loop_base::files::text(path.as_ref()).unwrap_or_default();
        let facts = facts(&workflow, &state, &changed_since);
        let message = message(&state.opening.input, &document, &names, &facts);
        let reviews = (0..workflow.phases.len()).filter(|it| workflow.phases[*it].reject.is_some());
        let is_unreviewed = reviews.into_iter().any(|it| state.is_forced(it));
        Ok(CompletedWork { row, workflow, state, git, names, message, is_unreviewed, wanted, changed_since })
    }

    /// Whether the run is completed, or about to be.
    pub(crate) fn is_at_its_end(&self) -> bool {
        Status::of(&self.state) == Status::Completed || self.state.station == Station::Finishing
    }

    /// Looks at everything, so that all of what is wrong is said at once.
    pub(crate) fn preflight(&self) -> anyhow::Result<Preflight> {
        let mut found = Preflight::default();
        if !self.is_at_its_end() {
            let status = Status::of(&self.state);
            found.errors.push(format!("run {} is {}, not completed", &self.row.id[..8], status.word()));
            return Ok(found);
        }
        if self.is_unreviewed {
            found.errors.push("the review was skipped: nobody approved this work".to_owned());
        }
        let here = self.git.run(["symbolic-ref", "--short", "-q", "HEAD"]).map(|it| single_line(&it));
        found.branch = here.ok();
        self.changes(&mut found)?;
        self.filtered(&mut found)?;
        if usual_remote(&self.git)?.is_some()
            && let Err(error) = self.git.refuse_foreign_programs()
        {
            found.errors.push(error.to_string());
        }
        if found.files.is_empty() && found.commits == 0 {
            found.errors.push("there is nothing to ship: no changes".to_owned());
        }
        if let Err(error) = self.git.run(["var", "GIT_COMMITTER_IDENT"]) {
            found.errors.push(format!("git does not know who commits: {error}"));
        }
        self.other_branch(&mut found);
        if found.errors.is_empty() {
            found.tests = self.check("tests", &mut found.errors)?;
            found.lint = self.check("lint", &mut found.errors)?;
            // A build is looked at and shown; tests that pass were built.
            found.build = self.check("build", &mut Vec::new())?;
        }
        Ok(found)
    }

    /// A branch of that name may be there from an earlier call, also one that was made and not yet
    /// switched to; one with other work is in the way.
    fn other_branch(&self, found: &mut Preflight) {
        let branch = &self.names.branch;
        if found.branch.as_ref() == Some(branch) {
            return;
        }
        let tip = |name: &str| self.git.run(["rev-parse", "-q", "--verify", name]).ok();
        let there = tip(&format!("refs/heads/{branch}"));
        found.is_branch_made = there.is_some() && there == tip("HEAD");
        if there.is_some() && !found.is_branch_made {
            found.errors.push(format!(
                "the branch {branch} exists already; switch to it to continue there, or choose another --type"
            ));
        }
    }

    fn changes(&self, found: &mut Preflight) -> anyhow::Result<()> {
        let base = self.state.baseline.as_ref().map(|it| it.facts.clone()).unwrap_or_default();
        // A branch that was rewound has no commits since; that is no error.
        let count = self.git.run(["rev-list", "--count", &format!("{}..HEAD", base.commit)]);
        found.commits = count.ok().and_then(|it| single_line(&it).parse().ok()).unwrap_or(0);
        let before = self.before(&base)?;
        let listing =
            self.git.run(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"])?;
        for record in listing.split(|it| *it == 0).filter(|it| 3 < it.len()) {
            let path = bytes_to_path(&record[3..]);
            if self.is_ours(&path) {
                continue;
            }
            if before.contains(&path) && self.is_untouched(&base, &path) {
                found.unrelated.push(path);
            } else {
                found.files.push(path);
            }
        }
        Ok(())
    }

    /// A filter that git does not start for us may be what encrypts a file.
    fn filtered(&self, found: &mut Preflight) -> Result<(), GitError> {
        for (path, filter) in self.git.filtered(&found.files)?.into_iter().take(PATHS_NAMED) {
            found.errors.push(format!(
                "{} goes through the filter {filter} of git's configuration, which loop does not start; look at the \
                 filter and commit the file yourself",
                sanitise(&path.to_string_lossy())
            ));
        }
        Ok(())
    }

    /// Paths that differed from HEAD when the run began.
    fn before(&self, base: &Facts) -> Result<BTreeSet<PathBuf>, GitError> {
        if base.commit.is_empty() || base.tree.is_empty() {
            return Ok(BTreeSet::new());
        }
        let asked = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &base.commit, &base.tree];
        let paths = self.git.run(asked)?;
        let paths = paths.split(|it| *it == 0).filter(|it| !it.is_empty());
        Ok(paths.map(bytes_to_path).collect())
    }

    fn is_untouched(&self, base: &Facts, path: &Path) -> bool {
        let then = self.git.run([
            "rev-parse".as_ref(),
            "-q".as_ref(),
            "--verify".as_ref(),
            at(&base.tree, path).as_os_str(),
        ]);
        let now =
            self.git.run(["hash-object".as_ref(), "--no-filters".as_ref(), "--".as_ref(), path.as_os_str()]);
        match (then, now) {
            (Ok(then), Ok(now)) => single_line(&then) == single_line(&now),
            (Err(_), Err(_)) => true,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        }
    }

    fn is_ours(&self, path: &Path) -> bool {
        let inside = mirror::folder_inside(&self.workflow, Path::new(&self.row.place));
        [".loop", ".worktrees", ".prp-session"].into_iter().any(|it| path.starts_with(it))
            || inside.is_some_and(|it| path.starts_with(it))
    }

    /// Runs a check where there is a command for it.
    fn check(&self, name: &str, errors: &mut Vec<String>) -> anyhow::Result<Option<bool>> {
        let own = self.workflow.checks.get(name);
        let command = own.and_then(|it| it.run.clone()).or_else(|| {
            detect(Path::new(&self.row.project)).into_iter().find(|it| it.name == name).map(|it| it.run)
        });
        let Some(command) = command else { return Ok(None) };
        let time = own.map_or(CHECK_TIME, |it| Duration::from_millis(it.timeout));
        let done = foreground::run_check(&command, &self.row.id, Path::new(&self.row.place), time)?;
        if !done.is_done {
            errors.push(format!("{name} fails ({command}): {}", done.trouble));
        }
        Ok(Some(done.is_done))
    }

    fn ship(&self, preflight: &Preflight, shipped: &mut Shipped) -> anyhow::Result<()> {
        let branch = &self.names.branch;
        self.switch(preflight)?;
        shipped.branch = Some(branch.clone());
        shipped.warnings.extend(changed_words(&self.changed_since));
        for path in &preflight.unrelated {
            let text = format!("{} was uncommitted before the run began; it was not touched", path.display());
            shipped.warnings.push(text);
        }
        // A configuration may depend on the branch.
        let mut found = Preflight { files: preflight.files.clone(), ..Preflight::default() };
        self.filtered(&mut found)?;
        if !found.errors.is_empty() {
            shipped.errors.append(&mut found.errors);
            return Ok(());
        }
        self.commit_files(preflight)?;
        shipped.commit = Some(single_line(&self.git.run(["rev-parse", "HEAD"])?));
        let Some(remote) = usual_remote(&self.git)? else {
            shipped.warnings.push("there is no remote; the branch was not pushed".to_owned());
            return Ok(());
        };
        self.push(&remote)?;
        if self.wanted.request {
            pull_request::open(&self.git, branch, &self.message, shipped)?;
        }
        Ok(())
    }

    /// Goes to the branch that is handed in. Somebody who was killed may have begun each of these steps: the
    /// git that they started continues without them. So what fails is asked for again before it counts.
    fn switch(&self, preflight: &Preflight) -> Result<(), GitError> {
        let branch = &self.names.branch;
        let switched = match preflight.branch.as_ref() {
            Some(here) if here == branch => return Ok(()),
            Some(_) | None if preflight.is_branch_made => self.git.run(["switch", "-q", branch]),
            Some(_) | None => self.git.run(["switch", "-q", "-c", branch]),
        };
        let Err(error) = switched else { return Ok(()) };
        let tip = |name: &str| self.git.run(["rev-parse", "-q", "--verify", name]).ok();
        let made = tip(&format!("refs/heads/{branch}"));
        match made.is_some() && made == tip("HEAD") {
            true => self.git.run(["switch", "-q", branch]).map(drop),
            false => Err(error),
        }
    }

    fn commit_files(&self, preflight: &Preflight) -> anyhow::Result<()> {
        if preflight.files.is_empty() {
            return Ok(());
        }
        let Err(error) = self.commit(&preflight.files, &self.message) else { return Ok(()) };
        let mut left = Preflight::default();
        self.changes(&mut left)?;
        if left.files.is_empty() { Ok(()) } else { Err(error.into()) }
    }

    /// Programs that the repository's configuration names for reaching a remote may be an agent's: they
    /// carry the mark of the run, and the one at the other end is git's own.
    fn push(&self, remote: &str) -> Result<(), GitError> {
        let marked = self.git.with(vec![(RUN_MARK, self.row.id.clone().into())]);
        let name = format!("refs/heads/{}", self.names.branch);
        let branches = format!("{name}:{name}");
        let push = || marked.run(["push", "-q", "--receive-pack=git-receive-pack", "-u", remote, &branches]);
        let Err(error) = push() else { return Ok(()) };
        let there = marked.run(["ls-remote", "--upload-pack=git-upload-pack", remote, &name])?;
        let ours = single_line(&self.git.run(["rev-parse", "HEAD"])?);
        match single_line(&there).starts_with(&ours) {
            true => push().map(drop),
            false => Err(error),
        }
    }

    /// Hands the work in unless something stands in the way, and writes what came of it where other
    /// tools look for it.
    pub(crate) fn hand_in(&self, preflight: &Preflight) -> Shipped {
        self.mirror("preflight-result.json", &preflight.object());
        self.mirror("ship-config.json", &self.config());
        self.mirror_text("current-prp.txt", &format!("{}\n", self.state.opening.input));
        let mut shipped = Shipped { errors: preflight.errors.clone(), ..Shipped::default() };
        if shipped.errors.is_empty() {
            match self.ship(preflight, &mut shipped) {
                Ok(()) => shipped.is_done = shipped.errors.is_empty(),
                Err(error) => shipped.errors.push(format!("{error:#}")),
            }
        }
        self.mirror("ship-result.json", &shipped.object());
        shipped
    }

    /// Takes files out of the index again that somebody has staged.
    fn unstage(&self, files: &[PathBuf]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let list = path_list(files);
        self.git.feed(["reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"], &list).map(drop)
    }

    fn commit(&self, files: &[PathBuf], message: &Message) -> Result<(), GitError> {
        let list = path_list(files);
        self.git.feed(["add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"], &list)?;
        self.git.feed(["commit", "-q", "-F", "-"], message.whole().as_bytes())?;
        Ok(())
    }

    pub(crate) fn config(&self) -> Value {
        json!({
            "prp_file": self.state.opening.input, "feature_name": self.names.feature,
            "branch_name": self.names.branch, "commit_type": self.names.kind.word(),
            "auto_detected": self.names.is_detected,
        })
    }

    fn mirror(&self, name: &str, object: &Value) {
        let mut text = serde_json::to_string_pretty(object).expect("a mirror is plain data");
        text.push('\n');
        self.mirror_text(name, &text);
    }

    fn mirror_text(&self, name: &str, text: &str) {
        if let Some(folder) = prp_session::folder(&self.workflow) {
            // What cannot be written harms nobody: everything in it is said here, too.
            let _harmless =
                std::fs::create_dir_all(&folder).and_then(|()| prp_session::put(&folder, name, text));
        }
    }
}

/// Paths as git reads them, each ended by a zero byte.
fn path_list(files: &[PathBuf]) -> Vec<u8> {
    files.iter().flat_map(|it| it.as_os_str().as_encoded_bytes().iter().copied().chain([0])).collect()
}

impl Preflight {
    pub(crate) fn object(&self) -> Value {
        // The format has no third word for a check that is not there, so our own key says which did not run.
        let checks = [("tests", self.tests), ("lint", self.lint), ("build", self.build)];
        let not_run: Vec<&str> = checks.iter().filter(|it| it.1.is_none()).map(|it| it.0).collect();
        json!({
            "tests_passed": self.tests.unwrap_or(false), "lint_passed": self.lint.unwrap_or(true),
            "build_passed": self.build.unwrap_or(true),
            "has_changes": !self.files.is_empty() || self.commits != 0,
            "is_clean": self.unrelated.is_empty(), "current_branch": self.branch,
            "checked_at": now().to_string(), "not_run": not_run,
        })
    }
}

impl CompletedWork {
    /// The commit that the tree stands on.
    pub(crate) fn head(&self) -> Option<String> {
        self.git.run(["rev-parse", "-q", "--verify", "HEAD"]).ok().map(|it| single_line(&it))
    }
}

impl Shipped {
    /// Returns where the work went, in a line.
    pub(crate) fn words(&self) -> Option<String> {
        let (branch, commit) = (self.branch.as_ref()?, self.commit.as_ref()?);
        let url = self.url.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        Some(format!("{branch} at {}{url}", commit.get(..7).unwrap_or(commit)))
    }

    pub(crate) fn object(&self) -> Value {
        json!({
            "success": self.is_done, "branch_created": self.branch, "commit_sha": self.commit, "pr_url": self.url,
            "shipped_at": now().to_string(), "errors": self.errors, "warnings": self.warnings,
        })
    }
}

/// How many paths a sentence names.
const PATHS_NAMED: usize = 5;

/// Returns what differs from the tree that the run judged last. What is closed at the end of a run is
/// written by us, after that.
pub(crate) fn changed_since(tree: &mut WorkingTree, judged: &str) -> Result<Vec<PathBuf>, GitError> {
    let now = tree.status()?.tree;
    if judged.is_empty() || judged == now {
        return Ok(Vec::new());
    }
    let is_closed = |it: &PathBuf| it.starts_with(".planning") || it.starts_with(domain_memory::FOLDER);
    let changed = changes(&tree.pinned, judged, &now)?;
    Ok(changed.into_iter().map(|it| it.path).filter(|it| !is_closed(it)).collect())
}

/// Says what was changed after the run had judged its work last; nothing of the proof or of an approval is
/// about that.
pub(crate) fn changed_words(paths: &[PathBuf]) -> Option<String> {
    let mut named: Vec<String> =
        paths.iter().take(PATHS_NAMED).map(|it| sanitise(&it.to_string_lossy())).collect();
    if PATHS_NAMED < paths.len() {
        named.push(format!("{} more", paths.len() - PATHS_NAMED));
    }
    (!named.is_empty()).then(|| format!("changed after the work was proven: {}", named.join(", ")))
}

/// What was measured, for the commit.
fn facts(workflow: &Workflow, state: &State, changed_since: &[PathBuf]) -> Vec<String> {
    let count = |name: &str| state.visit.metrics.get(name).map(|it| it.value.to_string());
    let mut facts = Vec::new();
    if let (Some(passing), Some(total)) = (count("tests_passing"), count("tests_total")) {
        facts.push(format!("{passing} of {total} tests pass"));
    }
    let phases: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
    facts.push(format!("{} in {}", phases.join(", "), counted(state.iterations_total, "iteration")));
    if !state.is_proven() {
        let level = state.shown_proof(workflow).map_or(Level::None, |it| it.level).word();
        let why = state.closing(workflow).unwrap_or_else(|| "not everything was measured".to_owned());
        facts.push(format!("unverified ({level}): {why}"));
    } else if let Some(why) = changed_words(changed_since) {
        facts.push(format!("unverified: {why}"));
    }
    facts
}

fn at(tree: &str, path: &Path) -> std::ffi::OsString {
    let mut name = std::ffi::OsString::from(format!("{tree}:"));
    name.push(path);
    name
}
