//! One plain line for each fact, for people: what `run` prints without a terminal and `log` shows.
//! Bookkeeping that nobody asks about has no line.

use crate::engine::{
    CheckOutcome, CheckResult, Command, Effect, Ended, Ending, Event, How, Judgement, ListChange, Listing,
    Outcome, Step, StepTaken, Tests, Verdict,
};
use crate::proof::{Step as ProofStep, closing_sentence};
use crate::workflow::model::Workflow;
use loop_base::text::counted;
use loop_base::time::length;

/// Returns the line of a fact, if it has one. The text is ours and the agent's: sanitise before
/// showing it on a terminal.
pub fn line(workflow: &Workflow, event: &Event) -> Option<String> {
    let phase = |id: &usize| workflow.phases[*id].name.as_str();
    match event {
        Event::Opened(opening) => Some(format!("opened {}: {}", workflow.name, first_line(&opening.input))),
        Event::Owned { .. } | Event::Repeated | Event::Told { trouble: None } => None,
        Event::Joined(session) if session.id.is_empty() => {
            Some("the next session that stops here has the work".to_owned())
        }
        // Every stop is recorded; that it is still the same session is no news.
        Event::Joined(session) if 1 < session.stops => None,
        Event::Joined(session) => Some(format!("session {} has the work", session.id)),
        Event::Began(effect) => began(workflow, effect),
        Event::Placed { place, branch } => Some(format!(
            "working in {place}{}",
            branch.as_ref().map(|it| format!(" on {it}")).unwrap_or_default()
        )),
        Event::Baselined(baseline) => Some(format!("before the first call: {}", results(&baseline.results))),
        Event::Listed(listing) => Some(listed(listing)),
        Event::Ended(ended) => Some(ended_line(ended)),
        Event::Contained { left } if left.is_empty() => {
            Some("everything the call started has ended".to_owned())
        }
        Event::Contained { left } => Some(format!("{} could not be ended", counted(left.len(), "process"))),
        Event::Measured(evidence) => Some(format!("measured: {}", results(&told(&evidence.results)))),
        Event::Judged(judgement) => Some(judged(judgement)),
        Event::StepTaken(taken) => Some(step_line(taken)),
        Event::Proved(proof) => {
            Some(format!("{}; the proof took {:.1} s", closing_sentence(proof), proof.cost_s))
        }
        Event::Waived(waiver) => Some(format!(
            "findings waived{}: {}",
            by_whom(waiver.by.as_deref().unwrap_or_default()),
            waiver.reason
        )),
        Event::Accepted { reason, by, .. } => Some(format!("accepted as it is{}: {reason}", by_whom(by))),
        Event::Prepared { command: Some(command) } => {
            Some(format!("a clean checkout is prepared with: {command}"))
        }
        Event::Prepared { command: None } => Some("no proof is taken: a person said so".to_owned()),
        Event::Entered { phase: id, how } => Some(entered(phase(id), how)),
        Event::Skipped { why } => Some(format!("phase skipped by a person: {why}")),
        Event::Settled { text, .. } => Some(text.clone()),
        Event::Supplied { check, command } => Some(format!("the check {check} runs: {command}")),
        Event::ItemDone { id, also } if also.is_empty() => Some(format!("item {id} is done")),
        Event::ItemDone { id, also } => Some(format!("item {id} is done, and with it {}", also.join(", "))),
        Event::LeftToPerson { items } => {
            Some(format!("Auto-decided: completed with notes — open for a person: {}", items.join("; ")))
        }
        Event::Waits { until, why, .. } => Some(format!("waiting until {until}: {why}")),
        Event::Woke => Some("the wait is over".to_owned()),
        Event::Told { trouble: Some(trouble) } => Some(format!("nobody could be told: {trouble}")),
        Event::Expired { question } => Some(format!("question {question} is closed without an answer")),
        Event::Reset { guidance: None } => Some("breaker closed, counters at 0".to_owned()),
        Event::Reset { guidance: Some(text) } => Some(format!("breaker closed, guidance: {text}")),
        Event::Pivoted => Some("no progress; one fresh call with everything that was tried".to_owned()),
        Event::Approved { gate, by, about, signer } => {
            let signer = signer.as_ref().map(|it| format!(", signed by {}", it.principal));
            let about = about.as_ref().map(|it| format!(": {}", it.line()));
            let (signer, about) = (signer.unwrap_or_default(), about.unwrap_or_default());
            Some(format!("gate {gate} approved{}{signer}{about}", by_whom(by)))
        }
        Event::Voided { gate, why, void: _ } => Some(format!("the approval of gate {gate} is void: {why}")),
        Event::Counted { made, .. } => {
            Some(format!("{} of this project in the window", counted(*made, "call")))
        }
        Event::Granted { until } => Some(format!("more calls allowed until {until}")),
        Event::Retried => Some("trying again".to_owned()),
        Event::Held(hold) => Some(hold.reason.clone()),
        Event::Commanded(command) => commanded(command),
        Event::Reloaded { keys } => Some(format!("changed by a person: {}", keys.join(", "))),
        Event::Refused { command: _, why } => Some(format!("refused: {why}")),
        Event::Finished { trouble: None, shipped: None, .. } => None,
        Event::Finished { trouble: None, shipped: Some(shipped), .. } => Some(format!("shipped: {shipped}")),
        Event::Finished { trouble: Some(trouble), shipped: Some(shipped), .. } => {
            Some(format!("shipped: {shipped} ({trouble})"))
        }
        Event::Finished { trouble: Some(trouble), shipped: None, .. } => {
            Some(format!("at the end: {trouble}"))
        }
        Event::Noted { text } => Some(text.clone()),
        Event::Closed(Outcome::Completed) => Some("completed".to_owned()),
        Event::Closed(Outcome::Cancelled) => Some("cancelled".to_owned()),
    }
}

