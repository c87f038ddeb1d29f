//! A run of `tdd` in the files that its seed gave it: `loop-state.json`, `circuit-breaker.json`,
//! `rate-limit.json`, `metrics.json`, `dual-gate.json`, `phase-status.log` and `qa-report-N.md`.
//!
//! A [`SessionMirror`] reads the journal once, when a controller begins or somebody asks for the status,
//! and follows it from there. It writes a file only where what lies there differs, so an edit by
//! anybody else lasts until the call that made it is over, decides nothing, and is reported. The log is
//! only ever appended to, as long as nobody else changed it.

mod block;
mod file_stamps;
mod files;
mod fresh;
mod implementing_phase;
pub mod import;
pub mod place;
mod review;
#[cfg(test)]
mod tests;

use super::replace;
use crate::fold;
use crate::{Home, StoreError};
use file_stamps::KeptStamps;
use fresh::Fresh;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, History};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use std::io::Write;
use std::path::{Path, PathBuf};

const LOG: &str = "phase-status.log";

/// Every file of a session beside its reports.
pub const FILES: [&str; 7] = [
    "loop-state.json",
    "circuit-breaker.json",
    "rate-limit.json",
    "metrics.json",
    "dual-gate.json",
    "qa-state.json",
    LOG,
];

/// What `loop ship` adds to them.
const SHIP_FILES: [&str; 4] =
    ["current-prp.txt", "preflight-result.json", "ship-config.json", "ship-result.json"];

/// Where an imported session's own files lie in the folder of its run.
const IMPORTED: &str = "imported";

pub struct SessionMirror {
    run: String,
    project: String,
    folder: PathBuf,
    history: History,
    fresh: Fresh,
    kept: KeptStamps,
    /// The bytes that the log has once everything so far is written; `None` until it was compared.
    log_bytes: Option<u64>,
    /// Where the log of an imported session was kept.
    imported_log: PathBuf,
}

impl SessionMirror {
    /// Reads what a run has come to. `None` when it has no such mirror.
    pub fn open(home: &Home, run: &str, workflow: &Workflow) -> Result<Option<SessionMirror>, StoreError> {
        let Some(folder) = folder(workflow) else { return Ok(None) };
        let project = home.run(run)?.map(|it| it.project).unwrap_or_default();
        let (history, fresh) = read(home, run, workflow)?;
        Ok(Some(SessionMirror {
            run: run.to_owned(),
            project,
            folder,
            history,
            fresh,
            kept: KeptStamps::default(),
            log_bytes: None,
            imported_log: home.folder(run).join(IMPORTED).join(LOG),
        }))
    }

    /// Takes into account what has become durable, and writes what changed by it. Returns what somebody
    /// else had done to the files since we wrote them.
    pub fn follow(&mut self, home: &Home, workflow: &Workflow, facts: &[(Timestamp, Event)]) -> Vec<String> {
        for (at, event) in facts {
            if let Some(turn) = self.history.follow(workflow, *at, event) {
                self.fresh.add(workflow, &self.history.state, *at, &turn);
            }
        }
        let is_first = self.log_bytes.is_none();
        let mut edits = self.kept.edits(&self.folder);
        if is_first || !edits.is_empty() || facts.iter().any(|it| fresh::is_shown(&it.1)) {
            // The folder may be read-only, or the disk full: the database knows what is in here.
            let _harmless = self.write_over(home, workflow, &mut edits);
        }
        edits
    }

    /// Writes every file that differs from what it should be.
    pub fn write(&mut self, home: &Home, workflow: &Workflow) -> std::io::Result<()> {
        self.write_over(home, workflow, &mut Vec::new())
    }

    /// The same. An agent may be at work: what it did to a file since they were all looked at is looked
    /// for again right before that file is written, so that it is not undone in silence.
    fn write_over(
        &mut self,
        home: &Home,
        workflow: &Workflow,
        edits: &mut Vec<String>,
    ) -> std::io::Result<()> {
        if std::fs::symlink_metadata(&self.folder).is_ok_and(|it| it.is_symlink()) {
            return Err(std::io::Error::other("the session's folder became a link"));
        }
        std::fs::create_dir_all(&self.folder)?;
        if self.log_bytes.is_none() {
            self.make_way(home)?;
        }
        for (name, text) in self.texts(workflow) {
            self.look_again(&name, edits);
            put(&self.folder, &name, &text)?;
            self.kept.note(&self.folder, &name);
        }
        self.look_again(LOG, edits);
        self.write_log(home, workflow)?;
        self.kept.note(&self.folder, LOG);
        self.fresh = Fresh::default();
        Ok(())
    }

    /// Takes the files of another run out of the folder, so that no old approval or shipment is read as
    /// this run's. Those of a run of ours are kept in its own folder; what another controller left was
    /// copied when this run was opened.
    fn make_way(&self, home: &Home) -> std::io::Result<()> {
        let text = loop_base::files::text(&self.folder.join("loop-state.json")).unwrap_or_default();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(other) = found["session_id"].as_str().filter(|it| *it != self.run) else { return Ok(()) };
        let is_ours = home.run(other).is_ok_and(|it| it.is_some());
        let kept = is_ours.then(|| home.folder(other).join("session"));
        for entry in std::fs::read_dir(&self.folder)?.flatten() {
            let name = entry.file_name();
            let is_file = entry.file_type().is_ok_and(|it| it.is_file());
            if !is_file || !name.to_str().is_some_and(is_of_session) {
                continue;
            }
            if let Some(kept) = &kept {
                loop_base::files::private_folder(kept)?;
                loop_base::files::copy_private(&entry.path(), &kept.join(&name))?;
            }
            std::fs::remove_file(entry.path())?;
        }
        Ok(())
    }

