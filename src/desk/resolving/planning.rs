//! A phase of a planning folder as the input of a run: which one is meant, what its roadmap asks for,
//! what its files say is done, and what the project's own `config.json` sets. Everything that could make
//! such a run pointless is said here, before the first call; nothing is written.

use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::planning_ledger;
use crate::measure::planning::{self, FOLDER};
use loop_base::text::counted;
use loop_core::digest::sha256;
use loop_core::documents::planning::config::{self, Config};
use loop_core::documents::planning::number::PhaseNumber;
use loop_core::documents::planning::phase::PlannedPhase;
use loop_core::documents::planning::roadmap::{self, RoadmapPhase};
use loop_core::documents::planning::{learnings, state_file};
use loop_core::engine::{Beginning, Opening, Requirement};
use loop_core::workflow::model::{ItemSource, ModeName, Next, PhaseId, Protocol, Workflow};
use loop_store::mirror::planning as loop_state;
use std::path::Path;

const ROADMAP: &str = ".planning/ROADMAP.md";
const STATE: &str = ".planning/STATE.md";
const LEARNINGS: &str = ".planning/LEARNINGS.md";
const CONFIG: &str = ".planning/config.json";
const REQUIREMENTS: &str = ".planning/REQUIREMENTS.md";

/// What stands for the folder of the phase in a workflow, until the phase is known.
const FOLDER_OF_INPUT: &str = ".planning/phases/{{ input }}-*";

/// What stands for the heading of the phase in the roadmap.
const HEADING_OF_INPUT: &str = "#Phase {{ input }}";

/// Rows of the table of requirements; a phase has a handful.
const ROWS_MOST: usize = 100;

/// A phase that a run is to work on.
pub(crate) struct PhaseInput {
    pub number: PhaseNumber,
    plans: PlannedPhase,
    /// What the run is to know when it is opened.
    beginning: Box<Beginning>,
    /// Another controller had begun with it.
    imported: bool,
    /// What people should know.
    pub warnings: Vec<String>,
    /// The position, where it is missing.
    state_file: Option<String>,
    /// Why another controller was stuck here, if it was.
    pub stuck: Option<String>,
}

impl PhaseInput {
    /// Adds to the opening of a run what its phase says.
    pub(crate) fn add_to(&self, opening: Opening) -> Opening {
        Opening { beginning: self.beginning.clone(), imported: self.imported, ..opening }
    }

    /// Takes over how far another controller had come, by the state file that it left. A limit of the command line
    /// wins over the one in the file, and that one over the configuration: it is the one that was set for this phase.
    pub(crate) fn import(
        &mut self,
        project: &Path,
        workflow: &mut Workflow,
        most: Option<u32>,
    ) -> anyhow::Result<()> {
        let Some(text) = planning::document(project, loop_state::NAME) else { return Ok(()) };
        let found = loop_state::import::read(&text).map_err(|why| Refusal {
            text: format!("{} is damaged: {why}", loop_state::NAME),
            next: Some(NextStep::ByHand(format!(
                "repair {}, or start over with loop run {} --fresh; the file is kept",
                loop_state::NAME,
                self.number
            ))),
            exit: 8,
        })?;
        if found.phase != self.number || found.is_complete {
            return Ok(());
        }
        let rejecting = workflow.phases.iter().find(|it| it.reject.is_some());
        if let Some(phase) = rejecting.filter(|_| 0 < found.gap_cycles) {
            self.beginning.rejections.insert(phase.name.clone(), found.gap_cycles);
        }
        self.beginning.iterations = found.iterations;
        workflow.limits.iterations = most.or(found.max_iterations).or(workflow.limits.iterations);
        self.beginning.failed_in_a_row = failures(&found, workflow);
        let done = planning_ledger::done(project, &self.plans, &loop_state::import::done_rows(&text));
        for id in done {
            if !self.beginning.done.contains(&id) {
                self.beginning.done.push(id);
            }
        }
        self.imported = true;
        self.warnings.push(format!(
            "continues where {} ended: {} and {} done{}; a copy of it is kept with the run",
            loop_state::NAME,
            counted(found.iterations, "iteration"),
            counted(self.beginning.done.len(), "task"),
            match self.beginning.failed_in_a_row {
                0 => String::new(),
                failed => format!(", {} in a row", counted(failed, "failure")),
            }
        ));
        self.stuck = found.stuck;
        Ok(())
    }

    /// Writes the position, where it is missing.
    pub(crate) fn write_missing(&self, place: &Path) -> anyhow::Result<()> {
        if let Some(text) = &self.state_file {
            loop_base::files::replace(&place.join(STATE), text)?;
        }
        Ok(())
    }
}

