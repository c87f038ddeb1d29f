//! The desk from outside: requests in, values out, with real repositories and a real home.

use super::{
    About, Caller, CallerEnvironment, Commanded, Continued, FoundRun, NextStep, Note, OpenReply, PersonReply,
    Refusal, RunRequest, cancel, open, pause, ready,
};
use crate::tree::git::GitError;
use crate::tree::sample::Sample;
use loop_core::engine::Status;
use loop_store::StoreError;
use loop_supervise::process_line::ProcessLine;

fn caller(sample: &Sample) -> Caller {
    let environment = CallerEnvironment { user: "somebody".to_owned(), ..CallerEnvironment::default() };
    Caller { dir: sample.top(), home: sample.outside("runs"), run: None, environment }
}

fn request() -> RunRequest {
    RunRequest {
        input: Some("build it".to_owned()),
        preset: Some("ralph".to_owned()),
        agent_cmd: Some("true".to_owned()),
        checks: vec![("tests".to_owned(), "true".to_owned())],
        ..RunRequest::default()
    }
}

fn opened(caller: &Caller, request: &RunRequest, notes: &mut Vec<Note>) -> OpenReply {
    open(caller, request, notes).unwrap_or_else(|refusal| panic!("refused: {refusal:?}"))
}

#[test]
fn a_dirty_tree_is_a_question_and_its_answer_opens_the_run() {
    let sample = Sample::committed();
    sample.write("b.txt", b"nobody committed this\n");
    let (caller, mut notes) = (caller(&sample), Vec::new());
    let OpenReply::Question(question) = opened(&caller, &request(), &mut notes) else {
        panic!("a question was expected")
    };
    assert_eq!(question.about, About::Dirty);
    assert!(question.lines[0].contains("b.txt"), "{question:?}");
    assert_eq!(question.unasked.exit, 2);
    assert!(request().answered(PersonReply::Abort, question.about).is_none());
    let answered = request().answered(PersonReply::Go, question.about).expect("the same request");
    let OpenReply::Opened(run) = opened(&caller, &answered, &mut notes) else { panic!("a run was expected") };
    assert_eq!(Status::of(&run.run.state), Status::Ready);
    assert_eq!(run.run.state.opening.input, "build it");
    assert!(notes.iter().any(|it| it.text.contains("wrote the sentence to DESIGN-")), "{notes:?}");
}

#[test]
fn a_run_that_exists_is_found_and_may_be_asked_about() {
    let sample = Sample::committed();
    let (caller, mut notes) = (caller(&sample), Vec::new());
    let OpenReply::Opened(run) = opened(&caller, &request(), &mut notes) else {
        panic!("a run was expected")
    };
    let id = run.run.id.clone();
    drop(run);
    let OpenReply::Before(found) = opened(&caller, &request(), &mut notes) else {
        panic!("the run was expected")
    };
    assert_eq!(found.row.id, id);
    assert!(matches!(pause(&caller), Ok(Commanded::Done(_))));
    let rested =
        FoundRun { row: Box::new(found.home.run(&id).expect("a home").expect("the run")), home: found.home };
    let asking = RunRequest { ask_before_resuming: true, ..request() };
    let Ok(Continued::Question(question)) = ready(&caller, &rested, &asking, &mut notes) else {
        panic!("a question was expected")
    };
    assert_eq!(question.about, About::Resume);
    let fresh = asking.clone().answered(PersonReply::New, question.about).expect("a request");
    assert!(fresh.fresh);
    let going = asking.answered(PersonReply::Resume, question.about).expect("a request");
    assert!(matches!(ready(&caller, &rested, &going, &mut notes), Ok(Continued::Ready(_))));
}

#[test]
fn cancelling_is_a_question_first_and_a_command_of_the_loop_then() {
    let sample = Sample::committed();
    let (caller, mut notes) = (caller(&sample), Vec::new());
    assert!(matches!(cancel(&caller, true), Ok(Commanded::Nothing)));
    drop(opened(&caller, &request(), &mut notes));
    let Ok(Commanded::Question(question)) = cancel(&caller, false) else { panic!("a question was expected") };
    assert_eq!((question.about, question.aborted.exit), (About::Cancel, 5));
    let Ok(Commanded::Done(told)) = cancel(&caller, true) else { panic!("it was expected to be done") };
    assert_eq!(Status::of(&told.state), Status::Cancelled);
    let home = caller.existing_home().expect("a home").expect("a home");
    let kinds: Vec<String> =
        home.events(&told.row.id, 1, 100).expect("events").into_iter().map(|it| it.kind).collect();
    assert_eq!(kinds[kinds.len() - 2..], ["commanded", "closed"]);
}

#[test]
fn a_run_inside_a_call_is_refused_with_a_next_step() {
    let sample = Sample::committed();
    let mut caller = caller(&sample);
    caller.environment.process_line = ProcessLine::inside("1f3e5a7b");
    let Err(refusal) = open(&caller, &request(), &mut Vec::new()) else { panic!("a refusal was expected") };
    let help = NextStep::by_hand("add --nested, and name another repository with -C DIR");
    assert_eq!((refusal.exit, refusal.next), (2, Some(help)));
    let nested = RunRequest { nested: true, ..request() };
    assert!(matches!(open(&caller, &nested, &mut Vec::new()), Ok(OpenReply::Opened(_))));
}

#[test]
fn a_failing_disk_is_not_called_full() {
    let told = |why: &str| {
        let error = StoreError::Full { path: "/home/loop.db".into(), why: why.to_owned() };
        let Refusal { text, next, .. } = Refusal::from(anyhow::Error::from(error));
        (text, next.expect("a step").lines().join("\n"))
    };
    let (text, next) = told("disk I/O error");
    assert!(text.starts_with("the disk reports errors: "), "{text}");
    assert_eq!(next, "help: dmesg may say why; loop run continues once the disk works");
    let (text, next) = told("No space left on device");
    assert!(text.starts_with("the disk is full: "), "{text}");
    assert_eq!(next, "help: free some disk space, then loop run");
}

#[test]
fn whoever_keeps_the_database_locked_is_named_with_what_helps() {
    let by = loop_store::Holder::this_process();
    let pid = by.pid;
    let busy = |by| StoreError::Busy { path: "/home/turnstile".into(), by };
    let refusal = Refusal::from(anyhow::Error::from(busy(Some(by))));
    assert!(
        refusal.text.starts_with(&format!("/home/turnstile stayed locked by pid {pid} (")),
        "{refusal:?}"
    );
    let step = format!("wait until process {pid} has ended, or end it with kill {pid}; then try again");
    assert_eq!((refusal.next, refusal.exit), (Some(NextStep::ByHand(step)), 1));
    let refusal = Refusal::from(anyhow::Error::from(busy(None)));
    assert_eq!(refusal.text, "/home/turnstile stayed locked by another program");
    assert_eq!(refusal.next, Some(NextStep::by_hand("close what has it open, then try again")));
}

/// An agent can leave a pipe where git expects a file.
#[test]
fn a_git_that_waited_too_long_is_told_with_what_may_have_kept_it() {
    let error = GitError::TimedOut { arguments: "status".to_owned(), seconds: 120 };
    let refusal = Refusal::from(anyhow::Error::from(error));
    assert!(refusal.text.starts_with("git status took longer than 120 s"), "{refusal:?}");
    let help = refusal.next.expect("a step").lines().join("\n");
    assert!(
        help.starts_with("help: find . -type p lists pipes") && help.ends_with("then loop run"),
        "{help}"
    );
}
