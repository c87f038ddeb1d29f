//! Questions at the terminal. Nothing here runs without one.

use super::screen::{Prompt, Screen, say};
use super::typing::{Keys, TypedKeys, Typing};
use crate::desk::{PersonReply, RequestQuestion};
use crate::world::wait::now;
use loop_base::text::sanitise;
use loop_core::engine::{Answer, Choice, Command, Offer, Question, choices};
use std::io::{BufRead, Write};
use std::time::Duration;

/// Puts a question of the desk; `None` at the end of input.
pub(crate) fn desk_question(question: &RequestQuestion) -> anyhow::Result<Option<PersonReply>> {
    question.lines.iter().for_each(|it| say(&sanitise(it)));
    let choices = question.about.choices();
    let words: Vec<&'static str> = choices.iter().map(|it| it.word()).collect();
    let usual = question.about.usual().map(PersonReply::word);
    let said = choose(&words, usual)?;
    Ok(said.and_then(|said| choices.iter().copied().find(|it| it.word() == said)))
}

pub(crate) fn confirm(text: &str) -> anyhow::Result<bool> {
    say(&sanitise(text));
    Ok(choose(&["yes", "no"], None)? == Some("yes"))
}

/// Asks until one of the words is said, or its first letter; Enter says the usual one, if there is one. `None`
/// at the end of input.
fn choose(words: &[&'static str], usual: Option<&'static str>) -> anyhow::Result<Option<&'static str>> {
    let enter = usual.map(|it| format!(" (Enter: {it})")).unwrap_or_default();
    loop {
        eprint!("{}?{enter} ", words.join(", "));
        std::io::stderr().flush()?;
        let Some(line) = line()? else { return Ok(None) };
        if line.is_empty() && usual.is_some() {
            return Ok(usual);
        }
        let said = line.to_ascii_lowercase();
        let said = words.iter().find(|it| **it == said || (said.len() == 1 && it.starts_with(&said)));
        match said {
            Some(word) => return Ok(Some(word)),
            None => say(&format!("\"{}\" is not one of the answers: {}", sanitise(&line), words.join(", "))),
        }
    }
}

fn line() -> anyhow::Result<Option<String>> {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(None);
    }
    Ok(Some(line.trim().to_owned()))
}

/// What a wait at a question ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// Something was typed.
    Typed,
    /// Somebody else has answered, or wants the run to end.
    Elsewhere,
    Nothing,
}

/// What came of a question.
pub(crate) enum AskResult {
    Answer(Command),
    /// What happened is found in the journal.
    Elsewhere,
    /// The person leaves it open.
    Nothing,
}

/// Waits for a key, for somebody else, or for so long.
pub(crate) type Listen<'a> = dyn FnMut(Duration) -> anyhow::Result<WaitEnd> + 'a;

/// Says whether an answer can be taken, and how it is meant.
pub(crate) type AnswerCheck<'a> = dyn Fn(Command) -> Result<Command, String> + 'a;

/// Asks below what is going on.
pub(crate) fn on_screen(
    screen: &Screen,
    question: &Question,
    offers: &[Offer],
    check: &AnswerCheck<'_>,
    listen: &mut Listen<'_>,
) -> anyhow::Result<AskResult> {
    let (offer, short) = offer(question, offers);
    let mut prompt = Prompt { offer, short, ..Prompt::default() };
    let mut typing = Typing::default();
    let keys = Keys::take()?;
    let said = loop {
        screen.prompt(Some(&prompt));
        // A terminal that is gone says so when it is read from.
        let _is_gone = keys.hold();
        match wait(question, listen)? {
            WaitEnd::Typed => (),
            WaitEnd::Elsewhere => break AskResult::Elsewhere,
            WaitEnd::Nothing => continue,
        }
        let bytes = keys.read()?;
        let typed = if bytes.is_empty() { TypedKeys::End } else { typing.keys(&bytes) };
        prompt.typed.clone_from(&typing.text);
        match typed {
            TypedKeys::More => (),
            TypedKeys::End => break AskResult::Nothing,
            TypedKeys::Line(line) => match meant(question, &line, check) {
                Ok(command) => break AskResult::Answer(command),
                Err(why) => prompt.note = Some(why),
            },
        }
    };
    screen.prompt(None);
    Ok(said)
}

/// The same for a terminal on which nothing can be drawn.
pub(crate) fn in_lines(
    question: &Question,
    offers: &[Offer],
    check: &AnswerCheck<'_>,
    listen: &mut Listen<'_>,
) -> anyhow::Result<AskResult> {
    let (offer, _) = offer(question, offers);
    loop {
        eprint!("{offer}? ");
        std::io::stderr().flush()?;
        loop {
            match wait(question, listen)? {
                WaitEnd::Typed => break,
                WaitEnd::Elsewhere => {
                    eprintln!();
                    return Ok(AskResult::Elsewhere);
                }
                WaitEnd::Nothing => (),
            }
        }
        let Some(line) = line()? else { return Ok(AskResult::Nothing) };
        match meant(question, &line, check) {
            Ok(command) => return Ok(AskResult::Answer(command)),
            Err(why) => eprintln!("{why}"),
        }
    }
}

