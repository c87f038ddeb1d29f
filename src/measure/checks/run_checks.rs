//! Running checks: the user's own commands, under `sh -c`, in the working tree, while no agent is
//! alive. A pass is confirmed as often as the workflow says. What comes out says which tree it is
//! about, which command it was, and where its log lies.

use crate::measure::checks::check_folder::CheckFolder;
use crate::measure::checks::check_log;
use crate::measure::checks::child_environment::child_environment;
use crate::measure::counts::TestCounts;
use crate::tree::tree_status::TreeStatus;
use loop_base::time::length;
use loop_core::engine::{CheckOutcome, CheckResult, NO_TESTS_RAN, Tests, known_red};
use loop_core::workflow::model::{Check, Millis};
use loop_store::run::Run;
use loop_supervise::RUN_MARK;
use loop_supervise::protocol::{Bounds, EndReason, Order, OrderEnd, OrderKind};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::Path;

/// A check's log is for reading; what a runner prints beyond this is a loop gone wild.
const LOG_MOST: u64 = 64 << 20;

/// A command was ended early because a person wants something.
pub(crate) struct Cut;

/// Has a command carried out that may be repeated, and waits for its end.
pub(crate) type Execute<'a> = dyn FnMut(Order) -> anyhow::Result<Result<OrderEnd, Cut>> + 'a;

/// Runs these checks in order; their logs go to the run's folder.
pub(crate) fn run_all(
    execute: &mut Execute<'_>,
    run: &Run,
    names: &[String],
    status: &TreeStatus,
    room: &CheckFolder,
) -> anyhow::Result<Result<Vec<CheckResult>, Cut>> {
    let mut results = Vec::new();
    for name in names {
        let Some(check) = run.workflow.checks.get(name) else { continue };
        match run_one(execute, run, name, check, status, room)? {
            Ok(result) => results.push(result),
            Err(cut) => return Ok(Err(cut)),
        }
    }
    Ok(Ok(results))
}

fn run_one(
    execute: &mut Execute<'_>,
    run: &Run,
    name: &str,
    check: &Check,
    status: &TreeStatus,
    room: &CheckFolder,
) -> anyhow::Result<Result<CheckResult, Cut>> {
    let Some(command) = check.run.as_ref().or(run.state.commands.get(name)) else {
        return Ok(Ok(CheckResult::plain(name, CheckOutcome::Skipped)));
    };
    let folder = run.folder();
    let before = run.state.baseline.as_ref().and_then(|it| it.results.iter().find(|it| it.name == name));
    if let Some(prepare) = check.prepare.as_ref().filter(|_| room.is_fresh()) {
        let stem = format!("{}-prepare", stem(run, name, 0));
        match execute(order(&run.id, &stem, prepare, check.timeout, &room.path))? {
            Ok(ending) if ending.code == Some(0) => (),
            Ok(ending) => return Ok(Ok(unprepared(&folder, name, &stem, &ending))),
            Err(cut) => return Ok(Err(cut)),
        }
    }
    let mut passes = 0;
    let mut spent = 0;
    loop {
        let stem = stem(run, name, passes);
        let ending = match execute(order(&run.id, &stem, command, check.timeout, &room.path))? {
            Ok(ending) => ending,
            Err(cut) => return Ok(Err(cut)),
        };
        spent += ending.ms;
        let log_name = format!("{stem}.log");
        let format = check.counts;
        let log = check_log::read(&folder.join(&log_name), format).ok();
        let counts = log.as_ref().and_then(|it| it.counts.clone());
        let tests = counts.as_ref().map(tests);
        let outcome = outcome(check, &ending.how, ending.code, tests.as_ref());
        let failed = matches!(outcome, CheckOutcome::Failed(_));
        let passed = !failed || only_known(tests.as_ref(), before);
        passes = if passed { passes + 1 } else { 0 };
        if passed && passes < check.repeat {
            continue;
        }
        return Ok(Ok(CheckResult {
            name: name.to_owned(),
            passes,
            outcome,
            exit: ending.code,
            counts: tests,
            metrics: counts.map(|it| it.metrics).unwrap_or_default(),
            command: command_hash(command),
            commit: status.commit.clone().unwrap_or_default(),
            tree: status.tree.clone(),
            log: log_name,
            log_hash: log.as_ref().map(|it| it.hash.clone()).unwrap_or_default(),
            excerpt: if failed { log.map(|it| it.excerpt).unwrap_or_default() } else { String::new() },
            ms: spent,
        }));
    }
}

