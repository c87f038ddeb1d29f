//! Every name that the reference says the engine supplies has a value after a call in a real
//! repository, and an agent that claims all of them in its report changes none.

use loop_harness::{COMMIT, Sandbox};
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name  = "facts"
input = { kind = "file", about = "" }

[items]
name = "chore"
from = ["one", "two"]

[[phase]]
name   = "WORK"
each   = "chore"
prompt = "Do {{ item }}."
report = "json"
checks = ["tests"]
exit   = """tests_failing == 0 && !touches_security && !schema_changes && !external_apis && !new_patterns \
            && requirements_open == 0"""
"#;

/// The names in the table of the reference, and where it says that they come from.
fn listed() -> Vec<(String, String)> {
    let text = std::fs::read_to_string("docs/reference/conditions.md").expect("the reference");
    let (_, section) = text.split_once("## Names that the engine supplies").expect("its table");
    let rows = section.lines().skip_while(|it| !it.starts_with("|---")).skip(1);
    let cells = rows.take_while(|it| it.starts_with('|')).map(|it| it.split('|').map(str::trim).collect());
    cells.map(|it: Vec<&str>| (it[1].trim_matches('`').to_owned(), it[3].to_owned())).collect()
}

#[test]
fn every_fact_of_the_reference_is_measured_and_none_is_taken_from_a_report() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.write("TASK.md", "# Task\n\n## Success criteria\n\n- [ ] it is there\n");
    sandbox.commit("a task");
    let names = listed();
    assert!(25 < names.len(), "only {names:?} were found");
    let claims = names.iter().map(|(name, _)| (name.clone(), json!("claimed"))).collect();
    let report = json!({ "status": "done", "verdict": "approve", "metrics": Value::Object(claims) });
    std::fs::write(sandbox.note("report"), report.to_string()).expect("a file");
    let agent =
        sandbox.agent(&format!("echo \"$LOOP_CALL\" > work; {COMMIT}; cp $OUT/report $LOOP_RESULT_FILE"));
    let check = "tests=printf '1..2\\nok 1 - a\\nok 2 - b\\n'";
    sandbox.run(&["run", "TASK.md", "--agent-cmd", &agent, "--check", check, "-n", "1"]).exits(6);
    let judged = sandbox.events().into_iter().rev().find_map(|it| it["event"].get("judged").cloned());
    let metrics = judged.expect("a judgement")["metrics"].clone();
    for (name, from) in names {
        let (source, value) = (&metrics[&name]["source"], &metrics[&name]["value"]);
        match (from.as_str(), source.as_str()) {
            ("the report", Some("claimed")) => (),
            // Nobody knows this where nothing is merged; above all it is not taken from the report.
            (_, None) if name == "pr_merged" => (),
            (_, Some("engine" | "measured")) => assert_ne!(*value, json!("claimed"), "{name}"),
            (from, source) => panic!("{name}, from {from}, comes from {source:?}: {metrics}"),
        }
    }
}
