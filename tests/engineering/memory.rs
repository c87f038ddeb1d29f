//! What a system leaves in the memory of its domain, and what people may write into it.

use crate::project::{BRIEF, Project, SYSTEM};
use serde_json::Value;

const STATES: [&str; 13] = [
    "INIT",
    "SCAFFOLD",
    "IMPLEMENT",
    "TEST",
    "VERIFY",
    "VALIDATE",
    "DOCUMENT",
    "REVIEW",
    "SHIP",
    "COMPLETE",
    "FAILED",
    "RETRY",
    "BLOCKED",
];

/// Says what of a state file the seed's schema does not allow.
fn against_schema(state: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let digits = text(state, "systemId").strip_prefix("sys-").map(str::to_owned).unwrap_or_default();
    must(3 <= digits.len() && digits.bytes().all(|it| it.is_ascii_digit()), "systemId");
    must(!text(state, "systemName").is_empty(), "systemName");
    must(state["githubIssue"].is_null() || state["githubIssue"].is_u64(), "githubIssue");
    must(text(state, "branch").starts_with("feature/"), "branch");
    must(text(state, "worktree").starts_with(".worktrees/"), "worktree");
    must(STATES.contains(&text(state, "state").as_str()), "state");
    for key in ["stateEnteredAt", "updatedAt"] {
        must(text(state, key).ends_with('Z') && 20 <= text(state, key).len(), key);
    }
    let capabilities = &state["capabilities"];
    let remaining = capabilities["remaining"].as_array().map_or(99, Vec::len) as u64;
    let current = u64::from(capabilities["current"].is_string());
    let done = capabilities["completed"].as_u64().unwrap_or(99);
    let total = capabilities["total"].as_u64().unwrap_or(0);
    must(1 <= total && done + current + remaining == total, "capabilities");
    let stages = state["stages"].as_object().cloned().unwrap_or_default();
    let known = ["pending", "in-progress", "complete", "failed", "skipped"];
    must(
        stages.len() == 10 && stages.values().all(|it| known.contains(&text(it, "status").as_str())),
        "stages",
    );
    let failures = &state["failures"];
    let counts = ["count", "maxRetries", "totalFailures", "maxTotalFailures"];
    must(counts.iter().all(|it| failures[it].is_u64()) && failures["history"].is_array(), "failures");
    let gates = state["gates"].as_object().cloned().unwrap_or_default();
    let known = ["pending", "requested", "approved", "rejected", "not-applicable"];
    let is_gate = |it: &Value| it["required"].is_boolean() && known.contains(&text(it, "status").as_str());
    must(gates.values().all(is_gate), "gates");
    let kinds = ["commit", "milestone", "approval", "note"];
    let points = state["checkpoints"].as_array().cloned().unwrap_or_default();
    must(
        points.iter().all(|it| kinds.contains(&text(it, "type").as_str()) && it["at"].is_string()),
        "checkpoints",
    );
    wrong
}

/// Every call keeps the state file as it found it; each must be as the schema says.
#[test]
fn or44_the_state_file_fits_its_schema_at_every_step() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let file = sandbox.project.join(SYSTEM).join("loop-state.json");
    let script = format!("cp {} \"$OUT/state-$LOOP_CALL.json\"; honest", file.display());
    project.run(&script, &[]).exits(0);
    let mut seen = Vec::new();
    for call in 1..=25 {
        let text =
            std::fs::read_to_string(sandbox.note(&format!("state-{call}.json"))).expect("a state file");
        let state: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(against_schema(&state), Vec::<String>::new(), "call {call}: {state}");
        let listed = state["capabilities"]["remaining"] == serde_json::json!(["adding"]);
        assert_eq!(listed, ["INIT", "SCAFFOLD"].contains(&state["state"].as_str().unwrap_or_default()));
        seen.push(state["state"].as_str().unwrap_or_default().to_owned());
    }
    seen.dedup();
    assert_eq!(seen, STATES[..10]);
    let last = project.loop_state();
    assert_eq!(against_schema(&last), Vec::<String>::new());
    // OR-39: what each skill took, and how often it was called.
    let log = last["skillsLog"].as_array().expect("a log");
    assert_eq!(log.len(), 25);
    assert!(log.iter().all(|it| it["durationMs"].is_u64() && it["status"] == "complete"), "{last}");
    assert_eq!(log[2]["deliverables"], serde_json::json!([format!("{SYSTEM}/FEATURESPEC.md")]));
    assert_eq!(log[5]["deliverables"], serde_json::json!([format!("{SYSTEM}/CONTEXT.md")]), "of the stage");
    assert_eq!(last["skillsUsage"]["memory-manager"], 2);
    assert_eq!(last["metrics"]["skillHistory"].as_array().map(Vec::len), Some(25));
    assert!(last["lastVerification"].is_string());
    // OR-15: a line for each verification.
    let journey = sandbox.read("domain-memory/shop/journey-log.jsonl");
    let lines: Vec<Value> = journey.lines().map(|it| serde_json::from_str(it).expect("a line")).collect();
    assert!(lines.iter().any(|it| it["verification"] == "pass" && it["subject"] == "VERIFY"), "{journey}");
}

