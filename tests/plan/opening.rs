//! What keeps a run of a phase from beginning, and what it begins with.

use super::project::{FOLDER, HONEST, Project, plan_text};
use loop_harness::Sandbox;

#[test]
fn lp01_without_a_roadmap_there_is_no_project() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "3"]).exits(2).says("no project");
    sandbox.write(".planning/STATE.md", "Phase: 3\n");
    sandbox.run(&["run", "3", "--preset", "plan"]).exits(2).says("no project");
}

#[test]
fn lp03_a_phase_that_is_missing_or_has_no_plans_is_refused() {
    let project = Project::new();
    project.sandbox.run(&["run", "7"]).exits(2).says("there is no phase 7");
    project.sandbox.run(&["run", "1"]).exits(2).says("phase 1 has no plans");
    project.sandbox.run(&["run", "three", "--preset", "plan"]).exits(2).says("is not a phase");
    assert!(project.sandbox.status_if_any()["run"].is_null(), "nothing was opened");
}

#[test]
fn plans_that_cannot_be_meant_are_named() {
    let project = Project::new();
    let wrong = |text: &str| {
        project.sandbox.write(&format!("{FOLDER}/03-03-PLAN.md"), text);
        project.sandbox.run(&["run", "3"]).exits(2)
    };
    wrong(&plan_text(1, "depends_on: [\"03-09\"]", 1)).says("03-03-PLAN.md depends on \"03-09\"");
    wrong(&plan_text(1, "depends_on: [\"03-03\"]", 1)).says("03-03-PLAN.md depends on itself");
    wrong(&plan_text(1, "depends_on: [03-01\nrequirements: [AUTH-02]", 1))
        .says("line 4: ")
        .says("not closed");
    wrong("---\nwave: [\n---\n").says("03-03-PLAN.md, line 2");
    wrong("---\nwave: 1\n---\nnothing to do\n").says("has no tasks");
    wrong("---\nwave: 1\n").says("not closed");
}

#[test]
fn lp39_a_configuration_with_mistakes_is_named_and_left_alone() {
    let project = Project::new();
    for (text, says) in [
        ("{\"loop\": {\n\"max_iterations\": \"many\"}}", "line 2: loop.max_iterations is \"many\""),
        ("{\"loop\":", "is no JSON"),
        ("{\"model_profile\": \"foo\"}", "model_profile is \"foo\""),
        ("{\"loop\": {\"enabled\": false}}", "loop.enabled is false"),
    ] {
        project.sandbox.write(".planning/config.json", text);
        project.sandbox.run(&["run", "3"]).exits(2).says(says);
        assert_eq!(project.sandbox.read(".planning/config.json"), text);
    }
}

