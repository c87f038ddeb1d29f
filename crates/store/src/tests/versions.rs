//! Data of other versions: a snapshot is folded again from its events and never interpreted, a
//! definition is read where it can be and refused by name where it cannot.

use super::*;
use crate::chain;
use crate::run::Run;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, Facts, How, Opening, State};
use loop_core::workflow::model::{DEFINITION_VERSION, Fact, Workflow};
use loop_core::workflow::resolve::{Layers, resolve};
use std::rc::Rc;

pub(super) fn tdd() -> Workflow {
    let layers = Layers { preset: Some("tdd".to_owned()), ..Layers::default() };
    resolve(&layers, &|_| Err("no file is read".to_owned())).expect("the preset is sound")
}

/// A home with a run of tdd that was opened, measured and held, and the state that it came to.
pub(super) fn held() -> (StorePlace, Rc<Home>, State) {
    held_with(&tdd())
}

fn held_with(workflow: &Workflow) -> (StorePlace, Rc<Home>, State) {
    let place = place();
    let home = Rc::new(Home::open(&place.path()).unwrap());
    store_definition(&home, workflow);
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(10)).unwrap();
    run.record(
        Timestamp(11),
        Event::Opened(Opening { input: "docs/orders.md".into(), ..Opening::default() }),
    );
    let baseline =
        loop_core::engine::Baseline { results: Vec::new(), facts: Facts::default(), ms: 7, opening: None };
    run.record(Timestamp(12), Event::Baselined(baseline));
    run.record(Timestamp(13), Event::Noted { text: "a note".into() });
    run.commit().unwrap();
    let state = run.state.clone();
    (place, home, state)
}

fn store_definition(home: &Home, workflow: &Workflow) {
    let body = serde_json::to_string(workflow).unwrap();
    home.write(|transaction| Ok(transaction.execute("update definition set body = ?1", [&body])?)).unwrap();
}

/// What another version of the program would have left: a sound snapshot of a shape that is not ours.
fn leave_other_snapshot(home: &Home) {
    leave_snapshot(home, STATE_VERSION + 1, "{\"station\":\"elsewhere\"}");
}

fn leave_snapshot(home: &Home, version: i64, text: &str) {
    home.write(|transaction| {
        let (seq, hash): (i64, chain::Hash) =
            transaction
                .query_row("select seq, hash from snapshot", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sealed = chain::state_hash(RUN, seq, &hash, text);
        transaction.execute(
            "update snapshot set version = ?1, state = ?2, state_hash = ?3",
            rusqlite::params![version, text, sealed],
        )?;
        Ok(())
    })
    .unwrap();
}

/// Writes the chain as a version did that did not name the opening in it.
fn forget_opening(home: &Path) {
    let database = rusqlite::Connection::open(home.join("loop.db")).unwrap();
    let mut query = database.prepare("select seq, epoch, at, kind, body from event order by seq").unwrap();
    let rows = query.query_map([], |row| {
        Ok(Recorded {
            seq: row.get(0)?,
            epoch: row.get(1)?,
            at: row.get(2)?,
            kind: row.get(3)?,
            body: row.get(4)?,
        })
    });
    let events: Vec<Recorded> = rows.unwrap().map(Result::unwrap).collect();
    let mut prev = chain::ORIGIN;
    for Recorded { seq, epoch, at, kind, body } in events {
        let body = if kind == "owned" { format!("{{\"owned\":{{\"epoch\":{epoch}}}}}") } else { body };
        let hash = chain::Link { run: RUN, seq, epoch, at, kind: &kind, body: &body }.hash(&prev);
        let sql = "update event set body = ?2, prev = ?3, hash = ?4 where seq = ?1";
        database.execute(sql, rusqlite::params![seq, body, prev, hash]).unwrap();
        prev = hash;
    }
    let sql = "select seq, state from snapshot";
    let (seq, state): (i64, String) =
        database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let state_hash = chain::state_hash(RUN, seq, &prev, &state);
    database
        .execute("update snapshot set hash = ?1, state_hash = ?2", rusqlite::params![prev, state_hash])
        .unwrap();
    std::fs::remove_file(home.join("runs").join(RUN).join("head")).unwrap();
}

#[test]
fn a_snapshot_of_another_version_is_folded_again() {
    let (_place, home, state) = held();
    leave_other_snapshot(&home);
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 4 });
    assert_eq!(fold::state(&home, RUN, &tdd()).unwrap(), state);
    let mut run = Run::open(Rc::clone(&home), RUN, state.updated_at).unwrap();
    let mut owned = state;
    owned.apply(&tdd(), owned.updated_at, &Event::Owned { epoch: 2, opening: None });
    assert_eq!(run.state, owned);
    run.commit().unwrap();
    let snapshot = home.snapshot(RUN).unwrap().unwrap();
    assert_eq!((snapshot.seq, snapshot.state().is_some()), (5, true));
    drop(run);
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 5 });
}

