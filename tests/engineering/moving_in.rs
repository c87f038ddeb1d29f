//! Somebody comes with a system that another controller has begun: its state file and its queue.

use crate::project::{Project, SYSTEM};
use serde_json::{Value, json};

/// The example of the seed, word for word but for the dots in its checkpoints.
const STATE: &str = r#"{
  "systemId": "sys-002",
  "systemName": "Work Order Service",
  "githubIssue": 123,
  "branch": "feature/system-work-orders",
  "worktree": ".worktrees/system-work-orders",
  "state": "IMPLEMENT",
  "stateEnteredAt": "2024-01-17T10:30:00Z",
  "capabilities": {
    "total": 5,
    "completed": 2,
    "current": "work-order-assignment",
    "remaining": ["status-transitions", "completion-flow"]
  },
  "stages": {
    "INIT": { "status": "complete", "completedAt": "2024-01-17T09:00:00Z" },
    "SCAFFOLD": { "status": "complete", "completedAt": "2024-01-17T09:30:00Z" },
    "IMPLEMENT": { "status": "in-progress", "startedAt": "2024-01-17T09:35:00Z" },
    "TEST": { "status": "pending" },
    "VERIFY": { "status": "pending" },
    "VALIDATE": { "status": "pending" },
    "DOCUMENT": { "status": "pending" },
    "REVIEW": { "status": "pending" },
    "SHIP": { "status": "pending" },
    "COMPLETE": { "status": "pending" }
  },
  "failures": {
    "count": 1,
    "maxRetries": 3,
    "history": [
      {
        "stage": "VERIFY",
        "capability": "work-order-creation",
        "error": "Type error in WorkOrder model",
        "timestamp": "2024-01-17T10:15:00Z",
        "resolution": "Fixed type definition",
        "resolvedAt": "2024-01-17T10:25:00Z"
      }
    ]
  },
  "gates": {
    "architecture": { "required": false },
    "security": { "required": true, "status": "pending" },
    "database": { "required": true, "status": "approved", "approvedBy": "dba@company.com" },
    "deploy": { "required": true, "status": "pending" }
  },
  "checkpoints": [
    { "type": "commit", "hash": "abc1234", "message": "feat: work order model", "at": "2024-01-17T10:20:00Z" },
    { "type": "commit", "hash": "def5678", "message": "feat: create endpoint", "at": "2024-01-17T10:25:00Z" }
  ],
  "updatedAt": "2024-01-17T10:30:00Z"
}
"#;

const DOMAIN_STATE: &str = "domain-memory/shop/loop-state.json";

/// A project in the middle of its work: the system is in progress, its branch has a commit and its worktree a file
/// that is not committed.
fn begun(state: &str) -> Project {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let queue = "domain-memory/shop/system-queue.json";
    let text = sandbox.read(queue).replace("\"Adder\"", "\"Work Order Service\"");
    let text = text.replace(
        "\"specified\",\n     \"dependencies\": [\"sys-001\"]",
        "\"in-progress\",\n     \"dependencies\": [\"sys-001\"]",
    );
    sandbox.write(queue, text.replace(", \"capabilities\": [\"adding\"]", ""));
    sandbox.write(DOMAIN_STATE, state);
    sandbox.commit("in the middle of it");
    sandbox.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "feature/system-work-orders",
        ".worktrees/system-work-orders",
    ]);
    sandbox.write(".worktrees/system-work-orders/orders.sh", "orders() { :; }\n");
    sandbox.git(&["-C", ".worktrees/system-work-orders", "add", "orders.sh"]);
    sandbox.git(&["-C", ".worktrees/system-work-orders", "commit", "-qm", "feat: work order model"]);
    sandbox.write(".worktrees/system-work-orders/half.sh", "half done\n");
    project
}

fn changed(change: impl Fn(&mut Value)) -> String {
    let mut state: Value = serde_json::from_str(STATE).expect("JSON");
    change(&mut state);
    state.to_string()
}

