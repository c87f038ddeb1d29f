//! Agents that do whatever can be done to a tree, in an order that chance decides: every byte that was
//! there when an iteration began can be brought back. `LOOP_TEST_SEED=N` repeats a failure.

use loop_harness::{PROMISE, Sandbox, times};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// One thing that an agent does; `$R` is a number that differs each time.
const DEEDS: [&str; 26] = [
    "echo \"new $R\" > new-$R",
    "mkdir -p deep/$R/er; echo x$R > \"deep/$R/er/with space\"",
    "echo \"more $R\" >> README.md",
    "printf 'a\\r\\nb\\0%s' $R > binary",
    "rm -rf deep",
    "rm -f README.md new-*",
    "[ -f README.md ] && mv README.md renamed-$R",
    "chmod +x new-* 2>/dev/null",
    "chmod -x new-* renamed-* 2>/dev/null",
    "ln -sfn README.md link-$R",
    "rm -rf turned; mkdir turned; echo $R > turned/inside",
    "rm -rf turned; echo $R > turned",
    "rm -rf nested; git init -q nested; echo $R > nested/own",
    "git add -A 2>/dev/null; git commit -q -m $R",
    "git add -A 2>/dev/null",
    "git reset -q --hard",
    "git reset -q --hard HEAD~1",
    "git clean -qfd",
    "git clean -qfdx",
    "git stash -q -u",
    "git stash pop -q",
    "git checkout -q -b side-$R",
    "git commit -q --amend -m amended --allow-empty",
    "rm -f .git/index",
    "echo 'ign*' > .gitignore; echo $R > ign-$R; head -c 100000 /dev/urandom > large-$R",
    "git update-index --assume-unchanged README.md",
];

/// Ends the controller of its own call; the shim goes on.
const MURDER: &str = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)";

struct SeededRandom(u64);

impl SeededRandom {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

#[test]
fn g18_whatever_an_agent_does_every_byte_of_an_iterations_start_is_kept() {
    let given = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse::<u64>().ok());
    let first = given.unwrap_or_else(|| u64::from(std::process::id()) * 1000);
    let count = if given.is_some() { 1 } else { 4 * u64::from(times()) };
    for seed in first..first + count {
        println!("LOOP_TEST_SEED={seed}");
        turn_upside_down(seed);
    }
}

