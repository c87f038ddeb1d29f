//! What a proof costs, for a Rust project with dependencies and small ones in other languages: in seconds, and
//! as a multiple of their checks in place. Measured where `LOOP_MEASURE` is set, because it needs a machine that does
//! nothing else.

use crate::project::Project;
use std::time::Instant;

const CHECK: &str = "cargo test --offline --locked";

const MANIFEST: &str = "[package]
name = \"sample\"
version = \"0.1.0\"
edition = \"2021\"
[dependencies]
serde_json = \"1\"
regex-lite = \"0.1\"
[workspace]
";

const LIBRARY: &str = "pub fn number(text: &str) -> i64 {
    regex_lite::Regex::new(\"^[0-9]+$\").unwrap().find(text).map_or(0, |it| it.as_str().parse().unwrap())
}
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn reads_a_number() { assert_eq!(number(\"12\"), 12); }
}
";

/// A proof with the cache of its baseline costs less than so many cold runs of the checks.
const MOST: f64 = 4.0;

#[test]
fn a_proof_costs_less_than_four_runs_of_the_checks() {
    if std::env::var_os("LOOP_MEASURE").is_none() {
        println!("not measured: LOOP_MEASURE is not set");
        return;
    }
    let project =
        Project::new(&[(".gitignore", "/target\n"), ("Cargo.toml", MANIFEST), ("src/lib.rs", LIBRARY)]);
    crate::project::text(project.sh("cargo generate-lockfile --offline"));
    project.commit();
    let proof = project.open();
    let seconds = |act: &dyn Fn()| {
        let started = Instant::now();
        act();
        started.elapsed().as_secs_f64()
    };
    let in_place = || assert!(project.passes_in_place(CHECK));
    let cold_checks = seconds(&in_place);
    let baseline = seconds(&|| drop(proof.baseline(CHECK)));
    let changed = LIBRARY.replace(
        "fn reads_a_number",
        "fn reads_a_sign() { assert_eq!(number(\"-3\"), -3); }\n    #[test]\n    fn reads_a_number",
    );
    project.write_all(&[("src/lib.rs", &changed.replace("^[0-9]+$", "^-?[0-9]+$"))]);
    let tree = project.commit();
    let warm_checks = seconds(&in_place);
    let proven = proof.prove(&tree, CHECK);
    let cached = proven["cost_s"].as_f64().expect("seconds");
    assert_eq!(proven["level"], "new-test", "{proven:#}");
    println!("checks in place: {cold_checks:.1} s cold, {warm_checks:.1} s warm");
    println!(
        "the baseline's step, beside the first call: {baseline:.1} s, {:.1} x cold",
        baseline / cold_checks
    );
    println!(
        "the proof with its cache: {cached:.1} s, {:.1} x the cold checks, {:.1} x the warm ones",
        cached / cold_checks,
        cached / warm_checks
    );
    let whole = baseline + cached;
    println!("the proof without a cache: {whole:.1} s, {:.1} x the cold checks", whole / cold_checks);
    assert!(cached < MOST * cold_checks, "the proof took {cached:.1} s, the checks {cold_checks:.1} s");
}

/// A small project whose test fails, and what repairs it. Most of such a check is the start of its runner.
struct Small {
    name: &'static str,
    tool: &'static str,
    check: &'static str,
    files: &'static [(&'static str, &'static str)],
    fixed: (&'static str, &'static str),
}

const SMALL: [Small; 4] = [
    Small {
        name: "Python, unittest",
        tool: "python3",
        check: "python3 -m unittest -v",
        files: &[
            ("calc.py", "def add(a, b):\n    return a - b\n"),
            (
                "test_calc.py",
                "import unittest\nfrom calc import add\n\nclass TestAdd(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(add(1, 1), 2)\n",
            ),
        ],
        fixed: ("calc.py", "def add(a, b):\n    return a + b\n"),
    },
    Small {
        name: "Node, node --test",
        tool: "node",
        check: "node --test",
        files: &[
            ("calc.js", "exports.add = (a, b) => a - b;\n"),
            (
                "calc.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./calc');\ntest('adds', () => { assert.strictEqual(add(1, 1), 2); });\n",
            ),
        ],
        fixed: ("calc.js", "exports.add = (a, b) => a + b;\n"),
    },
    Small {
        name: "Go, go test",
        tool: "go",
        check: "go test ./...",
        files: &[
            ("go.mod", "module example.com/calc\n\ngo 1.20\n"),
            ("calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n"),
            (
                "calc_test.go",
                "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
            ),
        ],
        fixed: ("calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\n"),
    },
    Small {
        name: "C, make",
        tool: "cc",
        check: "make test",
        files: &[
            (".gitignore", "/t\n"),
            ("add.c", "int add(int a, int b) { return a - b; }\n"),
            (
                "test.c",
                "#include <assert.h>\nint add(int, int);\nint main(void) { assert(add(1, 1) == 2); return 0; }\n",
            ),
            ("Makefile", "test: t\n\t./t\nt: add.c test.c\n\tcc -o t add.c test.c\n"),
        ],
        fixed: ("add.c", "int add(int a, int b) { return a + b; }\n"),
    },
];

#[test]
fn what_a_proof_of_a_small_project_costs() {
    if std::env::var_os("LOOP_MEASURE").is_none() {
        println!("not measured: LOOP_MEASURE is not set");
        return;
    }
    for small in &SMALL {
        let project = Project::new(small.files);
        if !project.sh(&format!("command -v {}", small.tool)).status.success() {
            println!("SKIPPED {}: {} is missing", small.name, small.tool);
            continue;
        }
        project.commit();
        let proof = project.open();
        let timed = |act: &dyn Fn()| {
            let started = Instant::now();
            act();
            started.elapsed().as_secs_f64()
        };
        let cold = timed(&|| assert!(!project.passes_in_place(small.check), "{} begins red", small.name));
        let baseline = timed(&|| drop(proof.baseline(small.check)));
        project.write_all(&[small.fixed]);
        let tree = project.commit();
        let warm = timed(&|| assert!(project.passes_in_place(small.check), "{} is repaired", small.name));
        let proven = proof.prove(&tree, small.check);
        assert_eq!(proven["level"], "red-to-green", "{proven:#}");
        let cached = proven["cost_s"].as_f64().expect("seconds");
        println!(
            "{}: checks {cold:.1} s cold, {warm:.1} s warm; the baseline's step {baseline:.1} s; the proof with its cache {cached:.1} s, {:.1} x the warm checks",
            small.name,
            cached / warm
        );
    }
}