/// OR-48: an earlier stage, written into the file while nothing runs, is where the run goes on.
#[test]
fn a_state_that_a_person_writes_is_a_command_and_never_one_that_was_not_reached() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    project.run("honest", &["-n", "8"]).exits(6);
    assert_eq!(project.loop_state()["state"], "SCAFFOLD");
    let file = format!("{SYSTEM}/loop-state.json");
    let write = |state: &str| {
        let mut written = project.loop_state();
        written["state"] = state.into();
        sandbox.write(&file, written.to_string());
    };
    write("SHIP");
    sandbox.run(&["resume", "-n", "1"]).exits(6).says("has not been reached");
    assert_eq!(project.loop_state()["state"], "SCAFFOLD");
    write("NOWHERE");
    sandbox.run(&["resume"]).exits(8).says("NOWHERE");
    write("INIT");
    sandbox.run(&["status"]).exits(0);
    sandbox.run(&["resume", "-n", "1"]).exits(6).says("says INIT: the run continues there");
    assert_eq!(project.loop_state()["state"], "INIT");
}

#[test]
fn a_projects_own_skill_and_the_domains_memory_reach_the_prompt() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.write("skills/entry-portal/SKILL.md", "# Portal\n\nAsk {{ nobody }} first.\n");
    sandbox.write("skills/entry-portal/references/map.md", "a map\n");
    sandbox.commit("a skill");
    sandbox.write("domain-memory/shop/dream-state.md", "Everybody adds.\n");
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["next"]).exits(5);
    let prompt = sandbox.prompt(1);
    assert!(prompt.contains("Ask {{ nobody }} first."), "{prompt}");
    assert!(prompt.contains("skills/entry-portal/references/map.md"), "{prompt}");
    assert!(prompt.contains("Everybody adds."), "{prompt}");
}

#[test]
fn a_gate_is_asked_for_what_the_change_touches_and_not_for_what_documents_say() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let text = "extends = \"engineering\"\nmode = \"hybrid\"\n[modes.hybrid]\ngates = []\n\
                [checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n[skills.deploy]\ntarget = \"none\"\n";
    let text = format!("{text}{BRIEF}");
    sandbox.write(".loop/workflow.toml", &text);
    sandbox.commit("a mode");
    let docs = "echo 'see https://example.com, the password' > README.md; mkdir -p tests; echo password > tests/a.sh";
    let script = format!("if [ \"$LOOP_SKILL\" = implement ]; then {docs}; fi; honest");
    project.run(&script, &[]).exits(0);
    // The same words in the code are a reason to ask.
    let project = Project::new();
    project.sandbox.write(".loop/workflow.toml", &text);
    project.sandbox.commit("a mode");
    let script = "if [ \"$LOOP_SKILL\" = implement ]; then echo 'password=1' > login.sh; fi; honest";
    project
        .run(script, &[])
        .exits(3)
        .says("asked because the changes touch authentication, permissions or secrets");
    assert_eq!(project.loop_state()["gates"]["security"]["status"], "requested");
}

/// What the last stages wrote is in no commit, so it would go with the worktree.
#[test]
fn documents_that_an_agent_staged_are_collected_as_the_others_are() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let staged = "echo 1 > $d/PLAIN.md; echo 2 > $d/STAGED.md; echo 3 > $d/BOTH.md; echo 4 > $d/NAMED.md; \
                  git add $d/STAGED.md $d/BOTH.md; echo 5 > $d/BOTH.md; git add -N $d/NAMED.md; \
                  echo 6 >> $d/IMPLEMENTATION.md; git add $d/IMPLEMENTATION.md";
    let script = format!("[ $LOOP_PHASE = SHIP ] && {{ {staged}; }}; honest");
    let done = project.run(&script, &[]).exits(0);
    let read = |name: &str| sandbox.read(&format!("{SYSTEM}/{name}"));
    let written = ["PLAIN.md", "STAGED.md", "BOTH.md", "NAMED.md"].map(read);
    assert_eq!(written, ["1\n", "2\n", "5\n", "4\n"]);
    assert!(read("IMPLEMENTATION.md").ends_with("\n6\n"), "{}", read("IMPLEMENTATION.md"));
    assert!(!done.err.contains("stays") && !done.err.contains("--force"), "{}", done.err);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_worktree_that_stays_is_not_said_to_be_removed_by_force() {
    let project = Project::brief();
    let done = project.run("[ $LOOP_PHASE = COMPLETE ] && echo 1 > left.txt; honest", &[]);
    done.says("stays: ").says("modified or untracked files");
    let warnings = project.status()["warnings"].to_string();
    assert!(!warnings.contains("--force"), "{warnings}");
}
