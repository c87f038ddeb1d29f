//! Where a run works: in the user's own tree, or in a worktree that is planned here, before anything
//! of it is made. A run that continues must find its place as it left it.

use crate::desk::caller::load;
use crate::desk::idle_world::IdleWorld;
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::resolving::input::RunInput;
use crate::drive;
use crate::tree::git::Git;
use crate::tree::worktree;
use loop_core::engine::{Hold, HoldKind, News, Opening, State, Station, Status, Worktree, run_again};
use loop_core::workflow::model::{WorkPlace, Workflow};
use loop_store::mirror::domain_memory::DomainMemory;
use loop_store::run::Run;
use loop_store::{Home, Row, mirror};
use minijinja::context;
use std::path::{Path, PathBuf};

/// A sentence becomes a part of a branch's name up to here; the rest says nothing new.
const SLUG_MOST: usize = 40;

/// Plans the worktree of a run, where its workflow works in one.
pub(crate) fn plan(
    git: &Git,
    workflow: &Workflow,
    input: &RunInput,
    run: &str,
) -> anyhow::Result<Option<Worktree>> {
    if workflow.workspace.at == WorkPlace::Here {
        return Ok(None);
    }
    if let Some(begun) = input.job.as_ref().and_then(|it| it.imported.as_deref()) {
        return Ok(Some(match worktree::plan_existing(git, &begun.branch, &begun.worktree)? {
            Some(plan) => plan,
            None => worktree::plan(git, run, &begun.branch)?,
        }));
    }
    let job = input.job.as_ref().map(|it| it.job.system.name.as_str());
    let branch = branch(&workflow.workspace.branch, &input.name, job, run)?;
    Ok(Some(worktree::plan(git, run, &branch)?))
}

/// A document inside of the tree is the one inside of the worktree, which the agent reads and ticks.
pub(crate) fn inside(opening: Opening, plan: Option<&Worktree>, place: &Path) -> Opening {
    let Some(plan) = plan else {
        return Opening { place: place.to_str().map(str::to_owned), ..opening };
    };
    let moved = opening.path.as_ref().and_then(|it| {
        let inside = Path::new(it).strip_prefix(&plan.root).ok()?;
        Some(Path::new(&plan.place).join(inside).to_string_lossy().into_owned())
    });
    Opening { path: moved.or(opening.path), worktree: Some(Box::new(plan.clone())), ..opening }
}

/// Finds the place of a run that continues, or halts the run.
pub(crate) fn again(home: &Home, run: &mut Run, place: &str) -> anyhow::Result<PathBuf> {
    let Some(plan) = run.state.opening.worktree.clone() else { return Ok(PathBuf::from(place)) };
    // The end of a run removes its worktree, and may have been killed right after that. It is made again
    // from the branch, so that the end finds what it expects, and removed again.
    if run.state.station == Station::Finishing && !Path::new(&plan.place).exists() {
        worktree::make_again(&plan, run.state.opening.git_programs())?;
    }
    if let Some((hold, refusal)) = misplaced(run) {
        // A file that says where the run was is no edit, unless it said something else before.
        let memory = DomainMemory::open(home, &run.id, &run.workflow)?;
        let is_edited = |it: DomainMemory| {
            it.edited_state(&run.workflow).is_some() || it.edited_retries(&run.workflow).is_some()
        };
        let was_edited = memory.is_some_and(is_edited);
        drive::commit(run, &mut IdleWorld::new(home, Path::new(&plan.place)).with(News::Held(hold)))?;
        if !was_edited {
            mirror::write_anew(home, &run.id, &run.workflow)?;
        }
        return Err(refusal.into());
    }
    Ok(PathBuf::from(&plan.place))
}

/// Says that the worktree of a run is not what it was, if so: what halts the run, and what its command says.
pub(crate) fn misplaced(run: &Run) -> Option<(Hold, Refusal)> {
    let plan = run.state.opening.worktree.as_ref()?;
    let found = match run.state.place {
        Some(_) => worktree::verify(plan),
        None => worktree::reserve(plan),
    };
    let error = found.err()?;
    let hold = Hold { kind: HoldKind::Halted, reason: error.text.clone() };
    Some((hold, Refusal { text: error.text, next: Some(NextStep::ByHand(error.next)), exit: 4 }))
}

/// What helps a run whose worktree is not what it was: no command continues it before that.
pub(crate) fn lost_worktree(state: &State) -> Option<NextStep> {
    let is_open = !Status::of(state).is_closed() && state.station != Station::Finishing;
    let plan = state.opening.worktree.as_ref().filter(|_| is_open && state.place.is_some())?;
    worktree::verify(plan).err().map(|it| NextStep::ByHand(it.next))
}

