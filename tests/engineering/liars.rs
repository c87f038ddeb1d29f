//! Agents that lie, one for each stage: none of them ships.

use crate::project::Project;

/// Runs a system with an agent that is honest but for one skill, and says where it ended.
fn lies(skill: &str, instead: &str) -> (Project, String) {
    let project = Project::new();
    let script = format!("if [ \"$LOOP_SKILL\" = {skill} ]; then {instead}; else honest; fi");
    let done = project.run(&script, &[]);
    let said = format!("{done:?}");
    let status = project.status();
    assert_ne!(status["status"], "completed", "{skill} shipped: {status}");
    assert_eq!(project.sandbox.read("lib.sh"), "add() { echo 0; }\n", "{skill}: main was changed");
    assert_ne!(project.system("sys-002")["status"], "complete");
    (project, said)
}

#[test]
fn a_review_without_a_verdict_does_not_ship() {
    let (project, said) = lies("code-review", "write REVIEW.md x; save; say ''");
    assert!(said.contains("did not report verdict"), "{said}");
    assert_eq!(project.loop_state()["state"], "BLOCKED");
    assert_eq!(project.system("sys-002")["status"], "blocked");
}

#[test]
fn or21_an_audit_with_a_critical_finding_blocks_at_once() {
    let instead =
        "write SECURITY-AUDIT.md x; save; say ',\"metrics\":{\"critical_findings\":3,\"high_findings\":0}'";
    let (project, said) = lies("security-audit", instead);
    assert!(said.contains("security") && said.contains("never retried"), "{said}");
    assert_eq!(project.loop_state()["failures"]["count"], 0, "nobody retries it");
}

#[test]
fn an_audit_that_reports_nothing_is_not_zero() {
    let (_, said) = lies("security-audit", "write SECURITY-AUDIT.md x; save; say ''");
    assert!(said.contains("did not report critical_findings"), "{said}");
}

#[test]
fn or37_a_deliverable_that_is_missing_empty_or_foreign_is_none() {
    for instead in [
        "say ''",
        ": > \"$d/FEATURESPEC.md\"; save; say ''",
        "ln -s ../../../../lib.sh \"$d/FEATURESPEC.md\"; save; say ''",
        "mkdir -p domain-memory/shop/systems/sys-003; echo x > domain-memory/shop/systems/sys-003/FEATURESPEC.md; save; say ''",
    ] {
        let (_, said) = lies("spec", instead);
        assert!(said.contains("FEATURESPEC.md"), "{instead}: {said}");
    }
}

/// What is merged has every document that was asked for, also where a later call took one away.
#[test]
fn or37_a_deliverable_that_a_later_skill_removes_is_missing() {
    let project = Project::brief();
    let removes =
        "git rm -q \"$d/SECURITY-AUDIT.md\"; write REVIEW.md x; save; say ',\"verdict\":\"approve\"'";
    let script = format!(
        "if [ \"$LOOP_SKILL$LOOP_ITERATION\" = code-review1 ]; then {removes}; elif [ \"$LOOP_SKILL\" = debug-assist ]; then say ''; else honest; fi"
    );
    project.run(&script, &[]).exits(4).says("missing: domain-memory/shop/systems/sys-002/SECURITY-AUDIT.md");
    assert_eq!(project.loop_state()["state"], "BLOCKED");
}

#[test]
fn a_commit_after_the_review_does_not_ship() {
    let (_, said) = lies(
        "deploy",
        "echo 'add() { echo 3; }' > lib.sh; write DEPLOY.md x; git add -A; git commit -qm sneaky; say ''",
    );
    assert!(said.contains("was changed after the review"), "{said}");
}

