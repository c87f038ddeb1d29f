//! A phase that a person's own session works on, by the stop hook: every stop is judged like a call, and
//! the session is handed its next task.

use super::project::{FOLDER, Project};
use loop_harness::program;
use serde_json::{Value, json};

/// The session stops with these words; what it is told, or nothing when it may go.
fn stop(project: &Project, active: bool, said: &str) -> Option<String> {
    let sandbox = &project.sandbox;
    sandbox.file("session.sh", format!("'{}' hook stop\n", program()));
    let input = json!({
        "session_id": "5e6a1c0f", "transcript_path": sandbox.path("none.jsonl"), "cwd": sandbox.project,
        "hook_event_name": "Stop", "stop_hook_active": active, "last_assistant_message": said,
    });
    let done = sandbox.finish(sandbox.furnished("sh", &["../session.sh"]), &input.to_string()).exits(0);
    if done.out.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&done.out).expect("one object");
    answer["reason"].as_str().map(str::to_owned)
}

fn signal(word: &str) -> String {
    format!("I worked.\n\n---\nEXIT_SIGNAL: {word}\nTASK: t\n---\n")
}

#[test]
fn a_session_is_handed_one_task_after_the_other() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.run(&["init", "3", "--hook"]).exits(0);
    let told = stop(&project, false, "What shall I do?").expect("the first task");
    assert!(told.contains("Task 1: step 1") && told.contains("03-01-PLAN.md"), "{told}");
    let told = stop(&project, true, &signal("TASK_COMPLETE")).expect("nothing was committed");
    assert!(told.contains("nothing was committed for this task"), "{told}");
    let tasks = ["03-01/1", "03-01/2", "03-01/3", "03-02/1", "03-02/2", "03-03/1", "03-03/2"];
    let mut told = told;
    for id in tasks {
        assert!(told.contains(id), "{id}: {told}");
        sandbox.write(&format!("{}.txt", id.replace('/', "_")), "x\n");
        sandbox.git(&["add", &format!("{}.txt", id.replace('/', "_"))]);
        sandbox.git(&["commit", "-qm", &format!("feat({id}): work")]);
        let is_last = matches!(id, "03-01/3" | "03-02/2" | "03-03/2");
        if is_last {
            sandbox.write(&format!("{FOLDER}/{}-SUMMARY.md", &id[..5]), "done\n");
        }
        told = stop(&project, true, &signal(if is_last { "PLAN_COMPLETE" } else { "TASK_COMPLETE" }))
            .expect("more to do");
    }
    assert!(told.contains("Verify phase 3"), "{told}");
    assert!(
        project.loop_state().contains("| 9 | 03-03 | Task 2: step 2 | done |"),
        "{}",
        project.loop_state()
    );
    sandbox.write(
        &format!("{FOLDER}/03-VERIFICATION.md"),
        "---\nverified: 2026-11-16T10:00:00Z\nstatus: passed\n---\n\n# Report\n",
    );
    let mut last = stop(&project, true, "## Verification Complete");
    // A proof that takes longer than a hook may is waited for.
    while last.as_ref().is_some_and(|it| it.contains("being proven")) {
        sandbox.run(&["wait"]);
        last = stop(&project, true, "I am done.");
    }
    assert_eq!(last, None);
    assert_eq!(project.status()["status"], json!("completed"));
    assert!(sandbox.read(".planning/ROADMAP.md").contains("[x] **Phase 3"));
}

/// A session has no controller that looks on: what is written into the file between two stops is found at the next.
#[test]
fn the_state_file_is_heard_in_a_session_too() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    project.config(r#"{"loop": {"stuck_threshold": 9, "validation_commands": ["sh test.sh"]}}"#);
    sandbox.run(&["init", "3", "--hook"]).exits(0);
    stop(&project, false, "What shall I do?").expect("the first task");
    let edited = project.loop_state().replace("\nIteration: 1\n", "\nIteration: 49\n");
    sandbox.write(".planning/LOOP-STATE.md", edited);
    stop(&project, true, "nothing yet").expect("more to do");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("LOOP-STATE.md was changed by somebody else"), "{warnings}");
    let edited = project.loop_state().replace("Status: running", "Status: stopping");
    sandbox.write(".planning/LOOP-STATE.md", edited);
    assert_eq!(stop(&project, true, "still nothing"), None, "the session may go");
    assert_eq!(project.status()["status"], json!("stopped"));
}
