//! One run that a pool follows: what it wrote since the last look, as lines for people.

use crate::desk::load;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, Landing, State, Station, Status};
use loop_core::event_line::{line, running_line};
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Row};

/// Events read at once.
const PAGE: usize = 1000;

/// A system that a pool works on, as it is at this moment.
#[derive(Clone, Debug)]
pub(crate) struct PoolSystemNow {
    pub id: String,
    pub status: Status,
    /// A process drives its run.
    pub is_driven: bool,
    /// What it does, or what it waits for, in a line.
    pub doing: String,
    pub since: Timestamp,
}

/// All systems of a pool together.
#[derive(Clone, Debug)]
pub(crate) struct PoolTotal {
    pub done: usize,
    pub all: usize,
    pub jobs: usize,
    pub began: Timestamp,
    /// What they have used up, in words; empty where that is nothing.
    pub used: String,
}

impl Default for PoolTotal {
    fn default() -> PoolTotal {
        PoolTotal { done: 0, all: 0, jobs: 0, began: Timestamp(0), used: String::new() }
    }
}

/// Something to tell while a pool works.
pub(crate) enum PoolNews {
    /// How all systems stand that are worked on or wait for somebody.
    Now { systems: Vec<PoolSystemNow>, total: PoolTotal },
    /// About the pool itself.
    Pool(String),
    /// About one system.
    System {
        id: String,
        line: String,
        /// Only for those who want to see everything.
        is_detail: bool,
    },
}

/// A run of a system as it was last seen.
pub(super) struct Followed {
    pub system: String,
    pub row: Row,
    pub workflow: Workflow,
    pub state: State,
    /// The next event to tell.
    next: i64,
    /// The pool started its controller.
    pub pid: Option<u32>,
    /// How often its controller was started without making a call.
    pub vain_starts: u32,
    /// Its calls, its phase and when its question is looked at again, when its controller was last started.
    started_at: Option<(i64, Option<String>, Option<Timestamp>)>,
}

impl Followed {
    /// Begins to follow; what was written before is not told.
    pub(super) fn new(home: &Home, system: &str, row: Row) -> anyhow::Result<Followed> {
        let (workflow, state) = load(home, &row)?;
        let next = home.snapshot(&row.id)?.map_or(1, |it| it.seq + 1);
        let system = system.to_owned();
        Ok(Followed { system, row, workflow, state, next, pid: None, vain_starts: 0, started_at: None })
    }

    pub(super) fn status(&self) -> Status {
        Status::of(&self.state)
    }

    /// When somebody has to look at its open question again.
    pub(super) fn looks_again_at(&self) -> Option<Timestamp> {
        self.state.question().and_then(|it| self.state.question_ends_at(it))
    }

    /// How it stands, for those who watch.
    pub(super) fn now(&self, is_driven: bool) -> PoolSystemNow {
        let (status, reason) = (self.status(), self.state.reason(&self.workflow));
        let doing = match status {
            Status::Ready | Status::Running => match &self.state.station {
                Station::Working(call) => {
                    let name = &self.workflow.phases[call.phase].name;
                    format!("{name} iteration {}, call {}", call.iteration, call.number)
                }
                _ => reason,
            },
            other => format!("{}: {reason}", other.word()),
        };
        let since = self.state.updated_at;
        PoolSystemNow { id: self.system.clone(), status, is_driven, doing, since }
    }

    /// Notes that a controller was started.
    pub(super) fn started(&mut self, pid: u32) {
        let now = Some((self.row.calls_total, self.row.phase.clone(), self.looks_again_at()));
        self.vain_starts = if self.started_at == now { self.vain_starts + 1 } else { 1 };
        self.started_at = now;
        self.pid = Some(pid);
    }

    /// Reads what was written, and returns it as lines.
    pub(super) fn look(&mut self, home: &Home) -> anyhow::Result<Vec<PoolNews>> {
        let mut news = Vec::new();
        let mut has_more = true;
        let mut is_changed = false;
        while has_more {
            let page = home.events(&self.row.id, self.next, PAGE)?;
            has_more = page.len() == PAGE;
            is_changed |= !page.is_empty();
            for recorded in &page {
                self.next = recorded.seq + 1;
                // What a later version wrote is not for us to tell.
                let Ok(event) = serde_json::from_str::<Event>(&recorded.body) else { continue };
                let is_detail = !matters(&event);
                let told = if is_detail {
                    running_line(&self.workflow, &event)
                } else {
                    line(&self.workflow, &event)
                };
                let system = self.system.clone();
                news.extend(told.map(|line| PoolNews::System { id: system, line, is_detail }));
            }
        }
        if is_changed && let Some(row) = home.run(&self.row.id)? {
            self.row = row;
            self.state = load(home, &self.row)?.1;
        }
        Ok(news)
    }
}

/// The run of a claim, once it has its first event. Whoever was killed right after a claim has not even created it.
pub(super) fn opened(home: &Home, run: &str) -> anyhow::Result<Option<Row>> {
    let Some(row) = home.run(run)? else { return Ok(None) };
    Ok(home.snapshot(run)?.map(|_| row))
}

/// Whether somebody who watches several systems wants to read it: stages, failures, questions, the end.
fn matters(event: &Event) -> bool {
    matches!(
        event,
        Event::Entered { .. }
            | Event::Began(Effect::Ask(_))
            | Event::Retried
            | Event::Proved(_)
            | Event::Approved { .. }
            | Event::Voided { .. }
            | Event::Waits { .. }
            // Whatever keeps a merge back is told by the question, or the way back, that follows it.
            | Event::Landed(Landing::Merged { .. } | Landing::Clear | Landing::Reverted { .. })
            | Event::Held(_)
            | Event::Closed(_)
    )
}
