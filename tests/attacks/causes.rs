//! A full disk, few open files, a repository that is gone, and a home that cannot be written: each ends
//! with its cause and one command, and the run goes on from where it was when the cause is gone.

use crate::scene::{BUILD, BUILT, Scene, User, users};
use loop_harness::{COMMIT, Done, PATIENCE, PROMISE, skipped, within};
use std::path::Path;
use std::process::Command;

const CHECK: &str = "tests=cat work; test $(wc -l < work) -ge 3";

fn words(agent: &str) -> [&str; 6] {
    ["run", "build it", "--agent-cmd", agent, "--check", CHECK]
}

/// The cause is named, and the last line is the step.
#[track_caller]
fn names(done: &Done, cause: &str, step: &str) {
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains(cause), "no {cause:?} in {done:?}");
    let last = done.err.lines().last().unwrap_or_default();
    assert!(last.contains(step), "no {step:?} in {last:?}");
}

/// It ends as if nothing had been: every call once, and nothing waits for an answer.
#[track_caller]
fn goes_on(scene: &Scene, agent: &str, calls: &[u32]) {
    scene.act(&words(agent)).exits(0);
    assert_eq!(scene.calls(), calls);
    assert_eq!(scene.stands()["verified"], true);
}

struct Disk<'a>(&'a Path);

impl Disk<'_> {
    fn mounted<'a>(path: &'a Path, size: &str) -> Option<Disk<'a>> {
        std::fs::create_dir_all(path).expect("a folder");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(path).output();
        done.is_ok_and(|it| it.status.success()).then_some(Disk(path))
    }

    fn change(&self, options: &str) {
        let change =
            || Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.0).output();
        // Whoever has just ended may still have a file open.
        assert!(within(PATIENCE, || change().is_ok_and(|it| it.status.success())), "{options}");
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

#[test]
fn g07_a_full_disk_is_named_and_the_run_goes_on_when_there_is_room() {
    let scene = Scene::new(User::Self_);
    let home = scene.home.clone();
    let Some(disk) = Disk::mounted(&home, "size=20m,mode=0700") else {
        return skipped("g07_a_full_disk_is_named", "a file system cannot be mounted here");
    };
    let agent = scene.plays(&format!(
        "if [ \"$LOOP_CALL\" = 2 ]; then dd if=/dev/zero of=\"$ROOT/home/filler\" bs=64k 2>/dev/null; fi\n\
         echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"
    ));
    let done = scene.act(&words(&agent)).exits(1);
    let said = &done.err;
    assert!(said.contains("disk is full") || said.contains("make space"), "{said}");
    assert!(said.contains("loop run"), "{said}");
    scene.act(&["status"]).exits(0);
    std::fs::remove_file(home.join("filler")).expect("a file");
    disk.change("size=600m");
    goes_on(&scene, &agent, &[1, 2, 3]);
    drop(disk);
}

/// A disk that is nearly full pauses the run before it begins a call, and nobody has to answer anything.
#[test]
fn g07_a_disk_without_room_for_a_call_pauses_the_run() {
    let scene = Scene::new(User::Self_);
    let home = scene.home.clone();
    let Some(disk) = Disk::mounted(&home, "size=40m,mode=0700") else {
        return skipped("g07_a_disk_without_room_for_a_call", "a file system cannot be mounted here");
    };
    let agent = scene.plays(&format!(
        "if [ \"$LOOP_CALL\" = 1 ]; then free=$(df -Pk \"$ROOT/home\" | awk 'NR == 2 {{ print $4 }}')\n\
         dd if=/dev/zero of=\"$ROOT/home/filler\" bs=1k count=$((free - 1600)) 2>/dev/null; fi\n\
         echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"
    ));
    for _ in 0..2 {
        let done = scene.act(&words(&agent)).exits(5);
        let said = format!("{}{}", done.out, done.err);
        assert!(said.contains("free; a call needs") && said.contains("then loop run"), "{said}");
        assert_eq!(scene.stands()["status"], "paused");
    }
    std::fs::remove_file(home.join("filler")).expect("a file");
    disk.change("size=600m");
    goes_on(&scene, &agent, &[1, 2, 3]);
    drop(disk);
}