/// A question whose time has come is decided without us.
fn wait(question: &Question, listen: &mut Listen<'_>) -> anyhow::Result<WaitEnd> {
    let left = question.ends_at().map_or(u64::MAX, |it| it.since(now()));
    if left == 0 {
        return Ok(WaitEnd::Elsewhere);
    }
    listen(Duration::from_millis(left))
}

fn meant(question: &Question, line: &str, check: &AnswerCheck<'_>) -> Result<Command, String> {
    let line = line.trim();
    let (choice, text) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if choice.is_empty() {
        return Err(format!("one of: {}", choices(question).join(", ")));
    }
    let answer = Answer {
        question: question.id,
        choice: choice.to_owned().into(),
        text: text.trim().to_owned(),
        by: std::env::var("USER").unwrap_or_default(),
        signature: None,
    };
    check(Command::Answer(answer)).map_err(|why| sanitise(&why))
}

/// Returns what can be said to a question, in words and in letters.
fn offer(question: &Question, offers: &[Offer]) -> (String, String) {
    let whole = offers.iter().map(Offer::typed).collect::<Vec<_>>().join(", ");
    if !question.options.is_empty() {
        return (whole.clone(), whole);
    }
    // What stands for a command or a target is typed without a word before it.
    let letter = |it: &Offer| match it.choice.as_str() {
        word if word == Choice::Command.word() => it.typed(),
        word => Offer { choice: word[..1].to_owned(), ..it.clone() }.typed(),
    };
    (whole, offers.iter().map(letter).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::{meant, offer};
    use loop_core::engine::{
        CheckpointKind, Command, Question, QuestionKind, State, Station, acceptable, offers,
    };
    use loop_core::workflow::model::Workflow;
    use loop_core::workflow::resolve::{Layers, resolve};

    fn question(kind: &QuestionKind, options: &[&str]) -> Question {
        let options = options.iter().map(|it| (*it).to_owned()).collect();
        Question { id: 7, kind: kind.clone(), text: "what?".to_owned(), options, about: None, deadline: None }
    }

    #[test]
    fn what_a_question_lists_stands_in_place_of_its_words() {
        let kind = QuestionKind::Checkpoint(CheckpointKind::Decision);
        assert_eq!(offered(&question(&kind, &["sqlite", "server"])).0, "sqlite, server");
    }

    fn ralph() -> Workflow {
        let layers = Layers { preset: Some("ralph".to_owned()), ..Layers::default() };
        resolve(&layers, &|path| Err(path.display().to_string())).expect("the preset")
    }

    fn offered(question: &Question) -> (String, String) {
        let workflow = ralph();
        offer(question, &offers(&workflow, &State::new(&workflow), question))
    }

    /// Asks a question of this kind and returns how a line is meant.
    fn answered(kind: &QuestionKind, line: &str) -> Result<String, String> {
        let (workflow, question) = (ralph(), question(kind, &[]));
        let mut state = State::new(&workflow);
        state.station = Station::Waiting { question: question.clone(), answer: None };
        match meant(&question, line, &|command| acceptable(&workflow, &state, command))? {
            Command::Answer(answer) => Ok(format!("{} {}", answer.choice, answer.text).trim().to_owned()),
            other => panic!("{other:?} is no answer"),
        }
    }

    #[test]
    fn every_kind_of_question_takes_its_words() {
        let kinds = [
            (
                QuestionKind::Breaker,
                "reset, skip, abort, modify TEXT",
                "m use  the lever",
                "modify use  the lever",
            ),
            (QuestionKind::Rejected, "fix TEXT, skip, abort", "Fix it", "fix it"),
            (QuestionKind::Hourly, "wait, continue, abort", "c", "continue"),
            (QuestionKind::Gate("look".to_owned()), "approve, changes TEXT, reject", "APPROVE", "approve"),
            (QuestionKind::Blocked, "resume", " r ", "resume"),
            (QuestionKind::Agent, "retry, model NAME, abort", "model  gpt-5", "model gpt-5"),
            (
                QuestionKind::Checkpoint("action".to_owned().into()),
                "done",
                "done with care",
                "done with care",
            ),
            (QuestionKind::Proof, "waive REASON, back, abort", "b", "back"),
            (QuestionKind::Check("tests".to_owned()), "COMMAND", "npm test -- -q", "command npm test -- -q"),
        ];
        for (kind, words, line, answer) in kinds {
            assert_eq!(offered(&question(&kind, &[])).0, words);
            assert_eq!(answered(&kind, line), Ok(answer.to_owned()));
            assert!(answered(&kind, "  ").is_err(), "{kind:?}");
        }
        let unanswered = answered(&QuestionKind::Breaker, "perhaps").expect_err("no word");
        assert!(unanswered.contains("reset, skip, abort, modify"), "{unanswered}");
        assert!(answered(&QuestionKind::Breaker, "modify").expect_err("no text").contains("needs a text"));
    }
}
