//! `.planning/LOOP-STATE.md`: a run of `plan` in the format of its seed, with a row for each iteration. It
//! is written by us alone. `Status: stopping` in it is read as the wish to stop; what else somebody does
//! to it is undone and reported. What agents append to `LEARNINGS.md` beside it is watched for its length, and the
//! roadmap for requirements that come and go.

mod asked_for;
pub mod import;
mod loop_status;
mod rest_edit;

use super::replace;
use crate::fold;
use crate::{Home, StoreError};
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::digest::sha256;
use loop_core::documents::planning::learnings;
use loop_core::engine::{Command, Event, History, JudgedTurn, News, State, Station, Verdict, Wish};
use loop_core::workflow::model::{MirrorFormat, Workflow};
use loop_status::LoopStatus;
pub use rest_edit::RestEdit;
use std::path::{Path, PathBuf};

/// Where it lies, in the working tree.
pub const NAME: &str = ".planning/LOOP-STATE.md";

const LEARNINGS: &str = ".planning/LEARNINGS.md";

/// Where the file of another controller lies in the folder of its run.
const IMPORTED: &str = "imported/LOOP-STATE.md";

/// The digest of what was written last, in the folder of the run.
const WRITTEN: &str = "loop-state.sha256";

/// Rows of the table; a phase of more iterations than its limit allows does not come about.
const ROWS_MOST: usize = 1000;

pub struct LoopState {
    history: History,
    rows: Vec<String>,
    path: PathBuf,
    /// Where the digest of the text lies that was written last.
    note: PathBuf,
    /// The file of another controller, as it was when the run began.
    imported: String,
    /// When another controller began, where a run continues with its work.
    started: Option<String>,
    /// What we wrote last, and how it looked then.
    written: Option<String>,
    /// That the learnings are too long was said, or was so from the beginning.
    is_told_of_length: bool,
    /// An iteration of any phase was judged since the requirements were looked at.
    is_judged: bool,
}

impl LoopState {
    /// Reads what a run has come to. `None` when it has no such mirror.
    pub fn open(
        home: &Home,
        run: &str,
        workflow: &Workflow,
        place: &Path,
    ) -> Result<Option<LoopState>, StoreError> {
        if !workflow.mirror.writes(MirrorFormat::Planning) {
            return Ok(None);
        }
        let mut found = LoopState::unread(home, run, workflow, place.join(NAME));
        found.is_told_of_length = found.has_long_learnings();
        fold::replay(home, run, workflow, |workflow, at, event| found.take(workflow, at, event))?;
        Ok(Some(found))
    }

    fn unread(home: &Home, run: &str, workflow: &Workflow, path: PathBuf) -> LoopState {
        LoopState {
            history: History::new(workflow),
            rows: Vec::new(),
            path,
            note: home.folder(run).join(WRITTEN),
            imported: files::text(&home.folder(run).join(IMPORTED)).unwrap_or_default(),
            started: None,
            written: None,
            is_told_of_length: false,
            is_judged: false,
        }
    }

    /// Returns what somebody did to the file since this run was driven, before it is written again.
    pub fn look_back(
        &mut self,
        home: &Home,
        run: &str,
        workflow: &Workflow,
    ) -> Result<Vec<News>, StoreError> {
        let Some(edit) = self.rest_edit(home, run, workflow)? else { return Ok(Vec::new()) };
        if self.history.state.session.is_none() {
            return Ok(edit.news().into_iter().collect());
        }
        // The agent's own session was working all the time.
        let ours = self.text(workflow, LoopStatus::of(&self.history.state));
        self.written = Some(ours.clone());
        let edits = self.edits(&ours, &when(&self.history.state));
        self.written = None;
        Ok(edits)
    }

    fn take(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) {
        if matches!(event, Event::Opened(opening) if opening.imported) {
            self.rows = import::rows(&self.imported);
            self.started = import::read(&self.imported).ok().and_then(|it| it.started);
        }
        if let Some(turn) = self.history.follow(workflow, at, event) {
            self.is_judged = true;
            self.rows.extend(row(workflow, &self.history.state, &turn));
            let over = self.rows.len().saturating_sub(ROWS_MOST);
            self.rows.drain(..over);
        }
    }

