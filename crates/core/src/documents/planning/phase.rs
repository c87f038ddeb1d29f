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

impl PlannedPhase {
    /// Returns the id of the task that somebody else calls like this, if there is one.
    pub fn task_named(&self, plan: &str, task: &str) -> Option<String> {
        let ids: BTreeSet<String> = self.plans.iter().map(|it| it.id.clone()).collect();
        let id = resolve(plan, ids.first()?, &ids, &BTreeSet::new())?;
        let plan = self.plans.iter().find(|it| it.id == id)?;
        let is_it = |it: &plan::Task| {
            plan::is_about(task, &it.name) || plan::is_about(task, &it.name.replace('|', "/"))
        };
        let number = || {
            let number: usize = task.trim().trim_start_matches("Task").trim().parse().ok()?;
            number.checked_sub(1).filter(|it| *it < plan.plan.tasks.len())
        };
        let index = plan.plan.tasks.iter().position(is_it).or_else(number)?;
        Some(plan.task_id(index + 1))
    }
}

/// Returns the phase that files with these names and texts make, or everything that is wrong with them.
/// `elsewhere` are the ids of plans of other phases, which may be depended on too.
pub fn assemble(
    files: &[(String, String)],
    elsewhere: &BTreeSet<String>,
) -> Result<PlannedPhase, Vec<String>> {
    let plan_ids: BTreeSet<String> =
        files.iter().filter_map(|it| plan_id(&it.0)).map(str::to_owned).collect();
    let written = files.iter().filter(|it| is_summary(&it.1));
    let summaries: BTreeSet<String> = written.filter_map(|it| summary_id(&it.0)).map(str::to_owned).collect();
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
            mistakes.push(match cycle.as_slice() {
                [one] => format!("{one}{PLAN} depends on itself"),
                several => format!("plans wait for each other: {}", several.join(", ")),
            });
            Vec::new()
        }
    };
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(PlannedPhase { plans, orphans: summaries.difference(&plan_ids).cloned().collect() })
}

