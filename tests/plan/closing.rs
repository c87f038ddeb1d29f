//! Verifying, closing gaps, people, and the end of a phase.

use super::project::{FOLDER, HONEST, Project, plan_text};
use serde_json::json;

const GAPS: &str = "report gaps_found 'gaps:\n  - truth: \"People can log out\"\n    status: failed'";

#[test]
fn lp23_a_phase_that_passed_is_ticked_and_the_position_moves_on() {
    let project = Project::new();
    let done = project.run(HONEST, &[]).exits(0);
    let roadmap = project.sandbox.read(".planning/ROADMAP.md");
    assert!(
        roadmap.contains("- [x] **Phase 3: Accounts** - people have accounts (completed 20"),
        "{roadmap}"
    );
    assert!(project.sandbox.read(".planning/STATE.md").contains("Phase: 10 of 10 (Far)"));
    assert!(project.loop_state().contains("Status: complete\n"));
    assert_eq!(
        project.sandbox.subjects().last().map(String::as_str),
        Some("docs(3): complete phase via loop")
    );
    let message = project.sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.contains("Loop iterations: 7")
            && message.contains("Verification: passed")
            && !message.contains("Co-Authored"),
        "{message}"
    );
    assert_eq!(project.sandbox.git(&["status", "--porcelain"]), "");
    assert!(done.err.contains("next: loop run 10"), "{}", done.err);
}

/// The commit that ends the run takes no document of the project away.
#[test]
fn documents_that_an_agent_removes_are_back_at_the_end() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) rm .planning/ROADMAP.md .planning/STATE.md; report passed 'score: 1';; esac";
    project.run(script, &[]).exits(0).says("next: loop run 10");
    assert!(project.sandbox.read(".planning/ROADMAP.md").contains("- [x] **Phase 3: Accounts**"));
    assert!(project.sandbox.read(".planning/STATE.md").contains("Phase: 10 of 10 (Far)"));
    assert_eq!(project.sandbox.git(&["status", "--porcelain"]), "");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("SC-1 (People can log in)"), "{warnings}");
}

/// Nobody looks for the removal of other documents in the commit of a controller.
#[test]
fn documents_that_are_removed_are_not_committed_as_removed() {
    let project = Project::new();
    project.sandbox.write(".planning/phases/10-far/10-01-PLAN.md", "later\n");
    project.sandbox.commit("a later phase");
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) git rm -qr .planning/phases/10-far; rm .planning/REQUIREMENTS.md; report passed 'score: 1';; esac";
    let done = project.run(script, &[]).exits(0);
    let says = "2 files below .planning/ removed in this run and not committed as removed: .planning/REQUIREMENTS.md, .planning/phases/10-far/10-01-PLAN.md; git checkout HEAD -- FILE brings one back";
    assert!(done.err.contains(says), "{}", done.err);
    let kept = project.sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD", ".planning"]);
    assert!(kept.contains("10-01-PLAN.md") && kept.contains("REQUIREMENTS.md"), "{kept}");
    assert!(kept.contains("03-VERIFICATION.md"), "{kept}");
}

#[test]
fn lp24_documents_stay_uncommitted_where_that_is_wanted() {
    let project = Project::new();
    project
        .config(r#"{"planning": {"commit_docs": false}, "loop": {"validation_commands": ["sh test.sh"]}}"#);
    project.run(HONEST, &[]).exits(0);
    assert!(project.sandbox.subjects().last().is_some_and(|it| it.starts_with("feat(")));
    let ignored = Project::new();
    ignored.sandbox.git(&["rm", "-rq", "--cached", ".planning"]);
    ignored.sandbox.write(".gitignore", ".planning/\n");
    ignored.sandbox.git(&["add", ".gitignore"]);
    ignored.sandbox.git(&["commit", "-qm", "ignore the plans"]);
    ignored.run(HONEST, &[]).exits(0);
    assert!(ignored.sandbox.subjects().last().is_some_and(|it| it.starts_with("feat(")));
    assert!(ignored.sandbox.read(".planning/ROADMAP.md").contains("[x] **Phase 3"));
}

#[test]
fn lp25_gaps_become_plans_and_the_loop_goes_on() {
    let project = Project::new();
    let gap = plan_text(3, "gap_closure: true\nmust_haves:\n  truths:\n    - \"People can log out\"", 1);
    project.sandbox.file("gap.md", &gap);
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-04/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n\
         VERIFY) if [ -f 03-04_1.txt ]; then report passed 'score: 4/4'; else {GAPS}; fi;;\n\
         CLOSE_GAPS) cp '{}' $folder/03-04-PLAN.md;; esac",
        project.sandbox.path("gap.md").display()
    );
    let done = project.run(&script, &[]).exits(0);
    assert!(done.err.contains("Gap closure cycle 1: 1 plan created"), "{}", done.err);
    assert!(
        project.sandbox.prompt(9).contains("People can log out"),
        "the report is in the planner's prompt"
    );
}

