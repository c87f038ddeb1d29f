//! Phases as they are meant: their names looked up, their conditions checked against what is known in
//! them, their routes followed. The order of the phases is settled before (`merge.rs`).

mod relations;

use super::condition_checks::{condition, possible, unsupplied, verdicts};
use super::context::{Defaults, FOUND_CHECKS, Resolver};
use super::names::{self, NameKinds};
use super::sections::{self, entries, list, plain, text};
use crate::facts::FactName;
use crate::workflow::grammar::pattern;
use crate::workflow::grammar::problem::{Place, nearest, suggest};
use crate::workflow::model::{
    Back, BreakerLimits, Check, Fact, Gate, GateUse, Items, Model, Next, Phase, PhaseId, PhaseProof,
    Progress, Protocol, Reject, RejectThen, Signal, SignalWord, Skill,
};
use crate::workflow::syntax::file_words::{BreakerThen, Expect};
use crate::workflow::syntax::phase_file::{BreakerFile, PhaseFile, RejectFile};
use crate::workflow::syntax::shape::ModelFile;
use crate::workflow::syntax::typed::At;
use loop_base::text::counted;
use relations::{check_bodies, check_routes, count_tests};
use std::collections::BTreeMap;

/// The word of `next` that ends a run; no phase can be called so.
const DONE: &str = "done";

/// Everything else that phases name.
pub(crate) struct KnownNames<'a> {
    pub checks: &'a mut BTreeMap<String, Check>,
    pub skills: &'a mut BTreeMap<String, Skill>,
    pub gates: &'a BTreeMap<String, At<Gate>>,
    pub facts: &'a BTreeMap<String, Fact>,
    pub items: Option<&'a Items>,
}

pub(crate) fn resolve(
    context: &mut Resolver<'_>,
    defaults: &Defaults,
    mut known: KnownNames<'_>,
) -> Vec<Phase> {
    let files = &context.merged.phases;
    if files.is_empty() {
        // Whatever went wrong before may be the reason, and is told already.
        if !context.sources.has_problems() {
            let next = "write [[phase]], or extends = \"tdd\"".to_owned();
            context.sources.report(None, "the workflow has no phase".to_owned(), Some(next));
        }
        return Vec::new();
    }
    let given = unnamed_checks(files, &defaults.given_checks);
    refuse_stray_checks(context, &given);
    let weight = mean_weight(files);
    let mut phases = Vec::new();
    for (id, file) in files.iter().enumerate() {
        phases.push(phase(context, defaults, &mut known, id, file, &given, weight));
    }
    check_bodies(context, known.items);
    // Routes that were not found are told already; what follows from them would only confuse.
    if !context.sources.has_problems() {
        check_routes(context, &phases, known.gates);
    }
    phases
}

/// Returns the checks given by flags that no phase names; they are meant for all that run checks.
fn unnamed_checks(files: &[At<PhaseFile>], given: &[String]) -> Vec<String> {
    let named: Vec<String> = files.iter().flat_map(|it| list(&it.value.checks)).collect();
    given.iter().filter(|it| !named.contains(it)).cloned().collect()
}

/// Reports checks given by flags that no phase would run, and those that look like one with a name.
fn refuse_stray_checks(context: &mut Resolver<'_>, given: &[String]) {
    let files = &context.merged.phases;
    let named: Vec<String> = files.iter().flat_map(|it| list(&it.value.checks)).collect();
    let expects = |it: &&At<PhaseFile>| plain(&it.value.expect).unwrap_or(Expect::Passing) == Expect::Passing;
    let run_anywhere = files.iter().filter(expects).any(|it| !list(&it.value.checks).is_empty());
    for check in given {
        let place = entries(&context.merged.file.checks)
            .find(|(name, _)| *name == check)
            .map(|(_, it)| it.place.clone());
        if let Some(near) = nearest(check, named.iter().map(String::as_str)) {
            let (says, next) =
                (format!("no phase runs a check \"{check}\""), format!("did you mean \"{near}\"?"));
            context.sources.report(place.as_ref(), says, Some(next));
        } else if !run_anywhere {
            let says = format!("no phase of this workflow runs checks, so \"{check}\" would never be run");
            context.sources.report(
                place.as_ref(),
                says,
                Some(format!("write checks = [\"{check}\"] in a phase")),
            );
        }
    }
}

