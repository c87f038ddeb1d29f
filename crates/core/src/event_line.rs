//! One plain line for each fact, for people: what `run` prints while it works and `log` shows. Bookkeeping
//! that nobody asks about has no line. While a run works, what its last lines repeat has none either.

use crate::engine::{
    Answer, CheckOutcome, CheckResult, CheckpointKind, Command, Effect, Ended, Ending, Event, How, Judgement,
    Landing, LandingStep, ListChange, Listing, NO_TESTS_RAN, OtherModel, Outcome, Session, Step, StepTaken,
    Tests, Verdict, dollars,
};
use crate::proof::{Level, ProofStep, closing_sentence};
use crate::workflow::model::{Phase, Workflow};
use loop_base::text::counted;
use loop_base::time::took;

/// Returns the line of a fact for somebody who watches the run: what the end of the run says is left
/// out, so that nothing is read twice.
pub fn running_line(workflow: &Workflow, event: &Event) -> Option<String> {
    match event {
        Event::Began(Effect::Ask(_))
        | Event::Held(_)
        | Event::Closed(_)
        | Event::Commanded(Command::Pause { .. }) => None,
        Event::Proved(proof) => {
            let found = match proof.level {
                _ if !proof.findings.is_empty() => counted(proof.findings.len(), "problem"),
                Level::None => "nothing proven".to_owned(),
                level => level.word().to_owned(),
            };
            Some(format!("proof finished: {found}"))
        }
        // The question that was answered says why.
        Event::Skipped { why: _ } => Some("phase skipped by a person".to_owned()),
        other => line(workflow, other),
    }
}

/// Returns the line of a fact, if it has one. The text is ours and the agent's: sanitise before
/// showing it on a terminal.
pub fn line(workflow: &Workflow, event: &Event) -> Option<String> {
    let phase = |id: &usize| workflow.phases[*id].name.as_str();
    match event {
        Event::Opened(opening) => Some(format!("opened {}: {}", workflow.name, first_line(&opening.input))),
        Event::Owned { .. } | Event::Repeated | Event::Told { trouble: None } => None,
        Event::Joined(session) => joined(session),
        Event::Began(effect) => began(workflow, effect),
        Event::Placed { place, branch } => Some(placed(place, branch.as_deref())),
        Event::Baselined(baseline) => Some(results(&baseline.results))
            .filter(|it| !it.is_empty())
            .map(|it| format!("before the first call: {it}")),
        Event::Listed(listing) => Some(listed(listing)),
        Event::Ended(ended) => Some(ended_line(ended)),
        Event::Contained { left } => Some(contained(left.len())),
        Event::Measured(evidence) => {
            Some(results(&evidence.results)).filter(|it| !it.is_empty()).map(|it| format!("checks: {it}"))
        }
        Event::Judged(judgement) => Some(judged(workflow, judgement)),
        Event::StepTaken(taken) => step_line(taken),
        Event::Proved(proof) => Some(format!("proof finished: {}", closing_sentence(proof))),
        Event::Waived(waiver) => Some(format!(
            "findings waived{}: {}",
            by_whom(waiver.by.as_deref().unwrap_or_default()),
            waiver.reason
        )),
        Event::Accepted { reason, by, .. } => Some(format!("accepted as it is{}: {reason}", by_whom(by))),
        Event::Prepared { command: Some(command) } => {
            Some(format!("clean checkouts are prepared with: {command}"))
        }
        Event::Prepared { command: None } => Some("a person chose to finish without a proof".to_owned()),
        Event::Entered { phase: id, how } => Some(entered(phase(id), how)),
        Event::Skipped { why } => Some(format!("phase skipped by a person: {why}")),
        Event::Settled { text, .. } => Some(text.clone()),
        Event::Supplied { check, command } => Some(format!("the check {check} runs: {command}")),
        Event::ItemDone { id, also } => Some(item_done(id, also)),
        Event::LeftToPerson { items } => {
            Some(format!("Auto-decided: completed with notes — open for a person: {}", items.join("; ")))
        }
        Event::Waits { until, why, wait } => Some(wait.words(*until, why)),
        Event::Woke => Some("the wait has ended".to_owned()),
        Event::Told { trouble: Some(trouble) } => Some(format!("the notification failed: {trouble}")),
        Event::Expired { question } => Some(format!("question {question} closed without an answer")),
        Event::Reset { guidance: None } => Some("breaker closed, counters at 0".to_owned()),
        Event::Reset { guidance: Some(text) } => Some(format!("breaker closed, guidance: {text}")),
        Event::Pivoted => Some("no progress; trying once more with a summary of what was tried".to_owned()),
        Event::Approved { gate, by, about, signer } => {
            let signer = signer.as_ref().map(|it| it.principal.as_str());
            Some(approved(gate, by, about.as_ref().map(|it| it.line()), signer))
        }
        Event::Voided { gate, why, void: _ } => Some(format!("the approval of gate {gate} is void: {why}")),
        Event::Counted { made, .. } => Some(format!(
            "{} already made in this window, by earlier runs of this project",
            counted(*made, "call")
        )),
        Event::Granted { until } => Some(format!("more calls allowed until {until}")),
        Event::Retried => Some("retrying".to_owned()),
        Event::CalledAgain { model } => Some(called_again(model.as_deref())),
        Event::Held(hold) => Some(hold.reason.clone()),
        Event::Commanded(command) => commanded(command),
        Event::Reloaded { keys, definition: _ } => Some(format!("changed by a person: {}", keys.join(", "))),
        Event::Refused { command: _, why } => Some(format!("refused: {why}")),
        Event::Detected { check, command } => {
            Some(format!("the check \"{check}\" was found in the project: {command}"))
        }
        Event::LandingStep(step) => Some(landing_step(step)),
        Event::Landed(landing) | Event::Looked(landing) => Some(landed(landing)),
        Event::Heard { at, answer, trouble } => heard(at.as_deref(), answer.as_ref(), trouble.as_deref()),
        Event::Known { skill, target } => Some(skill_known(skill, target.as_deref())),
        Event::Finished { trouble, shipped, .. } => finished(trouble.as_deref(), shipped.as_deref()),
        Event::Noted { text } => Some(text.clone()),
        Event::Closed(Outcome::Completed) => Some("completed".to_owned()),
        Event::Closed(Outcome::Cancelled) => Some("cancelled".to_owned()),
    }
}

