//! One phase of a roadmap, put together from the files of its folder: its plans in the order in which
//! they can be done, with their tasks, and which of them have a summary of their own.

use super::number::PhaseNumber;
use super::plan::{self, Plan};
use std::collections::BTreeSet;

const PLAN: &str = "-PLAN.md";
const SUMMARY: &str = "-SUMMARY.md";

/// The plan of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    /// What stands before `-PLAN.md`: `03-01`.
    pub id: String,
    /// The name of the file.
    pub name: String,
    pub plan: Plan,
    pub has_summary: bool,
}

impl PlanFile {
    /// Returns the id of a task, counted from 1.
    pub fn task_id(&self, number: usize) -> String {
        format!("{}/{number}", self.id)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedPhase {
    pub plans: Vec<PlanFile>,
    /// Summaries of plans that there are not.
    pub orphans: Vec<String>,
}

/// Returns the phase that files with these names and texts make, or everything that is wrong with them.
/// `elsewhere` are the ids of plans of other phases, which may be depended on too.
pub fn assemble(
    files: &[(String, String)],
    elsewhere: &BTreeSet<String>,
) -> Result<PlannedPhase, Vec<String>> {
    let ids = |ending: &str| -> BTreeSet<String> {
        files.iter().filter_map(|it| stem(&it.0, ending)).map(str::to_owned).collect()
    };
    let (plan_ids, summaries) = (ids(PLAN), ids(SUMMARY));
    let (mut plans, mut mistakes) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let Some(id) = stem(name, PLAN) else { continue };
        match plan::read(text) {
            Ok(plan) => {
                let has_summary = summaries.contains(id);
                if plan.tasks.is_empty() && !has_summary {
                    mistakes.push(format!("{name} has no tasks: neither <task> elements nor checkboxes"));
                }
                plans.push(PlanFile { id: id.to_owned(), name: name.clone(), plan, has_summary });
            }
            Err(mistake) => mistakes.push(format!("{name}, {mistake}")),
        }
    }
    for plan in &mut plans {
        for wanted in &mut plan.plan.depends_on {
            match resolve(wanted, &plan.id, &plan_ids, elsewhere) {
                Some(id) => *wanted = id,
                None => {
                    mistakes.push(format!("{} depends on {wanted:?}, and no plan is called that", plan.name))
                }
            }
        }
    }
    plans.sort_by(|one, other| key(one).cmp(&key(other)));
    let plans = match in_order(plans) {
        Ok(plans) => plans,
        Err(cycle) => {
            mistakes.push(format!("plans wait for each other: {}", cycle.join(", ")));
            Vec::new()
        }
    };
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(PlannedPhase { plans, orphans: summaries.difference(&plan_ids).cloned().collect() })
}

/// Returns the id of the plan that a file name is of.
pub fn plan_id(name: &str) -> Option<&str> {
    stem(name, PLAN)
}

/// Returns the number of a plan within its phase: 2 for `03-02`, where it has one.
pub fn plan_number(id: &str) -> Option<u32> {
    let last = id.rsplit('-').next()?;
    last.parse().ok().filter(|_| last.bytes().all(|it| it.is_ascii_digit()))
}

fn stem<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    name.strip_suffix(ending).filter(|it| !it.is_empty())
}

/// Plans are written `03-01`, `01`, `1` or by their file's name.
fn resolve(wanted: &str, from: &str, ids: &BTreeSet<String>, elsewhere: &BTreeSet<String>) -> Option<String> {
    let wanted = wanted.trim().trim_end_matches(".md").trim_end_matches("-PLAN");
    if ids.contains(wanted) || elsewhere.contains(wanted) {
        return Some(wanted.to_owned());
    }
    let number: u32 = wanted.parse().ok()?;
    let phase = from.rsplit_once('-').map(|it| it.0);
    let is_it = |id: &&String| plan_number(id) == Some(number) && id.rsplit_once('-').map(|it| it.0) == phase;
    ids.iter().find(is_it).cloned()
}

fn key(plan: &PlanFile) -> (i64, Option<PhaseNumber>, Option<u32>, &str) {
    let phase = PhaseNumber::prefix(&plan.id).map(|it| it.0);
    (plan.plan.wave.unwrap_or(1), phase, plan_number(&plan.id), &plan.id)
}

/// Every plan after those that it depends on, otherwise as they are; or the ids that form a cycle.
fn in_order(mut left: Vec<PlanFile>) -> Result<Vec<PlanFile>, Vec<String>> {
    let mut done: Vec<PlanFile> = Vec::new();
    while !left.is_empty() {
        let waits =
            |plan: &PlanFile| plan.plan.depends_on.iter().any(|it| left.iter().any(|other| other.id == *it));
        let Some(next) = left.iter().position(|it| !waits(it)) else {
            return Err(left.into_iter().map(|it| it.id).collect());
        };
        done.push(left.remove(next));
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::{PlannedPhase, assemble};
    use std::collections::BTreeSet;

    fn plan(name: &str, head: &str) -> (String, String) {
        (name.to_owned(), format!("---\n{head}\n---\n<task><name>x</name></task>\n"))
    }

    fn ids(phase: &PlannedPhase) -> Vec<(&str, bool)> {
        phase.plans.iter().map(|it| (it.id.as_str(), it.has_summary)).collect()
    }

    #[test]
    fn plans_come_after_those_they_depend_on() {
        let files = [
            plan("03-10-PLAN.md", "wave: 2"),
            plan("03-02-PLAN.md", "depends_on: [03]\nwave: 1"),
            plan("03-01-PLAN.md", "wave: 2\ndepends_on: [02-07]"),
            plan("03-03-PLAN.md", "wave: 1"),
            ("03-01-SUMMARY.md".to_owned(), String::new()),
            ("03-09-SUMMARY.md".to_owned(), String::new()),
        ];
        let elsewhere = BTreeSet::from(["02-07".to_owned()]);
        let phase = assemble(&files, &elsewhere).expect("it is sound");
        assert_eq!(ids(&phase), [("03-03", false), ("03-02", false), ("03-01", true), ("03-10", false)]);
        assert_eq!(phase.orphans, ["03-09"]);
    }

    #[test]
    fn cycles_and_unknown_ids_are_named() {
        let wrong =
            |files: &[(String, String)]| assemble(files, &BTreeSet::new()).expect_err("wrong").join("; ");
        let cycle = [
            plan("03-01-PLAN.md", "depends_on: [03-02]"),
            plan("03-02-PLAN.md", "depends_on: [03-01]"),
            plan("03-03-PLAN.md", "a: b"),
        ];
        assert_eq!(wrong(&cycle), "plans wait for each other: 03-01, 03-02");
        assert_eq!(
            wrong(&[plan("03-01-PLAN.md", "depends_on: [03-07]")]),
            "03-01-PLAN.md depends on \"03-07\", and no plan is called that"
        );
        let empty = ("03-01-PLAN.md".to_owned(), "---\na: b\n---\nnothing\n".to_owned());
        assert!(wrong(&[empty]).contains("has no tasks"));
        assert!(
            wrong(&[("03-01-PLAN.md".to_owned(), "---\na: [\n---\n".to_owned())])
                .starts_with("03-01-PLAN.md, line 2: ")
        );
    }
}
