//! Mangled input for everything that reads what people and agents write: conditions, workflow
//! files, reports, what an agent's hook sends and its settings. Each test goes on for
//! `LOOP_FUZZ_SECONDS` (some seconds in `./test`), those of the hook for a sixth of that; whatever
//! happens, nothing panics, what is accepted means the same when it is read again, and what comes
//! out is bounded. A failure prints the seed that leads to it.

use crate::hook;
use crate::sim::Dice;
use loop_base::value::{Value, ValueKind};
use loop_core::report::{self, Expected};
use loop_core::workflow::condition::{Condition, Truth};
use loop_core::workflow::model::Protocol;
use loop_core::workflow::preset;
use loop_core::workflow::resolve::{Layers, Source, resolve};
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
    let first = u64::from(std::process::id()) << 32;
    let mut tried = 0;
    while Instant::now() < end {
        let seed =
            std::env::var("LOOP_FUZZ_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(first + tried);
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
        let preset = &preset::ALL[dice.below(4) as usize];
        let text = mangle(dice, preset.text, &odd);
        let source = Source { name: "fuzz.toml".to_owned(), text, dir: None };
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
            let report =
                report::read(protocol, Expected { phase: "GREEN", promise: "DONE", prompt: "" }, &text);
            assert!(report.metrics.len() <= 200 && report.notes.len() <= 20, "{text}");
            let says_so = report.signal.is_none() || report.found;
            assert!(says_so, "a signal without a report: {text}");
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
