//! The words of a story that say what one call does: how it ends, what it reports, and what is
//! measured after it.

use super::words::{fraction, millis, number};
use super::{BEGIN, Play};
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{Cost, Ending, TokenClasses};
use loop_core::facts::FactName;
use loop_core::report::{CHECKPOINT_METRIC, Report, Trouble};
use loop_core::workflow::model::{ErrorClass, Signal, SignalWord, Workflow};

/// Reads the words after a phase's name.
pub(super) fn parse_play(workflow: &Workflow, phase: usize, act: &[&str]) -> Result<Play, String> {
    let mut play = Play::default();
    let mut rest = parse_end(&mut play, &workflow.phases[phase].signal, act)?;
    let mut facts = false;
    while let [word, others @ ..] = rest {
        if *word == "with" {
            (facts, rest) = (true, others);
        } else {
            rest = parse_detail(&mut play, facts, workflow, rest)?;
        }
    }
    Ok(play)
}

/// Reads how the call ends or what it says, and returns the words that follow.
fn parse_end<'a>(play: &mut Play, signal: &Signal, act: &'a [&'a str]) -> Result<&'a [&'a str], String> {
    let rest = match act {
        ["says", word, rest @ ..] => {
            play.report.found = true;
            say(play, signal, word);
            rest
        }
        ["is", "silent", rest @ ..] => rest,
        ["fails", why, rest @ ..] => {
            play.ending = Ending::Failed { why: (*why).to_owned() };
            rest
        }
        ["hangs", rest @ ..] => {
            play.ending = Ending::TimedOut { why: "no output for 10m 00s".to_owned() };
            rest
        }
        ["asks", rest @ ..] => {
            let why =
                "it waits for input, and no terminal is connected: its last words are \"Proceed? [y/N]\"";
            play.ending = Ending::WaitedForInput { why: why.to_owned() };
            rest
        }
        ["is", "limited", time] => {
            let until = Some(Timestamp(BEGIN + i64::try_from(millis(time)?).unwrap_or(i64::MAX)));
            play.ending = Ending::Limited { why: "overloaded".to_owned(), until };
            &[]
        }
        ["is", "limited"] => {
            play.ending = Ending::Limited { why: "overloaded".to_owned(), until: None };
            &[]
        }
        ["is", "refused", why] => {
            play.ending = Ending::Refused { why: (*why).to_owned() };
            &[]
        }
        ["is", "unreachable"] => {
            play.ending = Ending::Unreachable { why: "connection refused".to_owned() };
            &[]
        }
        ["is", "lost", rest @ ..] => {
            play.ending = Ending::Lost { why: "the shim is gone".to_owned() };
            rest
        }
        ["is", "stuck", reason, rest @ ..] => {
            play.report.found = true;
            play.report.stuck = Some((*reason).to_owned());
            rest
        }
        ["is", "at", kind, rest @ ..] => {
            play.report.found = true;
            play.report.metrics.insert(CHECKPOINT_METRIC.to_owned(), Value::from(*kind));
            rest
        }
        ["is", "interrupted", rest @ ..] => {
            play.ending = Ending::Interrupted;
            rest
        }
        other => return Err(format!("an agent cannot do this: {}", other.join(" "))),
    };
    Ok(rest)
}

/// Reads what else is known of the call, and returns the words that follow. Behind `with` values are
/// facts that were measured, before it they are claims of the report.
fn parse_detail<'a>(
    play: &mut Play,
    facts: bool,
    workflow: &Workflow,
    words: &'a [&'a str],
) -> Result<&'a [&'a str], String> {
    let rest = match words {
        [] => words,
        [check, "fails", why, rest @ ..] if workflow.checks.contains_key(*check) => {
            play.failing.insert((*check).to_owned(), (*why).to_owned());
            rest
        }
        ["tests", tests, rest @ ..] => {
            play.tests = Some(fraction(tests)?);
            rest
        }
        ["unreported", rest @ ..] => {
            play.unreported = true;
            rest
        }
        ["misses", file, rest @ ..] => {
            play.missing.push((*file).to_owned());
            rest
        }
        ["loses", item, rest @ ..] => {
            play.lost.push((*item).to_owned());
            rest
        }
        ["takes", length, rest @ ..] => {
            play.ms = millis(length)?;
            rest
        }
        ["costs", usd, rest @ ..] => {
            play.usage.cost = cost(usd)?;
            rest
        }
        ["tokens", count, rest @ ..] => {
            play.usage.tokens = TokenClasses { input: number(count)?, ..TokenClasses::default() };
            rest
        }
        ["commit", hash, rest @ ..] => {
            play.commit = (*hash).to_owned();
            rest
        }
        [pair, rest @ ..] => match parse_reported(&mut play.report, words)? {
            Some(rest) => rest,
            None => {
                let (name, value) = parse_value(pair)?;
                let into = if facts { &mut play.facts } else { &mut play.report.metrics };
                into.insert(name, value);
                rest
            }
        },
    };
    Ok(rest)
}

/// Reads what the agent reports besides its signal and its metrics, if the words are about that.
fn parse_reported<'a>(report: &mut Report, words: &'a [&'a str]) -> Result<Option<&'a [&'a str]>, String> {
    let rest = match words {
        ["error", text, rest @ ..] => {
            report.error = Some(Trouble { class: ErrorClass::Other, text: (*text).to_owned() });
            rest
        }
        ["class", class, rest @ ..] => {
            let error = report.error.as_mut().ok_or("a class needs an error before it")?;
            error.class = ErrorClass::from((*class).to_owned());
            rest
        }
        ["gate", gate, rest @ ..] => {
            report.gates.push((*gate).to_owned());
            rest
        }
        ["failed", rest @ ..] => {
            report.failed = true;
            rest
        }
        ["blocker", text, rest @ ..] => {
            report.blockers.push((*text).to_owned());
            rest
        }
        ["proposes", name, rest @ ..] => {
            report.items.push((*name).to_owned());
            rest
        }
        ["broken", rest @ ..] => {
            report.counts_broken = true;
            rest
        }
        ["summary", text, rest @ ..] => {
            report.summary = Some((*text).to_owned());
            rest
        }
        _ => return Ok(None),
    };
    Ok(Some(rest))
}

fn parse_value(pair: &str) -> Result<(String, Value), String> {
    let (name, value) = pair.split_once('=').ok_or_else(|| format!("\"{pair}\" is not understood"))?;
    // A short hash may consist of digits and is no number.
    let value = if name == "commit" { Value::from(value) } else { Value::read(value) };
    Ok((name.to_owned(), value))
}

/// `done` gives the signal of the phase's protocol, `nothing` gives none; a word in capitals is a
/// signal where the phase knows it, else a verdict that comes with the signal.
fn say(play: &mut Play, signal: &Signal, word: &str) {
    let own = match signal {
        Signal::Words(words) => words.first().cloned(),
        Signal::Own | Signal::None => Some(SignalWord::Done),
    };
    let known = matches!(signal, Signal::Words(words) if words.iter().any(|it| it.word() == word));
    match word {
        "done" => play.report.signal = own,
        "nothing" => (),
        _ if known => play.report.signal = Some(word.to_owned().into()),
        _ => {
            play.report.signal = own;
            play.report.metrics.insert(FactName::Verdict.name().to_owned(), Value::from(word));
        }
    }
}

/// Reads what a call cost, as its agent says.
fn cost(usd: &str) -> Result<Cost, String> {
    usd.parse().map(Cost::Reported).map_err(|_| format!("\"{usd}\" is no amount"))
}