/// A phase without a weight counts like the mean of the others, so that it is neither nothing nor
/// everything.
fn mean_weight(files: &[At<PhaseFile>]) -> u32 {
    let given: Vec<u64> = files.iter().filter_map(|it| plain(&it.value.weight)).map(u64::from).collect();
    match given.len() {
        0 => 1,
        length => u32::try_from((given.iter().sum::<u64>() / length as u64).max(1)).unwrap_or(u32::MAX),
    }
}

fn phase(
    context: &mut Resolver<'_>,
    defaults: &Defaults,
    known: &mut KnownNames<'_>,
    id: PhaseId,
    file: &At<PhaseFile>,
    given_checks: &[String],
    mean_weight: u32,
) -> Phase {
    let place = &file.place;
    let file = &file.value;
    let name = phase_name(context, file, place);
    let skills = list(&file.skills);
    file.skills.iter().flat_map(|it| &it.value).for_each(|it| context.use_skill(it, known.skills));
    let prompt = phase_prompt(context, file, place, known, &skills);
    let report = file.report.as_ref().map_or_else(|| defaults.report.clone(), |it| it.value.clone());
    if let (Some(at), Protocol::Frontmatter(glob)) = (&file.report, &report) {
        pattern::glob(glob, &at.place, context.sources);
    }
    let signal = signal(context, defaults, file, &report);
    let expect_failing = plain(&file.expect).unwrap_or(Expect::Passing) == Expect::Failing;
    let checks = checks(context, known, file, expect_failing, given_checks);
    if let Some(expect) = file.expect.as_ref().filter(|_| expect_failing && checks.is_empty()) {
        let says = "this phase runs no check that could fail";
        context.sources.refuse_with(&expect.place, says, "write checks = [\"tests\"]");
    }
    let claims = claims(context, file);
    let names = {
        let own = known.checks.iter().filter(|(name, _)| checks.contains(name));
        names::in_phase(own, known.facts.keys(), &claims, &report, known.items.is_some())
    };
    context.globs(&file.deliverables);
    let cap = plain(&file.iterations).unwrap_or(defaults.iterations);
    skills_fit(context, file, &name, cap);
    let exit = file.exit.as_ref().map(|it| {
        condition(context, it, &names);
        possible(context, defaults, it, &checks, cap);
        verdicts(context, it, &report);
        it.value.clone()
    });
    if let Some(when) = file.reject.as_ref().and_then(|it| it.value.when.as_ref()) {
        possible(context, defaults, when, &checks, cap);
        verdicts(context, when, &report);
    }
    let retries = defaults.retries && plain(&file.retries).unwrap_or(true);
    let require = required(context, file, &checks);
    let phase = Phase {
        goal: text(&file.goal).unwrap_or_default(),
        role: text(&file.role).unwrap_or_else(|| name.to_lowercase()),
        skills,
        deliverables: list(&file.deliverables),
        prompt,
        context: list(&file.context),
        model: file.model.as_ref().and_then(|it| model(context, it)),
        report,
        signal,
        checks,
        expect_failing,
        exit,
        progress: progress(context, file, &names),
        breaker: breaker(file.breaker.as_ref().map(|it| &it.value), retries),
        weight: plain(&file.weight).unwrap_or(mean_weight),
        each: each(context, file, known.items),
        gates: gates(context, file, &name, &names),
        next: next(context, file, id),
        reject: file.reject.as_ref().and_then(|it| reject(context, it, &names)),
        retries,
        claims,
        counted: plain(&file.counted).unwrap_or(true),
        iterations: plain(&file.iterations),
        proof: plain(&file.proof).unwrap_or(PhaseProof::Tree),
        require,
        name,
    };
    count_tests(context, file, &phase, known.checks);
    phase
}

