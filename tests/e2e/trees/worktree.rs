//! Runs that have a worktree to themselves: made once whatever is killed, looked at before every
//! call, and no trace of them in the tree of the person.

use loop_harness::{COMMIT, Done, PROMISE, Sandbox};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two calls are needed until this passes.
const TWO: &str = "tests=[ $(wc -l < work) = 2 ]";

fn worker(sandbox: &Sandbox) -> String {
    sandbox.agent(&format!("pwd >> \"$OUT/where\"; echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"))
}

/// A run in a worktree that rests after its first call, and its place.
fn rested(sandbox: &Sandbox) -> PathBuf {
    let agent = worker(sandbox);
    sandbox.run(&["run", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO, "-n", "1"]).exits(6);
    PathBuf::from(sandbox.status()["place"].as_str().expect("a place"))
}

fn worktrees(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.git(&["worktree", "list", "--porcelain"]);
    list.lines().filter_map(|it| it.strip_prefix("worktree ")).skip(1).map(str::to_owned).collect()
}

fn branches(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/loop"]);
    list.lines().map(str::to_owned).collect()
}

#[test]
fn worktree_a_run_works_beside_the_tree_and_says_how_the_work_comes_back() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "somebody is in the middle of something\n");
    let agent = worker(&sandbox);
    let done = sandbox.run(&["run", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO]).exits(0);
    let status = sandbox.status();
    let (place, branch) = (status["place"].as_str().expect("text"), status["branch"].as_str().expect("text"));
    let run = status["run"].as_str().expect("an id")[..8].to_owned();
    assert!(place.starts_with(&format!("{}/.worktrees/", sandbox.project.display())), "{place}");
    assert_eq!(branch, format!("loop/{}", &status["run"].as_str().expect("an id")[..8]));
    assert_eq!(sandbox.notes("where"), [place, place]);
    let merge = format!("git -C {} merge {branch}", sandbox.project.display());
    assert!(done.err.ends_with(&format!("next: {merge}\n")), "{}", done.err);
    let report = sandbox.run(&["show"]).exits(0).out;
    assert!(report.contains(&format!("- branch: {branch}\n")), "{report}");
    assert!(!sandbox.project.join("work").exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M README.md", "nothing of ours is seen");
    // What is done there is not done here: neither the checks nor the run again say so.
    let again = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", TWO]).exits(0);
    let said = format!("every check still passes in {place}; {branch} is not merged yet");
    assert!(again.out.contains(&said) && again.out.ends_with(&format!("next: {merge}\n")), "{}", again.out);
    sandbox.run(&["checks"]).exits(4).says("tests failed");
    sandbox.run(&["checks", "-C", place]).exits(0).says("tests passed");
    sandbox.run(&["checks", "--run", &run]).exits(0).says(&format!("run {run} works in {place}"));
    // The hint is one command, and it works wherever it is pasted.
    let merged = Command::new("sh").args(["-c", &merge]).current_dir("/").output().expect("a shell");
    assert!(merged.status.success(), "{merged:?}");
    assert_eq!(sandbox.read("work"), "1\n2\n");
    sandbox.run(&["checks"]).exits(0).says("tests passed");
    // From inside of the worktree the same run is meant.
    let inside = sandbox.run(&["status", "--json", "-C", place]).exits(0);
    assert!(inside.out.contains(branch), "{}", inside.out);
    assert_eq!(worktrees(&sandbox), [place]);
}

/// The files of the project are watched for the next run, whoever finds the end of the call.
#[test]
fn worktree_an_edit_of_the_workflow_is_told_also_when_the_controller_was_killed_meanwhile() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", "extends = \"ralph\"\n[limits]\niterations = 3\n");
    let (here, go) = (sandbox.fifo("here"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "sed -i 's/= 3/= 9/' {}/.loop/workflow.toml; echo > \"$OUT/here\"; read -r _ < \"$OUT/go\"; echo 1 > work; {COMMIT}; {PROMISE}",
        sandbox.project.display()
    ));
    let words = ["run", "it", "--worktree", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let controller = sandbox.spawn(&words);
    here.hear();
    controller.kill();
    go.say();
    let warning = "the workflow file was changed while an agent worked: limits.iterations";
    sandbox.run(&words).exits(0).says(warning);
    assert!(sandbox.status()["warnings"].to_string().contains(warning), "{}", sandbox.status());
}

