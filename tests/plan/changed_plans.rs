//! Plans that change while their phase is worked on: tasks put in, taken out and renamed, and files that
//! cannot be read any more.

use super::project::{FOLDER, HONEST, Project, plan_text};

/// Runs the honest agent, and some shell after the work of its first call.
fn after_the_first(shell: &str) -> String {
    format!("{HONEST}\nif [ \"$LOOP_CALL\" = 1 ]; then {shell}; fi")
}

/// How many calls were asked to do a task of this name.
fn asked(project: &Project, name: &str) -> usize {
    let wanted = format!("Your task: **{name}**");
    project.sandbox.calls().into_iter().filter(|it| project.sandbox.prompt(*it).contains(&wanted)).count()
}

#[test]
fn a_task_that_is_put_in_above_others_is_done_and_none_is_done_twice() {
    let project = Project::new();
    let put_in = r#"sed -i 's|^<tasks>|<tasks>\n<task type="auto"><name>Prepare the ground</name></task>|' $folder/03-01-PLAN.md"#;
    project.run(&after_the_first(put_in), &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 9, "eight tasks and the verifier");
    for name in ["Prepare the ground", "Task 3: step 3"] {
        assert_eq!(asked(&project, name), 1, "{name}");
    }
    assert_eq!(asked(&project, "Task 1: step 1"), 3, "one of each plan");
    assert!(project.sandbox.prompt(2).contains("Prepare the ground"), "it stands first, so it is next");
}

#[test]
fn a_mark_in_the_name_of_a_done_task_does_not_bring_it_back() {
    let project = Project::new();
    let mark = "sed -i 's|Task 1: step 1|Task 1: step 1 (done, abc1234)|' $folder/03-01-PLAN.md";
    project.run(&after_the_first(mark), &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 8);
}

#[test]
fn a_task_that_is_taken_out_is_told_of() {
    let project = Project::new();
    project.sandbox.file("shorter.md", plan_text(2, "autonomous: true", 1));
    let shorter = project.sandbox.path("shorter.md");
    project.run(&after_the_first(&format!("cp '{}' $folder/03-03-PLAN.md", shorter.display())), &[]).exits(0);
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("not done: 03-03/2 (Task 2: step 2)"), "{warnings}");
}

/// A task that vanished from its file was asked for all the same: the verifier answers for it, or a person.
#[test]
fn a_task_that_an_agent_takes_out_keeps_the_phase_open() {
    let project = Project::new();
    let verdict = "VERIFY) report passed 'truths:\n  - {id: AUTH-01, status: verified}\n  - {id: AUTH-02, status: verified}\n  - {id: SC-1, status: verified}\n  - {id: SC-2, status: verified}';;";
    let script = format!(
        "case $LOOP_PHASE in EXECUTE) honest; [ \"$LOOP_CALL\" = 1 ] && git rm -q $folder/03-03-PLAN.md && git commit -qm less;; {verdict} esac; true"
    );
    let done = project.run(&script, &[]).exits(4);
    assert!(done.err.contains("nothing shows that 03-03/1 is met"), "{}", done.err);
    assert!(project.sandbox.prompt(6).contains("| 03-03/2 | Task 2: step 2 (taken out of its plan)"));
    for id in ["03-03/1", "03-03/2"] {
        project.sandbox.run(&["waive", id, "--reason", "not needed any more"]).exits(0);
    }
    project.sandbox.run(&["resume", "--reset"]).exits(0);
    assert_eq!(project.row("03-03/1")["by"], "person");
}

#[test]
fn a_plan_that_becomes_unreadable_halts_and_goes_on_when_it_is_mended() {
    let project = Project::new();
    let sound = project.sandbox.read(&format!("{FOLDER}/03-02-PLAN.md"));
    let done = project
        .run(
            &after_the_first("echo 'wave: [' > $folder/03-02-PLAN.md; sed -i '1i ---' $folder/03-02-PLAN.md"),
            &[],
        )
        .exits(4);
    assert!(done.err.contains("03-02-PLAN.md, line 1:") && done.err.contains("fix it"), "{}", done.err);
    assert!(project.loop_state().contains("Status: stuck\n"), "{}", project.loop_state());
    // It is said again as long as it is so, and no call is made.
    project.run(HONEST, &[]).exits(2).says("03-02-PLAN.md, line 1:");
    assert_eq!(project.sandbox.calls().len(), 1);
    project.sandbox.write(&format!("{FOLDER}/03-02-PLAN.md"), &sound);
    project.run(HONEST, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 8, "nothing was done twice");
}

#[test]
fn a_plan_for_gaps_that_cannot_be_read_is_no_plan() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report gaps_found 'gaps:\n  - truth: \"People can log out\"';;\n\
        CLOSE_GAPS) printf -- '---\\ngap_closure: [\\n---\\n' > $folder/03-04-PLAN.md;; esac";
    let done = project.run(script, &[]).exits(4).says("planner produced no plans");
    assert!(done.err.contains("03-04-PLAN.md does not count: line 2:"), "{}", done.err);
    let mended = "---\ngap_closure: true\nt: People can log out\n---\n<task><name>x</name></task>\n";
    project.sandbox.write(&format!("{FOLDER}/03-04-PLAN.md"), mended);
    let rest = "case $LOOP_PHASE in EXECUTE) do_task; summary; say PLAN_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
    project.agent(rest);
    project.sandbox.run(&["resume", "--state", "EXECUTE", "--reset"]).exits(0);
    assert!(project.sandbox.prompt(10).contains("03-04-PLAN.md"));
}
