//! Mangled input for everything that reads what people and agents write: conditions, workflow
//! files, reports, planning folders, what an agent's hook sends and its settings. Each test continues for
//! `LOOP_FUZZ_SECONDS` (some seconds in `./test`), those of the hook for a sixth of that; whatever
//! happens, nothing panics, what is accepted means the same when it is read again, and what comes
//! out is bounded. A failure prints the seed that leads to it. The seeds are the same in every `./test`,
//! so that a change fails for what it changed; `./test campaign` takes others each time.

use crate::hook;
use crate::sim::Dice;
use loop_base::value::{Value, ValueKind};
use loop_core::documents::planning::number::PhaseNumber;
use loop_core::documents::planning::{config, learnings, phase, plan, roadmap, state_file, verification};
use loop_core::report::{self, Expected};
use loop_core::workflow::condition::{Condition, Truth};
use loop_core::workflow::model::Protocol;
use loop_core::workflow::preset;
use loop_core::workflow::resolve::{LayerSource, Layers, resolve};
use loop_store::mirror::planning::import as loop_state;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// What `cargo test` spends on each without being told.
const SECONDS: u64 = 3;

fn for_a_while(try_one: impl Fn(&mut Dice)) {
    for_a_share(1, try_one);
}

/// Goes on for one of so many parts of the time.
fn for_a_share(parts: u32, try_one: impl Fn(&mut Dice)) {
    let seconds = std::env::var("LOOP_FUZZ_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(SECONDS);
    let end = Instant::now() + Duration::from_secs(seconds) / parts;
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let first = number("LOOP_FUZZ_FIRST").unwrap_or_default() << 32;
    let mut tried = 0;
    while Instant::now() < end {
        let seed = number("LOOP_FUZZ_SEED").unwrap_or(first + tried);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| try_one(&mut Dice::new(seed)))) {
            eprintln!("LOOP_FUZZ_SEED={seed} fails");
            resume_unwind(panic);
        }
        tried += 1;
    }
    assert!(0 < tried, "nothing was tried");
    println!("{tried} tried");
}

/// Changes a text here and there: pieces are cut, doubled, moved, and mixed with odd ones.
fn mangle(dice: &mut Dice, text: &str, odd: &[&str]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(6) {
        let length = letters.len() as u32;
        let from = dice.below(length + 1) as usize;
        let to = (from + dice.below(40) as usize).min(letters.len());
        match dice.below(4) {
            0 => drop(letters.drain(from..to)),
            1 => {
                let piece: Vec<char> = letters[from..to].to_vec();
                let at = dice.below(length + 1) as usize;
                letters.splice(at..at, piece);
            }
            2 => {
                let piece = odd[dice.below(odd.len() as u32) as usize];
                letters.splice(from..from, piece.chars());
            }
            _ => {
                let any = char::from_u32(dice.below(0x2100)).unwrap_or('\0');
                letters.splice(from..from, [any]);
            }
        }
    }
    letters.into_iter().collect()
}

#[test]
fn conditions_survive_anything() {
    let odd = [
        "&&",
        "||",
        "!",
        "(",
        ")",
        "==",
        "<",
        "tests_failing",
        "'",
        "\"",
        "1.5",
        "-",
        "9".repeat(30).leak(),
        "true",
    ];
    let good = [
        "tests_total >= 1 && (iteration >= 5 || refactoring_complete)",
        "verdict == \"APPROVE\"",
        "!(a == 1.5) || b != 'x'",
    ];
    for_a_while(|dice| {
        let text = mangle(dice, good[dice.clone().below(3) as usize], &odd);
        let Ok(condition) = Condition::parse(&text) else { return };
        assert_eq!(Condition::parse(condition.source()).expect("it was read before"), condition);
        let known = dice.chance(70);
        let lookup = |name: &str| {
            known.then(|| if name.len().is_multiple_of(2) { Value::Int(2) } else { Value::from("x") })
        };
        let truth = condition.truth(&lookup);
        assert_eq!(truth == Truth::True, condition.explain(&lookup).is_empty(), "{text}");
        let _mistakes = condition.check(&|_| Some(ValueKind::Any));
    });
}

