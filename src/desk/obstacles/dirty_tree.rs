//! The question about a working tree with changes that nobody committed.

use crate::desk::caller::{Caller, load};
use crate::desk::own_paths::own_paths;
use crate::desk::question::{About, RequestQuestion};
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::hook::is_only_installed;
use crate::tree::git::Git;
use crate::tree::git_status::read_status;
use crate::tree::path_patterns::Ours;
use crate::tree::tree_status::shown;
use loop_base::text::sanitise;
use loop_core::workflow::model::Workflow;
use loop_store::mirror::domain_memory;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Paths or folders that are named.
const NAMED: usize = 5;

/// A tree with uncommitted changes needs a word from a person.
pub(crate) fn about_dirt(
    request: &RunRequest,
    git: &Git,
    wanted: &WantedRun,
) -> anyhow::Result<Option<RequestQuestion>> {
    if request.allow_dirty {
        return Ok(None);
    }
    // What the person has is what the run will know, so it is what counts here.
    let programs: Vec<String> = git.programs()?.into_iter().map(|it| it.digest).collect();
    let git = git.clone().looking_with(Some(&programs));
    let Some(dirt) = Dirt::find(&git, wanted.input.path.as_deref(), &wanted.workflow)? else {
        return Ok(None);
    };
    let text = format!("the tree has {}", dirt.words());
    let mut next = vec!["loop run --allow-dirty".to_owned()];
    // Without a commit there is nothing that a stash could go back to.
    let has_commit = git.run(["rev-parse", "--quiet", "--verify", "HEAD"]).is_ok();
    next.push(dirt.remedy(has_commit).to_owned());
    let unasked = format!("{text}; --allow-dirty saves them in a snapshot first");
    let refusal = Refusal { text: unasked, next: Some(NextStep::Paste(next)), exit: 2 };
    let go = "  go     run anyway; they are saved first and do not count against the run".to_owned();
    let lines = vec![text, go, "  abort  change nothing".to_owned()];
    Ok(Some(RequestQuestion { about: About::Dirty, lines, unasked: refusal.clone(), aborted: refusal }))
}

/// What is uncommitted in a tree and makes a run ask. It is looked for as the person's own git does it, and nothing is
/// written.
pub(crate) struct Dirt {
    uncommitted: BTreeSet<PathBuf>,
    /// Files that differ by their bytes, and whose filter is not started.
    filtered: BTreeMap<PathBuf, String>,
}

impl Dirt {
    /// Finds what is no input, no file of ours, and nothing that a run would leave there.
    fn find(git: &Git, input: Option<&Path>, workflow: &Workflow) -> anyhow::Result<Option<Dirt>> {
        let words = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
        let status = read_status(&git.run(words)?);
        let mut ours = own_paths(git.work_tree(), input, workflow);
        // A run of a system leaves them uncommitted. In the worktree of such a run they are its work, so only
        // the question leaves them out.
        ours.extend(domain_memory::written_paths());
        // What only records the work may be under way; the run itself writes there.
        ours.extend(workflow.items.iter().flat_map(|it| it.bookkeeping.iter().cloned()));
        let ours = Ours::read(&ours)?;
        let all = status.changed.into_iter().chain(status.differing).chain(status.untracked);
        let mut uncommitted: BTreeSet<PathBuf> =
            all.filter(|it| !ours.holds(it) && !is_our_hook(git, it)).collect();
        let tracked: Vec<PathBuf> = uncommitted.iter().cloned().collect();
        let filtered: BTreeMap<PathBuf, String> = git.filtered(&tracked)?.into_iter().collect();
        uncommitted.retain(|it| !filtered.contains_key(it));
        let is_clean = uncommitted.is_empty() && filtered.is_empty();
        Ok((!is_clean).then_some(Dirt { uncommitted, filtered }))
    }

    pub(crate) fn words(&self) -> String {
        let mut parts = Vec::new();
        if !self.uncommitted.is_empty() {
            parts.push(format!("uncommitted changes: {}", shown(&self.uncommitted, NAMED)));
        }
        let filters: BTreeSet<&str> = self.filtered.values().map(String::as_str).collect();
        if !filters.is_empty() {
            let filters = filters.into_iter().collect::<Vec<_>>().join(", ");
            let files = shown(self.filtered.keys(), NAMED);
            parts.push(format!(
                "files that may be uncommitted: {files} (stored through the filter {filters}, which loop does not start)"
            ));
        }
        sanitise(&parts.join("; "))
    }

    /// The command after which a run does not ask.
    pub(crate) fn remedy(&self, has_commit: bool) -> &'static str {
        match (self.uncommitted.is_empty(), has_commit) {
            // It reads these files through their filter, and remembers those that have not changed.
            (true, _) => "git status",
            (false, true) => "git stash --include-untracked",
            (false, false) => "git add --all && git commit -m \"first commit\"",
        }
    }
}

/// What would make a run ask here, by the filters that the last run of the project knew: nobody opens a run, so nobody
/// says that what is named now is the person's.
pub(crate) fn uncommitted(caller: &Caller, git: Git, workflow: &Workflow) -> Option<Dirt> {
    let last = || {
        let home = caller.home_to_look_at().ok()??;
        let row = caller.runs_of_project(&home).ok()?.into_iter().next()?;
        Some(load(&home, &row).ok()?.1.opening)
    };
    let programs = last().and_then(|it| it.git_programs().map(<[String]>::to_vec));
    Dirt::find(&git.looking_with(programs.as_deref()), None, workflow).ok()?
}

/// The agent's settings of a project, where our stop hook is installed.
const SETTINGS: &str = ".claude/settings.json";

/// Whether this is the agent's settings, and nothing of them is uncommitted but the hook that we put there.
fn is_our_hook(git: &Git, path: &Path) -> bool {
    if path != Path::new(SETTINGS) {
        return false;
    }
    let committed = git.run(["cat-file", "blob", &format!("HEAD:{SETTINGS}")]);
    let before = committed.map_or(String::new(), |it| String::from_utf8_lossy(&it).into_owned());
    let now = loop_base::files::text(&git.work_tree().join(path));
    now.is_ok_and(|it| is_only_installed(&before, &it))
}
