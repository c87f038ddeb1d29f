//! A verdict of its own on every cheat, without the program: a cheat that leaves its work in HOME, on
//! PATH or in ignored files is red in a fresh clone; one that changes tests or control files is red when
//! the final product stands in the tree of the beginning. What ends the process with success, or deceives
//! the runner itself, looks green from here too, so those rows are left out; so are samples whose tests
//! stand in the product's files.

use crate::data::{self, Row, Sample, Step};
use crate::project::Project;
use std::sync::Mutex;

#[test]
fn every_cheat_is_red_when_seen_from_outside() {
    let corpus = data::read();
    let rows: Vec<&Row> =
        crate::chosen(&corpus.cheats, crate::PART).into_iter().filter(|it| judges(&corpus, it)).collect();
    let wrong = Mutex::new(Vec::new());
    crate::each(&rows, |row| {
        let sample = &corpus.samples[&row.sample];
        if crate::skipped(&row.id, &sample.needs) {
            return;
        }
        if let Some(said) = green(sample, row) {
            wrong.lock().expect("a list").push(format!("{} is green from outside\n{said}", row.id));
        }
    });
    let wrong = wrong.into_inner().expect("a list");
    println!("{} rows, {} green from outside", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn judges(corpus: &data::Corpus, row: &Row) -> bool {
    let has_product = !corpus.samples[&row.sample].product.is_empty();
    match row.step {
        Step::Clean => true,
        Step::Overlay | Step::Ratchet => has_product && !row.trick.starts_with("exit-"),
        Step::Place | Step::OldCode | Step::Canary | Step::Unproven | Step::Nothing => false,
    }
}

/// Returns what the checks said, if they all pass.
fn green(sample: &Sample, row: &Row) -> Option<String> {
    let project = Project::new(sample, row);
    project.must("git rev-parse HEAD > \"$OUT/base\"");
    let acted = project.act(row);
    assert!(acted.status.success(), "{}: {}", row.id, crate::said(&acted));
    let seen = project.seen_from_outside(sample);
    if row.step != Step::Clean {
        seen.must("git checkout -q --recurse-submodules \"$(cat \"$OUT/base\")\"");
        for place in &sample.product {
            // A folder, a file, or the beginning of a name.
            let list = format!(
                "git ls-tree -r --name-only main | grep '^{place}' | while read -r name; do git checkout -q main -- \"$name\"; done"
            );
            seen.must(&list);
        }
    }
    let checks = row.checks.as_ref().unwrap_or(&sample.checks);
    let done: Vec<_> = checks.iter().map(|it| seen.check(it)).collect();
    done.iter().all(|it| it.status.success()).then(|| done.iter().map(crate::said).collect())
}