fn contained(left: usize) -> String {
    match left {
        0 => "stopped every leftover process of the call".to_owned(),
        some => format!("{} could not be stopped", counted(some, "process")),
    }
}

fn item_done(id: &str, also: &[String]) -> String {
    match also {
        [] => format!("item {id} is done"),
        others => format!("item {id} is done, and with it {}", others.join(", ")),
    }
}

fn skill_known(skill: &str, target: Option<&str>) -> String {
    match target {
        Some(target) => format!("the skill {skill} works with {target}"),
        None => format!("the skill {skill} is skipped by a person"),
    }
}

/// Most looks find nothing, and say nothing.
fn heard(at: Option<&str>, answer: Option<&Answer>, trouble: Option<&str>) -> Option<String> {
    if let Some(trouble) = trouble {
        return Some(format!("the pull request could not be read: {trouble}"));
    }
    let answer = answer?;
    let text = if answer.text.is_empty() { String::new() } else { format!(" {}", answer.text) };
    Some(format!("{} answered: {}{text} ({})", answer.by, answer.choice, at.unwrap_or_default()))
}

fn joined(session: &Session) -> Option<String> {
    match session {
        it if it.id.is_empty() => Some("waiting for the next agent session that stops here".to_owned()),
        // Every stop is recorded; that it is still the same session is no news.
        it if 1 < it.stops => None,
        it => Some(format!("session {} works on it", it.id)),
    }
}

fn placed(place: &str, branch: Option<&str>) -> String {
    format!("working in {place}{}", branch.map(|it| format!(" on {it}")).unwrap_or_default())
}

fn called_again(model: Option<&str>) -> String {
    let model = model.map(|it| format!(", with the model {it}")).unwrap_or_default();
    format!("the agent is called again{model}")
}

