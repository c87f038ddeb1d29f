//! What holds for any workflow file: overriding changes only what it names, in whatever order, and no text makes
//! the reader panic or leaves a problem without its place.

use super::preset;
use super::resolve::resolve;
use super::tests::{no_files, printed, project, resolved};
use proptest::prelude::*;
use std::path::Path;

/// A key of a phase that overrides the preset's, and what to look at in the model.
fn any_change() -> impl Strategy<Value = (usize, u32, Option<String>)> {
    (0..5_usize, 1..500_u32, proptest::option::of("[a-z]{1,8}"))
}

fn change(changes: &[(usize, u32, Option<String>)]) -> String {
    let phases = ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"];
    let mut text = "extends = \"tdd\"\n".to_owned();
    let mut seen = [false; 5];
    for (at, weight, goal) in changes {
        if !std::mem::replace(&mut seen[*at], true) {
            text += &format!("[[phase]]\nname = \"{}\"\nweight = {weight}\n", phases[*at]);
            text += &goal.as_ref().map(|it| format!("goal = \"{it}\"\n")).unwrap_or_default();
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn merging_changes_only_what_is_named(changes in proptest::collection::vec(any_change(), 0..5)) {
        let plain = resolved(&project("extends = \"tdd\"\n"));
        let changed = resolved(&project(&change(&changes)));
        let mut expected = plain;
        let mut seen = [false; 5];
        for (at, weight, goal) in &changes {
            if !std::mem::replace(&mut seen[*at], true) {
                expected.phases[*at].weight = *weight;
                if let Some(goal) = goal {
                    expected.phases[*at].goal = goal.clone();
                }
            }
        }
        prop_assert_eq!(changed, expected);
    }

    #[test]
    fn the_order_of_overriding_phases_does_not_matter(changes in proptest::collection::vec(any_change(), 0..5)) {
        let mut once: Vec<_> = Vec::new();
        for it in changes {
            if !once.iter().any(|other: &(usize, u32, Option<String>)| other.0 == it.0) {
                once.push(it);
            }
        }
        let forwards = resolved(&project(&change(&once)));
        once.reverse();
        prop_assert_eq!(forwards, resolved(&project(&change(&once))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Presets with bytes cut out, doubled and replaced: always a workflow or problems, never a panic,
    /// and every problem can be printed and points into its file.
    #[test]
    fn a_mangled_preset_never_panics(
        which in 0..preset::ALL.len(),
        cuts in proptest::collection::vec((any::<proptest::sample::Index>(), 0..12_usize, "[\\[\\]{}\"'=.,#\n a-z0-9é]{0,4}"), 1..6),
    ) {
        let mut text = preset::ALL[which].text.to_owned();
        for (at, length, put) in cuts {
            let mut start = at.index(text.len().max(1));
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, &put);
        }
        let read = |_: &Path| Ok("work".to_owned());
        if let Err(problems) = resolve(&project(&text), &read) {
            prop_assert!(!problems.is_empty());
            let lines = text.lines().count().max(1) + 1;
            for problem in &problems {
                prop_assert!(!printed(std::slice::from_ref(problem)).is_empty());
                prop_assert!(problem.spot.as_ref().is_none_or(|it| it.line >= 1 && it.line <= lines));
            }
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "([a-z_]{1,8} ?= ?|\\[\\[?[a-z.]{1,9}\\]?\\]?\n|\"[^\"]{0,9}\"|[0-9{},\n'#é]|true){0,40}") {
        let _ = resolve(&project(&text), &no_files);
    }
}