#[test]
fn lp27_plans_that_close_no_gap_are_none_and_gaps_that_stay_are_stuck() {
    for (head, tasks, name, why) in [
        ("gap_closure: true\nt: People can log out", 3, "03-04", "it has 3 tasks"),
        ("t: People can log out", 1, "03-04", "gap_closure: true"),
        ("gap_closure: true", 1, "03-04", "names none of the gaps"),
        ("gap_closure: true\nt: People can log out", 1, "03-00", "does not follow the highest"),
    ] {
        let project = Project::new();
        project.sandbox.file("gap.md", plan_text(3, head, tasks));
        let script = format!(
            "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) {GAPS};; CLOSE_GAPS) cp '{}' $folder/{name}-PLAN.md;; esac",
            project.sandbox.path("gap.md").display()
        );
        let done = project.run(&script, &[]).exits(4).says("planner produced no plans");
        assert!(done.err.contains(why) || done.out.contains(why), "{why}: {}\n{}", done.err, done.out);
    }
    let project = Project::new();
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-0[45]/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n VERIFY) {GAPS};;\n\
         CLOSE_GAPS) n=4; [ -f $folder/03-04-PLAN.md ] && n=5; printf -- '---\\ngap_closure: true\\nt: People can log out\\n---\\n<task><name>x</name></task>\\n' > $folder/03-0$n-PLAN.md;; esac"
    );
    project.run(&script, &[]).exits(4).says("Persistent gaps after 2 closure cycles");
    assert!(project.loop_state().contains("Gap closure cycle: 2\n"));
}

/// A plan that does not count stays where it is, and nobody works on it; one that cannot be read stops nothing.
#[test]
fn lp27_a_plan_that_does_not_count_is_not_worked_on_beside_one_that_does() {
    let project = Project::new();
    for (name, head, tasks) in [
        ("good", "gap_closure: true\nt: People can log out", 1),
        ("long", "gap_closure: true\nt: People can log out", 3),
        ("other", "gap_closure: true\nt: Something else", 1),
        ("broken", "gap_closure: [\nt: People can log out", 1),
    ] {
        project.sandbox.file(&format!("{name}.md"), plan_text(3, head, tasks));
    }
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-04/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n\
         VERIFY) if [ -f 03-04_1.txt ]; then report passed 'score: 4/4'; else {GAPS}; fi;;\n\
         CLOSE_GAPS) cd '{}'; n=4; for it in good long other broken; do cp $it.md project/$folder/03-0$n-PLAN.md; n=$((n + 1)); done;; esac",
        project.sandbox.root().display()
    );
    let done = project.run(&script, &[]).exits(0).says("Gap closure cycle 1: 1 plan created");
    assert_eq!(
        project.sandbox.calls().len(),
        11,
        "seven tasks, one for the gap, verifier, planner, verifier"
    );
    for (name, why) in [("03-05", "it has 3 tasks"), ("03-06", "names none of the gaps"), ("03-07", "line 4")]
    {
        let warning = format!("{name}-PLAN.md is not worked on: ");
        let warnings = project.status()["warnings"].to_string();
        assert!(warnings.contains(&warning) && warnings.contains(why), "{name}: {warnings}\n{}", done.err);
        assert!(project.sandbox.project.join(format!("{FOLDER}/{name}-PLAN.md")).exists());
    }
    assert!(!project.sandbox.read(".planning/LOOP-STATE.md").contains("03-05"));
}

