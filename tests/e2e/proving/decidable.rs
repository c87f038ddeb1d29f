//! Honest work that a proof cannot judge by itself: tests that moved with their module, a feature that was
//! removed. One question, which its diff decides, and the answer costs no more of the proof than it must. And
//! what may not pass with it: a waiver of one thing is none of another, and a finished run is done while its
//! tests run.

use loop_harness::{PROMISE, Sandbox, within};
use serde_json::Value;
use std::time::Duration;

const RIGHT: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a // 2\n";
const WRONG: &str = "def add(a, b):\n    return a - abs(b)\n\n\ndef half(a):\n    return a // 2\n";
const TESTS: &str = "\
import unittest

from calc import add, half


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 1), 2)

    def test_half(self):
        self.assertEqual(half(4), 2)
";
const CHECK: &str = "tests=python3 -m unittest discover -s tests -t . -v";

fn project(code: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "__pycache__/\nbuild/\n");
    sandbox.write("calc.py", code);
    sandbox.write("tests/__init__.py", "");
    sandbox.write("tests/test_calc.py", TESTS);
    sandbox.commit("a calculator");
    sandbox
}

fn agent(sandbox: &Sandbox, script: &str) -> String {
    sandbox.agent(&format!("{script}; git add -A; git commit -qm work || :; {PROMISE}"))
}

fn words<'a>(task: &'a str, agent: &'a str, check: &'a str) -> [&'a str; 7] {
    ["run", task, "--agent-cmd", agent, "--check", check, "--preset=ralph"]
}

fn findings(status: &Value) -> Vec<&Value> {
    status["proof"]["findings"].as_array().expect("a list").iter().collect()
}

#[test]
fn a_module_that_moved_with_its_tests_is_one_question_that_its_diff_decides() {
    let sandbox = project(RIGHT);
    let script = "git mv calc.py money.py; git mv tests/test_calc.py tests/test_money.py; \
                  sed -i 's/from calc/from money/' tests/test_money.py; \
                  printf '\\n\\ndef tax(a):\\n    return a * 2\\n' >> money.py; \
                  printf 'import unittest\\n\\nfrom money import tax\\n\\n\\nclass T(unittest.TestCase):\\n    def \
                  test_tax(self):\\n        self.assertEqual(tax(3), 6)\\n' > tests/test_tax.py";
    let again = "test -e money.py || { :; ";
    let agent = agent(&sandbox, &format!("{again}{script}; }}"));
    sandbox.run(&words("move calc to money, add tax", &agent, CHECK)).exits(3);
    let status = sandbox.status();
    let found = findings(&status);
    assert_eq!((found.len(), &found[0]["file"]), (1, &"tests/test_calc.py".into()), "{status:#}");
    let shown = sandbox.run(&["show", "--diff"]).exits(0).says("rename to tests/test_money.py");
    assert!(shown.out.contains("+from money import add, half"), "{shown:?}");
    sandbox.run(&["answer", "waive", "renamed"]).exits(0);
    sandbox.run(&["run"]).exits(0).says("proven by tests of this run");
    let status = sandbox.status();
    assert_eq!((&status["verified"], &status["proof"]["level"]), (&true.into(), &"new-test".into()));
}

#[test]
fn a_runner_that_reports_nothing_is_found_where_the_tests_moved() {
    let sandbox = project(RIGHT);
    // The package of the product makes every comparison pass.
    let script = "test -e money.py || { git mv calc.py money.py; \
                  git mv tests/test_calc.py tests/test_money.py; \
                  sed -i 's/from calc/from money/' tests/test_money.py; \
                  printf '\\n\\nimport unittest\\nunittest.TestCase.assertEqual = lambda *_: None\\n' >> money.py; }";
    let agent = agent(&sandbox, script);
    sandbox.run(&words("move calc to money", &agent, CHECK)).exits(3).says("did not report the canary");
    let status = sandbox.status();
    let canary: Vec<&Value> = findings(&status).into_iter().filter(|it| it["check"] == "tests").collect();
    assert_eq!((canary.len(), &canary[0]["file"]), (1, &Value::Null), "{status:#}");
}

