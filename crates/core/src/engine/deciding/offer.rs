//! What a person is shown at a question: each choice with what it does, and what there is to know
//! before choosing. Every place that shows a question (the terminal, `status`, `--json`, notifications,
//! the hook) shows this.

use super::answer::resume_word;
use super::route::{item_before_others, straight_back};
use crate::agent_table::AgentRow;
use crate::engine::journal::people::command::{Choice, choices_of};
use crate::engine::journal::people::question::{CheckpointKind, Question, QuestionKind};
use crate::engine::judging::judge::{DONE, ISSUES};
use crate::engine::judging::reasons::check_words;
use crate::engine::state::parts::feedback::Feedback;
use crate::engine::state::parts::troubles::ErrorEntry;
use crate::engine::state::run_state::State;
use crate::engine::state::views::next_call::{call, lacks_other_model};
use crate::workflow::model::{ItemSource, Next, PhaseId, Workflow};
use loop_base::text::counted;
use serde::Serialize;

/// One way to answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub choice: String,
    /// What has to be written after the word, such as `REASON`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'static str>,
    pub does: String,
}

impl Offer {
    /// Returns what a person types.
    pub fn typed(&self) -> String {
        match self.text {
            Some(text) if self.choice == Choice::Command.word() => text.to_owned(),
            Some(text) => format!("{} {text}", self.choice),
            None => self.choice.clone(),
        }
    }
}

/// Findings, issues and errors that are shown at a question; the report has the others.
const SHOWN: usize = 5;

/// Characters of an agent's last line that a question shows; `loop show N` has the whole message.
const WORDS_SHOWN: usize = 200;

/// Returns the ways to answer a question, in the order of its choices.
pub fn offers(workflow: &Workflow, state: &State, question: &Question) -> Vec<Offer> {
    let asking = Asking { workflow, state, question };
    let mut offers: Vec<Offer> = match question.options.is_empty() {
        false => question.options.iter().map(|it| option(it)).collect(),
        true => choices_of(&question.kind).iter().map(|it| asking.offer(it)).collect(),
    };
    let word = resume_word(state, question);
    for offer in offers.iter_mut().filter(|it| it.choice == DONE) {
        offer.does.push_str(&word.map(|it| format!(" (also: {it})")).unwrap_or_default());
    }
    offers
}

/// One of the words that a task lists for its person.
fn option(word: &str) -> Offer {
    let (text, does) = match word {
        ISSUES => (Some("TEXT"), "it does not work: an agent gets TEXT and fixes it"),
        DONE => (None, "it works: continue with the next task"),
        _ => (None, "choose this; the agent is told"),
    };
    Offer { choice: word.to_owned(), text, does: does.to_owned() }
}

struct Asking<'a> {
    workflow: &'a Workflow,
    state: &'a State,
    question: &'a Question,
}

