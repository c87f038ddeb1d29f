//! Controllers that are killed again and again while a real agent works, and runs that share a cap: what the scripted
//! model answered is what is counted, nothing is done twice, and nothing is left. `LOOP_TEST_TIMES=10` makes the ten
//! restarts a hundred; `LOOP_TEST_SEED=N` repeats their moments.

use super::lab::{INPUT, Lab, honest};
use loop_harness::agent_programs::is_wanted;
use loop_harness::{SeededRandom, times, within};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

/// Tokens of an answer for which the script says nothing.
const TOKENS_OF_AN_ANSWER: u64 = 1050;

/// Calls of two answers, each of which leaves one commit and does not say that it is done.
fn goes_on() -> Value {
    let work = "date +%s%N >> log.txt && git add -A && git commit -qm one";
    let call = [json!({"tools": [{"sh": work}]}), json!({"text": "There is more to do."})];
    json!({"turns": call.iter().cycle().take(2000).collect::<Vec<_>>(), "after": "error"})
}

/// A run that is far from every limit but those that a test sets.
fn far_from_limits(more: &str) -> String {
    let phase = "[[phase]]\nname = \"WORK\"\nbreaker = { no_progress = 9000, same_error = 9000 }";
    format!("[limits]\niterations = 10000\nphase_iterations = 10000\n{more}\n{phase}")
}

fn tokens(status: &Value) -> u64 {
    let classes = status["budget"]["tokens"].as_object().expect("four classes");
    classes.values().filter_map(Value::as_u64).sum()
}

fn usd(status: &Value) -> f64 {
    status["budget"]["usd"]["amount"].as_f64().unwrap_or_default()
}

#[test]
fn claude_is_counted_once_through_many_killed_controllers() {
    if !is_wanted("claude", "restarts in mid-call") {
        return;
    }
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_nanos() as u64;
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(now | 1);
    println!("LOOP_TEST_SEED={seed}");
    let mut random = SeededRandom::new(seed);
    let mut lab = Lab::new("claude", &goes_on());
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.configure(&far_from_limits("usd = 1000"));
    let kills = 10 * times();
    let mut in_call = 0;
    for _ in 0..kills {
        let mut running = lab.spawn(&INPUT);
        let works = |it: &(i32, String)| it.1.contains(" -p --output-format");
        let in_a_call = within(Duration::from_secs(60), || lab.processes().iter().any(works));
        assert!(in_a_call && running.try_wait().expect("a status").is_none(), "{}", lab.said());
        std::thread::sleep(Duration::from_millis(random.below(2500)));
        running.kill().expect("it lives");
        running.wait().expect("a status");
        // The shim, and what it supervises.
        in_call += u32::from(!lab.processes().is_empty());
    }
    lab.play(&honest());
    let done = lab.run(&INPUT);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let status = lab.status();
    let answered = lab.models().len() as u64;
    // The last answer of the honest script says its own, smaller usage, and is given once.
    let counted = (answered - 1) * TOKENS_OF_AN_ANSWER + 520;
    println!(
        "{kills} kills, {in_call} while something ran; {answered} answers, {} tokens, ${:.4}, {} calls",
        tokens(&status),
        usd(&status),
        status["calls_total"]
    );
    assert_eq!(tokens(&status), counted, "{answered} answers; {status}");
    let commits = lab.git(&["rev-list", "--count", "HEAD"]).parse::<u64>().expect("a number");
    let written = std::fs::read_to_string(lab.repo().join("log.txt")).unwrap_or_default();
    // One commit of the lab, one of its settings, one of the last call, and one of every other call.
    assert_eq!(commits, 3 + written.lines().count() as u64, "{status}");
    assert_eq!(status["budget"]["unknown_calls"], 0, "{status}");
    assert_eq!(lab.run(&["verify"]).status.code(), Some(0));
    lab.assert_nothing_runs();
}

#[test]
fn eight_runs_of_claude_share_a_cap() {
    if !is_wanted("claude", "eight runs with one cap") {
        return;
    }
    const RUNS: usize = 8;
    const CAP: f64 = 0.3;
    // One answer a call: the script is one for all of them.
    let turns = vec![json!({"text": "There is more to do."}); 2000];
    let mut lab = Lab::new("claude", &json!({"turns": turns, "after": "error"}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.configure(&far_from_limits(&format!("day_usd = {CAP}\ncall_usd = 0.02")));
    let places: Vec<_> = (0..RUNS).map(|it| lab.repo().with_file_name(format!("clone-{it}"))).collect();
    for place in &places {
        lab.git(&["clone", "-q", ".", &place.to_string_lossy()]);
    }
    let start = |place: &std::path::PathBuf| {
        let said = std::fs::File::create(place.with_extension("said")).expect("a file");
        lab.command(&INPUT).current_dir(place).stdout(Stdio::null()).stderr(said).spawn().expect("loop")
    };
    let running: RefCell<Vec<_>> = RefCell::new(places.iter().map(start).collect());
    let is_over = |it: &mut Child| it.try_wait().expect("ours").is_some();
    let all_over = within(Duration::from_secs(600), || running.borrow_mut().iter_mut().all(is_over));
    assert!(all_over, "{:?}", lab.processes());
    let (mut counted, mut spent, mut calls, mut dearest) = (0, 0.0, 0, 0.0_f64);
    for (place, mut ended) in places.iter().zip(running.into_inner()) {
        let said = std::fs::read_to_string(place.with_extension("said")).unwrap_or_default();
        assert_eq!(ended.wait().expect("ours").code(), Some(5), "{said}");
        assert!(said.contains("for today is used up"), "{said}");
        let status = lab.command(&["status", "--json"]).current_dir(place).output().expect("loop").stdout;
        let status: Value = serde_json::from_slice(&status).expect("a status");
        let of_run = status["calls_total"].as_u64().expect("a number");
        (counted, spent, calls) = (counted + tokens(&status), spent + usd(&status), calls + of_run);
        dearest = dearest.max(usd(&status) / of_run.max(1) as f64);
    }
    let answered = lab.models().len() as u64;
    println!("{calls} calls of {RUNS} runs, {answered} answers, {counted} tokens, ${spent:.4} of ${CAP}");
    assert_eq!((calls, counted), (answered, answered * TOKENS_OF_AN_ANSWER));
    assert!(spent <= CAP + RUNS as f64 * dearest, "${spent} with calls of ${dearest} passes ${CAP}");
    assert!(CAP / 2.0 < spent, "${spent} is far from ${CAP}");
    lab.assert_nothing_runs();
}
