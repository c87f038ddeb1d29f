//! A phase of a planning folder with a real program: who is asked is what the profile says, role by role.

use super::lab::Lab;
use loop_harness::agent_programs::is_wanted;
use serde_json::{Value, json};

const FOLDER: &str = ".planning/phases/03-accounts";

/// Shell that writes a file of the phase.
fn file(name: &str, text: &str) -> String {
    format!("cat > {FOLDER}/{name} <<'END'\n{text}END\n")
}

fn task(work: &str, plan: &str) -> [Value; 2] {
    let summary = file(&format!("{plan}-SUMMARY.md"), "done\n");
    let shell = format!("{work} && git add -A && git commit -qm 'feat({plan}): work'\n{summary}");
    let signal = "Done.\n\n---\nEXIT_SIGNAL: PLAN_COMPLETE\nTASK: the task\n---";
    [json!({"tools": [{"sh": shell}]}), json!({"text": signal})]
}

fn report(head: &str) -> [Value; 2] {
    let text = format!("---\nphase: 3\n{head}---\n\n# Report\n");
    [
        json!({"tools": [{"sh": file("03-VERIFICATION.md", &text)}]}),
        json!({"text": "## Verification Complete"}),
    ]
}

#[test]
fn claude_is_asked_for_the_models_of_the_budget_profile() {
    if !is_wanted("claude", "a planned phase") {
        return;
    }
    let gap = "---\nwave: 1\ngap_closure: true\nmust_haves:\n  truths:\n    - People can log out\n---\n<task type=\"auto\"><name>Log out</name></task>\n";
    let turns = [
        task("echo in > made.txt", "03-01"),
        report("verified: 2026-11-16T10:00:01Z\nstatus: gaps_found\ngaps:\n  - truth: People can log out\n"),
        [json!({"tools": [{"sh": file("03-02-PLAN.md", gap)}]}), json!({"text": "One plan."})],
        task("echo out > left.txt", "03-02"),
        report("verified: 2026-11-16T10:00:02Z\nstatus: passed\n"),
    ];
    let mut lab = Lab::new("claude", &json!({"turns": turns.concat()}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake".to_owned()));
    let files = [
        (
            ".planning/ROADMAP.md",
            "- [ ] **Phase 3: Accounts** - x\n\n### Phase 3: Accounts\n**Goal**: People have accounts\n**Success Criteria**:\n  1. People can log out\n",
        ),
        (
            ".planning/config.json",
            "{\"model_profile\": \"budget\", \"loop\": {\"validation_commands\": [\"test -f made.txt\"]}}",
        ),
        (
            &format!("{FOLDER}/03-01-PLAN.md"),
            "---\nwave: 1\n---\n<task type=\"auto\"><name>Log in</name></task>\n",
        ),
    ];
    for (name, text) in files {
        lab.write(name, text);
    }
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "-qm", "plan"]);
    let output = lab.run(&["run", "3", "--preset", "plan"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("Gap closure cycle 1: 1 plan created"), "{said}");
    // Two requests a call: EXECUTE, VERIFY, CLOSE_GAPS, EXECUTE, VERIFY.
    let expected = ["sonnet", "haiku", "sonnet", "sonnet", "haiku"].iter().flat_map(|it| [it, it]);
    let asked = lab.models();
    assert_eq!(asked.len(), 10, "{asked:?}");
    assert!(asked.iter().zip(expected).all(|(it, family)| it.contains(family)), "{asked:?}");
}
