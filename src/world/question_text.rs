//! An open question as a person sees it, wherever that is: on the terminal, in `status`, in a
//! notification or through the hook. The words are the core's; here the report of a reviewer is found,
//! which lies among the files for other tools.

use loop_core::engine::{CheckOutcome, Offer, Question, QuestionKind, State, grounds_of, offers};
use loop_core::workflow::model::Workflow;
use loop_store::mirror;

/// What there is to know and to choose at a question.
pub(crate) struct QuestionText {
    pub evidence: Vec<String>,
    pub offers: Vec<Offer>,
}

impl QuestionText {
    pub(crate) fn of(workflow: &Workflow, state: &State, question: &Question) -> QuestionText {
        let mut evidence = grounds_of(workflow, state, question);
        if question.kind == QuestionKind::Rejected {
            evidence.extend(mirror::review_report(workflow).map(|it| format!("report: {}", it.display())));
        }
        QuestionText { evidence, offers: offers(workflow, state, question) }
    }

    /// Returns one line for each choice: what to type, and what it does.
    pub(crate) fn choices(&self) -> Vec<String> {
        let width = self.offers.iter().map(|it| it.typed().chars().count()).max().unwrap_or(0);
        self.offers.iter().map(|it| format!("  {:width$}  {}", it.typed(), it.does)).collect()
    }
}

/// Lines of a failing check that a question shows; the log of the check has all of them.
const OUTPUT_LINES: usize = 6;

/// Returns the end of what the first failing check printed, where a run is stuck. Where the agent failed by itself,
/// the check only says what was so before.
fn failing_output(state: &State, question: &Question) -> Vec<String> {
    if state.agent_fails() {
        return Vec::new();
    }
    let failing = state.feedback.iter().flat_map(|it| &it.failing);
    let failing = failing.filter(|it| matches!(it.outcome, CheckOutcome::Failed(_)));
    let Some(check) =
        failing.filter(|_| question.kind == QuestionKind::Breaker).find(|it| !it.excerpt.is_empty())
    else {
        return Vec::new();
    };
    let lines: Vec<&str> = check.excerpt.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(OUTPUT_LINES)..].iter().map(|it| format!("  | {it}"));
    std::iter::once(format!("  last lines of {}:", check.name)).chain(last).collect()
}

/// Returns the whole question as text: what is asked, what there is to know, and the choices.
pub(crate) fn whole(workflow: &Workflow, state: &State, question: &Question) -> String {
    let text = QuestionText::of(workflow, state, question);
    let mut lines = vec![format!("question {}: {}", question.id, question.text.replace('\n', "\n  "))];
    lines.extend(text.evidence.iter().map(|it| format!("  {it}")));
    lines.extend(failing_output(state, question));
    lines.extend(text.choices());
    lines.join("\n")
}
