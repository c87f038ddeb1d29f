//! P13: a hundred runs at once, each with a project of its own and one home for all, beside the floor run
//! a hundredfold: the same agents in the smallest durable loop.
//!
//! The rate is taken while all of them are at work: from the moment at which the last one makes its first call to the
//! moment at which the first one has made its last, by the agents' own stamps. What opening and closing a run costs
//! stands beside it, as the rate over everything, and so does how much longer the slowest run took than the fastest.
//!
//!     cargo bench --bench crowd [-- RUNS CALLS]

use loop_harness::bench::{
    bench_folder, calling, calls_made, commit_all, floor_calls, stamping_agent, write_calls,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let mut numbers = std::env::args().filter_map(|it| it.parse::<usize>().ok());
    let (runs, calls) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(100));
    let root = bench_folder("crowd");
    let agent = stamping_agent(&root);
    let projects: Vec<PathBuf> = (0..runs).map(|it| project(&root, it, calls)).collect();
    println!("{runs} runs at once, {calls} calls each");
    let floor = together("floor", &projects, calls, |it| floor(it, &agent, calls));
    let home = root.join("home");
    // The home is made once, so that nobody waits for its first tables.
    assert_eq!(ours(&projects[0], &home, &agent, &["--max", "1"]), 6);
    fs::remove_file(stamps(&projects[0])).expect("stamps");
    let ours = together("loop", &projects, calls, |it| assert_eq!(ours(it, &home, &agent, &["--fresh"]), 6));
    println!("P13: loop / floor while all run: {:.0} % (goal 70 %)", 100.0 * ours.rate / floor.rate);
    println!("     loop / floor with opening and closing: {:.0} %", 100.0 * ours.over_all / floor.over_all);
    let (fastest, slowest) = (ours.each.iter().min().expect("runs"), ours.each.iter().max().expect("runs"));
    println!(
        "P13: slowest / fastest run: {:.2} s / {:.2} s = {:.2} (goal 3)",
        slowest.as_secs_f64(),
        fastest.as_secs_f64(),
        slowest.as_secs_f64() / fastest.as_secs_f64()
    );
    fs::remove_dir_all(&root).expect("ours");
}

/// What a hundred did together.
struct Crowd {
    /// Iterations in a second while all were at work.
    rate: f64,
    /// Iterations in a second from the first start to the last end.
    over_all: f64,
    each: Vec<Duration>,
}

/// Does the same in every project at once.
fn together(name: &str, projects: &[PathBuf], calls: usize, work: impl Fn(&Path) + Sync) -> Crowd {
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
    let whole = start.elapsed().as_secs_f64();
    let made: Vec<Vec<(i64, i64)>> = projects.iter().map(|it| calls_made(&stamps(it))).collect();
    made.iter().for_each(|it| assert_eq!(it.len(), calls, "every run made its calls"));
    let from = made.iter().filter_map(|it| it.first()).map(|it| it.0).max().expect("calls");
    let to = made.iter().filter_map(|it| it.last()).map(|it| it.1).min().expect("calls");
    assert!(from < to, "the first had ended before the last began: more calls are needed");
    let within = made.iter().flatten().filter(|it| from < it.1 && it.1 <= to).count();
    projects.iter().for_each(|it| fs::remove_file(stamps(it)).expect("stamps"));
    let seconds = (to - from) as f64 / 1e9;
    let crowd =
        Crowd { rate: within as f64 / seconds, over_all: (projects.len() * calls) as f64 / whole, each };
    println!(
        "{name}: {:.0} iterations/s in the {seconds:.1} s while all run, {:.0} over all {whole:.1} s",
        crowd.rate, crowd.over_all
    );
    crowd
}

fn project(root: &Path, number: usize, calls: usize) -> PathBuf {
    let project = root.join(format!("project-{number}"));
    write_calls(&project, calls);
    commit_all(&project);
    project
}

fn stamps(project: &Path) -> PathBuf {
    project.join(".git/stamps")
}

fn floor(project: &Path, agent: &Path, calls: usize) {
    let folder = project.join(".git/floor");
    fs::create_dir_all(&folder).expect("a folder");
    floor_calls(&folder, agent, &stamps(project), calls);
}

fn ours(project: &Path, home: &Path, agent: &Path, more: &[&str]) -> i32 {
    let command = format!("{} {}", agent.display(), stamps(project).display());
    let done = calling(project, home, &command).args(more).output().expect("loop");
    done.status.code().unwrap_or_default()
}
