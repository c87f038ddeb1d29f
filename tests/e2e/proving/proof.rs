//! Rule 11: with `proof = "clean"` a check sees the tree and nothing else.

use loop_harness::Sandbox;

const WORKFLOW: &str = r#"
name = "clean"
input = { kind = "none", about = "" }

[limits]
iterations = 1

[checks.tests]
run     = "test -f kept && test ! -f ignored && test -f prepared"
prepare = "touch prepared"

[[phase]]
name   = "ONLY"
prompt = "work"
report = "none"
signal = "none"
checks = ["tests"]
proof  = "PROOF"
"#;

fn run(proof: &str, code: i32) {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW.replace("PROOF", proof));
    sandbox.write(".gitignore", "ignored\n");
    sandbox.commit("ignore");
    let agent = sandbox.agent("touch kept ignored prepared-by-nobody");
    sandbox.run(&["run", "--agent-cmd", &agent]).exits(code);
}

#[test]
fn g22_a_clean_proof_sees_no_ignored_file_and_is_prepared() {
    run("clean", 0);
    run("tree", 6);
}
