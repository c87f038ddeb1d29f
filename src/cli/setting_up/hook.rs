//! `loop hook`: what the hooks of an agent call, and how they come into its settings. A stop is
//! answered with what the session is to do next, or with nothing, which lets it go. Whatever is in
//! doubt lets it go with a line on standard error, and the exit status is always 0: to the agent any
//! other would be an error, and 2 a block.

use crate::cli::context::Common;
use crate::cli::context::Context;
use crate::cli::hint;
use crate::desk::{self, GuardedCommand, NextStep, Refusal, Stopped, refuse_agents};
use crate::hook::{self, Stop};
use clap::{Args, Subcommand};
use loop_base::text::sanitise;
use loop_supervise::RUN_MARK;
use loop_supervise::which::executable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Subcommand)]
pub(crate) enum HookCommand {
    /// Decide whether a session may stop; reads the hook's JSON from standard input
    Stop(HookStopFlags),
    /// Hand this project's run to another session
    Join(JoinFlags),
    /// Install the stop hook in this project's .claude/settings.json
    Install(InstallFlags),
    /// Take the stop hook out of this project's .claude/settings.json
    Remove(RemoveFlags),
}

/// The agents whose own sessions ask a hook before they stop, in a form that we answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum HookedCli {
    #[default]
    Claude,
}

#[derive(Args)]
pub(crate) struct InstallFlags {
    /// The agent whose sessions get it
    #[arg(value_name = "CLI", value_enum, default_value = "claude")]
    cli: HookedCli,
}

#[derive(Args)]
pub(crate) struct RemoveFlags {
    /// The agent whose sessions lose it
    #[arg(value_name = "CLI", value_enum, default_value = "claude")]
    cli: HookedCli,
    /// Say what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Agents give a hook a minute if nothing else is said.
const CHECKS_SECONDS: u64 = 50;

#[derive(Args)]
pub(crate) struct HookStopFlags {
    /// How long the checks may take, in seconds; the agent's own limit should be ten more
    #[arg(long, value_name = "SECONDS", default_value_t = CHECKS_SECONDS, value_parser = crate::cli::values::seconds)]
    timeout: u64,
}

#[derive(Args)]
pub(crate) struct JoinFlags {
    /// The session (default: the next one that stops in this project)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(crate) fn run(context: &Context, command: &HookCommand) -> anyhow::Result<u8> {
    match command {
        HookCommand::Stop(flags) => {
            stop(context, Duration::from_secs(flags.timeout));
            Ok(0)
        }
        HookCommand::Join(flags) => join(context, flags),
        HookCommand::Install(InstallFlags { cli: HookedCli::Claude }) => {
            refuse_agents(&context.caller, None, GuardedCommand::InstallHook)?;
            install(context)
        }
        HookCommand::Remove(RemoveFlags { cli: HookedCli::Claude, dry_run }) => {
            if !dry_run {
                refuse_agents(&context.caller, None, GuardedCommand::RemoveHook)?;
            }
            remove(context, *dry_run)
        }
    }
}

/// Answers a session whose hook is called as `hook install` and the plugin write it, without a parser
/// for the command line: making one of all commands takes as long as the rest of most answers.
pub(crate) fn answer_plain_stop() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let is_plain = words.next()? == "hook" && words.next()? == "stop" && words.next().is_none();
    is_plain.then(|| {
        stop(&Context::new(Common::default(), String::new()), Duration::from_secs(CHECKS_SECONDS));
        ExitCode::SUCCESS
    })
}

/// A mistyped hook must not hold a session fast, as the usual exit status of a mistake would.
pub(crate) fn misread() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let is_stop = words.iter().any(|it| it == "hook") && words.iter().any(|it| it == "stop");
    let asks = words.iter().any(|it| matches!(it.as_str(), "-h" | "--help"));
    (is_stop && !asks).then(|| {
        warn("the hook's command line is not understood; loop hook stop --help shows it");
        ExitCode::SUCCESS
    })
}

fn stop(context: &Context, timeout: Duration) {
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(context, timeout)));
    match answered {
        Ok(Ok(Some(text))) => {
            // Nobody may be left to read it.
            println!("{text}");
        }
        Ok(Ok(None)) => (),
        Ok(Err(error)) => warn(&format!("{error:#}; the session may stop")),
        Err(_) => warn("the hook failed; the session may stop"),
    }
}

fn warn(text: &str) {
    eprintln!("loop: {}", sanitise(text).replace('\n', " "));
}

/// Returns what keeps the session going, or nothing.
fn answer(context: &Context, timeout: Duration) -> anyhow::Result<Option<String>> {
    // An agent that we started ourselves has its own way to report.
    if std::env::var_os(RUN_MARK).is_some() {
        return Ok(None);
    }
    let bytes = read_input()?;
    let Some(stop) = Stop::parse(&bytes).map_err(|why| anyhow::anyhow!("the hook's input: {why}"))? else {
        return Ok(None);
    };
    let mut caller = context.caller.clone();
    if let Some(dir) = stop.cwd.as_deref().filter(|it| it.is_dir()) {
        caller.dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    }
    let cap_lifted = std::env::var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").is_ok_and(|it| it == "0");
    Ok(match desk::stopped(&caller, &stop, timeout, cap_lifted)? {
        Stopped::None => None,
        Stopped::GoesOn(answer) => Some(answer),
        Stopped::LetGo(why) => {
            eprintln!("loop: {}", sanitise(&why));
            None
        }
    })
}

