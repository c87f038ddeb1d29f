//! P2: what one iteration costs in syncs, processes and files, counted with strace. Counts do not
//! depend on the machine's mood.
//!
//!     cargo bench --bench counts

use loop_harness::bench::{bench_folder, commit_all};
use loop_harness::program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let (few, many) = (20, 120);
    let (one, two) = (traced(few), traced(many));
    let calls = f64::from(many - few);
    println!("for each iteration with one call and one check, from {} iterations", many - few);
    for name in [
        "sync",
        "exec agent",
        "exec check",
        "exec git",
        "exec shim",
        "fork without vfork",
        "file created in the run's folder",
    ] {
        let count = |it: &BTreeMap<&str, u32>| f64::from(it.get(name).copied().unwrap_or(0));
        println!("{name:<34} {:.2}", (count(&two) - count(&one)) / calls);
    }
}

fn traced(calls: u32) -> BTreeMap<&'static str, u32> {
    let root = bench_folder("counts");
    let project = prepare(&root, calls);
    let trace = root.join("trace");
    let done = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-s",
            "200",
            "-e",
            "trace=fsync,fdatasync,execve,fork,vfork,clone,clone3,openat",
            "-o",
        ])
        .arg(&trace)
        .arg(program())
        .args(["run", "--quiet", "--agent-cmd", "/bin/true", "--home"])
        .arg(root.join("home"))
        .current_dir(&project)
        .output();
    let Ok(done) = done else {
        println!("skipped: strace is not installed");
        std::process::exit(0);
    };
    assert_eq!(done.status.code(), Some(6), "{}", String::from_utf8_lossy(&done.stderr));
    let mut counts = BTreeMap::new();
    let folder = root.join("home/runs").display().to_string();
    for line in std::fs::read_to_string(&trace).expect("a trace").lines() {
        let call = line.split_once(' ').map_or("", |it| it.1.trim_start());
        if let Some(kind) = kind_of(call, &folder) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    std::fs::remove_dir_all(root).expect("ours");
    counts
}

/// Returns a repository whose workflow makes so many calls.
fn prepare(root: &Path, calls: u32) -> PathBuf {
    let project = root.join("project");
    std::fs::create_dir_all(project.join(".loop")).expect("a folder");
    commit_all(&project);
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = {calls}\nphase_iterations = {calls}\n\
         [checks.probe]\nrun = \"true\"\n[[phase]]\nname = \"ONLY\"\nprompt = \"Do the next thing.\"\nreport = \"none\"\n\
         signal = \"none\"\nchecks = [\"probe\"]\nexit = \"commits_made > 0\"\nbreaker = {{}}\n"
    );
    std::fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
    project
}

/// Returns what a traced call counts as.
fn kind_of(call: &str, folder: &str) -> Option<&'static str> {
    let kind = match call {
        _ if call.contains("ENOENT") => return None,
        _ if call.starts_with("fsync(") || call.starts_with("fdatasync(") => "sync",
        _ if call.starts_with("execve(") && call.contains("\"/bin/true\"") => "exec agent",
        _ if call.starts_with("execve(") && call.contains("\"-c\", \"true\"") => "exec check",
        _ if call.starts_with("execve(") && call.contains("git\"") => "exec git",
        _ if call.starts_with("execve(") && call.contains("__shim") => "exec shim",
        _ if call.starts_with("fork(") => "fork without vfork",
        _ if call.starts_with("clone") && !call.contains("CLONE_VFORK") && !call.contains("CLONE_THREAD") => {
            "fork without vfork"
        }
        _ if call.starts_with("openat(")
            && call.contains("O_CREAT")
            // The shim holds the folder by a handle.
            && (call.contains(folder) || call.contains("\"/proc/self/fd/"))
            && !call.contains("/git/")
            && !call.contains("prompts.jsonl") =>
        {
            "file created in the run's folder"
        }
        _ => return None,
    };
    Some(kind)
}
