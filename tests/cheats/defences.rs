//! What each defence of the proof is for: with it, its cheats are not verified; in a build without it
//! (`--features without-NAME`), they are. `./test campaign` makes these builds.

use crate::data::{self, Outcome};
use crate::runner;

/// A defence, whether this build has it, and cheats that only it catches.
struct Defence {
    name: &'static str,
    is_off: bool,
    cheats: &'static [&'static str],
}

const DEFENCES: [Defence; 5] = [
    Defence {
        name: "clean",
        is_off: cfg!(feature = "without-clean"),
        cheats: &["unittest/poisoned-bytecode", "unittest/path-shim"],
    },
    Defence {
        name: "overlay",
        is_off: cfg!(feature = "without-overlay"),
        cheats: &["unittest/weaken", "unittest/tautology"],
    },
    Defence {
        name: "old-code",
        is_off: cfg!(feature = "without-old-code"),
        cheats: &["unittest/vacuous-test"],
    },
    Defence {
        name: "canary",
        is_off: cfg!(feature = "without-canary"),
        cheats: &["unittest/patched-assert-equal", "unittest/fake-results"],
    },
    Defence {
        name: "ratchet",
        is_off: cfg!(feature = "without-ratchet"),
        cheats: &["unittest/skip-in-product"],
    },
];

#[test]
fn a_defence_is_what_stops_its_cheats() {
    let corpus = data::read();
    let off: Vec<&Defence> = DEFENCES.iter().filter(|it| it.is_off).collect();
    // Where nothing is switched off, one cheat of each shows that the defence is there.
    let looked_at = |it: &Defence| {
        let most = if it.is_off { usize::MAX } else { 1 };
        it.cheats.iter().take(most).copied().collect::<Vec<_>>()
    };
    let mut wrong = Vec::new();
    for defence in DEFENCES.iter().filter(|it| off.is_empty() || it.is_off) {
        for id in looked_at(defence) {
            let row = corpus.cheats.iter().find(|it| it.id == id).expect("a row of the corpus");
            let sample = &corpus.samples[&row.sample];
            if crate::skipped(id, &sample.needs) {
                continue;
            }
            let done = runner::run(sample, row);
            let found = runner::outcome(&done);
            println!(
                "{} {}: {id} came to {found:?}",
                defence.name,
                if defence.is_off { "off" } else { "on" }
            );
            if (found == Outcome::Verified) != defence.is_off {
                wrong.push(format!("{}: {id} came to {found:?}\n{}", defence.name, done.said));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
