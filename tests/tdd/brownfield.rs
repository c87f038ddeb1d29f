//! Projects that have code, tests and a history before the run begins, in three languages with their
//! own test runners, and agents that lie, get stuck, have tests that come and go, or are refused by
//! their provider.
//!
//! | language | from nothing | with a history | agent |
//! |---|---|---|---|
//! | Rust | `greenfield::rust_…` | `rust_with_a_history` | lies about its tests |
//! | Node | `greenfield::node_…` | `node_with_a_history` | gets stuck, a person helps |
//! | Python | `greenfield::python_…` | `python_with_a_history` | has a test that comes and goes |
//! | lines | `trouble::…` | `limits::…` | all of these, and refused by its provider |

use loop_harness::Scripted;
use serde_json::{Value, json};

fn status(sandbox: &Scripted) -> Value {
    serde_json::from_str(&sandbox.run(&["status", "--json"]).exits(0).out).expect("JSON")
}

/// Whether a program is there; a machine without it skips by name.
fn has(sandbox: &Scripted, program: &str, arguments: &[&str]) -> bool {
    let there = sandbox.furnished(program, arguments).output().is_ok_and(|it| it.status.success());
    if !there {
        assert!(std::env::var_os("CI").is_none(), "{program} is missing");
        eprintln!("skipped: {program} {} is not there", arguments.join(" "));
    }
    there
}

#[test]
fn rust_with_a_history_and_a_liar() {
    let sandbox = Scripted::new();
    sandbox.file(
        "project/Cargo.toml",
        "[package]\nname = \"greetings\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n",
    );
    sandbox.file("project/.gitignore", "target\n");
    sandbox.file(
        "project/Cargo.lock",
        "version = 3\n\n[[package]]\nname = \"greetings\"\nversion = \"0.1.0\"\n",
    );
    let old = "pub fn twice(it: u32) -> u32 { it * 2 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    \
        fn twice_two() { assert_eq!(super::twice(2), 4); }\n}\n";
    sandbox.file("project/src/lib.rs", old);
    sandbox.step(
        "RED",
        "printf 'pub fn greet(_: Option<&str>) -> String { todo!() }\\n' >> src/lib.rs\n\
         mkdir -p tests; cat > tests/greetings.rs <<E\n#[test]\nfn a_name() { assert_eq!(greetings::greet(Some(\"Ann\")), \
         \"hello Ann\"); }\n#[test]\nfn no_name() { assert_eq!(greetings::greet(None), \"hello world\"); }\nE\n\
         commit red; report true </dev/null\n",
    );
    let claims =
        "printf 'TESTS:\\n  TOTAL: 3\\n  PASSING: 3\\n  FAILING: 0\\n  SKIPPED: 0\\n' | report true\n";
    // The first try greets everybody as Ann, and says that every test passes.
    sandbox.step("2", &format!("sed -i 's/todo!()/\"hello Ann\".into()/' src/lib.rs; commit lie\n{claims}"));
    sandbox.step(
        "GREEN",
        "sed -i 's/greet(_: /greet(name: /; s/\"hello Ann\".into()/format!(\"hello {}\", name.unwrap_or(\"world\"))/' src/lib.rs\n\
         commit green; report true </dev/null\n",
    );
    sandbox.begin();
    sandbox.drive(&[]).exits(0);
    let phases: Vec<String> =
        sandbox.phase_calls().iter().map(|it| it.split(' ').next().unwrap_or("").to_owned()).collect();
    assert_eq!(phases, ["RED", "GREEN", "GREEN", "REFACTOR", "DOCUMENT", "QA"]);
    let lied = sandbox.text("prompts/3");
    assert!(lied.contains("failing tests: the agent claimed 0, measured 1"), "{lied}");
    let metrics = sandbox.session_json("metrics.json");
    let red = &metrics["phases"]["RED"]["final_metrics"];
    assert_eq!(["tests_generated", "tests_passing"].map(|it| red[it].clone()), [json!(2), json!(1)]);
    assert_eq!(metrics["phases"]["GREEN"]["final_metrics"]["tests_total"], 3);
    assert_eq!(status(&sandbox)["verified"], true);
}

