//! What a run's state is called outside: the contract's status words, the reason, the next step
//! and the exit code. Presets have words of their own for these; mirrors translate.

use crate::agent_table::AgentRow;
use crate::engine::journal::closing::landing::Landing;
use crate::engine::journal::hold::{Hold, HoldKind, Outcome, Wait};
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::parts::station::Station;
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::State;
use crate::engine::state::views::run_command::run_again;
use crate::facts::FactName;
use crate::proof::Proof;
use crate::workflow::model::{PhaseId, Workflow};
use loop_base::text::shell_word;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How the reason of a halt begins where nothing changed and nothing was red.
pub(crate) const NOTHING_TO_DO: &str = "nothing to do";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    #[default]
    Ready,
    Running,
    Waiting,
    Paused,
    Halted,
    Stopped,
    Capped,
    Completed,
    Cancelled,
}

impl Status {
    pub fn of(state: &State) -> Status {
        if let Some(hold) = &state.hold {
            return match hold.kind {
                HoldKind::Stopped => Status::Stopped,
                HoldKind::Paused => Status::Paused,
                HoldKind::Capped => Status::Capped,
                HoldKind::Halted => Status::Halted,
            };
        }
        match &state.station {
            Station::Closed(Outcome::Completed) => Status::Completed,
            Station::Closed(Outcome::Cancelled) => Status::Cancelled,
            Station::Waiting { question, .. } => match question.kind {
                QuestionKind::Breaker | QuestionKind::Blocked | QuestionKind::Agent => Status::Halted,
                QuestionKind::Hourly => Status::Paused,
                QuestionKind::Rejected
                | QuestionKind::Gate(_)
                | QuestionKind::Checkpoint(_)
                | QuestionKind::Check(_)
                | QuestionKind::Proof
                | QuestionKind::Unproven
                | QuestionKind::Prerequisite(_)
                | QuestionKind::Landing
                | QuestionKind::Prepare => Status::Waiting,
            },
            Station::Ready if state.calls_total == 0 => Status::Ready,
            Station::Ready
            | Station::Working(_)
            | Station::Reported(_)
            | Station::Measured(..)
            | Station::Judged(_)
            | Station::Between
            | Station::Leaving { .. }
            | Station::Finishing
            | Station::Finished => Status::Running,
        }
    }

    const ALL: [Status; 9] = [
        Status::Ready,
        Status::Running,
        Status::Waiting,
        Status::Paused,
        Status::Halted,
        Status::Stopped,
        Status::Capped,
        Status::Completed,
        Status::Cancelled,
    ];

    /// Returns those of runs that are neither completed nor cancelled.
    pub fn unfinished() -> Vec<Status> {
        Status::ALL.into_iter().filter(|it| !it.is_closed()).collect()
    }

