//! Gates, skips, and what goes on after a block.

use crate::project::{BRIEF, Project};

fn with_mode(project: &Project, mode: &str) {
    let text = "extends = \"engineering\"\nmode = \"MODE\"\n[checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n[skills.deploy]\ntarget = \"none\"\n";
    project.sandbox.write(".loop/workflow.toml", format!("{}{BRIEF}", text.replace("MODE", mode)));
    project.sandbox.commit("a mode");
}

#[test]
fn or28_the_deploy_gate_waits_for_a_person_with_what_there_is_to_see() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    with_mode(&project, "autonomous");
    let asked = project.run("honest", &[]).exits(3);
    // The work comes before the documents that every system has to write.
    let asked = asked.says("Ship it?").says("files: lib.sh, domain-memory/").says("checks: ");
    asked
        .says("security: 0 critical and 0 high findings, claimed by the agent")
        .says("performance: no target is stated");
    assert_eq!(project.loop_state()["gates"]["deploy"]["status"], "requested");
    assert_eq!(sandbox.read("lib.sh"), "add() { echo 0; }\n");
    let queue = sandbox.run(&["queue"]).exits(0).says("in-progress, waiting: Ship it? (release manager)");
    queue.says("next: loop run sys-002");
    sandbox.run(&["approve", "deploy", "--by", "ann"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let gate = &project.loop_state()["gates"]["deploy"];
    assert_eq!((gate["status"].as_str(), gate["approvedBy"].as_str()), (Some("approved"), Some("ann")));
    assert!(project.loop_state()["checkpoints"].to_string().contains("deploy approved by ann"));
}

/// A container that comes with the code, and authentication that comes with the review, stand behind their gates.
#[test]
fn or31_what_the_change_touches_later_is_asked_before_anything_leaves() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    with_mode(&project, "hybrid");
    let script = "case $LOOP_SKILL in implement) echo 'FROM scratch' > Dockerfile;; \
                  code-review) echo '# checks the password of a login' >> lib.sh;; esac; honest";
    project.run(script, &[]).exits(3).says("Is this change safe").says("the mode hybrid always asks");
    sandbox.run(&["approve", "security", "--by", "sam"]).exits(0);
    let asked = sandbox.run(&["run"]).exits(3).says("Approve the architecture?");
    asked.says("which was not so when SCAFFOLD was left");
    let gates = project.loop_state()["gates"].clone();
    assert_eq!(gates["architecture"]["status"], "requested");
    sandbox.run(&["approve", "architecture", "--by", "tess"]).exits(0);
    let asked = sandbox.run(&["run"]).exits(3).says("Is this change safe");
    asked.says("touch authentication, permissions or secrets, which was not so when VALIDATE was left");
    // What is approved is this commit: another one is asked about again, by each of them.
    let worktree = sandbox.project.join(".worktrees/feature-adder");
    sandbox.run(&["approve", "security", "--by", "sam"]).exits(0);
    sandbox.git(&[
        "-C",
        &worktree.display().to_string(),
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "a person's",
    ]);
    sandbox.run(&["run"]).exits(3).says("is void").says("Approve the architecture?");
    for gate in ["architecture", "security", "deploy"] {
        assert_eq!(sandbox.read("lib.sh"), "add() { echo 0; }\n", "{gate} is asked before anything leaves");
        sandbox.run(&["approve", gate, "--by", "ann"]).exits(0);
        sandbox.run(&["run"]);
    }
    assert_eq!(project.system("sys-002")["status"], "complete");
}

#[test]
fn or29_changes_at_a_gate_go_back_and_a_rejection_blocks() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    with_mode(&project, "autonomous");
    project.run("honest", &[]).exits(3);
    sandbox.run(&["changes", "deploy", "say why in the README"]).exits(0);
    sandbox.run(&["run"]).exits(3);
    let history = project.loop_state()["failures"]["history"].to_string();
    assert!(history.contains("gate-rejection") && history.contains("say why"), "{history}");
    sandbox.run(&["reject", "deploy", "not now"]).exits(0);
    sandbox.run(&["run"]).exits(4);
    assert_eq!(project.loop_state()["state"], "BLOCKED");
    assert!(project.system("sys-002")["blockedReason"].as_str().is_some_and(|it| it.contains("not now")));
}

