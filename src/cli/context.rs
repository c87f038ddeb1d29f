//! What every command needs to know: how to say things, and where the request comes from.

pub(super) use super::terminal::say;
use super::terminal::{OutputFlags, RunOutput, columns, rows};
use crate::config_folder::config_folder;
use crate::desk::{Caller, CallerEnvironment, Note, Weight, read_agent_files};
use clap::Args;
use loop_base::text::sanitise;
use loop_store::Home;
use loop_supervise::RUN_MARK;
use loop_supervise::process_line::ProcessLine;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Run as if started in this directory
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true)]
    pub(super) dir: Option<PathBuf>,
    /// Where runs are kept (default: $LOOP_HOME, $XDG_STATE_HOME/loop, ~/.local/state/loop)
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) home: Option<PathBuf>,
    /// The run, by its id or the beginning of it
    #[arg(long = "run", value_name = "ID", global = true)]
    pub(super) run_id: Option<String>,
    /// Print machine-readable JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print less
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print more
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
}

pub(crate) struct Context {
    pub json: bool,
    pub quiet: bool,
    pub verbose: bool,
    /// The place is gone when the command ends, so no next step could be taken there.
    pub is_temporary: bool,
    pub caller: Caller,
}

impl Context {
    /// `command` is what was typed, such as `queue set`.
    pub(super) fn new(common: Common, command: String) -> Context {
        let home = Home::locate(common.home.as_deref(), |name| std::env::var_os(name));
        let dir = common.dir.unwrap_or_else(|| PathBuf::from("."));
        let dir = dir.canonicalize().unwrap_or(dir);
        let caller = Caller { dir, home, run: common.run_id, environment: environment(command) };
        Context {
            json: common.json,
            quiet: common.quiet,
            verbose: common.verbose,
            is_temporary: false,
            caller,
        }
    }

    /// Returns this context for a folder and a home that are gone afterwards.
    pub(super) fn in_temporary(dir: &Path, home: &Path, like: &Context) -> Context {
        // The person's own configuration is about their work.
        let environment = CallerEnvironment { config: None, ..like.caller.environment.clone() };
        let caller = Caller { dir: dir.to_owned(), home: home.to_owned(), run: None, environment };
        Context { json: like.json, quiet: like.quiet, verbose: like.verbose, is_temporary: true, caller }
    }

    /// Whether a person sits at both ends.
    pub(super) fn is_interactive(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Returns what says how a run goes on, in the way that was asked for.
    pub(super) fn run_output(&self) -> RunOutput {
        RunOutput::new(OutputFlags { json: self.json, quiet: self.quiet, verbose: self.verbose })
    }

    /// Says what the desk thinks a person may want to know.
    pub(super) fn tell(&self, notes: &[Note]) {
        for note in notes {
            let is_told = match note.weight {
                Weight::Always => true,
                Weight::Usual => !self.quiet,
                Weight::People => !self.quiet && !self.json,
            };
            if is_told {
                say(&sanitise(&note.text));
            }
        }
    }
}

/// Returns who asks, as the log names them. Containers and timers set no variable for it.
fn user_name() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|it| !it.trim().is_empty());
    if let Some(name) = set("USER").or_else(|| set("LOGNAME")) {
        return name;
    }
    let id = rustix::process::geteuid().as_raw().to_string();
    let listed = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = listed.lines().find_map(|it| {
        let mut fields = it.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("user {id}"))
}

/// Prints a line of data: broken at its words on a narrow terminal, whole for a program that reads it.
pub(super) fn show(line: &str) {
    match columns().filter(|_| std::io::stdout().is_terminal()) {
        Some(columns) => rows(line, columns).iter().for_each(|it| println!("{it}")),
        None => println!("{line}"),
    }
}

/// Reads what the environment says to the desk, and the agents that the user describes.
fn environment(command: String) -> CallerEnvironment {
    let folder = |name| std::env::var_os(name).filter(|it: &OsString| !it.is_empty()).map(PathBuf::from);
    let config = config_folder().map(|it| it.join("config.toml"));
    let (agents, mistakes) = read_agent_files(config.as_deref());
    for mistake in mistakes {
        eprintln!("{}", sanitise(&mistake));
    }
    CallerEnvironment {
        command,
        user: user_name(),
        process_line: ProcessLine::look(std::env::var(RUN_MARK).ok()),
        config,
        hourly_limit: std::env::var("BP_RATE_LIMIT_HOURLY").ok(),
        session_dir: folder("PRP_SESSION_DIR"),
        user_home: std::env::home_dir(),
        agents,
    }
}
