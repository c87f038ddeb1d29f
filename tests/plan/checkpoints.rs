//! Tasks that are for a person.

use super::project::{FOLDER, HONEST, Project};
use serde_json::json;

#[test]
fn lp34_checkpoints_are_questions_by_the_type_of_the_task() {
    let checkpoints = |autonomous: bool| {
        let project = Project::new();
        project.config(&format!(
            r#"{{"autonomous": {autonomous}, "loop": {{"validation_commands": ["sh test.sh"]}}}}"#
        ));
        let plan = "---\nwave: 1\n---\n<task type=\"auto\"><name>build</name></task>\n\
            <task type=\"checkpoint:human-verify\"><what-built>a page</what-built><how-to-verify>open it</how-to-verify></task>\n\
            <task type=\"checkpoint:decision\"><decision>Which store</decision><option id=\"sqlite\"/><option id=\"server\"/></task>\n\
            <task type=\"checkpoint:human-action\"><action>Make an account</action></task>\n";
        for name in ["03-02-PLAN.md", "03-03-PLAN.md"] {
            project.sandbox.git(&["rm", "-q", &format!("{FOLDER}/{name}")]);
        }
        project.sandbox.write(&format!("{FOLDER}/03-01-PLAN.md"), plan);
        project.sandbox.commit("checkpoints");
        project
    };
    let script = "case $LOOP_PHASE in EXECUTE) do_task; summary; say TASK_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
    let project = checkpoints(false);
    project.run(script, &[]).exits(3).says("a page");
    project.sandbox.run(&["answer", "done"]).exits(0);
    project.run(script, &[]).exits(3).says("Which store");
    project.sandbox.run(&["answer", "server"]).exits(0);
    project.run(script, &[]).exits(3).says("Make an account");
    project.sandbox.run(&["answer", "done", "it exists"]).exits(0);
    project.run(script, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 2, "people settle checkpoints, not agents");
    let alone = checkpoints(true);
    let done = alone.run(script, &[]).exits(3).says("Make an account");
    assert!(
        done.err.contains("Auto-decided: a page: approved")
            && done.err.contains("Auto-decided: Which store: sqlite"),
        "{}",
        done.err
    );
}

/// Whoever found something at a checkpoint looks at it again after the repair, also where nobody is asked otherwise.
#[test]
fn lp34_what_a_person_found_is_repaired_and_the_person_looks_again() {
    for autonomous in [false, true] {
        let project = Project::new();
        project.config(&format!(
            r#"{{"autonomous": {autonomous}, "loop": {{"validation_commands": ["sh test.sh"]}}}}"#
        ));
        for name in ["03-02-PLAN.md", "03-03-PLAN.md"] {
            project.sandbox.git(&["rm", "-q", &format!("{FOLDER}/{name}")]);
        }
        project.sandbox.write(
            &format!("{FOLDER}/03-01-PLAN.md"),
            "---\nwave: 1\n---\n<task type=\"checkpoint:human-verify\"><what-built>a page</what-built></task>\n",
        );
        project.sandbox.commit("a checkpoint");
        let script = "case $LOOP_PHASE in EXECUTE) do_task; summary; say TASK_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
        project.run(script, &[]).exits(3).says("a page");
        for (found, calls) in [("it is green", 1), ("it is red", 2)] {
            project.sandbox.run(&["answer", "issues", found]).exits(0);
            let done = project.run(script, &[]).exits(3).says("a page");
            assert!(!done.err.contains("Auto-decided"), "{}", done.err);
            assert_eq!(project.sandbox.calls().len(), calls, "one repair, then the question");
            assert!(project.sandbox.prompt(u32::try_from(calls).expect("few")).contains(found));
            let choices = project.status()["question"]["choices"].to_string();
            assert!(choices.contains("done") && choices.contains("issues"), "{choices}");
        }
        project.sandbox.run(&["answer", "done"]).exits(0);
        project.run(script, &[]).exits(0);
        assert_eq!(project.sandbox.calls().len(), 3, "two repairs and the verifier");
    }
}

