//! Whatever an agent or a check prints, nothing of it moves a cursor, sets a title or hides a word
//! on the terminal of whoever looks.

use loop_harness::{Done, Sandbox};

/// Titles, clipboards, links, colours, cursors, resets, eight-bit controls, strings without an end,
/// overwritten lines, bells, and letters that reorder or hide.
const NASTY: &str = "\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\\x1b[31mred\x1b[0m\
    \x1b[2J\x1b[1;1H\x1bc\x1bP1;2|x\x1b\\\u{9b}31m\u{9d}0;t\u{9c}\x07\x08\x0b\x0c\x0e\x0f\x7fover\rwritten\
    \u{202e}txt\u{202c}\u{2066}a\u{2069}\u{200f}\u{200b}\u{feff}\u{85}\x1b[?1049h\x1b[6n";

fn assert_harmless(done: &Done, command: &str) {
    for (stream, text) in [("stdout", &done.out), ("stderr", &done.err)] {
        let found = text.chars().find(|it| {
            (it.is_control() && !matches!(it, '\n' | '\t'))
                || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        });
        assert_eq!(found, None, "{stream} of {command}:\n{}", text.escape_debug());
    }
}

#[test]
fn g34_nothing_untrusted_reaches_the_terminal_raw() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.note("nasty"), NASTY).expect("a file");
    sandbox.write(
        ".loop/workflow.toml",
        "extends = \"ralph\"\n[checks.tests]\nrun = \"cat $OUT/nasty; cat $OUT/nasty >&2; exit 1\"\n",
    );
    sandbox.commit("a workflow");
    let agent = sandbox.agent(
        "cat \"$OUT/nasty\" >&2; git commit -q --allow-empty -m \"$(cat \"$OUT/nasty\")\"\n\
         touch \"$(printf 'file\\033]0;evil\\007name')\"; git add -A; git commit -qm x\n\
         printf '<promise>%s</promise>\\n' \"$(cat \"$OUT/nasty\")\"; printf '<promise>TASK_COMPLETE</promise>\\n'",
    );
    let input = format!("build {}", NASTY.replace('\r', " "));
    let run = sandbox.run(&["run", &input, "--agent-cmd", &agent]).exits(4);
    assert_harmless(&run, "run");
    sandbox.run(&["guide", NASTY]).exits(0);
    for command in [
        &["status"][..],
        &["log"],
        &["log", "-v"],
        &["show"],
        &["show", "1"],
        &["show", "1", "--output"],
        &["show", "1", "--checks"],
        &["show", "2", "--prompt"],
        &["why"],
        &["why", "3"],
        &["runs"],
        &["answer"],
        &["restore"],
        &["answer", NASTY],
        &["run", &input],
        &["run", "--run", NASTY],
        &["verify"],
        &[],
        &["run", "x", "--agent-cmd", NASTY],
        &["run", "x", "--preset", NASTY],
        &["cancel", "--run", NASTY],
        &["status", "--json"],
        &["log", "--json"],
        &["runs", "--json"],
        &["run", &input, "--json"],
    ] {
        assert_harmless(&sandbox.run(command), &format!("{command:?}"));
    }
    let shown = sandbox.run(&["show", "1", "--output"]).exits(0);
    assert!(shown.out.contains("link") && shown.out.contains("red"), "{}", shown.out);
    let written = sandbox.run(&["restore", "1"]);
    assert_harmless(&written, "restore");
    assert_harmless(&sandbox.run(&["cancel"]), "cancel");
}