#[test]
fn workflow_files_survive_anything() {
    let odd = [
        "[[phase]]\n",
        "name = ",
        "\"",
        "[limits]\n",
        "exit = 'x > 1'\n",
        "{",
        "}",
        "= 0\n",
        "off = true\n",
        "after = \"RED\"\n",
        "\u{0}",
    ];
    for_a_while(|dice| {
        let preset = &preset::ALL[dice.below(preset::ALL.len() as u32) as usize];
        let text = mangle(dice, preset.text, &odd);
        let source = LayerSource { name: "fuzz.toml".to_owned(), text, dir: None };
        let layers = Layers { project: Some(source), ..Layers::default() };
        match resolve(&layers, &|_| Ok("do it".to_owned())) {
            Ok(workflow) => assert!(!workflow.phases.is_empty()),
            Err(problems) => {
                assert!(!problems.is_empty());
                assert!(problems.iter().all(|it| !it.to_string().is_empty()));
            }
        }
    });
}

#[test]
fn reports_survive_anything() {
    let block = "text\n---PRP_PHASE_STATUS---\nPHASE: GREEN\nTESTS:\n  TOTAL: 3\n  PASSING: 2\n  FAILING: 1\nBLOCKERS:\n  - none\n\
        EXIT_SIGNAL: true\n---END_PRP_PHASE_STATUS---\n";
    let good = [
        block,
        "done\n---\nEXIT_SIGNAL: TASK_COMPLETE\nCOMMIT: abc1234\n---\n",
        "<promise>DONE</promise>\n",
        "```json\n{\"status\":\"done\",\"metrics\":{\"a\":1}}\n```\n",
        "---\nstatus: passed\nscore: 3/4\ngaps:\n  - one\n---\n",
    ];
    let odd = [
        "```",
        "---",
        ">",
        "`",
        "<promise>",
        "</promise>",
        "EXIT_SIGNAL: true",
        "\r\n",
        "\u{feff}",
        "{",
        "\u{202e}",
        "- ",
    ];
    let protocols = [
        Protocol::PrpStatus,
        Protocol::ExitSignal,
        Protocol::Promise,
        Protocol::Json,
        Protocol::Frontmatter("x".to_owned()),
        Protocol::None,
    ];
    for_a_while(|dice| {
        let text = mangle(dice, good[dice.clone().below(5) as usize], &odd);
        for protocol in &protocols {
            let report = report::read(
                protocol,
                Expected { phase: "GREEN", promise: "DONE", prompt: "", ..Expected::default() },
                &text,
            );
            assert!(report.metrics.len() <= 200 && report.notes.len() <= 20, "{text}");
            let says_so = report.signal.is_none() || report.found;
            assert!(says_so, "a signal without a report: {text}");
        }
    });
}

const PLAN: &str = "---\nphase: 03-auth\nplan: 02\nwave: 2\ndepends_on: [\"03-01\"]\nrequirements:\n  - AUTH-01\ngap_closure: true\nautonomous: false\n\
    must_haves:\n  truths:\n    - \"A person: can log in\"\n    - plain\n  artifacts:\n    - path: src/a.rs\n      provides: login\nnote: |\n  two\n   lines\n---\n\n\
    <tasks>\n<task type=\"auto\" tdd=\"true\">\n  <name>Task 1: Add login</name>\n  <files>src/a.rs, src/b.rs</files>\n</task>\n\
    <task type=\"checkpoint:decision\">\n  <decision>Which</decision>\n  <option id=\"one\"/>\n</task>\n</tasks>\n\n## Tasks\n- [x] Add login\n- [ ] Which\n";

