//! A proof that is killed in the middle leaves nothing to the next one.

use crate::project::{Answer, Project};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Waits until a file holds a line.
fn line_of(path: &PathBuf) -> String {
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    }
}

fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = state.rsplit(") ").next().and_then(|it| it.chars().next());
    state.is_some_and(|it| it != 'Z')
}

#[test]
fn a_killed_step_is_cleared_and_taken_again() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    let (pid, ready) = (project.beside("pid"), project.beside("ready"));
    let fifo = project.beside("fifo");
    assert!(project.sh(&format!("mkfifo {}", fifo.display())).status.success());
    let check = format!(
        "if test -e {1}; then exit 0; fi; setsid sh -c 'echo $$ > {0}; exec cat {2}' & touch {1}; cat {2}",
        pid.display(),
        ready.display(),
        fifo.display()
    );
    let tree = project.git(&["rev-parse", "HEAD^{tree}"]);
    let mut waiting = proof.command("baseline", &tree, &check).stdout(Stdio::null()).spawn().expect("loop");
    let escaped = line_of(&pid);
    let folder = fs::read_dir(project.home.join("proof")).expect("there").flatten().map(|it| it.path());
    let folder = folder.into_iter().find(|it| it.join("occupant").exists()).expect("a folder");
    let occupant: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("occupant")).expect("there")).expect("json");
    // The prover and its shim, at once.
    let mark = fs::read_to_string(folder.join("work/mark")).expect("there");
    let shim: serde_json::Value = serde_json::from_str(
        &fs::read_to_string(folder.join("work").join(mark).join("shim-1")).expect("there"),
    )
    .expect("json");
    for pid in [&shim["pid"], &occupant["identity"]["pid"]] {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid.as_i64().expect("a pid")).expect("a pid"));
        rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::KILL).expect("killed");
    }
    assert!(!waiting.wait().expect("collected").success());
    assert!(folder.join("work").exists());
    proof.baseline(&check).assert_green();
    assert!(!is_alive(&escaped));
    assert!(!folder.join("work").exists());
}

#[test]
fn what_a_check_leaves_running_is_ended() {
    let project = Project::new(&[("a", "1")]);
    let pid = project.beside("pid");
    let check = format!(
        "setsid sh -c 'echo $$ > {0}; exec tail -f /dev/null' & until test -s {0}; do :; done",
        pid.display()
    );
    project.open().baseline(&check).assert_green();
    assert!(!is_alive(&line_of(&pid)));
}

const CHECK: &str = "python3 -m unittest -v";
const TEST: &str = "import unittest
import lib

class LibTest(unittest.TestCase):
    def test_one(self):
        self.assertEqual(lib.one(), 1)
";

/// How often each step is hit in one run of the tests, once the prover alone and once with its shim;
/// `LOOP_TEST_TIMES=10` makes it a hundred kills.
const HITS: usize = 2;

/// The moments of the kills as parts of a step's usual time. `LOOP_KILLS_SEED=N` repeats them.
struct Moments(u64);

impl Moments {
    fn new() -> Moments {
        let given = std::env::var("LOOP_KILLS_SEED").ok().and_then(|it| it.parse().ok());
        let clock = || {
            let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock");
            u64::from(since.subsec_nanos())
        };
        let seed = given.unwrap_or_else(clock);
        println!("LOOP_KILLS_SEED={seed}");
        Moments(seed)
    }