/// Returns whether a summary says anything: an empty file says nothing about the work.
pub fn is_summary(text: &str) -> bool {
    !text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Returns the id of the plan that a summary with this name is of.
pub fn summary_id(name: &str) -> Option<&str> {
    stem(name, SUMMARY)
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

/// Returns whether a file looks like a plan and is none because of its name.
pub fn is_misnamed_plan(name: &str) -> bool {
    let upper = name.to_uppercase();
    let is_numbered = |rest: &str| rest.starts_with(|it: char| it.is_ascii_digit()) && rest.ends_with(".MD");
    let looks_like_one = upper == "PLAN.MD"
        || upper.ends_with("-PLAN.MD")
        || upper.ends_with("_PLAN.MD")
        || upper.strip_prefix("PLAN-").is_some_and(is_numbered);
    looks_like_one && plan_id(name).is_none()
}

/// Plans are written `03-01`, `01`, `1`, by their file's name, or with the folder of their phase: `03-auth-01`
/// and `03-auth/01`. A phase that is depended on as a whole is written as its folder.
fn resolve(wanted: &str, from: &str, ids: &BTreeSet<String>, elsewhere: &BTreeSet<String>) -> Option<String> {
    // What is no name at all may end like one.
    if wanted.trim().contains(|it: char| it.is_whitespace() || matches!(it, '[' | ']' | ',')) {
        return None;
    }
    let wanted = wanted.trim().trim_end_matches(".md").trim_end_matches("-PLAN");
    let last = wanted.rsplit('/').next().unwrap_or(wanted);
    for name in [wanted, last] {
        if ids.contains(name) || elsewhere.contains(name) {
            return Some(name.to_owned());
        }
    }
    let (phase, number) = match wanted.parse::<u32>() {
        Ok(number) => (place(from)?.0, number),
        Err(_) => place(wanted)?,
    };
    let is_it = |id: &&String| place(id).is_some_and(|it| it == (phase.clone(), number));
    ids.iter().find(is_it).or_else(|| elsewhere.iter().find(is_it)).cloned()
}

/// The phase and the number of a plan, as people write them: both of `03-01`, `3-1`, `03-auth-01`, `03-auth/01`
/// and `X-03-auth-01`.
fn place(name: &str) -> Option<(PhaseNumber, u32)> {
    let (head, last) = name.rsplit_once(['-', '/'])?;
    let number = last.parse().ok().filter(|_| last.bytes().all(|it| it.is_ascii_digit()))?;
    let begin = head.find(|it: char| it.is_ascii_digit())?;
    // What stands before the number of the phase is a name of the whole project.
    (begin == 0 || head[..begin].ends_with('-')).then_some(())?;
    Some((PhaseNumber::prefix(&head[begin..])?.0, number))
}

/// The order of plans within a wave: by phase, by number, `02b` after `02`.
fn key(plan: &PlanFile) -> (i64, Option<PhaseNumber>, Option<u32>, &str) {
    let phase = PhaseNumber::prefix(&plan.id).map(|it| it.0);
    let last = plan.id.rsplit('-').next().unwrap_or_default();
    let digits = last.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    (plan.plan.wave.unwrap_or(1), phase, digits.parse().ok(), &plan.id)
}

/// Every plan after those that it depends on, otherwise as they are; or the ids that form a cycle.
fn in_order(mut left: Vec<PlanFile>) -> Result<Vec<PlanFile>, Vec<String>> {
    let mut done: Vec<PlanFile> = Vec::new();
    while !left.is_empty() {
        let waits =
            |plan: &PlanFile| plan.plan.depends_on.iter().any(|it| left.iter().any(|other| other.id == *it));
        let Some(next) = left.iter().position(|it| !waits(it)) else {
            return Err(cycle(&left));
        };
        done.push(left.remove(next));
    }
    Ok(done)
}

/// The ids of plans that wait for each other, where every plan waits for another one.
fn cycle(left: &[PlanFile]) -> Vec<String> {
    let mut path: Vec<&PlanFile> = Vec::new();
    let mut next = left.first();
    while let Some(plan) = next {
        if let Some(begin) = path.iter().position(|it| it.id == plan.id) {
            path.drain(..begin);
            break;
        }
        path.push(plan);
        next = left.iter().find(|it| plan.plan.depends_on.contains(&it.id));
    }
    let mut ids: Vec<String> = path.into_iter().map(|it| it.id.clone()).collect();
    ids.sort();
    ids
}

#[cfg(test)]
mod tests {
    use super::{PlannedPhase, assemble, is_misnamed_plan};
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
            ("03-01-SUMMARY.md".to_owned(), "done\n".to_owned()),
            ("03-02-SUMMARY.md".to_owned(), " \n".to_owned()),
            ("03-09-SUMMARY.md".to_owned(), "done\n".to_owned()),
        ];
        let elsewhere = BTreeSet::from(["02-07".to_owned()]);
        let phase = assemble(&files, &elsewhere).expect("it is sound");
        assert_eq!(ids(&phase), [("03-03", false), ("03-02", false), ("03-01", true), ("03-10", false)]);
        assert_eq!(phase.orphans, ["03-09"]);
    }

    #[test]
    fn plans_are_depended_on_however_they_are_written() {
        let elsewhere = BTreeSet::from(["02-07".to_owned(), "02-users".to_owned()]);
        for wanted in
            ["03-01", "01", "1", "03-1", "3-01", "03-01-PLAN.md", "03-auth-01", "03-auth/01", "X-03-auth-01"]
        {
            let files = [
                plan("03-02-PLAN.md", &format!("depends_on: [\"{wanted}\"]")),
                plan("03-01-PLAN.md", "a: b"),
            ];
            let phase = assemble(&files, &elsewhere).unwrap_or_else(|it| panic!("{wanted}: {it:?}"));
            assert_eq!(phase.plans[1].plan.depends_on, ["03-01"], "{wanted}");
        }
        for wanted in ["02-users", "02-users-07", "2-7", "02-users/02-07"] {
            let files = [plan("03-01-PLAN.md", &format!("depends_on: [\"{wanted}\"]"))];
            assert!(assemble(&files, &elsewhere).is_ok(), "{wanted}");
        }
        for wanted in ["03-09", "9", "02-users-09", "04-auth-01", "auth", "[03-01, x: [A-01"] {
            let files = [
                plan("03-02-PLAN.md", &format!("depends_on: [\"{wanted}\"]")),
                plan("03-01-PLAN.md", "a: b"),
            ];
            assert!(assemble(&files, &elsewhere).is_err(), "{wanted}");
        }
        let lettered = ["03-02b-PLAN.md", "03-03-PLAN.md", "03-02-PLAN.md"].map(|it| plan(it, "a: b"));
        let phase = assemble(&lettered, &elsewhere).expect("it is sound");
        assert_eq!(ids(&phase).iter().map(|it| it.0).collect::<Vec<_>>(), ["03-02", "03-02b", "03-03"]);
    }

    #[test]
    fn tasks_are_known_by_what_others_call_them() {
        let text = "<task><name>Task 1: Log in</name></task><task><name>a | b</name></task>";
        let phase =
            assemble(&[("03-01-PLAN.md".to_owned(), text.to_owned())], &BTreeSet::new()).expect("sound");
        for (plan, task, number) in [
            ("03-01", "Task 1: Log in", 1),
            ("01", "Log in", 1),
            ("03-01", "Task 2", 2),
            ("3-1", "2", 2),
            ("03-01", "a / b", 2),
        ] {
            assert_eq!(phase.task_named(plan, task), Some(format!("03-01/{number}")), "{plan} {task}");
        }
        for (plan, task) in
            [("03-02", "Log in"), ("03-01", "Log out"), ("03-01", "3"), ("", ""), ("03-01", "0")]
        {
            assert_eq!(phase.task_named(plan, task), None, "{plan} {task}");
        }
    }

    #[test]
    fn names_that_plans_do_not_have_are_known() {
        for name in ["PLAN.md", "03-01-plan.md", "03-01-PLAN.MD", "03_01_PLAN.md", "PLAN-2.md"] {
            assert!(is_misnamed_plan(name), "{name}");
        }
        for name in ["03-01-PLAN.md", "03-PLAN-CHECK.md", "03-RESEARCH.md", "PLAN-REVIEW.md", "planning.md"] {
            assert!(!is_misnamed_plan(name), "{name}");
        }
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
