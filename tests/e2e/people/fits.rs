//! Small promises of the border that no single area owns: what is refused in words, what is offered at
//! a checkpoint, and what `loop why` shows.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name = "choices"

[[phase]]
name = "PLAN"
prompt = "Decide what stores {{ input }}."
report = "exit-signal"
signal = "PHASE_COMPLETE"
checks = []
"#;

const DECIDES: &str = r#"
if [ "$LOOP_CALL" = 1 ]; then
printf '## CHECKPOINT REACHED\n\n**Type:** decision\n\n**Options:**\n\n- **sqlite**: one file\n- **server**: more to run\n'
else printf -- '---\nEXIT_SIGNAL: PHASE_COMPLETE\nTASK: decide\n---\n'; fi
"#;

#[test]
fn checkpoint_what_it_lists_is_what_can_be_chosen() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(DECIDES);
    sandbox.run(&["run", "notes", "--unverified", "--agent-cmd", &agent]).exits(3);
    let question = &sandbox.status()["question"];
    assert_eq!(
        [&question["kind"], &question["choices"]],
        [&json!("checkpoint"), &json!(["sqlite", "server"])]
    );
    // Both begin with the same letter, so the letter alone names neither.
    sandbox.run(&["answer", "s"]).exits(2).says("one of: sqlite, server");
    sandbox.run(&["answer", "done"]).exits(2);
    sandbox.run(&["answer", "SQLite", "in the home"]).exits(0);
    sandbox.run(&["run", "notes"]).exits(0);
    assert!(sandbox.prompt(2).contains("sqlite: in the home"), "{}", sandbox.prompt(2));
}

#[test]
fn run_json_an_error_ends_with_the_same_object() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "x", "--json", "--agent-cmd", "true"]).exits(2);
    let last: Value = serde_json::from_str(done.out.lines().last().expect("a line")).expect("an object");
    assert_eq!(last["status"], Value::Null, "no run came of it: {last}");
    assert_eq!([&last["reason"], &last["exit"]], [&last["error"], &json!(2)]);
    assert!(last["reason"].as_str().is_some_and(|it| it.contains("no check found")), "{last}");
    assert!(last["help"].as_str().is_some_and(|it| it.contains("--check tests=")), "{last}");
    assert!(last["next_step"].as_str().is_some_and(|it| it.contains("--unverified")), "{last}");
}

#[test]
fn refused_where_nothing_would_come_of_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "x", "--detach"]).exits(2).says("takes no --detach");
    assert!(!sandbox.home.exists());
    sandbox.run(&["demo", "plam"]).exits(2).says("did you mean \"plan\"?");
    assert!(!sandbox.home.exists());
    let bare = sandbox.root().join("bare-folder");
    std::fs::create_dir(&bare).expect("a folder");
    let bare = bare.display().to_string();
    let done = sandbox.run(&["-C", &bare, "run", "x", "--unverified", "--agent-cmd", "true"]).exits(2);
    assert!(
        done.err.contains(&format!("{bare} is not a git repository\nnext: git init {bare}")),
        "{}",
        done.err
    );
    assert!(!done.err.contains("fatal"), "{}", done.err);
}

#[test]
fn why_shows_what_decided_and_the_rest_only_when_asked() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > made; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "make it", "--check", "tests=true", "--agent-cmd", &agent]);
    let brief = sandbox.run(&["why"]).exits(0).out;
    let whole = sandbox.run(&["why", "-v"]).exits(0).out;
    assert!(brief.contains("checks_failing = 0"), "{brief}");
    assert!(brief.contains("(loop why -v lists "), "{brief}");
    for name in ["has_adr", "plan_summarised"] {
        assert!(!brief.contains(name), "{brief}");
        assert!(whole.contains(name), "{whole}");
    }
}