/// A run stays where it began.
pub(crate) fn refuse_move(home: &Home, row: &Row, worktree: bool) -> anyhow::Result<()> {
    if !worktree {
        return Ok(());
    }
    let (workflow, _) = load(home, row)?;
    match workflow.workspace.at {
        WorkPlace::Worktree => Ok(()),
        WorkPlace::Here => Err(Refusal::usage(
            format!("run {} works in {}, not in a worktree", &row.id[..8], row.place),
            ["loop run".to_owned(), format!("{} --worktree --fresh", run_again(&workflow, &row.input))],
        )),
    }
}

/// Fills the branch's template. What people wrote comes in as plain words with dashes, so nothing of
/// it can mean anything to git or a shell.
fn branch(template: &str, input: &str, job: Option<&str>, run: &str) -> anyhow::Result<String> {
    let short = run.get(..8).unwrap_or(run);
    let slug = slug(input).unwrap_or_else(|| short.to_owned());
    let values = context! {
        run => short,
        input => &slug,
        job => context! { id => &slug, slug => job.and_then(self::slug).unwrap_or_else(|| slug.clone()) },
    };
    minijinja::Environment::new().render_str(template, values).map_err(|error| {
        Refusal::usage(
            format!("the branch \"{template}\" of [workspace] is not a template: {error}"),
            NextStep::by_hand("it may use run, input and job.slug"),
        )
    })
}

/// A name of lower-case words with dashes between them.
fn slug(text: &str) -> Option<String> {
    let stem = Path::new(text).file_stem().and_then(|it| it.to_str()).filter(|_| text.ends_with(".md"));
    let mut slug = String::new();
    for it in stem.unwrap_or(text).chars() {
        if it.is_ascii_alphanumeric() {
            slug.push(it.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if SLUG_MOST <= slug.len() {
            break;
        }
    }
    let slug = slug.trim_end_matches('-').to_owned();
    (!slug.is_empty()).then_some(slug)
}

/// A place where a run works has had a repository. Making another one there would bury what is left of it.
pub(crate) fn refuse_lost_repository(place: &Path) -> anyhow::Result<()> {
    if !place.is_dir() || place.join(".git").symlink_metadata().is_ok() {
        return Ok(());
    }
    let text = format!("the repository is missing: {} has no .git", place.display());
    let next = Some(NextStep::by_hand("restore its .git, then loop run"));
    Err(Refusal { text, next, exit: 1 }.into())
}

/// A repository that has nothing of what a run began with was deleted and made again, or cleaned up after its history
/// was rewritten. Nothing of the run could be compared or continued there.
pub(crate) fn refuse_other_repository(run: &Run, place: &Path) -> Result<(), Refusal> {
    let Some(began) = run.state.baseline.as_ref().map(|it| &it.facts).filter(|it| !it.tree.is_empty()) else {
        return Ok(());
    };
    let ids = [&began.commit, &began.tree].map(|it| format!("{it}\n")).concat();
    // What keeps git from answering is named by whoever needs it first.
    let found =
        Git::reopen(place).and_then(|it| it.feed(["cat-file", "--batch-check"], ids.trim_start().as_bytes()));
    let Ok(found) = found else { return Ok(()) };
    if String::from_utf8_lossy(&found).lines().any(|it| !it.ends_with(" missing")) {
        return Ok(());
    }
    let began = if began.commit.is_empty() { &began.tree } else { &began.commit };
    let text = format!(
        "the repository in {} has nothing of what run {} began with ({}): it was made again, or its history was cleaned up",
        place.display(),
        &run.id[..8],
        began.get(..12).unwrap_or(began)
    );
    let again = format!("{} --fresh", run_again(&run.workflow, &run.state.opening.input));
    let next = NextStep::PasteOrByHand(again, "or put the repository back that was here".to_owned());
    Err(Refusal { text, next: Some(next), exit: 4 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g35_what_people_write_becomes_a_plain_branch() {
        let run = "1f3e5a7b-0000";
        let long = "x".repeat(255);
        for input in [
            "main;touch${IFS}x",
            "--upload-pack=touch x",
            "-c",
            "a\nb",
            "..",
            "a/../../b",
            "ünï cödé",
            "\0",
            long.as_str(),
            "x.lock",
            "docs/PRPs/work-orders.md",
        ] {
            let name = branch("feature/{{ job.slug }}", input, None, run).expect("a name");
            assert!(worktree::is_branch(&name) && name.len() < 60, "{input:?}: {name:?}");
        }
        assert_eq!(
            branch("feature/{{ input }}", "docs/PRPs/work-orders.md", None, run).expect("a name"),
            "feature/work-orders"
        );
        assert_eq!(branch("loop/{{ run }}", "", None, run).expect("a name"), "loop/1f3e5a7b");
        assert_eq!(
            branch("feature/{{ job.slug }}", "sys-002", Some("Work Order Service"), run).expect("a name"),
            "feature/work-order-service"
        );
        for bad in
            ["", "-x", "a b", "a..b", "a;b", "$(x)", "a\n", "/a", "a/", "a//b", "a.lock", "HEAD", "@{-1}"]
        {
            assert!(!worktree::is_branch(bad), "{bad:?}");
        }
    }
}
