//! Reads the state file of another controller once: every field that is used is validated, and the
//! first one that is wrong is named. Only the design, the count and the limit have to be there. What
//! the file says of validations is not believed, so it is not read; nothing is written.

use super::super::prp_session::import::fields::Fields;
use super::super::prp_session::import::{ImportedSession, Invalid, SessionStatus};
use super::NAME;
use loop_base::time::Timestamp;
use std::path::Path;

/// No loop of one prompt continues for longer; a larger number is a mistake.
const ITERATIONS_MOST: u64 = 10_000;

const STATUSES: &str = "is not one of initializing, running, validating, paused, stuck, max_iterations, completed, \
                        cancelled, failed";

/// A loop that was found and can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedLoop {
    pub found: ImportedSession,
    pub most: u32,
    pub promise: Option<String>,
}

/// Reads the file in a folder; `None` when there is none, or when it tells of a loop that is over.
pub fn read(folder: &Path, now: Timestamp) -> Result<Option<ImportedLoop>, Invalid> {
    let Some(state) = Fields::read(folder, NAME)? else { return Ok(None) };
    let status = match state.text("status")?.as_str() {
        "initializing" | "running" | "validating" => SessionStatus::Running,
        "paused" => SessionStatus::Paused("paused".to_owned()),
        "stuck" => {
            SessionStatus::Halted("another controller stopped as stuck; its file gives no cause".to_owned())
        }
        "max_iterations" => SessionStatus::Capped("the limit of iterations was reached".to_owned()),
        "completed" | "cancelled" | "failed" => return Ok(None),
        _ => return Err(state.wrong("status", STATUSES)),
    };
    let input = state.text("designFile")?;
    let count = |field: &str| -> Result<u32, Invalid> {
        let count = state.count(field, ITERATIONS_MOST)?.ok_or_else(|| state.wrong(field, "is missing"))?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    };
    let (iteration, most) = (count("currentIteration")?, count("maxIterations")?);
    if most == 0 {
        return Err(state.wrong("maxIterations", "is 0"));
    }
    let promise = state.optional_text("completionPromise")?;
    if promise.as_ref().is_some_and(|it| it.trim().is_empty()) {
        return Err(state.wrong("completionPromise", "is empty"));
    }
    let started_at = state.optional_moment("startedAt", now)?.unwrap_or(now);
    state.texts("filesModified")?;
    for field in ["validation", "lastValidation"] {
        state.section(field)?;
    }
    let session = uuid::Uuid::new_v4().to_string();
    let found = ImportedSession::of_one_phase(session, input, started_at, iteration, status);
    Ok(Some(ImportedLoop { found, most, promise }))
}

#[cfg(test)]
mod tests {
    use super::read;
    use loop_base::time::Timestamp;
    use serde_json::{Value, json};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn told(change: impl Fn(&mut Value)) -> Result<Option<super::ImportedLoop>, String> {
        let dir = tempfile::tempdir().expect("a folder");
        let mut state = json!({
            "designFile": "DESIGN-20260119-143022.md", "currentIteration": 3, "maxIterations": 20,
            "completionPromise": "API_COMPLETE", "status": "running", "validation": {}, "prompt": "x",
            "startedAt": "2026-01-19T14:30:22Z", "filesModified": ["a"],
            "lastValidation": { "testsPass": true },
        });
        change(&mut state);
        std::fs::write(dir.path().join(super::NAME), state.to_string()).expect("written");
        read(dir.path(), NOW).map_err(|it| it.to_string())
    }

    #[test]
    fn a_loop_is_read_with_its_count_limit_and_promise() {
        let left = told(|_| ()).expect("valid").expect("unfinished");
        assert_eq!((left.most, left.promise.as_deref()), (20, Some("API_COMPLETE")));
        assert_eq!(left.found.input, "DESIGN-20260119-143022.md");
        for over in ["completed", "cancelled", "failed"] {
            assert_eq!(told(|it| it["status"] = json!(over)), Ok(None));
        }
        let least = told(|it| {
            *it = json!({ "designFile": "d.md", "currentIteration": 0, "maxIterations": 25, "status": "initializing" });
        });
        assert_eq!(least.expect("valid").expect("unfinished").promise, None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (field, value, why) in [
            ("designFile", Value::Null, "designFile is missing"),
            ("designFile", json!(""), "designFile is empty"),
            ("currentIteration", json!("3"), "currentIteration is not a whole number from 0 to 10000"),
            ("currentIteration", json!(-1), "currentIteration is not a whole number from 0 to 10000"),
            ("maxIterations", json!(0), "maxIterations is 0"),
            ("maxIterations", Value::Null, "maxIterations is missing"),
            ("completionPromise", json!(["x"]), "completionPromise is not a text"),
            ("status", json!("happy"), "status is not one of initializing"),
            ("startedAt", json!("yesterday"), "startedAt is not a time with a zone"),
            ("startedAt", json!("2999-01-01T00:00:00Z"), "startedAt is in the future"),
            ("filesModified", json!("a"), "filesModified is not a list of texts"),
            ("validation", json!(true), "validation is not an object"),
        ] {
            let error = told(|it| it[field] = value.clone()).expect_err("it is wrong");
            assert!(error.contains(&format!(".claude-task-state.json: {why}")), "{field}: {error}");
        }
    }
}
