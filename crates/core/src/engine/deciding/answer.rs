//! What people say to a run: commands, and answers to its questions. A command is validated
//! against the state that it meets, because it may have been written before something changed.

use crate::engine::journal::hold::Outcome;
use crate::engine::journal::people::command::{Answer, Choice, Command, choices};
use crate::engine::journal::people::question::{Question, QuestionKind};
use crate::engine::judging::judge::{DONE, ISSUES};
use crate::engine::state::parts::station::Station;
use crate::engine::state::run_state::State;
use crate::proof::{Finding, Level};
use crate::workflow::model::{Phase, Workflow};
use crate::workflow::problem::nearest;

/// What a skill may need.
const TARGET: &str = "a target";

/// Names that are listed where none of them was typed.
const WAIVABLE_SHOWN: usize = 12;

/// Returns the command as it can be taken by a run in this state, or why it cannot.
pub fn acceptable(workflow: &Workflow, state: &State, command: Command) -> Result<Command, String> {
    if let (Station::Closed(Outcome::Completed), Command::Answer(answer)) = (&state.station, &command)
        && answer.choice == Choice::Accept
    {
        return acceptable_afterwards(state, answer).map(|()| command);
    }
    if let (Station::Closed(Outcome::Completed), Command::Waive { what, reason, .. }) =
        (&state.station, &command)
        && !reason.trim().is_empty()
        && state.requirements.iter().any(|it| it.by.is_none() && it.id.eq_ignore_ascii_case(what))
    {
        return Ok(command);
    }
    if let Station::Closed(outcome) = &state.station {
        let word = match outcome {
            Outcome::Completed => "completed",
            Outcome::Cancelled => "cancelled",
        };
        return Err(match command {
            Command::Guide { .. } => format!("the run is {word}: there is no next prompt for this guidance"),
            Command::Answer(_)
            | Command::Waive { .. }
            | Command::Skip { .. }
            | Command::Stop
            | Command::Unhold
            | Command::Pause { .. }
            | Command::Cancel
            | Command::Tried { .. }
            | Command::Resume { .. } => format!("the run is {word}; nothing can be changed"),
        });
    }
    match command {
        Command::Answer(answer) => {
            let answer = acceptable_answer(state, answer)?;
            match unskippable(workflow, state, &answer) {
                Some(why) => Err(why),
                None => Ok(Command::Answer(answer)),
            }
        }
        Command::Guide { ref text } if text.trim().is_empty() => Err("the guidance is empty".to_owned()),
        Command::Skip { ref reason, .. } if reason.trim().is_empty() => {
            Err("a skill is skipped only with a reason".to_owned())
        }
        Command::Skip { ref skill, .. } if !workflow.phases.iter().any(|it| it.skills.contains(skill)) => {
            let known = workflow.phases.iter().flat_map(|it| &it.skills).map(String::as_str);
            let meant = nearest(skill, known).map(|it| format!("; did you mean \"{it}\"?"));
            Err(format!("no phase has a skill \"{skill}\"{}", meant.unwrap_or_default()))
        }
        Command::Skip { ref skill, .. } if decides(workflow, skill).is_some() => {
            let phase = decides(workflow, skill).map_or("a phase", |it| &it.name);
            Err(format!(
                "{skill} cannot be skipped: {phase} cannot be left without a verdict, which only {skill} brings"
            ))
        }
        Command::Resume { phase: Some(phase), .. } if state.phase < phase => {
            let name = workflow.phases.get(phase).map(|it| it.name.as_str());
            Err(name.map_or_else(
                || format!("there is no phase {}", phase.saturating_add(1)),
                |it| format!("{it} has not been reached"),
            ))
        }
        Command::Waive { ref reason, .. } if reason.trim().is_empty() => {
            Err("a finding is waived only with a reason".to_owned())
        }
        Command::Waive { ref what, .. } if has_findings(state) && !names_waivable(state, what) => {
            Err(unknown_to_waive(state, what))
        }
        Command::Guide { .. }
        | Command::Waive { .. }
        | Command::Skip { .. }
        | Command::Stop
        | Command::Unhold
        | Command::Pause { .. }
        | Command::Cancel
        | Command::Tried { .. }
        | Command::Resume { .. } => Ok(command),
    }
}