#[test]
fn lp34_what_has_to_be_looked_at_waits_where_a_check_fails() {
    let project = Project::new();
    project.config(r#"{"autonomous": true, "loop": {"validation_commands": ["sh test.sh"]}}"#);
    project.sandbox.write(
        &format!("{FOLDER}/03-01-PLAN.md"),
        "---\nwave: 1\n---\n<task type=\"checkpoint:human-verify\"><what-built>a page</what-built></task>\n",
    );
    project.sandbox.commit("a checkpoint first");
    let done = project.run(HONEST, &[]).exits(3).says("a page");
    assert!(!done.err.contains("Auto-decided"), "{}", done.err);
    assert!(project.sandbox.calls().is_empty());
}

/// A plan of checkpoints between two tasks, alone in its phase.
fn between_tasks() -> Project {
    let project = Project::new();
    for name in ["03-02-PLAN.md", "03-03-PLAN.md"] {
        project.sandbox.git(&["rm", "-q", &format!("{FOLDER}/{name}")]);
    }
    let plan = "---\nwave: 1\nrequirements: [AUTH-01]\n---\n<task type=\"auto\"><name>Build it</name></task>\n\
        <task type=\"checkpoint:human-action\"><action>Make an account</action><resume-signal>Type \"ready\"</resume-signal></task>\n\
        <task type=\"checkpoint:decision\"><decision>Which store</decision><option id=\"sqlite\"><name>SQLite</name><cons>one writer</cons></option><option id=\"server\"/></task>\n\
        <task type=\"checkpoint:human-verify\"><what-built>a page</what-built></task>\n\
        <task type=\"auto\"><name>Use it</name></task>\n<task type=\"auto\"><name>Tell of it</name></task>\n";
    project.sandbox.write(&format!("{FOLDER}/03-01-PLAN.md"), plan);
    project.sandbox.commit("checkpoints");
    project
}

/// What an agent calls complete is complete as far as it is an agent's; writing another type into the plan does not
/// make it an agent's.
#[test]
fn a_plan_that_is_called_complete_leaves_its_checkpoints_to_people() {
    let project = between_tasks();
    let script = "case $LOOP_PHASE in EXECUTE) do_task; sed -i 's/checkpoint:[a-z-]*/auto/' $folder/03-01-PLAN.md; summary; say PLAN_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
    project.run(script, &[]).exits(3).says("Make an account");
    let status = project.sandbox.run(&["status"]).exits(0).out;
    assert!(status.contains("tasks       3/6 done"), "{status}");
    project.sandbox.run(&["answer", "done"]).exits(0);
    project.run(script, &[]).exits(3).says("Which store");
    project.sandbox.run(&["answer", "sqlite"]).exits(0);
    project.run(script, &[]).exits(3).says("a page");
    project.sandbox.run(&["answer", "done"]).exits(0);
    project.run(script, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 2, "the one that said so, and the verifier");
}

/// Every call is a fresh session: what a person settled is told to all that follow, with what it was about.
#[test]
fn what_a_person_settled_is_told_to_every_later_call() {
    let project = between_tasks();
    let test = project.sandbox.read("test.sh");
    project
        .sandbox
        .write("test.sh", format!("{test}[ ! -f 03-01_4.txt ] || echo 'ok 2 - the page is blue'\n"));
    project.sandbox.commit("a test of the page");
    let script = "case $LOOP_PHASE in EXECUTE) do_task; [ $LOOP_ITEM = 03-01/6 ] && summary; say TASK_COMPLETE;; VERIFY) report passed 'score: 1';; esac";
    let asked = project.run(script, &[]).exits(3).says("Make an account");
    assert!(!asked.err.contains("Type \"ready\""), "what another program wants to hear: {}", asked.err);
    assert!(asked.err.contains("(also: ready)"), "{}", asked.err);
    project.sandbox.run(&["answer", "read"]).exits(2);
    project.sandbox.run(&["answer", "Ready", "it is called ada"]).exits(0);
    let asked = project.run(script, &[]).exits(3).says("Which store");
    assert!(asked.err.contains("sqlite: SQLite; against it: one writer"), "{}", asked.err);
    project.sandbox.run(&["answer", "server", "we have one"]).exits(0);
    project.run(script, &[]).exits(3).says("a page");
    project.sandbox.run(&["answer", "issues"]).exits(2).says("issues");
    project.sandbox.run(&["answer", "issues", "it is green"]).exits(0);
    let done = project.run(script, &[]).exits(3).says("TASK_COMPLETE, a person looks again [");
    assert!(!done.err.contains("not confirmed"), "{}", done.err);
    let repair = project.sandbox.prompt(2);
    assert!(repair.contains("it is green") && !repair.contains("<promise>"), "{repair}");
    assert!(!repair.contains("Result of the last iteration"), "nobody was called before: {repair}");
    let row = project.row("AUTH-01");
    assert_eq!(
        (&row["task"], &row["by"]),
        (&json!("03-01/4"), &json!("measured")),
        "a repair is work too: {row}"
    );
    project.sandbox.run(&["answer", "done"]).exits(0);
    project.run(script, &[]).exits(0);
    for call in 2..=4 {
        let prompt = project.sandbox.prompt(call);
        for told in [
            "\"Make an account\" (human-action) is settled: it is called ada",
            "\"Which store\" (decision) is settled: server: we have one",
        ] {
            assert!(prompt.contains(told), "call {call}, {told}: {prompt}");
        }
    }
}
