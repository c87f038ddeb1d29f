//! P3: a gibibyte of an agent's stream, from the agent through the shim to disk with the controller
//! reading along, against one process that does both: reads the pipe, writes the raw log, and parses
//! the typed head of each line. The time is from the agent's first instruction to the first check
//! after it. Then the memory of shim and controller, also for one very long line and for bytes that
//! are no text.
//!
//!     cargo bench --bench stream [-- MEBIBYTES]

use loop_harness::bench::{bench_folder, commit_all, compile};
use loop_harness::{program, source_tree};
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 5;

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(default, borrow)]
    subtype: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    session_id: Option<std::borrow::Cow<'a, str>>,
}

fn main() {
    let mebibytes: u64 = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(1024);
    let root = bench_folder("stream");
    fs::create_dir_all(root.join("bin")).expect("a folder");
    let agent = root.join("bin/claude");
    compile(&source_tree().join("benches/stream.c"), &agent);
    println!("{ROUNDS} rounds of {mebibytes} MiB");
    println!("round  one process   loop          floor/loop  kB of shim, of controller");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let bytes = mebibytes << 20;
        let floor = floor(&root, &agent, bytes);
        let (ours, shim, controller) = ours(&root, &agent, "lines", bytes);
        ratios.push(floor / ours);
        let rate = |seconds: f64| bytes as f64 / 1e9 / seconds;
        println!(
            "{round:>5}  {:.2} GB/s     {:.2} GB/s     {:.2}        {shim}, {controller}",
            rate(floor),
            rate(ours),
            floor / ours
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("P3: floor / loop, median of rounds: {:.2} (goal 1.00)", ratios[ROUNDS / 2]);
    for (kind, bytes) in [("line", 256 << 20), ("dirt", 256 << 20)] {
        let (seconds, shim, controller) = ours(&root, &agent, kind, bytes);
        println!(
            "P3: one {kind} of 256 MiB: {seconds:.2} s, shim {shim}, controller {controller} (goal 8192)"
        );
    }
    fs::remove_dir_all(&root).expect("ours");
}

fn floor(root: &Path, agent: &Path, bytes: u64) -> f64 {
    let log = root.join("floor.out");
    let begun = Instant::now();
    let mut child = Command::new(agent)
        .env("BENCH_KIND", "lines")
        .env("BENCH_BYTES", bytes.to_string())
        .env("BENCH_STAMPS", root.join("floor.stamps"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("an agent");
    let mut pipe = child.stdout.take().expect("a pipe");
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, 256 << 10);
    let mut file = File::create(&log).expect("a file");
    let mut buffer = vec![0; 256 << 10];
    let mut open: Vec<u8> = Vec::new();
    let (mut lines, mut results) = (0_u64, 0);
    let mut line = |line: &[u8]| {
        let head: Head<'_> = serde_json::from_slice(line).expect("a line of ours");
        lines += u64::from(head.session_id.is_some());
        results += u32::from(head.kind == "result" && head.subtype.as_deref() == Some("success"));
    };
    loop {
        let count = pipe.read(&mut buffer).expect("read");
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count]).expect("written");
        let mut rest = &buffer[..count];
        while let Some(end) = rest.iter().position(|it| *it == b'\n') {
            if open.is_empty() {
                line(&rest[..end]);
            } else {
                open.extend_from_slice(&rest[..end]);
                line(&open);
                open.clear();
            }
            rest = &rest[end + 1..];
        }
        open.extend_from_slice(rest);
    }
    child.wait().expect("an end");
    assert_eq!(results, 1);
    let seconds = begun.elapsed().as_secs_f64();
    fs::remove_file(log).expect("ours");
    seconds
}

/// Returns seconds, and the memory of shim and controller: the peak, which counts the pages of the
/// program itself, and what of it was allocated.
fn ours(root: &Path, agent: &Path, kind: &str, bytes: u64) -> (f64, String, String) {
    let project = root.join("project");
    let _ = fs::remove_dir_all(&project);
    let _ = fs::remove_dir_all(root.join("home"));
    fs::create_dir_all(project.join(".loop")).expect("a folder");
    let stamps = root.join("stamps");
    let _ = fs::remove_file(&stamps);
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = 1\n\
         [agent]\ncli = \"claude\"\nenv = {{ BENCH_KIND = \"{kind}\", BENCH_BYTES = \"{bytes}\", BENCH_STAMPS = \"{}\" }}\n\
         [checks.probe]\nproof = false\nrun = \"[ ! -e {0} ] || exec {1} stamp {0}\"\n[[phase]]\nname = \"ONLY\"\n\
         prompt = \"Talk.\"\nreport = \"none\"\nsignal = \"none\"\nchecks = [\"probe\"]\nexit = \"commits_made > 0\"\nbreaker = {{}}\n",
        stamps.display(),
        agent.display()
    );
    fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
    commit_all(&project);
    let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").expect("a path"));
    let done = Command::new(program())
        .args(["run", "--quiet", "--home"])
        .arg(root.join("home"))
        .env("PATH", path)
        .current_dir(&project)
        .output()
        .expect("loop");
    assert_eq!(done.status.code(), Some(6), "{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(&stamps).expect("stamps");
    assert_eq!(text.lines().count(), 2, "one call and one check after it: {text}");
    let number = |word: &str, at: usize| -> u64 {
        let line = text.lines().find(|it| it.starts_with(word)).expect("a stamp");
        line.split(' ').nth(at).expect("a number").parse().expect("a number")
    };
    let seconds = (number("end", 1) - number("begin", 1)) as f64 / 1e9;
    let memory = |peak: usize| format!("{} kB ({} allocated)", number("end", peak), number("end", peak + 2));
    (seconds, memory(2), memory(3))
}