/// Says how much is left to do, and what changed in the list.
fn listed(listing: &Listing) -> String {
    let ListChange { removed, changed, added, next: _, left } = match listing {
        Listing::Whole(items) => return format!("{} listed", counted(items.len(), "item")),
        Listing::Change(change) => change.as_ref(),
    };
    let added: usize = added.iter().map(|it| it.items.len()).sum();
    let counts = [(added, "added"), (removed.len(), "removed"), (changed.len(), "changed")];
    let changes: Vec<String> =
        counts.iter().filter(|it| it.0 != 0).map(|(count, what)| format!("{count} {what}")).collect();
    let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join(", ")) };
    format!("{} left{changes}", counted(*left, "item"))
}

fn began(workflow: &Workflow, effect: &Effect) -> Option<String> {
    match effect {
        Effect::Work(call) => {
            let step = match &call.step {
                Step::Main => String::new(),
                Step::Skill(skill) | Step::Fix(skill) => format!(", {skill}"),
            };
            let item = call.item.as_ref().map(|it| format!(", {}", first_line(&it.name))).unwrap_or_default();
            let name = &workflow.phases[call.phase].name;
            Some(format!("{name} iteration {}{step}{item}: call {} begins", call.iteration, call.number))
        }
        Effect::Ask(question) => Some(format!("question {}: {}", question.id, question.text)),
        Effect::Workspace
        | Effect::Baseline
        | Effect::List
        | Effect::Collect(_)
        | Effect::Contain
        | Effect::Measure { .. }
        | Effect::Prove(_)
        | Effect::Conclude
        | Effect::Confirm
        | Effect::Sleep { .. }
        | Effect::Tell
        | Effect::Finish => None,
    }
}

fn step_line(taken: &StepTaken) -> String {
    let what = match taken.step {
        ProofStep::Baseline => "the tree at the opening, in a clean checkout",
        ProofStep::Clean => "the final tree, in a clean checkout",
        ProofStep::Overlay => "the final code with the tests of the opening",
        ProofStep::OldCode => "the code of the opening with the final tests",
        ProofStep::Canary => "a test that must fail",
    };
    let found = if taken.found.is_empty() { String::new() } else { format!(": {}", taken.found) };
    let rest =
        taken.expected_s.map(|it| format!("; the proof takes about {it:.0} s more")).unwrap_or_default();
    format!("proof, {:.1} s, {what}{found}{rest}", taken.seconds)
}

fn ended_line(ended: &Ended) -> String {
    let how = match &ended.ending {
        Ending::Done => "ended".to_owned(),
        Ending::Failed { why } => format!("failed: {why}"),
        Ending::TimedOut { why } | Ending::WaitedForInput { why } => format!("was ended: {why}"),
        Ending::Interrupted => "was interrupted".to_owned(),
        Ending::NotStarted => "was never started".to_owned(),
        Ending::Barred { why } => format!("was not started: {why}"),
        Ending::Lost { why } => format!("is lost: {why}"),
        Ending::Limited { why, until: Some(until) } => {
            format!("was refused by the provider until {until}: {why}")
        }
        Ending::Limited { why, until: None } | Ending::Refused { why } => {
            format!("was refused by the provider: {why}")
        }
        Ending::Unreachable { why } => format!("did not reach the provider: {why}"),
    };
    let said = match (&ended.report.signal, &ended.report.found) {
        (Some(signal), _) => format!(", says {signal}"),
        (None, true) => String::new(),
        (None, false) if ended.ending == Ending::Done => ", without a report".to_owned(),
        (None, false) => String::new(),
    };
    let swept = match ended.swept {
        0 => String::new(),
        left => format!(", {} it left behind ended", counted(left, "process")),
    };
    let warning = ended.warning.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    format!("call {} {how} after {}{said}{swept}{warning}", ended.call, length(ended.ms))
}

