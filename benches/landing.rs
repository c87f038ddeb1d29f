//! What a landing costs: the time of the command that continues a run whose merge waited, with one call that does
//! nothing, the landing and the end of the run. For a system whose target has not moved (the proof of the branch
//! stands), for one whose target has moved (the merged tree is proven), and the same with a remote that the merge is
//! pushed to. Beside it stands the floor: `git merge` in a clone, the same check run twice there, and `git push`.
//!
//!     cargo bench --bench landing [-- FILES]

use loop_harness::bench::{bench_folder, commit_all, git, median};
use loop_harness::program;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 5;

const WORKFLOW: &str = r#"
name  = "small"
mode  = "autonomous"
input = { kind = "job", about = "system to build" }
[workspace]
at      = "worktree"
branch  = "feature/{{ job.slug }}"
cleanup = true
[agent]
report = "json"
signal = "none"
[checks.tests]
run    = "sh test.sh"
counts = "tap"
[[phase]]
name    = "BUILD"
prompt  = "Build it."
checks  = ["tests"]
require = ["tests"]
exit    = "checks_failing == 0 && tree_clean"
[[phase]]
name   = "SHIP"
prompt = "Say what a reviewer has to know."
exit   = "pr_merged"
[modes.autonomous]
gates = []
[proof]
at = "BUILD"
go = "BUILD"
[mirror]
format = "domain-memory"
"#;

const TEST: &str = "n=0; bad=0
for it in tests/*.sh; do n=$((n+1)); if sh \"$it\"; then echo \"ok $n - $it\"; else echo \"not ok $n - $it\"; bad=1; fi; done
echo 1..$n
exit $bad
";

/// Builds the system that its branch names. In SHIP somebody else's commit comes, where that is wanted.
const AGENT: &str = r#"cat > /dev/null
id=$(git branch --show-current); id=${id##*/}
if [ $LOOP_PHASE = BUILD ]; then echo $id > $id.txt; echo "grep -qx $id $id.txt" > tests/$id.sh
git add -A; git commit -qm "feat: $id"; fi
printf 'Done.\n\n```json\n{"status":"done","summary":"it"}\n```\n'
"#;

/// What is different between the rows.
#[derive(Clone, Copy)]
struct Scene {
    name: &'static str,
    moves: bool,
    pushes: bool,
}

fn main() {
    let files: usize = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(1_000);
    let scenes = [
        Scene { name: "the target has not moved", moves: false, pushes: false },
        Scene { name: "the target has moved", moves: true, pushes: false },
        Scene { name: "it has moved, and is pushed", moves: true, pushes: true },
    ];
    println!("{files} files, medians of {ROUNDS} landings in ms");
    println!("floor  loop   loop/floor");
    for scene in scenes {
        let root = bench_folder("landing");
        let (mut ours, mut floors) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let folder = root.join(round.to_string());
            let project = project(&folder, files, scene);
            ours.push(landing(&folder, &project, scene));
            floors.push(floor(&folder, &project, scene));
        }
        let (ours, floor) = (median(&ours), median(&floors));
        println!("{floor:>5.0}  {ours:>5.0}  {:>5.2}  {}", ours / floor, scene.name);
        fs::remove_dir_all(&root).expect("ours");
    }
}

fn project(folder: &Path, files: usize, scene: Scene) -> PathBuf {
    let project = folder.join("project");
    for place in [".loop", "tests", "files", "domain-memory/shop"] {
        fs::create_dir_all(project.join(place)).expect("a folder");
    }
    let write = |name: &str, text: &str| fs::write(project.join(name), text).expect("written");
    write(".loop/workflow.toml", WORKFLOW);
    write("test.sh", TEST);
    write("tests/base.sh", "true\n");
    (0..files).for_each(|it| write(&format!("files/{it}"), &format!("{it}\n")));
    let system = "{\"id\":\"sys-001\",\"name\":\"sys-001\",\"status\":\"specified\",\"dependencies\":[],\"capabilities\":[\"all\"]}";
    write("domain-memory/shop/system-queue.json", &format!("{{\"domain\":\"shop\",\"systems\":[{system}]}}"));
    fs::write(folder.join("agent.sh"), AGENT).expect("written");
    commit_all(&project);
    git(&project, &["config", "user.name", "b"]);
    git(&project, &["config", "user.email", "b@localhost"]);
    if scene.pushes {
        let remote = folder.join("remote.git").display().to_string();
        git(&project, &["clone", "-q", "--bare", ".", &remote]);
        git(&project, &["remote", "add", "origin", &remote]);
        git(&project, &["fetch", "-q", "origin"]);
    }
    project
}

/// Runs the system up to the landing, which waits for a file of somebody's, and then the landing alone.
fn landing(folder: &Path, project: &Path, scene: Scene) -> f64 {
    let agent = format!("sh {}", folder.join("agent.sh").display());
    let home = folder.join("home");
    let command = |words: &[&str]| {
        let mut command = Command::new(program());
        command.args(words).arg("--home").arg(&home).current_dir(project);
        command
    };
    fs::write(project.join("test.sh"), format!("{TEST}# mine\n")).expect("written");
    let first = command(&["run", "sys-001", "--allow-dirty", "--agent-cmd", &agent]).output().expect("loop");
    assert_eq!(first.status.code(), Some(3), "{}", String::from_utf8_lossy(&first.stderr));
    git(project, &["checkout", "-q", "--", "test.sh"]);
    if scene.moves {
        fs::write(project.join("meanwhile.txt"), "x\n").expect("written");
        git(project, &["add", "meanwhile.txt"]);
        git(project, &["commit", "-qm", "meanwhile"]);
    }
    if scene.pushes {
        git(project, &["push", "-q", "origin", "main"]);
    }
    let start = Instant::now();
    let second = command(&["run", "sys-001"]).output().expect("loop");
    let took = start.elapsed().as_secs_f64() * 1000.0;
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
    took
}

/// The same by hand, on what the run left: a merge, the check twice where the tree is another one, a push.
fn floor(folder: &Path, project: &Path, scene: Scene) -> f64 {
    let clone = folder.join("floor");
    let place = clone.display().to_string();
    git(project, &["clone", "-q", "--no-local", ".", &place]);
    git(&clone, &["checkout", "-q", "main~1"]);
    let start = Instant::now();
    git(&clone, &["merge", "-q", "--no-ff", "-m", "merge", "origin/main^2"]);
    if scene.moves {
        for _ in 0..2 {
            let test = Command::new("sh").arg("test.sh").current_dir(&clone).output().expect("sh");
            assert!(test.status.success());
        }
    }
    if scene.pushes {
        git(
            &clone,
            &["push", "-q", &folder.join("remote.git").display().to_string(), "HEAD:refs/heads/floor"],
        );
    }
    start.elapsed().as_secs_f64() * 1000.0
}