#[test]
fn or35_a_skill_is_skipped_only_with_a_reason() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["skip", "estimation"]).exits(2);
    sandbox.run(&["skip", "estimation", "--reason", "a toy"]).exits(0);
    sandbox.run(&["run", "-n", "5"]).exits(6);
    let state = project.loop_state();
    assert_eq!(state["state"], "SCAFFOLD", "INIT was left without it");
    assert_eq!(state["skillExecution"]["INIT"]["skipped"][0]["reason"], "a toy");
    assert!(state["skillsUsage"]["estimation"].is_null());
    let logged = sandbox.read("domain-memory/shop/journey-log.jsonl");
    assert!(logged.contains("\"reason\":\"a toy\""), "{logged}");
}

#[test]
fn or23_a_blocked_system_goes_on_when_a_person_says_so() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let script = "if [ \"$LOOP_PHASE/$LOOP_SKILL\" = INIT/memory-manager ] && [ ! -e \"$ALLOWED\" ]; then say ''; else honest; fi";
    let allowed = sandbox.root().join("allowed");
    let script = format!("ALLOWED={}\n{script}", allowed.display());
    project.run(&script, &[]).exits(4);
    let state = project.loop_state();
    assert_eq!(
        (state["state"].as_str(), state["failures"]["history"][0]["stage"].as_str()),
        (Some("BLOCKED"), Some("INIT"))
    );
    assert!(state["skillsUsage"]["debug-assist"].as_u64().is_some_and(|it| 1 < it), "{state}");
    // OR-39: a call that failed stays in the log and is not counted.
    let log = state["skillsLog"].as_array().expect("a log");
    let failed = log.iter().filter(|it| it["skill"] == "memory-manager" && it["status"] == "failed");
    assert_eq!((failed.count(), &state["skillsUsage"]["memory-manager"]), (3, &serde_json::Value::Null));
    let escalated: Vec<bool> = project
        .json("domain-memory/shop/failure-log.json")
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["wasEscalated"] == true)
        .collect();
    assert_eq!(escalated, [false, false, true], "the one that blocked it");
    let retries = || -> Vec<(u64, bool)> {
        let log = project.json("domain-memory/shop/failure-log.json");
        let entries = log.as_array().expect("a list").clone();
        entries
            .iter()
            .map(|it| (it["retries"].as_u64().expect("a number"), it["wasEscalated"] == true))
            .collect()
    };
    let before = retries();
    assert_eq!(before, [(0, false), (1, false), (2, true)]);
    std::fs::write(&allowed, "").expect("written");
    // It was said before, and is not said twice.
    sandbox.run(&["answer", "resume"]).exits(0);
    let resumed = sandbox.run(&["resume"]).exits(0);
    assert!(!resumed.err.contains("no question is open"), "{resumed:?}");
    assert_eq!(retries(), before, "what happened stays so");
    let state = project.loop_state();
    assert_eq!(state["state"], "COMPLETE");
    assert_eq!(state["failures"]["history"][0]["resolution"], "resumed by a person");
    assert!(state["failures"]["history"][0]["resolvedAt"].is_string(), "{state}");
}