impl Asking<'_> {
    fn offer(&self, choice: &Choice) -> Offer {
        let text = match choice {
            Choice::Modify | Choice::Changes | Choice::Fix => Some("TEXT"),
            Choice::Waive | Choice::Accept => Some("REASON"),
            Choice::Command if matches!(self.question.kind, QuestionKind::Prerequisite(_)) => Some("TARGET"),
            Choice::Command => Some("COMMAND"),
            Choice::Model => Some("NAME"),
            Choice::Reset
            | Choice::Skip
            | Choice::Abort
            | Choice::Wait
            | Choice::Continue
            | Choice::Approve
            | Choice::Reject
            | Choice::Resume
            | Choice::Done
            | Choice::Back
            | Choice::Retry
            | Choice::Expired
            | Choice::Other(_) => None,
        };
        Offer { choice: choice.word().to_owned(), text, does: self.does(choice) }
    }

    fn does(&self, choice: &Choice) -> String {
        let phase = self.name(self.state.phase);
        let until = self.question.deadline.map(|it| it.to_string()).unwrap_or_default();
        match (choice, &self.question.kind) {
            (Choice::Reset, _) if self.state.agent_fails() => {
                format!("try {phase} again with the same agent, all counters at 0")
            }
            (Choice::Reset, _) => format!("try {phase} again, with all counters at 0"),
            (Choice::Modify, _) => format!("try {phase} again, with TEXT as guidance for the agent"),
            (Choice::Fix, _) => {
                let target = self.workflow.phases[self.state.phase].reject.as_ref().map(|it| it.go);
                format!("go back to {} with TEXT as guidance for the agent", self.name_or_here(target))
            }
            (Choice::Skip, QuestionKind::Prerequisite(skill)) => {
                format!("do without it; the skill {skill} is not called")
            }
            (Choice::Skip, QuestionKind::Prepare) => {
                "finish without a proof; the run is unverified".to_owned()
            }
            (Choice::Skip, _) => {
                let open = self.state.requirements_to_waive(self.workflow);
                let waived = match open.is_empty() {
                    true => String::new(),
                    false => format!("; first waive {}", open.join(", ")),
                };
                let (what, then) = match item_before_others(self.workflow, self.state) {
                    Some(item) => {
                        (item.name.as_str(), format!("continue with the next {}", self.item_word()))
                    }
                    None => (phase, self.next()),
                };
                format!("accept {what} as it is, then {then}; the run is unverified{waived}")
            }
            (Choice::Abort, QuestionKind::Hourly) => "pause the run; loop run continues it".to_owned(),
            (Choice::Abort, _) => "halt the run; loop resume --reset continues it".to_owned(),
            (Choice::Wait, _) => format!("wait until {until}, then continue"),
            (Choice::Continue, _) => format!("allow more calls until {until}"),
            (Choice::Approve, _) => "let the work pass".to_owned(),
            (Choice::Changes, QuestionKind::Gate(gate)) => {
                let target = self.workflow.gates.get(gate).and_then(|it| it.changes_to);
                format!("go back to {} with TEXT as guidance for the agent", self.name_or_here(target))
            }
            (Choice::Changes, _) => format!("go back to {phase} with TEXT as guidance for the agent"),
            (Choice::Reject, _) => "do not let the work pass; the run is blocked".to_owned(),
            (Choice::Resume, _) => "continue; you confirm that the cause is fixed".to_owned(),
            (Choice::Done, QuestionKind::Checkpoint(CheckpointKind::Merge)) => {
                "check whether it is merged, and prove the merged tree".to_owned()
            }
            (Choice::Done, _) => "continue; what you write after it is passed to the agent".to_owned(),
            (Choice::Command, QuestionKind::Check(check)) => format!("run this as the check \"{check}\""),
            (Choice::Command, QuestionKind::Prerequisite(skill)) => {
                format!("the skill {skill} works with this; other systems of the project take it over")
            }
            (Choice::Command, _) => "run this first in every clean checkout".to_owned(),
            (Choice::Waive, _) => "accept everything that was found; REASON is recorded".to_owned(),
            (Choice::Accept, _) => "accept the work as it is; REASON is recorded".to_owned(),
            (Choice::Back, _) => {
                format!("send it back to {}; the agent is told why", self.name(self.workflow.proof.go))
            }
            (Choice::Retry, QuestionKind::Agent) if self.is_about_other_model() => {
                "call the agent with the model that is set; you confirm that it may be the same one"
                    .to_owned()
            }
            (Choice::Retry, QuestionKind::Landing) => "try to merge it again".to_owned(),
            (Choice::Retry, _) => "call the agent again; you confirm that the cause is fixed".to_owned(),
            (Choice::Model, _) => {
                let asked = self.state.model_asked.as_deref().unwrap_or("its own model");
                match self.is_about_other_model() {
                    true => "call the agent with the model NAME".to_owned(),
                    false => format!("call the agent again, with the model NAME in place of {asked}"),
                }
            }
            (Choice::Expired | Choice::Other(_), _) => "continue".to_owned(),
        }
    }

    /// Whether a phase that has to ask another model would not.
    fn is_about_other_model(&self) -> bool {
        let phase = &self.workflow.phases[self.state.phase];
        let next = call(self.workflow, phase, self.state);
        lacks_other_model(self.workflow, phase, self.state, &next).is_some()
    }

    fn name(&self, phase: PhaseId) -> &str {
        &self.workflow.phases[phase].name
    }

    fn name_or_here(&self, phase: Option<PhaseId>) -> &str {
        self.name(phase.unwrap_or(self.state.phase))
    }

    fn item_word(&self) -> &'static str {
        match self.workflow.items.as_ref().map(|it| &it.from) {
            Some(ItemSource::Plans(_)) => "task",
            Some(_) | None => "item",
        }
    }

    fn next(&self) -> String {
        if let Some(phase) = straight_back(self.workflow, self.state) {
            return format!("continue with {}", self.name(phase));
        }
        match self.workflow.phases[self.state.phase].next {
            Next::Phase(phase) => format!("continue with {}", self.name(phase)),
            Next::Done => "finish".to_owned(),
        }
    }
}