#[test]
fn g07_too_few_open_files_are_named_and_the_run_goes_on_with_more() {
    let scene = Scene::new(User::Self_);
    let agent = scene.plays(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
    let mut named = 0;
    for most in [7, 10, 14, 18, 22, 25] {
        let script = format!(
            "ulimit -S -n {most}; exec \"$LOOP\" run 'build it' --agent-cmd \"{agent}\" --check '{CHECK}'"
        );
        let done = scene.script(&script);
        if done.code != 0 {
            named += 1;
            names(&done, "the limit of open files is too low", "ulimit -n 1024");
        }
        scene.act(&["status"]).exits(0);
    }
    assert!(2 < named, "{named}");
    let hint = "ulimit -n 1024 && loop run";
    let pasted = format!("loop() {{ \"$LOOP\" \"$@\"; }}; ulimit -S -n 25; {hint}");
    loop_harness::hints::pasted(hint, scene.script(&pasted).exits(0).code);
    assert_eq!(scene.calls(), [1, 2, 3]);
    assert_eq!(scene.stands()["verified"], true);
}

#[test]
fn g07_a_repository_that_is_gone_is_named_and_the_run_goes_on_when_it_is_back() {
    let scene = Scene::new(User::Self_);
    let agent = scene.plays(&format!(
        "if [ \"$LOOP_CALL\" = 2 ]; then mv .git \"$ROOT/kept\"; exit 0; fi\necho \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"
    ));
    names(&scene.act(&words(&agent)), "the repository is missing", "restore its .git, then loop run");
    scene.act(&["status"]).exits(0);
    for words in [&["run"][..], &["restore"], &words(&agent)] {
        names(&scene.act(words), "the repository is missing", "restore its .git, then loop run");
    }
    std::fs::write(scene.project.join(".git"), "").expect("a file");
    names(&scene.act(&["run"]), "the repository is damaged", "restore its .git, then loop run");
    std::fs::remove_file(scene.project.join(".git")).expect("a file");
    std::fs::rename(scene.path("kept"), scene.project.join(".git")).expect("moved");
    scene.act(&["run"]).exits(0);
    assert_eq!(scene.calls(), [1, 2, 3, 4]);
}

/// A working tree that takes nothing pauses the run before it begins a call that could leave nothing.
#[test]
fn g07_a_working_tree_that_is_mounted_for_reading_pauses_the_run() {
    let scene = Scene::new(User::Self_);
    let agent = scene.plays(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
    scene.act(&[&words(&agent)[..], &["-n", "1"]].concat()).exits(6);
    let mounted = Command::new("mount").arg("--bind").args([&scene.project, &scene.project]).output();
    if !mounted.is_ok_and(|it| it.status.success()) {
        return skipped("g07_a_working_tree_that_is_mounted", "a file system cannot be mounted here");
    }
    let disk = Disk(&scene.project);
    disk.change("bind,ro");
    for _ in 0..2 {
        let done = scene.act(&["run", "-n", "9"]).exits(5);
        assert!(
            done.err.contains("is mounted for reading only; mount it for writing, then loop run"),
            "{done:?}"
        );
    }
    assert_eq!(scene.calls(), [1]);
    disk.change("bind,rw");
    goes_on(&scene, &agent, &[1, 2, 3]);
    drop(disk);
}

/// A damaged index and a setting that leads git elsewhere are named with what mends them.
#[test]
fn g07_a_repository_that_git_cannot_use_is_named_with_what_mends_it() {
    let scene = Scene::new(User::Self_);
    let agent = scene.plays(&format!(
        "echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}\n\
         if [ \"$LOOP_CALL\" = 2 ]; then echo damaged > .git/index; fi"
    ));
    let cause = "the index of the repository is damaged";
    names(&scene.act(&words(&agent)), cause, "rebuild it with rm .git/index && git reset, then loop run");
    scene.act(&["status"]).exits(0);
    scene.script("rm .git/index && git reset -q").exits(0);
    goes_on(&scene, &agent, &[1, 2, 3]);
    scene.script("git config core.worktree \"$OUT\"").exits(0);
    let done = scene.act(&words(&agent)).exits(2);
    assert!(done.err.contains("is not the top of its git working tree"), "{done:?}");
    let step = format!("git config -f {}/.git/config --unset core.worktree", scene.project.display());
    assert_eq!(done.err.lines().last(), Some(format!("next: {step}").as_str()), "{done:?}");
    scene.script(&step).exits(0);
    goes_on(&scene, &agent, &[1, 2, 3]);
}

#[test]
fn g07_a_home_that_is_mounted_for_reading_is_read_and_the_run_goes_on_later() {
    let scene = Scene::new(User::Self_);
    let home = scene.home.clone();
    let Some(disk) = Disk::mounted(&home, "size=600m,mode=0700") else {
        return skipped("g07_a_home_that_is_mounted_for_reading", "a file system cannot be mounted here");
    };
    let agent = scene.plays(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
    scene.act(&[&words(&agent)[..], &["-n", "1"]].concat()).exits(6);
    disk.change("ro");
    for words in [&["status"][..], &["show"], &["runs"], &["log"], &["verify"]] {
        let done = scene.act(words);
        assert_eq!(done.code, 0, "{words:?}: {done:?}");
    }
    names(&scene.act(&["run", "-n", "9"]), "may not be written", "for writing");
    disk.change("rw");
    scene.act(&["run", "-n", "9"]).exits(0);
    assert_eq!(scene.calls(), [1, 2, 3]);
    drop(disk);
}

/// A folder that was moved away as a whole is no repository that is damaged, and no workflow that is missing.
#[test]
fn g07_a_working_tree_that_was_moved_is_named_and_the_run_goes_on_when_it_is_back() {
    let scene = Scene::new(User::Self_);
    let agent = scene.plays(&format!(
        "if [ \"$LOOP_CALL\" = 2 ]; then mv \"$PWD\" \"$ROOT/kept\"; exit 0; fi\necho \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"
    ));
    let cause = format!("the working tree {} is missing", scene.project.display());
    names(&scene.act(&words(&agent)), &cause, "back or restore it, then loop run");
    std::fs::rename(scene.path("kept"), &scene.project).expect("moved");
    scene.act(&["run"]).exits(0);
    assert_eq!(scene.calls(), [1, 2, 3, 4]);
}

/// What somebody took the rights from is named, and the command that is proposed gives them back.
#[test]
fn g07_what_may_not_be_entered_is_named_and_the_proposed_command_opens_it() {
    const NAME: &str = "g07_what_may_not_be_entered";
    let Some(user) =
        users(NAME).into_iter().find(|it| *it == User::Ordinary || !rustix::process::geteuid().is_root())
    else {
        return skipped(NAME, "root may enter everything");
    };
    for (deed, cause) in [
        ("chmod 000 \"$ROOT/home\"", "may not be written"),
        ("chmod 500 \"$ROOT\"/home/runs/*", "Permission denied"),
        ("chmod 000 .git", "/.git may not be read"),
    ] {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let agent = scene.plays(&format!("{BUILT}\nif [ \"$LOOP_CALL\" = 1 ]; then {deed}; fi"));
        let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]);
        names(&done, cause, "next: chmod -R u+rwX ");
        let step = done.err.lines().last().and_then(|it| it.strip_prefix("next: ")).expect("a step");
        scene.script(step).exits(0);
        scene.act(&["run"]).exits(3);
        scene.gate_is_open(deed);
        assert_eq!(scene.calls(), [1], "{deed}");
    }
}

/// What git cannot do to a repository that an agent broke is said with what helps.
#[test]
fn g07_what_is_in_the_way_of_our_refs_and_objects_that_are_gone_are_named() {
    for user in users("g07_what_is_in_the_way_of_our_refs") {
        for (deed, exit, step) in [
            (
                "rm -rf .git/refs/loop; echo x > .git/refs/loop",
                1,
                "help: move what is in the way away from refs/loop",
            ),
            ("rm -rf .git/objects/??", 8, "help: git fsck lists what is missing"),
        ] {
            let scene = Scene::new(user);
            scene.workflow(BUILD);
            let agent = scene.plays(&format!("{BUILT}\nif [ \"$LOOP_CALL\" = 1 ]; then {deed}; fi"));
            let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]);
            assert_eq!(done.code, exit, "{user:?}, {deed}: {done:?}");
            assert!(
                done.err.lines().last().is_some_and(|it| it.starts_with(step)),
                "{user:?}, {deed}: {done:?}"
            );
            let lost = "the snapshots of this run are gone, and with them what was in no commit";
            assert_eq!(done.err.contains(lost), exit == 8, "{user:?}, {deed}: {done:?}");
            if exit == 1 {
                scene.script("rm .git/refs/loop").exits(0);
                scene.act(&["run"]).exits(3);
                scene.gate_is_open(deed);
            }
        }
    }
}

