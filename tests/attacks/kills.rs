//! SIGKILL at random moments of a run with everything: calls, a proof, a gate that the test approves, and
//! `loop ship`. However often somebody is killed, it ends as an uninterrupted one does: nothing is lost,
//! nothing is done twice, and nothing is left.

use loop_harness::{Running, Sandbox, SeededRandom, times};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const KILLS: u32 = 40;

/// A long campaign hits each of these places at least so often.
const LEAST: [(&str, u32); 4] = [("call", 5), ("proof", 20), ("gate", 10), ("ship", 20)];

/// A busy machine needs longer for `ship`, and chance would kill it again and again. In one run it is enough then.
const SHIP_KILLS_MOST: u32 = 10;

/// Two calls until the check is green, a gate, and what is made is handed in.
const WORKFLOW: &str = "name = \"gated\"\n[checks.unit]\nrun = \"cat steps; test $(wc -l < steps) -ge 2\"\n[[phase]]\n\
     name = \"BUILD\"\nprompt = \"Build it.\"\nreport = \"json\"\nchecks = [\"unit\"]\ngates = [\"review\"]\n\
     breaker = { no_progress = 9, same_error = 9 }\n[gates.review]\nask = \"is it good?\"\n[finish]\nship = \"offer\"\n";

const AGENT: &str = "echo \"$LOOP_CALL\" >> steps; git add -A; git commit -q -m \"call $LOOP_CALL\"\n\
     echo '```json'; echo '{\"status\":\"done\"}'; echo '```'";

/// A project with a remote, and a stand-in for `gh` that keeps what it is told; like a code host it takes one
/// request for a branch.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.write("steps", "");
    sandbox.commit("a workflow");
    let remote = sandbox.path("remote.git").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.program(
        "bin/gh",
        "#!/bin/sh\ncase \"$2\" in list) cat \"$OUT/open\" 2>/dev/null; true;; \
         create) echo https://example.org/pull/7 > \"$OUT/new.$$\"; \
         if ln \"$OUT/new.$$\" \"$OUT/open\" 2>/dev/null; then echo create >> \"$OUT/gh\"; cat \"$OUT/open\"; else echo 'a pull request already exists' >&2; exit 1; fi;; esac\n",
    );
    sandbox.path_first.push(sandbox.path("bin"));
    sandbox
}

/// What comes next, as a person sees it.
fn next(sandbox: &Sandbox, agent: &str) -> Option<Vec<String>> {
    let status = sandbox.status_if_any();
    let words: &[&str] = match status["status"].as_str() {
        Some("completed") if status["delivered"].is_null() && !sandbox.note("shipped").exists() => &["ship"],
        Some("completed") => return None,
        Some("waiting") if !is_answered(sandbox) => &["approve", "--by", "Ada"],
        _ => &["run", "a bridge", "--agent-cmd", agent],
    };
    Some(words.iter().map(|it| (*it).to_owned()).collect())
}

fn is_answered(sandbox: &Sandbox) -> bool {
    let database = rusqlite::Connection::open(sandbox.home.join("loop.db")).expect("a database");
    let left = "select count(*) from command where body like '%approve%'";
    database.query_row(left, [], |row| row.get::<_, i64>(0)).is_ok_and(|it| 0 < it)
}

/// What the command was at when it was killed: by the last thing that the run knows, and for `ship` by what
/// the world has of it.
fn hit(sandbox: &Sandbox, command: &str) -> &'static str {
    if command == "approve" {
        return "gate, an approval";
    }
    if command == "ship" {
        let has = |words: &[&str]| !sandbox.git(words).is_empty();
        return if sandbox.note("open").exists() {
            "ship, a request is open"
        } else if has(&["ls-remote", "--heads", "origin", "feat*"]) {
            "ship, the branch is pushed"
        } else if has(&["branch", "--list", "feat*"]) {
            "ship, the branch is made"
        } else {
            "ship, looking at what is there"
        };
    }
    let status = sandbox.status_if_any();
    if status["run"].is_null() {
        return "opening";
    }
    let events = sandbox.events();
    let last = events.iter().rev().find(|it| it["kind"] != "owned");
    match last.and_then(|it| it["kind"].as_str()).unwrap_or_default() {
        "" | "opened" => "opening",
        "baselined" | "repeated" | "began" if status["question"].is_null() => "call",
        "ended" | "measured" => "measuring",
        "judged" => "proof, its first step",
        "step-taken" => "proof, a later step",
        "proved" | "began" | "told" | "answered" | "commanded" => "gate, the question",
        _ => "the end",
    }
}

/// Lets the command run for a while that chance decides: until some time is over, or until its run has
/// written down some more and a little later. Returns whether it has ended by itself.
fn runs_for_a_while(dice: &mut SeededRandom, sandbox: &Sandbox, running: &mut Running, most: u64) -> bool {
    if dice.below(2) == 0 {
        return running.ends_within(Duration::from_micros(dice.below(most)));
    }
    let wanted = written(sandbox) + 1 + dice.below(7);
    while written(sandbox) < wanted {
        if running.ends_within(Duration::from_millis(2)) {
            return true;
        }
    }
    running.ends_within(Duration::from_micros(dice.below(most / 8)))
}