/// A phase needs no prompt of its own where each of its skills has one.
fn phase_prompt(
    context: &mut Resolver<'_>,
    file: &PhaseFile,
    place: &Place,
    known: &KnownNames<'_>,
    skills: &[String],
) -> String {
    let prompt = context.prompt(&file.prompt, &file.prompt_file);
    let own_prompts = |it: &String| known.skills.get(it).is_some_and(|it| it.prompt.is_some());
    if prompt.is_none() && (skills.is_empty() || !skills.iter().all(own_prompts)) {
        let says = format!("phase \"{}\" has no prompt", text(&file.name).unwrap_or_default());
        let next = "write prompt = \"TEXT\" or prompt_file = \"PATH\"";
        context.sources.lacks(place, &["prompt", "prompt_file"], says, next);
    }
    prompt.unwrap_or_default()
}

/// A check that must have a command is one that the phase runs.
fn required(context: &mut Resolver<'_>, file: &PhaseFile, checks: &[String]) -> Vec<String> {
    for name in file.require.iter().flat_map(|it| &it.value) {
        if !checks.contains(&name.value) {
            let says = format!("this phase does not run the check \"{}\"", name.value);
            let next = suggest(&name.value, checks.iter().map(String::as_str));
            context.sources.report(Some(&name.place), says, next);
        }
    }
    list(&file.require)
}

fn phase_name(context: &mut Resolver<'_>, file: &PhaseFile, place: &Place) -> String {
    let Some(name) = &file.name else {
        context.sources.lacks(place, &["name"], "this phase has no name", "write name = \"NAME\"");
        return String::new();
    };
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if name.value.is_empty() || !name.value.chars().all(is_word) {
        let says = format!("\"{}\" cannot name a phase", name.value);
        context.sources.refuse_with(&name.place, says, "write letters, digits, _ and -");
    }
    if name.value.eq_ignore_ascii_case(DONE) {
        context.sources.refuse(&name.place, format!("\"{DONE}\" is the end and cannot name a phase"));
    }
    name.value.clone()
}

fn signal(context: &mut Resolver<'_>, defaults: &Defaults, file: &PhaseFile, report: &Protocol) -> Signal {
    let speaks = match report {
        Protocol::None | Protocol::Frontmatter(_) => false,
        Protocol::PrpStatus | Protocol::ExitSignal | Protocol::Promise | Protocol::Json => true,
    };
    let known = SignalWord::of(report);
    let words: Vec<&str> = known.iter().map(SignalWord::word).collect();
    let can_be_given = |word: &SignalWord| known.is_empty() || known.iter().any(|it| it.is(word));
    let Some(given) = &file.signal else {
        if !speaks {
            return Signal::None;
        }
        let signal = defaults.signal.clone().unwrap_or(Signal::Own);
        if let (Signal::Words(given), Some(name)) = (&signal, &file.name)
            && !given.iter().any(can_be_given)
        {
            let says = format!(
                "the signal of [agent], \"{}\", is not one of this phase's report",
                joined(given, " or ")
            );
            let next = format!("write signal = \"own\" here, or one of: {}", words.join(", "));
            context.sources.refuse_with(&name.place, says, next);
        }
        return signal;
    };
    match &given.value {
        Signal::None => {}
        Signal::Own | Signal::Words(_) if !speaks => {
            let says = "this report has no signal, so the phase could never end";
            context.sources.refuse_with(&given.place, says, "write signal = \"none\"");
        }
        Signal::Own => {}
        Signal::Words(given_words) => {
            for word in given_words.iter().filter(|it| !can_be_given(it)) {
                let says = format!("\"{word}\" is not a signal of this report");
                context.sources.report(Some(&given.place), says, suggest(word.word(), words.iter().copied()));
            }
        }
    }
    given.value.clone()
}

fn joined(words: &[SignalWord], between: &str) -> String {
    words.iter().map(SignalWord::word).collect::<Vec<_>>().join(between)
}

