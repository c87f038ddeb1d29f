//! A proof that is killed in the middle leaves nothing to the next one.

use crate::project::Project;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

/// Waits until a file holds a line.
fn line_of(path: &PathBuf) -> String {
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    }
}

fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = state.rsplit(") ").next().and_then(|it| it.chars().next());
    state.is_some_and(|it| it != 'Z')
}

#[test]
fn a_killed_step_is_cleared_and_taken_again() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    let (pid, ready) = (project.beside("pid"), project.beside("ready"));
    let fifo = project.beside("fifo");
    assert!(project.sh(&format!("mkfifo {}", fifo.display())).status.success());
    let check = format!(
        "if test -e {1}; then exit 0; fi; setsid sh -c 'echo $$ > {0}; exec cat {2}' & touch {1}; cat {2}",
        pid.display(),
        ready.display(),
        fifo.display()
    );
    let tree = project.git(&["rev-parse", "HEAD^{tree}"]);
    let mut waiting = proof.command("baseline", &tree, &check).stdout(Stdio::null()).spawn().expect("loop");
    let escaped = line_of(&pid);
    let folder = fs::read_dir(project.home.join("proof")).expect("there").flatten().map(|it| it.path());
    let folder = folder.into_iter().find(|it| it.join("occupant").exists()).expect("a folder");
    let occupant: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("occupant")).expect("there")).expect("json");
    // The prover and its shim, at once.
    let mark = fs::read_to_string(folder.join("work/mark")).expect("there");
    let shim: serde_json::Value = serde_json::from_str(
        &fs::read_to_string(folder.join("work").join(mark).join("shim-1")).expect("there"),
    )
    .expect("json");
    for pid in [&shim["pid"], &occupant["identity"]["pid"]] {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid.as_i64().expect("a pid")).expect("a pid"));
        rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::KILL).expect("killed");
    }
    assert!(!waiting.wait().expect("collected").success());
    assert!(folder.join("work").exists());
    proof.baseline(&check).assert_green();
    assert!(!is_alive(&escaped));
    assert!(!folder.join("work").exists());
}

#[test]
fn what_a_check_leaves_running_is_ended() {
    let project = Project::new(&[("a", "1")]);
    let pid = project.beside("pid");
    let check = format!(
        "setsid sh -c 'echo $$ > {0}; exec tail -f /dev/null' & until test -s {0}; do :; done",
        pid.display()
    );
    project.open().baseline(&check).assert_green();
    assert!(!is_alive(&line_of(&pid)));
}
