//! Folders as other tools leave them, read without editing a file first.

use super::project::{HONEST, Project};
use loop_harness::Sandbox;

/// A folder in the manner of a roadmap tool: bold and unquoted texts, comments, lists of every kind, plans
/// in a checklist, requirements by range, a configuration full of keys that nobody here knows.
fn folder_of_another_tool() -> Project {
    let sandbox = Sandbox::new();
    sandbox.write("test.sh", "echo 1..1\n[ -f 03-02_1.txt ] && echo 'ok 1 - it logs out' || { echo 'not ok 1 - it logs out'; exit 1; }\n");
    sandbox.write(".planning/PROJECT.md", "# Accounts\n");
    sandbox.write(
        ".planning/config.json",
        "{\n  \"mode\": \"yolo\",\n  \"depth\": \"standard\",\n  \"parallelization\": true,\n  \"commit_docs\": true,\n  \"model_profile\": \"balanced\",\n  \"workflow\": {\"research\": true, \"plan_check\": true, \"verifier\": true, \"nyquist_validation\": true},\n  \"git\": {\"branching_strategy\": \"none\"}\n}\n",
    );
    sandbox.write(
        ".planning/ROADMAP.md",
        "# Roadmap: Accounts\n\n## Phases\n\n- [x] **Phase 1: Base** - the base (completed 2026-02-01)\n- [x] **Phase 2: Users** - users\n- [ ] **Phase 3: Accounts** - people have accounts\n- [x] **Phase 4: Mail** - was done before\n- [ ] **Phase 10: Far** - later\n\n\
         ## Phase Details\n\n### Phase 1: Base\n**Goal**: Base\n\n### Phase 3: Accounts\n**Goal**: People have accounts -- and keep them\n**Depends on**: Phase 2\n**Requirements**: AUTH-01 through AUTH-03, UI-01 (later)\n\
         **Success Criteria** (what must be TRUE):\n  1. `loop` people can log in\n  2. People can log out\n**Plans**: 2 plans\n\nPlans:\n- [x] 03-01-PLAN.md -- log in\n- [ ] 03-02-PLAN.md -- log out\n\n\
         ## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|-------|----------------|--------|-----------|\n| 1. Base | 2/2 | Complete | 2026-02-01 |\n| 3. Accounts | 1/2 | In progress | - |\n",
    );
    sandbox.write(
        ".planning/STATE.md",
        "---\ngsd_state_version: 1.0\nstatus: executing\nprogress:\n  total_phases: 4\n---\n\n# Project State\n\n## Current Position\n\nPhase: 3 of 10 (Accounts) — EXECUTING\nPlan: 2 of 2 in current phase\nStatus: In progress\nLast activity: 2026-02-08 -- Completed 03-01-PLAN.md\n\nProgress: [####......] 57%\n\n## Session Continuity\n\nStopped at: 03-01\n",
    );
    let folder = ".planning/phases/03-accounts";
    let head = |plan: &str, more: &str| {
        format!(
            "---\nphase: 03-accounts\nplan: {plan}\ntype: execute\nwave: 1\n{more}files_modified:\n  - src/login.py\n  - tests/test_login.py   # and its test\nautonomous: true\nuser_setup:\n  - service: mail\n    env_vars:\n      - name: KEY\n        source: \"Dashboard -> Keys\"\n\
             must_haves:\n  truths:\n    - \"People can log in (e.g., by 'name')\"\n    - Log out: by a button\n    - @scope/pkg is installed\n    - `KEY` is read\n  artifacts:\n    - path: \"src/login.py\"\n      provides: \"login\"\n      exports: [\"login\", \"Session\"]\n      min_lines: 10\n  key_links:\n    - from: \"src/login.py\"\n      to: \"db\"\n      via: \"import\"\n      pattern: \"import\\\\.(db|store)\"\n---\n"
        )
    };
    let body = "\n<objective>\nDo it.\n\n```xml\n<task type=\"auto\">\n  <name>how a task looks</name>\n</task>\n```\n</objective>\n\n<execution_context>\n@~/.claude/x/execute-plan.md\n</execution_context>\n\n<tasks>\n\n<task type=\"auto\" tdd=\"true\">\n  <name>Task 1: Log in</name>\n  <files>\n    src/login.py\n    tests/test_login.py\n  </files>\n  <action>\nWrite:\n```python\ndef login(): ...\n```\n- [ ] not a task\n  </action>\n  <verify>`pytest`</verify>\n  <done>It works.</done>\n</task>\n\n</tasks>\n\n<verification>\n- [ ] all tests pass\n</verification>\n\n<output>\nCreate the SUMMARY.\n</output>\n";
    sandbox.write(
        &format!("{folder}/03-01-PLAN.md"),
        format!("{}{body}", head("01", "depends_on: [\"02-01\"]\n")),
    );
    sandbox.write(
        &format!("{folder}/03-02-PLAN.md"),
        format!("{}{body}", head("02", "depends_on:\n  - 03-01\nrequirements:\n  - AUTH-02\n")),
    );
    sandbox
        .write(&format!("{folder}/03-01-SUMMARY.md"), "---\nphase: 03-accounts\nplan: 01\n---\n\n# Done\n");
    sandbox.write(".planning/milestones/v1-phases/02-users/02-01-PLAN.md", "put away\n");
    sandbox.write(&format!("{folder}/03-CONTEXT.md"), "# Context\n");
    sandbox.write(&format!("{folder}/03-RESEARCH.md"), "# Research\n");
    sandbox.commit("as another tool left it");
    Project { sandbox }
}