/// A checkout that could not be prepared proves nothing.
fn unprepared(folder: &Path, name: &str, stem: &str, ending: &OrderEnd) -> CheckResult {
    let log_name = format!("{stem}.log");
    let excerpt = check_log::read(&folder.join(&log_name), None).map(|it| it.excerpt).unwrap_or_default();
    let why = format!("prepare: {}", exit_words(ending.code, ending.signal));
    CheckResult {
        exit: ending.code,
        log: log_name,
        excerpt,
        ms: ending.ms,
        ..CheckResult::plain(name, CheckOutcome::Failed(why))
    }
}

/// The name of the log: which call it follows, which check, and the how many-th pass.
fn stem(run: &Run, name: &str, pass: u32) -> String {
    let plain: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    match pass {
        0 => format!("check-{}-{plain}", run.state.calls_total),
        _ => format!("check-{}-{plain}.{}", run.state.calls_total, pass + 1),
    }
}

/// Returns how to run a command of the user's: one that can be repeated and ends with us.
pub(crate) fn order(run_id: &str, stem: &str, command: &str, timeout: Millis, cwd: &Path) -> Order {
    let bounds = Bounds {
        first_ms: u64::MAX,
        idle_ms: u64::MAX,
        total_ms: timeout,
        pipe_ms: 2000,
        grace_ms: 2000,
        out_bytes: LOG_MOST,
        memory_bytes: u64::MAX,
        processes: u64::MAX,
    };
    Order {
        stem: stem.to_owned(),
        kind: OrderKind::Check,
        argv: ["sh", "-c", command].map(OsString::from).to_vec(),
        cwd: cwd.to_owned(),
        env: child_environment(&[(RUN_MARK, run_id), ("CI", "true")], &|_| true),
        stdin: String::new(),
        bounds,
    }
}

/// A check passes when it exits with 0; where counts matter, an unreadable summary or no test at
/// all is a failure too.
fn outcome(check: &Check, how: &EndReason, code: Option<i32>, tests: Option<&Tests>) -> CheckOutcome {
    match how {
        EndReason::Exited => (),
        EndReason::TimedOut | EndReason::Idle | EndReason::NoFirstOutput | EndReason::WaitedForInput(_) => {
            return CheckOutcome::Failed(format!("timed out after {}", length(check.timeout)));
        }
        EndReason::CouldNotStart(why) | EndReason::Lost(why) => return CheckOutcome::Failed(why.clone()),
        EndReason::Interrupted | EndReason::NotStarted => {
            return CheckOutcome::Failed("it was ended early".to_owned());
        }
    }
    judged(check, code, tests)
}

/// The same for a command that has ended by itself.
pub(crate) fn judged(check: &Check, code: Option<i32>, tests: Option<&Tests>) -> CheckOutcome {
    if code != Some(0) {
        return CheckOutcome::Failed(match (code, tests) {
            (_, Some(tests)) if 0 < tests.failing => {
                format!("{} of {} tests fail", tests.failing, tests.total)
            }
            (Some(code), _) => format!("exit {code}"),
            (None, _) => "ended by a signal".to_owned(),
        });
    }
    match tests {
        None if check.must_count => CheckOutcome::Failed("no test summary could be read".to_owned()),
        Some(tests) if tests.passing + tests.failing == 0 && check.must_count => {
            CheckOutcome::Failed(NO_TESTS_RAN.to_owned())
        }
        Some(tests) if 0 < tests.failing => {
            CheckOutcome::Failed(format!("{} of {} tests fail", tests.failing, tests.total))
        }
        Some(_) | None => CheckOutcome::Passed,
    }
}

/// Whether every test that fails is known to have failed before the first call.
fn only_known(now: Option<&Tests>, before: Option<&CheckResult>) -> bool {
    let before = before.and_then(|it| it.counts.as_ref());
    now.zip(before).is_some_and(|(now, before)| 0 < now.failing && known_red(now, before) == now.failing)
}

pub(crate) fn tests(counts: &TestCounts) -> Tests {
    let TestCounts { total, passing, failing, skipped, failed, metrics: _ } = counts.clone();
    Tests { total, passing, failing, skipped, failed }
}

/// Returns by what the result of a check remembers its command.
pub(crate) fn command_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn exit_words(code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "no exit status".to_owned(),
    }
}
