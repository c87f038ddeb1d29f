//! `.claude-task-state.json`: whole at every moment, written for others, read by nobody here.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const NAME: &str = ".claude-task-state.json";

#[test]
fn en11_readers_never_see_half_a_mirror() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    let path = sandbox.project.join(NAME);
    let (over, read) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // It comes with the run; from then on it is always there.
                    let Ok(bytes) = std::fs::read(&path) else { continue };
                    let state: Value = serde_json::from_slice(&bytes).expect("a whole object");
                    assert!(state["currentIteration"].is_u64() && state["status"].is_string(), "{state}");
                    read.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let done = sandbox.run(&[
            "run",
            "it",
            "--agent-cmd",
            &agent,
            "--check",
            "tests=cat work; exit 1",
            "-n",
            "12",
        ]);
        over.store(true, Ordering::Relaxed);
        done.exits(6);
    });
    assert!(100 < read.load(Ordering::Relaxed), "only {} reads", read.load(Ordering::Relaxed));
}

#[test]
fn rt03_the_fields_say_where_the_run_stands() {
    let sandbox = Sandbox::new();
    sandbox.write("DESIGN-1.md", "# It\n\n**Task Type**: Bug Fix\n\n## Acceptance Criteria\n\n- [ ] a\n");
    sandbox.commit("a design");
    let agent =
        sandbox.agent(&format!("cp {NAME} \"$OUT/mirror-$LOOP_CALL\"; date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "2"]).exits(6);
    let during: Value = serde_json::from_str(&sandbox.notes("mirror-1").join("\n")).expect("JSON");
    for (field, value) in [
        ("designFile", Value::from("DESIGN-1.md")),
        ("currentIteration", 0.into()),
        ("maxIterations", 2.into()),
        ("completionPromise", "BUG_FIXED".into()),
        ("status", "running".into()),
    ] {
        assert_eq!(during[field], value, "{field} of {during}");
    }
    let after: Value = serde_json::from_str(&sandbox.read(NAME)).expect("JSON");
    assert_eq!((&after["status"], &after["currentIteration"]), (&"max_iterations".into(), &2.into()));
    assert_eq!(after["validation"]["testsPass"], false);
    assert_eq!(after["validation"]["gitClean"], true);
    assert_eq!(after["filesModified"], serde_json::json!(["work"]));
}

#[test]
fn en03_a_deleted_mirror_is_restored_by_status() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"])
        .exits(6);
    let before = sandbox.read(NAME);
    std::fs::remove_file(sandbox.project.join(NAME)).expect("a mirror");
    sandbox.run(&["status"]).exits(0);
    assert_eq!(sandbox.read(NAME), before);
    sandbox.write(NAME, "{\"status\":\"completed\"}");
    sandbox.run(&["status"]).exits(0);
    assert_eq!(sandbox.read(NAME), before);
}

#[test]
fn g26_edits_of_the_mirror_decide_nothing() {
    let sandbox = Sandbox::new();
    let forged = "{\"status\":\"completed\",\"currentIteration\":0,\"maxIterations\":9999,\
                  \"completionPromise\":\"anything\",\"validation\":{\"testsPass\":true,\"buildSucceeds\":true,\"gitClean\":true}}";
    std::fs::write(sandbox.note("forged"), forged).expect("a file");
    let agent = sandbox.agent(&format!(
        "cp \"$OUT/forged\" {NAME}; date +%N > work; {COMMIT}; echo '<promise>anything</promise>'"
    ));
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "3"])
        .exits(6);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    let state: Value = serde_json::from_str(&sandbox.read(NAME)).expect("JSON");
    assert_eq!((&state["status"], &state["maxIterations"]), (&"max_iterations".into(), &3.into()));
    sandbox.write(NAME, forged);
    sandbox.run(&["run", "it"]).exits(6);
    assert_eq!(sandbox.status()["status"], "capped");
}

#[test]
fn mirror_the_mirror_is_gone_at_the_end_and_never_committed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("ls {NAME} > \"$OUT/there\"; echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
    assert_eq!(sandbox.notes("there"), [NAME]);
    assert!(!sandbox.project.join(NAME).exists());
    assert_eq!(sandbox.git(&["log", "--all", "--format=", "--name-only", "--", NAME]), "");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["show", "--format=", "--name-only", "HEAD"]).trim(), "work");
}

/// A link in the mirror's place is replaced, and what it points at stays as it is.
#[test]
fn g35_a_link_in_the_mirrors_place_is_not_followed() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.note("precious"), "mine").expect("a file");
    let agent = sandbox.agent(&format!(
        "rm -f {NAME}; ln -s \"$OUT/precious\" {NAME}; date +%N > work; git add work; git commit -qm x; {PROMISE}"
    ));
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "2"])
        .exits(6);
    assert_eq!(sandbox.notes("precious"), ["mine"]);
    assert!(sandbox.project.join(NAME).symlink_metadata().expect("a mirror").is_file());
}
