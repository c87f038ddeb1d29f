//! What the measurements in `benches/` share: a folder of their own, the smallest agent, a repository, a workflow
//! that does nothing but call, the floor beside it, and the time between two calls.

use crate::{kept_folder, program, source_tree};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Makes an empty folder for one measurement, which removes it at its end.
pub fn bench_folder(name: &str) -> PathBuf {
    let folder = kept_folder().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Builds the smallest agent; it appends when it began and ended to the file that it is given.
pub fn stamping_agent(folder: &Path) -> PathBuf {
    let agent = folder.join("agent");
    compile(&source_tree().join("benches/agent.c"), &agent);
    agent
}

pub fn compile(source: &Path, program: &Path) {
    let built = Command::new("cc").args(["-O2", "-o"]).arg(program).arg(source).status();
    assert!(built.expect("a C compiler").success());
}

/// Runs git as somebody who may commit. Returns what it printed.
pub fn git(place: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=b", "-c", "user.email=b@localhost"])
        .args(words)
        .current_dir(place)
        .output()
        .expect("git");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Makes a repository of what is in a folder.
pub fn commit_all(project: &Path) {
    git(project, &["init", "-q", "-b", "main"]);
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "--allow-empty", "-m", "begin"]);
}

/// Writes a workflow that makes so many calls and is capped then.
pub fn write_calls(project: &Path, calls: usize) {
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = {calls}\nphase_iterations = {calls}\n\
         [[phase]]\nname = \"ONLY\"\nprompt = \"Do the next thing.\"\nreport = \"none\"\nsignal = \"none\"\n\
         exit = \"commits_made > 0\"\nbreaker = {{}}\n"
    );
    fs::create_dir_all(project.join(".loop")).expect("a folder");
    fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
}

/// Returns the command that runs such a workflow.
pub fn calling(project: &Path, home: &Path, agent: &str) -> Command {
    let mut command = Command::new(program());
    command.args(["run", "--quiet", "--unverified", "--agent-cmd", agent, "--home"]).arg(home);
    command.current_dir(project);
    command
}

/// The smallest durable loop: spawn, prompt by pipe, output captured to a file, two appends to a journal with one
/// fdatasync each. It looks at no tree.
pub fn floor_calls(folder: &Path, agent: &Path, stamps: &Path, calls: usize) {
    let mut journal =
        OpenOptions::new().create(true).append(true).open(folder.join("journal")).expect("a file");
    let mut note = |text: String| {
        journal.write_all(text.as_bytes()).expect("written");
        journal.sync_data().expect("synced");
    };
    for call in 0..calls {
        note(format!("{{\"began\":{call}}}\n"));
        let mut child = Command::new(agent)
            .arg(stamps)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("an agent");
        let _ = child.stdin.take().expect("a pipe").write_all(b"Do the next thing.\n");
        let mut text = Vec::new();
        child.stdout.take().expect("a pipe").read_to_end(&mut text).expect("read");
        child.wait().expect("an end");
        fs::write(folder.join(format!("out-{call}")), text).expect("written");
        note(format!("{{\"ended\":{call}}}\n"));
    }
}

/// Returns when each call began and ended, in nanoseconds, by the agent's own stamps.
pub fn calls_made(stamps: &Path) -> Vec<(i64, i64)> {
    let bytes = fs::read(stamps).expect("stamps");
    let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    bytes.chunks_exact(16).map(|it| (number(&it[..8]), number(&it[8..]))).collect()
}

/// Returns the milliseconds between each call and the next.
pub fn gaps(stamps: &Path) -> Vec<f64> {
    let calls = calls_made(stamps);
    calls.windows(2).map(|it| (it[1].0 - it[0].1) as f64 / 1e6).collect()
}

pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