fn turn_upside_down(seed: u64) {
    let mut dice = SeededRandom(seed);
    for _ in 0..8 {
        dice.roll(2);
    }
    let sandbox = Sandbox::new();
    sandbox.write("draft", "never committed\n");
    sandbox.write("run.sh", "#!/bin/sh\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.project.join("run.sh"), mode).expect("a mode");
    let (script, killed) = deeds(&mut dice);
    let agent = sandbox.agent(&script);
    let command =
        ["run", "it", "--allow-dirty", "--agent-cmd", &agent, "--check", "tests=ls; exit 1", "-n", "5"];
    for _ in 0..12 {
        let done = sandbox.run(&command);
        match done.code {
            1009 => assert!(killed, "seed {seed}: {done:?}"),
            // A breaker that opens is not what this is about.
            4 => drop(sandbox.run(&["resume", "--reset"])),
            6 => break,
            _ => panic!("seed {seed}: {done:?}"),
        }
    }
    let calls = sandbox.calls();
    assert!(2 < calls.len(), "seed {seed}: {calls:?}");
    every_byte_is_kept(&sandbox, seed, &calls);
    the_newest_snapshot_is_the_last_start(&sandbox, seed, &calls);
}

/// Returns the script of the agent, and whether it kills its controller. What an iteration begins with
/// is copied before anything else happens.
fn deeds(dice: &mut SeededRandom) -> (String, bool) {
    let mut script =
        "mkdir -p \"$OUT/state-$LOOP_CALL\"; tar -cf - --exclude=./.git --exclude=./nested . | tar -xf - -C \
                      \"$OUT/state-$LOOP_CALL\"\ncase $LOOP_CALL in\n"
            .to_owned();
    let mut killed = false;
    for call in 1..=5 {
        script.push_str(&format!("{call})\n"));
        for deed in 0..3 + dice.roll(6) {
            script.push_str(&format!(
                "R={call}{deed}; ( {} ) >/dev/null 2>&1\n",
                DEEDS[dice.roll(DEEDS.len())]
            ));
        }
        if call < 5 && dice.roll(4) == 0 {
            killed = true;
            script.push_str(&format!("{MURDER}\n"));
        }
        script.push_str(";;\n");
    }
    script.push_str(&format!("esac\necho \"call $LOOP_CALL\"; {PROMISE}"));
    (script, killed)
}

fn every_byte_is_kept(sandbox: &Sandbox, seed: u64, calls: &[u32]) {
    let kept: BTreeSet<String> = sandbox
        .git(&["rev-list", "--objects", "--all", "--reflog"])
        .lines()
        .map(|it| it.split(' ').next().expect("an id").to_owned())
        .collect();
    for call in calls {
        let state = sandbox.note(&format!("state-{call}"));
        for (path, _) in sandbox.contents(&state) {
            if !is_work(&state, &path) {
                continue;
            }
            let id = match std::fs::read_link(&path) {
                Ok(target) => {
                    let note = sandbox.note("target");
                    std::fs::write(&note, target.to_str().expect("plain")).expect("written");
                    sandbox.git(&["hash-object", "--no-filters", note.to_str().expect("plain")])
                }
                Err(_) => sandbox.git(&["hash-object", "--no-filters", path.to_str().expect("plain")]),
            };
            let here = sandbox.project.join(path.strip_prefix(&state).expect("below"));
            let in_tree = std::fs::read(&here).ok() == std::fs::read(&path).ok();
            assert!(
                kept.contains(id.trim()) || in_tree,
                "seed {seed}, call {call}: {} is lost",
                path.display()
            );
        }
    }
}

/// Byte for byte and bit for bit.
fn the_newest_snapshot_is_the_last_start(sandbox: &Sandbox, seed: u64, calls: &[u32]) {
    let last = sandbox.note(&format!("state-{}", calls.last().expect("a call")));
    let list = sandbox.run(&["restore"]).exits(0);
    let number = list.out.lines().rev().find_map(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    let place = sandbox.root().join("away");
    std::fs::create_dir(&place).expect("a folder");
    for entry in std::fs::read_dir(&sandbox.project).expect("a folder").flatten() {
        if entry.file_name() != ".git" {
            std::fs::rename(entry.path(), place.join(entry.file_name())).expect("moved");
        }
    }
    sandbox.run(&["restore", &number.expect("a snapshot").to_string()]).exits(0);
    for (path, content) in sandbox.contents(&last) {
        if !is_work(&last, &path) {
            continue;
        }
        let back = sandbox.project.join(path.strip_prefix(&last).expect("below"));
        let found = std::fs::symlink_metadata(&back);
        let found = found.unwrap_or_else(|error| panic!("seed {seed}: {}: {error}", back.display()));
        let was = std::fs::symlink_metadata(&path).expect("there");
        assert_eq!(found.file_type(), was.file_type(), "seed {seed}: {}", back.display());
        if was.is_file() {
            assert!(std::fs::read(&back).expect("a file") == content, "seed {seed}: {}", back.display());
            let executable = |it: &std::fs::Metadata| it.permissions().mode() & 0o100 != 0;
            assert_eq!(executable(&found), executable(&was), "seed {seed}: {}", back.display());
        } else {
            assert_eq!(std::fs::read_link(&back).ok(), std::fs::read_link(&path).ok(), "seed {seed}");
        }
    }
}

/// Ignored files are named as not kept, and our own are written again.
fn is_work(state: &Path, path: &Path) -> bool {
    let inside: PathBuf = path.strip_prefix(state).expect("below").to_owned();
    let name = inside.to_string_lossy();
    !name.starts_with("ign-") && !name.starts_with("DESIGN-") && !name.starts_with(".claude-task-state")
}