#[test]
fn or11_tests_that_fail_keep_the_stage() {
    let project = Project::brief();
    let script = "case $LOOP_SKILL in implement) echo 'add() { echo 9; }' > lib.sh; write IMPLEMENTATION.md x; save; say '';; \
                  debug-assist) LOOP_SKILL=\"idea $LOOP_CALL\"; say '';; *) honest;; esac";
    project.run(script, &[]).exits(4);
    let state = project.loop_state();
    assert_eq!((state["state"].as_str(), state["failedStage"].as_str()), (Some("BLOCKED"), Some("TEST")));
    let logged = project.sandbox.read("domain-memory/shop/journey-log.jsonl");
    assert!(logged.contains("\"verification\":\"fail\""), "{logged}");
    let report = project.sandbox.run(&["status"]).exits(0);
    report
        .says("BLOCKED")
        .says("1. debug-assist: idea 5")
        .says("2. debug-assist: idea 7")
        .says("loop resume");
}

#[test]
fn an_agent_that_approves_or_edits_the_state_changes_nothing() {
    let project = Project::new();
    let root = project.sandbox.project.clone();
    let state = root.join("domain-memory/shop/systems/sys-002/loop-state.json");
    let script = format!(
        "cd {} && {} approve deploy >/dev/null 2>&1; cd - >/dev/null; \
         sed -i 's/\"state\": \"[A-Z]*\"/\"state\": \"SHIP\"/' {} 2>/dev/null; honest",
        root.display(),
        env!("CARGO_BIN_EXE_loop"),
        state.display()
    );
    project.run(&script, &["-n", "2"]).exits(6);
    assert_eq!(project.loop_state()["state"], "INIT");
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("loop-state.json was changed by somebody else"), "{warnings}");
}

/// Who edits what the next system is built by has no gate taken away unseen.
#[test]
fn an_agent_that_takes_gates_away_from_later_systems_is_named() {
    let edits = [
        (
            "sed -i 's/^mode = .*/mode = \"hybrid\"/' ROOT/.loop/workflow.toml",
            "the workflow file was changed while an agent worked",
        ),
        (
            "echo '{\"autonomy\": {\"defaultMode\": \"hybrid\"}}' > ROOT/domain-memory/shop/config.json",
            "the workflow file was changed while an agent worked",
        ),
        (
            "sed -i 's/\"id\": \"sys-003\"/\"autonomy\": {\"mode\": \"autonomous\"}, &/' ROOT/domain-memory/shop/system-queue.json",
            "the gates of sys-003 were changed in system-queue.json while an agent worked",
        ),
    ];
    for (edit, words) in edits {
        let project = Project::new();
        let root = project.sandbox.project.display().to_string();
        let edit = edit.replace("ROOT", &root);
        project.run(&format!("[ $LOOP_CALL = 2 ] && {edit}; honest"), &["-n", "3"]).exits(6);
        let warnings = project.status()["warnings"].to_string();
        assert!(warnings.contains(words), "{edit}: {warnings}");
    }
}

/// Whatever git says about a folder that is not there says less than that it is gone.
#[test]
fn an_agent_that_deletes_its_worktree_is_halted_with_the_way_to_bring_it_back() {
    let project = Project::new();
    let done = project.run("rm -rf \"$PWD\"", &[]).exits(4);
    let again = project.sandbox.run(&["run"]).exits(4);
    for said in [done, again] {
        said.says("is not what it was: it is gone").says("git worktree add --force").says("loop restore");
    }
    assert_eq!(project.loop_state()["state"], "BLOCKED");
    assert_eq!(project.system("sys-002")["status"], "blocked");
}

/// What the first capability left behind shows nothing of those after it.
#[test]
fn a_capability_is_not_done_by_the_documents_of_another() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let queue = "domain-memory/shop/system-queue.json";
    sandbox.write(queue, sandbox.read(queue).replace("[\"adding\"]", "[\"adding\", \"sub\", \"mul\"]"));
    sandbox.commit("more to build");
    let script = "case $LOOP_SKILL in implement|test-generation|code-verification) \
                  [ -e \"$OUT/did-$LOOP_SKILL\" ] && { say ''; exit; }; : > \"$OUT/did-$LOOP_SKILL\";; esac; honest";
    project.run(script, &[]).exits(4).says("IMPLEMENTATION.md (not changed since this item was begun)");
    assert_eq!(project.loop_state()["capabilities"]["completed"], 1);
}
