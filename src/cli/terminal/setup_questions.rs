//! The questions of `loop setup` on a terminal: which preset, which agent, which checks. Enter takes
//! what was found, a dash takes nothing, the end of input leaves everything as it is.

use crate::desk::meant;
use crate::measure::detect::Found;
use loop_base::text::sanitise;
use loop_core::agent_table::AgentRow;
use loop_core::workflow::preset::{self, Preset};
use loop_supervise::which::executable;
use std::io::{BufRead, Write};

/// What the person chose.
pub(crate) struct Wanted {
    pub preset: &'static Preset,
    pub agent: Option<String>,
    pub checks: Vec<Found>,
}

/// Asks; `None` when the person leaves.
pub(crate) fn ask(
    settled: bool,
    guessed: &'static Preset,
    agent: Option<String>,
    found: Vec<Found>,
) -> anyhow::Result<Option<Wanted>> {
    eprintln!("Enter takes what stands in brackets, - takes nothing.");
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
        None => match which_agent()? {
            Asked::Left => return Ok(None),
            Asked::Nothing => None,
            Asked::Said(name) => Some(name),
        },
    };
    let mut checks = Vec::new();
    for check in found {
        let label = format!("check {} ({})", check.name, check.why);
        match line(&label, &check.run)? {
            Asked::Left => return Ok(None),
            Asked::Nothing => (),
            Asked::Said(run) if run == check.run => checks.push(check),
            Asked::Said(run) => {
                checks.push(Found { run, why: "your answer".to_owned(), counts: None, ..check })
            }
        }
    }
    if checks.is_empty() {
        match line("check tests: what proves that the work is done?", "")? {
            Asked::Left => return Ok(None),
            Asked::Nothing => (),
            Asked::Said(run) => {
                checks.push(Found { name: "tests", run, why: "your answer".to_owned(), counts: None })
            }
        }
    }
    Ok(Some(Wanted { preset, agent, checks }))
}

/// Returns the agents of this machine that need no further word.
pub(crate) fn installed() -> Vec<&'static str> {
    AgentRow::detected().map(|it| it.name).filter(|it| executable(it, None).is_some()).collect()
}

fn which_agent() -> anyhow::Result<Asked> {
    let installed = installed();
    if installed.is_empty() {
        eprintln!("agent: none is installed that this program knows; --agent-cmd takes any program");
        return Ok(Asked::Nothing);
    }
    Ok(match choose("agent", installed.clone(), installed[0])? {
        Some(name) => Asked::Said(name),
        None => Asked::Left,
    })
}

enum Asked {
    Said(String),
    Nothing,
    /// The end of input.
    Left,
}

/// Asks until one of the words is said.
fn choose(label: &str, words: Vec<&str>, default: &str) -> anyhow::Result<Option<String>> {
    loop {
        match line(&format!("{label} ({})", words.join(", ")), default)? {
            Asked::Left => return Ok(None),
            Asked::Nothing => return Ok(Some(default.to_owned())),
            Asked::Said(word) => match words.iter().find(|it| it.eq_ignore_ascii_case(&word)) {
                Some(word) => return Ok(Some((*word).to_owned())),
                None => {
                    eprintln!("  there is no {}: {}", sanitise(&word), meant(&word, words.iter().copied()))
                }
            },
        }
    }
}

fn line(label: &str, default: &str) -> anyhow::Result<Asked> {
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    eprint!("{}{} ", sanitise(label), sanitise(&shown));
    std::io::stderr().flush()?;
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(Asked::Left);
    }
    Ok(match line.trim() {
        "-" => Asked::Nothing,
        "" if default.is_empty() => Asked::Nothing,
        "" => Asked::Said(default.to_owned()),
        said => Asked::Said(said.to_owned()),
    })
}
