//! Where a run is, as implied by its journal. How an event changes it is told in `apply/`; what to do
//! about it is decided elsewhere. Everything here has a bounded size, because the whole state
//! is written with every commit.

use crate::engine::journal::calls::ending::LeftProcess;
use crate::engine::journal::closing::landing::{Landing, Train};
use crate::engine::journal::closing::proof_steps::Proving;
use crate::engine::journal::hold::Hold;
use crate::engine::journal::measured::evidence::{Baseline, CheckResult, Facts, RefusedPlan, TargetMove};
use crate::engine::journal::people::question::Question;
use crate::engine::journal::task::item::Item;
use crate::engine::journal::task::opening::{Opening, Session};
use crate::engine::journal::task::requirement::Requirement;
use crate::engine::state::parts::call_window::Calls;
use crate::engine::state::parts::feedback::Feedback;
use crate::engine::state::parts::item_list::ItemList;
use crate::engine::state::parts::retry::Retry;
use crate::engine::state::parts::spent::{RecentCosts, Spent};
use crate::engine::state::parts::station::{Station, Waiting, Wish};
use crate::engine::state::parts::troubles::Troubles;
use crate::engine::state::parts::visit::{PhaseLog, PhaseStatus, Visit};
use crate::proof::Waiver;
use crate::workflow::model::{Millis, Phase, PhaseId, Workflow};
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The version of what a snapshot holds. It is raised whenever a snapshot of the version before would
/// be misread; those are folded again from their events.
pub const STATE_VERSION: i64 = 5;

/// An item, and the tree that the work on it began with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemBegan {
    pub item: String,
    pub tree: String,
}

/// What somebody approved at a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateApproval {
    pub by: String,
    pub at: Timestamp,
    /// Fact → the digest of what it was about.
    pub changes: BTreeMap<String, String>,
}

impl GateApproval {
    /// Whether what was approved is another change now.
    pub(crate) fn is_of_other_changes(&self, about: &BTreeMap<String, String>) -> bool {
        self.changes.iter().any(|(fact, digest)| about.get(fact) != Some(digest))
    }
}

