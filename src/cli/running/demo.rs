//! `loop demo`: a whole run in a temporary repository, with a scripted agent, real git and real
//! checks. The agent lies once; watch it being caught. Nothing is left behind.

use super::flags::{OnQuestion, RunFlags};
use super::{demo_agent, run};
use crate::cli::temporary::TemporaryFolder;
use crate::cli::{Context, context};
use crate::desk::{Reach, Refusal, meant};
use crate::tree::git::Git;
use clap::Args;
use loop_core::workflow::preset::BuiltIn;
use std::path::Path;

#[derive(Args)]
pub(crate) struct DemoFlags {
    /// The workflow to watch: ralph, tdd, plan or engineering
    #[arg(default_value = BuiltIn::Ralph.name())]
    preset: String,
}

/// What a demo is about.
struct Piece {
    preset: BuiltIn,
    /// What is there, in words.
    scene: &'static str,
    input: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// What was to be seen.
    moral: &'static str,
    own: &'static str,
}

const PIECES: [Piece; 4] = [
    Piece {
        preset: BuiltIn::Ralph,
        scene: "a repository, a design, and an agent that lies in its first call",
        input: "DESIGN-demo.md",
        files: &[("DESIGN-demo.md", DESIGN), ("tests.sh", COUNTING)],
        moral: "After its first call the agent said it was done; the tests failed, so it was sent back.",
        own: "loop run \"what to build\" --agent-cmd \"PROGRAM ARGS\" --check tests=\"your test command\"",
    },
    Piece {
        preset: BuiltIn::Tdd,
        scene: "a repository, a PRP, and an agent that lies about passing tests",
        input: "docs/PRPs/greetings.md",
        files: &[("docs/PRPs/greetings.md", PRP), ("tests.sh", RUNNING)],
        moral: "In GREEN the agent said that both tests pass; one failed, so GREEN was not done.",
        own: "loop run docs/PRPs/YOURS.md --preset tdd --check tests=\"your test command\"",
    },
    Piece {
        preset: BuiltIn::Plan,
        scene: "a repository, a roadmap with one planned phase, and an agent that forgets to commit",
        input: "1",
        files: &[
            (".planning/LEARNINGS.md", "# Learnings\n"),
            (".planning/ROADMAP.md", ROADMAP),
            (".planning/STATE.md", STATE),
            (".planning/phases/01-greetings/01-01-PLAN.md", PLAN),
            (".planning/config.json", "{ \"planning\": { \"commit_docs\": false } }\n"),
            ("tests.sh", COUNTING),
        ],
        moral: "The agent called its first task complete without a commit, so the task was done again.",
        own: "loop setup plan, then loop run 1",
    },
    Piece {
        preset: BuiltIn::Engineering,
        scene: "a repository, a queue with one system, and a reviewer that forgets its verdict",
        input: "sys-001",
        files: &[
            ("domain-memory/demo/system-queue.json", QUEUE),
            ("domain-memory/demo/config.json", NO_TARGET),
            ("tests.sh", COUNTING),
        ],
        moral: "The first review gave no verdict, so it was asked for again; only then was the work merged.",
        own: "loop queue add \"NAME OF A SYSTEM\", then loop run sys-001",
    },
];

const QUEUE: &str = r#"{
  "domain": "demo",
  "systems": [
    {
      "id": "sys-001",
      "name": "Greetings",
      "description": "greet.sh greets whoever is named on its command line, else the world",
      "status": "specified",
      "dependencies": [],
      "priority": 1,
      "capabilities": ["greeting"],
      "autonomy": { "mode": "autonomous", "gates": { "deploy": { "required": false } }, "reason": "a demo" }
    }
  ]
}
"#;

/// Nothing is deployed, and nobody is asked.
const NO_TARGET: &str = "{ \"prerequisites\": { \"deploy\": { \"status\": \"skipped\" } } }\n";

const ROADMAP: &str = "\
# Roadmap

- [ ] **Phase 1: Greetings** - a script that greets

### Phase 1: Greetings
**Goal**: People are greeted by name
**Success Criteria** (what must be TRUE):
  1. A name is greeted
  2. Without a name the world is greeted
";

const STATE: &str = "\
# Project State

## Current Position

Phase: 1 of 1 (Greetings)
Plan: 0 of 1 in current phase
Status: Ready to execute
";

