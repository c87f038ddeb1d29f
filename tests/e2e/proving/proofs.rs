//! What people and programs see of a proof, and what they can do about it: a real project in Python,
//! with tests that fail, pass, vanish and are added.

use crate::faults::Mounted;
use loop_harness::{PROMISE, Sandbox, skipped, within};
use serde_json::Value;
use std::time::Duration;

const CHECK: &str = "python3 -m unittest discover -s tests -t . -v";

/// One phase that is left as soon as its check passes.
const WORKFLOW: &str = r#"
name = "fix"
input = { kind = "text", about = "what to fix" }

[limits]
iterations = 6

[checks.tests]
run = "python3 -m unittest discover -s tests -t . -v"

[[phase]]
name   = "WORK"
prompt = "work"
report = "none"
signal = "none"
checks = ["tests"]
"#;

/// Of another length than the right one: Python takes a compiled file of the same second and length for this one.
const WRONG: &str = "def add(a, b):\n    return a - abs(b)\n";
const RIGHT: &str = "def add(a, b):\n    return a + b\n";
const TESTS: &str = "\
import unittest
from calc import add

class TestAdd(unittest.TestCase):
    def test_zero(self):
        self.assertEqual(add(0, 0), 0)

    def test_two(self):
        self.assertEqual(add(1, 1), 2)
";

/// Writes the right code and commits it.
const FIX: &str = "printf 'def add(a, b):\\n    return a + b\\n' > calc.py; git commit -qam fix || :";

fn project(code: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", format!("{WORKFLOW}{more}"));
    sandbox.write(".gitignore", "__pycache__/\n");
    sandbox.write("calc.py", code);
    sandbox.write("tests/__init__.py", "");
    sandbox.write("tests/test_calc.py", TESTS);
    sandbox.commit("a calculator");
    sandbox
}

fn level(status: &Value) -> &str {
    status["proof"]["level"].as_str().expect("a proof")
}

#[test]
fn g21_a_fix_is_proven_said_and_found_again() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(FIX);
    let words = ["run", "fix add", "--agent-cmd", &agent];
    assert_eq!(sandbox.status_if_any()["run"], Value::Null);
    let done = sandbox.run(&words).exits(0).says("\nproven: ").says("proof finished: ");
    let events = format!("{:?}", sandbox.events());
    assert!(events.contains("\"expected_s\": Number("), "an estimate precedes the other steps: {events}");
    assert!(
        done.err
            .contains("a test that must fail, in a clean checkout: the check tests reports it as failing"),
        "{done:?}"
    );
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("red-to-green", &true.into()), "{status:#}");
    assert_eq!(status["proof"]["commit"], sandbox.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(status["proof"]["findings"], Value::Array(Vec::new()));
    assert!(0.0 < status["proof"]["cost_s"].as_f64().expect("seconds"));
    sandbox.run(&["status"]).exits(0).says("reason      proven: ");
    sandbox.run(&["show"]).exits(0).says("- proof: proven: ");

    // The same again: everything is as it was left.
    let commit = sandbox.git(&["rev-parse", "--short=7", "HEAD"]);
    sandbox.run(&words).exits(0).says("already done").says(commit.trim()).says("20");
    sandbox.run(&["resume"]).exits(0).says("already done");
    assert_eq!(sandbox.calls().len(), 1);

    // Somebody breaks it: resume says so and opens nothing, run opens another run.
    sandbox.write("calc.py", WRONG);
    sandbox.commit("break it");
    sandbox.run(&["resume"]).exits(2).says("tests failed (1 of 2)");
    sandbox.run(&words).exits(0).says("starting a new one: tests failed").says("proven: ");
    assert_eq!(sandbox.calls().len(), 2);
    assert_eq!(sandbox.read("calc.py"), RIGHT);
}

