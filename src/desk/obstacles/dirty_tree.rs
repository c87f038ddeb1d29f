//! The question about a working tree with changes that nobody committed.

use crate::desk::caller::Caller;
use crate::desk::own_paths::own_paths;
use crate::desk::question::{About, RequestQuestion};
use crate::desk::refusal::Refusal;
use crate::desk::request::RunRequest;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::hook::is_only_installed;
use crate::tree::git::Git;
use crate::tree::git_status::read_status;
use crate::tree::path_patterns::Ours;
use crate::tree::tree_status::shown;
use crate::tree::working_tree::WorkingTree;
use loop_base::text::sanitise;
use loop_core::workflow::model::Workflow;
use loop_store::mirror::domain_memory;
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Paths or folders that are named.
const NAMED: usize = 5;

/// A tree with uncommitted changes needs a word from a person.
pub(crate) fn about_dirt(
    caller: &Caller,
    request: &RunRequest,
    git: &Git,
    wanted: &WantedRun,
) -> anyhow::Result<Option<RequestQuestion>> {
    if request.allow_dirty {
        return Ok(None);
    }
    let mut ours = own_paths(git.work_tree(), wanted.input.path.as_deref(), &wanted.workflow);
    // A run of a system leaves them uncommitted. In the worktree of such a run they are its work, so only
    // the question leaves them out.
    ours.extend(domain_memory::written_paths());
    let looks = caller.home.join("looks");
    DirBuilder::new().recursive(true).mode(0o700).create(&looks)?;
    let folder = looks.join(std::process::id().to_string());
    let look = WorkingTree::watch(git, &folder, Ours::read(&ours)?)?.status();
    let _only_a_cache = std::fs::remove_dir_all(&folder);
    let look = look?;
    // What only records the work may be under way; the run itself writes there.
    let bookkeeping = wanted.workflow.items.as_ref().map(|it| it.bookkeeping.as_slice()).unwrap_or_default();
    let records = Ours::read(bookkeeping)?;
    let dirt: Vec<&PathBuf> = look.uncommitted.iter().filter(|it| !records.holds(it)).collect();
    let dirt: Vec<&PathBuf> = dirt.into_iter().filter(|it| !is_our_hook(git, it)).collect();
    if dirt.is_empty() {
        return Ok(None);
    }
    let text = format!("the tree has uncommitted changes: {}", sanitise(&shown(dirt, NAMED)));
    // Without a commit there is nothing that a stash could go back to.
    let has_commit = git.run(["rev-parse", "--quiet", "--verify", "HEAD"]).is_ok();
    let put_away = match has_commit {
        true => "git stash --include-untracked",
        false => "git add --all && git commit -m \"first commit\"",
    };
    let next = ["loop run --allow-dirty", put_away].into();
    let unasked = format!("{text}; --allow-dirty saves them in a snapshot first");
    let refusal = Refusal { text: unasked, next: Some(next), exit: 2 };
    let go = "  go     run anyway; they are saved first and do not count against the run".to_owned();
    let lines = vec![text, go, "  abort  change nothing".to_owned()];
    Ok(Some(RequestQuestion { about: About::Dirty, lines, unasked: refusal.clone(), aborted: refusal }))
}

/// Names what is uncommitted in a tree and would make a run ask, without a view of our own: for a look that writes
/// nothing.
pub(crate) fn uncommitted(git: &Git, workflow: &Workflow) -> Option<String> {
    let words = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
    let status = read_status(&git.run(words).ok()?);
    let ours = Ours::read(&own_paths(git.work_tree(), None, workflow)).ok()?;
    let all = status.changed.iter().chain(&status.differing).chain(&status.untracked);
    let dirt: BTreeSet<&PathBuf> = all.filter(|it| !ours.holds(it) && !is_our_hook(git, it)).collect();
    (!dirt.is_empty()).then(|| sanitise(&shown(dirt, NAMED)))
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