#[test]
fn a_folder_of_a_roadmap_tool_is_read_as_it_is() {
    let project = folder_of_another_tool();
    let script = "case $LOOP_PHASE in EXECUTE) do_task; summary; say PLAN_COMPLETE;;\n\
        VERIFY) report passed 'score: 2/2'; printf '\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n| 1 | `loop` people can log in | ✓ VERIFIED | login.py |\n| 2 | People can log out | ✓ VERIFIED | a|b |\n\n\
        | Requirement | Status | Blocking Issue |\n|---|---|---|\n| AUTH-01: People log in | ✓ SATISFIED | - |\n| AUTH-02: out | ✓ SATISFIED | - |\n| AUTH-03 | ✓ SATISFIED | - |\n| UI-01: later | ✓ SATISFIED | - |\n' >> $folder/03-VERIFICATION.md;; esac";
    let agent = project.agent(script);
    // Without a number it is the phase of STATE.md; the check comes from the command line.
    let done =
        project.sandbox.run(&["run", "--check", "validation=sh test.sh", "--agent-cmd", &agent]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 2, "one task and the verifier: {}", done.err);
    let rows = project.status()["requirements"].clone();
    let ids: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["AUTH-01", "AUTH-02", "AUTH-03", "UI-01", "SC-1", "SC-2"]);
    assert_eq!(project.row("AUTH-02")["by"], "measured", "{rows}");
    assert_eq!(project.row("SC-1")["evidence"], "login.py");
    assert!(done.err.contains("next: loop run 10"), "phase 4 is ticked: {}", done.err);
    let roadmap = project.sandbox.read(".planning/ROADMAP.md");
    for line in ["- [x] 03-02-PLAN.md -- log out\n", "| 3. Accounts | 2/2 | Complete | 20"] {
        assert!(roadmap.contains(line), "{line}: {roadmap}");
    }
    let state = project.sandbox.read(".planning/STATE.md");
    assert!(
        state.starts_with("---\ngsd_state_version: 1.0\nstatus: executing\n")
            && state.contains("Phase: 10 of 10 (Far)\n"),
        "{state}"
    );
}

/// The state file of another controller: so many iterations, so many of them failures at the end.
fn left(project: &Project, iterations: u32, failures: u32) {
    let text = format!(
        "# Loop State\n\nStarted: 2026-01-01\nPhase: 3\nStatus: running\nIteration: {iterations}\nMax iterations: 50\n\
         Consecutive failures: {failures}\n\n## Task Progress\n\n| Iteration | Plan | Task | Status | Commit | Signal |\n|---|---|---|---|---|---|\n"
    );
    project.sandbox.write(".planning/LOOP-STATE.md", text);
    project.sandbox.commit("left by another controller");
}

/// A controller that looks at its threshold after an iteration makes one more call, whatever was counted.
#[test]
fn failures_in_a_row_are_taken_over() {
    for (failures, calls) in [(0, 3), (2, 1), (7, 1)] {
        let project = Project::new();
        left(&project, 4, failures);
        let done = project.run("echo nothing", &[]).exits(4);
        assert_eq!(project.sandbox.calls().len(), calls, "{failures}: {}", done.err);
        assert!(done.err.contains("failures in a row: 3/3"), "{}", done.err);
        assert!(project.loop_state().contains("Consecutive failures: 3\n"), "{}", project.loop_state());
    }
    let project = Project::new();
    left(&project, 4, 2);
    project.run(HONEST, &["--max", "5"]).exits(6).says("2 failures in a row");
    assert!(project.loop_state().contains("Consecutive failures: 0\n"), "{}", project.loop_state());
}

