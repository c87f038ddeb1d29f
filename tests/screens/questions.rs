//! Questions at the terminal: their words, first letters and texts, what is no answer, and answers
//! that come from elsewhere.

use crate::stage::{RUN, STUCK, Stage, WAITS, WORKS};
use insta::assert_snapshot;
use loop_harness::Scripted;
use loop_harness::Terminal;
use loop_harness::WORK;

fn mend(stage: &Stage) {
    std::fs::write(stage.sandbox.note("mended"), "").expect("a file");
}

#[test]
fn the_breaker_asks_until_it_is_answered() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 80);
    terminal.until("reset, skip, abort, modify TEXT?");
    assert_snapshot!("breaker", terminal.screen());
    terminal.types("perhaps\r").until("\"perhaps\" is not an answer to this question");
    terminal.types("m\r").until("\"modify\" needs a text");
    terminal.types("\r").until("one of: reset, skip, abort, modify");
    mend(&stage);
    terminal.types("modifi\u{7f}y use the blue lever").until("modify use the blue lever");
    assert_snapshot!("breaker_typed", terminal.screen());
    terminal.types("\r").until("guidance: use the blue lever").exits(0);
    assert!(stage.sandbox.prompt(3).contains("use the blue lever"));
    assert!(terminal.is_as_before());
}

#[test]
fn the_breaker_at_40_columns() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 40);
    terminal.until("r, s, a, m TEXT?");
    terminal.types("m a sentence that is longer than the line is wide").until("is wide");
    assert_snapshot!(terminal.screen());
    mend(&stage);
    terminal.types("\u{15}r\r").exits(0);
}

#[test]
fn an_answer_from_elsewhere_is_taken() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 80);
    terminal.until("modify TEXT?").types("ab").until("modify TEXT? ab");
    mend(&stage);
    stage.plain(&["answer", "reset"]).exits(0).says("the run applies it now");
    terminal.exits(0).said("question 1 answered: reset");
    assert!(terminal.is_as_before());
}

#[test]
fn the_end_of_input_leaves_the_question_open() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 80);
    terminal.until("modify TEXT?").types("\u{4}");
    terminal.exits(4).said("next: loop answer reset");
    assert_eq!(stage.sandbox.status()["question"]["kind"], "breaker");
}

#[test]
fn what_was_typed_before_a_question_is_no_answer() {
    let stage = Stage::new(&format!(
        "[ \"$LOOP_CALL\" = 2 ] || {{ {STUCK}; exit; }}\necho here > \"$OUT/at\"; read x < \"$OUT/go\"\n{STUCK}"
    ));
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(24, 80);
    at.hear();
    terminal.types("abort\r");
    go.say();
    terminal.until("modify TEXT?");
    mend(&stage);
    terminal.types("reset\r").exits(0);
}

#[test]
fn a_question_without_drawing() {
    let stage = Stage::new(STUCK);
    let mut command = stage.command(&RUN);
    command.env("TERM", "dumb");
    let mut terminal = Terminal::start(&command, 40, 80);
    terminal.until("modify TEXT?").types("perhaps\r").until("is not an answer to this question");
    mend(&stage);
    terminal.types("r\r").exits(0);
    let text = String::from_utf8_lossy(&terminal.raw);
    assert_eq!(text.matches("question 1: ").count(), 1, "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_dirty_tree_is_asked_about() {
    let stage = Stage::new(WORKS);
    stage.sandbox.write("half.txt", "half\n");
    let mut terminal = stage.run(24, 80);
    terminal.until("go, abort?").types("x\r").until("\"x\" is not one of the answers: go, abort");
    terminal.until_so("asked again", |it| it.matches("go, abort?").count() == 2);
    assert_snapshot!(terminal.screen());
    terminal.types("a\r").exits(2).said("--allow-dirty");
    let mut terminal = stage.run(24, 80);
    terminal.until("go, abort?").types("go\r").exits(0);
}

#[test]
fn a_paused_run_is_asked_about() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let driver = stage.sandbox.start(stage.command(&RUN));
    at.hear();
    // While somebody drives it, nothing is offered that would not work.
    stage.run(24, 80).exits(7).said("next: loop attach");
    stage.plain(&["pause"]).exits(0);
    driver.wait().exits(5);
    let mut terminal = stage.run(24, 80);
    terminal.until("resume, new, abort?");
    assert_snapshot!(terminal.screen());
    terminal.types("abort\r").exits(5);
    let mut terminal = stage.run(24, 80);
    terminal.until("resume, new, abort?").types("\u{4}").exits(5);
    let mut terminal = stage.run(24, 80);
    terminal.until("resume, new, abort? (Enter: resume)").types("\r");
    for _ in 0..3 {
        at.hear();
        go.say();
    }
    terminal.exits(0);
}

