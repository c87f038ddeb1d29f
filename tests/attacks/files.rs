//! Attacks on files and folders, as rows: homes that are not ours, links that somebody planted where we
//! write, a home that cannot be written, and what a killed call leaves.

use crate::scene::{Scene, User, users};
use loop_harness::{COMMIT, PROMISE, skipped};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const RUN: [&str; 6] = ["run", "build it", "--agent-cmd", "true", "--check", "tests=true"];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// A home that is refused: its name, how it is made below `$ROOT`, where it is, and what is said.
const HOMES: [(&str, &str, &str, &str); 8] = [
    ("the kernel's", "true", "/proc", "cannot be a home of loop"),
    ("the machine's", "true", "/", "cannot be a home of loop"),
    ("another user's", "true", "$STRANGE", "belongs to another user"),
    (
        "another user's, by a link",
        "ln -s \"$STRANGE\" \"$ROOT/by-link\"",
        "$ROOT/by-link",
        "belongs to another user",
    ),
    ("a file", "echo x > \"$ROOT/file\"", "$ROOT/file", "not a folder"),
    (
        "a link to nothing",
        "ln -s \"$ROOT/nothing\" \"$ROOT/loose\"",
        "$ROOT/loose",
        "a link that leads nowhere",
    ),
    (
        "a folder with photos",
        "mkdir \"$ROOT/photos\"; echo x > \"$ROOT/photos/cat.jpg\"",
        "$ROOT/photos",
        "other files",
    ),
    ("anybody's", "mkdir \"$ROOT/open\"; chmod 0777 \"$ROOT/open\"", "$ROOT/open", "anybody may write"),
];

#[test]
fn homes_that_are_not_ours_are_refused_and_left_as_they_are() {
    const NAME: &str = "homes_that_are_not_ours";
    for user in users(NAME) {
        let scene = Scene::new(user);
        // Root's own for an ordinary user, an ordinary user's for root.
        let strange = match user {
            User::Self_ if rustix::process::geteuid().is_root() => scene.path("strange"),
            User::Self_ => "/usr".into(),
            User::Ordinary => "/usr".into(),
        };
        if !strange.exists() {
            fs::create_dir(&strange).expect("a folder");
            crate::scene::give(&strange);
        }
        for (name, make, home, says) in HOMES {
            let fill = |it: &str| {
                it.replace("$STRANGE", &strange.display().to_string())
                    .replace("$ROOT", &scene.root().display().to_string())
            };
            scene.script(&fill(make)).exits(0);
            let home = fill(home);
            let is_there = Path::new(&home).exists();
            let before =
                is_there.then(|| (mode(Path::new(&home)), fs::read_dir(&home).map(Iterator::count).ok()));
            let words = [&RUN[..], &["--home", &home]].concat();
            let done = scene.act(&words);
            assert_eq!(done.code, 2, "{user:?}, {name}: {done:?}");
            assert!(done.err.contains(says), "{user:?}, {name}: no {says:?} in {}", done.err);
            if let Some((before, entries)) = before.filter(|_| home != "/proc") {
                assert_eq!(mode(Path::new(&home)), before, "{name}");
                assert_eq!(fs::read_dir(&home).map(Iterator::count).ok(), entries, "{name}");
            }
        }
    }
}

/// Two calls until it is done; one has been made.
fn halfway(scene: &Scene) -> String {
    let agent = scene.plays(&format!("echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"));
    let check = "tests=test $(wc -l < work) = 2";
    scene
        .act(&["run", "build it", "--agent-cmd", &agent, "--check", check, "--notify", "true", "-n", "1"])
        .exits(6);
    agent
}

/// A file in the folder of a run, which somebody replaced by a link to what is not ours.
const PLANTED: [&str; 14] = [
    "lock",
    "head",
    "wake",
    "calls.log",
    "call-1.out",
    "call-2.out",
    "call-2.err",
    "call-2.prompt",
    "record.json",
    "controller.log",
    "checks",
    "git",
    "before-2",
    "shim-2.tmp",
];

#[test]
fn g35_links_in_the_folder_of_a_run_are_not_followed() {
    let scene = Scene::new(User::Self_);
    halfway(&scene);
    let folder = scene.folder();
    let kept = scene.path("kept");
    scene.script(&format!("cp -a \"$LOOP_HOME\" '{}'; cp -a . \"$ROOT/tree\"", kept.display())).exits(0);
    let known: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<String> = PLANTED.iter().map(|it| (*it).to_owned()).collect();
    names.extend(known.iter().filter(|it| !PLANTED.contains(&it.as_str())).cloned());
    for name in names {
        scene.script(&format!(
            "rm -rf \"$LOOP_HOME\"; cp -a '{}' \"$LOOP_HOME\"; git reset -q --hard \"$(git -C \"$ROOT/tree\" rev-parse HEAD)\"",
            kept.display()
        ))
        .exits(0);
        let (victim, victims) = (scene.path("victim"), scene.path("victims"));
        let _may_not_exist = fs::remove_dir_all(&victims);
        fs::create_dir(&victims).expect("a folder");
        fs::write(&victim, "precious").expect("written");
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).expect("a mode");
        let at = folder.join(&name);
        let is_folder = fs::symlink_metadata(&at).is_ok_and(|it| it.is_dir());
        let _may_not_exist = if is_folder { fs::remove_dir_all(&at) } else { fs::remove_file(&at) };
        symlink(if is_folder { &victims } else { &victim }, &at).expect("a link");
        let done = scene.act(&["resume", "-n", "3"]);
        assert!(matches!(done.code, 0 | 1 | 4 | 8), "{name}: {done:?}");
        assert!(!format!("{done:?}").contains("panicked"), "{name}: {done:?}");
        assert_eq!(fs::read_to_string(&victim).expect("there"), "precious", "{name}: {done:?}");
        assert_eq!(mode(&victim), 0o644, "{name}");
        assert_eq!(fs::read_dir(&victims).expect("there").count(), 0, "{name}: {done:?}");
    }
}

