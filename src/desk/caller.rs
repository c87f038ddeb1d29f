//! Where a request comes from: the directory, the home, the run that it names, and what its
//! environment says. Here the project is found, and the run that is meant.

use super::kept_head::refuse_hidden_runs;
use super::refusal::{NextStep, Refusal};
use crate::measure::detect::proposed_answer;
use crate::measure::unignored_output::ignore_command;
use crate::tree::git::Git;
use crate::tree::worktree::FOLDER;
use crate::world::real::VIEW;
use loop_base::secret::is_printable_whole;
use loop_base::text::shell_word;
use loop_base::value::Value;
use loop_core::agent_table::AgentTable;
use loop_core::engine::{Answer, Command, Opening, QuestionKind, State, Status};
use loop_core::facts::FactName;
use loop_core::workflow::model::{TESTS_CHECK, Workflow};
use loop_core::workflow::problem::nearest;
use loop_store::{ByPrefix, Filter, Home, Row, StoreError, fold};
use loop_supervise::process_line::ProcessLine;
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The directory that paths of the caller are relative to.
    pub dir: PathBuf,
    /// Where runs are kept.
    pub home: PathBuf,
    /// The run that is named, by its id or the beginning of it.
    pub run: Option<String>,
    pub environment: CallerEnvironment,
}

/// What the environment of the caller says. The desk never reads its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerEnvironment {
    /// The command that was typed, without its words and flags, such as `queue set`; empty where none was.
    pub command: String,
    /// The person.
    pub user: String,
    /// Which processes the request comes from, and whether they belong to an agent call.
    pub process_line: ProcessLine,
    /// The person's own configuration file, whether or not it exists.
    pub config: Option<PathBuf>,
    /// How many calls an hour, as it was written.
    pub hourly_limit: Option<String>,
    /// Where the state files of `tdd` are to be written.
    pub session_dir: Option<PathBuf>,
    /// The person's own folder.
    pub user_home: Option<PathBuf>,
    /// The agents that they can name.
    pub agents: AgentTable,
}

impl Caller {
    /// Returns the nearest ancestor that has `.loop/` or `.git`, else the directory itself.
    pub(crate) fn project(&self) -> anyhow::Result<PathBuf> {
        if !self.dir.is_dir() {
            let text = format!("{} is not a directory", self.dir.display());
            return Err(Refusal::usage(text, NextStep::by_hand("name one that exists with -C DIR")));
        }
        let is_project = |it: &&Path| it.join(".loop").is_dir() || it.join(".git").exists();
        let found = self.dir.ancestors().find(is_project).unwrap_or(&self.dir);
        // A worktree that a run made is a place of the project above it.
        let above = found.parent().filter(|it| it.ends_with(FOLDER)).and_then(Path::parent);
        let found = above.filter(|it| found.join(".git").is_file() && is_project(it)).unwrap_or(found);
        // A run is found again by its project's path, which is kept as text.
        if found.to_str().is_none() {
            let text = format!("the path of {} is not UTF-8", found.display());
            return Err(Refusal::usage(
                text,
                NextStep::by_hand("rename the folder, or work in a clone elsewhere"),
            ));
        }
        Ok(found.to_owned())
    }

    /// Opens the home, which must hold something already.
    pub(crate) fn existing_home(&self) -> anyhow::Result<Option<Rc<Home>>> {
        let home = Home::open_existing(&self.home)?;
        Ok(home.map(|it| Rc::new(it.knowing(self.environment.agents.clone()))))
    }

    /// Opens it for a short look and leaves the database's log as it was found: folding it in at the
    /// end creates and deletes two files, which takes longer than the look.
    pub(crate) fn home_to_look_at(&self) -> anyhow::Result<Option<Rc<Home>>> {
        let home = self.existing_home()?;
        if let Some(home) = &home {
            home.leave_log()?;
        }
        Ok(home)
    }