/// Returns the phase that is left or sent back by what only this skill says.
fn decides<'a>(workflow: &'a Workflow, skill: &str) -> Option<&'a Phase> {
    let reports = |name: &String| workflow.skills.get(name).map_or(&[][..], |it| it.reports.as_slice());
    workflow.phases.iter().filter(|it| it.skills.iter().any(|it| it == skill)).find(|phase| {
        let others = || phase.skills.iter().filter(|it| *it != skill);
        let mut asked = phase.reject.iter().flat_map(|it| it.when.names()).map(|it| it.0);
        let own = |fact: &str| {
            reports(&skill.to_owned()).iter().any(|it| it == fact)
                && !others().any(|it| reports(it).iter().any(|it| it == fact))
        };
        asked.any(own)
    })
}

/// While a run is under way and has no findings, a waiver may be for those that come before it is taken.
fn has_findings(state: &State) -> bool {
    !findings(state).is_empty()
}

fn findings(state: &State) -> &[Finding] {
    state.proof().map(|it| it.findings.as_slice()).unwrap_or_default()
}

/// Whether this names a finding or a requirement that the run has now.
pub fn names_waivable(state: &State, what: &str) -> bool {
    state.requirements.iter().any(|it| it.id.eq_ignore_ascii_case(what))
        || findings(state).iter().any(|it| it.is_named_by(what))
}

