//! The one sentence at the end of every run: what was proven, or why nothing was.

use crate::proof::record::proof_record::{Level, Proof};
use crate::proof::record::steps::CanaryOutcome;
use crate::proof::results::ids::TestId;

/// Returns the sentence that says what was proven.
pub(crate) fn closing_sentence(proof: &Proof) -> String {
    match not_proven_reason(proof) {
        Some(reason) => format!("not proven: {reason}"),
        None => proven(proof),
    }
}

/// Returns why a run with this proof is not verified, or nothing if it is.
fn not_proven_reason(proof: &Proof) -> Option<String> {
    let open = proof.number("findings", proof.findings.len());
    if let Some(first) = proof.findings.first() {
        return Some(match open {
            1 => first.line.clone(),
            _ => format!("{} (and {} more)", first.line, open - 1),
        });
    }
    if proof.weakened {
        let weakest = proof.waived.iter().find(|it| it.finding.kind.weakens());
        let line = weakest.map_or("a finding in the clean checkout", |it| it.finding.line.as_str());
        return Some(format!("{line}; this was waived, and nothing else can take its place"));
    }
    match proof.level {
        Level::RedToGreen | Level::NewTest | Level::Approved => None,
        Level::UnchangedGreen if proof.nothing_changed => {
            Some("nothing changed; every check was green before the run and is green now".to_owned())
        }
        Level::UnchangedGreen => {
            let green = "every check was green before the run and is green now; nothing measures this task";
            Some(match proof.waived.first() {
                Some(waived) => format!("{}; this was accepted; {green}", waived.finding.line),
                None => green.to_owned(),
            })
        }
        Level::None => Some(why_none(proof)),
    }
}

fn proven(proof: &Proof) -> String {
    match proof.level {
        Level::RedToGreen => {
            // What is gone passes as it was, which is worth a word where nothing else does.
            let is_left = proof.red_to_green.iter().any(|it| !it.is_gone);
            let told = || proof.red_to_green.iter().filter(|it| !(is_left && it.is_gone));
            let untold = proof.red_to_green.len() - told().count();
            let (ids, again) = named_once(told().map(|it| &it.id));
            let number = proof.number("red_to_green", proof.red_to_green.len()) - untold - again;
            let named = named(&ids, number);
            let now = verb(&ids, "passes", "pass");
            let text = if is_left { "" } else { " with its original text" };
            let no_canary = no_canary(proof, &ids);
            format!("proven: {named} failed before and {now} now{text}, in a clean checkout{no_canary}")
        }
        Level::NewTest => {
            let (ids, again) = named_once(proof.new_tests.iter().map(|it| &it.id));
            let named = listed(&ids, proof.number("new_tests", proof.new_tests.len()) - again, &short);
            let by = verb(&ids, "a test", "tests");
            let only_built = proof.new_tests.iter().all(|it| it.only_build_failed);
            let before = match only_built {
                true => format!("{} not build with the code as it was", verb(&ids, "does", "do")),
                false => format!("{} on the code as it was", verb(&ids, "fails", "fail")),
            };
            let now = verb(&ids, "passes", "pass");
            let no_canary = no_canary(proof, &ids);
            format!(
                "proven by {by} of this run: {named} {before} and {now} now, in a clean checkout{no_canary}"
            )
        }
        Level::Approved => "approved: nothing measures this task, and a person accepted this tree".to_owned(),
        Level::UnchangedGreen | Level::None => "not proven".to_owned(),
    }
}

/// Says of an exit code that nothing showed that it reports failures. Where tests have names, what passes
/// says which; an exit code is 0 also where a program ended early.
fn no_canary(proof: &Proof, ids: &[&TestId]) -> &'static str {
    let is_missing = |id: &TestId| {
        let check = proof.checks.iter().find(|it| it.name == id.check);
        check.is_some_and(|it| it.canary == CanaryOutcome::NotOnBaseline)
    };
    let alone = !ids.is_empty() && ids.iter().all(|it| it.is_exit() && is_missing(it));
    if alone { " (no test that must fail fits this check)" } else { "" }
}

fn why_none(proof: &Proof) -> String {
    if let Some(note) = proof.notes.iter().find(|it| it.contains("did not run")) {
        return note.clone();
    }
    if proof.checks.is_empty() {
        return "no check ran in a clean checkout".to_owned();
    }
    if let Some(first) = proof.not_reproducible.first() {
        let more = proof.number("not_reproducible", proof.not_reproducible.len()) - 1;
        let rest = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        return format!("{} {}{rest}, so nothing shows that the work is done", first.id, first.why);
    }
    if let Some(waived) = proof.waived.first() {
        let line = &waived.finding.line;
        return format!("{line}; this was accepted, and nothing else shows that the work is done");
    }
    if let Some(flaky) = proof.flaky.first() {
        return format!("{flaky} passes and fails on the same tree, so it shows nothing");
    }
    "no check shows that the work is done".to_owned()
}

/// A test that several checks run is one test. Returns also how often one was named again.
fn named_once<'a>(ids: impl Iterator<Item = &'a TestId>) -> (Vec<&'a TestId>, usize) {
    let mut once: Vec<&TestId> = Vec::new();
    let mut again = 0;
    for id in ids {
        match once.iter().any(|it| !id.is_exit() && it.name == id.name) {
            true => again += 1,
            false => once.push(id),
        }
    }
    (once, again)
}

/// Names tests and checks, each kind by its word once: `test a`, `tests a and b`, `test a and 4 others`.
fn named(ids: &[&TestId], number: usize) -> String {
    match ids {
        [one, other] if number == 2 && one.is_exit() == other.is_exit() => {
            let word = if one.is_exit() { "checks" } else { "tests" };
            let bare = |it: &TestId| if it.is_exit() { it.check.clone() } else { it.name.clone() };
            format!("{word} {} and {}", bare(one), bare(other))
        }
        _ => listed(ids, number, &TestId::to_string),
    }
}

fn listed(ids: &[&TestId], number: usize, name: &dyn Fn(&TestId) -> String) -> String {
    match (ids, number) {
        ([], _) => String::new(),
        ([one], 0..=1) => name(one),
        ([one, other], 0..=2) => format!("{} and {}", name(one), name(other)),
        ([one, ..], 2) => format!("{} and 1 other", name(one)),
        ([one, ..], all) => format!("{} and {} others", name(one), all - 1),
    }
}

/// The name of a test, where the sentence says already that it is one.
fn short(id: &TestId) -> String {
    if id.is_exit() { id.to_string() } else { id.name.clone() }
}

fn verb(ids: &[&TestId], one: &'static str, several: &'static str) -> &'static str {
    if ids.len() == 1 { one } else { several }
}
