//! One task after the other, and what a claim has to bring.

use super::project::{FOLDER, HONEST, Project};
use serde_json::json;

#[test]
fn a_phase_of_seven_tasks_is_worked_through_verified_and_closed() {
    let project = Project::new();
    let done = project.run(HONEST, &[]).exits(0);
    let subjects = project.sandbox.subjects();
    let tasks: Vec<&String> = subjects.iter().filter(|it| it.starts_with("feat(")).collect();
    let expected = ["03-01/1", "03-01/2", "03-01/3", "03-02/1", "03-02/2", "03-03/1", "03-03/2"];
    assert_eq!(tasks.len(), expected.len(), "{subjects:?}");
    assert!(tasks.iter().zip(expected).all(|(it, id)| it.contains(id)), "{tasks:?}");
    let status = project.status();
    assert_eq!(
        (&status["status"], &status["verified"], &status["iterations_total"]),
        (&json!("completed"), &json!(true), &json!(8))
    );
    // LP-40: one line an iteration, with number, task, signal and hash.
    let hash = project.sandbox.git(&["log", "--format=%h", "--abbrev=7", "--grep", "feat(03-01/3)"]);
    let line = format!("Iteration 3: Task 3: step 3 — PLAN_COMPLETE [{}]", hash.trim());
    assert!(done.err.contains(&line), "{}", done.err);
    // LP-07: the plan in force stands in the prompt, and the commands that validate it.
    let prompt = project.sandbox.prompt(4);
    assert!(
        prompt.contains("03-02-PLAN.md")
            && prompt.contains("depends_on: [\"03-01\"]")
            && prompt.contains("`sh test.sh`"),
        "{prompt}"
    );
    assert!(prompt.contains("### .planning/LOOP-STATE.md") && prompt.contains("Iteration: 3\n"), "{prompt}");
    let ended = project.sandbox.events().into_iter().find(|it| it["kind"] == "ended").expect("a call");
    assert_eq!(ended["event"]["ended"]["context"]["hash"].as_str().map(str::len), Some(64));
}

/// No commit, a wrong hash, failing validation, a commit of nothing but bookkeeping, ticked boxes, a
/// requirement that was deleted from its file, and an old verification file.
#[test]
fn lies_are_found_one_by_one() {
    let project = Project::new();
    project.config(r#"{"loop": {"stuck_threshold": 9, "validation_commands": ["sh test.sh"]}}"#);
    project.sandbox.write(
        &format!("{FOLDER}/03-VERIFICATION.md"),
        "---\nverified: 2026-12-31T00:00:00Z\nstatus: passed\n---\n",
    );
    project.sandbox.commit("an old report");
    let liar = r#"
case $LOOP_PHASE in
EXECUTE) case $LOOP_CALL in
  1) say TASK_COMPLETE;;
  2) do_task; printf -- '---\nEXIT_SIGNAL: TASK_COMPLETE\nCOMMIT: deadbee\n---\n';;
  3) touch broken; git add broken; git commit -qm break; say TASK_COMPLETE;;
  4) rm broken; git rm -q --cached broken
     sed -i 's/, AUTH-02//' .planning/ROADMAP.md; sed -i '/AUTH-02/d' .planning/REQUIREMENTS.md
     printf '\n## Tasks\n- [x] Task 1: step 1\n- [x] Task 2: step 2\n- [x] Task 3: step 3\n' >> $folder/03-01-PLAN.md
     git reset -q; git add .planning; git commit -qm 'docs: all done'; say TASK_COMPLETE;;
  5) do_task; summary; git add -A; git commit -qm 'x'; rm $folder/03-01-SUMMARY.md; say PLAN_COMPLETE;;
  *) git rm -qf --ignore-unmatch broken; honest;;
  esac;;
VERIFY) case $(ls "$OUT"/verified-* 2>/dev/null | wc -l) in
  0) touch "$OUT/verified-1"; echo 'everything is fine';;
  *) touch "$OUT/verified-$LOOP_CALL"; report passed 'truths:
  - {id: AUTH-01, status: verified, evidence: a look}
  - {id: SC-1, status: verified}
  - {id: SC-2, status: verified}';;
  esac;;
