//! P1 and P4: the dead time between two calls, from one agent's exit to the next one's entry, as a
//! ratio to a floor that is measured in the same run; and how it grows with the age of a run.
//!
//! The floor is the smallest durable loop: spawn, prompt by pipe, output captured to a file, two
//! appends to a journal with one fdatasync each. The floor looks at no tree. Ours does, and finds it
//! as it was; what starting git costs, where a call changed something, is named beside it.
//!
//!     cargo bench --bench gap [-- CALLS]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let calls = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(300);
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gap");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("a folder");
    let agent = root.join("agent");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/agent.c");
    let built =
        Command::new("cc").args(["-O2", "-o"]).arg(&agent).arg(source).status().expect("a C compiler");
    assert!(built.success());
    println!("{ROUNDS} rounds of {calls} calls; medians of the gap in ms");
    println!("round  floor  loop   loop/floor   (one git status)");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let folder = root.join(format!("round-{round}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let floor = median(&mut floor(&folder, &agent, calls));
        let project = project(&folder);
        let gaps = ours(&folder, &project, &agent, calls);
        let ours = median(&mut gaps.clone());
        let git = median(&mut git_look(&folder, &project));
        ratios.push(ours / floor);
        println!("{round:>5}  {floor:.2}   {ours:.2}   {:.2}         ({git:.2})", ours / floor);
    }
    println!("P1: loop / floor, median of rounds: {:.2} (goal 2.5)", median(&mut ratios));
    let folder = root.join("growth");
    std::fs::create_dir_all(&folder).expect("a folder");
    let project = project(&folder);
    let gaps = ours(&folder, &project, &agent, calls * 10);
    let around = |at: usize| median(&mut gaps[at.saturating_sub(50)..(at + 50).min(gaps.len())].to_vec());
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
    let mut journal =
        OpenOptions::new().create(true).append(true).open(folder.join("journal")).expect("a file");
    let mut note = |text: String| {
        journal.write_all(text.as_bytes()).expect("written");
        journal.sync_data().expect("synced");
    };
    for call in 0..calls {
        note(format!("{{\"began\":{call}}}\n"));
        let mut child = Command::new(agent)
            .arg(&stamps)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("an agent");
        let _ = child.stdin.take().expect("a pipe").write_all(b"Do the next thing.\n");
        let mut text = Vec::new();
        child.stdout.take().expect("a pipe").read_to_end(&mut text).expect("read");
        child.wait().expect("an end");
        File::create(folder.join(format!("out-{call}")))
            .and_then(|mut it| it.write_all(&text))
            .expect("written");
        note(format!("{{\"ended\":{call}}}\n"));
    }
    gaps(&stamps)
}

fn project(folder: &Path) -> PathBuf {
    let project = folder.join("project");
    std::fs::create_dir_all(project.join(".loop")).expect("a folder");
    std::fs::write(project.join("file"), "content\n").expect("written");
    let git = |words: &[&str]| {
        let done = Command::new("git").args(words).current_dir(&project).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "file"]);
    git(&["-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "begin"]);
    project
}

fn ours(folder: &Path, project: &Path, agent: &Path, calls: usize) -> Vec<f64> {
    let stamps = folder.join("loop.stamps");
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = {calls}\nphase_iterations = {calls}\n\
         [[phase]]\nname = \"ONLY\"\nprompt = \"Do the next thing.\"\nreport = \"none\"\nsignal = \"none\"\n\
         exit = \"commits_made > 0\"\nbreaker = {{}}\n"
    );
    std::fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
    let command = format!("{} {}", agent.display(), stamps.display());
    let done = Command::new(env!("CARGO_BIN_EXE_loop"))
        .args(["run", "--quiet", "--unverified", "--agent-cmd", &command, "--home"])
        .arg(folder.join("home"))
        .current_dir(project)
        .output()
        .expect("loop");
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

fn gaps(stamps: &Path) -> Vec<f64> {
    let bytes = std::fs::read(stamps).expect("stamps");
    let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let calls: Vec<(i64, i64)> =
        bytes.chunks_exact(16).map(|it| (number(&it[..8]), number(&it[8..]))).collect();
    calls.windows(2).map(|it| (it[1].0 - it[0].1) as f64 / 1e6).collect()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
