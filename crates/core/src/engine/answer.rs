//! What people say to a run: commands, and answers to its questions. A command is validated
//! against the state that it meets, because it may have been written before something changed.

use super::event::Outcome;
use super::question::{Question, QuestionKind};
use super::state::{State, Station};
use crate::workflow::model::{PhaseId, Workflow};
use crate::workflow::problem::nearest;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    Answer(Answer),
    Guide {
        text: String,
    },
    Skip {
        skill: String,
        reason: String,
    },
    /// After this iteration.
    Stop,
    /// The provider is asked again at once.
    Unhold,
    /// At once; the call is ended.
    Pause {
        reason: String,
    },
    Cancel,
    Resume {
        reset: bool,
        phase: Option<PhaseId>,
        most: Option<u32>,
    },
}

impl Command {
    /// Whether a call that is under way ends because of it.
    pub fn is_urgent(&self) -> bool {
        match self {
            Command::Pause { .. } | Command::Cancel => true,
            Command::Answer(_)
            | Command::Guide { .. }
            | Command::Skip { .. }
            | Command::Stop
            | Command::Unhold
            | Command::Resume { .. } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub question: u32,
    /// One of the question's words.
    pub choice: String,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub by: String,
}

impl Answer {
    /// What stands for the answer of a question whose time ran out.
    pub(super) fn expired() -> Answer {
        Answer { question: 0, choice: "expired".to_owned(), text: String::new(), by: String::new() }
    }
}

/// Returns the words that answer a question; the first letter of each will do where no other has it.
pub fn choices(question: &Question) -> Vec<&str> {
    if !question.options.is_empty() {
        return question.options.iter().map(String::as_str).collect();
    }
    words(&question.kind).to_vec()
}

fn words(kind: &QuestionKind) -> &'static [&'static str] {
    match kind {
        QuestionKind::Breaker => &["reset", "skip", "abort", "modify"],
        QuestionKind::Rejected => &["fix", "skip", "abort"],
        QuestionKind::Hourly => &["wait", "continue", "abort"],
        QuestionKind::Gate(_) => &["approve", "changes", "reject"],
        QuestionKind::Blocked => &["resume"],
        QuestionKind::Checkpoint(_) => &["done"],
        QuestionKind::Check(_) => &["command"],
    }
}

/// Returns the command as it can be taken by a run in this state, or why it cannot.
pub fn acceptable(workflow: &Workflow, state: &State, command: Command) -> Result<Command, String> {
    if let Station::Closed(outcome) = &state.station {
        let word = match outcome {
            Outcome::Completed => "completed",
            Outcome::Cancelled => "cancelled",
        };
        return Err(format!("the run is {word}; nothing can be changed"));
    }
    match command {
        Command::Answer(answer) => acceptable_answer(state, answer).map(Command::Answer),
        Command::Guide { ref text } if text.trim().is_empty() => Err("the guidance is empty".to_owned()),
        Command::Skip { ref reason, .. } if reason.trim().is_empty() => {
            Err("a skill is skipped only with a reason".to_owned())
        }
        Command::Skip { ref skill, .. } if !workflow.phases.iter().any(|it| it.skills.contains(skill)) => {
            let known = workflow.phases.iter().flat_map(|it| &it.skills).map(String::as_str);
            let meant = nearest(skill, known).map(|it| format!("; did you mean \"{it}\"?"));
            Err(format!("no phase has a skill \"{skill}\"{}", meant.unwrap_or_default()))
        }
        Command::Resume { phase: Some(phase), .. } if state.phase < phase => {
            Err(format!("{} has not been reached", workflow.phases[phase].name))
        }
        Command::Guide { .. }
        | Command::Skip { .. }
        | Command::Stop
        | Command::Unhold
        | Command::Pause { .. }
        | Command::Cancel
        | Command::Resume { .. } => Ok(command),
    }
}

fn acceptable_answer(state: &State, answer: Answer) -> Result<Answer, String> {
    let Some(question) = state.question() else {
        return Err("no question is open".to_owned());
    };
    if answer.question != 0 && answer.question != question.id {
        return Err(format!("question {} is not open; {} is", answer.question, question.id));
    }
    if let QuestionKind::Check(check) = &question.kind {
        return command(check, question.id, answer);
    }
    let words = choices(question);
    let said = answer.choice.trim().to_lowercase();
    let Some(choice) = chosen(&words, &said) else {
        let meant = nearest(&said, words.iter().copied());
        let meant = meant.map(|it| format!("did you mean \"{it}\"? ")).unwrap_or_default();
        return Err(format!(
            "\"{}\" is no answer to this question; {meant}one of: {}",
            answer.choice,
            words.join(", ")
        ));
    };
    let needs_text = matches!(choice, "modify" | "changes");
    if needs_text && answer.text.trim().is_empty() {
        return Err(format!("\"{choice}\" needs a text that says what to change"));
    }
    Ok(Answer { question: question.id, choice: choice.to_owned(), ..answer })
}

fn chosen<'a>(words: &[&'a str], said: &str) -> Option<&'a str> {
    let mut by_letter = words.iter().filter(|it| said.chars().count() == 1 && it.starts_with(said));
    let one = by_letter.next().filter(|_| by_letter.next().is_none());
    words.iter().find(|it| **it == said).or(one).copied()
}

/// Whatever is said is the command, with or without the word before it.
fn command(check: &str, question: u32, answer: Answer) -> Result<Answer, String> {
    let said = answer.choice.trim();
    let words = if said.eq_ignore_ascii_case("command") { "" } else { said };
    let text = [words, answer.text.trim()].join(" ").trim().to_owned();
    if text.is_empty() {
        return Err(format!("the check \"{check}\" needs a command"));
    }
    Ok(Answer { question, choice: "command".to_owned(), text, ..answer })
}