const PLAN: &str = "\
---
phase: 01-greetings
plan: 01
wave: 1
must_haves:
  truths:
    - \"A name is greeted\"
    - \"Without a name the world is greeted\"
---

<tasks>
<task type=\"auto\">
  <name>Task 1: a script that greets</name>
  <files>greet.sh</files>
  <verify>sh tests.sh</verify>
</task>
</tasks>
";

const DESIGN: &str = "\
# Greet people by name

**Task Type**: Feature

## Context

`greet.sh` should greet whoever is named on its command line.

## Acceptance Criteria

- [ ] `sh greet.sh Ada` prints `hello, Ada`
- [ ] without a name it greets the world

## Validation Checks

```sh
sh tests.sh
```
";

const COUNTING: &str = "\
#!/bin/sh
# Prints what it counted, so that the numbers can be measured.
passing=0
total=2
[ \"$(sh greet.sh Ada 2>/dev/null)\" = 'hello, Ada' ] && passing=$((passing + 1)) || echo 'FAIL: greets Ada'
[ \"$(sh greet.sh 2>/dev/null)\" = 'hello, world' ] && passing=$((passing + 1)) || echo 'FAIL: greets the world'
echo \"tests_total=$total tests_passing=$passing tests_failing=$((total - passing))\"
[ \"$passing\" = \"$total\" ]
";

const PRP: &str = "\
# PRP: Greet people by name

## Goal

`greet.sh` greets whoever is named on its command line.

## What

### Success Criteria

- [ ] `sh greet.sh Ada` prints `hello, Ada`
- [ ] without a name it greets the world
";

const RUNNING: &str = "\
#!/bin/sh
# Runs every test of the folder and prints TAP, so that the numbers can be measured.
number=0
failing=0
for test in tests/*.sh; do
    [ -f \"$test\" ] || continue
    number=$((number + 1))
    name=$(basename \"$test\" .sh)
    if sh \"$test\" 2>/dev/null; then echo \"ok $number - $name\"; else failing=$((failing + 1)); echo \"not ok $number - $name\"; fi
done
echo \"1..$number\"
[ \"$failing\" = 0 ]
";

pub(crate) fn run(context: &Context, flags: &DemoFlags) -> anyhow::Result<u8> {
    let piece = find(&flags.preset)?;
    let folder = TemporaryFolder::new("loop-demo")?;
    let (project, home) = (folder.path().join("project"), folder.path().join("home"));
    prepare(&project, piece)?;
    if !context.json && !context.quiet {
        context::say(&format!("a demo in {}: {}", project.display(), piece.scene));
    }
    let here = Context::in_temporary(&project, &home, context);
    let agent = std::env::current_exe()?;
    let quoted = agent.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let flags = RunFlags {
        input: Some(piece.input.to_owned()),
        preset: Some(piece.preset.name().to_owned()),
        agent_cmd: Some(format!("\"{quoted}\" __agent {}", piece.preset.name())),
        checks: vec![("tests".to_owned(), "sh tests.sh".to_owned())],
        // Files for other tools would stay in the person's own folder otherwise.
        mirror: (piece.preset == BuiltIn::Tdd).then(|| folder.path().join("session")),
        on_question: Some(OnQuestion::Exit),
        nested: true,
        ..RunFlags::default()
    };
    let code = run::run(&here, &flags, Reach::Far)?;
    if !context.json && !context.quiet {
        eprintln!();
        match code {
            0 => context::say(piece.moral),
            _ => context::say(&format!(
                "The demo of {} did not finish; the lines above say why.",
                piece.preset.name()
            )),
        }
        context::say(&format!("Your own: {}", piece.own));
    }
    Ok(code)
}

fn find(name: &str) -> anyhow::Result<&'static Piece> {
    if let Some(piece) = PIECES.iter().find(|it| it.preset.name().eq_ignore_ascii_case(name)) {
        return Ok(piece);
    }
    let known = PIECES.iter().map(|it| it.preset.name());
    Err(Refusal::usage(format!("there is no demo of \"{name}\""), meant(name, known)))
}

fn prepare(project: &Path, piece: &Piece) -> anyhow::Result<()> {
    std::fs::create_dir_all(project)?;
    let git = Git::init(project)?;
    git.run(["config", "user.name", "demo"])?;
    git.run(["config", "user.email", "demo@localhost"])?;
    demo_agent::write(project, piece.files)?;
    demo_agent::commit(project, "the task, and how it is tested")
}