/// Version 3 did not know what gates saw, so whoever passed one would be asked again about what they had seen.
#[test]
fn what_a_gate_saw_is_known_of_runs_whose_snapshot_does_not_say_it() {
    let mut workflow = tdd();
    workflow.facts.insert("touches_keys".to_owned(), Fact::Path(Vec::new()));
    let (_place, home, _) = held_with(&workflow);
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(20)).unwrap();
    let values = [("touches_keys".to_owned(), true.into())].into();
    let facts = Facts { values, ..Facts::default() };
    let baseline = loop_core::engine::Baseline { results: Vec::new(), facts, ms: 7, opening: None };
    run.record(Timestamp(21), Event::Baselined(baseline));
    let (gate, by) = ("security".to_owned(), "ann".to_owned());
    run.record(Timestamp(22), Event::Approved { gate, by, about: None, signer: None });
    run.record(Timestamp(23), Event::Entered { phase: 1, how: How::Passed });
    run.commit().unwrap();
    let state = run.state.clone();
    drop(run);
    assert!(state.gates_about["security"].contains("touches_keys"));
    let mut text = serde_json::to_value(&state).unwrap();
    text.as_object_mut().unwrap().remove("gates_about");
    leave_snapshot(&home, 3, &text.to_string());
    assert_eq!(fold::state(&home, RUN, &workflow).unwrap().gates_about, state.gates_about);
}

/// A limit that a person changed counts from there on, also when the events are folded again.
#[test]
fn events_are_folded_with_the_workflow_that_was_in_force() {
    let (_place, home, _) = held();
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(20)).unwrap();
    let call = loop_core::engine::Call {
        number: 1,
        attempt: 1,
        phase: 0,
        iteration: 1,
        step: loop_core::engine::Step::Main,
        item: None,
        model: None,
        other_model: None,
        epoch: 2,
        unstarted: None,
    };
    run.record(Timestamp(21), Event::Began(loop_core::engine::Effect::Work(call)));
    let mut workflow = run.workflow.clone();
    workflow.limits.window = None;
    run.take_workflow(workflow.clone());
    let definition = Some(run.definition_hash());
    run.record(Timestamp(22), Event::Reloaded { keys: vec!["limits.window".into()], definition });
    run.commit().unwrap();
    assert_eq!(run.state.calls.made, 1);
    let text = serde_json::to_string(&run.state).unwrap();
    drop(run);
    leave_other_snapshot(&home);
    let stored = fold::workflow(&home, RUN).unwrap();
    assert_eq!(stored, workflow);
    assert_eq!(serde_json::to_string(&fold::state(&home, RUN, &stored).unwrap()).unwrap(), text);
}

#[test]
fn a_definition_of_another_version_is_read_or_refused() {
    let (_place, home, _) = held();
    let set = |version: i64, body: &str| {
        home.write(|transaction| {
            // Whoever wrote another version sealed it, or knew no seals.
            transaction.execute("update snapshot set seal = null", [])?;
            let sql = "update definition set version = ?1, body = ?2";
            Ok(transaction.execute(sql, rusqlite::params![version, body])?)
        })
        .unwrap();
    };
    let known = serde_json::to_string(&tdd()).unwrap();
    set(DEFINITION_VERSION - 1, &known);
    assert_eq!(fold::workflow(&home, RUN).unwrap(), tdd());
    for (version, body) in [(DEFINITION_VERSION - 1, "{}"), (DEFINITION_VERSION + 1, known.as_str())] {
        set(version, body);
        let error = fold::workflow(&home, RUN).unwrap_err();
        assert!(matches!(error, StoreError::OtherVersion { found, .. } if found == version), "{error}");
        assert_eq!(error.exit_code(), 8);
        assert!(error.to_string().contains(RUN), "{error}");
        assert!(Run::open(Rc::clone(&home), RUN, Timestamp(30)).is_err());
    }
}

/// A database of the version before gets its columns, and its snapshots count as the version before.
#[test]
fn a_database_of_an_earlier_schema_is_folded_again() {
    let (place, home, state) = held();
    drop(home);
    let path = place.path();
    drop(place.home);
    forget_opening(&path);
    tamper(
        &path,
        "drop table slot; drop index event_of_list; drop table earlier_definition; drop table unsealed;
         drop table queue; drop index job_unfiled; drop index job_of_run; alter table job drop column filed;
         drop table reservation; alter table run drop column tokens; alter table run drop column micro_usd;
         alter table run drop column computed; alter table run drop column unknown_calls;
         alter table spend drop column input; alter table spend drop column cache_write;
         alter table spend drop column cache_read; alter table spend drop column output;
         alter table spend drop column unknown_calls; alter table spend drop column assumed_micro_usd;
         alter table snapshot drop column seal; alter table snapshot drop column version; alter table definition drop column version;
         pragma user_version = 2;",
    );
    let home = Home::open(&path).unwrap();
    assert_eq!(home.snapshot(RUN).unwrap().unwrap().state(), None);
    assert_eq!(fold::state(&home, RUN, &fold::workflow(&home, RUN).unwrap()).unwrap(), state);
}
