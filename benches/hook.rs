//! P5: what the stop hook costs a session, beside a process that does nothing, measured in the same
//! round; and how many processes and syncs a decision takes. Transcripts are sparse: only their end
//! is on the disk, as only their end is read.
//!
//!     cargo bench --bench hook [-- ROUNDS]

use loop_harness::bench::bench_folder;
use serde_json::json;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const LOOP: &str = env!("CARGO_BIN_EXE_loop");
const SIZES: [(&str, u64); 4] =
    [("1 KB", 1 << 10), ("1 MB", 1 << 20), ("100 MB", 100 << 20), ("1 GB", 1 << 30)];
const PROMISE: &str = "Done.\n\n<promise>FEATURE_COMPLETE</promise>";

fn main() {
    let rounds = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(30);
    let root = bench_folder("hook");
    fs::create_dir_all(root.join("project")).expect("a folder");
    let bench = Bench { root: root.canonicalize().expect("a path"), rounds };
    bench.prepare();
    println!("{rounds} rounds; ms above a process that does nothing, median (least)");
    println!("{:<44} {:>14} {:>10} {:>6}", "the session's stop", "ms", "processes", "syncs");
    bench.row("of another session", "two", "working", None);
    bench.row("its own, no promise", "one", "working", None);
    for (name, bytes) in SIZES {
        let text = format!("its own, no promise, {name} of transcript");
        bench.row(&text, "one", "working", Some(bytes));
    }
    bench.row("its own, a promise that does not hold", "one", PROMISE, None);
    fs::remove_dir_all(&root).expect("ours");
}

struct Bench {
    root: PathBuf,
    rounds: usize,
}

impl Bench {
    /// A project of a hundred files, and a loop that one session has.
    fn prepare(&self) {
        let project = self.root.join("project");
        for number in 0..100 {
            let folder = project.join(format!("src/part{}", number % 10));
            fs::create_dir_all(&folder).expect("folders");
            fs::write(folder.join(format!("{number}.txt")), "something\n").expect("written");
        }
        fs::write(project.join(".gitignore"), "target/\n*.log\nnode_modules/\n").expect("written");
        let design = "# Say hello\n\n**Task Type**: Feature\n\n## Acceptance Criteria\n\n- [ ] hello\n";
        fs::write(project.join("DESIGN-20260101-000000.md"), design).expect("written");
        // Nothing counts as stuck, so that the same stop can be measured often.
        let workflow = "extends = \"ralph\"\n[limits]\niterations = 100000\nphase_iterations = 100000\n\
                        [[phase]]\nname = \"WORK\"\nbreaker = { no_progress = 100000, same_error = 100000 }\n";
        fs::create_dir_all(project.join(".loop")).expect("a folder");
        fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "begin"]] {
            self.finish(self.command("git", words));
        }
        let words = ["init", "--hook", "--session", "one", "--check", "tests=true"];
        self.finish(self.command(LOOP, &words));
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.root.join("project")).env("HOME", &self.root);
        command.env("LOOP_HOME", self.root.join("home")).env_remove("LOOP_RUN");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "b").env(format!("GIT_{who}_EMAIL"), "b@localhost");
        }
        command
    }

    fn finish(&self, mut command: Command) {
        let done = command.output().expect("a program");
        assert!(done.status.success(), "{command:?} {done:?}");
    }

    fn row(&self, name: &str, session: &str, said: &str, transcript: Option<u64>) {
        let input = self.root.join("input.json");
        let path = self.root.join("session.jsonl");
        let mut stop = json!({
            "session_id": session, "cwd": self.root.join("project"), "hook_event_name": "Stop",
            "stop_hook_active": true, "transcript_path": path,
        });
        match transcript {
            Some(bytes) => sparse(&path, bytes, said),
            None => stop["last_assistant_message"] = json!(said),
        }
        fs::write(&input, stop.to_string()).expect("written");
        let (mut above, mut blocked) = (Vec::new(), 0);
        for round in 0..self.rounds {
            fs::write(self.root.join("project/src/work.txt"), "x".repeat(round + 1)).expect("written");
            let nothing = self.timed(self.command("true", &[]), &input).0;
            let (took, answer) = self.timed(self.command(LOOP, &["hook", "stop"]), &input);
            above.push(took - nothing);
            blocked += usize::from(answer.contains("\"block\""));
        }
        assert_eq!(blocked, if session == "one" { self.rounds } else { 0 }, "{name}");
        above.sort_by(f64::total_cmp);
        let (processes, syncs) = self.counted(&input);
        let figure = format!("{:.2} ({:.2})", above[above.len() / 2], above[0]);
        println!("{name:<44} {figure:>14} {processes:>10} {syncs:>6}");
    }

    fn timed(&self, mut command: Command, input: &Path) -> (f64, String) {
        command.stdin(File::open(input).expect("a file")).stdout(Stdio::piped()).stderr(Stdio::null());
        let begin = Instant::now();
        let done = command.spawn().expect("a program").wait_with_output().expect("an end");
        (begin.elapsed().as_secs_f64() * 1e3, String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Counts with strace, where it is installed.
    fn counted(&self, input: &Path) -> (String, String) {
        let trace = self.root.join("trace");
        let mut command = self.command("strace", &["-f", "-qq", "-e", "trace=execve,fsync,fdatasync", "-o"]);
        command.arg(&trace).arg(LOOP).args(["hook", "stop"]).stdin(File::open(input).expect("a file"));
        if command.output().is_err() {
            return ("?".to_owned(), "?".to_owned());
        }
        let text = fs::read_to_string(&trace).expect("a trace");
        let count =
            |what: &str| text.lines().filter(|it| it.contains(what) && !it.contains("ENOENT")).count();
        (count("execve(").to_string(), (count("fsync(") + count("fdatasync(")).to_string())
    }
}

/// A transcript of this size that ends with these words.
fn sparse(path: &Path, bytes: u64, said: &str) {
    let message = json!({ "id": "m", "content": [{ "type": "text", "text": said }] });
    let end = format!("\n{}\n", json!({ "type": "assistant", "message": message }));
    let mut file = File::create(path).expect("a file");
    file.seek(SeekFrom::Start(bytes - end.len() as u64)).expect("seek");
    file.write_all(end.as_bytes()).expect("written");
}
