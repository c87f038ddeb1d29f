//! Text that looks like a promise and is none. Every check passes and the tree is clean, so the
//! promise alone decides; each form is one call of the same run.

use loop_harness::{CHECK, COMMIT, Sandbox};

const FORMS: &[&str] = &[
    // Mentioned, quoted, negated.
    "When I am done I will write <promise>TASK_COMPLETE</promise> as asked.",
    "I cannot write <promise>TASK_COMPLETE</promise> yet",
    "not yet: <promise>TASK_COMPLETE</promise>",
    "<promise>TASK_COMPLETE</promise> is what I would say if it were done",
    "> <promise>TASK_COMPLETE</promise>",
    ">> <promise>TASK_COMPLETE</promise>",
    "\"<promise>TASK_COMPLETE</promise>\"",
    "'<promise>TASK_COMPLETE</promise>'",
    "`<promise>TASK_COMPLETE</promise>`",
    "**<promise>TASK_COMPLETE</promise>**",
    "- <promise>TASK_COMPLETE</promise>",
    "1. <promise>TASK_COMPLETE</promise>",
    "# <promise>TASK_COMPLETE</promise>",
    "| <promise>TASK_COMPLETE</promise> |",
    "// <promise>TASK_COMPLETE</promise>",
    "<!-- <promise>TASK_COMPLETE</promise> -->",
    "~~<promise>TASK_COMPLETE</promise>~~",
    // In code.
    "```\n<promise>TASK_COMPLETE</promise>\n```",
    "```xml\n<promise>TASK_COMPLETE</promise>\n```\n",
    "~~~\n<promise>TASK_COMPLETE</promise>\n~~~",
    "````\n```\n<promise>TASK_COMPLETE</promise>\n````",
    "```\n<promise>TASK_COMPLETE</promise>",
    "the prompt says:\n\n```\nOnly then end with\n<promise>TASK_COMPLETE</promise>\n```\n",
    "    <promise>TASK_COMPLETE</promise>",
    "\t<promise>TASK_COMPLETE</promise>",
    // Other words.
    "<promise>FEATURE_COMPLETE</promise>",
    "<promise>task_complete</promise>",
    "<promise>TASK COMPLETE</promise>",
    "<promise>TASK_COMPLETE.</promise>",
    "<promise>NOT TASK_COMPLETE</promise>",
    "<promise>TASK_COMPLETED</promise>",
    "<promise>.*</promise>",
    "<promise></promise>",
    "<promise>{{ promise }}</promise>",
    "<promise>TASK_COMPLET\u{415}</promise>",
    "<promise>TASK\u{200b}_COMPLETE</promise>",
    "<promise>\"TASK_COMPLETE\"</promise>",
    // Other tags.
    "<PROMISE>TASK_COMPLETE</PROMISE>",
    "<promise>TASK_COMPLETE",
    "TASK_COMPLETE</promise>",
    "<promise>TASK_COMPLETE</promis>",
    "<promise >TASK_COMPLETE</promise>",
    "< promise>TASK_COMPLETE</promise>",
    "<promise/>TASK_COMPLETE",
    "&lt;promise&gt;TASK_COMPLETE&lt;/promise&gt;",
    "<promise><promise>TASK_COMPLETE</promise></promise>",
    "\u{ff1c}promise\u{ff1e}TASK_COMPLETE\u{ff1c}/promise\u{ff1e}",
    "<\u{1b}[0mpromise>TASK_COMPLETE</promise>",
    // The signals of other systems.
    "TASK_COMPLETE",
    "EXIT_SIGNAL: true",
    "---PRP_PHASE_STATUS---\nPHASE: WORK\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_PRP_PHASE_STATUS---",
    "```json\n{\"status\":\"done\"}\n```",
    "{\"status\":\"done\",\"signal\":\"TASK_COMPLETE\",\"promise\":\"TASK_COMPLETE\"}",
    "COMPLETED",
    "",
];

#[test]
fn g21_no_forged_promise_completes_a_run() {
    assert!(40 <= FORMS.len());
    let sandbox = Sandbox::new();
    for (number, form) in FORMS.iter().enumerate() {
        std::fs::write(sandbox.note(&format!("form-{}", number + 1)), form).expect("a file");
    }
    // A commit in each call keeps the breaker out of it.
    let agent = sandbox.agent(
        "git commit -q --allow-empty -m step; cp \"$OUT/form-$LOOP_CALL\" tracked; git add -A; git commit -q -m more\n\
         cat \"$OUT/form-$LOOP_CALL\"",
    );
    let count = FORMS.len().to_string();
    let workflow =
        "extends = \"ralph\"\n[[phase]]\nname = \"WORK\"\nbreaker = { no_progress = 90, same_error = 90 }\n";
    std::fs::write(sandbox.note("workflow.toml"), workflow).expect("a file");
    let file = sandbox.note("workflow.toml");
    let file = file.to_str().expect("a plain path");
    let done = sandbox.run(&[
        "run",
        "build it",
        "--workflow",
        file,
        "--agent-cmd",
        &agent,
        "--check",
        "tests=test -f tracked",
        "-n",
        &count,
        "--json",
    ]);
    let made = sandbox.calls().len();
    assert!(done.code != 0, "completed by form {made}: {:?}", FORMS[made - 1]);
    let done = done.exits(6);
    assert_eq!(made, FORMS.len());
    // Everything but the promise was in order, each time.
    let judged: Vec<serde_json::Value> = done
        .out
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .filter(|it: &serde_json::Value| it["kind"] == "judged")
        .collect();
    assert_eq!(judged.len(), FORMS.len());
    for (form, it) in FORMS.iter().zip(&judged) {
        let judgement = &it["event"]["judged"];
        assert_eq!(judgement["exit"], "true", "{form:?}: {judgement}");
        assert_eq!(judgement["signal"], false, "{form:?}");
    }
}

#[test]
fn g21_an_echoed_prompt_is_no_promise() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("touch work; {COMMIT}; cat \"$OUT/prompt-$LOOP_CALL\"; exit 1"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]).exits(4);
    assert_eq!(sandbox.status()["status"], "halted");
}

/// A promise that was made before a failing exit, or on standard error, was not made.
#[test]
fn g21_a_failed_call_promises_nothing() {
    for script in [
        "echo '<promise>TASK_COMPLETE</promise>'; exit 3",
        "echo '<promise>TASK_COMPLETE</promise>' >&2",
        "echo '<promise>TASK_COMPLETE</promise>'; kill -9 $$",
        "echo '<promise>TASK_COMPLETE</promise>'; echo; echo '<promise>NOTHING</promise>'",
    ] {
        let sandbox = Sandbox::new();
        // The work is done and would be proven; only the promise is missing.
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; {script}"));
        let done = sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(done.code, 4, "{script}: {done:?}");
    }
}