#[test]
fn worktree_init_makes_it_and_run_works_in_it() {
    let sandbox = Sandbox::new();
    let agent = worker(&sandbox);
    sandbox.run(&["init", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO]).exits(0);
    let made = worktrees(&sandbox);
    assert_eq!(made.len(), 1);
    assert!(Path::new(&made[0]).join("README.md").exists());
    sandbox.run(&["run"]).exits(0);
    assert_eq!(worktrees(&sandbox), made);
    assert_eq!(sandbox.notes("where"), [made[0].as_str(), &made[0]]);
}

#[test]
fn worktree_a_run_that_works_here_does_not_move() {
    let sandbox = Sandbox::new();
    let agent = worker(&sandbox);
    let command = ["run", "it", "--agent-cmd", &agent, "--check", TWO];
    sandbox.run(&[&command[..], &["-n", "1"]].concat()).exits(6);
    sandbox.run(&["run", "--worktree", "--max", "5"]).exits(2).says("--fresh");
    sandbox.run(&["resume", "--worktree", "--max", "5"]).exits(2);
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&["init", "--preset", "ralph", "that", "--hook", "--worktree"]).exits(2);
}

/// One in the tree itself and two beside it, all at work at the same time.
#[test]
fn worktree_runs_work_side_by_side_one_in_each_tree() {
    let sandbox = Sandbox::new();
    let ready = sandbox.fifo("ready");
    let go = sandbox.fifo("go");
    let agent = sandbox
        .agent(&format!("echo x > \"$OUT/ready\"; read x < \"$OUT/go\"; touch work; {COMMIT}; {PROMISE}"));
    let command =
        |input: &'static str| vec!["run", input, "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let beside = |input| [command(input), vec!["--worktree"]].concat();
    let mut running = vec![sandbox.spawn(&command("here"))];
    ready.hear();
    for input in ["one", "two"] {
        running.push(sandbox.spawn(&beside(input)));
        ready.hear();
    }
    // With three at work, the commands about the one in the way name it.
    let here = run_of(&sandbox, "here");
    sandbox.run(&command("another")).exits(7).says(&format!("loop stop --run {here}"));
    // The same run is nobody else's either.
    sandbox.run(&beside("one")).exits(7);
    let all = sandbox.run(&["runs", "--json"]).exits(0);
    let all: Vec<serde_json::Value> = serde_json::from_str(&all.out).expect("a list");
    assert_eq!(all.len(), 3, "{all:?}");
    running.iter().for_each(|_| go.say());
    for it in running {
        it.wait().exits(0);
    }
    assert_eq!(worktrees(&sandbox).len(), 2);
    assert_eq!(branches(&sandbox).len(), 2);
}

/// The id of the run with this input, as it is shown.
fn run_of(sandbox: &Sandbox, input: &str) -> String {
    let all: Vec<serde_json::Value> =
        serde_json::from_str(&sandbox.run(&["runs", "--json"]).exits(0).out).expect("a list");
    let run = all.iter().find(|it| it["input"] == input).expect("a run of it");
    run["run"].as_str().expect("an id")[..8].to_owned()
}

/// A git that ends its caller at one step, before it has done anything or after.
fn deadly_git(sandbox: &Sandbox) -> PathBuf {
    let real = Command::new("sh").args(["-c", "command -v git"]).output().expect("sh");
    let real = String::from_utf8_lossy(&real.stdout).trim().to_owned();
    let folder = sandbox.root().join("deadly");
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = format!(
        r#"#!/bin/sh
case " $* " in *" $DIE_AT "*) at=yes;; *) at=;; esac
if [ -n "$at" ] && [ ! -e "$OUT/died" ]; then
    touch "$OUT/died"
    case $DIE_WHEN in
        before) kill -9 $PPID; exit 1;;
        after) '{real}' "$@"; kill -9 $PPID; exit 1;;
        half) '{real}' "$@"
            rm -f .worktrees/*/.git; echo initializing > .git/worktrees/*/locked
            kill -9 $PPID; exit 1;;
        headless) '{real}' "$@"
            rm -f .git/worktrees/*/HEAD .git/worktrees/*/commondir; echo initializing > "$(echo .git/worktrees/*)/locked"
            kill -9 $PPID; exit 1;;
        torn) '{real}' "$@"; printf torn > README.md; rm -f other; kill -9 $PPID; exit 1;;
    esac
fi
exec '{real}' "$@"
"#
    );
    std::fs::write(folder.join("git"), script).expect("a script");
    std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    folder
}

