//! What `cargo bench --bench store` shows: figures beside a floor taken in the same run. The work is
//! checked and its time is only printed. Without `LOOP_MEASURE` there is a hundredth of it.

use super::*;
use std::io::Write;
use std::time::{Duration, Instant};

/// So many of it, where figures are wanted.
fn scaled(count: usize) -> usize {
    if std::env::var_os("LOOP_MEASURE").is_some() { count } else { count / 100 }
}

#[test]
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
    let commits = scaled(2_000);
    for step in 0..commits {
        let start = Instant::now();
        flat.write_all(line.as_bytes()).unwrap();
        flat.sync_data().unwrap();
        floor.push(start.elapsed());
        let start = Instant::now();
        journal.append(1, "judged", &line);
        journal.commit(&place.home, &commit(&format!("{state},\"n\":{step}}}"))).unwrap();
        ours.push(start.elapsed());
    }
    assert_eq!(place.home.verify(RUN).unwrap(), JournalVerdict::Whole { events: commits as i64 });
    let parts =
        [("first twentieth", 0..commits / 20), ("all", 0..commits), ("second half", commits / 2..commits)];
    for (name, part) in parts {
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
    println!("the slowest of the first twentieth took {:?}", ours[..commits / 20].iter().max().unwrap());
}

fn figures(all: &[Duration]) -> (Duration, Duration, Duration) {
    let mut sorted = all.to_vec();
    sorted.sort();
    (all.iter().sum::<Duration>() / all.len() as u32, sorted[all.len() / 2], sorted[all.len() * 99 / 100])
}

#[test]
fn opening_a_run_of_a_million_events() {
    let place = place_in(tempfile::tempdir().unwrap());
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    let events = scaled(1_000_000);
    for _ in 0..100 {
        for _ in 0..events / 100 {
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
        let opened = Journal::open(&home, RUN).unwrap();
        journals.push(start.elapsed());
        assert_eq!((opened.journal.seq(), opened.tail.len()), (events as i64, 0));
    }
    println!("open home {:?}; own run {:?} (one sync)", figures(&opens).1, figures(&journals).1);
    let home = Home::open(&path).unwrap();
    let start = Instant::now();
    let verdict = home.verify(RUN).unwrap();
    println!("{verdict:?} in {:?}", start.elapsed());
    assert_eq!(verdict, JournalVerdict::Whole { events: events as i64 });
    println!("resident {}", resident());
}

#[test]
fn listing_ten_thousand_runs() {
    let place = place_in(tempfile::tempdir().unwrap());
    let runs = scaled(10_000);
    place
        .home
        .write(|transaction| {
            for n in 0..runs as i64 {
                transaction.execute(
                    "insert into run(id, project, workflow, input, status, place, opened_at, updated_at, reason)
                     values(?1, ?2, 'tdd', ?3, ?4, '/srv/shop', ?5, ?5, 'all five phases done')",
                    rusqlite::params![
                        format!("{:08x}-0000-4000-8000-000000000000", n * 7919),
                        format!("/srv/project-{}", n % 5),
                        format!("docs/PRPs/order-{n}.md"),
                        if n % 100 == 0 { "paused" } else { "completed" },
                        n
                    ],
                )?;
                transaction.execute("insert into snapshot values(?1, 1, x'00', x'00', ?2, 1, null)", rusqlite::params![n + 2, "s".repeat(3_000)])?;
            }
            Ok(())
        })
        .unwrap();
    let home = Home::open(&place.path()).unwrap();
    let timed = |name: &str, expected: usize, work: &dyn Fn() -> usize| {
        let mut all = Vec::new();
        for _ in 0..20 {
            let start = Instant::now();
            let count = work();
            all.push(start.elapsed());
            assert_eq!(count, expected, "{name}");
        }
        println!("{name}: {expected} rows, first {:?}, median {:?}", all[0], figures(&all).1);
    };
    let filter = Filter::default();
    let project = Some("/srv/project-3");
    timed("all", runs + 1, &|| home.runs(&filter).unwrap().len());
    timed("newest 20", 20, &|| home.runs(&Filter { limit: Some(20), ..filter }).unwrap().len());
    timed("project", runs / 5, &|| home.runs(&Filter { project, ..filter }).unwrap().len());
    timed("project, 20", 20, &|| home.runs(&Filter { project, limit: Some(20), ..filter }).unwrap().len());
    timed("paused", runs / 100, &|| {
        home.runs(&Filter { statuses: &[Status::Paused, Status::Running], ..filter }).unwrap().len()
    });
    timed("paused of project", runs / 100, &|| {
        home.runs(&Filter {
            project: Some("/srv/project-0"),
            statuses: &[Status::Paused, Status::Running],
            ..filter
        })
        .unwrap()
        .len()
    });
    timed("same run", 1, &|| {
        home.runs(&Filter { project, workflow: Some("tdd"), input: Some("docs/PRPs/order-3.md"), ..filter })
            .unwrap()
            .len()
    });
    timed("prefix", 1, &|| usize::from(home.by_prefix("0000").is_ok()));
    println!("resident {}", resident());
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned()
}

/// P8: the next ready job of a large queue, and how many jobs finishing one touches.
#[test]
fn the_next_of_a_hundred_thousand_jobs() {
    let place = place_in(tempfile::tempdir().unwrap());
    let file = place.folder.path().join("system-queue.json");
    let queue = QueueKey { project: "/srv/shop", domain: "shop", file: &file };
    let jobs = scaled(100_000);
    // Chains of ten: the first of each is ready, the others wait for the one before.
    let system = |number: usize| {
        let needs = if number % 10 == 1 { String::new() } else { format!("\"sys-{:06}\"", number - 1) };
        let priority = 1 + number % 5;
        format!(
            "{{\"id\":\"sys-{number:06}\",\"name\":\"System {number}\",\"status\":\"ready\",\"priority\":{priority},\
             \"dependencies\":[{needs}]}}"
        )
    };
    let systems: Vec<String> = (1..=jobs).map(system).collect();
    std::fs::write(&file, format!("{{\"systems\":[{}]}}", systems.join(","))).unwrap();
    let at = loop_base::time::Timestamp(1);
    let start = Instant::now();
    assert_eq!(place.home.read_queue(queue, at).unwrap(), QueueRead::Read { refused: Vec::new() });
    println!("took over {jobs} jobs in {:?}", start.elapsed());
    let mut nexts = Vec::new();
    for _ in 0..1_000 {
        let start = Instant::now();
        let next = place.home.next_ready(queue).unwrap();
        nexts.push(start.elapsed());
        assert!(next.is_some());
    }
    let (mean, median, p99) = figures(&nexts);
    println!("next ready of {jobs} jobs: mean {mean:?} median {median:?} p99 {p99:?}");
    let claim = place.home.claim_job(queue, Some("sys-000001"), RUN, at).unwrap();
    assert!(matches!(claim, JobClaim::Claimed(_)));
    let waiting = |home: &Home| home.jobs(queue).unwrap().iter().filter(|it| it.waits_for == 0).count();
    let before = waiting(&place.home);
    let done = JobMove {
        status: loop_core::documents::system_queue::JobStatus::Complete,
        reason: None,
        frees: false,
    };
    let start = Instant::now();
    assert_eq!(place.home.move_job(queue, RUN, done, at).unwrap(), ["sys-000002"]);
    println!("finished one in {:?}, its file included", start.elapsed());
    assert_eq!(waiting(&place.home), before + 1, "only what depended on it was touched");
}
