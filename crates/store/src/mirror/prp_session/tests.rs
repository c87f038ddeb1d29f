//! The files against the journal: what a limit looks like, and that whatever is written can be read
//! back as the same place.

use super::{files, import};
use loop_base::time::Timestamp;
use loop_core::engine::{Call, Effect, Ended, Ending, Event, Facts, History, Opening, Step};
use loop_core::report::Report;
use loop_core::workflow::model::Workflow;
use loop_core::workflow::resolve::{Layers, resolve};
use proptest::prelude::*;
use serde_json::{Value, json};

const START: Timestamp = Timestamp(1_768_557_600_000); // 2026-01-16T10:00:00Z

fn tdd() -> Workflow {
    let layers = Layers { preset: Some("tdd".to_owned()), ..Layers::default() };
    resolve(&layers, &|_| Err("no file is read".to_owned())).expect("the preset is sound")
}

fn follow(workflow: &Workflow, events: &[(Timestamp, Event)]) -> History {
    let mut history = History::new(workflow);
    for (at, event) in events {
        // What another controller told of has its texts already.
        let own = history.follow(workflow, *at, event);
        assert_eq!(own, None);
    }
    history
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn minutes(count: u64) -> Timestamp {
    START.plus(count * 60_000)
}

#[test]
fn bp02_bp03_a_session_begins_empty() {
    let workflow = tdd();
    let opening = Opening { input: "docs/x.md".to_owned(), ..Opening::default() };
    let history = follow(&workflow, &[(START, Event::Opened(opening))]);
    let breaker = json!({
        "state": "CLOSED", "no_progress_count": 0, "same_error_count": 0, "last_progress_metric": {},
        "last_error_hash": null, "opened_at": null, "open_reason": null, "history": [],
    });
    assert_eq!(read(&files::circuit_breaker(&workflow, &history)), breaker);
    let rate = json!({
        "hourly": {
            "calls_made": 0, "limit": 100, "window_start": "2026-01-16T10:00:00Z", "next_reset": "2026-01-16T11:00:00Z",
        },
        "anthropic_5h": { "detected": false, "detected_at": null, "resume_at": null, "waiting": false },
        "paused": false, "pause_reason": null, "paused_at": null,
    });
    assert_eq!(read(&files::rate_limit(&workflow, &history)), rate);
    assert_eq!(files::dual_gate(&workflow, &history), None);
    let state = read(&files::loop_state("id", "/p", &workflow, &history));
    let told = ["current_phase", "current_iteration", "status", "phases_completed", "error_history"];
    assert_eq!(
        told.map(|it| state[it].clone()),
        [json!("RED"), json!(0), json!("running"), json!([]), json!([])]
    );
}

/// The agent is quicker than the look at all files, and slower than the writing of one.
#[test]
fn g26_an_edit_while_the_files_are_written_is_told_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = crate::Home::open(&dir.path().join("home")).expect("a home");
    let workflow = tdd();
    let opening = Opening { input: "docs/x.md".to_owned(), ..Opening::default() };
    let mut session = super::SessionMirror {
        run: "id".to_owned(),
        project: "/p".to_owned(),
        folder: dir.path().join("session"),
        history: follow(&workflow, &[(START, Event::Opened(opening))]),
        fresh: super::Fresh::default(),
        kept: super::KeptStamps::default(),
        log_bytes: None,
        imported_log: dir.path().join("none"),
    };
    session.write(&home, &workflow).expect("written");
    let mut edits = session.kept.edits(&session.folder);
    assert_eq!(edits, Vec::<String>::new());
    std::fs::write(session.folder.join("loop-state.json"), "{}").expect("an edit");
    std::fs::remove_file(session.folder.join("metrics.json")).expect("an edit");
    session.write_over(&home, &workflow, &mut edits).expect("written");
    assert!(edits[0].starts_with("loop-state.json was changed by somebody else"), "{edits:?}");
    assert!(edits[1].starts_with("metrics.json was removed by somebody else"), "{edits:?}");
    assert_eq!((edits.len(), session.kept.edits(&session.folder).len()), (2, 0));
}

