//! Agents that cheat, messages that pretend, and honest work, as data: what must become of each run.
//! README.md describes the files. The default run takes a seeded part of the rows; with
//! `LOOP_TEST_TIMES` it takes all. `LOOP_CHEATS=TEXT,TEXT` takes the rows whose id contains one of the texts.

mod data;
mod defences;
mod faults;
mod forged;
mod oracle;
mod project;
mod runner;
mod tools;

use data::{Corpus, Outcome, Row, Start};
use project::Project;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How many rows of each kind the default run lays out, and how many it runs with the program.
const PART: usize = 24;
const RUNS: usize = 12;

/// Whether runs are proven yet; until then rows are run and counted, and nothing is expected of them.
const PROOF_EXISTS: bool = true;

#[test]
fn the_corpus_is_whole() {
    let corpus = data::read();
    let tricks: BTreeSet<&str> = corpus.cheats.iter().map(|it| it.trick.as_str()).collect();
    let counts = (tricks.len(), corpus.cheats.len(), corpus.forged.len(), corpus.honest.len());
    println!("tricks, cheats, forged, honest: {counts:?}");
    let unused: Vec<&String> = corpus.tricks.keys().filter(|it| !tricks.contains(it.as_str())).collect();
    assert!(unused.is_empty(), "tricks without a row: {unused:?}");
    assert!(45 <= counts.0 && 120 <= counts.1 && 60 <= counts.2 && 40 <= counts.3, "{counts:?}");
}

/// A cheat that a plain check refuses shows nothing about the proof.
#[test]
fn every_cheat_is_green_in_place() {
    let corpus = data::read();
    in_place(&corpus, chosen(&corpus.cheats, PART));
}

#[test]
fn every_honest_change_is_green_in_place() {
    let corpus = data::read();
    in_place(&corpus, chosen(&corpus.honest, PART));
}