fn approved(gate: &str, by: &str, about: Option<String>, signer: Option<&str>) -> String {
    let signer = signer.map(|it| format!(", signed by {it}")).unwrap_or_default();
    let about = about.map(|it| format!(": {it}")).unwrap_or_default();
    format!("gate {gate} approved{}{signer}{about}", by_whom(by))
}

fn landed(landing: &Landing) -> String {
    match landing {
        Landing::Merged { into, commit } => {
            format!("merged into {into} as {}", short(commit))
        }
        Landing::Requested { at } => format!("not merged yet: {at}"),
        Landing::Not { why, .. } => format!("not merged: {why}"),
        Landing::Red { why, .. } => why.clone(),
        // The way back, or the question, tells all of it in the next line.
        Landing::Collides { why } => format!("not merged: {}", why.first().map_or("", String::as_str)),
        Landing::Waits { why } | Landing::Foreign { why, .. } => format!("the merge waits: {why}"),
        Landing::Clear => "nothing blocks the merge any more".to_owned(),
        Landing::Reverted { into, commit } => format!("reverted on {into} by {}", short(commit)),
    }
}

fn landing_step(step: &LandingStep) -> String {
    match step {
        LandingStep::Queued { behind } => format!("waits for {behind} to land"),
        LandingStep::Merged(it) => {
            format!("merged with {} ({}) as {}", it.into, short(&it.from), short(&it.commit))
        }
        LandingStep::Proven { by } => format!("the merged tree is proven: {by}"),
        LandingStep::StartedOver { why, .. } => format!("the merge starts over: {why}"),
        LandingStep::Again => "the merge is tried again".to_owned(),
    }
}

fn short(commit: &str) -> String {
    commit.chars().take(12).collect()
}

fn finished(trouble: Option<&str>, shipped: Option<&str>) -> Option<String> {
    match (shipped, trouble) {
        (None, None) => None,
        (Some(shipped), None) => Some(format!("shipped: {shipped}")),
        (Some(shipped), Some(trouble)) => Some(format!("shipped: {shipped} ({trouble})")),
        (None, Some(trouble)) => Some(format!("at the end: {trouble}")),
    }
}

/// Says how much is left to do, and what changed in the list.
fn listed(listing: &Listing) -> String {
    let ListChange { removed, changed, added, reopened, next: _, left } = match listing {
        Listing::Whole(items) => return format!("{} listed", counted(items.len(), "item")),
        Listing::Change(change) => change.as_ref(),
    };
    let added: usize = added.iter().map(|it| it.items.len()).sum();
    let counts = [
        (added, "added"),
        (removed.len(), "removed"),
        (changed.len(), "changed"),
        (reopened.len(), "open again"),
    ];
    let changes: Vec<String> =
        counts.iter().filter(|it| it.0 != 0).map(|(count, what)| format!("{count} {what}")).collect();
    let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join(", ")) };
    format!("{} to do{changes}", counted(*left, "item"))
}

fn began(workflow: &Workflow, effect: &Effect) -> Option<String> {
    match effect {
        Effect::Work(call) => {
            let step = match &call.step {
                Step::Main => String::new(),
                Step::Skill(skill) | Step::Fix(skill) => format!(", {skill}"),
            };
            let item = call.item.as_ref().map(|it| format!(", {}", first_line(&it.name))).unwrap_or_default();
            let phase = &workflow.phases[call.phase];
            let iteration = iteration_words(phase, call.iteration);
            let differs = call.other_model.as_ref().map(|other| differs(call.model.as_deref(), other));
            let differs = differs.unwrap_or_default();
            Some(format!("{}{iteration}{step}{item}: call {} begins{differs}", phase.name, call.number))
        }
        Effect::Ask(question) => Some(format!("question {}: {}", question.id, question.text)),
        Effect::Move(it) => {
            Some(format!("moves {} from {} to {}", it.into, short(&it.from), short(&it.commit)))
        }
        Effect::Workspace
        | Effect::Baseline
        | Effect::List
        | Effect::Collect(_)
        | Effect::Contain
        | Effect::Measure { .. }
        | Effect::Prove(_)
        | Effect::Conclude
        | Effect::Confirm
        | Effect::Land
        | Effect::ProveMerge
        | Effect::Look
        | Effect::Sleep { .. }
        | Effect::Tell
        | Effect::Finish => None,
    }
}