#[test]
fn or08_the_seeds_example_goes_on_where_it_was() {
    let project = begun(STATE);
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox
        .run(&["init", "sys-002", "--agent-cmd", &agent])
        .exits(0)
        .says("was started by another controller");
    let status = sandbox.run(&["status"]).exits(0);
    let status = status.says("System: Work Order Service (sys-002)");
    let status = status
        .says("State: IMPLEMENT (capability 3/5: work-order-assignment)")
        .says("Failures: 1 (resolved)");
    status.says("security pending").says("the gate database was approved by dba@company.com elsewhere");
    let state = project.loop_state();
    // What somebody asked for once is not dropped because the approval belongs to another tree.
    assert_eq!(state["gates"]["database"], json!({"required": true, "status": "pending"}));
    assert_eq!(state["branch"], "feature/system-work-orders");
    assert_eq!(state["capabilities"]["remaining"], json!(["status-transitions", "completion-flow"]));
    assert_eq!(state["failures"]["history"][0]["resolution"], "Fixed type definition");
    assert_eq!(state["stages"]["SCAFFOLD"]["status"], "complete");
    // The work is where it was, and the original is kept.
    assert_eq!(sandbox.read(".worktrees/system-work-orders/half.sh"), "half done\n");
    let run = project.status()["run"].as_str().expect("an id").to_owned();
    let kept = sandbox.home.join("runs").join(&run).join("imported/loop-state.json");
    assert_eq!(std::fs::read_to_string(kept).expect("a copy"), STATE);
    // Nothing of the first stages is done again; the gates of the file are asked.
    let asked = sandbox.run(&["run"]).exits(3).says("The change migrates the database. Approve it?");
    asked.says("item status-transitions is done");
    let first = sandbox.prompt(1);
    assert!(first.contains("IMPLEMENT: implement") && first.contains("work-order-assignment"), "{first}");
    sandbox.run(&["approve", "--by", "dba"]).exits(0);
    sandbox.run(&["run"]).exits(3).says("Is this change safe");
    sandbox.run(&["approve", "--by", "sec"]).exits(0);
    sandbox.run(&["run"]).exits(3).says("Ship it?");
    sandbox.run(&["approve", "--by", "rel"]).exits(0);
    sandbox.run(&["run"]).exits(0).says("merged into main");
    assert_eq!(sandbox.read("orders.sh"), "orders() { :; }\n", "what was there before is merged, too");
    assert_eq!(project.system("sys-002")["status"], "complete");
}

#[test]
fn resume_finds_the_system_that_was_left() {
    let project = begun(STATE);
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml");
    let agent = project.agent("honest").replace('\'', "");
    let words: Vec<&str> = agent.split(' ').collect();
    let command = format!("[agent]\ncli = \"command\"\nargs = {}\n", json!(words));
    sandbox.write(".loop/workflow.toml", format!("{text}{command}"));
    sandbox.commit("an agent");
    sandbox.run(&["resume", "-n", "1"]).exits(6).says("was started by another controller");
    assert_eq!(project.loop_state()["state"], "TEST");
}

#[test]
fn what_does_not_fit_is_named_and_nothing_is_changed() {
    let cases: [(&str, String); 7] = [
        ("state is not one of INIT, SCAFFOLD", changed(|it| it["state"] = "DREAMING".into())),
        (
            "stages.SCAFFOLD.status is pending",
            changed(|it| it["stages"]["SCAFFOLD"]["status"] = "pending".into()),
        ),
        ("stages.INIT.status is not one of", changed(|it| it["stages"]["INIT"]["status"] = "done".into())),
        ("capabilities.total is 7", changed(|it| it["capabilities"]["total"] = 7.into())),
        (
            "gates.security.status is not one of",
            changed(|it| it["gates"]["security"]["status"] = "maybe".into()),
        ),
        ("stateEnteredAt is not a time", changed(|it| it["stateEnteredAt"] = "yesterday".into())),
        ("branch is missing", changed(|it| it["branch"] = Value::Null)),
    ];
    for (says, state) in cases {
        let project = begun(&state);
        let sandbox = &project.sandbox;
        let agent = project.agent("honest");
        sandbox.run(&["run", "sys-002", "--agent-cmd", &agent]).exits(8).says(says);
        assert_eq!(sandbox.read(DOMAIN_STATE), state, "{says}");
        assert_eq!(project.system("sys-002")["status"], "in-progress");
        assert!(sandbox.calls().is_empty(), "{says}");
    }
}