    /// Opens the home, and makes it where there is none.
    pub(crate) fn home(&self) -> anyhow::Result<Rc<Home>> {
        self.exclude_home()?;
        Ok(Rc::new(Home::open(&self.home)?.knowing(self.environment.agents.clone())))
    }

    /// A home inside of the working tree is ours: nobody is asked what to do with its files, and no agent stages them.
    fn exclude_home(&self) -> anyhow::Result<()> {
        let Ok(home) = std::path::absolute(self.dir.join(&self.home)) else { return Ok(()) };
        let project = self.project()?;
        let Ok(inside) = home.strip_prefix(&project) else { return Ok(()) };
        let (Ok(git), Ok(top)) = (Git::around(&project), project.canonicalize()) else { return Ok(()) };
        let pattern = top.join(inside).strip_prefix(git.work_tree()).ok().and_then(ignore_pattern);
        Ok(pattern.map_or(Ok(()), |it| git.exclude(&[&it]))?)
    }

    /// Returns the run that is meant: the one that is named, else the live one of this working tree,
    /// else of the project, else the newest unfinished, else the newest.
    pub(crate) fn find(&self, home: &Home) -> anyhow::Result<Option<Row>> {
        if let Some(prefix) = &self.run {
            return by_prefix(home, prefix).map(Some);
        }
        let runs = self.runs_of_project(home)?;
        let live = |row: &&Row| home.holder(&row.id).is_some();
        let chosen = runs
            .iter()
            .find(|it| self.is_in_worktree_of(it))
            .or_else(|| runs.iter().filter(live).find(|it| self.dir.starts_with(&it.place)))
            .or_else(|| runs.iter().find(live))
            .or_else(|| runs.iter().find(|it| is_unfinished(it)))
            .or(runs.first());
        Ok(chosen.cloned())
    }

    /// Returns the run that a change is meant for; several unfinished ones need a name.
    pub(crate) fn find_to_change(&self, home: &Home) -> anyhow::Result<Option<Row>> {
        if self.run.is_none() {
            let runs = self.runs_of_project(home)?;
            if let Some(row) = runs.iter().find(|it| self.is_in_worktree_of(it)) {
                return Ok(Some(row.clone()));
            }
            refuse_hidden(home, &runs)?;
            let open: Vec<&Row> = runs.iter().filter(|it| is_unfinished(it)).collect();
            if 1 < open.len() {
                return Err(several_unfinished(&open));
            }
        }
        self.find(home)
    }

    /// Whether the caller is inside of the worktree that this run has to itself.
    fn is_in_worktree_of(&self, row: &Row) -> bool {
        Path::new(&row.place).parent().is_some_and(|it| it.ends_with(FOLDER))
            && self.dir.starts_with(&row.place)
    }

    pub(crate) fn runs_of_project(&self, home: &Home) -> anyhow::Result<Vec<Row>> {
        let folder = self.project()?;
        let project = folder.to_string_lossy().into_owned();
        let runs =
            home.runs(&Filter { project: Some(&project), limit: Some(RUNS_LOOKED_AT), ..Filter::default() })?;
        if runs.is_empty() {
            home.refuse_hidden_runs(|it| it.project == project)?;
            refuse_hidden_runs(home, &folder)?;
        }
        Ok(runs)
    }
}

/// Returns the line of a file of ignored paths that names this one, and nothing else.
fn ignore_pattern(path: &Path) -> Option<String> {
    let path =
        path.to_str().filter(|it| !it.is_empty() && !it.contains(['\n', '\r']) && !it.ends_with(' '))?;
    let mut pattern = String::from("/");
    for it in path.chars() {
        if matches!(it, '\\' | '*' | '?' | '[') {
            pattern.push('\\');
        }
        pattern.push(it);
    }
    Some(pattern)
}

/// Looking for the run that is meant need not read a project's whole history.
const RUNS_LOOKED_AT: usize = 200;