/// One state file is for one phase: what another controller had done in one is not lost to another unasked.
#[test]
fn another_phase_that_another_controller_began_is_a_question() {
    let project = Project::new();
    let far = "---\nwave: 1\n---\n<task><name>far</name></task>\n";
    project.sandbox.write(".planning/phases/10-far/10-01-PLAN.md", far);
    left(&project, 4, 0);
    let state = project.loop_state();
    let agent = project.agent("printf -- '---\\nEXIT_SIGNAL: STUCK: as asked\\n---\\n'");
    let far = |more: &[&str]| {
        project.sandbox.run(&[&["run", "10", "--agent-cmd", agent.as_str()][..], more].concat())
    };
    let asked = far(&[]).exits(3).says("other-input");
    let says = ".planning/LOOP-STATE.md describes an unfinished loop on phase 3 (4 iterations)";
    assert!(asked.err.contains(says) && asked.err.contains("a copy of the file is kept"), "{}", asked.err);
    assert_eq!((project.loop_state(), project.sandbox.calls().len()), (state.clone(), 0));
    far(&["--fresh"]).exits(4);
    assert!(project.loop_state().contains("Phase: 10\n"), "{}", project.loop_state());
    let kept = project.sandbox.home.join("runs").join(project.status()["run"].as_str().expect("an id"));
    assert_eq!(std::fs::read_to_string(kept.join("imported/LOOP-STATE.md")).expect("kept"), state);
    // A phase that is complete is in nobody's way, and neither is the one that is wanted.
    project.sandbox.run(&["cancel"]).exits(0);
    project.sandbox.write(".planning/LOOP-STATE.md", state.replace("running", "complete"));
    far(&[]).exits(4);
    project.sandbox.run(&["cancel"]).exits(0);
    project.sandbox.write(".planning/LOOP-STATE.md", state);
    project.run(HONEST, &["--max", "5"]).exits(6).says("4 iterations and 0 tasks done");
}

/// The limit may be used up before this run has read its plans: what is left is named all the same.
#[test]
fn a_limit_that_another_controller_used_up_names_what_is_left() {
    let project = Project::new();
    left(&project, 50, 0);
    let done = project.run(HONEST, &[]).exits(6).says("Phase 3: Accounts: 0 of 7 tasks done");
    assert!(done.err.contains("open in 03-02: Task 1: step 1; Task 2: step 2"), "{}", done.err);
    assert!(project.sandbox.calls().is_empty());
    let status = project.sandbox.run(&["status"]).exits(0).out;
    assert!(status.contains("plans       0/3 done") && status.contains("tasks       0/7 done"), "{status}");
}

#[test]
fn phases_are_found_by_their_number_and_not_by_how_it_begins() {
    let project = Project::new();
    for (folder, plan) in [("10-far", "10-01"), ("02.1-fix", "02.1-01")] {
        let text = "---\nwave: 1\n---\n<task><name>only this</name></task>\n";
        project.sandbox.write(&format!(".planning/phases/{folder}/{plan}-PLAN.md"), text);
    }
    project.sandbox.commit("more phases");
    project.sandbox.run(&["run", "1"]).exits(2).says("phase 1 has no plans");
    let agent = project.agent("printf -- '---\\nEXIT_SIGNAL: STUCK: as asked\\n---\\n'");
    let nothing = "names no requirements and no success criteria for phase 10";
    for (number, plan) in [("2.1", "02.1-01"), ("010", "10-01")] {
        project.sandbox.run(&["run", number, "--agent-cmd", &agent]).exits(4);
        assert!(project.sandbox.prompt(1).contains(&format!("{plan}-PLAN.md")), "{number}");
        let warnings = project.status()["warnings"].to_string();
        assert_eq!(warnings.contains(nothing), number == "010", "{warnings}");
        project.sandbox.run(&["cancel"]).exits(0);
    }
}

/// Whoever has a roadmap and says `phase 3` means that phase, and not a task of this name.
#[test]
fn a_phase_may_be_called_one() {
    let project = Project::new();
    let agent = project.agent(HONEST);
    for (said, max) in [("Phase 3", "1"), ("3", "2"), ("phase 03", "3")] {
        project.sandbox.run(&["run", said, "--agent-cmd", &agent, "--max", max]).exits(6);
        assert_eq!(project.status()["iterations_total"].to_string(), max, "{said} is the same run");
    }
    assert_eq!(project.status()["input"], "3");
}

#[test]
fn without_a_number_the_phase_of_the_position_is_meant() {
    let project = Project::new();
    let agent = project.agent(HONEST);
    project.sandbox.run(&["run", "--max", "1", "--agent-cmd", &agent]).exits(6);
    assert_eq!(project.status()["input"], "3");
}

/// The limit that was set for this phase stays, unless a flag says otherwise.
#[test]
fn the_limit_of_another_controller_is_kept() {
    for (more, most) in [(&[][..], 5), (&["--max", "6"][..], 6)] {
        let project = Project::new();
        left(&project, 3, 0);
        let text = project.loop_state().replace("Max iterations: 50", "Max iterations: 5");
        project.sandbox.write(".planning/LOOP-STATE.md", text);
        project.sandbox.commit("its limit");
        let done = project.run(HONEST, more).exits(6);
        assert!(done.err.contains(&format!("3 of at most {most} iterations used")), "{}", done.err);
        assert!(project.loop_state().contains(&format!("Iteration: {most}\nMax iterations: {most}\n")));
    }
}