#[test]
fn g06_a_worktree_is_made_once_wherever_its_making_is_killed() {
    for (step, when) in [
        ("update-ref refs/heads", "before"),
        ("worktree add", "before"),
        ("worktree add", "after"),
        ("worktree add", "half"),
        ("worktree add", "headless"),
        ("read-tree HEAD", "before"),
        ("read-tree HEAD", "after"),
        ("checkout-index", "before"),
        ("checkout-index", "torn"),
        ("checkout-index", "after"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("other", "other\n");
        sandbox.commit("more");
        let agent = worker(&sandbox);
        let deadly = deadly_git(&sandbox);
        let command = ["run", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO];
        let mut first = sandbox.command(&command);
        let path = std::env::var("PATH").expect("a path");
        first.env("PATH", format!("{}:{path}", deadly.display())).env("DIE_WHEN", when);
        // The pattern is matched against the words of the command line.
        first.env("DIE_AT", step.split_once(" refs").map_or(step, |it| it.0));
        let killed = sandbox.start(first).wait();
        assert_eq!(killed.code, 1009, "{step} {when}: {killed:?}");
        assert!(sandbox.note("died").exists());
        assert!(sandbox.calls().is_empty(), "{step} {when}: no agent works in half a worktree");
        let done = sandbox.run(&command);
        assert_eq!(done.code, 0, "{step} {when}: {done:?}");
        assert_eq!(worktrees(&sandbox).len(), 1, "{step} {when}");
        assert_eq!(branches(&sandbox).len(), 1, "{step} {when}");
        assert_eq!(sandbox.calls(), [1, 2], "{step} {when}");
        let place = PathBuf::from(&worktrees(&sandbox)[0]);
        assert_eq!(std::fs::read_to_string(place.join("other")).expect("checked out"), "other\n");
        assert_eq!(std::fs::read_to_string(place.join("README.md")).expect("checked out"), "a project\n");
        let listed = sandbox.run(&["runs", "--json"]).exits(0);
        let all: Vec<serde_json::Value> = serde_json::from_str(&listed.out).expect("a list");
        assert_eq!(all.len(), 1, "{step} {when}");
        assert!(!sandbox.git(&["worktree", "list", "--porcelain"]).contains("locked"), "{step} {when}");
    }
}

fn refused(sandbox: &Sandbox, what: &str) -> Done {
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let done = sandbox.run(&["run", "--max", "5"]);
    assert_eq!(done.code, 4, "{what}: {done:?}");
    assert!(done.err.contains("worktree") && done.err.contains("help: "), "{what}: {}", done.err);
    assert_eq!(sandbox.calls(), [1], "{what}: an agent was started");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{what}");
    assert_eq!(sandbox.status()["status"], "halted", "{what}");
    sandbox.run(&["restore"]).exits(0).says("refs/loop/snap/");
    done
}

#[test]
fn g19_an_agent_is_never_started_in_a_place_that_is_not_its_own() {
    type Attack = fn(&Sandbox, &Path);
    fn aside(sandbox: &Sandbox, place: &Path) -> PathBuf {
        let kept = sandbox.root().join("moved");
        std::fs::rename(place, &kept).expect("moved");
        kept
    }
    let attacks: [(&str, Attack); 9] = [
        ("gone", |sandbox, place| drop(aside(sandbox, place))),
        ("empty", |sandbox, place| {
            aside(sandbox, place);
            std::fs::create_dir(place).expect("a folder");
        }),
        ("a link to where it went", |sandbox, place| symlink(aside(sandbox, place), place).expect("a link")),
        ("a link on the way", |sandbox, place| {
            let folder = place.parent().expect("a folder");
            let kept = sandbox.root().join("moved");
            std::fs::rename(folder, &kept).expect("moved");
            symlink(&kept, folder).expect("a link");
        }),
        ("a file", |sandbox, place| {
            aside(sandbox, place);
            std::fs::write(place, "x").expect("a file");
        }),
        ("another repository", |sandbox, place| {
            aside(sandbox, place);
            sandbox.git(&["init", "-q", place.to_str().expect("plain")]);
        }),
        ("a bare repository", |sandbox, place| {
            aside(sandbox, place);
            sandbox.git(&["init", "-q", "--bare", place.to_str().expect("plain")]);
        }),
        ("a link of git's to another repository", |sandbox, place| {
            let other = sandbox.root().join("other");
            sandbox.git(&["init", "-q", other.to_str().expect("plain")]);
            std::fs::write(place.join(".git"), format!("gitdir: {}/.git\n", other.display()))
                .expect("written");
        }),
        ("a pipe for its .git", |_, place| {
            std::fs::remove_file(place.join(".git")).expect("removed");
            let made = Command::new("mkfifo").arg(place.join(".git")).status().expect("mkfifo");
            assert!(made.success());
        }),
    ];
    for (what, attack) in attacks {
        let sandbox = Sandbox::new();
        let place = rested(&sandbox);
        attack(&sandbox, &place);
        refused(&sandbox, what);
        sandbox.run(&["cancel", "--yes"]).exits(0);
    }
}

#[test]
fn g19_a_lost_worktree_comes_back_as_the_message_says() {
    let sandbox = Sandbox::new();
    let place = rested(&sandbox);
    let branch = sandbox.status()["branch"].as_str().expect("a branch").to_owned();
    std::fs::remove_dir_all(&place).expect("removed");
    let done = refused(&sandbox, "gone");
    assert!(done.err.contains("git worktree add --force"), "{}", done.err);
    sandbox.git(&["worktree", "add", "-q", "--force", place.to_str().expect("plain"), &branch]);
    sandbox.run(&["resume", "--max", "5"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2]);

    let sandbox = Sandbox::new();
    let place = rested(&sandbox);
    let there = place.to_str().expect("plain");
    sandbox.git(&["-C", there, "checkout", "-q", "-b", "elsewhere"]);
    let done = refused(&sandbox, "another branch");
    assert!(done.err.contains("elsewhere"), "{}", done.err);
    let branch = sandbox.status()["branch"].as_str().expect("a branch").to_owned();
    sandbox.git(&["-C", there, "checkout", "-q", &branch]);
    sandbox.run(&["resume", "--max", "5"]).exits(0);
}

/// The agent itself puts a link where its folder was, while the run is under way.
#[test]
fn g19_a_place_that_is_swapped_during_a_call_ends_the_run_before_the_next() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "echo \"$LOOP_CALL\" >> work; {COMMIT}; here=$(pwd); mv \"$here\" \"$OUT/taken\"; ln -s \"$OUT/taken\" \"$here\"; {PROMISE}"
    ));
    let done = sandbox.run(&["run", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO]).exits(4);
    assert!(done.err.contains("a link is"), "{}", done.err);
    assert_eq!(sandbox.calls(), [1]);
}