/// Says that nothing has this name, and what can be waived.
pub fn unknown_to_waive(state: &State, what: &str) -> String {
    let found = findings(state)
        .iter()
        .filter_map(|it| [&it.test, &it.file, &it.check].into_iter().find_map(|it| it.as_deref()));
    let rows = state.requirements.iter().filter(|it| it.by.is_none()).map(|it| it.id.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in found.chain(rows) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = match names.len().saturating_sub(WAIVABLE_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(WAIVABLE_SHOWN);
    let can = match names.is_empty() {
        true => "the run has no open finding and no open requirement".to_owned(),
        false => format!("these can be waived: {}{more}", names.join(", ")),
    };
    format!("nothing here is called \"{what}\"; {can}")
}

/// A person can take a completed run as it is where nothing measures its task.
fn acceptable_afterwards(state: &State, answer: &Answer) -> Result<(), String> {
    if answer.text.trim().is_empty() {
        return Err("\"accept\" needs a reason: loop answer accept REASON".to_owned());
    }
    let proof = state.proof().filter(|_| !state.unproven && !state.untested);
    match proof {
        Some(proof) if proof.level == Level::UnchangedGreen && !proof.weakened => Ok(()),
        Some(proof) => Err(format!(
            "only a run with the proof unchanged-green can be accepted afterwards; this one is {}",
            proof.level.word()
        )),
        None => Err("this run has no proof that a person could accept".to_owned()),
    }
}

fn acceptable_answer(state: &State, answer: Answer) -> Result<Answer, String> {
    let Some(question) = state.question() else {
        return Err("no question is open".to_owned());
    };
    if answer.question != 0 && answer.question != question.id {
        return Err(format!("question {} is not open; {} is", answer.question, question.id));
    }
    match &question.kind {
        QuestionKind::Check(check) => {
            return command(&format!("the check \"{check}\""), "a command", question.id, answer);
        }
        QuestionKind::Prerequisite(skill)
            if !answer.choice.word().trim().eq_ignore_ascii_case(Choice::Skip.word()) =>
        {
            return command(&format!("the skill {skill}"), TARGET, question.id, answer);
        }
        QuestionKind::Prepare if !answer.choice.word().trim().eq_ignore_ascii_case(Choice::Skip.word()) => {
            return command("a clean checkout", "a command", question.id, answer);
        }
        QuestionKind::Prepare
        | QuestionKind::Prerequisite(_)
        | QuestionKind::Breaker
        | QuestionKind::Rejected
        | QuestionKind::Hourly
        | QuestionKind::Gate(_)
        | QuestionKind::Blocked
        | QuestionKind::Checkpoint(_)
        | QuestionKind::Proof
        | QuestionKind::Unproven
        | QuestionKind::Agent
        | QuestionKind::Landing => (),
    }
    let words = choices(question);
    let said = answer.choice.word().trim().to_lowercase();
    let by_plan = || resume_word(state, question).filter(|it| *it == said).map(|_| DONE);
    let Some(choice) = chosen(&words, &said).or_else(by_plan) else {
        let meant = nearest(&said, words.iter().copied());
        let meant = meant.map(|it| format!("did you mean \"{it}\"? ")).unwrap_or_default();
        return Err(format!(
            "\"{}\" is not an answer to this question; {meant}one of: {}",
            answer.choice,
            words.join(", ")
        ));
    };
    let choice = Choice::from(choice.to_owned());
    if matches!(choice, Choice::Waive | Choice::Accept) && answer.text.trim().is_empty() {
        return Err(format!("\"{choice}\" needs a reason: loop answer {choice} REASON"));
    }
    if choice == Choice::Model && answer.text.trim().is_empty() {
        return Err("\"model\" needs the name of one: loop answer model NAME".to_owned());
    }
    if choice.word() == ISSUES && answer.text.trim().is_empty() {
        return Err(format!("\"{ISSUES}\" needs a text that says what you found: loop answer {ISSUES} TEXT"));
    }
    let needs_text = matches!(choice, Choice::Modify | Choice::Changes);
    if needs_text && answer.text.trim().is_empty() {
        return Err(format!("\"{choice}\" needs a text that says what to change: loop answer {choice} TEXT"));
    }
    Ok(Answer { question: question.id, choice, ..answer })
}

/// Says why a phase that asks for every requirement cannot be skipped: somebody has to answer for each of them.
fn unskippable(workflow: &Workflow, state: &State, answer: &Answer) -> Option<String> {
    let kind = state.question().map(|it| &it.kind);
    let is_of_phase = matches!(kind, Some(QuestionKind::Breaker | QuestionKind::Rejected));
    let skips = is_of_phase && answer.choice == Choice::Skip;
    let open = state.requirements_to_waive(workflow);
    let first = open.first().filter(|_| skips)?;
    Some(format!(
        "{} cannot be skipped while nothing shows that {} {} met; waive each of them first: loop waive {first} --reason TEXT",
        workflow.phases[state.phase].name,
        open.join(", "),
        if open.len() == 1 { "is" } else { "are" },
    ))
}

/// Returns the word that the list asks for where a checkpoint holds, if `done` is one of the answers.
pub(crate) fn resume_word<'a>(state: &'a State, question: &Question) -> Option<&'a str> {
    let words = choices(question);
    let holds = matches!(question.kind, QuestionKind::Checkpoint(_)) && words.contains(&DONE);
    let item = state.item.as_ref().filter(|it| holds && it.checkpoint().is_some())?;
    item.resume.as_deref().filter(|it| !words.contains(it))
}

fn chosen<'a>(words: &[&'a str], said: &str) -> Option<&'a str> {
    let mut by_letter = words.iter().filter(|it| said.chars().count() == 1 && it.starts_with(said));
    let one = by_letter.next().filter(|_| by_letter.next().is_none());
    words.iter().find(|it| **it == said).or(one).copied()
}

/// Whatever is said is the command, with or without the word before it.
fn command(what: &str, wanted: &str, question: u32, answer: Answer) -> Result<Answer, String> {
    let said = answer.choice.word().trim();
    let words = if said.eq_ignore_ascii_case(Choice::Command.word()) { "" } else { said };
    let text = [words, answer.text.trim()].join(" ").trim().to_owned();
    if text.is_empty() {
        let word = if wanted == TARGET { "TARGET" } else { "COMMAND" };
        let skip = if wanted == TARGET { ", or do without it: loop answer skip" } else { "" };
        return Err(format!("{what} needs {wanted}: loop answer \"{word}\"{skip}"));
    }
    Ok(Answer { question, choice: Choice::Command, text, ..answer })
}