fn checks(
    context: &mut Resolver<'_>,
    known: &mut KnownNames<'_>,
    file: &PhaseFile,
    expect_failing: bool,
    given: &[String],
) -> Vec<String> {
    let mut checks: Vec<String> = Vec::new();
    for check in file.checks.iter().flat_map(|it| &it.value) {
        if checks.contains(&check.value) {
            context.sources.refuse(&check.place, format!("check \"{}\" is listed twice", check.value));
        } else if known.checks.contains_key(&check.value) || FOUND_CHECKS.contains(&check.value.as_str()) {
            checks.push(check.value.clone());
        } else {
            let names = known.checks.keys().map(String::as_str).chain(FOUND_CHECKS);
            let next = match nearest(&check.value, names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write a section [checks.{}] with run = \"COMMAND\"", check.value),
            };
            context.sources.refuse_with(&check.place, format!("there is no check \"{}\"", check.value), next);
        }
    }
    if !checks.is_empty() && !expect_failing {
        checks.extend(given.iter().cloned());
    }
    for check in &checks {
        let absent = || sections::check(check, &Default::default());
        known.checks.entry(check.clone()).or_insert_with(absent);
    }
    checks
}

fn claims(context: &mut Resolver<'_>, file: &PhaseFile) -> Vec<String> {
    for claim in file.claims.iter().flat_map(|it| &it.value) {
        if !names::is_plain(&claim.value) {
            let says = format!("\"{}\" cannot be claimed, because conditions could not name it", claim.value);
            context.sources.refuse_with(&claim.place, says, "write letters, digits and _");
        }
    }
    list(&file.claims)
}

/// Reports a phase that its cap ends before the last of its skills.
fn skills_fit(context: &mut Resolver<'_>, file: &PhaseFile, name: &str, cap: u32) {
    let Some(skills) = file.skills.as_ref().filter(|it| (cap as usize) < it.value.len()) else { return };
    let says = format!(
        "{name} has {} and at most {}, so it can never end",
        counted(skills.value.len(), "skill"),
        counted(cap, "iteration")
    );
    let next = format!("write iterations = {}, or fewer skills", skills.value.len());
    context.sources.refuse_with(&skills.place, says, next);
}

fn model(context: &mut Resolver<'_>, file: &At<ModelFile>) -> Option<Model> {
    let differing = match &file.value {
        ModelFile::Named(name) => return Some(Model::Named(name.clone())),
        ModelFile::Differing(it) => it,
    };
    let of = list(&differing.of);
    let (Some(first), Some(other_than)) = (of.first(), &differing.other_than) else {
        let next = "write { of = [\"MODEL\", \"MODEL\"], other_than = \"PHASE\" }";
        let says = "a model that differs needs of and other_than";
        context.sources.lacks(&file.place, &["of", "other_than"], says, next);
        return None;
    };
    if of.iter().all(|it| it == first) {
        context.sources.refuse(&file.place, "one candidate alone cannot always differ");
    }
    Some(Model::Differing {
        other_than: context.phase(other_than)?,
        required: plain(&differing.required).unwrap_or(false),
        unknown: text(&differing.unknown).unwrap_or_else(|| first.clone()),
        of,
    })
}

fn progress(context: &mut Resolver<'_>, file: &PhaseFile, names: &NameKinds) -> Progress {
    let Some(progress) = &file.progress else {
        let names = |facts: &[FactName]| facts.iter().map(|it| it.name().to_owned()).collect();
        return Progress {
            up: names(&[FactName::CommitsMade, FactName::FilesChanged, FactName::TestsPassing]),
            down: names(&[FactName::TestsFailing, FactName::ChecksFailing]),
        };
    };
    let lists = [&progress.value.up, &progress.value.down];
    for name in lists.into_iter().flatten().flat_map(|it| &it.value) {
        if !names.contains_key(&name.value) {
            unsupplied(context, &name.value, &name.place, names);
        }
    }
    Progress { up: list(&progress.value.up), down: list(&progress.value.down) }
}