const ROADMAP: &str = "# Roadmap\n\n- [ ] **Phase 3: Auth** - people\n\n### Phase 3: Auth\n**Goal**: People log in\n**Requirements**: AUTH-01 through AUTH-03, [UI-1]\n\
    **Success Criteria** (what must be TRUE):\n  1. It starts\n  2. It stops\n     in time\n\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n| 3. Auth | 0/2 | Not started | - |\n";

const REPORT: &str = "---\nphase: 3\nverified: 2026-01-16T10:15:00Z\nstatus: gaps_found\ngaps:\n  - truth: \"People can log out\"\n    missing:\n      - a button\n\
    human_verification:\n  - test: Look\n    expected: blue\ntruths:\n  - {id: AUTH-01, status: verified}\n---\n\n| # | Truth | Status |\n|---|---|---|\n| 1 | People can log in | ✓ VERIFIED |\n";

const LOOP_STATE: &str = "# Loop State\n\nStarted: 2026-01-01\nPhase: 03 — Auth\nStatus: stuck\nIteration: 7\nMax iterations: 50\nConsecutive failures: 1\n\
    Gap closure cycle: 1\nStuck reason: db: gone\n\n## Task Progress\n\n| Iteration | Plan |\n|---|---|\n| 7 | 03-01 |\n";

const LEARNINGS: &str = "# Learnings\n\n## Validation Commands\n\n### Primary\n\n```sh\n$ make\n```\n\n## Discovered Issues\n\n| Date | Issue |\n|---|---|\n| 1 | slow |\n";

/// Whatever people and agents make of a planning folder: it is read or its mistake has a line that is
/// there, what is read is bounded, and ticking and moving on lose no line.
#[test]
fn planning_folders_survive_anything() {
    let odd = [
        "---\n",
        "- ",
        ": ",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "|",
        ">\n",
        "\t",
        "\r\n",
        "<task",
        "</task>",
        "<name>",
        "[x] ",
        "#",
        "&a",
        "*a",
        "\u{feff}",
        "\u{0}",
        "Phase 3: ",
        "99999999999999999999",
        "```\n",
        "-PLAN.md",
    ];
    for_a_while(|dice| {
        let number = PhaseNumber::read("3").expect("a number");
        let plan_text = mangle(dice, PLAN, &odd);
        let lines = |text: &str| text.lines().count().max(1);
        match plan::read(&plan_text) {
            Ok(plan) => assert!(
                plan.tasks.len() <= 100 && plan.tasks.iter().all(|it| !it.name.is_empty()),
                "{plan_text}"
            ),
            Err(it) => assert!(
                !it.text.is_empty() && (1..=lines(&plan_text)).contains(&it.line),
                "{plan_text}: {it}"
            ),
        }
        let files = [
            ("03-01-PLAN.md".to_owned(), PLAN.replace("[\"03-01\"]", "[]")),
            ("03-02-PLAN.md".to_owned(), plan_text),
        ];
        if let Err(mistakes) = phase::assemble(&files, &BTreeSet::new()) {
            assert!(!mistakes.is_empty() && mistakes.iter().all(|it| !it.is_empty()));
        }
        let report = mangle(dice, REPORT, &odd);
        if let Err(it) = verification::read(&report) {
            assert!((1..=lines(&report)).contains(&it.line), "{report}: {it}");
        }
        let text = mangle(dice, ROADMAP, &odd);
        let phases = roadmap::phases(&text);
        assert!(phases.iter().all(|it| it.requirements.len() <= 50 && it.criteria.len() <= 50), "{text}");
        let ticked = roadmap::tick(&text, &number, "2026-01-01", "notes", &["03-01"]);
        assert_eq!(ticked.lines().count(), text.lines().count(), "{text}");
        let state =
            mangle(dice, "# State\n\nPhase: 3 of 4 (Auth)\nPlan: 1 of 2\nStatus: In progress\n", &odd);
        assert!(lines(&state) <= lines(&state_file::moved_on(&state, &phases, &number, "d", "")), "{state}");
        let learned = mangle(dice, LEARNINGS, &odd);
        assert!(learnings::validation(&learned).iter().all(|it| !it.is_empty()), "{learned}");
        assert!(learnings::last_issues(&learned, 3).len() <= 3);
        if let Err(why) = loop_state::read(&mangle(dice, LOOP_STATE, &odd)) {
            assert!(!why.is_empty());
        }
    });
}