#[test]
fn lp28_what_only_a_person_can_judge_waits_or_is_left_open() {
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report human_needed 'human_verification:\n  - test: Look whether people can log out\n    expected: they can';; esac";
    let project = Project::new();
    project.run(script, &[]).exits(3).says("- Look whether people can log out; expected: they can");
    project.sandbox.run(&["approve", "human-verification", "--by", "Ada"]).exits(0);
    project.run(script, &[]).exits(0);
    assert_eq!((&project.row("SC-2")["by"], &project.status()["verified"]), (&json!("person"), &json!(true)));
    let alone = Project::new();
    alone.config(r#"{"autonomous": true, "loop": {"validation_commands": ["sh test.sh"]}}"#);
    alone.run(script, &[]).exits(0).says("Auto-decided: completed with notes");
    assert_eq!(
        (&alone.row("SC-2")["standing"], &alone.status()["verified"]),
        (&json!("open for a person"), &json!(false))
    );
    assert!(alone.sandbox.read(".planning/ROADMAP.md").contains("(notes)"));
    // A person who looks later closes the row, and nothing else of the run changes.
    alone.sandbox.run(&["waive", "AUTH-01", "--reason", "x"]).exits(2).says("the run is completed");
    alone.sandbox.run(&["waive", "SC-2", "--reason", "I looked at it", "--by", "Ada"]).exits(0);
    let row = alone.row("SC-2");
    assert_eq!((&row["by"], &row["evidence"]), (&json!("person"), &json!("waived: I looked at it")), "{row}");
    assert_eq!((&alone.status()["verified"], &alone.status()["status"]), (&json!(true), &json!("completed")));
}

/// What no row is named by is asked of a person too, and has a row to be closed by.
#[test]
fn lp28_what_names_no_row_gets_one() {
    let project = Project::new();
    project.config(r#"{"autonomous": true, "loop": {"validation_commands": ["sh test.sh"]}}"#);
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report human_needed 'human_verification:\n  - test: Look at the colours';; esac";
    let done = project.run(script, &[]).exits(0);
    let told = "open: HV-1 (loop show --requirements); once you have looked: loop waive HV-1 --reason TEXT";
    assert!(done.err.contains(told), "{}", done.err);
    assert_eq!(project.status()["verified"], json!(false));
    project.sandbox.run(&["waive", "HV-1", "--reason", "they are fine"]).exits(0);
    assert_eq!(project.status()["verified"], json!(true));
}

/// Code that only the working tree has is not part of what the phase delivers.
#[test]
fn code_left_uncommitted_keeps_the_phase_open() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) [ $LOOP_CALL = 1 ] && echo x > extra.txt; [ $LOOP_CALL = 2 ] && git add extra.txt; honest;; VERIFY) [ -f late.txt ] || echo x > late.txt; report passed 'score: 4/4';; esac";
    project.run(script, &[]).exits(4).says("uncommitted: late.txt");
    assert!(project.sandbox.prompt(2).contains("uncommitted: extra.txt"), "{}", project.sandbox.prompt(2));
    assert!(
        project.loop_state().contains("| 1 | 03-01 | Task 1: step 1 | failed |"),
        "{}",
        project.loop_state()
    );
    assert_eq!(project.sandbox.calls().len(), 10, "eight for seven tasks, and the verifier twice");
    project.sandbox.git(&["add", "late.txt"]);
    project.sandbox.git(&["commit", "-qm", "by a person"]);
    project.sandbox.run(&["answer", "reset"]).exits(0);
    project.run(script, &[]).exits(0);
    assert_eq!(project.sandbox.git(&["status", "--porcelain"]), "");
}

/// Somebody has to answer for each row: a skipped verification answers for none.
#[test]
fn a_verification_with_open_rows_cannot_be_skipped() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report passed 'truths:\n  - {id: AUTH-01, status: verified}\n  - {id: SC-2, status: verified}';; esac";
    project.run(script, &[]).exits(4).says("nothing shows that AUTH-02 is met");
    project.sandbox.run(&["answer"]).exits(0).says("first waive AUTH-02");
    let refused = "VERIFY cannot be skipped while nothing shows that AUTH-02 is met; waive each of them first: loop waive AUTH-02 --reason TEXT";
    project.sandbox.run(&["answer", "skip"]).exits(2).says(refused);
    project.sandbox.run(&["waive", "AUTH-02", "--reason", "moved to phase 4"]).exits(0);
    project.sandbox.run(&["answer", "skip"]).exits(0);
    project.run(script, &[]).exits(0);
    assert_eq!(
        (&project.row("AUTH-02")["by"], &project.status()["verified"]),
        (&json!("person"), &json!(false))
    );
}