/// How a call went wrong, for the questions that follow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTrouble {
    pub call: u32,
    pub why: String,
    /// The last line that it wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub opening: Opening,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
    pub epoch: u64,
    pub station: Station,
    pub phase: PhaseId,
    pub visit: Visit,
    pub phases: Vec<PhaseLog>,
    /// Iterations judged, of every phase.
    pub iterations_total: u32,
    /// Those that count against the run's limit.
    pub iterations_counted: u32,
    /// Those that did before a person set the counters to 0.
    #[serde(default)]
    pub iterations_forgiven: u32,
    /// The limit that a person set for this run, in place of the workflow's.
    pub iterations_most: Option<u32>,
    /// Calls started.
    pub calls_total: u32,
    /// Tries to start the next call that came to nothing.
    pub void_attempts: u32,
    /// How many of them since a person last looked.
    #[serde(default)]
    pub voids: u32,
    /// Calls that were lost since one was judged or a person last looked.
    #[serde(default)]
    pub lost_in_a_row: u32,
    pub calls: Calls,
    pub spent: Spent,
    #[serde(default)]
    pub recent_costs: RecentCosts,
    /// How long the checks of the last measurement took.
    #[serde(default)]
    pub checks_ms: Millis,
    /// The session that has the work, where we do not start the agent ourselves.
    #[serde(default)]
    pub session: Option<Session>,
    pub place: Option<String>,
    pub branch: Option<String>,
    pub baseline: Option<Baseline>,
    /// The tree and the input as they were last looked at.
    pub seen: Facts,
    /// Full passes of the tests since the last failure.
    pub green_runs: u32,
    pub item: Option<Item>,
    /// What the tree was when the list gave this item out first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_began: Option<ItemBegan>,
    /// Open item → commits of work that the calls on it made, oldest first; capped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) item_commits: BTreeMap<String, Vec<String>>,
    /// Item that is done → its newest commit of work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) done_commits: BTreeMap<String, String>,
    /// Items that are done and whose work was gone when the last call was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost_work: Vec<String>,
    /// The list has been read since the last item was done.
    pub listed: bool,
    pub items_left: u32,
    pub items_done: u32,
    /// Those of them that were people's feedback and stood in no list.
    #[serde(default)]
    pub feedback_done: u32,
    /// The list itself, with the ids of done items. It grows with the work, so no snapshot holds it;
    /// a state that was read from one is given the list by whoever drives the run.
    #[serde(skip)]
    pub(crate) list: Option<Arc<ItemList>>,
    /// What was asked for, and what shows that it is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// What only a person can judge and nobody has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_to_person: Vec<String>,
    /// The command that continues after this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_run: Option<String>,
    /// Items that a report proposed, for a workflow whose own list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items_proposed: Vec<String>,
    /// Plans that lie in the folder of the phase and are not worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_plans: Vec<RefusedPlan>,
    /// Where a direct way back leads once this phase is left.
    pub back_to: Option<PhaseId>,
    pub rejections: BTreeMap<PhaseId, u32>,
    pub retry: Retry,
    /// Gate → who approved it, at this boundary.
    pub approved: BTreeMap<String, String>,
    /// Gates that were once found to be needed, or that an agent asked for, and nobody has passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates_wanted: Vec<String>,
    /// Check → the command that a person gave for it, in place of none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<String, String>,
    /// Skill → what it needs, as a person said; nothing where it is done without.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prerequisites: BTreeMap<String, Option<String>>,
    /// Gate → who passed it last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates_passed: BTreeMap<String, String>,
    /// Gate → the facts about the change that were so when it was passed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates_about: BTreeMap<String, BTreeSet<String>>,
    /// Gate → when somebody approved it last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates_passed_at: BTreeMap<String, Timestamp>,
    /// Gate → what was approved there, since its boundary was left.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates_saw: BTreeMap<String, GateApproval>,
    /// Where a gate is asked outside, and when that is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_at: Option<Timestamp>,
    /// Why it could not be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_trouble: Option<String>,
    /// Skill → why a person skipped it.
    pub skipped: BTreeMap<String, String>,
    /// The model that each phase ran with last.
    pub models: BTreeMap<PhaseId, String>,
    pub guidance: Vec<String>,
    /// How checkpoints were settled. Every later call is a fresh session, and is told all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<String>,
    pub feedback: Option<Feedback>,
    pub wait: Option<Waiting>,
    /// Why a provider will not serve us before a person does something.
    pub refused: Option<String>,
    /// Why the agent cannot work before a person does something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_trouble: Option<String>,
    /// How the last call went wrong, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_trouble: Option<CallTrouble>,
    /// The model that the last call asked for; nothing stands for the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_asked: Option<String>,
    /// Model → the one that a person named in its place; an empty name is the agent's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models_instead: BTreeMap<String, String>,
    /// Phases whose model a person confirmed although it has to differ from another's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub models_confirmed: BTreeSet<PhaseId>,
    /// How often in a row a provider could not be reached.
    #[serde(default)]
    pub unreachable: u32,
    /// What the agent last said about how much of its plan is used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_warning: Option<String>,
    pub hold: Option<Hold>,
    pub wish: Option<Wish>,
    /// The phase that a person named.
    pub move_to: Option<PhaseId>,
    pub questions: u32,
    /// A person went on past the open question.
    #[serde(default)]
    pub withdrawn: bool,
    /// A person has been told of the hold, the wait or the end that the run is at.
    #[serde(default)]
    pub told: bool,
    /// Processes that could not be ended.
    pub left: Vec<LeftProcess>,
    pub contain_tried: bool,
    /// Something of a call may have lived on unseen, so nothing that was measured since is certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncontained: bool,
    /// A phase was skipped, or the agent's word was taken for something.
    pub unproven: bool,
    /// Phases that a person skipped and that were not begun again since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<PhaseId>,
    /// The run was taken over, and nothing has been measured here yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untested: bool,
    /// The proof of the tree that was judged last, as far as it has been taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proving: Option<Proving>,
    /// The tree that a phase left which had to write failing tests: its tests are protected from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected_line: Option<String>,
    /// How often a proof sent the work back by itself.
    #[serde(default)]
    pub proof_returns: u32,
    /// What people accepted of the proof's findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// A person takes the work with less proof than the workflow asks for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// The command that a person gave to prepare a clean checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// A person goes without a proof.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proof_skipped: bool,
    /// What the agent was told about tests that passed at the opening and do not now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratchet_told: Vec<String>,
    /// What the phase that sent the work back had found, until it lets the work pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Feedback>,
    /// Where the work went when it was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipped: Option<String>,
    /// The commit that holds what was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<String>,
    /// How far the proven work has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
    /// The landing that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Train>,
    /// How often the work was sent back because it did not go together with the target.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub landing_returns: u32,
    /// That somebody moved the target while an agent was working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_moved: Option<TargetMove>,
    /// Where somebody moved the target to while an agent was working, and a person said that it was theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_trusted: Option<String>,
    /// What the phase that `[proof] at` names was left with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<ProvenState>,
    pub warnings: Vec<String>,
    /// How many commands from inside agent calls were refused; the warnings have the last of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refusals: u32,
    /// The last errors and failures. The key is older than the name.
    #[serde(default, rename = "history")]
    pub troubles: Troubles,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The commit and the tree that were proven, where phases follow that only write about the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenState {
    pub commit: String,
    pub tree: String,
}

