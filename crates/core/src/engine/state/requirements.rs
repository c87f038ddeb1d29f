//! What a run was asked for, row by row: every requirement and success criterion, the task that was to
//! bring it, and what shows that it did. Rows are taken when the run is opened and stay, whatever becomes
//! of the files they came from. A test that turned green closes a row by measurement, a verifier's word
//! closes it as a claim, a person closes it by theirs; only the proof makes a measurement final.

use crate::documents::planning::verification::{VerificationStatus, VerifiedTruth};
use crate::engine::journal::measured::evidence::Evidence;
use crate::engine::journal::task::item::Item;
use crate::engine::journal::task::requirement::{MetBy, Requirement, plain};
use crate::engine::state::parts::station::Turn;
use crate::engine::state::run_state::State;
use crate::facts::FactName;
use crate::proof::Proof;
use crate::report::Report;
use crate::workflow::model::Workflow;
use loop_base::value::Value;

/// Tests that one row names; more prove nothing that these do not.
const TESTS_NAMED: usize = 5;

/// What the ids of rows begin with that only a report asks a person about.
const FOR_PERSON: &str = "HV-";

/// Takes what a report says about the rows.
fn credit(rows: &mut [Requirement], report: &Report) {
    let verdict = match report.metrics.get(FactName::Verdict.name()) {
        Some(Value::Text(word)) => word.as_str(),
        Some(_) | None => "",
    };
    // A report that lists no truths speaks of all of them by its verdict.
    let all_hold = report.truths.is_empty()
        && matches!(
            VerificationStatus::named(verdict),
            Some(VerificationStatus::Passed | VerificationStatus::HumanNeeded)
        );
    for row in rows.iter_mut().filter(|it| it.by.is_none()) {
        row.for_person = report.for_person.iter().any(|it| names(row, it));
        if row.for_person {
            continue;
        }
        let holds = report.truths.iter().find(|it| it.holds && row.is_named(&it.about));
        if let Some(truth) = holds {
            row.by = Some(MetBy::Verifier);
            row.evidence = Some(evidence_of(truth));
        } else if all_hold {
            row.by = Some(MetBy::Verifier);
            row.evidence = Some(format!("the verifier says {verdict}"));
        }
    }
}

/// A line for a person names a row also where it says more than that.
fn names(row: &Requirement, said: &str) -> bool {
    let said = plain(said);
    let has = |words: &str| !words.is_empty() && format!(" {said} ").contains(&format!(" {words} "));
    has(&plain(&row.id)) || has(&plain(&row.text))
}

fn evidence_of(truth: &VerifiedTruth) -> String {
    if truth.evidence.is_empty() { "the verifier says so".to_owned() } else { truth.evidence.clone() }
}

impl State {
    /// Returns the rows that would be open after this report.
    pub(crate) fn requirements_open_after(&self, report: &Report) -> Vec<&Requirement> {
        let mut rows = self.requirements.clone();
        credit(&mut rows, report);
        let open = rows.iter().zip(&self.requirements).filter(|(after, _)| after.is_open());
        open.map(|(_, row)| row).collect()
    }

    /// Takes what an iteration that left its phase showed for the rows of its item.
    pub(crate) fn credit_item(&mut self, turn: &Turn, evidence: &Evidence) {
        let Some(item) = turn.call.item.as_deref() else { return };
        let claimed = turn.ended.report.commit();
        let commit = evidence.facts.commit_of_item(claimed.as_deref()).map(str::to_owned);
        let green = &self.visit.turned_green;
        for row in self.requirements.iter_mut().filter(|row| is_for(item, row)) {
            // The task and the commit belong to the evidence: a later task that shows nothing takes them from none.
            if green.is_empty() && !row.tests.is_empty() {
                continue;
            }
            row.task = Some(item.id.clone());
            row.commit = commit.clone().or(row.commit.take());
            if green.is_empty() || row.by == Some(MetBy::Person) {
                continue;
            }
            let fresh = green.iter().filter(|it| !row.tests.contains(it)).cloned();
            let fresh: Vec<String> = fresh.take(TESTS_NAMED.saturating_sub(row.tests.len())).collect();
            row.tests.extend(fresh);
            row.by = Some(MetBy::Measured);
            row.evidence = Some(row.tests.join(", "));
        }
    }

    /// Tests that do not pass any more show nothing: a row without any other is open again.
    pub(crate) fn withdraw_tests(&mut self, lost: &[String]) {
        let mut reopened = Vec::new();
        for row in self.requirements.iter_mut().filter(|it| it.by == Some(MetBy::Measured)) {
            let before = row.tests.len();
            row.tests.retain(|it| !lost.contains(it));
            if row.tests.is_empty() {
                (row.by, row.evidence, row.commit) = (None, None, None);
                reopened.push(row.id.clone());
            } else if row.tests.len() != before {
                row.evidence = Some(row.tests.join(", "));
            }
        }
        for id in reopened {
            self.warn(format!(
                "{id} is open again: the tests that showed it are gone or do not pass any more"
            ));
        }
    }

    pub(crate) fn credit_report(&mut self, report: &Report) {
        credit(&mut self.requirements, report);
    }