/// An approval is for the change that was seen: what replaces it afterwards is asked about again.
#[test]
fn or31_what_was_approved_and_moved_since_is_asked_again() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    with_mode(&project, "hybrid");
    let script = "case $LOOP_SKILL in \
                  implement) echo '# check_password_hash' > auth.sh; echo 'FROM scratch' > Dockerfile;; \
                  document) echo 'if [ \"$password\" = backdoor ]; then login; fi' > auth.sh;; \
                  esac; honest";
    project.run(script, &[]).exits(3).says("Is this change safe").says("the mode hybrid always asks");
    sandbox.run(&["approve", "security", "--by", "sam"]).exits(0);
    sandbox.run(&["run"]).exits(3).says("Approve the architecture?");
    sandbox.run(&["approve", "architecture", "--by", "tess"]).exits(0);
    let asked = sandbox.run(&["run"]).exits(3).says("Is this change safe");
    asked.says("and that part of them moved since sam approved it at 20");
    sandbox.run(&["approve", "security", "--by", "ann"]).exits(0);
    let asked = sandbox.run(&["run"]).exits(3).says("Ship it?");
    asked.says("ann approved the gate security once more");
    sandbox.run(&["approve", "deploy", "--by", "ann"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let folder = sandbox.project.join("domain-memory/shop/sessions");
    let handoff = std::fs::read_dir(folder).expect("handoffs").last().expect("one").expect("read").path();
    let handoff = std::fs::read_to_string(handoff).expect("text");
    assert!(handoff.contains("ann approved the gate security once more"), "{handoff}");
}

/// What a skipped skill would have brought is not asked for, in each stage.
#[test]
fn or35_a_stage_is_left_without_what_a_skipped_skill_would_bring() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    for skill in ["security-audit", "perf-analysis", "git-workflow", "memory-manager"] {
        sandbox.run(&["skip", skill, "--reason", "a toy"]).exits(0);
    }
    let refused = sandbox.run(&["skip", "code-review", "--reason", "a toy"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    refused.says("REVIEW cannot be left without a verdict, which only code-review brings");
    sandbox.run(&["run"]).exits(0);
    assert_eq!(project.system("sys-002")["status"], "complete");
}

#[test]
fn or29_what_came_of_a_gate_is_recorded() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml").replace("gates = []", "gates = [\"deploy\"]");
    sandbox.write(".loop/workflow.toml", text);
    sandbox.commit("a gate");
    project.run("honest", &[]).exits(3);
    sandbox.run(&["changes", "deploy", "say why in the README"]).exits(0);
    sandbox.run(&["run", "-n", "1"]).exits(6);
    let gate = project.loop_state()["gates"]["deploy"].clone();
    assert_eq!(
        (gate["status"].as_str(), gate["notes"].as_str()),
        (Some("pending"), Some("changes asked for: say why in the README"))
    );
    sandbox.run(&["run", "-n", "100"]).exits(3);
    sandbox.run(&["reject", "deploy", "not now", "--by", "ann"]).exits(0);
    sandbox.run(&["run"]).exits(4);
    let gate = project.loop_state()["gates"]["deploy"].clone();
    assert_eq!(
        (gate["status"].as_str(), gate["notes"].as_str()),
        (Some("rejected"), Some("rejected by ann: not now"))
    );
    let journey = sandbox.read("domain-memory/shop/journey-log.jsonl");
    for action in ["changes-requested", "rejected"] {
        assert!(journey.contains(&format!("\"action\":\"{action}\"")), "{action}: {journey}");
    }
    sandbox.run(&["status"]).exits(0).says("settle why the gate deploy was rejected");
}

/// What was skipped is not proven, so nothing is paid for a merge that cannot come.
#[test]
fn or25_a_skipped_review_is_asked_for_before_anything_is_merged() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let script = "claims() { case $LOOP_SKILL in security-audit) echo ',\"metrics\":{\"critical_findings\":0,\"high_findings\":0}';; \
                  perf-analysis) echo ',\"metrics\":{\"perf_targets_total\":0}';; \
                  code-review) [ -e \"$OUT/well\" ] && echo ',\"verdict\":\"approve\"' || echo ',\"verdict\":\"changes\"';; esac; }; honest";
    project.run(script, &["-n", "100"]).exits(3);
    sandbox.run(&["answer", "skip"]).exits(0);
    let calls = project.status()["calls_total"].clone();
    let halted = sandbox.run(&["run", "-n", "100"]).exits(4);
    halted.says("REVIEW was skipped by a person, and only proven work is merged");
    assert_eq!(project.status()["calls_total"], calls, "nothing was called");
    sandbox.run(&["status"]).says("loop resume --state REVIEW");
    std::fs::write(sandbox.note("well"), "").expect("written");
    sandbox.run(&["resume", "--state", "REVIEW", "-n", "100"]).exits(0);
    assert_eq!(project.system("sys-002")["status"], "complete");
}