#[test]
fn cancelling_is_asked_about() {
    let stage = Stage::new(STUCK);
    stage.plain(&RUN).exits(4);
    let mut terminal = stage.terminal(24, 80, &["cancel"]);
    terminal.until("cancel run").until("yes, no?").types("n\r").exits(5);
    assert_eq!(stage.sandbox.status()["status"], "halted");
    let mut terminal = stage.terminal(24, 80, &["cancel"]);
    terminal.until("yes, no?").types("y\r").exits(0).said("cancelled at iteration");
    assert_eq!(stage.sandbox.status()["status"], "cancelled");
}

/// A tdd run in a terminal, with so many calls an hour.
fn hourly(sandbox: &Scripted) -> Terminal {
    let mut command = sandbox.driving_lines(&[]);
    command.env("BP_RATE_LIMIT_HOURLY", "1");
    Terminal::start(&command, 40, 80)
}

#[test]
fn the_hourly_limit_asks_and_counts_down() {
    let sandbox = Scripted::with_lines();
    let mut terminal = hourly(&sandbox);
    terminal.until("wait, continue, abort?").until("until the default answer applies");
    let screen = terminal.screen();
    let begin = screen.find("question 1: ").expect("the question");
    assert_snapshot!("hourly", &screen[begin..]);
    // The countdown moves while somebody types, and what is typed stays.
    terminal.types("wa").until("abort? wa");
    terminal.until_so("another second", |it| {
        it.contains("59m 5") && !it.contains("59m 59s") && it.contains("abort? wa")
    });
    terminal.types("it\r").until("waiting 59m").until("calls 1/1");
    terminal.types("\u{3}").exits(130).said("paused: User interrupt");
    let mut again = hourly(&sandbox);
    again.until("resume, new, abort?").types("a\r").exits(5);
}

#[test]
fn continuing_past_the_hourly_limit_finishes() {
    let sandbox = Scripted::with_lines();
    let mut terminal = hourly(&sandbox);
    terminal.until("wait, continue, abort?").types("c\r");
    terminal.until("yes, no?").types("n\r").exits(0);
}

#[test]
fn a_run_of_another_input_is_asked_about() {
    let sandbox = Scripted::with_lines();
    let mut terminal = hourly(&sandbox);
    terminal.until("wait, continue, abort?").types("abort\r").exits(5);
    sandbox.file("project/docs/PRPs/other.md", loop_harness::PRP);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "another"]);
    let agent = sandbox.path("agent").display().to_string();
    let check = format!("tests={}", sandbox.path("check").display());
    let words = ["run", "docs/PRPs/other.md", "--preset", "tdd", "--agent-cmd", &agent, "--check", &check];
    let mut terminal = Terminal::start(&sandbox.command(&words), 24, 80);
    terminal.until("new, abort?").types("a\r").exits(2);
    let mut terminal = Terminal::start(&sandbox.command(&words), 40, 80);
    terminal.until("new, abort?").types("new\r").until("RED iteration 1: call 1 begins");
    terminal.types("\u{3}").exits(130);
}

/// A workflow of one phase with a gate at its end, in a terminal.
fn gated(stage: &Stage, gate: &str) -> Terminal {
    let workflow = "name = \"small\"\ninput = { kind = \"text\", about = \"what\" }\n[agent]\nreport = \"promise\"\n\
        [limits]\niterations = 9\n[[phase]]\nname = \"WORK\"\nprompt = \"work on {{ input }}\"\nchecks = [\"tests\"]\n\
        exit = \"tests_ok\"\n[checks.tests]\nrun = \"test -f work\"\n[gates.look]\nat = \"WORK\"\n";
    stage.sandbox.write(".loop/workflow.toml", format!("{workflow}{gate}"));
    stage.sandbox.commit("a workflow");
    stage.terminal(24, 80, &["run", "x", "--agent-cmd", "agent"])
}

#[test]
fn a_gate_is_passed_at_the_terminal() {
    let stage = Stage::new(WORK);
    let mut terminal = gated(&stage, "");
    terminal.until("approve, changes TEXT, reject?");
    terminal
        .types("c\r")
        .until("needs a text")
        .types("c more of it\r")
        .until("changes asked for at the gate");
    terminal.until("question 2").until("approve, changes TEXT, reject?").types("approve\r").exits(0);
}

#[test]
fn a_question_whose_time_is_over_is_no_longer_asked() {
    let stage = Stage::new(WORK);
    let mut terminal = gated(&stage, "timeout = \"2s\"\n");
    terminal.until("approve, changes TEXT, reject?").types("appr");
    // A gate that nobody answered is another question, and nothing that was typed belongs to it.
    terminal.until("question 1 closed without an answer").until("gate approval timeout").until("resume?");
    assert!(!terminal.screen().contains("resume? appr"));
    terminal.types("\u{4}").exits(4);
    assert!(terminal.is_as_before());
}
