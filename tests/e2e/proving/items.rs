//! Bodies of phases: once for each item of a list that is read again before each, and a refusal
//! where a list cannot be read.

use loop_harness::Sandbox;

const WORKFLOW: &str = r#"
name = "chores"
input = { kind = "none", about = "" }

[items]
name = "chore"
from = "json:chores.json#/open"

[[phase]]
name   = "DO"
each   = "chore"
prompt = "Do {{ item }}, which is {{ item_index }} of {{ items_total }}."
report = "none"
signal = "none"
exit   = "commits_made > 0"
"#;

#[test]
fn wf04_a_body_runs_once_for_each_item_and_sees_what_is_added() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.write("chores.json", r#"{"open": ["sweep", {"id": "two", "name": "mop"}]}"#);
    sandbox.commit("chores");
    // The first chore finds a third one.
    let agent = sandbox.agent(
        "echo \"$LOOP_ITEM\" >> \"$OUT/items\"\n\
         printf '{\"open\": [\"sweep\", {\"id\": \"two\", \"name\": \"mop\"}, \"dust\"]}' > chores.json\n\
         echo \"$LOOP_ITEM\" > done-$LOOP_CALL; git add -A; git commit -qm \"$LOOP_ITEM\"",
    );
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.notes("items"), ["sweep", "two", "dust"]);
    assert!(sandbox.prompt(2).contains("Do mop, which is 2 of 3."), "{}", sandbox.prompt(2));
}

#[test]
fn a_list_that_cannot_be_read_is_not_an_empty_one() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("chores");
    let agent = sandbox.agent("true");
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent]).exits(1).says("chores.json");
    assert_ne!(sandbox.status()["status"], "completed");
    let why = [("plan", "has no .planning/ROADMAP.md"), ("engineering", "there is no queue")];
    for (preset, why) in why {
        let words = ["run", "1", "--preset", preset, "--unverified", "--agent-cmd", &agent];
        sandbox.run(&words).exits(2).says(why);
    }
    assert!(sandbox.calls().is_empty());
}

#[test]
fn wf04_a_command_may_print_the_list() {
    let sandbox = Sandbox::new();
    let from = "from = \"command:echo oops >&2; ls chores\"";
    sandbox.write(".loop/workflow.toml", WORKFLOW.replace("from = \"json:chores.json#/open\"", from));
    sandbox.write("chores/a", "");
    sandbox.write("chores/b", "");
    sandbox.commit("chores");
    let agent = sandbox.agent("echo \"$LOOP_ITEM\" > d$LOOP_CALL; git add -A; git commit -qm \"$LOOP_ITEM\"");
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.read("d1") + &sandbox.read("d2"), "a\nb\n");
    sandbox.write(".loop/workflow.toml", WORKFLOW.replace("json:chores.json#/open", "command:exit 3"));
    sandbox.run(&["run", "--fresh", "--unverified", "--agent-cmd", &agent]).exits(1).says("exit 3");
}
