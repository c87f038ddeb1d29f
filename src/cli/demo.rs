//! `loop demo`: a whole run in a temporary repository, with a scripted agent, real git and real
//! checks. The agent lies in its first call; watch it being caught. Nothing is left behind.

use super::flags::{OnQuestion, RunFlags};
use super::{Context, Trouble, drive, open};
use crate::host::git::Git;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Flags {
    /// The workflow to watch
    #[arg(default_value = "ralph")]
    preset: String,
}

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

const TESTS: &str = "\
#!/bin/sh
# Prints what it counted, so that the numbers can be measured.
passing=0
total=2
[ \"$(sh greet.sh Ada 2>/dev/null)\" = 'hello, Ada' ] && passing=$((passing + 1)) || echo 'FAIL: greets Ada'
[ \"$(sh greet.sh 2>/dev/null)\" = 'hello, world' ] && passing=$((passing + 1)) || echo 'FAIL: greets the world'
echo \"tests_total=$total tests_passing=$passing tests_failing=$((total - passing))\"
[ \"$passing\" = \"$total\" ]
";

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    if !flags.preset.eq_ignore_ascii_case("ralph") {
        let text = format!("there is no demo of \"{}\" yet", flags.preset);
        return Err(Trouble::usage(text, "loop demo"));
    }
    let folder = Temporary::new()?;
    let (project, home) = (folder.0.join("project"), folder.0.join("home"));
    prepare(&project)?;
    if !context.json && !context.quiet {
        eprintln!(
            "a demo in {}: a repository, a design, and an agent that is not honest at first",
            project.display()
        );
    }
    let here = Context::at(&project, &home, context);
    let agent = std::env::current_exe()?;
    let quoted = agent.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let flags = RunFlags {
        input: Some("DESIGN-demo.md".to_owned()),
        preset: Some(flags.preset.clone()),
        agent_cmd: Some(format!("\"{quoted}\" __agent demo")),
        checks: vec![("tests".to_owned(), "sh tests.sh".to_owned())],
        on_question: Some(OnQuestion::Exit),
        nested: true,
        ..RunFlags::default()
    };
    let code = open::run(&here, &flags, drive::Reach::Far)?;
    if !context.json && !context.quiet {
        eprintln!();
        eprintln!(
            "The agent promised after its first call, and the tests said otherwise; so it was sent back."
        );
        eprintln!(
            "Your own: loop run \"what to build\" --agent-cmd \"PROGRAM ARGS\" --check tests=\"your test command\""
        );
    }
    Ok(code)
}

fn prepare(project: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(project)?;
    Git::init(project)?;
    std::fs::write(project.join("DESIGN-demo.md"), DESIGN)?;
    std::fs::write(project.join("tests.sh"), TESTS)?;
    super::player::commit(project, "a design and its tests")?;
    Ok(())
}

/// A folder that is gone with its value.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> anyhow::Result<Temporary> {
        let path = std::env::temp_dir().canonicalize()?.join(format!("loop-demo-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path)?;
        Ok(Temporary(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _only_a_demo = std::fs::remove_dir_all(&self.0);
    }
}