    fn next(&mut self) -> f64 {
        // The numbers of a usual linear generator; its high bits are mixed enough for moments.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// What must be the same whether or not a step was killed before.
fn essence(answer: &Answer) -> Value {
    let attempt = &answer.0["outcome"]["ran"]["attempts"][0];
    json!({ "outcome": attempt, "canary": answer.0["canary"], "changed": answer.0["changed_protected"] })
}

/// Processes of this project that are still there.
fn left_running(project: &Project) -> Vec<String> {
    let root = project.beside("");
    let all = fs::read_dir("/proc").expect("there").flatten().map(|it| it.path());
    let of_project = all.filter(|it| {
        let command = fs::read(it.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(root.to_str().expect("plain"))
            || fs::read_link(it.join("cwd")).is_ok_and(|it| it.starts_with(&root))
    });
    of_project
        .filter_map(|it| it.file_name()?.to_str().map(str::to_owned))
        .filter(|it| is_alive(it))
        .collect()
}

/// Kills whoever is at a step when this much time has gone; returns whether there was somebody.
fn kill_after(waiting: &mut Child, folder: &Path, time: Duration, with_shim: bool) -> bool {
    let started = Instant::now();
    let occupant = loop {
        let read = fs::read(folder.join("occupant")).ok();
        let occupant = read.and_then(|it| serde_json::from_slice::<Value>(&it).ok());
        match occupant {
            Some(occupant) if time <= started.elapsed() => break occupant,
            None if waiting.try_wait().expect("our child").is_some() => return false,
            Some(_) | None => std::thread::yield_now(),
        }
    };
    let mark = fs::read_to_string(folder.join("work/mark")).unwrap_or_default();
    let shim = fs::read(folder.join("work").join(mark).join("shim-1")).unwrap_or_default();
    let shim = serde_json::from_slice::<Value>(&shim).unwrap_or_default();
    let prover = &occupant["identity"]["pid"];
    let wanted = if with_shim { vec![&shim["pid"], prover] } else { vec![prover] };
    let pids = wanted.into_iter().filter_map(|it| i32::try_from(it.as_i64()?).ok());
    let mut killed = false;
    for pid in pids.filter_map(rustix::process::Pid::from_raw) {
        killed |= rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok();
    }
    killed
}

/// kill -9 in every step: the step is taken again, comes to the same, and leaves nothing behind.
#[test]
fn a_kill_in_any_step_changes_nothing() {
    let times: usize = std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let (mut kills, mut missed) = (0, 0);
    let mut moments = Moments::new();
    for _ in 0..times {
        for number in 0..HITS {
            let project = Project::new(&[
                (".gitignore", "__pycache__\n"),
                ("lib.py", "def one():\n    return 2\n"),
                ("test_lib.py", TEST),
            ]);
            let proof = project.open();
            project.write_all(&[("lib.py", "def one():\n    return 1\n")]);
            let fixed = project.commit();
            let more =
                format!("{TEST}\n    def test_kind(self):\n        self.assertEqual(lib.one() + 1, 2)\n");
            project.write_all(&[("test_lib.py", &more)]);
            let tested = project.commit();
            let steps = [
                ("baseline", &fixed),
                ("clean", &tested),
                ("overlay", &tested),
                ("old-code", &tested),
                // Where a test changed, the overlay's own run carries the canary.
                ("canary", &fixed),
            ];
            for (step, tree) in steps {
                let part = moments.next();
                let run =
                    || proof.command(step, tree, CHECK).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
                let begun = Instant::now();
                let undisturbed = proof.step(step, tree, CHECK);
                let usual = begun.elapsed();
                let folder = fs::read_dir(project.home.join("proof")).expect("there").flatten();
                let folder = folder.map(|it| it.path()).find(|it| it.join("results").exists());
                let folder = folder.expect("the folder of the project");
                let kept = undisturbed.0["key"].as_str().expect("a key");
                fs::remove_file(folder.join("results").join(format!("{kept}.json"))).expect("it was kept");
                let mut waiting = run().expect("loop");
                match kill_after(&mut waiting, &folder, usual.mul_f64(part), number == 1) {
                    true => kills += 1,
                    false => missed += 1,
                }
                waiting.wait().expect("collected");
                let again = proof.step(step, tree, CHECK);
                assert_eq!(essence(&again), essence(&undisturbed), "{step}, killed at {part}");
                assert!(!folder.join("work").exists(), "{step}: the work folder stays");
                let left = left_running(&project);
                assert!(left.is_empty(), "{step}: {left:?} still run");
            }
        }
    }
    println!("{kills} kills in the five steps of a proof, {missed} came too late");
    assert!(times * 5 <= kills, "too few kills hit: {kills}");
}
