//! An agent that asks a question nobody can answer: the limit that ends it has a name for that, and
//! so do the log, `why` and the next prompt.

use loop_harness::{CHECK, Sandbox, WORK};

#[test]
fn g13_a_call_that_waits_for_input_is_named_so() {
    let sandbox = Sandbox::new();
    let flow = sandbox.note("flow.toml");
    std::fs::write(&flow, "extends = \"ralph\"\n[agent]\nidle_timeout = \"1s\"\n").expect("a file");
    let flow = flow.to_str().expect("plain");
    let agent = sandbox.agent(&format!(
        "[ \"$LOOP_CALL\" = 1 ] && {{ printf 'Is this OK? (yes) '; exec sleep 1000; }}; {WORK}"
    ));
    let one = ["run", "it", "--workflow", flow, "--agent-cmd", &agent, "--check", CHECK, "-n", "1"];
    sandbox.run(&one).exits(6);
    let said = "it waits for input, and no terminal is connected: its last words are \"Is this OK? (yes)\"";
    sandbox.run(&["log"]).says(said);
    sandbox.run(&["why"]).says(said);
    let ended = sandbox.events().into_iter().find(|it| it.to_string().contains("waited-for-input"));
    assert!(ended.is_some(), "{:?}", sandbox.events());
    let again = ["run", "it", "--workflow", flow, "--agent-cmd", &agent, "--check", CHECK, "--max", "5"];
    sandbox.run(&again).exits(0);
    let prompt = sandbox.prompt(2);
    assert!(prompt.contains(said) && prompt.contains("--yes"), "{prompt}");
    sandbox.assert_nothing_runs();
}