/// How many failures in a row another controller's count for here. It looked at its threshold only after an
/// iteration, so one that had not halted makes another call.
fn failures(found: &loop_state::import::ImportedPlanning, workflow: &Workflow) -> u32 {
    let threshold = workflow.phases.first().and_then(|it| it.breaker.failures);
    match threshold {
        Some(threshold) if found.stuck.is_none() => found.failures.min(threshold.saturating_sub(1)),
        Some(_) | None => found.failures,
    }
}

/// Finds the phase that is meant, and gives the workflow what the planning folder says.
pub(crate) fn find(
    request: &RunRequest,
    project: &Path,
    workflow: &mut Workflow,
    today: &str,
) -> anyhow::Result<PhaseInput> {
    let read = |name: &str| planning::document(project, name);
    let Some(text) = readable(project, ROADMAP)? else {
        let text = format!("no project: {} has no {ROADMAP}", project.display());
        return Err(Refusal::usage(
            text,
            NextStep::ByHand(format!(
                "write {ROADMAP} with a heading \"### Phase 1: NAME\", then loop setup plan"
            )),
        ));
    };
    let config_text = readable(project, CONFIG)?;
    let config = read_config(config_text.as_deref())?;
    if config.enabled == Some(false) {
        return Err(Refusal::usage(
            format!("the loop is off: loop.enabled is false in {CONFIG}"),
            NextStep::ByHand(format!("set it to true in {CONFIG}")),
        ));
    }
    let phases = roadmap::phases(&text);
    let number = number(request, read(STATE).as_deref(), &phases)?;
    let (folder, phase) = plans(project, &number, &phases)?;
    let known = phases.iter().find(|it| it.number == number);
    let unknown = known.is_none().then_some(&number);
    let mut warnings = warnings(project, &config, &folder, &phase, unknown);
    apply(&config, request, workflow)?;
    fill_validation(workflow, &config, read(LEARNINGS).as_deref());
    point_at(workflow, &folder, known.map_or("", |it| it.heading.as_str()));
    let mut beginning = Beginning {
        title: known.map(|it| it.heading.clone()),
        goal: known.map(|it| it.goal.clone()).filter(|it| !it.is_empty()),
        config: Some(sha256(config_text.as_deref().unwrap_or_default())),
        requirements: requirements(known, &phase, read(REQUIREMENTS).as_deref()),
        done: planning::done(&phase),
        ..Beginning::default()
    };
    if known.is_some() && beginning.requirements.is_empty() {
        warnings.push(format!(
            "{ROADMAP} names no requirements and no success criteria for phase {number}; only its goal is verified"
        ));
    }
    if config.verifier == Some(false) {
        beginning.off = without_verifier(workflow);
    }
    // One that is there and cannot be read is a person's all the same.
    let state = planning::readable(project, STATE);
    warnings.extend(state.as_ref().err().map(|why| format!("{STATE} {why}; it is not changed")));
    let state_file = (state == Ok(None)).then(|| state_file::rebuilt(&phases, &number, today));
    warnings
        .extend(state_file.as_ref().map(|_| format!("{STATE} was missing and is rebuilt from {ROADMAP}")));
    Ok(PhaseInput {
        number,
        plans: phase,
        beginning: Box::new(beginning),
        imported: false,
        warnings,
        state_file,
        stuck: None,
    })
}

/// What is wrong with the planning folder and does not keep a run from working.
fn warnings(
    project: &Path,
    config: &Config,
    folder: &str,
    phase: &PlannedPhase,
    unknown: Option<&PhaseNumber>,
) -> Vec<String> {
    let read = |name: &str| planning::document(project, name);
    let orphans = phase.orphans.iter();
    let orphans = orphans.map(|it| format!("{it}-SUMMARY.md has no plan and is ignored"));
    let misnamed = planning::misnamed_plans(project, folder).into_iter();
    let misnamed =
        misnamed.map(|it| format!("{folder}/{it} is not read as a plan: its name does not end in -PLAN.md"));
    let unknown = unknown.map(|it| {
        format!("{ROADMAP} has no heading \"### Phase {it}:\", so the goal of phase {it} is unknown")
    });
    let mut warnings: Vec<String> = orphans.chain(misnamed).chain(unknown).collect();
    if read(LEARNINGS).is_none() {
        warnings.push(format!("{LEARNINGS} is missing; loop setup plan writes one"));
    }
    if config.parallel_waves == Some(true) {
        let says = "loop.parallel_waves is true; plans are worked on one after the other";
        warnings.push(format!("{CONFIG}: {says}"));
    }
    for (name, most) in [(LEARNINGS, learnings::LINES_MOST), (STATE, state_file::LINES_MOST)] {
        let lines = read(name).map_or(0, |it| it.lines().count());
        if most < lines {
            warnings.push(format!("{name} has {lines} lines; keep it below {most}, merge and archive"));
        }
    }
    warnings
}