/// Returns the number of an iteration in its visit. Where a phase is numbered by the run, another number stands
/// beside it, so this one says how often the item was tried.
pub fn iteration_words(phase: &Phase, iteration: u32) -> String {
    match phase.is_numbered_by_run() {
        true if iteration <= 1 => String::new(),
        true => format!(", try {iteration}"),
        false => format!(" iteration {iteration}"),
    }
}

/// Names the model of a call that is to differ from another, and that other one.
fn differs(model: Option<&str>, other: &OtherModel) -> String {
    let model = model.unwrap_or("the agent's own model");
    match &other.model {
        Some(name) => format!(" with {model}; {} ran with {name}", other.phase),
        None => format!(" with {model}; the model of {} is unknown", other.phase),
    }
}

/// A step that was not needed took no time and says nothing.
fn step_line(taken: &StepTaken) -> Option<String> {
    if taken.not_needed {
        return None;
    }
    let what = match taken.step {
        ProofStep::Baseline => "the code as it was before the run",
        ProofStep::Clean => "the result",
        ProofStep::Overlay => "the result with the tests from before the run",
        ProofStep::OldCode => "the code from before the run with the new tests",
        ProofStep::Canary => "a test that must fail",
    };
    let found = if taken.found.is_empty() { String::new() } else { format!(": {}", taken.found) };
    let more = taken.expected_s.filter(|it| 1.0 <= *it).map(|it| format!("; about {it:.0} s more"));
    let more = more.unwrap_or_default();
    Some(format!("proof step, {}, {what}, in a clean checkout{found}{more}", seconds(taken.seconds)))
}

fn seconds(seconds: f64) -> String {
    took((seconds.max(0.0) * 1000.0) as u64)
}

fn ended_line(ended: &Ended) -> String {
    let time = took(ended.ms);
    let how = match &ended.ending {
        Ending::Done => {
            let cost =
                ended.usage.cost.amount().filter(|it| 0.0 < *it).map(|it| format!(", {}", dollars(it)));
            format!("finished in {time}{}", cost.unwrap_or_default())
        }
        Ending::Failed { why } => format!("failed after {time}: {why}"),
        Ending::TimedOut { why } | Ending::CutOff { why } | Ending::WaitedForInput { why } => {
            format!("was ended after {time}: {why}")
        }
        Ending::Interrupted => format!("was interrupted after {time}"),
        Ending::NotStarted => "was never started".to_owned(),
        Ending::Barred { why } => format!("was not started: {why}"),
        Ending::Lost { why } => format!("was lost after {time}: {why}"),
        Ending::Limited { why, until: Some(until) } => {
            format!("was refused by the provider until {until}: {why}")
        }
        Ending::Limited { why, until: None } => format!("was refused by the provider: {why}"),
        Ending::Refused { why } => format!("could not work: {why}"),
        Ending::Unreachable { why } => format!("was not served: {why}"),
    };
    let said = match (&ended.report.signal, ended.report.found) {
        (Some(_), _) => "; the agent says it is done",
        (None, _) if ended.report.ignored_promise.is_some() => "; the agent's promise does not count",
        (None, false) if ended.ending == Ending::Done => "; the agent did not say that it is done",
        (None, _) => "",
    };
    let swept = match ended.swept {
        0 => String::new(),
        left => format!("; stopped {}", counted(left, "leftover process")),
    };
    let warning = ended.warning.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    format!("call {} {how}{said}{swept}{warning}", ended.call)
}

/// Returns what the checks that ran said, in one phrase; nothing where none did.
pub fn results(results: &[CheckResult]) -> String {
    let ran = results.iter().filter(|it| it.outcome != CheckOutcome::Skipped);
    let phrases = ran.map(|it| {
        let times = if 1 < it.passes { format!(" {} times", it.passes) } else { String::new() };
        format!("{} {}", it.name, result(&it.outcome, it.counts.as_ref(), &times))
    });
    phrases.collect::<Vec<_>>().join(", ")
}