    /// Takes into account what has become durable, and writes the file. Returns what somebody else's edit
    /// comes to.
    pub fn follow(&mut self, workflow: &Workflow, facts: &[(Timestamp, Event)]) -> Vec<News> {
        let rows = self.rows.len();
        let when = when(&self.history.state);
        self.is_judged = false;
        facts.iter().for_each(|(at, event)| self.take(workflow, *at, event));
        // Right before the write: an agent that was just started may be editing already.
        let mut edits = self.edits(&self.text(workflow, LoopStatus::of(&self.history.state)), &when);
        if rows != self.rows.len() && !self.is_told_of_length && self.has_long_learnings() {
            self.is_told_of_length = true;
            edits.push(News::Noted(format!(
                "{LEARNINGS} has grown beyond {} lines; merge and archive",
                learnings::LINES_MOST
            )));
        }
        if self.is_judged {
            edits.extend(self.requirements_changed(workflow));
        }
        // The tree may be read-only, or the disk full: the database knows everything that is in here.
        let _harmless = self.write(workflow);
        edits
    }

    /// Writes the file, unless it is as it should be.
    pub fn write(&mut self, workflow: &Workflow) -> std::io::Result<()> {
        if !self.path.parent().is_some_and(Path::is_dir) {
            // Whoever removed the folder was told of it, and nothing lies there that could be changed.
            self.written = None;
            return Ok(());
        }
        let text = self.text(workflow, LoopStatus::of(&self.history.state));
        if self.written.as_ref() != Some(&text) || files::text(&self.path).ok().as_ref() != Some(&text) {
            replace(&self.path, &text)?;
            // Without it an edit may pass for a file that a crash left behind.
            let _only_a_note = files::replace(&self.note, &sha256(&text));
            self.written = Some(text);
        }
        Ok(())
    }

    /// Writes the file as it is once the run is completed, for the commit that ends it.
    pub fn write_complete(&mut self, workflow: &Workflow) -> std::io::Result<()> {
        replace(&self.path, &self.text(workflow, LoopStatus::Complete))
    }

    fn has_long_learnings(&self) -> bool {
        let text = files::text(&self.path.with_file_name("LEARNINGS.md")).unwrap_or_default();
        learnings::LINES_MOST < text.lines().count()
    }

    /// What somebody did to the requirements of the phase, as far as nobody was told.
    fn requirements_changed(&self, workflow: &Workflow) -> Vec<News> {
        let place = self.path.parent().and_then(Path::parent).unwrap_or(&self.path);
        let state = &self.history.state;
        let found = asked_for::differences(place, workflow, state).into_iter();
        found.filter(|it| !state.warnings.contains(it)).map(News::Noted).collect()
    }

    /// What somebody did to the file since it was written, which is to have the text `next`; `when` says since when.
    fn edits(&self, next: &str, when: &str) -> Vec<News> {
        let Some(written) = &self.written else { return Vec::new() };
        let found = files::text(&self.path).unwrap_or_default();
        if found == *written || found == next {
            return Vec::new();
        }
        if self.is_committed(&found) {
            return Vec::new();
        }
        let noted = News::Noted;
        let is_asked = matches!(self.history.state.wish, Some(Wish::Stop));
        match (LoopStatus::in_text(&found), found.is_empty()) {
            (Some(LoopStatus::Stopping), _) if is_asked => Vec::new(),
            (Some(LoopStatus::Stopping), _) => {
                vec![
                    noted(format!(
                        "{NAME} says stopping, edited {when}: the run stops after this iteration; continue with: loop run {}",
                        self.history.state.opening.input
                    )),
                    News::Commanded(Command::Stop),
                ]
            }
            (_, true) => vec![noted(format!("{NAME} was removed {when}; it is written again"))],
            (_, false) => vec![noted(format!(
                "{NAME} was changed by somebody else {when}; the edit was undone and had no effect"
            ))],
        }
    }

    /// The last step of a run writes the file as it is to be committed.
    fn is_committed(&self, found: &str) -> bool {
        let ends = matches!(self.history.state.station, Station::Finishing | Station::Finished);
        ends && LoopStatus::in_text(found) == Some(LoopStatus::Complete)
    }