/// A red start is red by the test that the sample names, a green one is green.
#[test]
fn every_sample_starts_as_it_says() {
    let corpus = data::read();
    let mut wrong = Vec::new();
    for (name, sample) in &corpus.samples {
        if skipped(name, &sample.needs) {
            continue;
        }
        for start in [Start::Green, Start::Red] {
            let project = Project::new(sample, &Row::blank(start));
            let all: Vec<_> = sample.checks.iter().map(|it| project.check(it)).collect();
            let is_green = all.iter().all(|it| it.status.success());
            let said: String = all.iter().map(said).collect();
            let names_it = said.contains(&sample.red_test);
            if is_green != (start == Start::Green) || (start == Start::Red && !names_it) {
                wrong.push(format!("{name}, {start:?}: green {is_green}, names its test {names_it}\n{said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the program makes of every row, as a table.
#[test]
fn every_row_comes_to_what_it_must() {
    let corpus = data::read();
    let mut wrong = table(&corpus, "cheats", chosen(&corpus.cheats, RUNS));
    wrong.extend(table(&corpus, "honest", chosen(&corpus.honest, RUNS)));
    for it in &wrong {
        println!("{it}");
    }
    assert!(!PROOF_EXISTS || wrong.is_empty(), "{} rows differ", wrong.len());
}

fn table(corpus: &Corpus, title: &str, rows: Vec<&Row>) -> Vec<String> {
    let (counts, wrong) = (Mutex::new(BTreeMap::<Outcome, u32>::new()), Mutex::new(Vec::new()));
    let judged = Mutex::new(BTreeMap::<&str, u64>::new());
    each(&rows, |row| {
        let sample = &corpus.samples[&row.sample];
        if skipped(&row.id, &sample.needs) {
            return;
        }
        let begun = Instant::now();
        let done = runner::run(sample, row);
        let took = begun.elapsed().as_secs();
        println!("{}: {:?} after {took} s", row.id, runner::outcome(&done));
        *counts.lock().expect("a table").entry(runner::outcome(&done)).or_default() += 1;
        *judged.lock().expect("a table").entry(&row.sample).or_default() += runner::ids_judged(&done);
        let differs = runner::compare(row, &done);
        if !differs.is_empty() {
            let note = row.note.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
            let mut text = format!("{}, {:?}{note}: {}", row.id, row.step, differs.join("; "));
            if std::env::var_os("LOOP_CHEATS").is_some() {
                write!(text, "\n{}\n{:#}", done.said, done.status).expect("text");
            }
            wrong.lock().expect("a list").push(text);
        }
    });
    let counts = counts.into_inner().expect("a table");
    let of = |it| counts.get(&it).copied().unwrap_or(0);
    println!(
        "{title}: {} refused, {} asked, {} verified, {} unverified",
        of(Outcome::Refused),
        of(Outcome::Asked),
        of(Outcome::Verified),
        of(Outcome::Unverified)
    );
    let mut wrong = wrong.into_inner().expect("a list");
    // A part of the rows may hold, of one sample, only such as never come to a proof.
    let is_whole = corpus.cheats.len().min(corpus.honest.len()) <= rows.len();
    let judged = judged.into_inner().expect("a table");
    for (sample, number) in &judged {
        println!("{title}, {sample}: {number} test ids judged");
        if *number == 0 && is_whole {
            wrong.push(format!("{title}, {sample}: no test id was judged"));
        }
    }
    if judged.values().sum::<u64>() == 0 && std::env::var_os("LOOP_CHEATS").is_none_or(|it| it.is_empty()) {
        wrong.push(format!("{title}: no test id was judged"));
    }
    wrong
}

fn in_place(corpus: &Corpus, rows: Vec<&Row>) {
    let wrong = Mutex::new(Vec::new());
    each(&rows, |row| {
        let sample = &corpus.samples[&row.sample];
        if skipped(&row.id, &sample.needs) {
            return;
        }
        let project = Project::new(sample, row);
        let acted = project.act(row);
        if !acted.status.success() {
            wrong.lock().expect("a list").push(format!("{}: the agent failed\n{}", row.id, said(&acted)));
            return;
        }
        for check in row.checks.as_ref().unwrap_or(&sample.checks) {
            let done = project.check(check);
            if !done.status.success() {
                wrong.lock().expect("a list").push(format!("{}: {check} is red\n{}", row.id, said(&done)));
            }
        }
    });
    let wrong = wrong.into_inner().expect("a list");
    println!("{} rows, {} not green in place", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn said(done: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// Whether a machine lacks a tool; in CI that is a failure.
fn skipped(what: &str, needs: &[data::Tool]) -> bool {
    let Some(why) = needs.iter().find_map(|it| tools::missing(*it)) else { return false };
    assert!(std::env::var_os("CI").is_none(), "{what}: {why}");
    println!("SKIPPED {what}: {why}");
    true
}

/// Chooses the part of the default run; `LOOP_CHEATS_SEED` takes another.
const SEED: u64 = 20_773;

fn seed() -> u64 {
    let given = std::env::var("LOOP_CHEATS_SEED").ok().and_then(|it| it.parse().ok());
    let seed = given.unwrap_or(SEED);
    println!("LOOP_CHEATS_SEED={seed}");
    seed
}

/// All rows in a campaign, the named ones by `LOOP_CHEATS`, else a part that the seed chooses.
fn chosen(rows: &[Row], part: usize) -> Vec<&Row> {
    if let Ok(text) = std::env::var("LOOP_CHEATS") {
        return rows.iter().filter(|it| text.split(',').any(|part| it.id.contains(part))).collect();
    }
    if std::env::var_os("LOOP_TEST_TIMES").is_some() {
        return rows.iter().collect();
    }
    let seed = seed();
    // A multiplicative hash is enough to mix a list of two hundred.
    let place = |it: &&Row| {
        let text =
            it.id.bytes().fold(seed, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        text.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
    };
    let mut all: Vec<&Row> = rows.iter().collect();
    all.sort_by_key(place);
    all.truncate(part);
    all
}

/// Two rows at a time: most of a row is waiting for a compiler or an interpreter to start.
fn each<'a>(rows: &[&'a Row], act: impl Fn(&'a Row) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(row);
                }
            });
        }
    });
}