fn by_prefix(home: &Home, prefix: &str) -> anyhow::Result<Row> {
    match home.by_prefix(prefix)? {
        ByPrefix::One(row) => Ok(*row),
        ByPrefix::None => {
            home.refuse_hidden_runs(|it| it.id.starts_with(prefix))?;
            let text = format!("no run has an id that begins with \"{prefix}\"");
            let rows = home.runs(&Filter { limit: Some(RUNS_LOOKED_AT), ..Filter::default() })?;
            let length = prefix.chars().count().clamp(1, 8);
            let ids = rows.iter().map(|it| &it.id[..length]);
            let text = match nearest(prefix, ids) {
                Some(near) => format!("{text}; did you mean {near}?"),
                None => text,
            };
            Err(Refusal::usage(text, "loop runs"))
        }
        ByPrefix::Several(ids) => {
            let text = format!("\"{prefix}\" could be any of: {}", ids.join(", "));
            Err(Refusal::usage(text, NextStep::by_hand("type more characters of the id")))
        }
    }
}

/// Reads a run without owning it.
pub(crate) fn load(home: &Home, row: &Row) -> anyhow::Result<(Workflow, State)> {
    let workflow = fold::workflow(home, &row.id)?;
    let state = fold::state(home, &row.id, &workflow)?;
    Ok((workflow, state))
}

/// A run that the list calls finished, and its journal does not, would be passed over.
pub(crate) fn refuse_hidden(home: &Home, runs: &[Row]) -> anyhow::Result<()> {
    for row in runs.iter().filter(|it| !is_unfinished(it)) {
        // What is wrong with the pages of another run is no reason to refuse this one.
        if let Ok(Some(what)) = fold::row_fault(home, row) {
            let what = format!("run {}: {what}", row.id);
            return Err(StoreError::Damaged { path: home.path().to_owned(), what }.into());
        }
    }
    Ok(())
}

pub(crate) fn is_unfinished(row: &Row) -> bool {
    !row.status.is_closed()
}

/// Returns the next step of a run as a command that works when it is pasted: it names the run where
/// another one of the project is unfinished, because the command alone would mean that one or ask.
pub(crate) fn next_step(
    home: &Home,
    id: &str,
    workflow: &Workflow,
    state: &State,
) -> Result<String, StoreError> {
    let asks_for_tests =
        state.question().is_some_and(|it| it.kind == QuestionKind::Check(TESTS_CHECK.to_owned()));
    let place = state.place.as_ref().filter(|_| asks_for_tests);
    let proposed = place.and_then(|it| proposed_answer(Path::new(it)));
    let untaken = untaken(home, id)?;
    let is_answered = untaken.answer_to(state).is_some() || untaken.waives_findings(state);
    let answered = is_answered.then(|| "loop run".to_owned());
    let ignoring = answered.is_none().then(|| ignoring(home, id, state)).flatten();
    let step = answered.or(proposed).unwrap_or_else(|| next_step_of(workflow, state));
    // Another run like a cancelled one is a run of its own.
    let names_a_run = step.starts_with("loop ") && Status::of(state) != Status::Cancelled;
    if !names_a_run {
        return Ok(step);
    }
    // Killed before it was opened: nothing is known of it but its input.
    if state.opening == Opening::default()
        && let Some(row) = home.run(id)?
    {
        return Ok(format!("loop run {}", shell_word(&row.input)));
    }
    let step = naming_run(home, id, step)?;
    // The answer alone would end at the same halt.
    Ok(ignoring.map_or(step.clone(), |it| format!("{it} && {step}")))
}

/// Returns the next step of a state. A secret in it is removed where it is printed, and what is left would do
/// something else when it is pasted: then it is a command that repeats nothing of what was typed.
pub(crate) fn next_step_of(workflow: &Workflow, state: &State) -> String {
    let step = state.next_step(workflow);
    if is_printable_whole(&step) {
        return step;
    }
    let input = &state.opening.input;
    if state.question().is_some() {
        "loop answer reset".to_owned()
    } else if Status::of(state) == Status::Cancelled && is_printable_whole(input) {
        format!("loop run {}", shell_word(input))
    } else {
        "loop status".to_owned()
    }
}

