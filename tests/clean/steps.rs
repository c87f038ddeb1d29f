//! The steps of a proof one after another, on a project whose tests are Python's unittest.

use crate::project::Project;
use serde_json::json;
use std::fs;

const CHECK: &str = "python3 -m unittest -v";

const BROKEN: &str = "def one():\n    return 2\n";
const FIXED: &str = "def one():\n    return 1\n";

const TEST: &str = "import unittest
import lib

class LibTest(unittest.TestCase):
    def test_one(self):
        self.assertEqual(lib.one(), 1)

    def test_kind(self):
        self.assertIsInstance(lib.one(), int)
";

fn broken() -> Project {
    Project::new(&[(".gitignore", "__pycache__\n"), ("lib.py", BROKEN), ("test_lib.py", TEST)])
}

fn outcome(answer: &crate::project::Answer, id: &str) -> String {
    let ids = answer.0["outcome"]["ran"]["attempts"][0][0]["ids"].as_object().expect("ids");
    let found = ids.iter().find(|(name, _)| name.contains(id));
    found.map_or("absent", |(_, it)| it.as_str().expect("a word")).to_owned()
}

#[test]
fn an_honest_fix_needs_no_overlay() {
    let project = broken();
    let proof = project.open();
    assert_eq!(outcome(&proof.baseline(CHECK), "test_one"), "failed");
    project.write_all(&[("lib.py", FIXED)]);
    let tree = project.commit();
    proof.clean(&tree, CHECK).assert_green();
    for step in ["overlay", "old-code"] {
        assert_eq!(proof.step(step, &tree, CHECK).0["outcome"], json!({ "not-run": "not-needed" }), "{step}");
    }
    assert_eq!(proof.step("canary", &tree, CHECK).0["canary"], json!({ "tests": "seen" }));
}

#[test]
fn a_weakened_test_is_red_with_its_original_text() {
    let project = broken();
    let proof = project.open();
    project.write_all(&[("test_lib.py", &TEST.replace("self.assertEqual(lib.one(), 1)", "pass"))]);
    let tree = project.commit();
    let clean = proof.clean(&tree, CHECK);
    clean.assert_green();
    assert_eq!(clean.0["changed_protected"], json!(["test_lib.py"]));
    let overlay = proof.step("overlay", &tree, CHECK);
    overlay.assert_red();
    assert_eq!(outcome(&overlay, "test_one"), "failed");
    assert_eq!(overlay.0["canary"], json!({ "tests": "seen" }));
}

#[test]
fn a_deleted_test_and_an_added_one() {
    let project = broken();
    let proof = project.open();
    fs::remove_file(project.top().join("test_lib.py")).expect("removed");
    project.write_all(&[("test_other.py", &TEST.replace("test_one", "test_new")), ("lib.py", FIXED)]);
    let tree = project.commit();
    let overlay = proof.step("overlay", &tree, CHECK);
    assert_eq!(
        (outcome(&overlay, "test_one"), outcome(&overlay, "test_new")),
        ("passed".into(), "absent".into())
    );
    let old_code = proof.step("old-code", &tree, CHECK);
    assert_eq!(
        (outcome(&old_code, "test_new"), outcome(&old_code, "test_kind")),
        ("failed".into(), "passed".into())
    );
    // Evidence is looked at twice.
    assert_eq!(old_code.0["outcome"]["ran"]["attempts"].as_array().map(Vec::len), Some(2));
}

#[test]
fn code_that_silences_the_runner_kills_the_canary() {
    let project = broken();
    let proof = project.open();
    let silent = format!("{BROKEN}\nimport unittest\nunittest.TestCase.assertEqual = lambda *a: None\n");
    project.write_all(&[("lib.py", &silent)]);
    let tree = project.commit();
    proof.clean(&tree, CHECK).assert_green();
    assert_eq!(proof.step("canary", &tree, CHECK).0["canary"], json!({ "tests": "unseen" }));
}

#[test]
fn a_flaky_test_is_repeated() {
    let project = Project::new(&[("lib.py", FIXED), ("test_lib.py", TEST)]);
    let proof = project.open();
    let count = project.beside("count");
    let body = "import os\n        first = not os.path.exists('COUNT')\n        open('COUNT', 'a').close()\n        self.assertFalse(first)";
    let body = body.replace("COUNT", &count.display().to_string());
    let flaky = TEST.replace("self.assertEqual(lib.one(), 1)", &body);
    project.write_all(&[("test_lib.py", &flaky)]);
    let tree = project.commit();
    let clean = proof.clean(&tree, CHECK);
    let attempts = clean.0["outcome"]["ran"]["attempts"].as_array().expect("attempts");
    assert_eq!(attempts.len(), 2, "{}", clean.shown());
    assert_eq!(attempts[1][0]["exit"], "green", "{}", clean.shown());
}

#[test]
fn a_link_in_place_of_a_folder_of_tests_leads_nowhere() {
    let project = Project::new(&[("lib.py", FIXED), ("tests/test_lib.py", TEST), ("tests/__init__.py", "")]);
    let proof = project.open();
    let outside = project.beside("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("test_lib.py"), "precious").expect("written");
    fs::remove_dir_all(project.top().join("tests")).expect("removed");
    std::os::unix::fs::symlink(&outside, project.top().join("tests")).expect("a link");
    let tree = project.commit();
    let overlay = proof.step("overlay", &tree, CHECK);
    assert_eq!(outcome(&overlay, "test_one"), "passed", "{}", overlay.shown());
    assert_eq!(fs::read_to_string(outside.join("test_lib.py")).expect("there"), "precious");
}

#[test]
fn what_the_steps_add_up_to() {
    let project = broken();
    let proof = project.open();
    project.write_all(&[("lib.py", FIXED)]);
    let fixed = proof.prove(&project.commit(), CHECK);
    assert_eq!(fixed["level"], "red-to-green", "{fixed:#}");
    assert_eq!(fixed["findings"], json!([]), "{fixed:#}");
    project.write_all(&[
        ("lib.py", BROKEN),
        ("test_lib.py", &TEST.replace("self.assertEqual(lib.one(), 1)", "pass")),
    ]);
    let cheated = proof.prove(&project.commit(), CHECK);
    assert_eq!(cheated["findings"][0]["file"], "test_lib.py", "{cheated:#}");
}