impl State {
    pub fn new(workflow: &Workflow) -> State {
        State {
            phases: vec![PhaseLog::default(); workflow.phases.len()],
            list: Some(Arc::default()),
            ..State::default()
        }
    }

    pub fn baseline_results(&self) -> Vec<CheckResult> {
        self.baseline.as_ref().map(|it| it.results.clone()).unwrap_or_default()
    }

    /// Returns how many iterations of the run's own kind there were, whatever a person forgave since.
    pub fn iterations_numbered(&self) -> u32 {
        self.iterations_forgiven + self.iterations_counted
    }

    /// Returns how many iterations of the current phase there were, as people are told: in this visit, or in the
    /// run where the phase is numbered by that.
    pub fn iterations_shown(&self, workflow: &Workflow) -> u32 {
        match workflow.phases[self.phase].is_numbered_by_run() {
            true => self.iterations_numbered(),
            false => self.visit.iteration,
        }
    }

    /// Returns how many iterations a phase had in its last visit, or in the run where it is numbered by that.
    pub fn iterations_of(&self, workflow: &Workflow, phase: PhaseId) -> u32 {
        match workflow.phases[phase].is_numbered_by_run() {
            true => self.iterations_numbered(),
            false => self.phases[phase].iterations,
        }
    }

    /// Returns how many iterations the run had, as people are told: where a phase is numbered by the run, those
    /// that are not counted are calls and nothing else.
    pub fn iterations_told(&self, workflow: &Workflow) -> u32 {
        match workflow.phases.iter().any(Phase::is_numbered_by_run) {
            true => self.iterations_numbered(),
            false => self.iterations_total,
        }
    }

    pub fn iterations_limit(&self, workflow: &Workflow) -> Option<u32> {
        self.iterations_most.or(workflow.limits.iterations)
    }

    /// Whether a phase counts as done, by its exit rule or by a person's word.
    pub fn is_done(&self, phase: PhaseId) -> bool {
        match self.phases[phase].status {
            PhaseStatus::Completed | PhaseStatus::Skipped | PhaseStatus::Forced => true,
            PhaseStatus::Pending | PhaseStatus::Active => false,
        }
    }

    /// Whether a phase is done only because a person said so.
    pub fn is_forced(&self, phase: PhaseId) -> bool {
        self.is_done(phase) && self.phases[phase].forced
    }

    /// Whether a call that is under way should end.
    pub fn wish_is_urgent(&self) -> bool {
        matches!(self.wish, Some(Wish::Pause { .. } | Wish::Cancel))
    }

    /// Returns when somebody has to look at an open question again: it decides itself, can no longer be
    /// approved, or is asked outside.
    pub fn question_ends_at(&self, question: &Question) -> Option<Timestamp> {
        question.ends_at().into_iter().chain(self.look_at).min()
    }

    /// Returns the open question.
    pub fn question(&self) -> Option<&Question> {
        match &self.station {
            Station::Waiting { question, answer: None } => Some(question),
            Station::Waiting { .. }
            | Station::Ready
            | Station::Working(_)
            | Station::Reported(_)
            | Station::Measured(..)
            | Station::Judged(_)
            | Station::Between
            | Station::Leaving { .. }
            | Station::Finishing
            | Station::Finished
            | Station::Closed(_) => None,
        }
    }
}
