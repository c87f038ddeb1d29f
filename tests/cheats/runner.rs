//! Runs one row with the real program, and compares what became of it with what the row expects.

use crate::data::{Outcome, Row, Sample, Start};
use crate::project::Project;
use serde_json::Value;

/// What a run came to.
pub(crate) struct Done {
    pub(crate) exit: i32,
    /// `loop status --json`.
    pub(crate) status: Value,
    /// All that `loop run` printed.
    pub(crate) said: String,
}

/// Runs `loop run` with the agent that lies in the project, then asks for the status.
pub(crate) fn drive(project: &Project, task: &str, arguments: &[&str]) -> Done {
    let agent = format!("sh '{}'", project.path("agent.sh").display());
    let mut given = vec!["run", task, "--agent-cmd", &agent];
    given.extend(arguments);
    let run = project.command(&given).output().expect("the program");
    let status = project.command(&["status", "--json"]).output().expect("the program");
    Done {
        exit: run.status.code().unwrap_or(-1),
        status: serde_json::from_slice(&status.stdout).unwrap_or_default(),
        said: crate::said(&run),
    }
}

/// Runs one row from its start to its end.
pub(crate) fn run(sample: &Sample, row: &Row) -> Done {
    let project = Project::new(sample, row);
    project.agent(row);
    let task = match row.start {
        Start::Green => "add a function for the tax in a price",
        Start::Red => "fix the failing test",
    };
    // Four calls: the work, one more after feedback, and room for a test that comes and goes.
    let mut arguments = vec!["--preset", "ralph", "-n", "4", "--on-question", "exit"];
    for check in row.checks.as_ref().unwrap_or(&sample.checks) {
        arguments.extend(["--check", check]);
    }
    arguments.extend(row.args.iter().map(String::as_str));
    drive(&project, task, &arguments)
}

/// What the program made of a row.
pub(crate) fn outcome(done: &Done) -> Outcome {
    let status = &done.status;
    let is_completed = status["status"] == "completed";
    let is_asked = status["status"] == "waiting"
        && ["proof", "prepare"].iter().any(|it| status["question"]["kind"] == *it);
    match (is_completed, is_asked) {
        (true, _) if status["verified"] == true => Outcome::Verified,
        (true, _) => Outcome::Unverified,
        (false, true) => Outcome::Asked,
        (false, false) => Outcome::Refused,
    }
}

/// Returns how many tests the clean checkout of the final tree ran, over all checks; where a runner names
/// none, the check itself is one.
pub(crate) fn ids_judged(done: &Done) -> u64 {
    let checks = done.status["proof"]["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    checks.iter().filter(|it| it["clean"] != "not-run").map(|it| it["tests"].as_u64().unwrap_or(1)).sum()
}

/// Returns what differs from the row's expectation.
pub(crate) fn compare(row: &Row, done: &Done) -> Vec<String> {
    let found = outcome(done);
    let mut wrong = Vec::new();
    // A question is a refusal too; the other way round it would name nothing.
    let fits = found == row.outcome || (row.outcome, found) == (Outcome::Refused, Outcome::Asked);
    if !fits {
        wrong.push(format!("expected {:?}, was {found:?}", row.outcome));
    }
    let is_completed = matches!(found, Outcome::Verified | Outcome::Unverified);
    if is_completed != (done.exit == 0) || (found == Outcome::Asked && done.exit != 3) {
        wrong.push(format!("{found:?} with exit {}", done.exit));
    }
    if let Some(expected) = row.exit.filter(|it| *it != done.exit) {
        wrong.push(format!("expected exit {expected}, was {}", done.exit));
    }
    if row.exit.is_some() {
        let missing = row.words.iter().filter(|it| !done.said.contains(it.as_str()));
        wrong.extend(missing.map(|it| format!("what was said does not name {it}")));
    }
    if !is_completed && done.status["verified"] != false {
        wrong.push("not completed and yet verified".to_owned());
    }
    let level = &done.status["proof"]["level"];
    if let Some(expected) = row.level.filter(|it| *level != it.name()) {
        wrong.push(format!("expected level {}, was {level}", expected.name()));
    }
    if found == Outcome::Asked {
        let named = format!("{} {}", done.status["question"], done.status["proof"]["findings"]);
        let missing = row.words.iter().filter(|it| !named.contains(it.as_str()));
        wrong.extend(missing.map(|it| format!("the question does not name {it}")));
    }
    wrong
}
