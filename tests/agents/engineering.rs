//! A stage of a system with a real program: one call for each skill, in the system's own worktree.

use super::lab::Lab;
use loop_harness::agent_programs::is_wanted;
use serde_json::{Value, json};

const FOLDER: &str = "domain-memory/shop/systems/sys-001";

/// What the model does for a skill: it writes the deliverable, commits it and reports.
fn skill(file: &str) -> [Value; 2] {
    let shell =
        format!("mkdir -p {FOLDER} && echo {file} > {FOLDER}/{file} && git add -A && git commit -qm {file}");
    let report = json!({"status": "done", "summary": format!("wrote {file}"), "references": ["README.md"]});
    [json!({"tools": [{"sh": shell}]}), json!({"text": format!("Done.\n\n```json\n{report}\n```")})]
}

#[test]
fn claude_goes_through_init_skill_by_skill() {
    if !is_wanted("claude", "a stage of a system") {
        return;
    }
    let files = ["SYSTEM.md", "REQUIREMENTS.md", "FEATURESPEC.md", "ESTIMATES.md", "TRIAGE.md", "CONTEXT.md"];
    let turns: Vec<Value> = files.iter().flat_map(|it| skill(it)).collect();
    let mut lab = Lab::new("claude", &json!({ "turns": turns }));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake".to_owned()));
    let system =
        json!({"id": "sys-001", "name": "Orders", "status": "specified", "dependencies": [], "priority": 1});
    lab.write(
        "domain-memory/shop/system-queue.json",
        &json!({"domain": "shop", "systems": [system]}).to_string(),
    );
    lab.write(
        ".loop/workflow.toml",
        "extends = \"engineering\"\n[agent]\ncli = \"claude\"\nmodel = \"sonnet\"\n",
    );
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "-qm", "a queue"]);
    let output = lab.run(&["run", "sys-001", "-n", "6"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("INIT passed") && said.contains("SCAFFOLD begins"), "{said}");
    let status = lab.status();
    assert_eq!((&status["phase"], &status["calls_total"]), (&json!("SCAFFOLD"), &json!(6)), "{status}");
    // Every skill was a call of its own, asked for the model of the workflow, and worked in the worktree.
    let asked = lab.models();
    assert_eq!(asked.len(), 12, "{asked:?}");
    assert!(asked.iter().all(|it| it.contains("sonnet")), "{asked:?}");
    let kept = lab.git(&["log", "--format=%s", "-6", "feature/orders"]);
    assert_eq!(kept.lines().rev().collect::<Vec<_>>(), files);
    let state =
        std::fs::read_to_string(lab.repo().join(FOLDER).join("loop-state.json")).expect("a state file");
    let state: Value = serde_json::from_str(&state).expect("JSON");
    assert_eq!(state["stages"]["INIT"]["status"], "complete", "{state}");
    assert_eq!(state["skillsLog"].as_array().map(Vec::len), Some(6), "{state}");
    assert_eq!(state["skillsLog"][2]["referencesRead"], json!(["README.md"]));
    lab.assert_nothing_runs();
}