#[test]
fn g21_a_deleted_test_is_one_question_with_its_diff_and_a_waiver_answers_it() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent("git rm -q tests/test_calc.py; printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test_t(self):\\n        pass\\n' > tests/test_other.py; git add -A; git commit -qm gone || :");
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(3);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"waiting".into(), &false.into()), "{status:#}");
    assert_eq!(status["question"]["kind"], "proof");
    assert!(!status["proof"]["findings"].as_array().expect("a list").is_empty(), "{status:#}");
    sandbox.run(&["show", "--diff"]).exits(0).says("-        self.assertEqual(add(1, 1), 2)");
    sandbox.run(&["waive", "nothing-of-the-kind", "--reason", "x"]).exits(2).says("nothing here is called");
    sandbox.run(&["waive", "tests/test_calc.py"]).exits(2);
    sandbox.run(&["answer", "waive"]).exits(2).says("needs a reason");
    // What the steps found is not lost with its files: it is found out again.
    for folder in std::fs::read_dir(sandbox.home.join("proof")).expect("a folder").flatten() {
        let _openings_have_none = std::fs::remove_dir_all(folder.path().join("results"));
    }
    sandbox.run(&["answer", "waive", "the feature is gone"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"completed".into(), &false.into()), "{status:#}");
    assert_eq!(status["proof"]["waived"][0]["reason"], "the feature is gone", "{status:#}");
}

/// `-diff` makes git say of a text that it is binary, and `ignore` makes it say nothing of a submodule.
#[test]
fn g21_no_attribute_hides_the_diff_of_the_question() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(
        "sed -i 's/add(1, 1), 2/add(1, 1), 1 - 1/' tests/test_calc.py; echo '*.py -diff' > .git/info/attributes
        echo 'tests/* -diff' > .gitattributes; git config diff.external true; git add -A; git commit -qm x || :",
    );
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(3);
    let changed = "+        self.assertEqual(add(1, 1), 1 - 1)";
    sandbox.run(&["show", "--diff"]).exits(0).says("-        self.assertEqual(add(1, 1), 2)").says(changed);
    sandbox.run(&["show", "1", "--diff"]).exits(0).says(changed);
}

#[test]
fn g23_a_finding_that_is_waived_by_its_name_closes_the_question() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(
        "sed -i 's/add(0, 0), 0/add(0, 0), 3 + 4/' tests/test_calc.py
        printf 'def add(a, b):\\n    return 7 if a == 0 else 2\\n' > calc.py; git commit -qam x || :",
    );
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(3).says("test_zero in tests/test_calc.py");
    sandbox.run(&["answer"]).exits(0).says("question 1: ");
    sandbox
        .run(&["waive", "tests/test_calc.py", "--reason", "zero is seven", "--by", "anna"])
        .exits(0)
        .says("continue with: loop run");
    sandbox.run(&["run"]).exits(0);
    sandbox.run(&["answer"]).exits(0).says("no question is open");
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("red-to-green", &true.into()), "{status:#}");
    assert_eq!(status["proof"]["waived"][0]["by"], "anna", "{status:#}");
}

#[test]
fn g21_allowed_changes_of_tests_are_no_question() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(&format!("sed -i '/test_zero/,+2d' tests/test_calc.py; {FIX}"));
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent, "--allow-test-change", "tests/**"]).exits(0);
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("red-to-green", &true.into()), "{status:#}");
}