/// Returns the command that makes git ignore what alone keeps a stuck run from finishing.
fn ignoring(home: &Home, id: &str, state: &State) -> Option<String> {
    state.question().filter(|it| it.kind == QuestionKind::Breaker)?;
    state.seen.values.get(FactName::TreeClean.name()).filter(|it| **it == Value::Bool(false))?;
    let row = home.run(id).ok().flatten()?;
    ignore_command(Path::new(&row.place), &home.folder(id).join(VIEW))
}

/// What people said to a run, and nobody has taken yet.
pub(crate) struct UntakenCommands(Vec<(i64, Command)>);

/// Reads them. One that cannot be read is told by whoever takes it.
pub(crate) fn untaken(home: &Home, id: &str) -> Result<UntakenCommands, StoreError> {
    let bodies = home.untaken_commands(id)?;
    let read = |(number, body): &(i64, String)| Some((*number, serde_json::from_str(body).ok()?));
    Ok(UntakenCommands(bodies.iter().filter_map(read).collect()))
}

impl UntakenCommands {
    /// Returns them in their order.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Command> {
        self.0.iter().map(|it| &it.1)
    }

    /// Returns the answer to the open question that whoever continues the run will find.
    pub(crate) fn answer_to(&self, state: &State) -> Option<&Answer> {
        self.numbered_answer_to(state).map(|it| it.1)
    }

    /// Returns it with its number.
    pub(crate) fn numbered_answer_to(&self, state: &State) -> Option<(i64, &Answer)> {
        let open = state.question()?.id;
        self.0.iter().find_map(|(number, it)| match it {
            Command::Answer(answer) if answer.question == open => Some((*number, answer)),
            _ => None,
        })
    }

    /// Whether somebody accepted a finding that the open question is about; whoever continues the run
    /// looks whether others are left.
    fn waives_findings(&self, state: &State) -> bool {
        state.question().is_some_and(|it| it.kind == QuestionKind::Proof)
            && self.0.iter().any(|it| matches!(it.1, Command::Waive { .. }))
    }

    /// Whether somebody ended the wait for a provider; whoever continues the run asks it again.
    pub(crate) fn ends_wait(&self) -> bool {
        self.0.iter().any(|it| it.1 == Command::Unhold)
    }

    /// Whether somebody asked the run to stop after its iteration.
    pub(crate) fn asks_to_stop(&self) -> bool {
        self.0.iter().any(|it| it.1 == Command::Stop)
    }
}

/// Returns a command with the run that it is about, where it would mean another one or ask.
pub(crate) fn naming_run(home: &Home, id: &str, step: String) -> Result<String, StoreError> {
    let Some(row) = home.run(id)? else { return Ok(step) };
    let filter = Filter { project: Some(&row.project), limit: Some(RUNS_LOOKED_AT), ..Filter::default() };
    let is_other = |it: &Row| it.id != row.id && is_unfinished(it);
    let is_alone = !home.runs(&filter)?.iter().any(is_other);
    Ok(if is_alone { step } else { format!("{step} --run {}", &row.id[..8]) })
}

/// Of more runs than these, commands for each would hide the list.
const RUNS_PROPOSED: usize = 5;

pub(crate) fn several_unfinished(runs: &[&Row]) -> anyhow::Error {
    let lines: Vec<String> = runs.iter().map(|it| named(it)).collect();
    let text = format!("several runs are unfinished:\n  {}", lines.join("\n  "));
    let commands = runs.iter().take(RUNS_PROPOSED).map(|it| format!("loop run --run {}", &it.id[..8]));
    Refusal::usage(text, NextStep::Paste(commands.collect()))
}

pub(crate) fn named(row: &Row) -> String {
    format!("{}  {}  {}  {}", &row.id[..8], row.workflow, row.status, row.input)
}
