//! Mirrors: state files in the formats of other tools, written beside the work. They are output
//! only; the database is the truth and restores them. A reader sees the version before or the one
//! after, never half of one. A mirror that cannot be written harms nothing but itself.

pub mod prp_session;
pub mod task_state;

use crate::Home;
use crate::StoreError;
use crate::run::Run;
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::engine::{Call, Effect, Event, State};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The mirror of a run that this process drives. A format that tells of the past follows the
/// journal; the others are written from the state alone.
pub struct Mirror {
    home: Rc<Home>,
    session: Option<prp_session::Session>,
}

impl Mirror {
    pub fn open(home: Rc<Home>, run: &Run) -> Result<Mirror, StoreError> {
        let session = prp_session::Session::open(&home, &run.id, &run.workflow)?;
        Ok(Mirror { home, session })
    }

    /// Writes what changed by facts that have become durable. Returns what somebody else had done to
    /// the files, which is undone.
    pub fn follow(&mut self, run: &Run, place: &Path, facts: &[(Timestamp, Event)]) -> Vec<Event> {
        let edits = match &mut self.session {
            Some(session) => session.follow(&self.home, &run.workflow, facts),
            None => {
                write(run, place, facts);
                Vec::new()
            }
        };
        edits.into_iter().map(|text| Event::Noted { text }).collect()
    }
}

/// Writes the mirror of a run when its first call begins, when an iteration is over, and whenever
/// it rests.
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

/// Writes the mirror of a run that nobody drives from what the database holds.
pub fn restore(home: &Home, run: &str, workflow: &Workflow, state: &State, place: &Path) {
    restore_plain(run, workflow, state, place);
    if prp_session::folder(workflow).is_none() || prp_session::is_current(workflow, state) {
        return;
    }
    // What cannot be read is said by the command that needs it; what cannot be written harms nobody.
    if let Ok(Some(mut session)) = prp_session::Session::open(home, run, workflow) {
        let _harmless = session.write(home, workflow);
    }
}

fn restore_plain(run: &str, workflow: &Workflow, state: &State, place: &Path) {
    // Git makes a worktree only in a folder that is empty, and one that was removed stays so.
    if state.opening.worktree.is_some() && (state.place.is_none() || !place.join(".git").exists()) {
        return;
    }
    if workflow.mirror.writes(MirrorFormat::TaskState) {
        task_state::write(run, workflow, state, place);
    }
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
