//! `.claude-task-state.json`: a run of `ralph` in the format that its seed gave it. It exists while
//! the run is unfinished and is gone when it is completed.

pub mod import;

use super::replace;
use loop_base::value::Value;
use loop_core::engine::{Call, Outcome, State, Station, Status, Step};
use loop_core::prompt;
use loop_core::workflow::model::Workflow;
use serde_json::json;
use std::path::Path;

/// Where it lies, in the working tree.
pub const NAME: &str = ".claude-task-state.json";

pub(super) fn write(_run: &str, workflow: &Workflow, state: &State, place: &Path) {
    if state.station == Station::Closed(Outcome::Completed) {
        return remove(place);
    }
    // The tree may be read-only, or the disk full: the database knows everything that is in here.
    let _harmless = replace(&place.join(NAME), &text(workflow, state));
}

pub(super) fn remove(place: &Path) {
    let _may_be_absent = std::fs::remove_file(place.join(NAME));
}

fn text(workflow: &Workflow, state: &State) -> String {
    let object = json!({
        "designFile": state.opening.document(),
        "currentIteration": state.iterations_total,
        "maxIterations": state.iterations_limit(workflow),
        "completionPromise": state.opening.promise,
        "status": word(Status::of(state)),
        "validation": validation(state, "lastRun"),
        "prompt": prompt::render(workflow, state, &call(state), ""),
        "startedAt": state.opened_at.to_string(),
        "filesModified": state.seen.files,
        "lastValidation": validation(state, "timestamp"),
    });
    serde_json::to_string_pretty(&object).expect("a mirror is plain data")
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ready => "initializing",
        Status::Running => "running",
        Status::Waiting | Status::Paused | Status::Stopped => "paused",
        Status::Halted => "stuck",
        Status::Capped => "max_iterations",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
    }
}

/// What the last iteration was found to be; nothing before the first is judged.
fn validation(state: &State, moment: &str) -> serde_json::Value {
    let known = |names: &[&str]| {
        let values = names.iter().filter_map(|it| state.visit.metrics.get(*it)).map(|it| &it.value);
        let found = values.filter_map(|it| match it {
            Value::Bool(it) => Some(*it),
            Value::Int(_) | Value::Number(_) | Value::Text(_) => None,
        });
        found.reduce(|all, it| all && it)
    };
    if state.visit.metrics.is_empty() {
        return json!({});
    }
    json!({
        moment: state.updated_at.to_string(),
        // The commands of the design are tests too.
        "testsPass": known(&["tests_ok", "validation_ok"]),
        "buildSucceeds": known(&["build_ok"]),
        "gitClean": known(&["tree_clean"]),
    })
}

/// The call that is under way, else the one that would come next.
fn call(state: &State) -> Call {
    match &state.station {
        Station::Working(call) => call.clone(),
        Station::Reported(turn) | Station::Measured(turn, _) => turn.call.clone(),
        Station::Ready
        | Station::Between
        | Station::Judged(_)
        | Station::Leaving { .. }
        | Station::Waiting { .. }
        | Station::Finishing
        | Station::Finished
        | Station::Closed(_) => Call {
            number: state.calls_total + 1,
            attempt: 1,
            phase: state.phase,
            iteration: state.visit.iteration + 1,
            step: Step::Main,
            item: None,
            model: None,
            other_model: None,
            epoch: state.epoch,
            unstarted: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use loop_base::time::Timestamp;
    use loop_core::engine::{Event, Metric, Opening, Source, State};
    use loop_core::workflow::resolve::{Layers, resolve};

    #[test]
    fn the_fields_are_those_of_the_seed() {
        let layers = Layers { preset: Some("ralph".to_owned()), ..Layers::default() };
        let workflow = resolve(&layers, &|_| Err(String::new())).expect("a preset");
        let mut state = State::new(&workflow);
        let opening = Opening {
            input: "DESIGN-20260119-143022.md".to_owned(),
            promise: Some("API_COMPLETE".to_owned()),
            ..Opening::default()
        };
        state.apply(&workflow, Timestamp(1_768_833_022_000), &Event::Opened(opening));
        let read = |state: &State| {
            let mut object: serde_json::Value = serde_json::from_str(&text(&workflow, state)).expect("JSON");
            object["prompt"] = object["prompt"].as_str().map(|it| it.lines().count()).into();
            object
        };
        let mut expected = serde_json::json!({
            "designFile": "DESIGN-20260119-143022.md",
            "currentIteration": 0,
            "maxIterations": 25,
            "completionPromise": "API_COMPLETE",
            "status": "initializing",
            "validation": {},
            "prompt": read(&state)["prompt"],
            "startedAt": "2026-01-19T14:30:22Z",
            "filesModified": [],
            "lastValidation": {},
        });
        assert_eq!(read(&state), expected);

        for (name, value) in [("tests_ok", true), ("validation_ok", false), ("tree_clean", true)] {
            let metric = Metric { value: value.into(), source: Source::Measured, claimed: None };
            state.visit.metrics.insert(name.to_owned(), metric);
        }
        let measured = serde_json::json!({ "testsPass": false, "buildSucceeds": null, "gitClean": true });
        for (field, moment) in [("validation", "lastRun"), ("lastValidation", "timestamp")] {
            expected[field] = measured.clone();
            expected[field][moment] = "2026-01-19T14:30:22Z".into();
        }
        assert_eq!(read(&state), expected);
    }
}
