//! The queue: what is next, what a person's edit changes, what a claim keeps others from.

use super::{RUN, place};
use crate::{Home, JobClaim, JobMove, QueueKey, QueueRead};
use loop_base::time::Timestamp;
use loop_core::documents::system_queue::{JobStatus, SystemEntry};
use std::path::{Path, PathBuf};

fn key(file: &Path) -> QueueKey<'_> {
    QueueKey { project: "/srv/shop", domain: "shop", file }
}

fn system(id: &str, status: JobStatus, priority: u32, needs: &[&str]) -> SystemEntry {
    SystemEntry {
        id: id.to_owned(),
        name: format!("System {id}"),
        status,
        priority,
        dependencies: needs.iter().map(|it| (*it).to_owned()).collect(),
        ..SystemEntry::default()
    }
}

fn put(home: &Home, file: &Path, system: SystemEntry) {
    home.put_job(key(file), system, Timestamp(1)).unwrap().unwrap();
}

fn next(home: &Home, file: &Path) -> Option<String> {
    home.next_ready(key(file)).unwrap().map(|it| it.system.id)
}

fn file_of(place: &super::StorePlace) -> PathBuf {
    place.folder.path().join("shop/system-queue.json")
}

#[test]
fn or01_or03_the_next_job_is_ready_and_of_the_lowest_priority() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Complete, 1, &[]));
    put(home, &file, system("sys-002", JobStatus::Specified, 2, &["sys-001"]));
    put(home, &file, system("sys-003", JobStatus::Specified, 1, &["sys-002"]));
    put(home, &file, system("sys-004", JobStatus::Ready, 1, &[]));
    put(home, &file, system("sys-005", JobStatus::Ready, 1, &[]));
    put(home, &file, system("sys-006", JobStatus::Discovered, 1, &[]));
    assert_eq!(next(home, &file).as_deref(), Some("sys-004"));
    let claim = home.claim_job(key(&file), None, RUN, Timestamp(5)).unwrap();
    assert!(matches!(claim, JobClaim::Claimed(it) if it.system.id == "sys-004"));
    assert_eq!(next(home, &file).as_deref(), Some("sys-005"), "equals in the order of the queue");
    // OR-02: what is not complete keeps its dependants.
    let claim = home.claim_job(key(&file), Some("sys-003"), RUN, Timestamp(5)).unwrap();
    assert!(matches!(claim, JobClaim::Waits(_, open) if open == ["sys-002"]));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"in-progress\""), "{text}");
}

#[test]
fn or42_finishing_a_job_wakes_its_dependants_and_nobody_else() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Ready, 1, &[]));
    put(home, &file, system("sys-002", JobStatus::Ready, 1, &[]));
    put(home, &file, system("sys-003", JobStatus::Ready, 1, &["sys-001"]));
    put(home, &file, system("sys-004", JobStatus::Ready, 1, &["sys-001", "sys-002"]));
    home.claim_job(key(&file), Some("sys-001"), RUN, Timestamp(5)).unwrap();
    let done = JobMove { status: JobStatus::Complete, reason: None, frees: false };
    assert_eq!(home.move_job(key(&file), RUN, done, Timestamp(9)).unwrap(), ["sys-003"]);
    assert_eq!(home.move_job(key(&file), RUN, done, Timestamp(9)).unwrap(), Vec::<String>::new(), "once");
    let waits = |id: &str| home.job(key(&file), id).unwrap().unwrap().waits_for;
    assert_eq!((waits("sys-003"), waits("sys-004")), (0, 1));
}

#[test]
fn an_edit_of_the_file_is_taken_over_and_what_is_wrong_with_it_is_said() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Ready, 1, &[]));
    home.claim_job(key(&file), None, RUN, Timestamp(5)).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replace("System sys-001", "Login").replace("in-progress", "complete").replace(
        "\"systems\": [",
        "\"systems\": [{\"id\": \"sys-002\", \"name\": \"Orders\", \"dependencies\": [\"sys-001\"]},",
    );
    std::fs::write(&file, edited).unwrap();
    let read = home.read_queue(key(&file), Timestamp(7)).unwrap();
    let QueueRead::Read { refused } = read else { panic!("{read:?}") };
    assert_eq!(refused, ["sys-001 stays in-progress: a run works on it; only that run changes its progress"]);
    let jobs = home.jobs(key(&file)).unwrap();
    assert_eq!(jobs[0].system.name, "Login");
    assert_eq!((jobs[1].system.id.as_str(), jobs[1].waits_for), ("sys-002", 1));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("in-progress") && text.contains("Login"), "the file says what holds: {text}");

    for (bad, why) in [
        (text.replace("\"sys-001\"\n", "\"sys-009\"\n"), "which is not in the queue"),
        (text.replace("\"dependencies\": []", "\"dependencies\": [\"sys-002\"]"), "a cycle of dependencies"),
        ("{".to_owned(), "no JSON"),
    ] {
        assert_ne!(bad, text, "{why}");
        std::fs::write(&file, &bad).unwrap();
        let read = home.read_queue(key(&file), Timestamp(8)).unwrap();
        let QueueRead::Invalid { mistakes } = read else { panic!("{why}: {read:?}") };
        assert!(mistakes[0].contains(why), "{mistakes:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), bad, "nothing was changed");
    }
}