/// Nothing was proven here, so nothing is shipped on the word of a file.
#[test]
fn a_system_in_ship_or_blocked_goes_on_with_what_can_be_shown() {
    let state = changed(|it| {
        it["state"] = "SHIP".into();
        it["capabilities"] = json!({"total": 1, "completed": 1, "current": null, "remaining": []});
        for stage in ["IMPLEMENT", "TEST", "VERIFY", "VALIDATE", "DOCUMENT", "REVIEW"] {
            it["stages"][stage] = json!({"status": "complete", "completedAt": "2024-01-17T10:00:00Z"});
        }
    });
    let project = begun(&state);
    let agent = project.agent("honest");
    project.sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    assert_eq!(project.loop_state()["state"], "REVIEW");
    let state = changed(|it| {
        it["state"] = "BLOCKED".into();
        it["blockedReason"] = "no access to the registry".into();
        it["failures"]["count"] = 3.into();
    });
    let project = begun(&state);
    let agent = project.agent("honest");
    project
        .sandbox
        .run(&["run", "sys-002", "--agent-cmd", &agent])
        .exits(4)
        .says("no access to the registry");
    assert!(project.sandbox.calls().is_empty());
    project.sandbox.run(&["resume", "-n", "1"]).exits(6);
    assert!(project.sandbox.prompt(1).contains("IMPLEMENT: implement"));
}

/// Another system is begun first: the file of the domain shows it from then on.
#[test]
fn the_state_of_another_system_is_not_written_over() {
    let project = begun(STATE);
    let sandbox = &project.sandbox;
    sandbox.run(&["queue", "add", "Another"]).exits(0);
    let agent = project.agent("ID=sys-004; d=domain-memory/shop/systems/$ID; mkdir -p $d; honest");
    sandbox.run(&["run", "sys-004", "-n", "1", "--agent-cmd", &agent]).exits(6);
    assert_eq!(project.json(DOMAIN_STATE)["systemId"], "sys-004");
    assert_eq!(sandbox.read(&format!("{SYSTEM}/loop-state.json")), STATE);
}

