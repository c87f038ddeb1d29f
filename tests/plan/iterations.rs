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
        project.sandbox.prompt(2).contains("nothing was committed for this task"),
        "{}",
        project.sandbox.prompt(2)
    );
    assert!(project.sandbox.prompt(2).contains("I worked."), "the end of the last message");
    assert!(project.sandbox.prompt(3).contains("deadbee"), "{}", project.sandbox.prompt(3));
    assert!(project.sandbox.prompt(4).contains("not ok 1 - login works"), "{}", project.sandbox.prompt(4));
    assert!(project.sandbox.prompt(5).contains("uncommitted: broken"), "{}", project.sandbox.prompt(5));
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
    assert_eq!(measured["task"], json!("03-01/1"), "the task whose work turned the test green: {measured}");
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
        assert!(prompt.contains("nothing was committed for this task"), "call {call}: {prompt}");
    }
    assert_eq!(project.sandbox.calls().len(), 10, "two of them for nothing");
}

/// A call that forgot its signal, failed its validation, was killed, or had its commit written anew leaves nothing
/// to commit to the next one; the commit of another task and one that was taken back do not count.
#[test]
fn lp15_a_task_is_complete_with_the_commit_of_an_earlier_call() {
    let project = Project::new();
    project.config(r#"{"loop": {"stuck_threshold": 9, "validation_commands": ["sh test.sh"]}}"#);
    let script = r#"case $LOOP_PHASE in EXECUTE) case $LOOP_CALL in
      1) do_task;;
      2) say TASK_COMPLETE;;
      3) do_task; touch broken; say TASK_COMPLETE;;
      4) rm broken; echo x > .planning/NOTES.md; git add .planning/NOTES.md; git commit -qm notes; say TASK_COMPLETE;;
      5) say TASK_COMPLETE;;
      6) do_task; kill -9 $$;;
      7) summary; say PLAN_COMPLETE;;
      8) do_task;;
      9) git revert --no-edit HEAD > /dev/null; say TASK_COMPLETE;;
      10) do_task; git commit -q --amend -m "feat($LOOP_ITEM): work";;
      11) git commit -q --amend -m "feat($LOOP_ITEM): a better name"; say TASK_COMPLETE;;
      *) honest;; esac;; VERIFY) report passed 'score: 1';; esac"#;
    let done = project.run(script, &[]).exits(0);
    let hash = |subject: &str| {
        project.sandbox.git(&["log", "--format=%h", "--abbrev=7", "--grep", subject]).trim().to_owned()
    };
    let (first, second) = (hash("feat(03-01/1)"), hash("feat(03-01/2)"));
    for line in [
        format!("Iteration 1: Task 1: step 1 — no signal [{first}]"),
        format!("Iteration 2: Task 1: step 1 — TASK_COMPLETE [{first}]"),
        format!("Iteration 3: Task 2: step 2 — TASK_COMPLETE, not confirmed [{second}]"),
        // The last commit is one of notes; the task is known by its own.
        format!("Iteration 4: Task 2: step 2 — TASK_COMPLETE [{second}]"),
        "Iteration 5: Task 3: step 3 — TASK_COMPLETE, not confirmed [no commit]".to_owned(),
        format!("Iteration 6: Task 3: step 3 — PLAN_COMPLETE [{}]", hash("feat(03-01/3)")),
        format!("Iteration 10: Task 1: step 1 — TASK_COMPLETE [{}]", hash("a better name")),
    ] {
        assert!(done.err.contains(&line), "{line}: {}", done.err);
    }
    for call in [6, 10] {
        let prompt = project.sandbox.prompt(call);
        assert!(prompt.contains("nothing was committed for this task"), "call {call}: {prompt}");
    }
    assert!(project.loop_state().contains(&format!("| Task 2: step 2 | done | {second} |")));
    // The task that turned the test green; the second one broke and repaired it, the third one showed nothing.
    assert_eq!(project.row("AUTH-01")["commit"].as_str().map(|it| &it[..7]), Some(&first[..]));
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
    let all = "case $LOOP_PHASE in EXECUTE) do_task; cp 03*_*.txt 03-01_1.txt 2>/dev/null; summary; say PLAN_COMPLETE;;
        VERIFY) case $LOOP_CALL in
          4) report passed 'truths:\n  - {id: AUTH-01, status: verified}\n  - {id: AUTH-02, status: verified}\n  - {id: SC-1, status: verified}\n  - {id: SC-2, status: verified}';;
          *) report passed 'score: 1';;
        esac;; esac";
    project.run(all, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 5, "three plans, and two verifications");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("03-01/2, 03-01/3"), "{warnings}");
    // Nobody worked on those tasks, so the verifier has to answer for them.
    let asked = project.sandbox.prompt(4);
    assert!(
        asked
            .contains("| 03-01/2 | called complete together with 03-01/1, without an iteration of its own |")
    );
    assert!(
        project.sandbox.prompt(5).contains("nothing shows that 03-01/2 is met"),
        "{}",
        project.sandbox.prompt(5)
    );
    assert_eq!(project.row("03-03/2")["by"], json!("verifier"));

    // Summaries that are written ahead are no work either.
    let project = Project::new();
    let ahead = "case $LOOP_PHASE in EXECUTE) case $LOOP_CALL in\n\
        1) do_task; for i in 1 2 3; do echo x > $folder/03-0$i-SUMMARY.md; done; say TASK_COMPLETE;; *) say PLAN_COMPLETE;; esac;; VERIFY) report gaps_found '';; esac";
    project.run(ahead, &[]).exits(4);
    let told = project.sandbox.run(&["show", "--requirements"]).exits(0).out;
    for row in [
        "| 03-01/2 | called complete without a commit",
        "| 03-02/1 | called complete without a commit",
        "| 03-02/2 | called complete together",
    ] {
        assert!(told.contains(row), "{row}: {told}");
    }
    assert!(!told.contains("\n| 03-01/1 |"), "{told}");
}

