//! Figures beside a floor taken in the same run; they print and never fail. Run them with
//! `cargo test store::tests::measure -- --ignored --nocapture --test-threads=1`.

use super::*;
use std::io::Write;
use std::time::{Duration, Instant};

const COMMITS: u32 = 2_000;

#[test]
#[ignore = "prints figures"]
fn a_durable_step_beside_fdatasync() {
    for grown in [false, true] {
        durable_steps(grown);
    }
}

fn durable_steps(grown: bool) {
    let place = place_in(tempfile::tempdir().unwrap());
    // Interleaved rounds, so that a busy machine slows both alike.
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    if grown {
        let start = Instant::now();
        place.home.grow_log().unwrap();
        println!("grew the log in {:?}", start.elapsed());
    }
    let mut flat = std::fs::File::create(place.folder.path().join("flat")).unwrap();
    let state = format!("{{\"pad\":\"{}\"", "s".repeat(2_000));
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    let line = "x".repeat(250);
    for step in 0..COMMITS {
        let start = Instant::now();
        flat.write_all(line.as_bytes()).unwrap();
        flat.sync_data().unwrap();
        floor.push(start.elapsed());
        let start = Instant::now();
        journal.append(1, "judged", &line);
        journal.commit(&place.home, &commit(&format!("{state},\"n\":{step}}}"))).unwrap();
        ours.push(start.elapsed());
    }
    for (name, part) in [("first 100", 0..100), ("all", 0..COMMITS as usize), ("last 1000", 1_000..2_000)] {
        let (ours, floor) = (figures(&ours[part.clone()]), figures(&floor[part]));
        println!(
            "{name}: commit mean {:?} median {:?} p99 {:?}; append + fdatasync mean {:?} median {:?} p99 {:?}; ratio of means {:.2}, of medians {:.2}",
            ours.0,
            ours.1,
            ours.2,
            floor.0,
            floor.1,
            floor.2,
            ours.0.as_secs_f64() / floor.0.as_secs_f64(),
            ours.1.as_secs_f64() / floor.1.as_secs_f64(),
        );
    }
    println!("the slowest of the first 100 took {:?}", ours[..100].iter().max().unwrap());
}

fn figures(all: &[Duration]) -> (Duration, Duration, Duration) {
    let mut sorted = all.to_vec();
    sorted.sort();
    (all.iter().sum::<Duration>() / all.len() as u32, sorted[all.len() / 2], sorted[all.len() * 99 / 100])
}

#[test]
#[ignore = "prints figures"]
fn opening_a_run_of_a_million_events() {
    let place = place_in(tempfile::tempdir().unwrap());
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    for _ in 0..100 {
        for _ in 0..10_000 {
            journal.append(1, "judged", "{\"outcome\":\"again\",\"progress\":true}");
        }
        journal.commit(&place.home, &commit(&format!("{{\"seq\":{}}}", journal.seq()))).unwrap();
    }
    drop(journal);
    let path = place.path();
    drop(place.home);
    let (mut opens, mut journals) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let start = Instant::now();
        let home = Home::open(&path).unwrap();
        opens.push(start.elapsed());
        let start = Instant::now();
        drop(Journal::open(&home, RUN).unwrap());
        journals.push(start.elapsed());
    }
    println!("open home {:?}; own run {:?} (one sync)", figures(&opens).1, figures(&journals).1);
    let home = Home::open(&path).unwrap();
    let start = Instant::now();
    println!("{:?} in {:?}", home.verify(RUN).unwrap(), start.elapsed());
    println!("resident {}", resident());
}

#[test]
#[ignore = "prints figures"]
fn listing_ten_thousand_runs() {
    let place = place_in(tempfile::tempdir().unwrap());
    place
        .home
        .write(|transaction| {
            for n in 0..10_000 {
                transaction.execute(
                    "insert into run(id, project, workflow, input, status, place, opened_at, updated_at, reason)
                     values(?1, ?2, 'tdd', ?3, ?4, '/work/shop', ?5, ?5, 'all five phases done')",
                    rusqlite::params![
                        format!("{:08x}-0000-4000-8000-000000000000", n * 7919),
                        format!("/work/project-{}", n % 5),
                        format!("docs/PRPs/order-{n}.md"),
                        if n % 100 == 0 { "paused" } else { "completed" },
                        n
                    ],
                )?;
                transaction.execute("insert into snapshot values(?1, 1, x'00', x'00', ?2)", rusqlite::params![n + 2, "s".repeat(3_000)])?;
            }
            Ok(())
        })
        .unwrap();
    let home = Home::open(&place.path()).unwrap();
    let timed = |name: &str, work: &dyn Fn() -> usize| {
        let mut all = Vec::new();
        let mut count = 0;
        for _ in 0..20 {
            let start = Instant::now();
            count = work();
            all.push(start.elapsed());
        }
        println!("{name}: {count} rows, first {:?}, median {:?}", all[0], figures(&all).1);
    };
    let filter = Filter::default();
    let project = Some("/work/project-3");
    timed("all", &|| home.runs(&filter).unwrap().len());
    timed("newest 20", &|| home.runs(&Filter { limit: Some(20), ..filter }).unwrap().len());
    timed("project", &|| home.runs(&Filter { project, ..filter }).unwrap().len());
    timed("project, 20", &|| home.runs(&Filter { project, limit: Some(20), ..filter }).unwrap().len());
    timed("paused", &|| home.runs(&Filter { statuses: &["paused", "running"], ..filter }).unwrap().len());
    timed("paused of project", &|| {
        home.runs(&Filter { project: Some("/work/project-0"), statuses: &["paused", "running"], ..filter })
            .unwrap()
            .len()
    });
    timed("same run", &|| {
        home.runs(&Filter { project, workflow: Some("tdd"), input: Some("docs/PRPs/order-3.md"), ..filter })
            .unwrap()
            .len()
    });
    timed("prefix", &|| usize::from(home.by_prefix("0000").is_ok()));
    println!("resident {}", resident());
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned()
}
