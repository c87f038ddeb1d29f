//! What a long list costs on disk: a run over many items, driven to its end with a real database.
//! Journal and snapshots have to grow with the number of items and not with its square. A tenth of
//! the work is done in the ordinary test run; `LOOP_MEASURE=1` does all of it.

use super::{Cast, Play, Sim};
use crate::drive::drive;
use loop_core::engine::{Effect, Event, Item, Opening, Outcome, Rest, Status};
use loop_core::workflow::model::Workflow;
use loop_core::workflow::resolve::{LayerSource, Layers, resolve};
use loop_store::run::Run;
use loop_store::{Home, NewRun, fold};
use std::cell::Cell;
use std::rc::Rc;

const RUN: &str = "11111111-1111-4111-8111-111111111111";

const WORKFLOW: &str = r#"
name = "chores"
input = { kind = "none", about = "" }

[items]
name = "chore"
from = "json:chores.json#/open"

[[phase]]
name   = "DO"
each   = "chore"
prompt = "Do {{ item }}."
report = "none"
signal = "none"
exit   = "commits_made > 0"
"#;

fn workflow() -> Workflow {
    let project =
        Some(LayerSource { name: "workflow.toml".to_owned(), text: WORKFLOW.to_owned(), dir: None });
    let mut workflow = resolve(&Layers { project, ..Layers::default() }, &|_| Err(String::new()))
        .expect("the workflow is sound");
    workflow.limits.iterations = None;
    workflow.limits.window = None;
    workflow
}

/// What one run wrote, in bytes.
#[derive(Debug)]
struct BytesWritten {
    journal: u64,
    /// All snapshots, each of which replaced the one before.
    snapshots: u64,
    largest_snapshot: u64,
}

fn open(home: &Rc<Home>, sim: &Sim) -> Run {
    Run::open(Rc::clone(home), RUN, sim.now).expect("the run is free")
}

/// Works off a list of so many items.
fn work_off(count: usize) -> BytesWritten {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let home = Rc::new(Home::open(&folder.path().join("home")).expect("a home"));
    let definition = serde_json::to_string(&workflow()).expect("a workflow is plain data");
    home.create_run(&NewRun {
        id: RUN,
        project: "/srv/shop",
        workflow: "chores",
        input: "",
        status: Status::Ready,
        place: "/srv/shop",
        definition: &definition,
        at: 0,
    })
    .expect("a run");
    let mut sim = Sim::new(Cast::Script(vec![Play::default(); count / 2]));
    sim.items = (0..count).map(|it| Item::new(format!("item-{it:05}"), format!("chore {it:05}"))).collect();
    let written = Rc::new(Cell::new((0, 0)));
    let seen = Rc::clone(&written);
    // Before an effect comes its commit, and with it a snapshot.
    sim.watch = Some(Box::new(move |run: &Run, _: &Effect| {
        let bytes = serde_json::to_string(&run.state).expect("a state is plain data").len() as u64;
        let (all, largest) = seen.get();
        seen.set((all + bytes, bytes.max(largest)));
    }));
    let mut run = open(&home, &sim);
    run.record(sim.now, Event::Opened(Opening { unverified: true, ..Opening::default() }));
    // Half of it is done by another controller, which reads what is done from the database.
    assert_eq!(drive(&mut run, &mut sim).expect("it works"), Rest::Elsewhere);
    drop(run);
    sim.cast = Cast::Script(vec![Play::default(); count]);
    let mut run = open(&home, &sim);
    assert_eq!(drive(&mut run, &mut sim).expect("it works"), Rest::Closed(Outcome::Completed));
    assert_eq!((run.state.items_done as usize, run.state.calls_total as usize), (count, count));
    assert_eq!(fold::history(&home, RUN, &run.workflow).expect("a journal").state, run.state);
    let database = rusqlite::Connection::open(folder.path().join("home/loop.db")).expect("a database");
    let journal = database
        .query_row("select sum(length(body)) from event", [], |row| row.get::<_, i64>(0))
        .expect("events");
    let (snapshots, largest_snapshot) = written.get();
    BytesWritten { journal: journal.unsigned_abs(), snapshots, largest_snapshot }
}

#[test]
fn wf04_a_long_list_costs_the_same_for_each_item() {
    let scale = if std::env::var_os("LOOP_MEASURE").is_some() { 10 } else { 1 };
    let costs = [100 * scale, 1_000 * scale].map(|count| {
        let cost = work_off(count);
        let each = |bytes: u64| bytes as f64 / count as f64;
        println!(
            "{count} items: journal {} bytes, {:.0} each; snapshots {} bytes, {:.0} each, the largest {}",
            cost.journal,
            each(cost.journal),
            cost.snapshots,
            each(cost.snapshots),
            cost.largest_snapshot
        );
        (each(cost.journal), each(cost.snapshots))
    });
    let [(journal, snapshots), (journal_of_more, snapshots_of_more)] = costs;
    assert!((0.9..1.1).contains(&(journal_of_more / journal)), "{journal} and {journal_of_more} bytes");
    assert!((0.9..1.1).contains(&(snapshots_of_more / snapshots)), "{snapshots} and {snapshots_of_more}");
}
