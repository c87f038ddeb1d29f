//! P15: the dead time between two calls in a large repository, where each call changes ten files, as a
//! ratio to one `git status --porcelain` of that repository in the same run; and the same with as many
//! untracked files more. The first call is left out: it pays for what is seen for the first time.
//!
//!     cargo bench --bench large_tree [-- FILES]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Calls in each run.
const CALLS: usize = 12;

/// Times that `git status` is asked, after a change of ten files each.
const ASKED: usize = 12;

fn main() {
    let files = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(50_000);
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("large-tree");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("a folder");
    let agent = root.join("agent");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/agent.c");
    let built = Command::new("cc").args(["-O2", "-o"]).arg(&agent).arg(source).status();
    assert!(built.expect("a C compiler").success());
    let project = root.join("project");
    fill(&project.join("tracked"), files);
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "begin"]);
    for (with, goal) in [("", 1.6), (" and as many untracked", 2.3)] {
        if !with.is_empty() {
            fill(&project.join("untracked"), files);
        }
        let status = git_status(&project);
        let gaps = ours(&root, &project, &agent);
        let (first, later) = (gaps[0], median(&gaps[1..]));
        println!(
            "P15: {files} files{with}: git status {status:.0} ms, gap {later:.0} ms, ratio {:.2} (goal {goal}); first gap {first:.0} ms",
            later / status
        );
    }
    std::fs::remove_dir_all(&root).expect("ours");
}

/// A hundred files in each folder.
fn fill(folder: &Path, files: usize) {
    for number in 0..files {
        let folder = folder.join(format!("d{}", number / 100));
        if number % 100 == 0 {
            std::fs::create_dir_all(&folder).expect("a folder");
        }
        let text = format!("file {number} of a project, in {}\n", folder.display());
        std::fs::write(folder.join(format!("f{number}")), text).expect("written");
    }
}

fn git(project: &Path, words: &[&str]) {
    let done = Command::new("git").args(words).current_dir(project).output().expect("git");
    assert!(done.status.success(), "{done:?}");
}

/// One `git status` after each change of ten files, as a person would ask.
fn git_status(project: &Path) -> f64 {
    git(project, &["status", "--porcelain"]);
    let once = |round: usize| {
        for number in 0..10 {
            let name = format!("tracked/d{}/f{}", number, number * 100);
            std::fs::write(project.join(name), format!("asked {round}\n")).expect("written");
        }
        let begun = Instant::now();
        git(project, &["status", "--porcelain"]);
        begun.elapsed().as_secs_f64() * 1e3
    };
    median(&(0..ASKED).map(once).collect::<Vec<_>>())
}

fn ours(root: &Path, project: &Path, agent: &Path) -> Vec<f64> {
    let stamps = root.join("stamps");
    let _ = std::fs::remove_file(&stamps);
    let workflow = format!(
        "name = \"bench\"\ninput = {{ kind = \"none\", about = \"\" }}\n[limits]\niterations = {CALLS}\nphase_iterations = {CALLS}\n\
         [[phase]]\nname = \"ONLY\"\nprompt = \"Do the next thing.\"\nreport = \"none\"\nsignal = \"none\"\n\
         exit = \"commits_made > 0\"\nbreaker = {{}}\n"
    );
    std::fs::create_dir_all(project.join(".loop")).expect("a folder");
    std::fs::write(project.join(".loop/workflow.toml"), workflow).expect("written");
    let command = format!("{} {} {}/tracked", agent.display(), stamps.display(), project.display());
    let home = root.join("home");
    let _ = std::fs::remove_dir_all(&home);
    let done = Command::new(env!("CARGO_BIN_EXE_loop"))
        .args(["run", "--quiet", "--unverified", "--allow-dirty", "--agent-cmd", &command, "--home"])
        .arg(home)
        .current_dir(project)
        .output()
        .expect("loop");
    assert_eq!(done.status.code(), Some(6), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(&stamps).expect("stamps");
    let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let calls: Vec<(i64, i64)> =
        bytes.chunks_exact(16).map(|it| (number(&it[..8]), number(&it[8..]))).collect();
    calls.windows(2).map(|it| (it[1].0 - it[0].1) as f64 / 1e6).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