/// Gives the check `validation` its commands where the workflow names none.
fn fill_validation(workflow: &mut Workflow, config: &Config, learned: Option<&str>) {
    let commands = match config.validation_commands.as_slice() {
        [] => learned.map(learnings::validation).unwrap_or_default(),
        named => named.to_vec(),
    };
    let check = workflow.checks.get_mut("validation").filter(|it| it.run.is_none());
    if let Some(check) = check {
        check.run = match commands.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(format!("set -e\n{}", several.join("\n"))),
        };
    }
}

/// A model that a person names on the command line is asked by every role.
pub(crate) fn one_model(workflow: &mut Workflow) {
    workflow.models.profile = None;
}

/// Gives a workflow that was read again what was settled when the run was opened.
pub(crate) fn keep_settled(kept: &Workflow, files: &mut Workflow) {
    files.limits.iterations = kept.limits.iterations;
    files.models.profile.clone_from(&kept.models.profile);
    files.mode.clone_from(&kept.mode);
    files.finish.clone_from(&kept.finish);
    files.items.clone_from(&kept.items);
    for (phase, kept) in files.phases.iter_mut().zip(&kept.phases) {
        phase.report.clone_from(&kept.report);
        phase.context.clone_from(&kept.context);
        phase.next = kept.next;
        phase.breaker.failures = kept.breaker.failures;
    }
}

/// Reads a document that settles what a run is to do: one that cannot be read is not taken for a missing one.
fn readable(project: &Path, name: &str) -> anyhow::Result<Option<String>> {
    planning::readable(project, name).map_err(|why| {
        Refusal::usage(
            format!("{name} {why}"),
            NextStep::ByHand(format!("repair {name}; nothing was changed")),
        )
    })
}

/// Reads the project's configuration, and names every mistake with its line.
fn read_config(text: Option<&str>) -> anyhow::Result<Config> {
    config::read(text.unwrap_or("{}")).map_err(|mistakes| {
        let said: Vec<String> = mistakes.iter().map(|it| format!("{CONFIG}, {it}")).collect();
        Refusal::usage(said.join("\n"), NextStep::ByHand(format!("repair {CONFIG}; nothing was changed")))
    })
}

/// The phase that somebody calls `3` or `phase 3`.
pub(crate) fn named(text: &str) -> Option<PhaseNumber> {
    let text = text.trim();
    let word = text.get(.."phase".len()).filter(|it| it.eq_ignore_ascii_case("phase"));
    let rest = word.and_then(|it| text[it.len()..].strip_prefix(' '));
    PhaseNumber::read(rest.unwrap_or(text).trim())
}

fn number(request: &RunRequest, state: Option<&str>, phases: &[RoadmapPhase]) -> anyhow::Result<PhaseNumber> {
    match &request.input {
        Some(text) => named(text).ok_or_else(|| no_phase(&format!("{text:?} is not a phase"), phases)),
        None => state
            .and_then(state_file::current_phase)
            .ok_or_else(|| no_phase(&format!("no phase is named, and {STATE} names none"), phases)),
    }
}

fn no_phase(text: &str, phases: &[RoadmapPhase]) -> anyhow::Error {
    let known: Vec<String> = phases.iter().map(|it| it.number.to_string()).collect();
    match known.as_slice() {
        [] => {
            let help = format!("write a heading \"### Phase 1: NAME\" in {ROADMAP}");
            Refusal::usage(text.to_owned(), NextStep::ByHand(help))
        }
        [first, ..] => {
            let text = format!("{text}; the phases of {ROADMAP} are {}", known.join(", "));
            Refusal::usage(text, NextStep::ByHand(format!("name one of them, as loop run {first}")))
        }
    }
}

