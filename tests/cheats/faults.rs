//! What a clean checkout sees and what it does not, for every sample: a fault that an ignored file or HOME
//! brings is red in place and green there; one that a cache hides is green in place and red there. The
//! step is taken alone, by the word that debug builds have for it.

use crate::data::{self, Row, Sample, Start};
use crate::project::Project;
use serde_json::{Value, json};
use std::process::Command;

/// Samples that the default run takes; the campaign takes all.
const SAMPLES: usize = 2;

#[test]
fn a_fault_outside_of_the_tree_is_not_seen() {
    let corpus = data::read();
    for (name, sample) in samples(&corpus) {
        let project = Project::new(sample, &Row::blank(Start::Green));
        let opening = Opening::take(&project);
        project.must(&sample.fault);
        assert!(!is_green_in_place(&project, sample), "{name}: the fault does not show in place");
        let clean = opening.clean(&project, sample);
        assert!(is_green(&clean), "{name}: {clean:#}");
        println!("{name}: the fault is not seen, {} test ids judged", ids(name, &clean));
    }
}

#[test]
fn a_fault_that_a_cache_hides_is_seen() {
    let corpus = data::read();
    for (name, sample) in samples(&corpus) {
        let id = &sample.hidden_by_cache;
        let row = corpus.cheats.iter().find(|it| it.id == *id).expect("a row of the corpus");
        let project = Project::new(sample, row);
        let opening = Opening::take(&project);
        let acted = project.act(row);
        assert!(acted.status.success(), "{id}: {}", crate::said(&acted));
        assert!(is_green_in_place(&project, sample), "{id}: the cache hides nothing");
        let clean = opening.clean(&project, sample);
        assert!(!is_green(&clean), "{id}: {clean:#}");
        println!("{name}: {id} is seen, {} test ids judged", ids(name, &clean));
    }
}

fn samples(corpus: &data::Corpus) -> Vec<(&String, &Sample)> {
    let all: Vec<_> =
        corpus.samples.iter().filter(|(name, sample)| !crate::skipped(name, &sample.needs)).collect();
    if std::env::var_os("LOOP_TEST_TIMES").is_some() {
        return all;
    }
    let first = usize::try_from(crate::seed()).unwrap_or(0) % all.len().max(1);
    all.iter().copied().cycle().skip(first).take(SAMPLES.min(all.len())).collect()
}

fn is_green_in_place(project: &Project, sample: &Sample) -> bool {
    sample.checks.iter().all(|it| project.check(it).status.success())
}

fn is_green(step: &Value) -> bool {
    let checks = step["outcome"]["ran"]["attempts"][0].as_array().expect("checks that ran");
    checks.iter().all(|it| it["exit"] == "green")
}

/// How many tests the step names; a step that names none has judged nothing.
fn ids(sample: &str, step: &Value) -> usize {
    let checks = step["outcome"]["ran"]["attempts"][0].as_array().expect("checks that ran");
    let number = checks.iter().filter_map(|it| it["ids"].as_object()).map(serde_json::Map::len).sum();
    assert!(0 < number, "{sample}: no test id was judged: {step:#}");
    number
}

/// The conditions and the tree that a run would have begun with.
struct Opening {
    name: String,
    base: String,
}

impl Opening {
    fn take(project: &Project) -> Opening {
        std::fs::create_dir_all(project.root().join("loop-home")).expect("a folder");
        let mut command = executor(project);
        command.arg("open").arg(project.root().join("loop-home")).arg(&project.project).arg(&project.project);
        Opening { name: answer(&mut command), base: tree(project) }
    }

    /// Takes the clean step of the tree as it is committed.
    fn clean(&self, project: &Project, sample: &Sample) -> Value {
        let checks = sample.checks.iter().map(|it| {
            let (name, command) = it.split_once('=').expect("NAME=COMMAND");
            json!({ "name": name, "command": command, "prepare": null, "timeout_ms": 600_000 })
        });
        let request = json!({
            "place": project.project, "borrow_from": project.project, "base": self.base, "base_commit": null,
            "tree": tree(project), "tree_commit": null, "opening": self.name, "prepare": null,
            "variables": [], "protect": [], "checks": checks.collect::<Vec<_>>(),
        });
        let file = project.root().join("request.json");
        std::fs::write(&file, request.to_string()).expect("a file");
        let mut command = executor(project);
        command.arg("step").arg(project.root().join("loop-home")).arg(&file).arg("clean");
        serde_json::from_str(&answer(&mut command)).expect("a result")
    }
}

fn tree(project: &Project) -> String {
    let done = project.shell("git rev-parse 'HEAD^{tree}'");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn executor(project: &Project) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loop"));
    project.furnish(&mut command);
    command.arg("__proof");
    command
}

fn answer(command: &mut Command) -> String {
    let done = command.output().expect("the program");
    assert!(done.status.success(), "{}", crate::said(&done));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