#[test]
fn node_with_a_history_and_an_agent_that_gets_stuck() {
    let sandbox = Scripted::new();
    if !has(&sandbox, "npm", &["--version"]) {
        return;
    }
    sandbox.file(
        "project/package.json",
        "{\"name\": \"greetings\", \"version\": \"0.1.0\", \"scripts\": {\"test\": \"node --test\"}}\n",
    );
    sandbox.file("project/twice.js", "exports.twice = it => it * 2\n");
    sandbox.file(
        "project/test/twice.test.js",
        "const test = require('node:test')\nconst assert = require('node:assert')\n\
         test('twice', () => assert.equal(require('../twice.js').twice(2), 4))\n\
         test('known', () => assert.equal(require('../twice.js').twice(2), 5))\n",
    );
    sandbox.step(
        "RED",
        "echo 'exports.greet = () => { throw new Error(\"not implemented\") }' > greetings.js\n\
         cat > test/greetings.test.js <<E\nconst test = require('node:test')\nconst assert = require('node:assert')\n\
         const { greet } = require('../greetings.js')\n\
         test('a name is greeted', () => assert.equal(greet('Ann'), 'hello Ann'))\n\
         test('no name greets the world', () => assert.equal(greet(), 'hello world'))\nE\n\
         commit red; report true </dev/null\n",
    );
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.begin();
    // The command is found in package.json.
    let stuck = sandbox.drive(&[]).exits(4);
    assert!(stuck.err.contains("GREEN: "), "{}", stuck.err);
    let warnings = status(&sandbox)["warnings"].to_string();
    assert!(warnings.contains("1 test of \\\"tests\\\" failed before the run began"), "{warnings}");
    sandbox.run(&["answer", "modify", "concatenate the two words"]).exits(0);
    sandbox.step(
        "GREEN",
        "echo \"exports.greet = name => 'hello ' + (name || 'world')\" > greetings.js\n\
         commit green; report true </dev/null\n",
    );
    sandbox.run(&["run"]).exits(0);
    let status = status(&sandbox);
    assert_eq!([&status["status"], &status["verified"]], [&json!("completed"), &json!(true)]);
    let helped = sandbox.phase_calls().iter().position(|it| it.starts_with("REFACTOR")).expect("a phase");
    assert!(sandbox.text(&format!("prompts/{helped}")).contains("concatenate the two words"));
}

#[test]
fn python_with_a_history_and_a_test_that_comes_and_goes() {
    let sandbox = Scripted::new();
    if !has(&sandbox, "python3", &["--version"]) {
        return;
    }
    sandbox.file("project/.gitignore", "__pycache__\nflaky\n");
    sandbox.file("project/tests/__init__.py", "");
    sandbox.file(
        "project/tests/test_old.py",
        "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(1 + 1, 2)\n",
    );
    sandbox.step(
        "RED",
        "printf 'def greet(name=None):\\n    raise NotImplementedError\\n' > greetings.py\n\
         cat > tests/test_greetings.py <<E\nimport unittest\nfrom greetings import greet\n\n\n\
         class Greetings(unittest.TestCase):\n    def test_a_name_is_greeted(self):\n        \
         self.assertEqual(greet('Ann'), 'hello Ann')\n\n    def test_no_name_greets_the_world(self):\n        \
         self.assertEqual(greet(), 'hello world')\nE\ncommit red; report true </dev/null\n",
    );
    // Every second run of the tests sees another answer.
    let flaky = "cat > greetings.py <<E\nimport os\n\n\ndef greet(name=None):\n    if name is None and os.path.exists('flaky'):\n        \
        os.remove('flaky')\n        return 'hello nobody'\n    if name is None:\n        open('flaky', 'w').close()\n    \
        return 'hello ' + (name or 'world')\nE\ncommit flaky; report true </dev/null\n";
    sandbox.step("2", flaky);
    sandbox.step(
        "GREEN",
        "printf 'def greet(name=None):\\n    return \"hello \" + (name or \"world\")\\n' > greetings.py\n\
         commit green; report true </dev/null\n",
    );
    sandbox.begin();
    sandbox.drive(&["--check", sandbox.python_tests()]).exits(0);
    let phases: Vec<String> =
        sandbox.phase_calls().iter().map(|it| it.split(' ').next().unwrap_or("").to_owned()).collect();
    assert_eq!(phases, ["RED", "GREEN", "GREEN", "REFACTOR", "DOCUMENT", "QA"]);
    let metrics = sandbox.session_json("metrics.json");
    let runs: Vec<Value> = metrics["phases"]["GREEN"]["history"]
        .as_array()
        .expect("iterations")
        .iter()
        .map(|it| it["consecutive_green_runs"].clone())
        .collect();
    assert_eq!(runs, [json!(0), json!(2)]);
    assert_eq!(status(&sandbox)["verified"], true);
}
