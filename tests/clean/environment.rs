//! What a clean run sees of the machine.

use crate::project::Project;
use std::fs;

#[test]
fn home_is_a_new_one_and_toolchains_still_work() {
    let project = Project::new(&[("a", "1")]);
    fs::write(project.beside("user/.settings"), "").expect("written");
    let check = "test -e $HOME/.settings";
    assert!(project.passes_in_place(check));
    project.open().baseline(check).assert_red();
    project
        .open()
        .baseline("cargo --version && python3 -c pass && git commit --allow-empty -qm x")
        .assert_green();
}

#[test]
fn variables_are_the_listed_ones_and_the_configured_ones() {
    let project = Project::new(&[("a", "1")]);
    let mut proof = project.open();
    let check = "test -z \"$SECRET_OF_MINE\" && test -z \"$LD_PRELOAD\" && test -n \"$TMPDIR\" && test ${#TMPDIR} -lt 40";
    let run = |proof: &crate::project::Proof<'_>| {
        let mut command = proof.command("baseline", &project.git(&["rev-parse", "HEAD^{tree}"]), check);
        let output =
            command.env("SECRET_OF_MINE", "x").env("LD_PRELOAD", "/nowhere.so").output().expect("loop");
        crate::project::Answer(serde_json::from_str(&crate::project::text(output)).expect("a result"))
    };
    run(&proof).assert_green();
    proof.variables = vec!["SECRET_OF_MINE".to_owned()];
    run(&proof).assert_red();
}

#[test]
fn programs_that_came_after_the_opening_are_left_out_and_named() {
    let project = Project::new(&[("a", "1")]);
    project.path.borrow_mut().push(project.beside("bin"));
    project.program("bin", "steady", "#!/bin/sh\necho steady\n");
    project.program("bin", "tool", "#!/bin/sh\nexit 1\n");
    let proof = project.open();
    project.program("bin", "tool", "#!/bin/sh\nexit 0\n");
    project.program("bin", "ls", "#!/bin/sh\nexit 7\n");
    fs::create_dir(project.beside("late")).expect("made");
    project.program("late", "cat", "#!/bin/sh\nexit 7\n");
    project.path.borrow_mut().insert(0, project.beside("late"));
    assert!(!project.passes_in_place("ls"));
    let answer = proof.baseline("ls && cat a && steady && ! command -v tool");
    answer.assert_green();
    let bin = project.beside("bin");
    let named = [
        format!("{}/ls (added since the opening)", bin.display()),
        format!("{}/tool (changed since the opening)", bin.display()),
        format!("{} (in PATH since the opening)", project.beside("late").display()),
    ];
    assert_eq!(answer.list("left_out"), named);
}

#[test]
fn an_ordinary_user_gets_a_mount_too() {
    if !rustix::process::geteuid().is_root() {
        // Every other test of this file is run by an ordinary user then.
        return;
    }
    let mut project = Project::new(&[("a", "1")]);
    fs::copy(loop_harness::program(), project.beside("bin/loop")).expect("copied");
    let user = 65534;
    project.as_user = Some(user);
    let chown = format!("chown -R {user}:{user} {0} && chmod 755 {0}", project.beside(".").display());
    assert!(project.sh(&chown).status.success());
    let top = project.top();
    let answer = project.open().baseline(&format!(
        "test \"$(id -u)\" = {user} && test \"$(pwd)\" = {0} && echo 2 > a && grep -q 2 {0}/a",
        top.display()
    ));
    answer.assert_green();
    assert!(answer.is_mounted(), "{}", answer.shown());
    assert_eq!(fs::read_to_string(top.join("a")).expect("there"), "1");
}

#[test]
fn the_checkout_is_at_the_path_of_the_original_and_writes_do_not_reach_it() {
    let project = Project::new(&[("a", "1")]);
    let top = project.top().display().to_string();
    let answer =
        project.open().baseline(&format!("cd {top} && test \"$PWD\" = {top} && echo 2 > a && echo > new"));
    answer.assert_green();
    assert!(answer.is_mounted());
    assert_eq!(fs::read_to_string(project.top().join("a")).expect("there"), "1");
    assert!(!project.top().join("new").exists());
}