fn join(context: &Context, flags: &JoinFlags) -> anyhow::Result<u8> {
    let row = desk::join(&context.caller, flags.session.as_deref())?;
    let who = flags
        .session
        .as_deref()
        .map_or("the next session that stops here".to_owned(), |it| format!("session {it}"));
    println!("{} has run {}: {}", sanitise(&who), &row.id[..8], sanitise(&row.input));
    Ok(0)
}

/// Puts the stop hook beside what the project's settings hold.
pub(crate) fn install(context: &Context) -> anyhow::Result<u8> {
    let file = SettingsFile::read(&context.caller.project()?)?;
    match hook::install(&file.text, &our_command()?, HOOK_SECONDS).map_err(|why| file.wrong(&why))? {
        None => println!("{} already has the hook", file.path.display()),
        Some(changed) => {
            file.replace(&changed)?;
            println!("the stop hook is in {}", file.path.display());
            println!("{}", hint::next("loop init --preset ralph --hook \"what to build\""));
        }
    }
    Ok(0)
}

/// Takes the stop hook out of the project's settings.
fn remove(context: &Context, dry_run: bool) -> anyhow::Result<u8> {
    let file = SettingsFile::read(&context.caller.project()?)?;
    let path = file.path.display();
    match hook::remove(&file.text).map_err(|why| file.wrong(&why))? {
        None => println!("{path} contains no loop hook"),
        Some(_) if dry_run => println!("would remove the stop hook from {path}"),
        Some(changed) => {
            file.replace(&changed)?;
            println!("removed the stop hook from {path}");
        }
    }
    Ok(0)
}

/// Says which program the hook of these settings calls, if it is not there; sessions then stop unasked.
pub(crate) fn missing_program(project: &Path) -> Option<String> {
    let command = hook::installed(&SettingsFile::read(project).ok()?.text)?;
    let program = command.strip_suffix("hook stop").unwrap_or(&command).trim();
    let program = program.trim_matches('\'').replace("'\\''", "'");
    executable(&program, None).is_none().then_some(program)
}

/// Lets the hook of these settings call this program.
pub(crate) fn reinstall(project: &Path) -> anyhow::Result<()> {
    let file = SettingsFile::read(project)?;
    let without = hook::remove(&file.text).map_err(|why| file.wrong(&why))?;
    let without = without.unwrap_or_else(|| file.text.clone());
    match hook::install(&without, &our_command()?, HOOK_SECONDS).map_err(|why| file.wrong(&why))? {
        Some(changed) => file.replace(&changed),
        None => Ok(()),
    }
}

/// The settings of a project's sessions, as they were read.
struct SettingsFile {
    path: PathBuf,
    text: String,
}

impl SettingsFile {
    fn read(project: &Path) -> anyhow::Result<SettingsFile> {
        let path = project.join(".claude").join("settings.json");
        match loop_base::files::text(&path) {
            Ok(text) => Ok(SettingsFile { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(SettingsFile { path, text: String::new() })
            }
            Err(error) => anyhow::bail!("{} cannot be read: {error}", path.display()),
        }
    }

    fn wrong(&self, why: &str) -> anyhow::Error {
        let help = NextStep::by_hand("repair it; nothing was changed");
        Refusal::usage(format!("{}: {why}", self.path.display()), help)
    }

    fn replace(&self, text: &str) -> anyhow::Result<()> {
        std::fs::create_dir_all(self.path.parent().expect("it lies in a folder"))?;
        Ok(loop_base::files::replace_for_good(&self.path, text)?)
    }
}

/// Ten seconds more than the checks may take, for what comes before and after them.
const HOOK_SECONDS: u64 = 60;

/// The short name where that is this program, so that a settings file can be shared.
fn our_command() -> anyhow::Result<String> {
    let ours = std::env::current_exe()?.canonicalize()?;
    let found = executable("loop", None).and_then(|it| it.canonicalize().ok());
    if found.as_ref() == Some(&ours) {
        return Ok("loop hook stop".to_owned());
    }
    Ok(format!("'{}' hook stop", ours.to_string_lossy().replace('\'', "'\\''")))
}

/// The longest input that is read; the session's last message is the largest part of it.
const INPUT_BYTES: u64 = 4 << 20;

/// The agent writes at once and closes; whoever does not is no agent.
const INPUT_PATIENCE: Duration = Duration::from_secs(2);

fn read_input() -> anyhow::Result<Vec<u8>> {
    let until = Instant::now() + INPUT_PATIENCE;
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now()))?;
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut fds, Some(&left))? == 0 {
            anyhow::bail!("the hook's input does not end");
        }
        let count = stdin.lock().read(&mut chunk)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..count]);
        anyhow::ensure!(bytes.len() as u64 <= INPUT_BYTES, "the hook's input is larger than 4 MB");
    }
}
