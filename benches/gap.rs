//! P1 and P4: the dead time between two calls, from one agent's exit to the next one's entry, as a
//! ratio to a floor that is measured in the same run; and how it grows with the age of a run.
//!
//! The floor is the smallest durable loop: spawn, prompt by pipe, output captured to a file, two
//! appends to a journal with one fdatasync each. The floor looks at no tree. Ours does, and finds it
//! as it was; what starting git costs, where a call changed something, is named beside it.
//!
//!     cargo bench --bench gap [-- CALLS]

use loop_harness::bench::{
    bench_folder, calling, commit_all, floor_calls, gaps, median, stamping_agent, write_calls,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let calls = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(300);
    let root = bench_folder("gap");
    let agent = stamping_agent(&root);
    println!("{ROUNDS} rounds of {calls} calls; medians of the gap in ms");
    println!("round  floor  loop   loop/floor   (one git status)");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let folder = root.join(format!("round-{round}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let floor = median(&floor(&folder, &agent, calls));
        let project = project(&folder);
        let gaps = ours(&folder, &project, &agent, calls);
        let ours = median(&gaps);
        let git = median(&git_look(&folder, &project));
        ratios.push(ours / floor);
        println!("{round:>5}  {floor:.2}   {ours:.2}   {:.2}         ({git:.2})", ours / floor);
    }
    println!("P1: loop / floor, median of rounds: {:.2} (goal 2.5)", median(&ratios));
    let folder = root.join("growth");
    std::fs::create_dir_all(&folder).expect("a folder");
    let project = project(&folder);
    let gaps = ours(&folder, &project, &agent, calls * 10);
    let around = |at: usize| median(&gaps[at.saturating_sub(50)..(at + 50).min(gaps.len())]);
    let (early, late) = (around(100), around(gaps.len() - 51));
    println!(
        "P4: gap at call {} / at call 100: {:.2} / {:.2} = {:.2} (goal 1.1)",
        gaps.len() - 51,
        late,
        early,
        late / early
    );
    std::fs::remove_dir_all(&root).expect("ours");
}

fn floor(folder: &Path, agent: &Path, calls: usize) -> Vec<f64> {
    let stamps = folder.join("floor.stamps");
    floor_calls(folder, agent, &stamps, calls);
    gaps(&stamps)
}

fn project(folder: &Path) -> PathBuf {
    let project = folder.join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    std::fs::write(project.join("file"), "content\n").expect("written");
    commit_all(&project);
    project
}

fn ours(folder: &Path, project: &Path, agent: &Path, calls: usize) -> Vec<f64> {
    let stamps = folder.join("loop.stamps");
    write_calls(project, calls);
    let command = format!("{} {}", agent.display(), stamps.display());
    let done = calling(project, &folder.join("home"), &command).output().expect("loop");
    assert_eq!(done.status.code(), Some(6), "{}", String::from_utf8_lossy(&done.stderr));
    gaps(&stamps)
}

/// What one look at an unchanged tree costs: starting git once, with the run's own view.
fn git_look(folder: &Path, project: &Path) -> Vec<f64> {
    let runs = std::fs::read_dir(folder.join("home/runs")).expect("runs");
    let view = runs.flatten().next().expect("a run").path().join("git");
    let look = || {
        let begun = Instant::now();
        let words = [
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let done = Command::new("git")
            .args(words)
            .current_dir(project)
            .env("GIT_DIR", &view)
            .env("GIT_WORK_TREE", project)
            .env("GIT_INDEX_FILE", view.join("index"))
            .env("GIT_OBJECT_DIRECTORY", project.join(".git/objects"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git");
        assert!(done.status.success());
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..100).map(|_| look()).collect()
}