/// A task that is skipped is done; the phase continues with the next one.
#[test]
fn skipping_a_task_continues_with_the_next_one() {
    let project = Project::new();
    // It closes no other task, whatever the agent said of the plan.
    project.run("say PLAN_COMPLETE", &[]).exits(4);
    let does = "accept Task 1: step 1 as it is, then continue with the next task; the run is unverified";
    project.sandbox.run(&["answer"]).exits(0).says(does);
    project.sandbox.run(&["answer", "skip"]).exits(0);
    project.run("do_task; exit 1", &["--max", "4"]);
    let last = project.sandbox.prompt(4);
    assert!(
        last.contains("Task 2: step 2") && project.sandbox.path("project/03-01_2.txt").exists(),
        "{last}"
    );

    let project = Project::new();
    project.sandbox.write(&format!("{FOLDER}/03-01-PLAN.md"), plan_text(1, "autonomous: true", 1));
    for plan in ["03-02", "03-03"] {
        std::fs::remove_file(project.sandbox.path(&format!("project/{FOLDER}/{plan}-PLAN.md")))
            .expect("there");
    }
    project.sandbox.commit("one task");
    project.run("echo nothing", &[]).exits(4);
    let does = "accept EXECUTE as it is, then continue with VERIFY; the run is unverified";
    project.sandbox.run(&["answer"]).exits(0).says(does);
}

/// Nobody drives the run, so what it has is known.
#[test]
fn only_what_the_run_has_can_be_waived() {
    let project = Project::new();
    project.run(HONEST, &["--max", "1"]).exits(6);
    for what in ["99-99/1", "tests/none.py", "*"] {
        let refused = project.sandbox.run(&["waive", what, "--reason", "x"]).exits(2);
        let says = format!("nothing here is called \"{what}\"; these can be waived: AUTH-02, SC-2");
        assert!(refused.err.contains(&says), "{}", refused.err);
    }
    project.sandbox.run(&["waive", "auth-02", "--reason", "moved"]).exits(0);
}

#[test]
fn requirements_that_an_agent_takes_out_of_the_roadmap_are_told_and_stay() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && sed -i 's/, AUTH-02//; /People can log out/d; s/^\\(  1. \\).*/&\\n  2. It is fast/' .planning/ROADMAP.md\n{HONEST}"
    );
    project.run(&script, &[]).exits(0);
    let warnings = project.status()["warnings"].to_string();
    for says in [
        "removed from the roadmap or its plans since the run began: AUTH-02 (Accounts end), SC-2 (People can log out)",
        "added to the roadmap since the run began and not part of this run: It is fast",
    ] {
        assert_eq!(warnings.matches(says).count(), 1, "{says}: {warnings}");
    }
    assert_eq!(project.row("AUTH-02")["by"], json!("verifier"), "the row stays");
}

/// What a person wants changed becomes a plan, the plan is worked on, and then the person looks again.
#[test]
fn lp28_changes_that_a_person_asks_for_are_made_before_the_person_is_asked_again() {
    let project = Project::new();
    project.sandbox.file("blue.md", plan_text(3, "gap_closure: true\nt: it is green", 1));
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-04/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n\
         VERIFY) report human_needed 'human_verification:\n  - test: Look whether people can log out';;\n\
         CLOSE_GAPS) cp '{}' $folder/03-04-PLAN.md;; esac",
        project.sandbox.path("blue.md").display()
    );
    project.run(&script, &[]).exits(3).says("Look whether people can log out");
    project.sandbox.run(&["changes", "human-verification", "it is green"]).exits(0);
    let done = project.run(&script, &[]).exits(3).says("Look whether people can log out");
    assert!(done.err.contains("1 plan created for what a person asked for"), "{}", done.err);
    assert!(project.sandbox.project.join("03-04_1.txt").exists(), "the plan was worked on: {}", done.err);
    assert!(project.sandbox.prompt(9).contains("it is green"), "the planner is told");
    assert_eq!(project.sandbox.calls().len(), 11, "seven tasks, verifier, planner, its task, verifier");
    project.sandbox.run(&["approve", "human-verification"]).exits(0);
    project.run(&script, &[]).exits(0);
}

