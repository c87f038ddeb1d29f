//! The scripted agents of `loop demo`, called like any other program: the prompt on their standard
//! input, their words on standard output. Each of them lies once.

use crate::tree::git::Git;
use clap::{Args, ValueEnum};
use std::io::Read;
use std::path::Path;

#[derive(Args)]
pub(crate) struct DemoAgentFlags {
    part: DemoPart,
}

/// The workflow that is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DemoPart {
    Ralph,
    Tdd,
    Plan,
    Engineering,
}

const HALF: &str = "#!/bin/sh\necho \"hello, $1\"\n";
const WHOLE: &str = "#!/bin/sh\necho \"hello, ${1:-world}\"\n";

pub(crate) fn run(flags: &DemoAgentFlags) -> anyhow::Result<u8> {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let project = std::env::current_dir()?;
    match flags.part {
        DemoPart::Ralph => ralph(&project, &prompt)?,
        DemoPart::Tdd => tdd(&project)?,
        DemoPart::Plan => plan(&project)?,
        DemoPart::Engineering => engineering(&project, &prompt)?,
    }
    Ok(0)
}

fn ralph(project: &Path, prompt: &str) -> anyhow::Result<()> {
    let promise = prompt
        .lines()
        .find(|it| it.starts_with("<promise>"))
        .unwrap_or("<promise>FEATURE_COMPLETE</promise>");
    let first = std::env::var("LOOP_CALL").is_ok_and(|it| it == "1");
    let (script, message, said) = if first {
        (HALF, "greet people by name", "I wrote greet.sh. All tests pass and everything is committed.")
    } else {
        (
            WHOLE,
            "greet the world when nobody is named",
            "The second test failed, as the feedback said. greet.sh now has a default.",
        )
    };
    write(project, &[("greet.sh", script)])?;
    tick(project)?;
    commit(project, message)?;
    println!("{said}\n\n{promise}");
    Ok(())
}

fn tdd(project: &Path) -> anyhow::Result<()> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (phase, iteration) = (variable("LOOP_PHASE"), variable("LOOP_ITERATION"));
    let (said, more) = match (phase.as_str(), iteration.as_str()) {
        ("RED", _) => {
            let tests = [
                ("tests/greets-ada.sh", "[ \"$(sh greet.sh Ada)\" = 'hello, Ada' ]\n"),
                ("tests/greets-the-world.sh", "[ \"$(sh greet.sh)\" = 'hello, world' ]\n"),
            ];
            write(project, &tests)?;
            commit(project, "test: greetings")?;
            ("Both criteria have a test, and both fail.", "")
        }
        ("GREEN", "1") => {
            write(project, &[("greet.sh", HALF)])?;
            commit(project, "feat: greet people by name")?;
            (
                "greet.sh is there, and every test passes.",
                "TESTS:\n  TOTAL: 2\n  PASSING: 2\n  FAILING: 0\n  SKIPPED: 0\n",
            )
        }
        ("GREEN", _) => {
            write(project, &[("greet.sh", WHOLE)])?;
            commit(project, "feat: greet the world when nobody is named")?;
            ("The second test failed, as the feedback said. greet.sh now has a default.", "")
        }
        ("REFACTOR", _) => {
            ("Two lines need no better structure.", "METRICS:\n  REFACTORING_COMPLETE: true\n")
        }
        ("DOCUMENT", _) => {
            let documents = [
                ("docs/overview.md", "# Overview\n\nOne script that greets.\n"),
                ("docs/usage.md", "# Usage\n\n`sh greet.sh [NAME]`\n"),
                ("docs/adr/0001-plain-sh.md", "# Plain sh\n\nIt is everywhere.\n"),
            ];
            write(project, &documents)?;
            commit(project, "docs: greetings")?;
            ("Three documents, one of them a decision.", "")
        }
        _ => (
            "Every criterion is met.",
            "QA_METRICS:\n  CHECKS_TOTAL: 11\n  CHECKS_PASSING: 11\n  CHECKS_FAILING: 0\n  BLOCKING_ISSUES: 0\n  \
             WARNING_ISSUES: 0\nVERDICT: APPROVE\n",
        ),
    };
    println!(
        "{said}\n\n---PRP_PHASE_STATUS---\nPHASE: {phase}\nSTATUS: COMPLETE\nITERATION: {iteration}\n{more}\
         EXIT_SIGNAL: true\nRECOMMENDATION: continue\n---END_PRP_PHASE_STATUS---"
    );
    Ok(())
}

