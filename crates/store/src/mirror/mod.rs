//! Mirrors: state files in the formats of other tools, written beside the work. They are output
//! only; the database is the truth and restores them. A reader sees the version before or the one
//! after, never half of one. A mirror that cannot be written harms nothing but itself.

pub mod domain_memory;
pub mod planning;
pub mod prp_session;
pub mod task_state;

use crate::run::Run;
use crate::{Filter, Home, StoreError, fold};
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::engine::{Call, Effect, Event, News, State};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use planning::RestEdit;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The mirror of a run that this process drives. A format that tells of the past follows the
/// journal; the others are written from the state alone.
pub struct RunMirror {
    home: Rc<Home>,
    session: Option<prp_session::SessionMirror>,
    loop_state: Option<planning::LoopState>,
    domain: Option<domain_memory::DomainMemory>,
    /// What was returned last.
    told: Vec<News>,
}

impl RunMirror {
    pub fn open(home: Rc<Home>, run: &Run, place: &Path) -> Result<RunMirror, StoreError> {
        let session = prp_session::SessionMirror::open(&home, &run.id, &run.workflow)?;
        let loop_state = planning::LoopState::open(&home, &run.id, &run.workflow, place)?;
        let domain = domain_memory::DomainMemory::open(&home, &run.id, &run.workflow)?;
        Ok(RunMirror { home, session, loop_state, domain, told: Vec::new() })
    }

    /// Returns what somebody did to the files while nobody drove the run, to be recorded before anything else.
    pub fn look_back(&mut self, run: &Run, place: &Path) -> Result<Vec<News>, StoreError> {
        let Some(loop_state) = &mut self.loop_state else { return Ok(Vec::new()) };
        if is_followed(&self.home, &run.id, &run.workflow, place)? {
            return Ok(Vec::new());
        }
        loop_state.look_back(&self.home, &run.id, &run.workflow)
    }

    /// Writes what changed by facts that have become durable. Returns what somebody else had done to
    /// the files, which is undone.
    ///
    /// Where a file cannot be written the edit is still there when the record of it is followed. It is not returned
    /// a second time in a row, or a run would record it without end.
    pub fn follow(&mut self, run: &Run, place: &Path, facts: &[(Timestamp, Event)]) -> Vec<News> {
        let news = self.write_changes(run, place, facts);
        if news == self.told {
            return Vec::new();
        }
        self.told.clone_from(&news);
        news
    }

    fn write_changes(&mut self, run: &Run, place: &Path, facts: &[(Timestamp, Event)]) -> Vec<News> {
        if let Some(domain) = &mut self.domain {
            return domain.follow(&self.home, &run.workflow, facts);
        }
        if let Some(loop_state) = &mut self.loop_state {
            return loop_state.follow(&run.workflow, facts);
        }
        let edits = match &mut self.session {
            Some(session) => session.follow(&self.home, &run.workflow, facts),
            None => {
                write(run, place, facts);
                Vec::new()
            }
        };
        edits.into_iter().map(News::Noted).collect()
    }
}

/// Writes the mirror of a run when its first call begins, when an iteration is over, and whenever
/// it stops.
fn write(run: &Run, place: &Path, facts: &[(Timestamp, Event)]) {
    let due = facts.iter().any(|(_, event)| {
        matches!(
            event,
            Event::Opened(_)
                | Event::Began(Effect::Work(Call { number: 1, .. }) | Effect::Ask(_))
                | Event::Judged(_)
                | Event::Entered { .. }
                | Event::Held(_)
                | Event::Commanded(_)
                | Event::Closed(_)
        )
    });
    if due {
        restore_plain(&run.id, &run.workflow, &run.state, place);
    }
}

/// Writes the state of a system whose files another controller left, whatever they say.
pub fn write_anew(home: &Home, run: &str, workflow: &Workflow) -> Result<(), StoreError> {
    if let Some(mut mirror) = domain_memory::DomainMemory::open(home, run, workflow)? {
        // The folder may be read-only: the database knows everything that is in here.
        let _harmless = mirror.write(workflow);
    }
    Ok(())
}

/// Writes the mirror of a run that nobody drives from what the database holds.
///
/// A place tells of one run. Where a newer one writes there, the files are that run's, and whoever asks
/// for the status of an older one changes nothing.
pub fn restore(home: &Home, run: &str, workflow: &Workflow, state: &State, place: &Path) {
    if is_followed(home, run, workflow, place).unwrap_or(true) {
        return;
    }
    if let Ok(Some(mut mirror)) = domain_memory::DomainMemory::open(home, run, workflow) {
        mirror.restore(home, workflow);
        return;
    }
    restore_plain(run, workflow, state, place);
    if is_placed(state, place)
        && let Ok(Some(mut mirror)) = planning::LoopState::open(home, run, workflow, place)
    {
        // What somebody wrote stays until the run is driven again: that takes it over, or undoes and records it.
        let edit = mirror.rest_edit(home, run, workflow).unwrap_or_default();
        if matches!(edit, None | Some(RestEdit::Removed)) {
            let _harmless = mirror.write(workflow);
        }
    }
    if prp_session::folder(workflow).is_none() || prp_session::is_current(workflow, state) {
        return;
    }
    // What cannot be read is said by the command that needs it; what cannot be written harms nobody.
    if let Ok(Some(mut session)) = prp_session::SessionMirror::open(home, run, workflow) {
        let _harmless = session.write(home, workflow);
    }
}