esac"#;
    let done = project.run(liar, &[]).exits(4);
    assert!(
        project.sandbox.prompt(2).contains("nothing was committed in this iteration"),
        "{}",
        project.sandbox.prompt(2)
    );
    assert!(project.sandbox.prompt(2).contains("I worked."), "the end of the last message");
    assert!(project.sandbox.prompt(3).contains("deadbee"), "{}", project.sandbox.prompt(3));
    assert!(project.sandbox.prompt(4).contains("not ok 1 - login works"), "{}", project.sandbox.prompt(4));
    assert!(
        project.sandbox.prompt(5).contains("nothing was committed in this iteration"),
        "{}",
        project.sandbox.prompt(5)
    );
    assert!(project.sandbox.prompt(6).contains("the plan has no summary"), "{}", project.sandbox.prompt(6));
    // Ticks that somebody made are no tasks done: each had an iteration of its own.
    assert_eq!(project.status()["iterations_total"], 5 + 7 + 2);
    assert!(done.err.contains("VERIFY") && done.err.contains("AUTH-02"), "{}", done.err);
    assert_eq!(project.row("AUTH-02")["by"], json!(null), "the row stays although its file lost it");
    assert!(project.sandbox.prompt(13).contains("AUTH-02"), "the verifier is asked about it");
    project.sandbox.run(&["waive", "AUTH-02", "--reason", "moved to phase 10"]).exits(0);
    project.sandbox.run(&["resume", "--reset"]).exits(0);
    assert_eq!(
        (&project.row("AUTH-02")["by"], &project.row("SC-2")["by"]),
        (&json!("person"), &json!("verifier"))
    );
    let measured = project.row("SC-1");
    assert_eq!(
        (&measured["by"], &measured["evidence"], &measured["standing"]),
        (&json!("measured"), &json!("login works"), &json!("verified"))
    );
    project.sandbox.run(&["show", "--requirements"]).exits(0).says("login works");
}

/// The commit of another task written anew, an empty one, and one that is taken back: nothing was done.
#[test]
fn lp15_commits_that_leave_everything_as_it_was_are_none() {
    let project = Project::new();
    let script = r#"case $LOOP_PHASE in EXECUTE) case $LOOP_CALL in
      2) git commit -q --amend -m "feat($LOOP_ITEM): another name"; say TASK_COMPLETE;;
      3) git commit -q --allow-empty -m "feat($LOOP_ITEM): nothing"; do_task; git revert --no-edit HEAD > /dev/null; say TASK_COMPLETE;;
      *) honest;; esac;; VERIFY) report passed 'score: 1';; esac"#;
    project.run(script, &[]).exits(0);
    for call in [3, 4] {
        let prompt = project.sandbox.prompt(call);
        assert!(prompt.contains("nothing was committed in this iteration"), "call {call}: {prompt}");
    }
    assert_eq!(project.sandbox.calls().len(), 10, "two of them for nothing");
}

/// The words that end a report stand in a prompt once, with the number of this iteration.
#[test]
fn a_prompt_says_once_how_to_end() {
    let project = Project::new();
    project.run("echo nothing", &[]).exits(4);
    let prompt = project.sandbox.prompt(2);
    assert_eq!(prompt.matches("\nEXIT_SIGNAL: ").count(), 1, "{prompt}");
    assert!(prompt.contains("ITERATION: 2\n"), "{prompt}");
    assert!(
        prompt.contains("- the agent's final message has no readable EXIT_SIGNAL block")
            && !prompt.contains("one of these must change"),
        "{prompt}"
    );
    let alone = Project::new();
    alone.run("case $LOOP_PHASE in EXECUTE) honest;; VERIFY) exit 0;; esac", &[]).exits(4);
    assert!(
        alone.sandbox.prompt(8).contains(".planning/phases/03-accounts/*-VERIFICATION.md"),
        "where to write"
    );
}

