//! `LOOP-STATE.md`: who may say what in it.

use super::project::{HONEST, Project};
use serde_json::json;

#[test]
fn lp19_stopping_in_the_file_stops_after_the_iteration() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && sed -i 's/^Status: .*/Status: stopping/' .planning/LOOP-STATE.md\n{HONEST}"
    );
    // Whoever wrote it: the log says that a call was running, and how to continue.
    project
        .run(&script, &[])
        .exits(5)
        .says("LOOP-STATE.md says stopping, edited during call 2: the run stops after this iteration; continue with: loop run 3");
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

/// Nobody wrote the file, so whoever drives the run next finds the edit, undoes it and writes that down.
/// A place where nothing can be written is told of once for each call, and the run goes on.
#[test]
fn a_file_that_cannot_be_written_again_is_told_of_once() {
    let project = Project::new();
    let script = "case $LOOP_CALL in\n\
        1) do_task; rm .planning/LOOP-STATE.md; mkdir -p .planning/LOOP-STATE.md/x; say TASK_COMPLETE;;\n\
        2) do_task; rm -r .planning; say TASK_COMPLETE;; *) echo nothing;; esac";
    project.run(script, &[]).exits(4);
    let log = project.sandbox.run(&["log", "-n", "1000"]).exits(0).out;
    let told = |call: u32| {
        let text = format!("LOOP-STATE.md was removed during call {call};");
        log.lines().filter(|it| it.contains(&text)).count()
    };
    assert_eq!((told(1), told(2)), (1, 1), "{log}");
    assert!(
        log.contains("nothing shows that 03-01/3 is met: Task 3: step 3 (taken out of its plan)"),
        "{log}"
    );
}

#[test]
fn an_edit_while_nothing_runs_is_undone_and_recorded() {
    let project = Project::new();
    let path = ".planning/LOOP-STATE.md";
    let warnings = || project.status()["warnings"].to_string();
    project.run(HONEST, &["--max", "1"]).exits(6);
    let first = project.loop_state();
    project.run(HONEST, &["--max", "2"]).exits(6);
    // What a crash leaves: the file is one of ours and only late.
    project.sandbox.write(path, &first);
    project.sandbox.run(&["status"]).exits(0);
    assert!(project.loop_state().contains("Iteration: 2\n"), "{}", project.loop_state());
    project.sandbox.write(path, &first);
    project.run(HONEST, &["--max", "3"]).exits(6);
    assert!(!warnings().contains("LOOP-STATE.md"), "{}", warnings());
    let edited = project.loop_state().replace("Iteration: 3", "Iteration: 49");
    project.sandbox.write(path, &edited);
    let status = project.sandbox.run(&["status"]).exits(0).out;
    assert!(status.contains("LOOP-STATE.md was changed by somebody else; the next loop run"), "{status}");
    assert_eq!(project.loop_state(), edited, "whoever looks changes nothing");
    project.run(HONEST, &["--max", "4"]).exits(6).says("LOOP-STATE.md was changed by somebody else while");
    assert!(project.loop_state().contains("Iteration: 4\n"), "{}", project.loop_state());
    assert!(warnings().contains("changed by somebody else while nothing was running"), "{}", warnings());
    // The word to continue is taken, and what else was written beside it is not.
    let more = project
        .loop_state()
        .replace("Status: max_reached", "Status: running")
        .replace("Phase: 3", "Phase: 9");
    project.sandbox.write(path, more);
    project
        .run("printf -- '---\\nEXIT_SIGNAL: STUCK: no\\n---\\n'", &[])
        .exits(4)
        .says("only its status running was applied");
    assert!(
        project.loop_state().contains("Phase: 3\nStatus: stuck\nIteration: 5\n"),
        "{}",
        project.loop_state()
    );
}

#[test]
fn a_command_that_ends_a_run_records_what_was_done_to_its_file() {
    let project = Project::new();
    project.run(HONEST, &["--max", "1"]).exits(6);
    let edited = project.loop_state().replace("Iteration: 1", "Iteration: 49");
    project.sandbox.write(".planning/LOOP-STATE.md", edited);
    project.sandbox.run(&["cancel", "--yes"]).exits(0);
    let status = project.status();
    assert!(status["warnings"].to_string().contains("changed by somebody else while"), "{status}");
    assert!(project.loop_state().contains("Status: stopped\nIteration: 1\n"), "{}", project.loop_state());
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

/// Nothing runs that could stop, and starting clears the wish.
#[test]
fn stopping_in_the_file_of_a_run_that_rests_stops_nothing() {
    let project = Project::new();
    project.run(HONEST, &["--max", "1"]).exits(6);
    let edited = project.loop_state().replace("Status: max_reached", "Status: stopping");
    project.sandbox.write(".planning/LOOP-STATE.md", edited);
    let done = project.run(HONEST, &["--max", "9"]).exits(0);
    assert!(done.err.contains("said stopping while nothing was running"), "{}", done.err);
}

/// The file then is what it was before the run came to rest, and a person's word all the same.
#[test]
fn running_alone_in_the_file_of_a_capped_run_continues_it() {
    let project = Project::new();
    project.run(HONEST, &["--max", "4"]).exits(6);
    let edited = project.loop_state().replace("Status: max_reached", "Status: running");
    project.sandbox.write(".planning/LOOP-STATE.md", edited);
    project.sandbox.run(&["status"]).exits(0).says("LOOP-STATE.md says running; loop run applies it");
    project.run(HONEST, &[]).exits(0);
    assert!(project.loop_state().contains("Iteration: 7\nMax iterations: 8\n"), "{}", project.loop_state());
}
