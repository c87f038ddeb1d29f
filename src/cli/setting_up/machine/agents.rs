//! `loop agents`: which agents are there, in which version, whether they are logged in as far as one
//! can tell without asking a provider, and what each kind of permission lets them do. Nothing is
//! started but their `--version`, and no key is ever printed.

use super::agent_test;
use super::findings::{self, DoctorFinding};
use crate::cli::Context;
use crate::cli::context::show;
use crate::desk::NextStep;
use clap::{Args, Subcommand};
use loop_core::agent_table::{AgentRow, AgentTable};
use loop_core::agents::{self, Login};
use loop_core::workflow::model::{Agent, Permissions};
use loop_supervise::program_version::version;
use loop_supervise::which::executable;
use serde_json::json;

/// What is known about one agent.
struct KnownAgent {
    row: &'static AgentRow,
    path: Option<std::path::PathBuf>,
    version: Option<String>,
    login: Option<String>,
    account: String,
    may: Vec<(&'static str, String)>,
}

#[derive(Args)]
pub(crate) struct AgentsFlags {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// Run an installed agent against a scripted model, without a key, and print what works
    Test {
        /// The agent, as `loop agents` lists it
        name: String,
    },
}

pub(crate) fn run(context: &Context, flags: &AgentsFlags) -> anyhow::Result<u8> {
    match &flags.command {
        None => list(context),
        Some(AgentsCommand::Test { name }) => agent_test::run(context, name),
    }
}

fn list(context: &Context) -> anyhow::Result<u8> {
    let known = look(&context.caller.environment.agents);
    if context.json {
        let list: Vec<_> = known
            .iter()
            .map(|it| {
                let finding = finding(it);
                let may: serde_json::Map<String, serde_json::Value> =
                    it.may.iter().map(|(word, says)| ((*word).to_owned(), says.clone().into())).collect();
                json!({
                    "what": finding.what, "ok": finding.good, "says": finding.says, "next_step": finding.next.as_ref().map(NextStep::first),
                    "path": it.path, "version": it.version, "login": it.login, "account": it.account,
                    "permissions": may,
                })
            })
            .collect();
        println!("{}", crate::cli::json::line(&list));
        return Ok(0);
    }
    for it in &known {
        findings::print_one(&finding(it));
        if it.path.is_some() {
            for (word, says) in &it.may {
                println!("                     permissions = \"{word}\": {says}");
            }
        }
    }
    show("help: any other program works too: loop run \"what to build\" --agent-cmd \"PROGRAM ARGS\"");
    Ok(0)
}

/// Returns what `loop doctor` says about agents.
pub(crate) fn findings(agents: &AgentTable) -> Vec<DoctorFinding> {
    look(agents).iter().map(finding).collect()
}

fn finding(known: &KnownAgent) -> DoctorFinding {
    let name = known.row.name;
    let Some(path) = &known.path else {
        return findings::bad(name, "not installed".to_owned(), NextStep::by_hand(known.row.install));
    };
    let version = known.version.as_deref().unwrap_or("version unknown");
    match &known.login {
        Some(login) => findings::good(name, format!("{version} ({}), logged in by {login}", path.display())),
        None => {
            let says = format!("{version} ({}), no login found", path.display());
            let next = known.row.login.as_ref().map(|it| NextStep::by_hand(it.words));
            DoctorFinding { next, ..findings::good(name, says) }
        }
    }
}

fn look(agents: &AgentTable) -> Vec<KnownAgent> {
    agents
        .detected()
        .map(|row| {
            let variable = |name: &str| std::env::var(name).ok();
            let path = executable(row.program, None);
            KnownAgent {
                row,
                version: path.as_deref().and_then(version),
                login: login(&agents::logins(row, &variable)),
                account: agents::account(row, &variable),
                may: may(row),
                path,
            }
        })
        .collect()
}

/// The first place that is there, by name.
fn login(places: &[Login]) -> Option<String> {
    places.iter().find_map(|it| match it {
        Login::Variable(name) => Some(format!("${name}")),
        Login::File(path) => path.is_file().then(|| path.display().to_string()),
    })
}

/// What each kind of permission adds to the agent's command line.
fn may(row: &'static AgentRow) -> Vec<(&'static str, String)> {
    let root = rustix::process::geteuid().is_root();
    let find = |name: &str| Some(std::path::PathBuf::from(name));
    let started = |permissions| {
        let agent = Agent { permissions, ..Agent::new(row.into()) };
        let invocation = agents::invocation(
            &agent,
            &agents::InvocationContext {
                model: None,
                usd: None,
                turns: None,
                root,
                find: &find,
                version: &|_| None,
            },
        );
        let words = |it: agents::Invocation| {
            let set = it.env.iter().map(|(name, value)| format!("{name}={value}"));
            set.chain(it.argv).collect::<Vec<String>>()
        };
        invocation.map(words)
    };
    let own = started(Permissions::Agent).unwrap_or_else(|_| vec![row.program.to_owned()]);
    let says = |permissions, means: &str| match started(permissions) {
        Err(why) => format!("refused: {why}"),
        Ok(words) => {
            let added: Vec<String> = words.into_iter().filter(|it| !own.contains(it)).collect();
            if added.is_empty() { means.to_owned() } else { format!("{means} ({})", added.join(" ")) }
        }
    };
    vec![
        ("all", says(Permissions::All, "runs and edits without asking")),
        ("edit", says(Permissions::Edit, "changes files of the working tree, cannot commit")),
        ("agent", says(Permissions::Agent, "what its own settings allow")),
    ]
}