fn plan(project: &Path) -> anyhow::Result<()> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let folder = ".planning/phases/01-greetings";
    if variable("LOOP_PHASE") == "VERIFY" {
        let report = "---\nphase: 1\nverified: 2026-01-16T10:15:00Z\nstatus: passed\nscore: 2/2\n---\n\n# Verification\n";
        write(project, &[(&format!("{folder}/01-VERIFICATION.md"), report)])?;
        println!("## Verification Complete\n\npassed, 2/2");
        return Ok(());
    }
    write(project, &[("greet.sh", WHOLE)])?;
    let said = if variable("LOOP_ITERATION") == "1" {
        "greet.sh is there and committed."
    } else {
        commit(project, "feat(1-01): greet people by name")?;
        "The commit was missing, as the feedback said."
    };
    write(project, &[(&format!("{folder}/01-01-SUMMARY.md"), "# Summary\n\nOne script that greets.\n")])?;
    println!("{said}\n\n---\nEXIT_SIGNAL: TASK_COMPLETE\nTASK: a script that greets\nNEXT: nothing\n---");
    Ok(())
}

/// Writes whatever the prompt asks for; the first review leaves its verdict out.
fn engineering(project: &Path, prompt: &str) -> anyhow::Result<()> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (phase, skill) = (variable("LOOP_PHASE"), variable("LOOP_SKILL"));
    let asked = prompt.lines().filter_map(|it| it.strip_prefix("- `domain-memory/")?.strip_suffix('`'));
    for name in asked {
        let name = format!("domain-memory/{}", name.replace('*', "001-demo"));
        let text = format!("# {skill}\n\nWritten in {phase}, call {}.\n", variable("LOOP_CALL"));
        write(project, &[(&name, &text)])?;
    }
    if skill == "implement" {
        write(project, &[("greet.sh", WHOLE)])?;
    }
    if !matches!(phase.as_str(), "SHIP" | "COMPLETE") && skill != "debug-assist" {
        commit(project, &format!("feat: {skill}"))?;
    }
    let more = match skill.as_str() {
        "security-audit" => r#", "metrics": { "critical_findings": 0, "high_findings": 0 }"#,
        "perf-analysis" => r#", "metrics": { "perf_targets_total": 0 }"#,
        "code-review" if variable("LOOP_ITERATION") != "1" => r#", "verdict": "approve""#,
        _ => "",
    };
    println!(
        "Done with {skill}.\n\n```json\n{{ \"status\": \"done\", \"summary\": \"{skill} is done\"{more} }}\n```"
    );
    Ok(())
}

pub(crate) fn write(project: &Path, files: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().expect("a file stands in a folder"))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Ticks every criterion, whether it holds or not.
fn tick(project: &Path) -> anyhow::Result<()> {
    let path = project.join("DESIGN-demo.md");
    let text = std::fs::read_to_string(&path)?;
    std::fs::write(path, text.replace("- [ ]", "- [x]"))?;
    Ok(())
}

/// Commits everything, as somebody who has no settings of their own. Some skills have nothing to commit.
pub(crate) fn commit(project: &Path, message: &str) -> anyhow::Result<()> {
    let git = Git::open(project)?;
    git.run(["add", "-A"])?;
    if git.run(["status", "--porcelain"])?.is_empty() {
        return Ok(());
    }
    git.run(["-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "-q", "-m", message])?;
    Ok(())
}