#[test]
fn lp05_the_configuration_is_a_layer_and_flags_win() {
    let project = Project::new();
    project.config(r#"{"model_profile": "budget", "loop": {"max_iterations": 20, "stuck_threshold": 1, "validation_commands": ["sh test.sh"]}}"#);
    project.run("echo nothing", &[]).exits(4);
    assert_eq!(project.sandbox.calls(), [1], "a threshold of 1 is reached by the first");
    assert!(project.loop_state().contains("Max iterations: 20\n"), "{}", project.loop_state());
    let other = Project::new();
    other.run("echo nothing", &["--max", "7"]).exits(4);
    assert!(other.loop_state().contains("Max iterations: 7\n"), "{}", other.loop_state());
}

#[test]
fn lp02_a_word_that_is_no_command_is_answered_with_the_usage() {
    Sandbox::new()
        .run(&["frobnicate"])
        .exits(2)
        .says("usage: loop [OPTIONS] [COMMAND]")
        .says("next: loop help");
}

#[test]
fn lp05_the_state_file_is_there_before_the_first_call() {
    let plain = Project::new();
    plain.run("cp .planning/LOOP-STATE.md \"$OUT/seen-$LOOP_CALL\"; echo nothing", &[]).exits(4);
    let lines = plain.sandbox.notes("seen-1");
    assert!(lines[2].starts_with("Started: 20"), "{lines:?}");
    let expected = [
        "Phase: 3",
        "Status: running",
        "Iteration: 0",
        "Max iterations: 50",
        "Consecutive failures: 0",
        "",
        "## Task Progress",
        "",
        "| Iteration | Plan | Task | Status | Commit | Signal |",
        "|-----------|------|------|--------|--------|--------|",
    ];
    assert_eq!(lines[3..], expected, "LP-06: 50 where nobody says another number");
}

/// Phase, plans, tasks, the limit, the commands that validate and the models, before the first call and again
/// when it continues.
#[test]
fn a_run_says_at_its_start_what_there_is_to_do() {
    let project = Project::new();
    let first = project.run(HONEST, &["--max", "4", "--model", "small"]).exits(6);
    let starts = |done: &loop_harness::Done, line: &str| {
        let before = done.err.split_once("Iteration ").expect("an iteration").0;
        assert!(before.contains(line), "{line}: {before}");
    };
    starts(&first, "checks: validation (sh test.sh)\n");
    starts(&first, "\nPhase 3: Accounts: 3 plans, 7 tasks, at most 4 iterations\n");
    starts(&first, "\nmodels: lpl-executor small, lpl-verifier small, lpl-planner small\n");
    let second = project.run(HONEST, &["--max", "5"]).exits(6);
    let profile = project.run(HONEST, &["--fresh", "--max", "1"]).exits(6);
    starts(&profile, "\nmodels: lpl-executor sonnet, lpl-verifier sonnet, lpl-planner opus\n");
    starts(&second, "\nPhase 3: Accounts: 1/3 plans and 4/7 tasks done, 4 of at most 5 iterations used\n");
}

#[test]
fn validation_commands_run_in_their_order() {
    let project = Project::new();
    project.config(
        r#"{"loop": {"validation_commands": ["echo second > order", "test -f order && sh test.sh", "rm order"]}}"#,
    );
    project.run(HONEST, &["--max", "1"]).exits(6).says("Iteration 1: Task 1: step 1 — TASK_COMPLETE [");
    assert!(!project.sandbox.project.join("order").exists(), "the last one ran too");
}

/// Where nothing validates, the documents of the phase are the place for it.
#[test]
fn a_phase_without_validation_is_refused_and_told_where_it_goes() {
    let project = Project::new();
    project.sandbox.git(&["mv", "test.sh", "validate.sh"]);
    project.config("{}");
    let help = "help: write a command into loop.validation_commands of .planning/config.json, or add --check validation=\"COMMAND\"\n";
    project.run(HONEST, &[]).exits(2).says("no check found in ").says(help);
    project.run(HONEST, &["--check", "validation=sh validate.sh", "--max", "1"]).exits(6);
}

/// What is not done as the file says is told, and an inserted phase is called by its name.
#[test]
fn waves_are_worked_on_in_turn_and_said_so() {
    let project = Project::new();
    project.config(r#"{"loop": {"parallel_waves": true, "validation_commands": ["sh test.sh"]}}"#);
    let roadmap = project
        .sandbox
        .read(".planning/ROADMAP.md")
        .replace("### Phase 10: Far", "### Phase 10: Far (INSERTED)");
    project.sandbox.write(".planning/ROADMAP.md", roadmap);
    project.sandbox.commit("an inserted phase");
    project.run(HONEST, &[]).exits(0).says("plans are worked on one after the other");
    assert!(project.sandbox.prompt(1).contains("Phase 3: Accounts"), "{}", project.sandbox.prompt(1));
    assert!(project.sandbox.read(".planning/STATE.md").contains("Phase: 10 of 10 (Far)\n"));
}

#[test]
fn lp38_a_missing_position_is_rebuilt_and_missing_learnings_are_a_warning() {
    let project = Project::new();
    project.sandbox.git(&["rm", "-q", ".planning/STATE.md", ".planning/LEARNINGS.md"]);
    project.sandbox.commit("gone");
    project.run(HONEST, &[]).exits(0).says("LEARNINGS.md is missing");
    assert!(project.sandbox.read(".planning/STATE.md").contains("Phase: 10 of 10 (Far)"));
}

#[test]
fn a_folder_that_another_tool_left_in_the_middle_goes_on_where_it_was() {
    let project = Project::new();
    project.sandbox.write(&format!("{FOLDER}/03-01-SUMMARY.md"), "done before\n");
    let state = "# Loop State\n\nStarted: 2026-01-01T00:00:00Z\nPhase: 3\nStatus: stopped\nIteration: 3\nMax iterations: 50\n\
                 Consecutive failures: 0\n\n## Task Progress\n\n| Iteration | Plan | Task | Status | Commit | Signal |\n|---|---|---|---|---|---|\n\
                 | 3 | 03-01 | Task 3 | done | abc1234 | PLAN_COMPLETE |\n";
    project.sandbox.write(".planning/LOOP-STATE.md", state);
    project.sandbox.write("03-01_1.txt", "x");
    project.sandbox.commit("the middle");
    project.run(HONEST, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 5, "four tasks and the verifier");
    let after = project.loop_state();
    assert!(after.contains("Iteration: 7\n") && after.contains("| 3 | 03-01 | Task 3 |"), "{after}");
    assert!(after.contains("Started: 2026-01-01T00:00:00Z\n"), "when it began stays: {after}");
    let damaged = Project::new();
    damaged.sandbox.write(".planning/LOOP-STATE.md", state.replace("Iteration: 3", "Iteration: three"));
    damaged.run(HONEST, &[]).exits(8).says("Iteration is \"three\"");
}

/// Plans have no boxes for their tasks, so the table of progress says what is done, where its commit is here.
#[test]
fn tasks_that_another_controller_did_are_not_done_again() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.write("03-01_1.txt", "x");
    sandbox.commit("feat(03-01): the first task");
    let hash = sandbox.git(&["rev-parse", "--short", "HEAD"]).trim().to_owned();
    let state = format!(
        "# Loop State\n\nStarted: 2026-01-01\nPhase: 3\nStatus: running\nIteration: 4\nMax iterations: 50\nConsecutive failures: 1\n\n## Task Progress\n\n\
         | Iteration | Plan | Task | Status | Commit | Signal |\n|---|---|---|---|---|---|\n\
         | 1 | 03-01 | Task 1: step 1 | complete | {hash} | TASK_COMPLETE |\n\
         | 2 | 03-01 | Task 2: step 2 | done | 0123abc | TASK_COMPLETE |\n\
         | 3 | 03-02 | Task 1: step 1 | failed | {hash} | TASK_COMPLETE |\n\
         | 4 | 03-09 | Task 1: step 1 | done | {hash} | TASK_COMPLETE |\n"
    );
    sandbox.write(".planning/LOOP-STATE.md", state);
    sandbox.commit("the middle of a plan");
    let done = project.run(HONEST, &[]).exits(0).says("4 iterations and 1 task done");
    assert_eq!(sandbox.calls().len(), 7, "six tasks and the verifier: {}", done.err);
    assert!(sandbox.prompt(1).contains("Your task: **Task 2: step 2**"), "{}", sandbox.prompt(1));
}

/// One state file is for one phase: whoever begins another says what becomes of the first.
#[test]
fn another_phase_that_is_not_finished_is_a_question() {
    let project = Project::new();
    let far = "---\nwave: 1\n---\n<task><name>far</name></task>\n";
    project.sandbox.write(".planning/phases/10-far/10-01-PLAN.md", far);
    project.sandbox.commit("two phases");
    project.run(HONEST, &["--max", "1"]).exits(6);
    let state = project.loop_state();
    let agent = project.agent(HONEST);
    let asked = project.sandbox.run(&["run", "10", "--agent-cmd", &agent]).exits(3).says("other-input");
    assert!(
        asked.err.contains("of phase 3 is capped and writes to .planning/LOOP-STATE.md"),
        "{}",
        asked.err
    );
    assert_eq!(project.loop_state(), state, "nothing was changed");
    project.run(HONEST, &["--max", "2"]).exits(6);
    project.sandbox.run(&["run", "10", "--fresh", "--max", "1", "--agent-cmd", &agent]);
    assert!(project.loop_state().contains("Phase: 10\n"), "{}", project.loop_state());
}