/// A check without a command was named before the first call; it is no news after each.
fn told(results: &[CheckResult]) -> Vec<CheckResult> {
    let ran = results.iter().filter(|it| it.outcome != CheckOutcome::Skipped);
    let ran: Vec<CheckResult> = ran.cloned().collect();
    if ran.is_empty() { results.to_vec() } else { ran }
}

/// Returns what the checks said, in one phrase.
pub fn results(results: &[CheckResult]) -> String {
    if results.is_empty() {
        return "no checks".to_owned();
    }
    let phrases = results.iter().map(|it| {
        let outcome = match &it.outcome {
            CheckOutcome::Passed if 1 < it.passes => format!("passed {} times", it.passes),
            CheckOutcome::Passed => "passed".to_owned(),
            CheckOutcome::Failed(why) => format!("failed ({why})"),
            CheckOutcome::Skipped => "skipped, it has no command".to_owned(),
        };
        format!("{} {outcome}{}", it.name, it.counts.as_ref().map(tests).unwrap_or_default())
    });
    phrases.collect::<Vec<_>>().join(", ")
}

fn tests(tests: &Tests) -> String {
    format!(", {} of {} tests pass", tests.passing, tests.total)
}

fn judged(judgement: &Judgement) -> String {
    let progress = if judgement.progress { "progress" } else { "no progress" };
    let why = judgement.why.join("; ");
    match &judgement.verdict {
        Verdict::Leave => "judged: both halves of the exit rule hold".to_owned(),
        Verdict::Step => "judged: on to the next skill".to_owned(),
        Verdict::Again => format!("judged: again, {progress} ({why})"),
        Verdict::Fail => format!("judged: failed ({why})"),
        Verdict::Reject => "judged: rejected".to_owned(),
        Verdict::Stuck(reason) => format!("judged: stuck ({reason})"),
        Verdict::Checkpoint(kind) => format!("judged: at a checkpoint ({kind})"),
    }
}

fn entered(phase: &str, how: &How) -> String {
    match how {
        How::Passed => format!("{phase} entered"),
        How::Rejected => format!("sent back to {phase}"),
        How::Skipped => format!("{phase} entered after a skipped phase"),
        How::Changes { gate, .. } => format!("changes asked for at the gate {gate}; back to {phase}"),
        How::Fixed { text } => format!("back to {phase}, guidance: {text}"),
        How::Unproven { why, by_person: _ } => format!("back to {phase}: {}", why.join("; ")),
        How::NextItem => format!("{phase} entered for the next item"),
        How::NoItems => format!("no items left; {phase} entered"),
        How::Moved => format!("{phase} entered by a person"),
    }
}

fn commanded(command: &Command) -> Option<String> {
    match command {
        Command::Answer(answer) if answer.question == 0 => {
            Some(format!("accepted as it is{}: {}", by_whom(&answer.by), answer.text))
        }
        Command::Answer(answer) => {
            let text = if answer.text.is_empty() { String::new() } else { format!(" \"{}\"", answer.text) };
            Some(format!(
                "question {} answered: {}{text}{}",
                answer.question,
                answer.choice,
                by_whom(&answer.by)
            ))
        }
        Command::Guide { text } => Some(format!("guidance: {text}")),
        Command::Waive { what, reason, by } => Some(format!("{what} waived{}: {reason}", by_whom(by))),
        Command::Skip { skill, reason } => Some(format!("skill {skill} skipped: {reason}")),
        Command::Unhold => Some("the provider is asked again at once".to_owned()),
        Command::Tried { what } => Some(format!("refused inside an agent call: loop {what}")),
        Command::Stop => Some("asked to stop after this iteration".to_owned()),
        Command::Pause { reason } if reason == ASKED => Some(ASKED.to_owned()),
        Command::Pause { reason } => Some(format!("{ASKED}: {reason}")),
        Command::Cancel => Some("asked to cancel".to_owned()),
        Command::Resume { reset: true, .. } => Some("goes on, counters at 0".to_owned()),
        Command::Resume { reset: false, .. } => Some("goes on".to_owned()),
    }
}

const ASKED: &str = "asked to pause";

fn by_whom(by: &str) -> String {
    if by.is_empty() { String::new() } else { format!(" by {by}") }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