#[test]
fn g35_a_link_in_place_of_a_mirror_or_a_database_is_not_followed() {
    let scene = Scene::new(User::Self_);
    fs::write(scene.path("victim"), "precious").expect("written");
    halfway(&scene);
    let mirror = scene.project.join(".claude-task-state.json");
    fs::remove_file(&mirror).expect("a mirror");
    symlink(scene.path("victim"), &mirror).expect("a link");
    scene.act(&["status"]).exits(0);
    scene.act(&["resume", "-n", "2"]).exits(0);
    assert_eq!(scene.text("victim"), "precious");
    let other = scene.path("other");
    fs::create_dir(&other).expect("a folder");
    symlink(scene.path("victim"), other.join("loop.db")).expect("a link");
    let done = scene.act(&[&RUN[..], &["--home", &other.display().to_string()]].concat());
    assert!(matches!(done.code, 2 | 8), "{done:?}");
    assert_eq!(scene.text("victim"), "precious");
}

#[test]
fn a_home_that_cannot_be_written_is_read_and_its_files_are_private() {
    const NAME: &str = "a_home_that_cannot_be_written";
    for user in users(NAME) {
        let scene = Scene::new(user);
        scene.script("mkdir -m 0755 \"$LOOP_HOME\"").exits(0);
        let agent = scene.plays(&format!("umask 0; echo x > work; {COMMIT}; {PROMISE}"));
        let run =
            format!("umask 0; \"$LOOP\" run 'build it' --agent-cmd \"{agent}\" --check 'tests=test -f work'");
        scene.script(&run).exits(0);
        // What git keeps for itself lies in folders that nobody else may enter.
        let open = "find \"$LOOP_HOME\" -mindepth 1 -maxdepth 1 -perm /077; find \"$LOOP_HOME\"/runs/* \"$LOOP_HOME\"/proof -maxdepth 2 -type d -perm /077; \
             find \"$LOOP_HOME\"/runs/* -maxdepth 1 -type f -perm /077";
        assert_eq!(scene.script(open).exits(0).out, "", "others can read or enter these");
        if user == User::Self_ && rustix::process::geteuid().is_root() {
            continue; // Modes stop nobody who is root.
        }
        scene.script("chmod -R a-w \"$LOOP_HOME\"").exits(0);
        for words in [&["status"][..], &["show"], &["runs"], &["log"], &["verify"], &["evidence"]] {
            let done = scene.act(words);
            assert_eq!(done.code, 0, "{words:?}: {done:?}");
        }
        let refused: [&[&str]; 4] = [
            &["run", "another", "--agent-cmd", "true", "--check", "tests=true"],
            &["run", "--fresh", "build it"],
            &["runs", "--prune", "--yes"],
            &["queue", "add", "A system", "--domain", "core"],
        ];
        let step = format!("next: chmod -R u+rwX {}", scene.home.display());
        for words in refused {
            let done = scene.act(words).exits(1);
            assert!(done.err.contains("may not be written"), "{words:?}: {}", done.err);
            assert_eq!(done.err.lines().last(), Some(step.as_str()), "{words:?}");
        }
        let hint = step.strip_prefix("next: ").expect("a hint");
        loop_harness::hints::pasted(hint, scene.script(hint).exits(0).code);
        scene.act(&["runs", "--prune", "--yes"]).exits(0);
    }
    if !rustix::process::geteuid().is_root() {
        skipped(NAME, "as root: the tests are not");
    }
}

#[test]
fn temporary_folders_of_a_killed_call_are_removed_by_the_next_run() {
    for user in users("temporary_folders_of_a_killed_call") {
        let scene = Scene::new(user);
        let agent = scene.plays(&format!(
            "if [ \"$LOOP_CALL\" = 1 ]; then echo \"$TMPDIR\" > \"$OUT/tmp\"; mkdir -p \"$TMPDIR/a/b\"; echo x > \"$TMPDIR/a/b/c\"; chmod 0 \"$TMPDIR/a\"\n\
             shim=$PPID; controller=$(ps -o ppid= -p $shim); kill -9 $controller $shim; exit 0; fi\n\
             echo x > work; {COMMIT}; {PROMISE}"
        ));
        let words = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
        scene.act(&words).exits(1009);
        let folder = scene.notes("tmp").first().expect("the call had one").clone();
        assert!(Path::new(&folder).is_dir(), "{folder} is gone already");
        scene.act(&words).exits(0);
        assert!(!Path::new(&folder).exists(), "{folder} is left");
        let left: Vec<_> =
            fs::read_dir(scene.path("tmp")).expect("a folder").flatten().map(|it| it.file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
