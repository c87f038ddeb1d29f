//! The folder that `--home` names: it is made or taken as it is, never changed, and refused where it is
//! somebody else's.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

fn completed(sandbox: &Sandbox) -> String {
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    sandbox.status()["run"].as_str().expect("an id").to_owned()
}

#[test]
fn homes_that_are_somebody_elses_are_refused_and_left_as_they_are() {
    let sandbox = Sandbox::new();
    let photos = sandbox.root().join("photos");
    fs::create_dir(&photos).expect("a folder");
    fs::write(photos.join("cat.jpg"), "x").expect("a file");
    fs::set_permissions(&photos, fs::Permissions::from_mode(0o755)).expect("a mode");
    for home in [photos.as_path(), Path::new("/proc"), Path::new("/")] {
        let before = mode(home);
        let words = ["run", "it", "--agent-cmd", "true", "--check", "tests=true", "--home"];
        let words = [&words[..], &[home.to_str().expect("text")]].concat();
        sandbox.run(&words).exits(2).says("cannot be a home of loop");
        assert_eq!(mode(home), before, "{}", home.display());
    }
    assert_eq!(sandbox.contents(&photos).len(), 1);
    let file = photos.join("cat.jpg");
    sandbox
        .run(&[
            "run",
            "it",
            "--agent-cmd",
            "true",
            "--check",
            "tests=true",
            "--home",
            file.to_str().expect("text"),
        ])
        .exits(2)
        .says("not a folder");
}

#[test]
fn homes_that_exist_and_are_empty_keep_their_mode_and_hold_private_files() {
    let sandbox = Sandbox::new();
    fs::create_dir(&sandbox.home).expect("a folder");
    fs::set_permissions(&sandbox.home, fs::Permissions::from_mode(0o755)).expect("a mode");
    let run = completed(&sandbox);
    assert_eq!(mode(&sandbox.home), 0o755);
    assert_eq!(mode(&sandbox.home.join("runs").join(&run)), 0o700);
    assert_eq!(mode(&sandbox.home.join("loop.db")), 0o600);
    for entry in fs::read_dir(sandbox.home.join("runs").join(&run)).expect("a folder").flatten() {
        if entry.file_type().expect("a kind").is_file() {
            assert_eq!(mode(&entry.path()) & 0o077, 0, "{}", entry.path().display());
        }
    }
}

#[test]
fn g35_a_link_in_place_of_a_runs_folder_is_not_followed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    let words = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"];
    sandbox.run(&words).exits(6);
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let folder = sandbox.home.join("runs").join(&run);
    let elsewhere = sandbox.root().join("elsewhere");
    fs::rename(&folder, &elsewhere).expect("moved");
    let before = sandbox.contents(&elsewhere);
    symlink(&elsewhere, &folder).expect("a link");
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=false", "-n", "2"]).exits(8);
    assert_eq!(sandbox.contents(&elsewhere), before);
}

/// A home inside of the working tree is ours: nobody is asked about its files, and no agent commits them.
#[test]
fn homes_inside_of_the_working_tree_are_no_change_of_it() {
    for name in ["st", "a [b]*"] {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; {PROMISE}"));
        let run = ["--home", name, "run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
        sandbox.run(&run).exits(0);
        assert!(sandbox.project.join(name).join("loop.db").is_file());
        assert_eq!(sandbox.git(&["ls-files", "--", name]), "");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    }
}