#[test]
fn g21_a_run_that_nothing_measures_is_unverified_until_a_person_accepts_it() {
    let sandbox = project(RIGHT, "");
    let agent = sandbox.agent("echo more >> README.md; git commit -qam docs");
    let done = sandbox.run(&["run", "describe it", "--agent-cmd", &agent]).exits(0);
    assert!(done.err.contains("\nnot proven: every check was green before"), "{done:?}");
    let report = sandbox.run(&["show"]).exits(0).out;
    assert!(report.contains("- proof: not proven: every check was green before"), "{report}");
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("unchanged-green", &false.into()), "{status:#}");
    // Only the tree that was proven can be accepted.
    sandbox.write("calc.py", WRONG);
    sandbox.run(&["answer", "accept", "read it"]).exits(2).says("no longer the one that was proven");
    sandbox.write("calc.py", RIGHT);
    sandbox.run(&["answer", "accept"]).exits(2).says("needs a reason");
    sandbox.run(&["answer", "accept", "read", "it"]).exits(0);
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("approved", &true.into()), "{status:#}");
    sandbox.run(&["log"]).exits(0).says("read it");
    sandbox.run(&["run", "describe it", "--agent-cmd", &agent]).exits(0).says("already done");
    sandbox.run(&["answer", "accept", "again"]).exits(2);
}

#[test]
fn g21_less_than_required_is_a_question_that_accept_answers() {
    for flags in [&["--require-proof"][..], &["--require-proof=new-test"], &["--require-proof", "approved"]] {
        let sandbox = project(RIGHT, "");
        let agent = sandbox.agent("echo more >> README.md; git commit -qam docs");
        let mut words = vec!["run", "describe it", "--agent-cmd", &agent];
        words.extend(flags);
        sandbox.run(&words).exits(3);
        assert_eq!(sandbox.status()["question"]["kind"], "unproven");
        sandbox.run(&["answer", "accept", "it is only a sentence"]).exits(0);
        sandbox.run(&["run"]).exits(0);
        let status = sandbox.status();
        assert_eq!((level(&status), &status["verified"]), ("approved", &true.into()), "{status:#}");
    }
    let sandbox = project(RIGHT, "");
    sandbox.run(&["run", "x", "--agent-cmd", "true", "--require-proof=much"]).exits(2).says("red-to-green");
}

#[test]
fn g21_a_run_without_a_proof_says_why() {
    let sandbox = project(WRONG, "[proof]\nclean = \"never\"\n");
    let agent = sandbox.agent(FIX);
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(0).says("not proven: ").says("never");
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("none", &false.into()), "{status:#}");

    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(FIX);
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent, "--unverified"]).exits(0).says("--unverified");
    assert_eq!(level(&sandbox.status()), "none");
}

#[test]
fn g21_an_unverified_run_is_not_shipped_by_itself() {
    for (accepts, branch) in [(false, "main"), (true, "feature/describe-it")] {
        let more = format!("[finish]\nship = \"auto\"\n[proof]\naccept_unverified = {accepts}\n");
        let sandbox = project(RIGHT, &more);
        let agent = sandbox.agent("echo more >> README.md; git commit -qam docs");
        let done = sandbox.run(&["run", "describe it", "--agent-cmd", &agent]).exits(0);
        assert_eq!(sandbox.git(&["branch", "--show-current"]).trim(), branch, "{done:?}");
        assert_eq!(sandbox.status()["delivered"].is_null(), !accepts);
        if !accepts {
            assert!(done.err.contains("not shipped, because the run is not verified"), "{done:?}");
            sandbox.run(&["ship", "--dry-run"]).exits(0).says("unverified (unchanged-green)");
            sandbox.run(&["ship"]).exits(0);
            assert!(sandbox.status()["delivered"]["commit"].is_string());
        }
    }
}

#[test]
fn g21_nothing_to_do_is_looked_at_again() {
    let sandbox = project(RIGHT, "");
    let agent = sandbox.agent(FIX);
    let words = ["run", "fix the failing tests", "--agent-cmd", &agent];
    sandbox.run(&words).exits(4).says("nothing to do");
    assert!(!sandbox.prompt(2).contains("STUCK"), "this workflow has no such word: {}", sandbox.prompt(2));
    assert!(sandbox.prompt(2).contains("do the work, or say at the end of your message why there is none"));
    let calls = sandbox.calls().len();
    sandbox.run(&words).exits(0).says("nothing to do").says("next: loop show 2");
    assert_eq!(sandbox.calls().len(), calls);
    sandbox.run(&["guide", "the parser too"]).exits(0).says("saved; continue with: loop run\n");
    sandbox.run(&["run"]).exits(4).says("nothing to do");
    assert!(sandbox.prompt(3).contains("the parser too"));
    let called = sandbox.calls().len();
    sandbox.run(&["resume", "--reset"]).exits(4).says("nothing to do");
    assert!(called < sandbox.calls().len(), "a reset calls the agent again");
    sandbox.write("calc.py", WRONG);
    sandbox.commit("broken at night");
    sandbox.run(&words).exits(0).says("starting a new one: tests failed").says("proven: ");
    assert_eq!(sandbox.status()["verified"], true);
}