/// Returns what somebody did to the `LOOP-STATE.md` of a run that nobody drives.
pub fn rest_edit(home: &Home, run: &str, workflow: &Workflow, place: &Path) -> Option<RestEdit> {
    let mirror = planning::LoopState::open(home, run, workflow, place).ok()??;
    if is_followed(home, run, workflow, place).unwrap_or(true) {
        return None;
    }
    mirror.rest_edit(home, run, workflow).ok()?
}

/// Writes `LOOP-STATE.md` over what somebody made of it, which has been recorded.
pub fn undo_rest_edit(home: &Home, run: &str, workflow: &Workflow, place: &Path) {
    if let Ok(Some(mut mirror)) = planning::LoopState::open(home, run, workflow, place) {
        // The tree may be read-only: the database knows everything that is in here.
        let _harmless = mirror.write(workflow);
    }
}

/// Whether a newer run writes its mirror to where this one does.
fn is_followed(home: &Home, run: &str, workflow: &Workflow, place: &Path) -> Result<bool, StoreError> {
    let Some(row) = home.run(run)? else { return Ok(false) };
    let filter = Filter { project: Some(&row.project), ..Filter::default() };
    let rows = home.runs(&filter)?;
    let newer = rows.iter().take_while(|it| it.id != run).filter(|it| it.workflow == row.workflow);
    for other in newer {
        let other_workflow = fold::workflow(home, &other.id)?;
        let writes_there = match prp_session::folder(workflow) {
            Some(folder) => prp_session::folder(&other_workflow) == Some(folder),
            None => Path::new(&other.place) == place,
        };
        if writes_there {
            return Ok(true);
        }
    }
    Ok(false)
}

fn restore_plain(run: &str, workflow: &Workflow, state: &State, place: &Path) {
    if !is_placed(state, place) {
        return;
    }
    if workflow.mirror.writes(MirrorFormat::TaskState) {
        task_state::write(run, workflow, state, place);
    }
}

/// Git makes a worktree only in a folder that is empty, and one that was removed stays so.
fn is_placed(state: &State, place: &Path) -> bool {
    state.opening.worktree.is_none() || (state.place.is_some() && place.join(".git").exists())
}

/// Returns the newest report of a reviewer, where the mirror of this workflow has one.
pub fn review_report(workflow: &Workflow) -> Option<PathBuf> {
    let folder = workflow.mirror.dir.as_ref().filter(|_| workflow.mirror.writes(MirrorFormat::PrpSession))?;
    let number = |path: &PathBuf| -> Option<u32> {
        path.file_name()?.to_str()?.strip_prefix("qa-report-")?.strip_suffix(".md")?.parse().ok()
    };
    let reports = std::fs::read_dir(folder).ok()?.flatten().map(|it| it.path());
    reports.filter(|it| number(it).is_some()).max_by_key(number)
}

/// Returns what a mirror writes into the working tree, as patterns that git ignores.
pub fn paths(workflow: &Workflow, place: &Path) -> Vec<String> {
    let name = |it: &str| it.to_owned();
    if workflow.mirror.writes(MirrorFormat::TaskState) {
        return vec![name("/.claude-task-state.json"), name("/.claude-task-state.json.*.tmp")];
    }
    if workflow.mirror.writes(MirrorFormat::Planning) {
        return vec![format!("/{}", planning::NAME), format!("/{}.*.tmp", planning::NAME)];
    }
    if workflow.mirror.writes(MirrorFormat::DomainMemory) {
        return domain_memory::patterns();
    }
    folder_inside(workflow, place).map(|it| format!("/{it}/")).into_iter().collect()
}

/// Returns the folder of a mirror, relative to the working tree that holds it.
pub fn folder_inside(workflow: &Workflow, place: &Path) -> Option<String> {
    let folder = prp_session::folder(workflow)?;
    let inside = folder.strip_prefix(place).ok()?.to_string_lossy().into_owned();
    // A session at the top itself has no folder of its own, and excluding everything helps nobody.
    (!inside.is_empty()).then_some(inside)
}

/// Removes the mirror of a run that is completed.
pub fn remove(workflow: &Workflow, place: &Path) {
    if workflow.mirror.writes(MirrorFormat::TaskState) {
        task_state::remove(place);
    }
}

/// Replaces a file as a whole, unless it says the same already: making another takes longer than
/// reading it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let may_be_same =
        std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() == text.len() as u64);
    if may_be_same && files::text(path).is_ok_and(|it| it == text) {
        return Ok(());
    }
    files::replace(path, text)
}

#[cfg(test)]
mod tests {
    use super::replace;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn g03_a_reader_never_sees_half_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state.json");
        replace(&path, &format!("\"{}\"", "a".repeat(10_000))).expect("written");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let text = std::fs::read_to_string(&path).expect("always there");
                        serde_json::from_str::<String>(&text).expect("always whole");
                    }
                });
            }
            for turn in 0..500 {
                let letter = if turn % 2 == 0 { "b" } else { "c" };
                replace(&path, &format!("\"{}\"", letter.repeat(10_000 + turn))).expect("written");
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}
