//! The questions of `loop setup` on a terminal: which preset, which agent, which checks. Enter takes
//! what was found, a dash takes nothing, the end of input leaves everything as it is.

use super::screen;
use crate::desk::meant;
use crate::measure::detect::DetectedCheck;
use loop_base::text::sanitise;
use loop_core::agent_table::AgentTable;
use loop_core::workflow::preset::{self, Preset};
use loop_supervise::which::executable;
use std::io::{BufRead, Write};

/// What the person chose.
pub(crate) struct SetupChoice {
    pub preset: &'static Preset,
    pub agent: Option<String>,
    pub checks: Vec<DetectedCheck>,
}

/// Asks; `None` when the person leaves.
pub(crate) fn ask(
    known: &AgentTable,
    settled: bool,
    guessed: &'static Preset,
    agent: Option<String>,
    found: Vec<DetectedCheck>,
) -> anyhow::Result<Option<SetupChoice>> {
    screen::say("Enter accepts the value in brackets, - leaves it empty.");
    let preset = if settled {
        guessed
    } else {
        let Some(chosen) = choose("workflow", preset::names().collect(), guessed.name)? else {
            return Ok(None);
        };
        preset::find(&chosen).unwrap_or(guessed)
    };
    let agent = match agent {
        Some(agent) => Some(agent),
        None => match which_agent(known)? {
            SetupAsked::Left => return Ok(None),
            SetupAsked::Nothing => None,
            SetupAsked::Said(name) => Some(name),
        },
    };
    let mut checks = Vec::new();
    for check in found {
        let label = format!("check {} ({})", check.name, check.why);
        match line(&label, &check.run)? {
            SetupAsked::Left => return Ok(None),
            SetupAsked::Nothing => (),
            SetupAsked::Said(run) if run == check.run => checks.push(check),
            SetupAsked::Said(run) => {
                checks.push(DetectedCheck { run, why: "your answer".to_owned(), counts: None, ..check })
            }
        }
    }
    if checks.is_empty() {
        match line("check tests: which command passes when the work is done?", "")? {
            SetupAsked::Left => return Ok(None),
            SetupAsked::Nothing => (),
            SetupAsked::Said(run) => {
                checks.push(DetectedCheck { name: "tests", run, why: "your answer".to_owned(), counts: None })
            }
        }
    }
    Ok(Some(SetupChoice { preset, agent, checks }))
}

/// Returns the agents of this machine that need no further word.
pub(crate) fn installed(known: &AgentTable) -> Vec<&'static str> {
    known.detected().filter(|it| executable(it.program, None).is_some()).map(|it| it.name).collect()
}

fn which_agent(known: &AgentTable) -> anyhow::Result<SetupAsked> {
    let installed = installed(known);
    if installed.is_empty() {
        screen::say("agent: no supported agent found; loop run takes any program with --agent-cmd");
        return Ok(SetupAsked::Nothing);
    }
    Ok(match choose("agent", installed.clone(), installed[0])? {
        Some(name) => SetupAsked::Said(name),
        None => SetupAsked::Left,
    })
}

enum SetupAsked {
    Said(String),
    Nothing,
    /// The end of input.
    Left,
}

/// Asks until one of the words is said.
fn choose(label: &str, words: Vec<&str>, default: &str) -> anyhow::Result<Option<String>> {
    loop {
        match line(&format!("{label} ({})", words.join(", ")), default)? {
            SetupAsked::Left => return Ok(None),
            SetupAsked::Nothing => return Ok(Some(default.to_owned())),
            SetupAsked::Said(word) => match words.iter().find(|it| it.eq_ignore_ascii_case(&word)) {
                Some(word) => return Ok(Some((*word).to_owned())),
                None => {
                    let meant = meant(&word, words.iter().copied());
                    screen::say(&format!(
                        "  \"{}\" is not a known {label}; {}",
                        sanitise(&word),
                        meant.first()
                    ));
                }
            },
        }
    }
}

fn line(label: &str, default: &str) -> anyhow::Result<SetupAsked> {
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    screen::ask(&format!("{}{}", sanitise(label), sanitise(&shown)));
    std::io::stderr().flush()?;
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(SetupAsked::Left);
    }
    Ok(match line.trim() {
        "-" => SetupAsked::Nothing,
        "" if default.is_empty() => SetupAsked::Nothing,
        "" => SetupAsked::Said(default.to_owned()),
        said => SetupAsked::Said(said.to_owned()),
    })
}