    fn text(&self, workflow: &Workflow, status: LoopStatus) -> String {
        let state = &self.history.state;
        let mut lines = vec![
            "# Loop State".to_owned(),
            String::new(),
            format!("Started: {}", self.started.clone().unwrap_or_else(|| state.opened_at.to_string())),
            format!("Phase: {}", state.opening.input),
            format!("Status: {}", status.word()),
            format!("Iteration: {}", state.iterations_numbered()),
            format!(
                "Max iterations: {}",
                state.iterations_limit(workflow).map_or(0, |it| it + state.iterations_forgiven)
            ),
            format!("Consecutive failures: {}", failures(workflow, state)),
        ];
        let cycles: u32 = state.rejections.values().sum();
        if 0 < cycles {
            lines.push(format!("Gap closure cycle: {cycles}"));
        }
        match status {
            LoopStatus::Stuck => lines.push(format!("Stuck reason: {}", reason(workflow, state))),
            LoopStatus::Stopped => {
                lines.extend(state.question().map(|it| format!("Waiting: {}", one_line(&it.text))));
            }
            LoopStatus::Running | LoopStatus::Stopping | LoopStatus::Complete | LoopStatus::MaxReached => (),
        }
        lines.extend([
            String::new(),
            "## Task Progress".to_owned(),
            String::new(),
            "| Iteration | Plan | Task | Status | Commit | Signal |".to_owned(),
            "|-----------|------|------|--------|--------|--------|".to_owned(),
        ]);
        lines.extend(self.rows.iter().cloned());
        lines.push(String::new());
        lines.join("\n")
    }

    /// Returns the last rows of the table.
    pub fn last_rows(&self, most: usize) -> &[String] {
        &self.rows[self.rows.len().saturating_sub(most)..]
    }
}

/// Says what was going on while the file could be edited: agents can write to it too.
fn when(state: &State) -> String {
    if let Station::Working(call) = &state.station {
        return format!("during call {}", call.number);
    }
    match state.calls_total {
        0 => "before the first call".to_owned(),
        calls => format!("after call {calls}"),
    }
}

/// Whether a person wrote `Status: running` into the file of a run that is stuck or at its limit.
pub fn says_running(place: &Path) -> bool {
    files::text(&place.join(NAME)).is_ok_and(|it| LoopStatus::in_text(&it) == Some(LoopStatus::Running))
}

/// Returns the reason of a halt without the name of the phase, as the seed has it.
pub fn reason(workflow: &Workflow, state: &State) -> String {
    let whole = state.reason(workflow);
    let phase = &workflow.phases[state.phase].name;
    let bare = whole.strip_prefix(&format!("{phase} is stuck: ")).unwrap_or(&whole);
    one_line(bare)
}

/// Returns how many iterations in a row have failed; only those of tasks count.
pub fn failures(workflow: &Workflow, state: &State) -> u32 {
    if workflow.phases[state.phase].counted { state.visit.breaker.failures } else { 0 }
}

/// An iteration as a row; none for calls that are not counted.
fn row(workflow: &Workflow, state: &State, turn: &JudgedTurn) -> Option<String> {
    if !workflow.phases[turn.call.phase].counted {
        return None;
    }
    let item = turn.call.item.as_deref();
    let status = match &turn.judgement.verdict {
        Verdict::Leave | Verdict::Step => "done",
        Verdict::Again | Verdict::Fail | Verdict::Reject => "failed",
        Verdict::Stuck(_) => "stuck",
        Verdict::Checkpoint(_) => "checkpoint",
    };
    let cells = [
        state.iterations_numbered().to_string(),
        item.and_then(|it| it.group.clone()).unwrap_or_else(|| "-".to_owned()),
        item.map(|it| it.name.clone()).unwrap_or_else(|| "-".to_owned()),
        status.to_owned(),
        commit(state, turn).unwrap_or_else(|| "-".to_owned()),
        signal(turn),
    ];
    let cells = cells.map(|it| one_line(&it).replace('|', "/"));
    Some(format!("| {} |", cells.join(" | ")))
}

/// Returns the short name of the commit that an iteration made; of a task that it completed, also one that an
/// earlier iteration made for it.
pub fn commit(state: &State, turn: &JudgedTurn) -> Option<String> {
    let claimed = turn.report.commit();
    let commit = match &turn.judgement.verdict {
        Verdict::Leave => state.seen.commit_of_item(claimed.as_deref()),
        Verdict::Step
        | Verdict::Again
        | Verdict::Fail
        | Verdict::Reject
        | Verdict::Stuck(_)
        | Verdict::Checkpoint(_) => state.seen.commit_of_call(claimed.as_deref()),
    };
    commit.map(|it| it.chars().take(7).collect())
}

/// Returns the word that a call gave, or that it gave none.
pub fn signal(turn: &JudgedTurn) -> String {
    match (&turn.report.signal, &turn.report.stuck, &turn.judgement.verdict) {
        (Some(word), _, _) => word.to_string(),
        (None, Some(reason), _) => format!("STUCK: {}", one_line(reason)),
        (None, None, Verdict::Checkpoint(kind)) => format!("CHECKPOINT: {kind}"),
        (None, None, _) => "none".to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}
