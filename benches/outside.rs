//! P7, P10 and P11: what a person at a shell feels. Starting the program and asking for a status, against
//! a process that does nothing; lists and a status over ten thousand runs; how much memory a controller
//! has in a quiet loop, and how large the program is. Each time is printed beside its floor, measured in
//! the same run; nothing is judged by milliseconds.
//!
//!     cargo bench --bench outside [-- RUNS]

use loop_harness::bench::{bench_folder, commit_all, compile, median};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const LOOP: &str = env!("CARGO_BIN_EXE_loop");

/// Starts of each command, taken in turn so that a busy moment falls on all of them.
const STARTS: usize = 100;

fn main() {
    let runs = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(10_000);
    let root = bench_folder("outside");
    let project = root.join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    std::fs::write(project.join("file"), "content\n").expect("written");
    commit_all(&project);
    let nothing = nothing(&root);
    quiet_loop(&root, &project);
    start(&root, &project, &nothing);
    lists(&root, &project, &nothing, runs);
    let size = std::fs::metadata(LOOP).expect("the program").len();
    println!("P11: the program has {:.1} MB (goal 15)", size as f64 / 1e6);
    std::fs::remove_dir_all(&root).expect("ours");
}

/// P10.
fn start(root: &Path, project: &Path, nothing: &Path) {
    let home = root.join("home");
    let commands = [&["--version"][..], &["status"], &["status", "--json"]];
    let times = in_turn(project, &home, nothing, &commands);
    println!("P10: a process that does nothing: {:.2} ms", times[0]);
    for (words, time) in commands.iter().zip(&times[1..]) {
        println!("P10: loop {}: {time:.2} ms, {:.2} ms above it (goal 2)", words.join(" "), time - times[0]);
    }
}

/// P7. The runs are copies of one that was really opened.
fn lists(root: &Path, project: &Path, nothing: &Path, runs: usize) {
    let home = root.join("home");
    copy_runs(&home.join("loop.db"), runs);
    let commands = [&["runs"][..], &["runs", "--json", "--limit", "10000"], &["status"]];
    let times = in_turn(project, &home, nothing, &commands);
    for (words, time) in commands.iter().zip(&times[1..]) {
        println!(
            "P7: {runs} runs: loop {}: {time:.2} ms, {:.2} ms above a process (goal 10)",
            words.join(" "),
            time - times[0]
        );
    }
}

/// P11: after twenty iterations, while the next agent works.
fn quiet_loop(root: &Path, project: &Path) {
    let (at, agent) = (root.join("at"), root.join("agent.sh"));
    assert!(Command::new("mkfifo").arg(&at).status().expect("mkfifo").success());
    let script = format!(
        "cat > /dev/null\nif [ \"$LOOP_CALL\" = 21 ]; then echo > '{}'; exec sleep 600; fi\n\
         echo \"$LOOP_CALL\" > work; git add -A; git -c user.name=b -c user.email=b@localhost commit -qm work\n",
        at.display()
    );
    std::fs::write(&agent, script).expect("a script");
    let mut child = Command::new(LOOP)
        .args([
            "run",
            "it",
            "--check",
            "tests=true",
            "-n",
            "50",
            "--agent-cmd",
            &format!("sh {}", agent.display()),
        ])
        .arg("--home")
        .arg(root.join("home"))
        .current_dir(project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("loop");
    std::fs::read(&at).expect("the agent says that it works");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
    let kilobytes = |name: &str| -> f64 {
        let line = status.lines().find(|it| it.starts_with(name)).expect("a line");
        line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("a number")
    };
    println!(
        "P11: a controller in a quiet loop has {:.1} MB resident, {:.1} of it its own (goal 8)",
        kilobytes("VmRSS:") / 1e3,
        kilobytes("RssAnon:") / 1e3
    );
    let stopped = Command::new(LOOP)
        .args(["pause", "--home"])
        .arg(root.join("home"))
        .current_dir(project)
        .stdout(Stdio::null())
        .status()
        .expect("loop");
    assert!(stopped.success());
    child.wait().expect("an end");
}

/// Returns the median time of doing nothing, and of each command, in milliseconds.
fn in_turn(project: &Path, home: &Path, nothing: &Path, commands: &[&[&str]]) -> Vec<f64> {
    let mut times = vec![Vec::new(); commands.len() + 1];
    let once = |command: &mut Command| {
        let begun = Instant::now();
        let done = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("a process");
        assert!(done.success());
        begun.elapsed().as_secs_f64() * 1e3
    };
    for _ in 0..STARTS {
        times[0].push(once(&mut Command::new(nothing)));
        for (words, times) in commands.iter().zip(&mut times[1..]) {
            times.push(once(Command::new(LOOP).args(*words).env("LOOP_HOME", home).current_dir(project)));
        }
    }
    times.iter().map(|it| median(it)).collect()
}

fn copy_runs(database: &Path, runs: usize) {
    let mut connection = rusqlite::Connection::open(database).expect("a database");
    let columns: Vec<String> = connection
        .prepare("select name from pragma_table_info('run')")
        .expect("a query")
        .query_map([], |row| row.get(0))
        .expect("columns")
        .map(|it| it.expect("a name"))
        .collect();
    let values = columns.iter().map(|name| match name.as_str() {
        "key" => "?1".to_owned(),
        "id" => "lower(hex(randomblob(4)))||'-0000-4000-8000-'||lower(hex(randomblob(6)))".to_owned(),
        "input" => "'input '||?1".to_owned(),
        "status" => {
            "case ?1 % 3 when 0 then 'completed' when 1 then 'halted' else 'cancelled' end".to_owned()
        }
        "project" => "case ?1 % 50 when 0 then project else '/elsewhere/'||(?1 % 50) end".to_owned(),
        name => name.to_owned(),
    });
    let copy = format!(
        "insert into run({}) select {} from run where key = 1",
        columns.join(","),
        values.collect::<Vec<_>>().join(",")
    );
    let transaction = connection.transaction().expect("a transaction");
    for key in 2..=i64::try_from(runs).expect("a number of runs") {
        transaction.execute(&copy, [key]).expect("a row");
    }
    transaction
        .execute("insert into definition(run, body) select run.key, body from run, definition where definition.run = 1 and run.key > 1", [])
        .expect("definitions");
    transaction.commit().expect("committed");
}

fn nothing(root: &Path) -> PathBuf {
    let (source, program) = (root.join("nothing.c"), root.join("nothing"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("written");
    compile(&source, &program);
    program
}
