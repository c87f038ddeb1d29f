//! P14: kill -9 and resume. A run of trivial calls is killed at random moments; measured is the time
//! from the start of the next controller to the next call's first instruction, and counted is what
//! was lost or started twice. The seed is printed.
//!
//!     cargo bench --bench resume [-- KILLS]

use loop_harness::bench::{bench_folder, calling, commit_all, stamping_agent, write_calls};
use loop_harness::program;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// More than the kills can use up.
const CALLS: usize = 1_000_000;

fn main() {
    let kills: usize = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(100);
    let mut random = u64::from(std::process::id()) << 20 | 1;
    println!("seed {random}");
    let root = bench_folder("resume");
    let project = root.join("project");
    let agent = stamping_agent(&root);
    let stamps = root.join("stamps");
    let starts = root.join("starts");
    let script = root.join("call.sh");
    let text =
        format!("echo $LOOP_CALL >> {}\nexec {} {}\n", starts.display(), agent.display(), stamps.display());
    fs::write(&script, text).expect("written");
    write_calls(&project, CALLS);
    commit_all(&project);
    let start = || controller(&root, &project, &script);
    let mut running = start();
    until_longer(&stamps, 0);
    let mut times = Vec::new();
    for _ in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = Instant::now() + Duration::from_micros(random % 20_000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        running.kill().expect("ours");
        running.wait().expect("collected");
        // A call that was under way may end meanwhile; it is the first one after it that counts.
        let known = length(&starts);
        let begun = Instant::now();
        running = start();
        until_longer(&starts, known);
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    running.kill().expect("ours");
    running.wait().expect("collected");
    let journal = Command::new(program())
        .args(["log", "--json", "--home"])
        .arg(root.join("home"))
        .current_dir(&project)
        .output()
        .expect("loop");
    let lost = String::from_utf8_lossy(&journal.stdout).lines().filter(|it| it.contains("\"lost\"")).count();
    let mut numbers: Vec<u64> = fs::read_to_string(&starts)
        .expect("starts")
        .lines()
        .map(|it| it.parse().expect("a number"))
        .collect();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    times.sort_by(f64::total_cmp);
    println!(
        "P14: {kills} kills, {count} calls, {lost} lost, {} started twice; to the next call: median {:.1} ms, \
         9 of 10 below {:.1} ms, longest {:.1} ms (goal 50)",
        count - numbers.len(),
        times[times.len() / 2],
        times[times.len() * 9 / 10],
        times[times.len() - 1]
    );
    fs::remove_dir_all(&root).expect("ours");
}

fn controller(root: &Path, project: &Path, script: &Path) -> Child {
    calling(project, &root.join("home"), &format!("sh {}", script.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("loop")
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |it| it.len())
}

/// The file is watched without a pause: what is measured is shorter than one.
fn until_longer(path: &Path, known: u64) {
    let limit = Instant::now() + Duration::from_secs(60);
    while length(path) <= known {
        assert!(Instant::now() < limit, "the run does not go on");
        std::thread::yield_now();
    }
}
