//! Whatever stands in a planning folder, reading it never panics, and ticking it never loses a line.

use super::{config, front_matter, learnings, number, phase, plan, roadmap, state_file, verification};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Pieces that documents are made of, so that more than the first line is reached.
const PIECES: [&str; 40] = [
    "---\n",
    "\n",
    " ",
    "  ",
    "- ",
    "-\n",
    "a: ",
    "b:\n",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    ",",
    ": ",
    "#",
    "|\n",
    ">\n",
    "\t",
    "é",
    "<task type=\"auto\">",
    "</task>",
    "<name>",
    "</name>",
    "<task",
    "wave: 1\n",
    "depends_on: [03-01]\n",
    "- [ ] **Phase 3: A** - b\n",
    "- [x] c\n",
    "### Phase 3: A\n",
    "**Goal**: g\n",
    "**Success Criteria**:\n",
    "1. x\n",
    "| 3. A | 0/1 | b | - |\n",
    "|---|---|---|---|\n",
    "```\n",
    "Phase: 3 of 4\n",
    "truths:\n",
    "| Truth | Status |\n",
];

fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned), "[ -~]{0,6}"];
    prop::collection::vec(piece, 0..60).prop_map(|it| it.concat())
}

proptest! {
    #[test]
    fn reading_never_panics(text in document(), other in "\\PC{0,200}") {
        for text in [&text, &other, &format!("---\n{text}\n---\n{other}")] {
            let _ = front_matter::read(text);
            let _ = plan::read(text);
            let _ = verification::read(text);
            let _ = config::read(text);
            let _ = learnings::validation(text);
            let _ = learnings::last_issues(text, 3);
            let _ = state_file::current_phase(text);
            let _ = number::PhaseNumber::prefix(text);
            let _ = roadmap::requirement_text(text, "A-1");
            let files = [("03-01-PLAN.md".to_owned(), text.clone()), ("03-02-PLAN.md".to_owned(), other.clone())];
            let _ = phase::assemble(&files, &BTreeSet::new());
            let phases = roadmap::phases(text);
            let number = number::PhaseNumber::read("3").expect("a number");
            let ticked = roadmap::tick(text, &number, "2026-01-01", "", &["03-01"]);
            prop_assert_eq!(ticked.lines().count(), text.lines().count());
            prop_assert_eq!(roadmap::tick(&ticked, &number, "2026-01-02", "", &["03-01"]), ticked);
            let moved = state_file::moved_on(text, &phases, &number, "2026-01-01", "");
            prop_assert!(text.lines().count() <= moved.lines().count());
        }
    }
}