/// What outlived its call can keep the lock of its run; `loop attach` and `loop stop` do nothing about that.
#[test]
fn g17_a_stranger_that_keeps_the_lock_of_a_run_is_named_with_what_helps() {
    let scene = Scene::new(User::Self_);
    scene.waits(BUILD);
    let lock = std::fs::File::open(scene.folder().join("lock")).expect("the lock of the run");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("it is free");
    let done = scene.act(&["run"]).exits(7);
    let own = std::process::id();
    assert!(done.err.contains(&format!("is in use by pid {own} (")), "{done:?}");
    let step = format!("help: wait until process {own} has ended, or end it with kill {own}; then try again");
    assert_eq!(done.err.lines().last(), Some(step.as_str()), "{done:?}");
    drop(lock);
    scene.act(&["run"]).exits(3);
}

/// Somebody keeps the turn to write: a wish to end the call cannot be written down then, and ends the call all the same.
#[test]
fn g17_whoever_wants_the_call_to_end_gets_that_also_while_a_stranger_keeps_the_home() {
    let scene = Scene::new(User::Self_);
    scene.workflow(BUILD);
    let agent = scene.plays("echo $$ > \"$OUT/agent.tmp\"; mv \"$OUT/agent.tmp\" \"$OUT/agent\"; sleep 600");
    let running = scene.spawn(&["run", "a bridge", "--agent-cmd", &agent]);
    while !scene.note("agent").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let lock = std::fs::File::open(scene.home.join("turnstile")).expect("the turn to write");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("it is free");
    running.signal(rustix::process::Signal::INT);
    let done = running.wait().exits(1);
    let own = std::process::id();
    assert!(done.err.contains(&format!("kill {own}")), "{done:?}");
    let agent = scene.notes("agent").remove(0);
    assert!(!std::path::Path::new("/proc").join(agent).exists(), "the call goes on: {done:?}");
    drop(lock);
    scene.act(&["log"]).exits(0);
    scene.assert_nothing_runs();
}

#[test]
fn g07_a_configuration_that_git_cannot_read_is_named_with_what_helps() {
    let scene = Scene::new(User::Self_);
    scene.workflow(BUILD);
    let agent = scene.plays(&format!(
        "{BUILT}\ncp \"$HOME/.gitconfig\" \"$OUT/kept\"; echo '[broken' > \"$HOME/.gitconfig\""
    ));
    let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(1);
    assert!(done.err.contains("bad config line 1 in file"), "{done:?}");
    let step = "help: repair the line of the file that git names, or remove it, then loop run";
    assert_eq!(done.err.lines().last(), Some(step), "{done:?}");
    scene.script("cp \"$OUT/kept\" \"$HOME/.gitconfig\"").exits(0);
    scene.act(&["run"]).exits(3);
    scene.gate_is_open("the configuration was broken");
}