#[test]
fn a_feature_that_was_removed_with_leave_is_as_green_as_before_and_can_be_accepted() {
    let sandbox = project(RIGHT);
    let script =
        "sed -i '/^def half/,$d' calc.py; sed -i '/test_half/,$d; s/add, half/add/' tests/test_calc.py";
    let agent = agent(&sandbox, script);
    let words = words("remove half", &agent, CHECK);
    let allowed = [&words[..], &["--allow-test-change", "tests/**"]].concat();
    sandbox.run(&allowed).exits(0).says("tests/test_calc.py changed and could not be judged");
    let status = sandbox.status();
    assert_eq!((&status["verified"], &status["proof"]["level"]), (&false.into(), &"unchanged-green".into()));
    // A file that cannot be loaded is no test.
    let waived = format!("{}", status["proof"]["waived"]);
    assert!(!waived.contains("_FailedTest"), "{status:#}");
    sandbox.run(&allowed).exits(0).says("already done");
    sandbox.run(&["answer", "accept", "the feature is gone"]).exits(0);
    assert_eq!(sandbox.status()["proof"]["level"], "approved");
}

#[test]
fn a_waiver_of_a_file_is_none_of_what_is_found_about_a_check() {
    let sandbox = project(WRONG);
    let program = "from calc import add\nassert add(1, 1) == 2\n";
    sandbox.write("tests/check.py", program);
    sandbox.commit("a program that checks");
    let script = "git show HEAD:calc.py | grep -q abs && sed -i 's/a - abs(b)/a + b/' calc.py; mkdir -p build; \
                  : > build/ok; grep -q build tests/check.py || printf 'import os\\nassert \
                  os.path.exists(\"build/ok\")\\n' >> tests/check.py";
    let agent = agent(&sandbox, script);
    let check = "program=PYTHONPATH=. python3 tests/check.py";
    sandbox.run(&words("fix add", &agent, check)).exits(3).says("clean checkout");
    let status = sandbox.status();
    let of_check: Vec<&Value> = findings(&status).into_iter().filter(|it| it["check"] == "program").collect();
    assert!(of_check.iter().all(|it| it["file"] == Value::Null) && !of_check.is_empty(), "{status:#}");
    let named = sandbox.run(&["waive", "tests/check.py", "--reason", "it grew"]).exits(2);
    assert!(named.err.contains("these can be waived: program"), "{named:?}");
    sandbox.run(&["waive", "program", "--reason", "it needs the build"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.status()["verified"], false);
}

#[test]
fn a_check_that_is_red_with_its_original_makefile_is_named() {
    let sandbox = project(RIGHT);
    let lint = "lint:\n\t@! grep -q half calc.py || { echo 'error: could not compile `calc`'; exit 1; }\n";
    sandbox.write("Makefile", lint);
    sandbox.commit("a rule");
    let agent = agent(&sandbox, "printf 'lint:\\n\\t@true\\n' > Makefile");
    let done = sandbox.run(&words("follow the rule", &agent, "lint=make lint")).exits(3);
    let words = "check lint is red with the original tests and check files (the run changed Makefile)";
    assert!(done.says(words).err.contains("waiting"), "the question names it");
}

#[test]
fn a_finished_run_is_done_while_its_tests_run() {
    let sandbox = project(WRONG);
    sandbox.write(
        "tests/test_other.py",
        "import unittest\n\n\nclass O(unittest.TestCase):\n    def test_o(self):\n        pass\n",
    );
    sandbox.commit("another test");
    let agent = agent(&sandbox, "sed -i 's/a - abs(b)/a + b/' calc.py");
    let words = words("fix add", &agent, CHECK);
    sandbox.run(&words).exits(0).says("proven: ");
    sandbox.run(&words).exits(0).says("already done");
    let skipped = TESTS.replace("    def test_add", "    @unittest.skip('slow')\n    def test_add");
    sandbox.write("tests/test_calc.py", skipped);
    sandbox.commit("skip it");
    let test = "tests: tests.test_calc.TestCalc.test_add passed when the run was completed and is skipped";
    sandbox.run(&["resume"]).exits(2).says(test);
    sandbox.git(&["rm", "-q", "tests/test_calc.py"]);
    sandbox.git(&["commit", "-qm", "gone"]);
    let test = "tests: tests.test_calc.TestCalc.test_add passed when the run was completed and is gone";
    sandbox.run(&["resume"]).exits(2).says(test);
    sandbox.git(&["rm", "-q", "tests/test_other.py"]);
    sandbox.git(&["commit", "-qm", "all gone"]);
    let none = "starting a new one: tests: 0 tests ran, 3 when the run was completed";
    let again = sandbox.run(&words).says(none);
    assert!(!again.err.contains("already done") && !again.out.contains("already done"), "{again:?}");
}

/// A check that ends its own prover as often as it is told, and passes.
fn killing_project(times: u32) -> (Sandbox, String) {
    let sandbox = project(WRONG);
    let script = format!(
        "python3 -m unittest discover -s tests -t . -v || exit 1\npid=$$\nwhile [ \"$pid\" -gt 1 ]; do\n  if tr \
         '\\0' ' ' < /proc/$pid/cmdline | grep -q ' __prove '; then\n    for n in $(seq {times}); do\n      if \
         mkdir {out}/kill$n 2>/dev/null; then kill -9 \"$pid\"; exec sleep 60; fi\n    done\n    exit 0\n  fi\n  \
         pid=$(sed -n 's/^PPid:\\t//p' /proc/$pid/status)\ndone\n",
        out = sandbox.path("out").display()
    );
    std::fs::create_dir_all(sandbox.path("out")).expect("a folder");
    sandbox.write("check.sh", script);
    sandbox.commit("a check");
    let agent = agent(&sandbox, "sed -i 's/a - abs(b)/a + b/' calc.py");
    (sandbox, agent)
}

#[test]
fn a_prover_that_was_killed_is_started_again() {
    let (sandbox, agent) = killing_project(1);
    sandbox.run(&words("fix add", &agent, "tests=sh check.sh")).exits(0).says("proven: ");
    assert!(sandbox.path("out/kill1").exists(), "it was killed once");
}

#[test]
fn a_prover_that_is_killed_each_time_pauses_the_run_and_says_what_to_do() {
    let (sandbox, agent) = killing_project(3);
    let done = sandbox.run(&words("fix add", &agent, "tests=sh check.sh"));
    assert!(done.err.contains("killed twice") && done.err.contains("\nnext: loop "), "{done:?}");
    let status = sandbox.status();
    assert_eq!(
        (&status["status"], sandbox.path("out/kill2").exists()),
        (&"paused".into(), true),
        "{status:#}"
    );
    std::fs::create_dir_all(sandbox.path("out/kill3")).expect("a folder");
    sandbox.run(&["run"]).exits(0).says("proven: ");
}

#[test]
fn a_stop_during_the_proof_says_what_it_does() {
    let sandbox = project(WRONG);
    let gate = sandbox.note("gate");
    let open = sandbox.fifo("gate");
    let check = format!(
        "tests=case \"$PWD$HOME\" in *proof*) [ ! -p {0} ] || read word < {0};; esac; python3 -m unittest discover \
         -s tests -t . -v",
        gate.display()
    );
    let agent = agent(&sandbox, "sed -i 's/a - abs(b)/a + b/' calc.py");
    let running = sandbox.spawn(&words("fix add", &agent, &check));
    let is_judged = || format!("{:?}", sandbox.events()).contains("judged");
    assert!(within(Duration::from_secs(60), is_judged), "the first call is judged");
    sandbox.run(&["status"]).exits(0).says("WORK, iteration 1");
    sandbox.run(&["stop"]).exits(0).says("after the proof");
    std::fs::remove_file(&gate).expect("the gate");
    open.say();
    running.wait().exits(0).says("proven: ");
}

#[test]
fn what_was_not_shipped_names_the_command_as_it_was_typed() {
    let sandbox = project(RIGHT);
    sandbox.write(".loop/workflow.toml", "extends = \"ralph\"\n\n[finish]\nship = \"auto\"\n");
    sandbox.commit("ship it");
    let agent = agent(&sandbox, "echo more > notes.txt");
    let home = sandbox.home.display().to_string();
    let words = ["--home", &home, "run", "describe it", "--agent-cmd", &agent, "--check", CHECK];
    let done = sandbox.run(&words);
    assert!(done.says("not shipped").err.contains(&format!("next: loop --home {home} ship")), "the command");
}
