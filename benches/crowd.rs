//! P13: a hundred runs at once, each with a project of its own and one home for all, beside the floor run
//! a hundredfold: the same agents in the smallest durable loop. Measured are the iterations in a second of all together,
//! and how much longer the slowest run took than the fastest.
//!
//!     cargo bench --bench crowd [-- RUNS CALLS]

use loop_harness::bench::{bench_folder, calling, commit_all, floor_calls, stamping_agent, write_calls};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let mut numbers = std::env::args().filter_map(|it| it.parse::<usize>().ok());
    let (runs, calls) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(20));
    let root = bench_folder("crowd");
    let agent = stamping_agent(&root);
    let projects: Vec<PathBuf> = (0..runs).map(|it| project(&root, it, calls)).collect();
    println!("{runs} runs at once, {calls} calls each");
    let (floor, _) = together(&projects, |it| floor(it, &agent, calls));
    let home = root.join("home");
    // The home is made once, so that nobody waits for its first tables.
    assert_eq!(ours(&projects[0], &home, &agent, &["--max", "1"]), 6);
    let (whole, each) = together(&projects, |it| assert_eq!(ours(it, &home, &agent, &["--fresh"]), 6));
    let rate = |time: Duration| (runs * calls) as f64 / time.as_secs_f64();
    println!("floor: {:.0} iterations/s, loop: {:.0} iterations/s", rate(floor), rate(whole));
    println!("P13: loop / floor: {:.0} % (goal 70 %)", 100.0 * rate(whole) / rate(floor));
    let (fastest, slowest) = (each.iter().min().expect("runs"), each.iter().max().expect("runs"));
    println!(
        "P13: slowest / fastest run: {:.2} s / {:.2} s = {:.2} (goal 3)",
        slowest.as_secs_f64(),
        fastest.as_secs_f64(),
        slowest.as_secs_f64() / fastest.as_secs_f64()
    );
    fs::remove_dir_all(&root).expect("ours");
}

/// Does the same in every project at once. Returns how long all took, and each.
fn together(projects: &[PathBuf], work: impl Fn(&Path) + Sync) -> (Duration, Vec<Duration>) {
    let start = Instant::now();
    let each = std::thread::scope(|scope| {
        let all: Vec<_> = projects
            .iter()
            .map(|it| {
                let work = &work;
                scope.spawn(move || {
                    let start = Instant::now();
                    work(it);
                    start.elapsed()
                })
            })
            .collect();
        all.into_iter().map(|it| it.join().expect("a run")).collect()
    });
    (start.elapsed(), each)
}

fn project(root: &Path, number: usize, calls: usize) -> PathBuf {
    let project = root.join(format!("project-{number}"));
    write_calls(&project, calls);
    commit_all(&project);
    project
}

fn floor(project: &Path, agent: &Path, calls: usize) {
    let folder = project.join(".git/floor");
    fs::create_dir_all(&folder).expect("a folder");
    floor_calls(&folder, agent, &folder.join("stamps"), calls);
}

fn ours(project: &Path, home: &Path, agent: &Path, more: &[&str]) -> i32 {
    let command = format!("{} {}", agent.display(), project.join(".git/stamps").display());
    let done = calling(project, home, &command).args(more).output().expect("loop");
    done.status.code().unwrap_or_default()
}