/// A run writes the file whenever its job moves, and somebody may have edited it since it was read.
#[test]
fn an_edit_that_nobody_has_read_yet_survives_what_a_run_writes() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Ready, 1, &[]));
    home.claim_job(key(&file), None, RUN, Timestamp(5)).unwrap();
    let text = || std::fs::read_to_string(&file).unwrap();
    let added = |id: &str, text: &str| {
        text.replace("\"systems\": [", &format!("\"systems\": [{{\"id\": \"{id}\", \"name\": \"{id}\"}},"))
    };
    let to = |status| JobMove { status, reason: None, frees: false };
    std::fs::write(&file, added("sys-002", &text().replace("System sys-001", "Login"))).unwrap();
    home.move_job(key(&file), RUN, to(JobStatus::Review), Timestamp(6)).unwrap();
    let names = || home.jobs(key(&file)).unwrap().into_iter().map(|it| it.system.name).collect::<Vec<_>>();
    assert_eq!(names(), ["Login", "sys-002"]);
    assert!(
        text().contains("Login") && text().contains("sys-002") && text().contains("\"review\""),
        "{}",
        text()
    );
    // What cannot be read stays as it was left, and holds once it was repaired.
    let whole = added("sys-003", &text());
    let half = &whole[..whole.len() - 9];
    std::fs::write(&file, half).unwrap();
    home.move_job(key(&file), RUN, to(JobStatus::Complete), Timestamp(7)).unwrap();
    assert_eq!(text(), half);
    assert!(matches!(home.read_queue(key(&file), Timestamp(8)).unwrap(), QueueRead::Invalid { .. }));
    std::fs::write(&file, &whole).unwrap();
    home.read_queue(key(&file), Timestamp(9)).unwrap();
    assert_eq!(names(), ["Login", "sys-002", "sys-003"]);
    assert!(text().contains("\"complete\"") && text().contains("sys-003"), "{}", text());
}

#[test]
fn a_deleted_file_is_written_again_and_a_cancelled_run_frees_its_job() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Ready, 1, &[]));
    home.claim_job(key(&file), None, RUN, Timestamp(5)).unwrap();
    let cancelled = JobMove { status: JobStatus::Blocked, reason: Some("cancelled"), frees: true };
    home.move_job(key(&file), RUN, cancelled, Timestamp(6)).unwrap();
    let job = home.job(key(&file), "sys-001").unwrap().unwrap();
    assert_eq!((job.system.status, job.run), (JobStatus::Blocked, None));
    std::fs::remove_file(&file).unwrap();
    home.read_queue(key(&file), Timestamp(7)).unwrap();
    let text = std::fs::read_to_string(&file).expect("written again");
    assert!(text.contains("\"cancelled\""), "{text}");
    // By name it can be begun again; by itself it is not.
    assert_eq!(next(home, &file), None);
    let claim = home.claim_job(key(&file), Some("sys-001"), RUN, Timestamp(8)).unwrap();
    assert!(matches!(claim, JobClaim::Claimed(_)));
}

/// Whoever is killed between the two leaves a file that is behind, and no claim in it that nobody has.
#[test]
fn a_claim_is_committed_before_the_file_says_it() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Ready, 1, &[]));
    let beside = file.with_extension(format!("json.{}.tmp", std::process::id()));
    std::fs::create_dir_all(beside.join("in the way")).unwrap();
    home.claim_job(key(&file), None, RUN, Timestamp(5)).unwrap_err();
    let claimed = home.job(key(&file), "sys-001").unwrap().unwrap();
    assert_eq!((claimed.system.status, claimed.run.as_deref()), (JobStatus::InProgress, Some(RUN)));
    let text = || std::fs::read_to_string(&file).unwrap();
    assert!(text().contains("\"ready\""), "{}", text());
    // What a person writes meanwhile is no answer to the claim, and is kept.
    std::fs::write(&file, text().replace("System sys-001", "Login")).unwrap();
    std::fs::remove_dir_all(&beside).unwrap();
    let read = home.read_queue(key(&file), Timestamp(6)).unwrap();
    assert_eq!(read, QueueRead::Read { refused: Vec::new() });
    assert!(text().contains("\"in-progress\"") && text().contains("Login"), "{}", text());
}

/// The status that a person wrote right before a run began is part of what the run found, not an edit of its progress.
#[test]
fn a_status_that_was_taken_over_with_a_claim_is_not_refused_afterwards() {
    let place = place();
    let (home, file) = (&place.home, file_of(&place));
    put(home, &file, system("sys-001", JobStatus::Specified, 1, &[]));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"specified\"", "\"ready\"")).unwrap();
    home.claim_job(key(&file), Some("sys-001"), RUN, Timestamp(5)).unwrap();
    let read = home.read_queue(key(&file), Timestamp(6)).unwrap();
    assert_eq!(read, QueueRead::Read { refused: Vec::new() });
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"in-progress\""));
}
