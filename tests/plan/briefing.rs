//! The documents that a call is briefed with: what does not fit is named, and what was shown is known.

use super::project::{HONEST, Project};
use serde_json::json;
use sha2::{Digest, Sha256};

#[test]
fn what_does_not_fit_is_cut_and_named_and_the_plan_is_never() {
    let project = Project::new();
    let learned: String =
        (1..=140).map(|it| format!("- pattern {it}: keep this in mind at all times\n")).collect();
    project.sandbox.write(".planning/LEARNINGS.md", format!("# Learnings\n\n## Patterns\n\n{learned}"));
    project.sandbox.write(".loop/workflow.toml", "extends = \"plan\"\n[limits]\ncontext_bytes = 2500\n");
    project.sandbox.commit("small briefings");
    project.run(HONEST, &["--max", "1"]).exits(6);
    let prompt = project.sandbox.prompt(1);
    let shown = prompt.split_once("## Context\n\n").expect("a briefing").1;
    let shown = shown.split_once("\n\n## What to do").expect("and then the work").0;
    assert!(
        shown.contains("pattern 1:") && shown.contains("pattern 140:") && !shown.contains("pattern 70:"),
        "{shown}"
    );
    assert!(shown.contains("Left out to save space: .planning/LEARNINGS.md: "), "{shown}");
    assert!(
        shown.contains("### .planning/phases/03-accounts/03-01-PLAN.md") && shown.contains("Task 3: step 3"),
        "{shown}"
    );
    let ended = project.sandbox.events().into_iter().find(|it| it["kind"] == "ended").expect("a call");
    let context = &ended["event"]["ended"]["context"];
    let hash: String = Sha256::digest(format!("{shown}\n")).iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(context["hash"], json!(hash), "the journal knows what was shown");
    assert!(
        context["cut"][0].as_str().is_some_and(|it| it.starts_with(".planning/LEARNINGS.md: ")),
        "{context}"
    );
}

#[test]
fn documents_that_grow_too_long_are_told_of() {
    let project = Project::new();
    project
        .sandbox
        .write(".planning/STATE.md", format!("# State\n\nPhase: 3 of 10\n{}", "- a note\n".repeat(120)));
    project.sandbox.commit("a long position");
    let script = format!(
        "{HONEST}\nif [ \"$LOOP_CALL\" = 2 ]; then yes learned | head -160 >> .planning/LEARNINGS.md; fi"
    );
    let done = project.run(&script, &["--max", "3"]).exits(6);
    assert!(done.err.contains(".planning/STATE.md has 123 lines; keep it below 100"), "{}", done.err);
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("LEARNINGS.md has grown beyond 150 lines"), "{warnings}");
    let other = Project::new();
    other.sandbox.write(".planning/LEARNINGS.md", "- x\n".repeat(200));
    other.sandbox.commit("much");
    other.run(HONEST, &["--max", "1"]).exits(6).says("LEARNINGS.md has 200 lines");
}