#[test]
fn planning_configurations_survive_anything() {
    let good = "{\n  \"model_profile\": \"budget\",\n  \"loop\": {\n    \"enabled\": true,\n    \"max_iterations\": 20,\n    \"validation_commands\": [\"make\"]\n  },\n  \"autonomous\": false\n}\n";
    let odd = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\"loop\":",
        "null",
        "1e999",
        "-1",
        "true",
        "\u{feff}",
        "\\u0000",
        "{}",
    ];
    for_a_share(HOOK_PARTS, |dice| {
        let text = mangle(dice, good, &odd);
        match config::read(&text) {
            Ok(config) => assert!(config.max_iterations.is_none_or(|it| 0 < it), "{text}"),
            Err(mistakes) => {
                let lines = text.lines().count() + 1;
                assert!(
                    !mistakes.is_empty() && mistakes.iter().all(|it| (1..=lines).contains(&it.line)),
                    "{text}"
                );
            }
        }
    });
}

/// The parts of a hook are small, and soon tried.
const HOOK_PARTS: u32 = 6;

#[test]
fn g38_stops_survive_anything() {
    let good = r#"{"session_id":"5e6a1c0f","transcript_path":"/x/1.jsonl","cwd":"/x","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done\n<promise>X</promise>","background_tasks":[]}"#;
    let odd = [
        "null",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\\u0000",
        "\\ud800",
        "true",
        "1e999",
        "\"session_id\":",
        "\"\"",
    ];
    for_a_share(HOOK_PARTS, |dice| {
        let text = mangle(dice, good, &odd);
        let Ok(Some(stop)) = hook::Stop::parse(text.as_bytes()) else { return };
        assert!(!stop.session.trim().is_empty() && stop.session.len() <= 200, "{text}");
        assert!(stop.cwd.as_ref().is_none_or(|it| it.is_absolute()), "{text}");
        // What is taken is what any reader of JSON finds there.
        let read: serde_json::Value = serde_json::from_str(&text).expect("it was read before");
        assert_eq!(read["session_id"].as_str(), Some(stop.session.as_str()), "{text}");
        assert_eq!(read["last_assistant_message"].as_str(), stop.message.as_deref(), "{text}");
    });
}

#[test]
fn g38_transcripts_survive_anything() {
    let good = "{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n\
        {\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]}}\n\
        {\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":\"two\"}}\n";
    let odd =
        ["\n", "\"type\":\"assistant\"", "null", "{", "}", "[", "]", "\"", "\"isSidechain\":true,", "\u{0}"];
    for_a_share(HOOK_PARTS, |dice| {
        let text = mangle(dice, good, &odd);
        if let Some(said) = hook::last_words(text.as_bytes()) {
            assert!(said.len() <= text.len(), "{text}");
        }
    });
}

#[test]
fn settings_survive_anything() {
    let good = "{\n  \"model\": \"opus\",\n  \"hooks\": { \"Stop\": [ {\"hooks\": [{\"command\": \"say\"}]} ] },\n  \"z\": [1, 2]\n}\n";
    let odd = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\"hooks\":",
        "\"Stop\":",
        "\\\"",
        "\u{feff}",
        "//",
        "null",
        "{}",
        "[]",
    ];
    for_a_share(HOOK_PARTS, |dice| {
        let text = mangle(dice, good, &odd);
        if let Ok(Some(changed)) = hook::install(&text, "loop hook stop", 60) {
            assert_eq!(hook::install(&changed, "loop hook stop", 60), Ok(None), "{text}");
            // Nothing that was there is gone.
            let mut letters = changed.chars();
            let kept = |it: char| it.is_whitespace() || letters.any(|other| other == it);
            assert!(text.chars().all(kept), "{text}");
        }
    });
}
