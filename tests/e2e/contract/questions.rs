//! Every question of the contract, with its choices as `status --json` lists them.
//!
//! | question | here | elsewhere |
//! |---|---|---|
//! | resume | | asked on a terminal only; without one, `run` goes on (runs.rs) |
//! | other-input | | tests/tdd/session.rs |
//! | dirty | `dirty_is_refused_where_nobody_can_be_asked` | |
//! | hourly | `hourly_lists_its_choices` | tests/tdd/trouble.rs |
//! | breaker | `breaker_lists_its_choices` | questions.rs takes each of them |
//! | rejected | | tests/tdd/trouble.rs |
//! | gate | `gate_lists_its_choices` | gates.rs takes each of them |
//! | checkpoint | | stories; the preset `plan` is refused until it can be run |
//! | prerequisite | | comes with the presets that have them |
//! | blocked | | runs.rs `blocked_goes_on_at_the_persons_word` |
//! | check | | stories; a preset that works before its project exists is refused until it can be run |

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use serde_json::json;

fn asked(sandbox: &Sandbox) -> (String, serde_json::Value) {
    let question = sandbox.status()["question"].clone();
    assert!(question["id"].is_number() && question["text"].is_string(), "{question}");
    (question["kind"].as_str().expect("a word").to_owned(), question["choices"].clone())
}

#[test]
fn breaker_lists_its_choices() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=echo no; exit 1"]).exits(4);
    assert_eq!(asked(&sandbox), ("breaker".to_owned(), json!(["reset", "skip", "abort", "modify"])));
    for letter in ["r", "s", "a"] {
        sandbox.run(&["answer", letter]).exits(0);
    }
    sandbox.run(&["answer", "m", "look again"]).exits(0);
}

#[test]
fn hourly_lists_its_choices() {
    let workflow = "extends = \"ralph\"\n[limits]\nwindow = { calls = 1, every = \"60m\", then = \"ask\" }\n";
    let rest = || {
        let sandbox = Sandbox::new();
        sandbox.write(".loop/workflow.toml", workflow);
        sandbox.commit("a workflow");
        let agent = sandbox
            .agent(&format!("date +%N > work; {COMMIT}; if [ \"$LOOP_CALL\" = 2 ]; then {PROMISE}; fi"));
        sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(5);
        assert_eq!(sandbox.status()["status"], "paused");
        assert_eq!(asked(&sandbox), ("hourly".to_owned(), json!(["wait", "continue", "abort"])));
        sandbox
    };
    let sandbox = rest();
    sandbox.run(&["answer", "continue"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2]);
    let sandbox = rest();
    sandbox.run(&["answer", "abort"]).exits(0);
    sandbox.run(&["run"]).exits(5);
    assert_eq!(sandbox.status()["status"], "paused", "abort leaves it paused here");
    assert_eq!(sandbox.calls(), [1]);
}

#[test]
fn gate_lists_its_choices() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".loop/workflow.toml",
        "name = \"gated\"\n[[phase]]\nname = \"ONE\"\nprompt = \"do\"\nreport = \"none\"\nsignal = \"none\"\n\
         gates = [\"look\", \"ship\"]\n[gates.look]\nask = \"good?\"\n[gates.ship]\nask = \"out?\"\n",
    );
    sandbox.commit("a workflow");
    let agent = sandbox.agent("true");
    sandbox.run(&["run", "it", "--agent-cmd", &agent]).exits(3);
    assert_eq!(asked(&sandbox), ("gate".to_owned(), json!(["approve", "changes", "reject"])));
    sandbox.run(&["changes"]).exits(2);
    sandbox.run(&["approve", "ship"]).exits(2).says("the gate \"ship\" is not waiting; \"look\" is");
    sandbox.run(&["approve", "loko"]).exits(2).says("did you mean \"look\"?");
    sandbox.run(&["approve", "LOOK"]).exits(0);
    sandbox.run(&["run"]).exits(3);
    sandbox.run(&["approve"]).exits(0);
    sandbox.run(&["run"]).exits(0);
}

#[test]
fn dirty_is_refused_where_nobody_can_be_asked() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    sandbox.write("unsaved", "work\n");
    let command = ["run", "it", "--agent-cmd", &agent, "--check", CHECK];
    sandbox.run(&command).exits(2).says("unsaved").says("--allow-dirty");
    assert!(sandbox.calls().is_empty());
    sandbox.run(&[&command[..], &["--allow-dirty", "-n", "1"]].concat());
    assert_eq!(sandbox.calls(), [1]);
    assert_eq!(sandbox.read("unsaved"), "work\n");
    sandbox.run(&["restore"]).exits(0).says("refs/loop/snap/");
}