/// Everything below a folder, each with its mode and content.
fn fingerprint(top: &Path, apart: &[&str]) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let inside = entry.path().strip_prefix(top).expect("below").to_owned();
            if apart.iter().any(|it| inside.starts_with(it)) {
                continue;
            }
            let meta = std::fs::symlink_metadata(entry.path()).expect("there");
            if meta.is_dir() {
                folders.push(entry.path());
            }
            let content =
                if meta.is_file() { std::fs::read(entry.path()).expect("read") } else { Vec::new() };
            found.insert(inside, (meta.permissions().mode(), content));
        }
    }
    found
}

#[test]
fn g20_the_tree_of_the_person_is_the_same_byte_for_byte() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("DESIGN-20260101-000000.md", "# it\n\n## Acceptance criteria\n\n- [ ] works\n");
    sandbox.write("tracked", "one\n");
    sandbox.commit("more");
    sandbox.write("stashed", "x");
    sandbox.git(&["stash", "-q", "-u"]);
    sandbox.write("tracked", "two\n");
    sandbox.write("staged", "x");
    sandbox.git(&["add", "staged"]);
    sandbox.write("untracked", "x");
    sandbox.write("ignored.log", "x");
    for name in ["post-checkout", "pre-commit", "reference-transaction", "post-index-change", "post-commit"] {
        let path = sandbox.project.join(".git/hooks").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, "#!/bin/sh\ntouch \"$OUT/hook-ran\"\n").expect("a hook");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let canary = format!("touch {}; cat", sandbox.note("filter-ran").display());
    sandbox.git(&["config", "filter.x.smudge", &canary]);
    sandbox.git(&["config", "core.fsmonitor", &canary]);
    std::fs::write(sandbox.project.join(".git/info/attributes"), "* filter=x\n").expect("written");
    let _may_be_absent = std::fs::remove_file(sandbox.note("hook-ran"));
    // What is documented: objects, our refs and the branch, git's books of worktrees, the exclude file.
    let documented = [
        ".worktrees",
        ".git/objects",
        ".git/refs/loop",
        ".git/refs/heads/loop",
        ".git/logs/refs/heads/loop",
        ".git/logs/refs/heads",
        ".git/worktrees",
        ".git/info/exclude",
    ];
    let before = fingerprint(&sandbox.project, &documented);
    let quiet = COMMIT
        .replace("git ", "git -c core.hooksPath=/dev/null -c filter.x.smudge= -c core.fsmonitor=false ");
    let agent = sandbox
        .agent(&format!("echo \"$LOOP_CALL\" >> work; {quiet}; sed -i 's/\\[ \\]/[x]/' DESIGN*; {PROMISE}"));
    sandbox
        .run(&["run", "DESIGN-20260101-000000.md", "--worktree", "--agent-cmd", &agent, "--check", TWO])
        .exits(0);
    let after = fingerprint(&sandbox.project, &documented);
    let differ: Vec<_> =
        before.keys().chain(after.keys()).filter(|it| before.get(*it) != after.get(*it)).collect();
    // The design is locked when its run begins; that is the one file of the person's that a run writes.
    assert!(differ.iter().all(|it| it.starts_with("DESIGN-20260101-000000.md")), "{differ:?}");
    assert!(!sandbox.note("hook-ran").exists(), "a hook was run by us");
    assert!(!sandbox.note("filter-ran").exists(), "a command of the repository's was run by us");
}