    /// Returns the status that this word names.
    pub fn named(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Whether nothing comes after it.
    pub fn is_closed(self) -> bool {
        match self {
            Status::Completed | Status::Cancelled => true,
            Status::Ready
            | Status::Running
            | Status::Waiting
            | Status::Paused
            | Status::Halted
            | Status::Stopped
            | Status::Capped => false,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Status::Ready => "ready",
            Status::Running => "running",
            Status::Waiting => "waiting",
            Status::Paused => "paused",
            Status::Halted => "halted",
            Status::Stopped => "stopped",
            Status::Capped => "capped",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Returns what `loop run` exits with when the run stops like this.
    pub fn exit(self) -> u8 {
        match self {
            Status::Completed => 0,
            Status::Waiting => 3,
            Status::Halted => 4,
            Status::Ready | Status::Running | Status::Paused | Status::Stopped | Status::Cancelled => 5,
            Status::Capped => 6,
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

impl State {
    /// Returns why the run is where it is.
    pub fn reason(&self, workflow: &Workflow) -> String {
        if let Some(hold) = &self.hold {
            return hold.reason.clone();
        }
        let phase = &workflow.phases[self.phase].name;
        match &self.station {
            Station::Waiting { question, .. } => question.text.clone(),
            Station::Closed(Outcome::Completed) => {
                self.closing(workflow).unwrap_or_else(|| "every phase passed".to_owned())
            }
            Station::Closed(Outcome::Cancelled) => "cancelled by user".to_owned(),
            Station::Working(_) if self.session.as_ref().is_some_and(|it| it.id.is_empty()) => {
                format!("{phase}: no session has taken it yet; start the agent here")
            }
            Station::Working(call) => format!("{phase}: call {} is running", call.number),
            Station::Reported(_) => format!("{phase}: the checks are running"),
            Station::Ready
            | Station::Measured(..)
            | Station::Judged(_)
            | Station::Between
            | Station::Leaving { .. }
            | Station::Finishing
            | Station::Finished => match &self.wait {
                Some(wait) => wait.wait.words(wait.until, &wait.why),
                None if self.queued_behind().is_some() => {
                    format!("{phase}: waits for {} to land", self.queued_behind().unwrap_or_default())
                }
                None => format!("{phase}, iteration {}", self.iteration_under_way(workflow)),
            },
        }
    }

    /// Returns the number of the iteration that the run is in: what follows a judgement, like the proof, still
    /// belongs to the one that was judged.
    fn iteration_under_way(&self, workflow: &Workflow) -> u32 {
        let judged = self.iterations_shown(workflow);
        match &self.station {
            Station::Judged(_) | Station::Leaving { .. } | Station::Finishing | Station::Finished => {
                judged.max(1)
            }
            Station::Ready
            | Station::Working(_)
            | Station::Reported(_)
            | Station::Measured(..)
            | Station::Between
            | Station::Waiting { .. }
            | Station::Closed(_) => judged + 1,
        }
    }

    /// Returns who lands before this run, while it waits for that.
    fn queued_behind(&self) -> Option<&str> {
        self.train.as_ref()?.behind.as_deref()
    }

    /// Whether the run is halted because nothing changed and every check passed before it began.
    pub fn has_nothing_to_do(&self) -> bool {
        let is_that = |it: &Hold| it.kind == HoldKind::Halted && it.reason.starts_with(NOTHING_TO_DO);
        self.hold.as_ref().is_some_and(is_that)
    }

    /// Whether it has nothing to do, and somebody told the agent more since.
    pub fn was_told_more(&self) -> bool {
        self.has_nothing_to_do() && !self.guidance.is_empty()
    }

    /// Returns the stage that has to be done again before the work can be merged, where its branch was
    /// changed after it: an answer alone would end at the same halt.
    pub fn stage_to_review<'a>(&self, workflow: &'a Workflow) -> Option<&'a str> {
        let is_blocked = self.question().is_some_and(|it| it.kind == QuestionKind::Blocked);
        // What was skipped is asked for where the work would be merged.
        let asks_merge = workflow.phases[self.phase].asks_for(FactName::PrMerged.name());
        let skipped = self.skips.first().map(|it| &workflow.phases[*it]).filter(|it| it.each.is_none());
        if let Some(phase) = skipped.filter(|_| is_blocked && asks_merge && !self.is_proven()) {
            return Some(&phase.name);
        }
        let is_unreviewed = matches!(self.landing, Some(Landing::Not { unreviewed: true, .. }));
        let stage = workflow.proof.at.filter(|_| is_blocked && is_unreviewed)?;
        Some(&workflow.phases[stage].name)
    }

    /// The files that the run changed. Documents that its phases must write are in every change, so they come last.
    pub fn changed_files<'a>(&'a self, workflow: &Workflow) -> Vec<&'a str> {
        let is_document = |it: &&String| workflow.deliverables().any(|named| named == *it);
        let (documents, work): (Vec<&String>, Vec<&String>) = self.seen.files.iter().partition(is_document);
        work.into_iter().chain(documents).map(String::as_str).collect()
    }

    /// Whether the run waits until a moment that a provider named, which a person can end.
    pub fn waits_for_provider(&self) -> bool {
        self.wait.as_ref().is_some_and(|it| it.wait == Wait::Provider)
    }

    /// Returns until when no call is made and why, where somebody knows that.
    pub fn no_call_before(&self, now: Timestamp) -> Option<(Timestamp, &str)> {
        let wait = self.wait.as_ref().filter(|it| it.wait.has_end() && now < it.until)?;
        Some((wait.until, &wait.why))
    }

    /// Returns what a person can do next, as a command.
    pub fn next_step(&self, workflow: &Workflow) -> String {
        let status = Status::of(self);
        if let Some(stage) = self.stage_to_review(workflow) {
            return format!("loop resume --state {stage}");
        }
        if let Some(question) = self.question() {
            return self.answer_command(workflow, &question.kind);
        }
        if self.session.is_some() {
            return self.next_step_of_session(workflow, status);
        }
        match status {
            Status::Completed if self.next_run.is_some() => self.next_run.clone().unwrap_or_default(),
            Status::Completed if self.is_to_ship(workflow) => "loop ship".to_owned(),
            Status::Completed => match &self.opening.worktree {
                Some(_) if matches!(self.landing, Some(Landing::Merged { .. })) => {
                    "loop queue list".to_owned()
                }
                Some(_) if matches!(self.landing, Some(Landing::Reverted { .. })) => {
                    format!("loop run {} --fresh", self.opening.input)
                }
                Some(worktree) => format!("git -C {} merge {}", shell_word(&worktree.root), worktree.branch),
                None => "loop show".to_owned(),
            },
            Status::Cancelled => run_again(workflow, &self.opening.input),
            Status::Capped => format!("loop run {}", self.higher_cap(workflow)),
            Status::Halted if !self.has_nothing_to_do() => "loop resume --reset".to_owned(),
            Status::Halted if self.was_told_more() => "loop run".to_owned(),
            // What the agent said last is all there is to know.
            Status::Halted => format!("loop show {}", self.calls_total),
            Status::Stopped => format!("loop run{}", self.higher_limit(workflow)),
            Status::Ready | Status::Running | Status::Waiting | Status::Paused => "loop run".to_owned(),
        }
    }

    /// `loop run` starts no agent for a run that a session works on; it can only lift what holds it. The
    /// session continues at its next stop.
    fn next_step_of_session(&self, workflow: &Workflow, status: Status) -> String {
        match status {
            Status::Completed => "loop show".to_owned(),
            Status::Cancelled => {
                run_again(workflow, &self.opening.input).replacen("loop run", "loop init --hook", 1)
            }
            Status::Capped => format!("loop resume {}", self.higher_cap(workflow)),
            Status::Halted => "loop resume --reset".to_owned(),
            Status::Paused | Status::Stopped => "loop resume".to_owned(),
            Status::Ready | Status::Running | Status::Waiting => "loop wait".to_owned(),
        }
    }

    /// Returns the flag that a run needs which has used up what it may spend.
    fn higher_limit(&self, workflow: &Workflow) -> String {
        let (limits, spent) = (&workflow.limits, &self.spent);
        let charged = self.charged(workflow, spent);
        if let Some(usd) = limits.usd.zip(charged).filter(|(most, charged)| most <= charged).map(|it| it.1) {
            return format!(" --budget {:.2}", (usd * 2.0).max(0.01));
        }
        let of_phase = self.charged(workflow, &self.phases[self.phase].spent);
        let has_cap = limits.usd.or(limits.phase_usd).or(limits.day_usd).is_some();
        let is_unpriced = has_cap && charged.is_none();
        if is_unpriced || limits.phase_usd.zip(of_phase).is_some_and(|(most, charged)| most <= charged) {
            return " --reload".to_owned();
        }
        let tokens = spent.tokens.total();
        if limits.tokens.is_some_and(|most| most <= tokens) {
            return format!(" --tokens {}", tokens.saturating_mul(2));
        }
        if limits.time.is_some_and(|most| most <= spent.ms) {
            return format!(" --time {}s", (spent.ms / 1000 + 1).saturating_mul(2));
        }
        String::new()
    }

    /// Returns the flags that a capped run needs for another call. An open breaker would halt it before
    /// that call, so its counters go to 0 too.
    fn higher_cap(&self, workflow: &Workflow) -> String {
        let breaker = &workflow.phases[self.phase].breaker;
        let is_open = self.visit.breaker.open(breaker).is_some();
        let has_pivot = breaker.pivot && !self.visit.breaker.pivot_spent;
        let reset = if is_open && !has_pivot { " --reset" } else { "" };
        format!("--max {}{reset}", self.iterations_most_after(workflow))
    }

    /// Returns a limit of iterations that lets a capped run continue.
    fn iterations_most_after(&self, workflow: &Workflow) -> u32 {
        let most = self.iterations_limit(workflow).unwrap_or(self.iterations_total);
        most.saturating_add(10).max(self.iterations_total.saturating_add(10))
    }

    /// Whether the run is completed and its proof holds.
    pub fn verified(&self) -> bool {
        self.station == Station::Closed(Outcome::Completed) && self.is_proven()
    }

    /// Whether people are told that the run is unverified: it is over without a proof, was taken over and
    /// not measured since, or takes the agent's word. A run that is under way has nothing to prove yet.
    pub fn is_called_unverified(&self) -> bool {
        let is_over = matches!(self.station, Station::Closed(_));
        (is_over && !self.verified()) || self.untested || self.unproven
    }

    /// Whether the proof holds for the tree that was judged last: a run that is completed with it is
    /// verified.
    pub fn is_proven(&self) -> bool {
        let is_taken_for_granted = self.unproven || self.untested || self.uncontained;
        !is_taken_for_granted && !self.waits_for_look() && self.proof().is_some_and(Proof::verified)
    }

    /// Whether the work could be handed in: the workflow offers it, nobody has done it, and what was
    /// to be reviewed was.
    pub fn is_to_ship(&self, workflow: &Workflow) -> bool {
        let reviewed = |(phase, log): (
            &crate::workflow::model::Phase,
            &crate::engine::state::parts::visit::PhaseLog,
        )| { phase.reject.is_none() || log.status == PhaseStatus::Completed };
        self.station == Station::Closed(Outcome::Completed)
            && workflow.finish.ship.is_allowed()
            && self.shipped.is_none()
            && workflow.phases.iter().zip(&self.phases).all(reviewed)
    }

    /// Returns how far the run has come. Only a completed run is at 100 %: its proof and its delivery
    /// are work too.
    pub fn progress_percent(&self, workflow: &Workflow) -> u32 {
        if self.station == Station::Closed(Outcome::Completed) {
            return 100;
        }
        self.phases_percent(workflow).min(99)
    }

    /// Returns the share of the phases that is done, by their weights.
    pub fn phases_percent(&self, workflow: &Workflow) -> u32 {
        let total: u32 = workflow.phases.iter().map(|it| it.weight).sum();
        let phases = workflow.phases.iter().enumerate();
        let done: u32 = phases.map(|(id, phase)| phase.weight * self.phase_tenths(workflow, id)).sum();
        done * 100 / (total.max(1) * TENTHS)
    }

    /// Returns how much of a phase is done, in tenths. One that is repeated over items is done as far as
    /// they are; an iteration of any other that is worked on counts for a tenth. The last phase counts for
    /// half at most until it is left: a run whose tests stay red must not look nearly finished.
    pub fn phase_tenths(&self, workflow: &Workflow, phase: PhaseId) -> u32 {
        if workflow.phases[phase].each.is_some() && 0 < self.items_left {
            return TENTHS * self.items_done / (self.items_done + self.items_left);
        }
        match self.phases[phase].status {
            PhaseStatus::Completed | PhaseStatus::Skipped | PhaseStatus::Forced => TENTHS,
            PhaseStatus::Active if phase + 1 == self.phases.len() => {
                self.phases[phase].iterations.min(TENTHS / 2)
            }
            PhaseStatus::Active => self.phases[phase].iterations.min(TENTHS),
            PhaseStatus::Pending => 0,
        }
    }

    /// Returns the command that answers a question as most people will, or shows what there is to decide;
    /// the question itself lists every answer.
    fn answer_command(&self, workflow: &Workflow, kind: &QuestionKind) -> String {
        match kind {
            QuestionKind::Gate(gate) if workflow.gates.get(gate).is_some_and(|it| it.sign) => {
                format!("loop approve {gate} --sign")
            }
            QuestionKind::Gate(gate) => format!("loop approve {gate}"),
            QuestionKind::Proof | QuestionKind::Unproven => "loop show --diff".to_owned(),
            QuestionKind::Breaker => {
                let changed =
                    self.with_another_program(workflow).or_else(|| self.with_another_check(workflow));
                changed.unwrap_or_else(|| "loop answer reset".to_owned())
            }
            QuestionKind::Hourly => "loop answer wait".to_owned(),
            QuestionKind::Blocked => "loop answer resume".to_owned(),
            QuestionKind::Agent | QuestionKind::Landing => "loop answer retry".to_owned(),
            // These need a text of the person's own; alone, the command shows the question and its answers.
            QuestionKind::Check(_)
            | QuestionKind::Prepare
            | QuestionKind::Prerequisite(_)
            | QuestionKind::Rejected
            | QuestionKind::Checkpoint(_) => "loop answer".to_owned(),
        }
    }

    /// Returns the command that continues with another program, where the one that the person gave failed by
    /// itself: a reset alone would call the same one again. It names the program that there is, to be changed.
    fn with_another_program(&self, workflow: &Workflow) -> Option<String> {
        let agent = &workflow.agent;
        let is_own = self.session.is_none() && agent.cli.row().is_some_and(AgentRow::is_any_program);
        let words: Vec<String> = agent.args.iter().map(|it| shell_word(it)).collect();
        (is_own && self.agent_fails() && !words.is_empty())
            .then(|| format!("loop run --agent-cmd {} --reset", shell_word(&words.join(" "))))
    }

    /// Returns the command that continues with another command for a check that could not start. It names the one
    /// that there is, to be changed.
    fn with_another_check(&self, workflow: &Workflow) -> Option<String> {
        let failing = &self.feedback.as_ref().filter(|_| self.session.is_none())?.failing;
        let name = &failing.iter().find(|it| it.is_not_started())?.name;
        let command = workflow.checks.get(name).and_then(|it| it.run.as_ref()).or(self.commands.get(name))?;
        Some(format!("loop run --check {} --reset", shell_word(&format!("{name}={command}"))))
    }

    /// Returns what the agent said of itself where its calls fail and the run stopped for that: the next call fails
    /// too until that is repaired.
    pub fn repair_first(&self) -> Option<&str> {
        let stopped = matches!(Status::of(self), Status::Halted | Status::Capped);
        let trouble = self.last_trouble.as_ref().filter(|_| stopped && self.agent_fails())?;
        Some(trouble.complaint.as_deref().unwrap_or(&trouble.why))
    }

    /// Whether the last call failed by itself, so that another one of the same agent is likely to fail too.
    pub fn agent_fails(&self) -> bool {
        self.feedback.as_ref().is_some_and(|it| it.trouble.is_some())
    }
}

const TENTHS: u32 = 10;