/// How much the journal holds.
fn written(sandbox: &Sandbox) -> u64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(sandbox.home.join("loop.db"), flags);
    let count =
        |it: rusqlite::Connection| it.query_row("select count(*) from event", [], |row| row.get::<_, i64>(0));
    database.and_then(count).unwrap_or(0).unsigned_abs()
}

/// What a run came to, without times and names.
fn result(sandbox: &Sandbox) -> Value {
    let status = sandbox.status();
    let kinds: Vec<String> =
        sandbox.events().iter().map(|it| it["kind"].as_str().unwrap_or_default().to_owned()).collect();
    let count = |kind: &str| kinds.iter().filter(|it| *it == kind).count();
    json!({
        "status": status["status"], "verified": status["verified"], "level": status["proof"]["level"],
        "iterations": status["iterations_total"], "calls": status["calls_total"], "started": sandbox.calls(),
        "approved": count("approved"), "closed": count("closed"), "warnings": status["warnings"],
        "subjects": sandbox.subjects(), "requests": sandbox.notes("gh"),
        "tree": sandbox.git(&["rev-parse", "HEAD^{tree}"]),
        "remote": sandbox.git(&["ls-remote", "--heads", "origin"]).lines().map(|it| it.split('\t').next_back().expect("a name").to_owned()).collect::<Vec<_>>(),
    })
}

fn hits(killed_at: &BTreeMap<&str, u32>, what: &str) -> u32 {
    killed_at.iter().filter(|it| it.0.starts_with(what)).map(|it| it.1).sum()
}

#[test]
fn en01_with_proofs_gates_and_ship_killed_at_random_moments_nothing_is_lost_or_done_twice() {
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 0x9e37_79b9 + 1);
    println!("LOOP_TEST_SEED={seed}");
    let mut dice = SeededRandom::new(seed);
    let unhurt = project();
    let agent = unhurt.agent(AGENT);
    let mut took = BTreeMap::new();
    while let Some(words) = next(&unhurt, &agent) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let began = Instant::now();
        let done = unhurt.run(&words);
        let longest: &mut Duration = took.entry(words[0].to_owned()).or_default();
        *longest = began.elapsed().max(*longest);
        assert!(matches!(done.code, 0 | 3), "{words:?}: {done:?}");
        if words[0] == "ship" {
            std::fs::write(unhurt.note("shipped"), "").expect("a note");
        }
    }
    let expected = result(&unhurt);
    assert_eq!(
        (&expected["verified"], &expected["started"], &expected["approved"]),
        (&json!(true), &json!([1, 2]), &json!(1)),
        "{expected}"
    );
    assert_eq!(expected["requests"], json!(["create"]), "{expected}");
    let (mut kills, mut runs) = (0, 0);
    let mut killed_at: BTreeMap<&str, u32> = BTreeMap::new();
    // Where chance has left a place out, more runs follow, at most as many kills as there were.
    let lacks = |killed_at: &BTreeMap<&str, u32>| {
        10 <= times() && LEAST.iter().any(|it| hits(killed_at, it.0) < it.1)
    };
    while kills < KILLS * times() || lacks(&killed_at) && kills < 2 * KILLS * times() {
        let sandbox = project();
        let agent = sandbox.agent(AGENT);
        let (before, mut in_ship) = (kills, 0);
        while let Some(words) = next(&sandbox, &agent) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let began = Instant::now();
            let mut running = sandbox.spawn(&words);
            let is_enough = words[0] == "ship" && SHIP_KILLS_MOST <= in_ship;
            // On a busy machine everybody needs longer to bring anything forward.
            let longest = u64::try_from(took[words[0]].as_micros()).expect("a short time");
            let most = if words[0] == "run" { longest * 6 / 10 } else { longest * 13 / 10 };
            let most = most * (1 + u64::from(kills - before) / 20);
            let ended = match words[0] {
                "run" => runs_for_a_while(&mut dice, &sandbox, &mut running, most),
                _ if is_enough => true,
                _ => running.ends_within(Duration::from_micros(dice.below(most))),
            };
            if ended {
                let done = running.wait();
                assert!(matches!(done.code, 0 | 3), "seed {seed}, {words:?}: {done:?}");
                if words[0] == "ship" {
                    std::fs::write(sandbox.note("shipped"), "").expect("a note");
                    // The machine may have been busier when this was measured first.
                    took.insert("ship".to_owned(), began.elapsed());
                }
                continue;
            }
            running.kill();
            kills += 1;
            in_ship += u32::from(words[0] == "ship");
            *killed_at.entry(hit(&sandbox, words[0])).or_insert(0) += 1;
        }
        runs += 1;
        sandbox.assert_nothing_runs();
        assert_eq!(result(&sandbox), expected, "seed {seed}, after {kills} kills");
        sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    }
    println!("{kills} kills in {runs} runs, of {killed_at:#?}: 0 lost, 0 twice, 0 left");
    // A few kills need not hit everything.
    assert!(!lacks(&killed_at), "{killed_at:?}");
}