#[test]
fn bp78_bp79_a_provider_that_refuses_is_waited_for() {
    let workflow = tdd();
    let call = Call {
        number: 1,
        attempt: 1,
        phase: 0,
        iteration: 1,
        step: Step::Main,
        item: None,
        model: None,
        other_model: None,
        epoch: 1,
        unstarted: None,
    };
    let ending = Ending::Limited { why: "overloaded".to_owned(), until: None };
    let ended = Ended { ms: 10, ..Ended::plain(1, ending, Report::default()) };
    let mut events = vec![
        (START, Event::Opened(Opening::default())),
        (minutes(29), Event::Began(Effect::Work(call))),
        (minutes(30), Event::Ended(Box::new(ended))),
    ];
    let history = follow(&workflow, &events);
    let rate = read(&files::rate_limit(&workflow, &history));
    let limit = json!({
        "detected": true, "detected_at": "2026-01-16T10:30:00Z", "resume_at": "2026-01-16T11:30:00Z", "waiting": true,
    });
    assert_eq!((&rate["anthropic_5h"], &rate["hourly"]["calls_made"]), (&limit, &json!(1)));
    let state = read(&files::loop_state("id", "/p", &workflow, &history));
    assert_eq!(
        ["status", "current_iteration", "paused_at"].map(|it| state[it].clone()),
        [json!("paused"), json!(0), json!("2026-01-16T10:30:00Z")]
    );
    events.push((minutes(90), Event::Woke));
    let history = follow(&workflow, &events);
    let rate = read(&files::rate_limit(&workflow, &history));
    let clear = json!({ "detected": false, "detected_at": null, "resume_at": null, "waiting": false });
    assert_eq!(rate["anthropic_5h"], clear);
    let state = read(&files::loop_state("id", "/p", &workflow, &history));
    assert_eq!(state["status"], "running");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A session is read, becomes a journal, and is written: it stands where it stood.
    #[test]
    fn what_is_taken_over_stands_where_it_stood(
        phase in 0usize..5, iteration in 0u32..12, no_progress in 0u32..4, same_error in 0u32..4,
        rejections in 0u32..3, spare in 0u32..9, recent in 0u32..6,
        status in prop::sample::select(vec!["running", "paused", "halted"]),
    ) {
        let workflow = tdd();
        let names = ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"];
        let reached = if rejections == 0 || phase == 4 { phase } else { 4 };
        let phase = if rejections == 0 || phase == 4 { phase } else { 1 };
        let done: Vec<&str> = (0..reached).filter(|it| *it != phase).map(|it| names[it]).collect();
        let (no_progress, same_error) = (no_progress.min(iteration), same_error.min(iteration));
        let returns = rejections * 2 + u32::from(phase == 4 && 0 < rejections);
        let calls = u32::try_from(reached).unwrap_or(0) + returns + iteration + spare;
        let recent = recent.min(calls);
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, value: Value| std::fs::write(folder.path().join(name), value.to_string()).expect("written");
        put("loop-state.json", json!({
            "session_id": "3f0c2a4e-8d1b-4c6f-9a57-0b1c2d3e4f50", "prp_file": "docs/x.md", "started_at": START.to_string(),
            "current_phase": names[phase], "current_iteration": iteration, "status": status, "halt_reason": "why",
            "pause_reason": "why", "phases_completed": done, "qa_attempts": rejections, "total_agent_calls": calls,
            "last_activity": minutes(40).to_string(),
        }));
        put("circuit-breaker.json", json!({
            "state": "CLOSED", "no_progress_count": no_progress, "same_error_count": same_error, "last_error_hash": "aa",
        }));
        put("rate-limit.json", json!({ "hourly": {
            "calls_made": recent, "limit": 100, "window_start": minutes(30).to_string(), "next_reset": minutes(90).to_string(),
        }}));
        let found = import::read(folder.path(), &workflow, minutes(45)).expect("valid").expect("there");
        let opening = Opening { input: found.input.clone(), ..Opening::default() };
        let mut events = found.events(&workflow, opening, &Facts::default(), minutes(45));
        // Whoever takes a session over notes it, so the state is as old as that.
        events.push((minutes(45), Event::Noted { text: "taken over".to_owned() }));
        let history = follow(&workflow, &events);
        let state = read(&files::loop_state(&found.session, "/p", &workflow, &history));
        let told = ["current_phase", "current_iteration", "status", "phases_completed", "qa_attempts", "total_agent_calls"];
        let calls = calls.max(history.state.calls_total);
        prop_assert_eq!(
            told.map(|it| state[it].clone()),
            [json!(names[phase]), json!(iteration), json!(status), json!(done), json!(rejections), json!(calls)]
        );
        let breaker = read(&files::circuit_breaker(&workflow, &history));
        prop_assert_eq!(
            ["no_progress_count", "same_error_count"].map(|it| breaker[it].clone()),
            [json!(no_progress), json!(same_error)]
        );
        prop_assert_eq!(&read(&files::rate_limit(&workflow, &history))["hourly"]["calls_made"], &json!(recent));
    }
}
