//! `LOOP-STATE.md`: who may say what in it.

use super::project::{HONEST, Project};
use serde_json::json;

#[test]
fn lp19_stopping_in_the_file_stops_after_the_iteration() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && sed -i 's/^Status: .*/Status: stopping/' .planning/LOOP-STATE.md\n{HONEST}"
    );
    project.run(&script, &[]).exits(5);
    assert_eq!((project.sandbox.calls().len(), &project.status()["status"]), (2, &json!("stopped")));
    assert!(
        project.loop_state().contains("Status: stopped\n") && project.loop_state().contains("Iteration: 2\n")
    );
    project.run(HONEST, &[]).exits(0);
    assert!(project.loop_state().contains("Iteration: 7\n"));
}

#[test]
fn other_edits_are_undone_and_told_of() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && sed -i 's/^Status: .*/Status: complete/; s/^Iteration: .*/Iteration: 49/' .planning/LOOP-STATE.md\n[ \"$LOOP_CALL\" = 3 ] && rm .planning/LOOP-STATE.md\n{HONEST}"
    );
    project.run(&script, &[]).exits(0);
    let warnings = project.status()["warnings"].to_string();
    assert!(
        warnings.contains("LOOP-STATE.md was changed") && warnings.contains("LOOP-STATE.md was removed"),
        "{warnings}"
    );
    assert!(project.loop_state().contains("Iteration: 7\n"));
}

#[test]
fn lp36_the_status_has_plans_tasks_and_the_last_rows() {
    let project = Project::new();
    project.run(HONEST, &["--max", "4"]).exits(6);
    let status = project.sandbox.run(&["status"]).exits(0).out;
    for line in [
        "plans       1/3 done",
        "tasks       4/7 done",
        "failures    0/3",
        "| 4 | 03-02 | Task 1: step 1 | done |",
        "1 issue",
    ] {
        assert!(status.contains(line), "{line}: {status}");
    }
    std::fs::remove_file(project.sandbox.project.join(".planning/LOOP-STATE.md")).expect("it was there");
    project.sandbox.run(&["status"]).exits(0);
    assert!(project.loop_state().contains("Status: max_reached\n"));
}

#[test]
fn lp21_a_stop_without_a_run_changes_nothing() {
    let project = Project::new();
    project.sandbox.run(&["stop"]).exits(0);
    assert!(!project.sandbox.project.join(".planning/LOOP-STATE.md").exists());
}