/// Returns what there is to know at a question beyond its text, a line each: what was found, what the
/// agent said, the last errors, and when a limit ends.
pub fn grounds_of(workflow: &Workflow, state: &State, question: &Question) -> Vec<String> {
    let mut lines = Vec::new();
    match &question.kind {
        QuestionKind::Rejected
        | QuestionKind::Checkpoint(_)
        | QuestionKind::Blocked
        | QuestionKind::Breaker => {
            lines.extend(said(state));
            if question.kind == QuestionKind::Breaker {
                lines.extend(errors(state, question));
                lines.extend(to_change(workflow, state));
            }
        }
        QuestionKind::Hourly => {
            lines.extend(question.deadline.map(|it| format!("the next calls are allowed at {it}")));
        }
        QuestionKind::Gate(_) => {
            let files = state.seen.files.len();
            let is_told = question.text.contains("\nchanges: ");
            let changed =
                (0 < files && !is_told).then(|| format!("changed so far: {}", named(&state.seen.files)));
            lines.extend(changed);
            lines.extend(said(state));
            lines.extend(state.asked_at.as_ref().map(|it| format!("can also be answered on {it}")));
            lines.extend(
                state.look_trouble.as_ref().map(|it| format!("the pull request could not be read: {it}")),
            );
            lines.extend(warnings(state));
        }
        // Their text says everything.
        QuestionKind::Agent
        | QuestionKind::Landing
        | QuestionKind::Check(_)
        | QuestionKind::Proof
        | QuestionKind::Unproven
        | QuestionKind::Prerequisite(_)
        | QuestionKind::Prepare => (),
    }
    lines.extend(trouble(state, question, &lines));
    lines
}

/// Which command continues with another agent or another check, where trying again alone would fail again.
fn to_change(workflow: &Workflow, state: &State) -> Vec<String> {
    let is_program = workflow.agent.cli.row().is_some_and(AgentRow::is_any_program);
    let flag = if is_program { "--agent-cmd \"PROGRAM ARGS\"" } else { "--agent NAME" };
    let is_ours = state.agent_fails() && state.session.is_none();
    let mut lines: Vec<String> =
        is_ours.then(|| format!("another agent: loop run {flag} --reset")).into_iter().collect();
    let failing = state.feedback.iter().flat_map(|it| &it.failing).filter(|it| it.is_not_started());
    lines.extend(failing.map(|it| {
        let name = &it.name;
        format!("the check {name} cannot start; another command: loop run --check {name}=\"COMMAND\" --reset")
    }));
    lines
}

/// How the last call went wrong, where nothing else says so, and what it said last.
fn trouble(state: &State, question: &Question, told: &[String]) -> Vec<String> {
    let Some(trouble) = &state.last_trouble else { return Vec::new() };
    let is_told = |text: &str| question.text.contains(text) || told.iter().any(|it| it.contains(text));
    let mut lines = Vec::new();
    if !is_told(&trouble.why) {
        lines.push(format!("call {} went wrong: {}", trouble.call, trouble.why));
    }
    if let Some(complaint) =
        trouble.complaint.as_ref().filter(|it| !is_told(it) && !trouble.why.contains(*it))
    {
        lines.push(format!("its last line on standard error: {complaint}"));
    }
    lines
}

