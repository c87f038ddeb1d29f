//! What a proof costs, for a Rust project with dependencies: in seconds, and as a multiple of its
//! checks in place. Measured where `LOOP_MEASURE` is set, because it needs a machine that does
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