#[test]
fn lp10_stuck_halts_at_once_and_says_what_to_do() {
    let project = Project::new();
    let done = project.run("printf -- '---\\nEXIT_SIGNAL: STUCK: db: no schema\\n---\\n'", &[]).exits(4);
    let state = project.loop_state();
    assert!(state.contains("Status: stuck\n") && state.contains("Stuck reason: db: no schema\n"), "{state}");
    assert!(state.contains("Consecutive failures: 0\n"), "{state}");
    let end = &done.err[done.err.find("halted: ").expect("the end")..];
    assert!(end.starts_with("halted: EXECUTE is stuck: db: no schema\n"), "the cause comes first: {end}");
    assert!(end.contains("the socket is slow") && end.contains(".planning/LOOP-STATE.md"), "{end}");
    for step in [
        "1. read the reason",
        "2. see whether",
        "3. fix the cause",
        "4. reset: loop answer reset",
        "5. continue: loop run 3",
    ] {
        assert!(end.contains(step), "{step}: {end}");
    }
    assert!(end.lines().count() <= 20 && end.ends_with("next: loop answer reset\n"), "{end}");
    assert_eq!(project.sandbox.calls(), [1]);
}

#[test]
fn lp11_three_calls_without_a_signal_are_stuck_and_a_person_may_say_running() {
    let project = Project::new();
    project.run("echo I did a lot", &[]).exits(4);
    assert_eq!(project.sandbox.calls(), [1, 2, 3]);
    assert!(project.sandbox.prompt(2).contains("I did a lot"));
    assert!(
        project.sandbox.prompt(2).contains("had no readable report"),
        "LP-41: {}",
        project.sandbox.prompt(2)
    );
    let state = project.loop_state();
    assert!(state.contains("Consecutive failures: 3\n") && state.contains("Iteration: 3\n"), "{state}");
    project.run(HONEST, &[]).exits(4);
    project.sandbox.write(".planning/LOOP-STATE.md", state.replace("Status: stuck", "Status: running"));
    project.sandbox.run(&["status"]).exits(0);
    let done = project.run(HONEST, &[]).exits(0).says("says running");
    assert!(
        done.err.contains("Iteration 4: ") && done.err.contains("complete in 10 iterations"),
        "{}",
        done.err
    );
    assert!(project.loop_state().contains("Iteration: 10\nMax iterations: 53\n"), "{}", project.loop_state());
    assert!(project.sandbox.prompt(4).contains("ITERATION: 4\n"), "{}", project.sandbox.prompt(4));
}

#[test]
fn lp18_the_cap_names_what_is_left_and_a_phase_done_by_the_last_iteration_is_verified() {
    let project = Project::new();
    let done = project.run(HONEST, &["--max", "3"]).exits(6);
    assert!(project.loop_state().contains("Status: max_reached\n"));
    assert!(done.err.contains("open in 03-02: Task 1: step 1; Task 2: step 2"), "{}", done.err);
    assert_eq!(project.sandbox.calls().len(), 3);
    project.run(HONEST, &["--max", "7"]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 8);
}

#[test]
fn a_plan_that_is_called_complete_is_done_with_a_warning() {
    let project = Project::new();
    let all = "case $LOOP_PHASE in EXECUTE) do_task; cp 03*_*.txt 03-01_1.txt 2>/dev/null; summary; say PLAN_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
    project.run(all, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 4);
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("03-01/2, 03-01/3"), "{warnings}");
}

#[test]
fn lp17_a_phase_that_is_called_complete_too_early_goes_on_with_a_warning() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) if [ \"$LOOP_CALL\" = 1 ]; then do_task; say PHASE_COMPLETE; else honest; fi;; VERIFY) report passed 'score: 1';; esac";
    project.run(script, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 8, "every task had its own call");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("PHASE_COMPLETE"), "{warnings}");
}

#[test]
fn lp22_after_a_stop_it_goes_on_and_fresh_begins_again() {
    let project = Project::new();
    project.run(HONEST, &["--max", "2"]).exits(6);
    project.run(HONEST, &["--max", "3"]).exits(6);
    assert!(project.sandbox.prompt(3).contains("Iteration: 2\n"), "{}", project.sandbox.prompt(3));
    project.run(HONEST, &["--fresh", "--max", "1"]).exits(6);
    assert!(project.sandbox.prompt(1).contains("Iteration: 0\n"), "{}", project.sandbox.prompt(1));
    let state = project.loop_state();
    assert!(state.contains("Iteration: 1\n") && !state.contains("| 3 |"), "{state}");
}
