//! What every command needs to know: where we are, where runs are kept, which run is meant.

use super::{Common, Trouble};
use crate::tree::worktree::FOLDER;
use loop_core::workflow::problem::nearest;
use loop_store::{ByPrefix, Filter, Home, Row};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) struct Context {
    pub json: bool,
    pub quiet: bool,
    pub verbose: bool,
    run: Option<String>,
    home: PathBuf,
    dir: PathBuf,
}

impl Context {
    pub(super) fn new(common: Common) -> Context {
        let home = Home::locate(common.home.as_deref(), |name| std::env::var_os(name));
        let dir = common.dir.unwrap_or_else(|| PathBuf::from("."));
        let dir = dir.canonicalize().unwrap_or(dir);
        Context {
            json: common.json,
            quiet: common.quiet,
            verbose: common.verbose,
            run: common.run_id,
            home,
            dir,
        }
    }

    /// The same, elsewhere.
    pub(super) fn at(dir: &Path, home: &Path, like: &Context) -> Context {
        Context {
            json: like.json,
            quiet: like.quiet,
            verbose: like.verbose,
            run: None,
            home: home.to_owned(),
            dir: dir.to_owned(),
        }
    }

    /// Whether `--run` says which run is meant.
    pub(super) fn names_a_run(&self) -> bool {
        self.run.is_some()
    }

    /// The same, in another directory if one is given.
    pub(super) fn elsewhere(&self, dir: Option<&Path>) -> Context {
        let dir =
            dir.map_or_else(|| self.dir.clone(), |it| it.canonicalize().unwrap_or_else(|_| it.to_owned()));
        Context { run: self.run.clone(), ..Context::at(&dir, &self.home, self) }
    }

    /// Returns the directory that paths of the user are relative to.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn home_path(&self) -> &Path {
        &self.home
    }

    /// Returns the nearest ancestor that has `.loop/` or `.git`, else the directory itself.
    pub(super) fn project(&self) -> anyhow::Result<PathBuf> {
        if !self.dir.is_dir() {
            let text = format!("{} is not a directory", self.dir.display());
            return Err(Trouble::usage(text, "name one that exists with -C DIR"));
        }
        let is_project = |it: &&Path| it.join(".loop").is_dir() || it.join(".git").exists();
        let found = self.dir.ancestors().find(is_project).unwrap_or(&self.dir);
        // A worktree that a run made is a place of the project above it.
        let above = found.parent().filter(|it| it.ends_with(FOLDER)).and_then(Path::parent);
        let found = above.filter(|it| found.join(".git").is_file() && is_project(it)).unwrap_or(found);
        // A run is found again by its project's path, which is kept as text.
        if found.to_str().is_none() {
            let text = format!("the path of {} is not UTF-8", found.display());
            return Err(Trouble::usage(text, "rename the folder, or work in a clone elsewhere"));
        }
        Ok(found.to_owned())
    }

    /// Opens the home, which must hold something already.
    pub(super) fn existing_home(&self) -> anyhow::Result<Option<Rc<Home>>> {
        Ok(Home::open_existing(&self.home)?.map(Rc::new))
    }

    /// Opens it for a short look and leaves the database's log as it was found: folding it in at the
    /// end creates and deletes two files, which takes longer than the look.
    pub(super) fn home_to_look_at(&self) -> anyhow::Result<Option<Rc<Home>>> {
        let home = self.existing_home()?;
        if let Some(home) = &home {
            home.leave_log()?;
        }
        Ok(home)
    }

    /// Opens the home and makes it if it is not there.
    pub(super) fn home(&self) -> anyhow::Result<Rc<Home>> {
        Ok(Rc::new(Home::open(&self.home)?))
    }

    /// Whether a person sits at both ends.
    pub(super) fn is_interactive(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Returns the run that is meant: by `--run`, else the live one of this working tree, else of
    /// the project, else the newest unfinished, else the newest.
    pub(super) fn find(&self, home: &Home) -> anyhow::Result<Option<Row>> {
        if let Some(prefix) = &self.run {
            return self.by_prefix(home, prefix).map(Some);
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

    /// Returns the run that a change is meant for; several unfinished ones need `--run`.
    pub(super) fn find_to_change(&self, home: &Home) -> anyhow::Result<Option<Row>> {
        if self.run.is_none() {
            let runs = self.runs_of_project(home)?;
            if let Some(row) = runs.iter().find(|it| self.is_in_worktree_of(it)) {
                return Ok(Some(row.clone()));
            }
            let open: Vec<&Row> = runs.iter().filter(|it| is_unfinished(it)).collect();
            if 1 < open.len() {
                return Err(several_unfinished(&open));
            }
        }
        self.find(home)
    }

    /// Whether we are inside of the worktree that this run has to itself.
    fn is_in_worktree_of(&self, row: &Row) -> bool {
        Path::new(&row.place).parent().is_some_and(|it| it.ends_with(FOLDER))
            && self.dir.starts_with(&row.place)
    }

    fn by_prefix(&self, home: &Home, prefix: &str) -> anyhow::Result<Row> {
        match home.by_prefix(prefix)? {
            ByPrefix::One(row) => Ok(*row),
            ByPrefix::None => {
                let text = format!("no run begins with \"{prefix}\"");
                let rows = home.runs(&Filter { limit: Some(RUNS_LOOKED_AT), ..Filter::default() })?;
                let length = prefix.chars().count().clamp(1, 8);
                let ids = rows.iter().map(|it| &it.id[..length]);
                let next = match nearest(prefix, ids) {
                    Some(near) => format!("did you mean {near}? loop runs lists those that there are"),
                    None => "loop runs lists those that there are".to_owned(),
                };
                Err(Trouble::usage(text, next))
            }
            ByPrefix::Several(ids) => {
                let text = format!("\"{prefix}\" could be any of: {}", ids.join(", "));
                Err(Trouble::usage(text, "write more of the id"))
            }
        }
    }

    pub(super) fn runs_of_project(&self, home: &Home) -> anyhow::Result<Vec<Row>> {
        let project = self.project()?.to_string_lossy().into_owned();
        Ok(home.runs(&Filter {
            project: Some(&project),
            limit: Some(RUNS_LOOKED_AT),
            ..Filter::default()
        })?)
    }
}

/// Looking for the run that is meant need not read a project's whole history.
const RUNS_LOOKED_AT: usize = 200;

pub(super) fn is_unfinished(row: &Row) -> bool {
    !row.status.is_closed()
}

pub(super) fn several_unfinished(runs: &[&Row]) -> anyhow::Error {
    let lines: Vec<String> = runs.iter().map(|it| named(it)).collect();
    let text = format!("several runs are unfinished:\n  {}", lines.join("\n  "));
    Trouble::usage(text, "say which one with --run ID")
}

pub(super) fn named(row: &Row) -> String {
    format!("{}  {}  {}  {}", &row.id[..8], row.workflow, row.status, row.input)
}
