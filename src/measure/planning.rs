//! The planning folder of a project as it lies on the disk: which folder a phase has, its plans and
//! summaries, and the items that they make. What the texts mean is the core's business.

use loop_base::files;
use loop_core::digest::sha256;
use loop_core::documents::planning::number::PhaseNumber;
use loop_core::documents::planning::phase::{self, PlanFile, PlannedPhase};
use loop_core::documents::planning::plan;
use loop_core::engine::{Item, ItemList, RefusedPlan};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Where a project keeps its plans, relative to its top.
pub(crate) const FOLDER: &str = ".planning";

/// Where the phases are.
pub(crate) const PHASES: &str = ".planning/phases";

/// Where phases of earlier milestones are put away, as `v1-phases/03-name` or `v1/phases/03-name`.
const MILESTONES: &str = ".planning/milestones";

/// Files of one folder that are looked at; a phase has a handful of plans.
const FILES_MOST: usize = 10_000;

/// A document of a phase is text that people and agents read whole.
const DOCUMENT_MOST: usize = 1 << 20;

/// Plans for gaps are small, so that each of them closes something.
const GAP_TASKS_MOST: usize = 2;

/// Reads a document to look at it, whatever is in it; `None` where there is none that can be read.
pub(crate) fn document(place: &Path, name: &str) -> Option<String> {
    let bytes = files::bytes(&place.join(name), DOCUMENT_MOST).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a document that settles something or is written again, byte for byte; `None` where there is none, or why
/// one that is there cannot be read.
pub(crate) fn readable(place: &Path, name: &str) -> Result<Option<String>, String> {
    match files::bytes(&place.join(name), DOCUMENT_MOST) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Some(text)),
            Ok(_) | Err(_) => Err("cannot be read: it is not UTF-8 text".to_owned()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// Returns the folders of a phase, relative to the top: `03-accounts` is one of 3, and `10-…` is not.
pub(crate) fn phase_folders(place: &Path, number: &PhaseNumber) -> Vec<String> {
    let is_it = |name: &String| {
        PhaseNumber::prefix(name)
            .is_some_and(|(found, rest)| found == *number && (rest.is_empty() || rest.starts_with('-')))
    };
    let names = names(&place.join(PHASES)).into_iter().filter(is_it);
    names.map(|it| format!("{PHASES}/{it}")).filter(|it| place.join(it).is_dir()).collect()
}

/// Whether a folder has any plans.
pub(crate) fn has_plans(place: &Path, folder: &str) -> bool {
    names(&place.join(folder)).iter().any(|it| phase::plan_id(it).is_some())
}

/// Returns the files of a folder that look like plans and are not read as such, because of their names.
pub(crate) fn misnamed_plans(place: &Path, folder: &str) -> Vec<String> {
    names(&place.join(folder)).into_iter().filter(|it| phase::is_misnamed_plan(it)).collect()
}

/// Reads the plans of a phase, or returns everything that is wrong with them. Those that were refused are
/// passed over until somebody changes them.
pub(crate) fn read_phase(
    place: &Path,
    folder: &str,
    refused: &[RefusedPlan],
) -> Result<PlannedPhase, Vec<String>> {
    let is_refused = |(name, text): &(String, String)| {
        refused.iter().any(|it| it.name == *name && it.digest == sha256(text))
    };
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for name in names(&place.join(folder)).into_iter().filter(|it| it.ends_with(".md")) {
        match readable(place, &format!("{folder}/{name}")) {
            Ok(Some(text)) => files.push((name, text)),
            Ok(None) if phase::plan_id(&name).is_some() => {
                unreadable.push(format!("{name} cannot be read: it is a link to nowhere"));
            }
            Err(why) if phase::plan_id(&name).is_some() => unreadable.push(format!("{name} {why}")),
            // What a summary says is for people; that there is one closes its plan.
            Err(_) if phase::summary_id(&name).is_some() => {
                let text = document(place, &format!("{folder}/{name}"));
                files.extend(text.map(|it| (name, it)));
            }
            // Whatever else lies there is no plan that could be forgotten.
            Ok(None) | Err(_) => (),
        }
    }
    files.retain(|it| !is_refused(it));
    match (phase::assemble(&files, &plans_elsewhere(place, folder)), unreadable.is_empty()) {
        (found, true) => found,
        (Ok(_), false) => Err(unreadable),
        (Err(mistakes), false) => Err([unreadable, mistakes].concat()),
    }
}

/// Ids of the plans of the other phases, beside this one and in milestones that were put away, and the names of
/// their folders.
fn plans_elsewhere(place: &Path, folder: &str) -> BTreeSet<String> {
    let own = place.join(folder);
    let put_away = place.join(MILESTONES);
    let milestones = names(&put_away).into_iter().map(|it| put_away.join(it));
    let milestones = milestones.flat_map(|it| [it.join("phases"), it]);
    let mut found = BTreeSet::new();
    for phases in own.parent().map(Path::to_path_buf).into_iter().chain(milestones) {
        for name in names(&phases).into_iter().filter(|it| phases.join(it) != own) {
            let plans = names(&phases.join(&name));
            found.extend(plans.iter().filter_map(|it| phase::plan_id(it)).map(str::to_owned));
            found.insert(name);
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MOST);
    let mut names: Vec<String> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns the tasks of every plan in their order. A task that is known keeps its id, wherever it stands now.
pub(crate) fn items(phase: &PlannedPhase, folder: &str, known: Option<&ItemList>) -> Vec<Item> {
    let mut found: Vec<Item> = phase
        .plans
        .iter()
        .flat_map(|plan| plan.plan.tasks.iter().enumerate().map(move |task| item(plan, folder, task)))
        .collect();
    let Some(known) = known else { return found };
    if known.all().next().is_some() {
        keep_ids(&mut found, known);
        keep_for_people(&mut found, known);
    }
    with_summaries(found, phase, folder, known)
}

/// Adds the writing of the summary to the tasks of each plan that lacks nothing else: a plan is done when it has
/// one, and where a person settled its last task nobody else would write it.
fn with_summaries(found: Vec<Item>, phase: &PlannedPhase, folder: &str, known: &ItemList) -> Vec<Item> {
    let mut all = Vec::with_capacity(found.len());
    let mut found = found.into_iter().peekable();
    for plan in &phase.plans {
        let is_own = |it: &Item| it.group.as_deref() == Some(plan.id.as_str());
        let mut is_done = true;
        while let Some(item) = found.next_if(is_own) {
            is_done &= known.is_done(&item.id);
            all.push(item);
        }
        // One that was asked for stays listed, so that the list does not lose what is done.
        let summary = summary_item(plan, folder);
        let was_asked = known.all().any(|it| it.0.id == summary.id);
        if was_asked || (is_done && !plan.has_summary) {
            all.push(summary);
        }
    }
    all.extend(found);
    all
}

fn summary_item(plan: &PlanFile, folder: &str) -> Item {
    let name = format!("{}-SUMMARY.md", plan.id);
    let mut item = Item::new(Item::summary_id(&plan.id), format!("Write {name}"));
    item.kind = Some(Item::SUMMARY.to_owned());
    item.group = Some(plan.id.clone());
    item.body = Some(format!("{folder}/{}", plan.name));
    item.files = vec![format!("{folder}/{name}")];
    item
}

/// Gives tasks the ids that they had when the list was read before. An id is the number of a task in its
/// plan, and a task that is put in above others moves their numbers: without this it would pass for one
/// that is done, and a done one for new.
fn keep_ids(found: &mut [Item], known: &ItemList) {
    let known_items: Vec<&Item> = known.all().map(|it| it.0).collect();
    let mut ids: Vec<Option<String>> = vec![None; found.len()];
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let is_same: [fn(&Item, &Item) -> bool; 3] = [
        |one, other| one.name == other.name,
        |one, other| begins_alike(&one.name, &other.name),
        // Another name at its old place: it was written again.
        |one, other| one.id == other.id,
    ];
    for (stage, is_same) in is_same.iter().enumerate() {
        for (item, id) in found.iter().zip(&mut ids).filter(|it| it.1.is_none()) {
            let fits = |it: &&&Item| {
                let is_free = !taken.contains(&it.id) && it.group == item.group;
                // A task that is done was done by its name, so another name is another task.
                is_free && is_same(item, it) && (stage < 2 || !known.is_done(&it.id))
            };
            if let Some(it) = known_items.iter().find(fits) {
                taken.insert(it.id.clone());
                *id = Some(it.id.clone());
            }
        }
    }
    for (item, id) in found.iter_mut().zip(ids) {
        item.id = match id {
            Some(id) => id,
            None => fresh_id(item, known, &taken),
        };
        taken.insert(item.id.clone());
    }
}

/// A task that is for a person stays one, whatever its file says meanwhile: agents can edit it.
fn keep_for_people(found: &mut [Item], known: &ItemList) {
    for item in found.iter_mut().filter(|it| it.checkpoint().is_none()) {
        let asked = known.all().find(|(it, is_done)| it.id == item.id && !is_done);
        if let Some((asked, _)) = asked.filter(|it| it.0.checkpoint().is_some()) {
            item.clone_from(asked);
        }
    }
}

/// An id that no task of the plan has or had.
fn fresh_id(item: &Item, known: &ItemList, taken: &BTreeSet<String>) -> String {
    let is_free =
        |id: &String| !taken.contains(id) && !known.is_done(id) && known.all().all(|it| it.0.id != *id);
    let plan = item.group.as_deref().unwrap_or_default();
    let numbered = (1..).map(|it| format!("{plan}/{it}"));
    std::iter::once(item.id.clone()).chain(numbered).find(is_free).unwrap_or_else(|| item.id.clone())
}

/// Whether one name begins with the other: agents that tick a task add a mark or the name of a commit.
fn begins_alike(one: &str, other: &str) -> bool {
    fn words(text: &str) -> Vec<String> {
        let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        words.map(str::to_lowercase).collect()
    }
    let (one, other) = (words(one), words(other));
    let least = one.len().min(other.len());
    // One or two words begin many names: `Task 1`, `Add tests`.
    2 < least && one[..least] == other[..least]
}

fn item(plan: &PlanFile, folder: &str, (index, task): (usize, &plan::Task)) -> Item {
    let mut item = Item::new(plan.task_id(index + 1), &task.name);
    item.kind = Some(task.kind.clone());
    item.group = Some(plan.id.clone());
    item.body = Some(format!("{folder}/{}", plan.name));
    item.files.clone_from(&task.files);
    item.requirements = plan.plan.requirements.iter().chain(&plan.plan.truths).cloned().collect();
    if item.checkpoint().is_some() {
        item.about.clone_from(&task.about);
        item.options.clone_from(&task.options);
        item.resume.clone_from(&task.resume);
    }
    item
}

/// Returns the ids of the tasks that the files say are done: those of plans with a summary, and those
/// that are ticked.
pub(crate) fn done(phase: &PlannedPhase) -> Vec<String> {
    let tasks = phase.plans.iter().flat_map(|plan| {
        let is_done = |task: &plan::Task| plan.has_summary || task.ticked;
        let done = plan.plan.tasks.iter().enumerate().filter(move |it| is_done(it.1));
        done.map(|it| plan.task_id(it.0 + 1))
    });
    tasks.collect()
}

/// Says why a plan that a call added closes none of the gaps, if so. `before` is the highest number that
/// a plan had before the call.
pub(crate) fn refused_gap_plan(name: &str, text: &str, before: u32, gaps: &[String]) -> Option<String> {
    let plan = match plan::read(text) {
        Ok(plan) => plan,
        Err(mistake) => return Some(mistake.to_string()),
    };
    let number = phase::plan_id(name).and_then(phase::plan_number);
    if number.is_none_or(|it| it <= before) {
        return Some(format!("its number does not follow the highest that there was, {before:02}"));
    }
    if !plan.gap_closure {
        return Some("it does not say gap_closure: true".to_owned());
    }
    match plan.tasks.len() {
        0 => return Some("it has no tasks".to_owned()),
        1..=GAP_TASKS_MOST => (),
        many => return Some(format!("it has {many} tasks; a plan for gaps has 1 or 2")),
    }
    let names_one = gaps.is_empty() || gaps.iter().any(|it| plan::names_gap(text, it));
    (!names_one).then(|| "it names none of the gaps that verification found".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Item, ItemList, keep_ids};
    use loop_core::engine::{Event, Listing};

    fn tasks(names: &[&str]) -> Vec<Item> {
        let task = |(index, name): (usize, &&str)| Item {
            group: Some("03-01".to_owned()),
            ..Item::new(format!("03-01/{}", index + 1), *name)
        };
        names.iter().enumerate().map(task).collect()
    }

    /// The ids of a plan that first had three tasks, of which the first is done.
    fn ids(names: &[&str]) -> Vec<String> {
        let mut known = ItemList::default();
        known.follow(&Event::Listed(Listing::Whole(tasks(&["Add the login page", "Add logout", "Test"]))));
        known.follow(&Event::ItemDone { id: "03-01/1".to_owned(), also: Vec::new() });
        let mut found = tasks(names);
        keep_ids(&mut found, &known);
        found.into_iter().map(|it| it.id.replace("03-01/", "")).collect()
    }

    #[test]
    fn a_task_keeps_its_id_wherever_it_stands() {
        assert_eq!(ids(&["Add the login page", "Add logout", "Test"]), ["1", "2", "3"]);
        assert_eq!(ids(&["Fix the build", "Add the login page", "Add logout", "Test"]), ["4", "1", "2", "3"]);
        assert_eq!(ids(&["Test", "Add the login page", "Add logout"]), ["3", "1", "2"]);
        assert_eq!(ids(&["Add logout", "Test"]), ["2", "3"]);
        // Two new ones of the same name are two.
        assert_eq!(ids(&["More", "More", "Add logout"]), ["4", "5", "2"]);
    }

    #[test]
    fn another_name_is_another_task_once_its_own_was_done() {
        assert_eq!(ids(&["Add the login page (done in abc1234)", "Add logout", "Test"]), ["1", "2", "3"]);
        assert_eq!(ids(&["Draw a map", "Add logout", "Test"]), ["4", "2", "3"]);
        assert_eq!(ids(&["Add the login page", "Let people out", "Test"]), ["1", "2", "3"]);
    }
}