/// Returns the last warnings, and where the others are. Each attempt of an agent counts, also one that was
/// made twice.
fn warnings(state: &State) -> Vec<String> {
    let shown = state.warnings.iter().rev().take(SHOWN).rev();
    let mut lines: Vec<String> = shown.map(|it| format!("warning: {}", first_line(it))).collect();
    let hidden = state.warnings.len().saturating_sub(SHOWN);
    let is_all_shown = hidden == 0 && state.refusals as usize <= SHOWN;
    if !is_all_shown && 0 < state.refusals {
        let count = counted(state.refusals, "command");
        lines.push(format!("{count} refused inside agent calls; all of them: loop log"));
    } else if 0 < hidden {
        lines.push(format!("{} more; all of them: loop log", counted(hidden, "warning")));
    }
    lines
}

/// What the last report brought for a person.
fn said(state: &State) -> Vec<String> {
    let Some(feedback) = &state.feedback else { return Vec::new() };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(feedback.verdict.as_ref().map(|it| format!("verdict: {}", it.trim_matches('"'))));
    let listed = feedback.blockers.iter().take(SHOWN);
    lines.extend(listed.map(|it| format!("the agent reports: {}", first_line(it))));
    let more = feedback.blockers.len().saturating_sub(SHOWN);
    lines.extend((0 < more).then(|| format!("and {more} more")));
    lines.extend(feedback.summary.as_ref().map(|it| format!("summary: {}", first_line(it))));
    lines.extend(last_words(feedback).map(|it| format!("the agent's last words: {it}")));
    lines
}

/// The last line of a message without a report: it often says what the agent wanted to know.
fn last_words(feedback: &Feedback) -> Option<String> {
    let line = feedback.tail.lines().map(str::trim).rfind(|it| !it.is_empty())?;
    let has_report = feedback.summary.is_some() || feedback.rejected || feedback.contradicted;
    (!has_report && feedback.trouble.is_none()).then(|| match line.char_indices().nth(WORDS_SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    })
}

/// The last errors of the phase, the newest last, where the question does not name them.
fn errors(state: &State, question: &Question) -> Vec<String> {
    let before = state.baseline_results();
    let failing = state.feedback.iter().flat_map(|it| &it.failing);
    let told: Vec<String> = failing
        .map(|it| {
            let counts = before.iter().find(|was| was.name == it.name).and_then(|was| was.counts.as_ref());
            check_words(it, counts)
        })
        .collect();
    let here = state.troubles.errors.iter().filter(|it| it.phase == state.phase);
    let mut lines: Vec<String> = Vec::new();
    // The newest one is what the question is about, and what failed is named above with its counts. What an agent
    // reports of itself stands nowhere else.
    let is_of_check = |it: &&ErrorEntry| {
        let failing = state.feedback.iter().flat_map(|it| &it.failing);
        failing
            .into_iter()
            .any(|check| it.text.strip_prefix(&check.name).is_some_and(|it| it.starts_with(": ")))
    };
    let about = here.clone().next_back().filter(is_of_check).map(|it| &it.hash);
    let mut last = about;
    for error in here {
        let line = first_line(&error.text);
        let is_told = question.text.contains(line) || told.iter().any(|it| it.contains(line));
        if last == Some(&error.hash) || about == Some(&error.hash) || is_told || line.is_empty() {
            continue;
        }
        last = Some(&error.hash);
        lines.push(format!("error in iteration {}: {line}", error.iteration));
    }
    let dropped = lines.len().saturating_sub(SHOWN);
    lines.split_off(dropped)
}

fn named(files: &[String]) -> String {
    let shown = files.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or("")
}
