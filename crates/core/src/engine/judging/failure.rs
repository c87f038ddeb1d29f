//! What went wrong in an iteration, as one error with a class and a signature, so that the same error
//! is known again.

use super::metrics::keeping_checks;
use super::signature::signature;
use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::measured::evidence::{CheckOutcome, CheckResult, Evidence};
use crate::engine::journal::measured::judgement::Failure;
use crate::engine::journal::measured::metric::Metrics;
use crate::engine::state::parts::station::Turn;
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, Phase, Protocol};
use loop_base::value::Value;

/// What an error's text is cut to; its signature is taken before.
const ERROR_KEPT: usize = 500;

/// The agent's own word for it, else how the call ended, else the checks that failed. What failed
/// names the class before how the call ended does.
pub(crate) fn error_of(
    phase: &Phase,
    turn: &Turn,
    evidence: &Evidence,
    metrics: &Metrics,
) -> Option<Failure> {
    let report = &turn.ended.report;
    if let Some(error) = &report.error {
        return Some(failure(error.class.clone(), &error.text));
    }
    if let Some(found) = findings(phase, metrics) {
        return Some(found);
    }
    let failing = keeping_checks(phase, &evidence.results);
    let class = failing.first().map(|it| ErrorClass::of_check(&it.name));
    match &turn.ended.ending {
        Ending::Failed { why } | Ending::Lost { why } => {
            return Some(failure(class.unwrap_or(ErrorClass::External), why));
        }
        // Silence is silence to whoever retries by class; the text says what was waited for.
        Ending::TimedOut { why } | Ending::CutOff { why } | Ending::WaitedForInput { why } => {
            return Some(failure(class.unwrap_or(ErrorClass::Timeout), why));
        }
        Ending::Done
        | Ending::Interrupted
        | Ending::NotStarted
        | Ending::Barred { .. }
        | Ending::Limited { .. }
        | Ending::Refused { .. }
        | Ending::Unreachable { .. } => (),
    }
    if let Some(class) = class {
        let texts: Vec<String> = failing.iter().map(|it| check_text(it)).collect();
        return Some(failure(class, &texts.join("\n")));
    }
    if is_silent(phase, turn) {
        // Somebody can act on a file that is not there; the missing report only goes with it.
        let text = match evidence.missing.as_slice() {
            [] => "no report".to_owned(),
            paths => missing_words(paths),
        };
        return Some(failure(ErrorClass::Other, &text));
    }
    None
}

/// Whether a number can be that of things.
pub(crate) fn is_count(number: f64) -> bool {
    0.0 <= number && number.fract() == 0.0
}

/// Security findings and missed targets that the exit rule asks about have a class of their own: nobody
/// retries the first.
pub(crate) fn findings(phase: &Phase, metrics: &Metrics) -> Option<Failure> {
    let asked =
        |fact: FactName| metrics.get(fact.name()).map(|it| &it.value).filter(|_| phase.asks_for(fact.name()));
    for (fact, severity) in [(FactName::CriticalFindings, "critical"), (FactName::HighFindings, "high")] {
        if let Some(found) = asked(fact).and_then(Value::number).filter(|it| 0.0 < *it && is_count(*it)) {
            return Some(failure(ErrorClass::Security, &format!("{found} security findings: {severity}")));
        }
    }
    let is_missed = asked(FactName::PerfTargetsMet) == Some(&Value::Bool(false))
        && asked(FactName::PerfTargetsTotal).and_then(Value::number) != Some(0.0);
    is_missed.then(|| failure(ErrorClass::Performance, "the performance targets are not met"))
}

/// Returns which deliverables a call did not bring.
pub(crate) fn missing_words(paths: &[String]) -> String {
    format!("missing: {}", paths.join(", "))
}

pub(crate) fn failure(class: ErrorClass, text: &str) -> Failure {
    Failure { class, signature: signature(text), text: text.chars().take(ERROR_KEPT).collect() }
}

/// Where a runner names the tests that failed, the names say which error it is; the log would say
/// it differently each time.
fn check_text(result: &CheckResult) -> String {
    let CheckOutcome::Failed(why) = &result.outcome else { return String::new() };
    let named = result.counts.as_ref().map(|it| it.failed.join(" ")).unwrap_or_default();
    if named.is_empty() {
        return format!("{}: {why}\n{}", result.name, result.excerpt).trim_end().to_owned();
    }
    format!("{}: {named}\n{}", result.name, result.excerpt).trim_end().to_owned()
}

/// A promise that is not given yet is no missing report.
pub(crate) fn is_silent(phase: &Phase, turn: &Turn) -> bool {
    match &phase.report {
        Protocol::None | Protocol::Promise => false,
        Protocol::PrpStatus | Protocol::ExitSignal | Protocol::Json | Protocol::Frontmatter(_) => {
            !turn.ended.report.found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bp61_a_long_error_is_cut_and_known_by_all_of_it() {
        let long = "x".repeat(900);
        let kept = failure(ErrorClass::Other, &long);
        assert_eq!((kept.text, kept.signature), ("x".repeat(500), signature(&long)));
    }
}
