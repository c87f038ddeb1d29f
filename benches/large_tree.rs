//! P15: the dead time between two calls in a large repository, where each call changes ten files, as a
//! ratio to one `git status --porcelain` of that repository in the same run; and the same with as many
//! untracked files more. The first call is left out: it pays for what is seen for the first time.
//!
//!     cargo bench --bench large_tree [-- FILES]

use loop_harness::bench::{
    bench_folder, calling, commit_all, gaps, git, median, stamping_agent, write_calls,
};
use std::path::Path;
use std::time::Instant;

/// Calls in each run.
const CALLS: usize = 12;

/// Times that `git status` is asked, after a change of ten files each.
const ASKED: usize = 12;

fn main() {
    let files = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(50_000);
    let root = bench_folder("large-tree");
    let agent = stamping_agent(&root);
    let project = root.join("project");
    fill(&project.join("tracked"), files);
    commit_all(&project);
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
    write_calls(project, CALLS);
    let command = format!("{} {} {}/tracked", agent.display(), stamps.display(), project.display());
    let home = root.join("home");
    let _ = std::fs::remove_dir_all(&home);
    let done = calling(project, &home, &command).arg("--allow-dirty").output().expect("loop");
    assert_eq!(done.status.code(), Some(6), "{}", String::from_utf8_lossy(&done.stderr));
    gaps(&stamps)
}