fn breaker(file: Option<&BreakerFile>, retries: bool) -> BreakerLimits {
    match file {
        Some(file) => BreakerLimits {
            no_progress: plain(&file.no_progress),
            same_error: plain(&file.same_error),
            failures: plain(&file.failures),
            pivot: plain(&file.then) == Some(BreakerThen::Pivot),
            reason: text(&file.reason),
        },
        // Retries have bounds of their own, and two rules for one failure would only race.
        None if retries => BreakerLimits::default(),
        // One iteration in vain happens, two are a warning; an error may take a few tries to understand.
        None => BreakerLimits { no_progress: Some(3), same_error: Some(5), ..BreakerLimits::default() },
    }
}

fn each(context: &mut Resolver<'_>, file: &PhaseFile, items: Option<&Items>) -> Option<String> {
    let each = file.each.as_ref()?;
    match items {
        None if context.merged.file.items.is_some() => {}
        None => {
            let next = "write a section [items] with name and from";
            context.sources.refuse_with(&each.place, "there are no items to repeat over", next);
        }
        Some(items) if items.name != each.value => {
            let says = format!("there are no items called \"{}\"", each.value);
            context.sources.refuse_with(
                &each.place,
                says,
                format!("the items are called \"{}\"", items.name),
            );
        }
        Some(_) => {}
    }
    Some(each.value.clone())
}

fn gates(context: &mut Resolver<'_>, file: &PhaseFile, phase: &str, names: &NameKinds) -> Vec<GateUse> {
    let merged = context.merged;
    let mut uses: Vec<GateUse> = Vec::new();
    for entry in file.gates.iter().flat_map(|it| &it.value) {
        let Some(name) = &entry.value.0.name else {
            context.sources.lacks(&entry.place, &["name"], "this gate has no name", "write name = \"NAME\"");
            continue;
        };
        context.known_gate(name);
        if uses.iter().any(|it| it.gate == name.value) {
            context.sources.refuse(&name.place, format!("gate \"{}\" is listed twice", name.value));
            continue;
        }
        let general = entries(&merged.file.gates).find(|(it, _)| **it == name.value);
        let when = entry.value.0.when.as_ref().or(general.and_then(|(_, it)| it.value.when.as_ref()));
        when.into_iter().for_each(|it| condition(context, it, names));
        uses.push(GateUse { gate: name.value.clone(), when: when.map(|it| it.value.clone()) });
    }
    for (name, gate) in entries(&merged.file.gates) {
        let is_here = gate.value.at.as_ref().is_some_and(|it| it.value == phase);
        if is_here && !uses.iter().any(|it| it.gate == *name) {
            gate.value.when.iter().for_each(|it| condition(context, it, names));
            let when = gate.value.when.as_ref().map(|it| it.value.clone());
            uses.push(GateUse { gate: name.clone(), when });
        }
    }
    uses
}

fn next(context: &mut Resolver<'_>, file: &PhaseFile, id: PhaseId) -> Next {
    match &file.next {
        Some(next) if next.value == DONE => Next::Done,
        Some(next) => context.phase(next).map_or(Next::Done, Next::Phase),
        None if id + 1 < context.merged.phases.len() => Next::Phase(id + 1),
        None => Next::Done,
    }
}

fn reject(context: &mut Resolver<'_>, file: &At<RejectFile>, names: &NameKinds) -> Option<Reject> {
    let RejectFile { when, go, at_most, then, back, reason } = &file.value;
    let (Some(when), Some(go), Some(at_most)) = (when, go, at_most) else {
        let next = "write { when = \"CONDITION\", go = \"PHASE\", at_most = 2 }";
        let says = "a way back needs when, go and at_most";
        context.sources.lacks(&file.place, &["when", "go", "at_most"], says, next);
        return None;
    };
    condition(context, when, names);
    Some(Reject {
        when: when.value.clone(),
        go: context.phase(go)?,
        at_most: at_most.value,
        then: plain(then).unwrap_or(RejectThen::Ask),
        back: plain(back).unwrap_or(Back::Full),
        reason: text(reason),
    })
}