/// A row is credited with the tests of its own task, also after a phase that measured nothing.
#[test]
fn a_gap_that_is_closed_without_a_test_is_not_credited_with_those_of_others() {
    let project = Project::new();
    project.sandbox.file(
        "gap.md",
        plan_text(3, "gap_closure: true\nmust_haves:\n  truths:\n    - \"People can log out\"", 1),
    );
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-04/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n\
         VERIFY) if [ -f 03-04_1.txt ]; then report passed 'truths:\n  - {{id: AUTH-01, status: verified}}\n  - {{id: AUTH-02, status: verified}}\n  - {{id: SC-2, status: verified, evidence: a look}}'; else {GAPS}; fi;;\n\
         CLOSE_GAPS) cp '{}' $folder/03-04-PLAN.md;; esac",
        project.sandbox.path("gap.md").display()
    );
    project.run(&script, &[]).exits(0);
    let row = project.row("SC-2");
    assert_eq!(
        (&row["task"], &row["by"], &row["evidence"]),
        (&json!("03-04/1"), &json!("verifier"), &json!("a look")),
        "{row}"
    );
    assert_eq!(project.row("SC-1")["evidence"], json!("login works"));
}

#[test]
fn lp42_without_a_verifier_the_phase_ends_unverified() {
    let project = Project::new();
    project.config(r#"{"workflow": {"verifier": false}, "loop": {"validation_commands": ["sh test.sh"]}}"#);
    project.run(HONEST, &[]).exits(0);
    assert_eq!((project.sandbox.calls().len(), &project.status()["verified"]), (7, &json!(false)));
    assert!(project.sandbox.read(".planning/ROADMAP.md").contains("(unverified)"));
}

#[test]
fn lp29_a_report_that_cannot_be_read_is_asked_for_once_more_and_then_it_is_stuck() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) printf -- '---\\nstatus: [\\n---\\n' > $folder/03-VERIFICATION.md;; esac";
    project.run(script, &[]).exits(4).says("VERIFY");
    assert_eq!(project.sandbox.calls().len(), 9, "seven tasks, and the verifier twice");
    assert!(project.loop_state().contains("Status: stuck\n"));
    let again = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) if [ \"$LOOP_CALL\" = 8 ]; then report perhaps ''; else report passed 'score: 1'; fi;; esac";
    again.run(script, &[]).exits(0);
    assert_eq!(again.sandbox.calls().len(), 9);
}

#[test]
fn the_report_that_was_verified_last_wins() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report gaps_found 'gaps: [People can log out]'; mv $folder/03-VERIFICATION.md $folder/03-z-VERIFICATION.md; LOOP_CALL=59 report passed 'score: 1';; esac";
    project.run(script, &[]).exits(0);
}

#[test]
fn the_commit_of_the_documents_has_the_trailer_that_is_configured() {
    let project = Project::new();
    project.config(
        r#"{"planning": {"commit_trailer": "Co-Authored-By: Ada <ada@example.com>"}, "loop": {"validation_commands": ["sh test.sh"]}}"#,
    );
    project.run(HONEST, &[]).exits(0);
    let message = project.sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.trim_end().ends_with("Verification: passed\n\nCo-Authored-By: Ada <ada@example.com>"),
        "{message}"
    );
}

#[test]
fn gaps_are_closed_where_the_folder_is_ignored_too() {
    let project = Project::new();
    project.sandbox.git(&["rm", "-rq", "--cached", ".planning"]);
    project.sandbox.write(".gitignore", ".planning/\n");
    project.sandbox.git(&["add", ".gitignore"]);
    project.sandbox.git(&["commit", "-qm", "ignore the plans"]);
    project.sandbox.file("gap.md", plan_text(3, "gap_closure: true\nt: People can log out", 1));
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in 03-04/1) do_task; summary; say PLAN_COMPLETE;; *) honest;; esac;;\n\
         VERIFY) if [ -f 03-04_1.txt ]; then report passed 'score: 4/4'; else {GAPS}; fi;;\n\
         CLOSE_GAPS) cp '{}' $folder/03-04-PLAN.md;; esac",
        project.sandbox.path("gap.md").display()
    );
    project.run(&script, &[]).exits(0).says("Gap closure cycle 1: 1 plan created");
}
