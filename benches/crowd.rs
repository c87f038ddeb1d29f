//! P13: a hundred runs at once, each with a project of its own and one home for all, beside the floor run
//! a hundredfold: the same agents in the smallest durable loop. Measured are the iterations in a second of all together,
//! and how much longer the slowest run took than the fastest.
//!
//!     cargo bench --bench crowd [-- RUNS CALLS]

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    let mut numbers = std::env::args().filter_map(|it| it.parse::<usize>().ok());
    let (runs, calls) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(20));
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("crowd");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).expect("a folder");
    let agent = root.join("agent");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/agent.c");
    let built = Command::new("cc").args(["-O2", "-o"]).arg(&agent).arg(source).status();
    assert!(built.expect("a C compiler").success());
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
    fs::create_dir_all(project.join(".loop")).expect("a folder");
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = {calls}\nphase_iterations = {calls}\n\
         [[phase]]\nname = \"ONLY\"\nprompt = \"Do the next thing.\"\nreport = \"none\"\nsignal = \"none\"\n\
         exit = \"commits_made > 0\"\nbreaker = {{}}\n"
    );
    fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
    let git = |words: &[&str]| {
        let done = Command::new("git").args(words).current_dir(&project).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "begin"]);
    project
}

fn floor(project: &Path, agent: &Path, calls: usize) {
    let folder = project.join(".git/floor");
    fs::create_dir_all(&folder).expect("a folder");
    let mut journal =
        OpenOptions::new().create(true).append(true).open(folder.join("journal")).expect("a file");
    let mut note = |text: String| {
        journal.write_all(text.as_bytes()).expect("written");
        journal.sync_data().expect("synced");
    };
    for call in 0..calls {
        note(format!("{{\"began\":{call}}}\n"));
        let mut child = Command::new(agent)
            .arg(folder.join("stamps"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
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

fn ours(project: &Path, home: &Path, agent: &Path, more: &[&str]) -> i32 {
    let command = format!("{} {}", agent.display(), project.join(".git/stamps").display());
    let done = Command::new(env!("CARGO_BIN_EXE_loop"))
        .args(["run", "--quiet", "--unverified", "--agent-cmd", &command, "--home"])
        .arg(home)
        .args(more)
        .current_dir(project)
        .output()
        .expect("loop");
    done.status.code().unwrap_or_default()
}