/// Returns what one check came to, to follow its name. The count is the one of the word before it:
/// `failed (1 of 2)` means that one failed.
pub fn result(outcome: &CheckOutcome, tests: Option<&Tests>, times: &str) -> String {
    let of =
        |count: u32, total: u32| if total == 0 { String::new() } else { format!(" ({count} of {total})") };
    match (outcome, tests) {
        (CheckOutcome::Skipped, _) => "has no command".to_owned(),
        (CheckOutcome::Passed, None) => format!("passed{times}"),
        (CheckOutcome::Passed, Some(it)) if it.total == 0 => format!("passed{times} ({NO_TESTS_RAN})"),
        (CheckOutcome::Passed, Some(it)) => format!("passed{times}{}", of(it.passing, it.total)),
        (CheckOutcome::Failed(_), Some(it)) if 0 < it.failing => {
            format!("failed{}", of(it.failing, it.total))
        }
        (CheckOutcome::Failed(why), _) => format!("failed ({why})"),
    }
}

fn judged(workflow: &Workflow, judgement: &Judgement) -> String {
    let phase = judgement.phase.map(|it| format!("{} ", workflow.phases[it].name)).unwrap_or_default();
    let why = match judgement.why.as_slice() {
        [] => String::new(),
        why => format!(": {}", why.join("; ")),
    };
    match &judgement.verdict {
        Verdict::Leave if judgement.lacks.is_some() => {
            format!(
                "{phase}is done except for the check \"{}\"",
                judgement.lacks.as_deref().unwrap_or_default()
            )
        }
        Verdict::Leave => {
            let why = match judgement.why.as_slice() {
                [] => String::new(),
                [one] => format!(": {one}"),
                [first @ .., last] => format!(": {} and {last}", first.join(", ")),
            };
            format!("{phase}passed{why}")
        }
        Verdict::Step => "done; the next skill follows".to_owned(),
        Verdict::Again if judgement.progress => format!("not done, progress made{why}"),
        Verdict::Again => format!("not done, no progress{why}"),
        Verdict::Fail => format!("not done{why}"),
        Verdict::Reject => format!("{phase}rejected the work{why}"),
        Verdict::Stuck(reason) => format!("{phase}is stuck: {reason}"),
        Verdict::Checkpoint(CheckpointKind::Merge) => format!("{phase}is done except for the merge"),
        Verdict::Checkpoint(kind) => format!("a person is needed ({kind})"),
    }
}

fn entered(phase: &str, how: &How) -> String {
    match how {
        How::Passed => format!("{phase} begins"),
        How::Rejected => format!("back to {phase}"),
        How::Skipped => format!("{phase} begins, after a skipped phase"),
        How::Changes { gate, .. } => format!("changes asked for at the gate {gate}; back to {phase}"),
        How::Fixed { text } => format!("back to {phase}, guidance: {text}"),
        How::Unproven { why, by_person: _ } => format!("back to {phase}: {}", why.join("; ")),
        How::Collided { why } => format!("back to {phase}: {}", why.join("; ")),
        How::NextItem => format!("{phase} begins, for the next item"),
        How::NoItems => format!("{phase} begins, every item is done"),
        How::Moved => format!("{phase} begins, chosen by a person"),
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
        Command::Unhold => Some("trying the provider again".to_owned()),
        Command::Tried { what } => Some(format!("refused inside an agent call: loop {what}")),
        Command::Stop => Some("asked to stop after this iteration".to_owned()),
        Command::Pause { reason } if reason == ASKED => Some(ASKED.to_owned()),
        Command::Pause { reason } => Some(format!("{ASKED}: {reason}")),
        Command::Cancel => Some("asked to cancel".to_owned()),
        Command::Resume { reset: true, .. } => Some("resumed, counters at 0".to_owned()),
        Command::Resume { reset: false, .. } => Some("resumed".to_owned()),
    }
}

const ASKED: &str = "asked to pause";

fn by_whom(by: &str) -> String {
    if by.is_empty() { String::new() } else { format!(" by {by}") }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