    fn look_again(&self, name: &str, edits: &mut Vec<String>) {
        let edit = self.kept.edit(&self.folder, name);
        edits.extend(edit.filter(|it| !edits.contains(it)));
    }

    /// Returns every file but the log as it should be.
    fn texts(&self, workflow: &Workflow) -> Vec<(String, String)> {
        let (run, history) = (&self.run, &self.history);
        let mut texts = vec![
            ("loop-state.json".to_owned(), files::loop_state(run, &self.project, workflow, history)),
            ("circuit-breaker.json".to_owned(), files::circuit_breaker(workflow, history)),
            ("rate-limit.json".to_owned(), files::rate_limit(workflow, history)),
            ("metrics.json".to_owned(), files::metrics(run, workflow, history)),
        ];
        let dual_gate = files::dual_gate(workflow, history);
        texts.extend(dual_gate.map(|it| ("dual-gate.json".to_owned(), it)));
        let qa_state = files::qa_state(workflow, history);
        texts.extend(qa_state.map(|it| ("qa-state.json".to_owned(), it)));
        let reviews = self.fresh.reviews.iter();
        texts.extend(reviews.map(|(number, text)| (format!("qa-report-{number}.md"), text.clone())));
        texts
    }

    /// Appends the blocks that are missing. A log that is not what we left is compared with the whole
    /// journal: one that was cut off is completed, and one that says something else is replaced.
    fn write_log(&mut self, home: &Home, workflow: &Workflow) -> std::io::Result<()> {
        let path = self.folder.join(LOG);
        let is_plain = std::fs::symlink_metadata(&path).map(|it| it.is_file().then_some(it.len()));
        if let (Some(bytes), Ok(Some(found))) = (self.log_bytes, is_plain)
            && bytes == found
        {
            append(&path, &self.fresh.blocks)?;
            self.log_bytes = Some(bytes + self.fresh.blocks.len() as u64);
            return Ok(());
        }
        let blocks = match self.log_bytes {
            None => std::mem::take(&mut self.fresh.blocks),
            Some(_) => {
                let whole = read(home, &self.run, workflow).map_err(std::io::Error::other)?;
                whole.1.blocks
            }
        };
        let mut whole = std::fs::read(&self.imported_log).unwrap_or_default();
        whole.extend_from_slice(blocks.as_bytes());
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        match is_file.then(|| std::fs::read(&path)) {
            Some(Ok(found)) if whole.starts_with(&found) => {
                append(&path, &String::from_utf8_lossy(&whole[found.len()..]))?;
            }
            Some(_) | None => replace(&path, &String::from_utf8_lossy(&whole))?,
        }
        self.log_bytes = Some(whole.len() as u64);
        self.fresh.blocks.clear();
        Ok(())
    }
}

/// Whether a session has a file of this name.
fn is_of_session(name: &str) -> bool {
    let is_report = name.starts_with("qa-report-") && name.ends_with(".md");
    is_report || FILES.contains(&name) || SHIP_FILES.contains(&name)
}

/// Reads a run's whole journal, and every text that follows from it.
fn read(home: &Home, run: &str, workflow: &Workflow) -> Result<(History, Fresh), StoreError> {
    let (mut history, mut fresh) = (History::new(workflow), Fresh::default());
    fold::replay(home, run, workflow, |workflow, at, event| {
        if let Some(turn) = history.follow(workflow, at, event) {
            fresh.add(workflow, &history.state, at, &turn);
        }
    })?;
    Ok((history, fresh))
}

/// Whether the files say what the run has come to, as far as one of them tells.
pub(super) fn is_current(workflow: &Workflow, state: &loop_core::engine::State) -> bool {
    let Some(folder) = folder(workflow) else { return true };
    let all = ["circuit-breaker.json", "rate-limit.json", "metrics.json", LOG];
    let text = loop_base::files::text(&folder.join("loop-state.json")).unwrap_or_default();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    all.iter().all(|it| folder.join(it).is_file())
        && (state.iterations_total == 0 || folder.join("dual-gate.json").is_file())
        && files::agrees(&found, workflow, state)
}

/// Returns the folder of a run's session, where it has one.
pub fn folder(workflow: &Workflow) -> Option<PathBuf> {
    let mirror = &workflow.mirror;
    let is_ours = mirror.writes(MirrorFormat::PrpSession);
    mirror.dir.as_ref().filter(|_| is_ours).map(PathBuf::from)
}

/// Writes a file of the session's folder, unless it is as it should be.
pub fn put(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    refuse_link(folder)?;
    let path = folder.join(name);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
    if is_file && std::fs::read(&path).is_ok_and(|it| it == text.as_bytes()) {
        return Ok(());
    }
    replace(&path, text)
}

/// The folder was a real one when the run was opened. A link in its place leads to what is not ours.
fn refuse_link(folder: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(folder).is_ok_and(|it| it.is_symlink()) {
        true => Err(std::io::Error::other("a link is in the folder's place")),
        false => Ok(()),
    }
}

/// One write for all of it, so that a reader of the log sees whole blocks.
fn append(path: &Path, text: &str) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), refuse_link)?;
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
}