#[test]
fn g21_a_changed_document_opens_a_new_run() {
    let sandbox = Sandbox::new();
    let design = "# Add\n\n## Acceptance Criteria\n\n- [x] it adds\n\n## Validation Checks\n\n```bash\ngrep -q b calc.py\n```\n";
    sandbox.write("DESIGN-20260101-000000.md", design);
    sandbox.write("calc.py", "");
    sandbox.commit("a design whose own checks are the only ones");
    let agent = sandbox.agent(&format!("{FIX}; {PROMISE}"));
    let words = ["run", "DESIGN-20260101-000000.md", "--agent-cmd", &agent];
    sandbox.run(&words).exits(0).says("proven: ");
    assert_eq!(level(&sandbox.status()), "red-to-green");
    sandbox.run(&words).exits(0).says("already done");
    sandbox.write("DESIGN-20260101-000000.md", design.replace("it adds", "it adds numbers"));
    sandbox.commit("another design");
    sandbox.run(&words).says("DESIGN-20260101-000000.md has changed");
}

#[test]
fn g21_a_run_without_any_check_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "write a poem", "--agent-cmd", "true"]).exits(2).says("no check found");
    assert_eq!(sandbox.status_if_any()["run"], Value::Null);
}

#[test]
fn g21_a_check_can_be_left_out_of_the_proof() {
    let more = "[checks.database]\nrun = \"test -f $OUT/database\"\nproof = false\n";
    let sandbox = project(WRONG, more);
    let text = sandbox.read(".loop/workflow.toml").replace("[\"tests\"]", "[\"tests\", \"database\"]");
    sandbox.write(".loop/workflow.toml", text);
    sandbox.commit("a database");
    std::fs::write(sandbox.note("database"), "").expect("a file");
    let agent = sandbox.agent(FIX);
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(0);
    let status = sandbox.status();
    let names: Vec<&str> = status["proof"]["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!((names, &status["verified"]), (vec!["tests"], &true.into()), "{status:#}");
}

#[test]
fn a_program_in_shell_that_the_makefile_compares_is_the_product() {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "test:\n\t@[ \"$$(sh add.sh 2 3)\" = 5 ]\n");
    sandbox.write("add.sh", "echo $(( $1 - $2 ))\n");
    sandbox.commit("a sum that is wrong");
    let fix =
        "echo 'echo $(( $1 + $2 ))' > add.sh; git commit -qam fix; echo '<promise>TASK_COMPLETE</promise>'";
    let agent = sandbox.agent(fix);
    sandbox.run(&["run", "fix the sum", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.status()["verified"], true);
}

#[test]
fn checks_are_run_once_without_an_agent() {
    let sandbox = project(WRONG, "");
    let done = sandbox.run(&["checks"]).exits(4).says("tests failed (1 of 2)");
    assert!(done.out.contains(CHECK), "{done:?}");
    sandbox.write("calc.py", RIGHT);
    let done = sandbox.run(&["checks", "--json"]).exits(0);
    let list: Value = serde_json::from_str(&done.out).expect("a list");
    assert_eq!((&list[0]["name"], &list[0]["passed"]), (&"tests".into(), &true.into()), "{list:#}");
    assert_eq!(sandbox.status_if_any()["run"], Value::Null, "nothing is recorded");
    Sandbox::new().run(&["checks"]).exits(2).says("no check found");
}

#[test]
fn g25_pruned_runs_leave_no_proof_behind() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(FIX);
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(0);
    let refs = sandbox.git(&["for-each-ref", "refs/loop"]);
    assert!(refs.contains("refs/loop/base/") && refs.contains("refs/loop/head/"), "{refs}");
    sandbox.run(&["runs", "--prune", "--yes"]).exits(0).says("1 run deleted");
    assert_eq!(sandbox.git(&["for-each-ref", "refs/loop"]), "");
    let left = std::fs::read_dir(sandbox.home.join("proof")).expect("a folder").flatten();
    assert_eq!(left.map(|it| it.path()).collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn g21_only_a_run_that_is_over_is_called_unverified() {
    let sandbox = project(WRONG, "");
    let (idle, fix) = (sandbox.agent(":"), FIX);
    sandbox.run(&["next", "fix add", "--agent-cmd", &idle]);
    for words in [["status"], ["show"]] {
        let done = sandbox.run(&words).exits(0);
        assert!(!done.out.contains("unverified"), "{done:?}");
    }
    assert_eq!(sandbox.status()["verified"], false);
    sandbox.agent(fix);
    sandbox.run(&["run"]).exits(0);
    assert!(!sandbox.run(&["status"]).out.contains("unverified"));

    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(":");
    sandbox.run(&["next", "fix add", "--unverified", "--agent-cmd", &agent]);
    sandbox.run(&["status"]).exits(0).says("unverified");

    let sandbox = project(RIGHT, "[proof]\nfeedback = false\n");
    let agent = sandbox.agent("echo words > README.md; git add -A; git commit -qm words || :");
    sandbox.run(&["run", "describe add", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["status"]).exits(0).says("completed, unverified");
    sandbox.run(&["show"]).exits(0).says("completed (unverified)");
}

#[test]
fn g21_init_looks_at_a_completed_run_again() {
    let sandbox = project(WRONG, "");
    let agent = sandbox.agent(FIX);
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["init", "fix add", "--agent-cmd", &agent]).exits(0).says("already done");
    let first = sandbox.status()["run"].clone();
    sandbox.write("calc.py", WRONG);
    sandbox.commit("break it");
    sandbox
        .run(&["init", "fix add", "--agent-cmd", &agent])
        .exits(0)
        .says("starting a new one: tests failed")
        .says("is opened: fix add");
    let status = sandbox.status();
    assert_ne!(status["run"], first);
    assert_eq!((&status["status"], sandbox.calls().len()), (&"ready".into(), 1), "{status:#}");
    // An unfinished one is named, as before.
    sandbox.run(&["init", "fix add", "--agent-cmd", &agent]).exits(7).says("is ready");
}

#[test]
fn g25_a_full_disk_pauses_a_proof_and_it_goes_on_when_there_is_room() {
    const NAME: &str = "g25_a_full_disk_pauses_a_proof";
    let sandbox = project(WRONG, "");
    let Some(home) = Mounted::new(&sandbox.home, "size=100m,mode=0700") else {
        return skipped(NAME, "a file system cannot be mounted here");
    };
    let agent = sandbox.agent(FIX);
    sandbox
        .run(&["run", "fix add", "--agent-cmd", &agent])
        .exits(5)
        .says("a proof needs 256.0 MB")
        .says("free some disk space (loop runs --prune deletes finished runs), then loop run");
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"paused".into(), &false.into()), "{status:#}");
    home.change("size=900m");
    sandbox.run(&["run"]).exits(0).says("proven: ");
    assert_eq!((level(&sandbox.status()), sandbox.calls().len()), ("red-to-green", 1));
}

#[test]
fn g24_the_baseline_of_a_session_is_taken_beside_its_first_work() {
    let sandbox = project(WRONG, "");
    sandbox.run(&["init", "fix add", "--hook", "--session", "one"]).exits(0);
    let results = || {
        let folders = std::fs::read_dir(sandbox.home.join("proof")).into_iter().flatten().flatten();
        let files = folders.flat_map(|it| std::fs::read_dir(it.path().join("results")).into_iter().flatten());
        files.flatten().filter(|it| it.path().extension().is_some_and(|it| it == "json")).count()
    };
    assert!(within(Duration::from_secs(60), || results() == 1), "nobody takes the baseline");
}

#[test]
fn g22_a_baseline_that_the_first_call_disturbed_proves_nothing() {
    let sandbox = project(RIGHT, "");
    let (lock, proofs) = (sandbox.note("lock"), sandbox.home.join("proof"));
    let test = format!(
        "import os, unittest\n\nclass TestPort(unittest.TestCase):\n    def test_port(self):\n        self.assertFalse(os.path.exists({:?}))\n",
        lock.display().to_string()
    );
    sandbox.write("tests/test_port.py", test);
    sandbox.commit("a test that needs something of the machine");
    // Takes it until the clean baseline, which runs beside this call, has its result.
    let agent = sandbox.agent(&format!(
        "touch {0}; until ls {1}/*/results/*.json; do :; done > /dev/null 2>&1; rm {0}; echo notes > NOTES; git add -A; git commit -qm notes",
        lock.display(),
        proofs.display()
    ));
    sandbox.run(&["run", "fix it", "--agent-cmd", &agent]).exits(0);
    let status = sandbox.status();
    assert_eq!((level(&status), &status["verified"]), ("unchanged-green", &Value::Bool(false)), "{status}");
}

#[test]
fn g22_a_tool_that_was_updated_between_two_calls_is_no_question() {
    let sandbox = project(WRONG, "");
    let plugin = sandbox.user.join(".nvm/versions/node/plugin.js");
    std::fs::create_dir_all(plugin.parent().expect("a folder")).expect("folders");
    let agent = sandbox.agent(&format!("[ $LOOP_CALL = 1 ] && exit 0; {FIX}"));
    sandbox.run(&["run", "fix add", "--agent-cmd", &agent, "--max", "1"]).exits(6);
    std::fs::write(&plugin, "").expect("a file");
    sandbox.run(&["run", "--max", "2"]).exits(0);
    assert_eq!(sandbox.status()["verified"], true);
}

#[test]
fn g22_a_tool_that_was_changed_in_the_run_is_a_question() {
    let sandbox = project(WRONG, "");
    let plugin = sandbox.user.join(".nvm/versions/node/plugin.js");
    std::fs::create_dir_all(plugin.parent().expect("a folder")).expect("folders");
    std::fs::write(&plugin, "").expect("a file");
    let agent = sandbox.agent(&format!("{FIX}; echo 1 > '{}'", plugin.display()));
    sandbox
        .run(&["run", "fix add", "--agent-cmd", &agent])
        .exits(3)
        .says("plugin.js changed since the run began");
    assert_eq!(sandbox.status()["question"]["kind"], "proof");
    sandbox.run(&["answer", "waive", "I know that plugin"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.status()["verified"], false);
}

#[test]
fn g22_settings_and_packages_above_the_tree_that_the_run_wrote_are_a_question() {
    for file in [".cargo/config.toml", "node_modules/fixed/index.js"] {
        let sandbox = project(WRONG, "");
        let above = sandbox.project.parent().expect("a folder").join(file);
        let write = format!(
            "mkdir -p '{}'; echo 1 > '{}'",
            above.parent().expect("a folder").display(),
            above.display()
        );
        let agent = sandbox.agent(&format!("{FIX}; {write}"));
        let done = sandbox.run(&["run", "fix add", "--agent-cmd", &agent]).exits(3);
        assert!(done.err.contains(&format!("{} changed since the run began", above.display())), "{done:?}");
    }
}