#[test]
fn worktree_cleanup_removes_it_only_when_everything_is_committed() {
    let workflow = "name = \"short\"\n[input]\nkind = \"text\"\n[workspace]\nat = \"worktree\"\nbranch = \"feature/{{ input }}\"\n\
        cleanup = true\n[limits]\niterations = 3\n[[phase]]\nname = \"WORK\"\nprompt = \"work\"\nsignal = \"none\"\n\
        checks = [\"tests\"]\nexit = \"checks_failing == 0\"\n";
    for (left, stays) in [("true", false), ("echo draft > draft", true)] {
        let sandbox = Sandbox::new();
        sandbox.write(".loop/workflow.toml", workflow);
        sandbox.commit("a workflow");
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; {left}"));
        let done = sandbox
            .run(&["run", "Build it; now!", "--agent-cmd", &agent, "--check", "tests=test -f work"])
            .exits(0);
        let status = sandbox.status();
        assert_eq!(
            (&status["branch"], &status["status"]),
            (&"feature/build-it-now".into(), &"completed".into())
        );
        let place = PathBuf::from(status["place"].as_str().expect("a place"));
        assert_eq!(place.join("draft").exists(), stays, "{done:?}");
        assert_eq!(place.exists(), stays, "{done:?}");
        assert_eq!(done.err.contains("stays"), stays, "{}", done.err);
        assert!(sandbox.git(&["branch", "--list", "feature/build-it-now"]).contains("feature/build-it-now"));
        sandbox.run(&["status"]).exits(0);
        sandbox.run(&["show", "1"]).exits(0);
        sandbox.run(&["restore"]).exits(0);
        assert_eq!(place.exists(), stays, "looking makes nothing");
    }
}

#[test]
fn worktree_cancel_and_fresh_leave_it_and_say_where() {
    let sandbox = Sandbox::new();
    let place = rested(&sandbox);
    let agent = worker(&sandbox);
    let command = ["run", "it", "--worktree", "--fresh", "--agent-cmd", &agent, "--check", TWO, "-n", "1"];
    let done = sandbox.run(&command).exits(6);
    assert!(done.err.contains(place.to_str().expect("plain")), "{}", done.err);
    assert!(place.join("work").exists());
    let second = PathBuf::from(sandbox.status()["place"].as_str().expect("a place"));
    assert_ne!(place, second);
    let done = sandbox.run(&["cancel", "--yes"]).exits(0);
    assert!(done.err.contains(second.to_str().expect("plain")), "{}", done.err);
    assert!(second.join("work").exists());
}

#[test]
fn worktree_without_a_commit_it_says_so() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "--orphan", "empty"]);
    sandbox.git(&["rm", "-q", "-r", "--cached", "."]);
    let agent = worker(&sandbox);
    let done = sandbox.run(&["run", "it", "--worktree", "--agent-cmd", &agent, "--check", TWO]);
    assert_ne!(done.code, 0);
    assert!(done.err.contains("no commit") && done.err.contains("git commit"), "{}", done.err);
    assert!(sandbox.calls().is_empty());
}