#[test]
fn lp17_a_phase_that_is_called_complete_too_early_goes_on_with_a_warning() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) if [ \"$LOOP_CALL\" = 1 ]; then do_task; say PHASE_COMPLETE; else honest; fi;; VERIFY) report passed 'score: 1';; esac";
    let done = project.run(script, &[]).exits(0);
    assert!(done.err.contains("step 1 — PHASE_COMPLETE, but 6 tasks left ["), "{}", done.err);
    assert!(project.sandbox.prompt(2).contains("the agent said PHASE_COMPLETE; still to do: 6 tasks"));
    assert!(!project.sandbox.prompt(3).contains("the agent said PHASE_COMPLETE"), "it is told once");
    let prompt = project.sandbox.prompt(2);
    assert!(
        prompt.contains("## Result of the last iteration (EXECUTE)\n"),
        "one count, of the run: {prompt}"
    );
    assert!(prompt.contains("`{type}(03-01): description`"), "the convention is filled in: {prompt}");
    assert_eq!(project.sandbox.calls().len(), 8, "every task had its own call");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("PHASE_COMPLETE"), "{warnings}");
}

#[test]
fn lp22_after_a_stop_it_goes_on_and_fresh_begins_again() {
    let project = Project::new();
    project.run(HONEST, &["--max", "2"]).exits(6);
    let done = project.run(HONEST, &["--max", "3"]).exits(6);
    assert!(done.err.contains("EXECUTE, Task 3: step 3: call 3 begins"), "{}", done.err);
    let status = project.sandbox.run(&["status"]).exits(0).says("[EXECUTE] iteration 3 |").out;
    assert!(status.contains("EXECUTE, 3/3 iterations, 3 calls"), "{status}");
    assert!(project.sandbox.prompt(3).contains("Iteration: 2\n"), "{}", project.sandbox.prompt(3));
    project.run(HONEST, &["--fresh", "--max", "1"]).exits(6);
    assert!(project.sandbox.prompt(1).contains("Iteration: 0\n"), "{}", project.sandbox.prompt(1));
    let state = project.loop_state();
    assert!(state.contains("Iteration: 1\n") && !state.contains("| 3 |"), "{state}");
}
