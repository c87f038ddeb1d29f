//! The banner of an open breaker, in the words that tools of a PRP session look for. It stands in `loop status`
//! in place of the question, whose answers are its options.

use crate::world::question_text::QuestionText;
use loop_core::engine::State;
use loop_core::facts::FactName;
use loop_core::workflow::model::Workflow;

/// The open breaker as the tools of a PRP session know it, with the answers as its options.
pub(crate) fn lines(workflow: &Workflow, state: &State, text: &QuestionText) -> String {
    let value = |name: FactName| state.visit.metrics.get(name.name()).map(|it| it.value.to_string());
    let mut lines = vec![
        "---CIRCUIT_BREAKER_OPEN---".to_owned(),
        format!("PHASE: {}", workflow.phases[state.phase].name),
        format!("REASON: {}", state.reason(workflow).lines().next().unwrap_or_default()),
        format!("ITERATIONS: {}", state.iterations_total),
    ];
    if let Some((passing, total)) = value(FactName::TestsPassing).zip(value(FactName::TestsTotal)) {
        lines.push(format!("TESTS_PASSING: {passing}/{total}"));
    }
    lines.extend(text.evidence.iter().map(|it| format!("  {it}")));
    lines.push("OPTIONS:".to_owned());
    lines.extend(text.choices().iter().filter_map(|it| {
        let (first, others) = it.trim_start().split_at_checked(1)?;
        Some(format!("[{}]{others}", first.to_uppercase()))
    }));
    lines.push("---END_CIRCUIT_BREAKER_OPEN---".to_owned());
    lines.into_iter().map(|it| format!("  {it}\n")).collect()
}
