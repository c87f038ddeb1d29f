//! The scripted agent of `loop demo`, called like any other program: the prompt on its standard
//! input, its words on standard output. It lies once.

use crate::host::git::Git;
use clap::Args;
use std::io::Read;
use std::path::Path;

#[derive(Args)]
pub(super) struct Flags {
    /// The part to play
    part: String,
}

const HALF: &str = "#!/bin/sh\necho \"hello, $1\"\n";
const WHOLE: &str = "#!/bin/sh\necho \"hello, ${1:-world}\"\n";

pub(super) fn run(flags: &Flags) -> anyhow::Result<u8> {
    anyhow::ensure!(flags.part == "demo", "there is no part \"{}\"", flags.part);
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let project = std::env::current_dir()?;
    let promise = prompt
        .lines()
        .find(|it| it.starts_with("<promise>"))
        .unwrap_or("<promise>FEATURE_COMPLETE</promise>");
    let first = std::env::var("LOOP_CALL").is_ok_and(|it| it == "1");
    if first {
        std::fs::write(project.join("greet.sh"), HALF)?;
        tick(&project)?;
        commit(&project, "greet people by name")?;
        println!("I wrote greet.sh. All tests pass and everything is committed.\n\n{promise}");
    } else {
        std::fs::write(project.join("greet.sh"), WHOLE)?;
        tick(&project)?;
        commit(&project, "greet the world when nobody is named")?;
        println!("The second test failed, as the feedback said. greet.sh now has a default.\n\n{promise}");
    }
    Ok(0)
}

/// Ticks every criterion, whether it holds or not.
fn tick(project: &Path) -> anyhow::Result<()> {
    let path = project.join("DESIGN-demo.md");
    let text = std::fs::read_to_string(&path)?;
    std::fs::write(path, text.replace("- [ ]", "- [x]"))?;
    Ok(())
}

/// Commits everything, as somebody who has no settings of their own.
pub(super) fn commit(project: &Path, message: &str) -> anyhow::Result<()> {
    let git = Git::open(project)?;
    git.run(["add", "-A"])?;
    git.run(["-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "-q", "-m", message])?;
    Ok(())
}
