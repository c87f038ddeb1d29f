//! Mangled input for everything that reads what people and agents write: conditions, workflow
//! files, reports. Each test goes on for `LOOP_FUZZ_SECONDS` (a minute in `./test`); whatever
//! happens, nothing panics, what is accepted means the same when it is read again, and what comes
//! out is bounded. A failure prints the seed that leads to it.

use crate::report::{self, Expected};
use crate::sim::Dice;
use crate::value::Value;
use crate::workflow::condition::{Condition, Kind, Truth};
use crate::workflow::model::Protocol;
use crate::workflow::preset;
use crate::workflow::resolve::{Layers, Source, resolve};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// What `cargo test` spends on each without being told.
const SECONDS: u64 = 3;

fn for_a_while(try_one: impl Fn(&mut Dice)) {
    let seconds = std::env::var("LOOP_FUZZ_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(SECONDS);
    let end = Instant::now() + Duration::from_secs(seconds);
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
        let _mistakes = condition.check(&|_| Some(Kind::Any));
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
            let report = report::read(protocol, Expected { phase: "GREEN", promise: "DONE" }, &text);
            assert!(report.metrics.len() <= 200 && report.notes.len() <= 20, "{text}");
            let says_so = report.signal.is_none() || report.found;
            assert!(says_so, "a signal without a report: {text}");
        }
    });
}