/// The folder and the plans of a phase, or what is wrong with them.
fn plans(
    project: &Path,
    number: &PhaseNumber,
    phases: &[RoadmapPhase],
) -> anyhow::Result<(String, PlannedPhase)> {
    let is_known = phases.iter().any(|it| it.number == *number);
    let folders = planning::phase_folders(project, number);
    let mut planned = folders.iter().filter(|it| planning::has_plans(project, it));
    let folder = planned.next().or(folders.first()).cloned();
    if let (Some(one), Some(other)) = (&folder, planned.next()) {
        return Err(Refusal::usage(
            format!("phase {number} has plans in two folders: {one} and {other}"),
            NextStep::ByHand(format!(
                "put the plans of phase {number} into one of them, then loop run {number}"
            )),
        ));
    }
    if folder.is_none() && !is_known {
        return Err(no_phase(&format!("there is no phase {number}"), phases));
    }
    let padded = number.padded();
    let wanted = folder.clone().unwrap_or_else(|| format!("{FOLDER}/phases/{padded}-NAME"));
    let none = || {
        Refusal::usage(
            format!("phase {number} has no plans in {wanted}"),
            NextStep::ByHand(format!(
                "write {wanted}/{padded}-01-PLAN.md with its tasks, then loop run {number}"
            )),
        )
    };
    let folder = folder.ok_or_else(none)?;
    let phase = planning::read_phase(project, &folder, &[]).map_err(|mistakes| {
        let at = |it: &String| if it.contains("-PLAN.md") { "/" } else { ": " };
        let said: Vec<String> = mistakes.iter().map(|it| format!("{folder}{}{it}", at(it))).collect();
        Refusal::usage(said.join("\n"), NextStep::ByHand(format!("repair the plans, then loop run {number}")))
    })?;
    if phase.plans.is_empty() {
        return Err(none());
    }
    Ok((folder, phase))
}

/// What the project's configuration sets; flags win.
fn apply(config: &Config, request: &RunRequest, workflow: &mut Workflow) -> anyhow::Result<()> {
    if request.max.is_none() {
        workflow.limits.iterations = config.max_iterations.or(workflow.limits.iterations);
    }
    for phase in workflow.phases.iter_mut().filter(|it| it.each.is_some()) {
        phase.breaker.failures = config.stuck_threshold.or(phase.breaker.failures);
    }
    if let Some(profile) = &config.model_profile {
        if !workflow.models.profiles.contains_key(profile) {
            let known: Vec<&str> = workflow.models.profiles.keys().map(String::as_str).collect();
            let text = format!("{CONFIG}: model_profile is {profile:?}, and no profile is called that");
            return Err(Refusal::usage(
                text,
                NextStep::ByHand(format!("write one of: {}", known.join(", "))),
            ));
        }
        workflow.models.profile = Some(profile.clone());
    }
    if request.model.is_some() {
        one_model(workflow);
    }
    if let Some(autonomous) = config.autonomous {
        workflow.mode = autonomous.then_some(ModeName::Autonomous);
    }
    if let Some(commits) = config.commit_docs {
        workflow.finish.commit_docs = commits;
    }
    if config.commit_trailer.is_some() {
        workflow.finish.commit_trailer.clone_from(&config.commit_trailer);
    }
    Ok(())
}

/// Puts the folder and the heading of the phase where the workflow has a place for them.
fn point_at(workflow: &mut Workflow, folder: &str, heading: &str) {
    let fill = |text: &mut String| {
        *text = text.replace(FOLDER_OF_INPUT, folder).replace(HEADING_OF_INPUT, &format!("#{heading}"));
    };
    if let Some(ItemSource::Plans(from)) = workflow.items.as_mut().map(|it| &mut it.from) {
        fill(from);
    }
    for phase in &mut workflow.phases {
        if let Protocol::Frontmatter(pattern) = &mut phase.report {
            fill(pattern);
        }
        phase.context.iter_mut().for_each(fill);
    }
}

/// Lets the run end without the phase that verifies it.
fn without_verifier(workflow: &mut Workflow) -> Vec<(String, String)> {
    let is_verifier = |id: &PhaseId| matches!(workflow.phases[*id].report, Protocol::Frontmatter(_));
    let Some(verifier) = (0..workflow.phases.len()).find(is_verifier) else { return Vec::new() };
    for phase in &mut workflow.phases {
        if phase.next == Next::Phase(verifier) {
            phase.next = Next::Done;
        }
    }
    vec![(workflow.phases[verifier].name.clone(), format!("workflow.verifier is false in {CONFIG}"))]
}

/// Every requirement and success criterion of a phase: those of the roadmap, and ids that only its plans name.
fn requirements(phase: Option<&RoadmapPhase>, plans: &PlannedPhase, texts: Option<&str>) -> Vec<Requirement> {
    let mut ids: Vec<&String> = phase.iter().flat_map(|it| &it.requirements).collect();
    let planned = plans.plans.iter().flat_map(|it| &it.plan.requirements);
    for id in planned.filter(|it| roadmap::is_requirement(it)) {
        if !ids.iter().any(|it| it.eq_ignore_ascii_case(id)) {
            ids.push(id);
        }
    }
    let ids = ids.into_iter().map(|id| {
        let text = texts.and_then(|it| roadmap::requirement_text(it, id)).unwrap_or_else(|| id.clone());
        Requirement::new(id, text)
    });
    let criteria = phase.into_iter().flat_map(|it| it.criteria.iter().enumerate());
    let criteria = criteria.map(|(index, it)| Requirement::new(format!("SC-{}", index + 1), it));
    ids.chain(criteria).take(ROWS_MOST).collect()
}