    /// The proof found the tests of a row, or did not.
    pub(crate) fn confirm_requirements(&mut self, proof: &Proof) {
        let red = proof.red_to_green.iter().map(|it| &it.id.name);
        let found: Vec<&String> = red.chain(proof.new_tests.iter().map(|it| &it.id.name)).collect();
        for row in self.requirements.iter_mut().filter(|it| it.by == Some(MetBy::Measured)) {
            row.proven = row.tests.iter().any(|it| found.contains(&it));
        }
    }

    /// Returns the ids of the rows that keep a person from skipping the phase which asks for all of them.
    pub(crate) fn requirements_to_waive(&self, workflow: &Workflow) -> Vec<&str> {
        if !workflow.phases[self.phase].asks_for(FactName::RequirementsOpen.name()) {
            return Vec::new();
        }
        self.requirements.iter().filter(|it| it.is_open()).map(|it| it.id.as_str()).collect()
    }

    /// Adds a row for each of these lines for a person that names no open row, so that a person can close it.
    pub(crate) fn add_rows_for_person(&mut self, lines: &[String]) {
        for line in lines {
            if let Some(row) = self.requirements.iter_mut().find(|it| it.by.is_none() && names(it, line)) {
                row.for_person = true;
                continue;
            }
            let count = self.requirements.iter().filter(|it| it.id.starts_with(FOR_PERSON)).count();
            let id = format!("{FOR_PERSON}{}", count + 1);
            self.requirements.push(Requirement { for_person: true, ..Requirement::new(id, line.as_str()) });
        }
    }

    /// Whether something was left to a person who has not said anything since.
    pub(crate) fn waits_for_look(&self) -> bool {
        !self.left_to_person.is_empty() && self.requirements.iter().any(|it| it.for_person && it.by.is_none())
    }

    /// A person accepts the row of this id, if there is one.
    pub(crate) fn accept_requirement(&mut self, id: &str, reason: &str) {
        for row in self.requirements.iter_mut().filter(|it| it.id.eq_ignore_ascii_case(id)) {
            row.by = Some(MetBy::Person);
            row.evidence = Some(format!("waived: {reason}"));
        }
    }

    /// A person approved what only a person could judge.
    pub(crate) fn approve_requirements(&mut self, by: &str) {
        for row in self.requirements.iter_mut().filter(|it| it.for_person && it.by.is_none()) {
            row.by = Some(MetBy::Person);
            row.evidence =
                Some(if by.is_empty() { "approved".to_owned() } else { format!("approved by {by}") });
        }
    }
}

fn is_for(item: &Item, row: &Requirement) -> bool {
    item.requirements.iter().any(|it| row.is_named(it))
}

#[cfg(test)]
mod tests {
    use super::{MetBy, Requirement, VerifiedTruth, credit};
    use crate::report::Report;
    use loop_base::value::Value;

    fn rows() -> Vec<Requirement> {
        vec![Requirement::new("AUTH-01", "People log in"), Requirement::new("SC-1", "People can log out")]
    }

    fn report(verdict: &str, truths: &[(&str, bool)]) -> Report {
        let truths = truths.iter().map(|(about, holds)| VerifiedTruth {
            about: (*about).into(),
            holds: *holds,
            ..VerifiedTruth::default()
        });
        let metrics = [("verdict".to_owned(), Value::from(verdict))].into();
        Report { found: true, metrics, truths: truths.collect(), ..Report::default() }
    }

    #[test]
    fn rows_are_named_by_id_or_by_the_same_words() {
        let row = &rows()[1];
        for said in ["SC-1", "sc-1: People can log out", "**People can log out.**"] {
            assert!(row.is_named(said), "{said}");
        }
        for said in ["SC-11", "People can log", "", "People can log out twice"] {
            assert!(!row.is_named(said), "{said}");
        }
    }

    #[test]
    fn a_verifier_closes_the_rows_that_it_lists() {
        let closed = |report: &Report| -> Vec<&'static str> {
            let mut rows = rows();
            credit(&mut rows, report);
            rows.iter().map(Requirement::standing).collect()
        };
        assert_eq!(closed(&report("passed", &[("AUTH-01", true)])), ["claimed", "open"]);
        assert_eq!(
            closed(&report("passed", &[("AUTH-01", true), ("People can log out", false)])),
            ["claimed", "open"]
        );
        assert_eq!(closed(&report("passed", &[])), ["claimed", "claimed"]);
        assert_eq!(closed(&report("gaps_found", &[])), ["open", "open"]);
        let mut looks = report("human_needed", &[]);
        looks.for_person = vec!["Look whether people can log out; expected: yes".to_owned()];
        assert_eq!(closed(&looks), ["claimed", "open for a person"]);
    }

    #[test]
    fn what_was_measured_stays_so() {
        let mut rows = rows();
        rows[0].by = Some(MetBy::Measured);
        credit(&mut rows, &report("passed", &[]));
        assert_eq!((rows[0].by, rows[1].by), (Some(MetBy::Measured), Some(MetBy::Verifier)));
    }
}