#[test]
fn or38_a_deploy_target_is_asked_for_once() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml").replace("target = \"none\"\n", "");
    sandbox.write(".loop/workflow.toml", text);
    sandbox.commit("no target");
    let asked = project.run("honest", &[]).exits(3);
    asked.says("the skill deploy needs a deploy target").says("TARGET").says("skip");
    assert!(project.loop_state()["prerequisites"]["deploy"].is_null(), "nobody has said anything");
    sandbox.run(&["answer", "npm publish"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let said = project.loop_state()["prerequisites"].clone();
    assert_eq!(said["deploy"], json!({"status": "configured", "prompted": true, "target": "npm publish"}));
    assert_eq!(said["git"]["status"], "configured");
    assert!(sandbox.prompt(10).contains("Its target: npm publish"), "{}", sandbox.prompt(21));
    // The next system of the project takes it over.
    let agent = project.agent("work() { true; }; ID=sys-003; d=domain-memory/shop/systems/$ID; mkdir -p $d; case $LOOP_SKILL in implement) echo '# more' >> lib.sh;; esac; honest");
    sandbox.run(&["init", "sys-003", "--agent-cmd", &agent]).exits(0);
    let file = project.json("domain-memory/shop/systems/sys-003/loop-state.json");
    assert_eq!(file["prerequisites"]["deploy"]["target"], "npm publish");
}

#[test]
fn a_prerequisite_that_is_skipped_skips_its_skill() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml").replace("target = \"none\"\n", "");
    sandbox.write(".loop/workflow.toml", text);
    sandbox.commit("no target");
    project.run("honest", &[]).exits(3);
    sandbox.run(&["answer", "skip"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let state = project.loop_state();
    assert_eq!(state["prerequisites"]["deploy"], json!({"status": "skipped", "prompted": true}));
    assert_eq!(state["skillExecution"]["SHIP"]["skipped"][0]["skill"], "deploy");
    assert!(state["skillsUsage"]["deploy"].is_null());
    let journey = sandbox.read("domain-memory/shop/journey-log.jsonl");
    assert!(
        journey.contains("\"subject\":\"deploy\"") && journey.contains("\"status\":\"skipped\""),
        "{journey}"
    );
}

/// What was logged of the work before is at the beginning of the new file, and counts on.
#[test]
fn or39_the_logs_of_another_controller_begin_the_new_file() {
    let spec = json!({
        "skill": "spec", "reason": "for the first system", "startedAt": "2024-01-16T10:05:00Z",
        "completedAt": "2024-01-16T10:06:00Z", "durationMs": 60000, "status": "complete",
        "deliverables": ["FEATURESPEC.md"], "referencesRead": [], "children": []
    });
    let portal = json!({
        "skill": "entry-portal", "reason": "a new domain", "startedAt": "2024-01-16T10:00:00Z",
        "completedAt": "2024-01-16T10:10:00Z", "durationMs": 600000, "status": "complete",
        "deliverables": ["dream-state.md"], "referencesRead": ["clarifying-questions.md"], "children": [spec]
    });
    let timed = json!({ "skill": "implement", "timestamp": "2024-01-17T10:20:00Z", "durationMs": 1800000 });
    let state = changed(|it| {
        it["skillsUsage"] = json!({ "entry-portal": 1, "implement": 2, "scaffold": 0 });
        it["skillsLog"] = json!([portal, { "skill": "lost", "startedAt": "..." }]);
        it["metrics"] = json!({ "skillsInvoked": 3, "skillHistory": [timed] });
    });
    let project = begun(&state);
    let agent = project.agent("honest");
    let init = project.sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    init.says("was started by another controller");
    let begun = project.loop_state();
    assert_eq!(begun["skillsLog"], json!([portal]));
    assert_eq!(begun["metrics"], json!({ "skillsInvoked": 3, "skillHistory": [timed] }));
    let points = begun["checkpoints"].as_array().expect("checkpoints").clone();
    assert_eq!(points[0], serde_json::from_str::<Value>(STATE).expect("JSON")["checkpoints"][0]);
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("only in the copy (entries left out: 1)"), "{warnings}");
    project.sandbox.run(&["run", "-n", "1"]).exits(6);
    let after = project.loop_state();
    assert_eq!(after["skillsUsage"]["implement"], 3, "{after}");
    assert_eq!(after["skillsLog"].as_array().map(Vec::len), Some(2));
}

/// A branch and a worktree that no system can have are refused by name, before anything is written.
#[test]
fn or48_a_foreign_branch_or_folder_is_refused_by_name() {
    for (field, was, is) in [
        ("branch", "feature/system-work-orders", "main"),
        ("worktree", ".worktrees/system-work-orders", "../../etc"),
    ] {
        let project =
            begun(&STATE.replacen(&format!("\"{field}\": \"{was}\""), &format!("\"{field}\": \"{is}\""), 1));
        let before = project.sandbox.read(DOMAIN_STATE);
        let queue = project.sandbox.read("domain-memory/shop/system-queue.json");
        project.run("honest", &[]).exits(8).says(field).says(is);
        assert_eq!(project.sandbox.read(DOMAIN_STATE), before);
        assert_eq!(project.sandbox.read("domain-memory/shop/system-queue.json"), queue);
    }
}
