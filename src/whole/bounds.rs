use crate::drive::drive;
use crate::sim::{Cast, Dice, Sim};
use loop_core::bounds::{Bound, explore};
use loop_core::engine::{Effect, Ending, Event, Item, Opening, Rest};
use loop_core::workflow::model::Workflow;
use loop_core::workflow::preset;
use loop_core::workflow::resolve::{LayerSource, Layers, resolve};
use loop_store::run::{Memory, Run};
use std::fmt::Write;

/// Random workflows of the ordinary test run; the campaign multiplies them.
const WORKFLOWS: u64 = 1_000;

/// Runs of each.
const RUNS: u64 = 3;

fn read(text: &str) -> Workflow {
    let source = LayerSource { name: "workflow.toml".to_owned(), text: text.to_owned(), dir: None };
    let layers = Layers { project: Some(source), ..Layers::default() };
    resolve(&layers, &|_| Ok("work".to_owned())).unwrap_or_else(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{text}\n{}", problems.join("\n"))
    })
}

fn preset(name: &str) -> Workflow {
    read(&format!("extends = \"{name}\"\n"))
}

/// A workflow that `loop check` takes, of any shape.
fn any_workflow(dice: &mut Dice) -> String {
    let phases = 1 + dice.below(5);
    let mut text = String::new();
    let retries = dice.chance(25);
    let body = if dice.chance(35) {
        let first = dice.below(phases);
        Some((first, first + dice.below(phases - first)))
    } else {
        None
    };
    if dice.chance(40) {
        let _ = write!(text, "[limits]\niterations = {}\n", 1 + dice.below(30));
    } else {
        text.push_str("[limits]\n");
    }
    let _ = writeln!(text, "phase_iterations = {}", 1 + dice.below(6));
    if dice.chance(20) {
        let then = ["ask", "wait", "pause"][dice.below(3) as usize];
        let _ = writeln!(text, "window = {{ calls = {}, then = \"{then}\" }}", 1 + dice.below(9));
    }
    if retries {
        let _ = write!(text, "[retries]\nat_most = {}\n", 1 + dice.below(4));
        let _ = write!(text, "same_error = {}\ntotal = {}\n", 1 + dice.below(4), 1 + dice.below(8));
        let _ = writeln!(text, "reset_on_different = {}", dice.chance(70));
        if dice.chance(60) {
            text.push_str("with = \"mend\"\n");
        }
        if dice.chance(40) {
            let _ = writeln!(text, "backoff = {{ external = {{ tries = {} }} }}", 1 + dice.below(4));
        }
    }
    if body.is_some() {
        let from = if dice.chance(40) { "[\"a\", \"b\"]" } else { "\"command:list\"" };
        let _ = write!(text, "[items]\nname = \"part\"\nfrom = {from}\n");
    }
    if dice.chance(30) {
        text.push_str("[gates.look]\nask = \"Good?\"\n");
    }
    let gate = text.contains("[gates.look]");
    for phase in 0..phases {
        any_phase(dice, &mut text, phase, phases, body, gate, retries);
    }
    text
}

fn any_phase(
    dice: &mut Dice,
    text: &mut String,
    phase: u32,
    phases: u32,
    body: Option<(u32, u32)>,
    gate: bool,
    retries: bool,
) {
    let _ = write!(text, "[[phase]]\nname = \"P{phase}\"\nprompt = \"work\"\nclaims = [\"verdict\"]\n");
    if body.is_some_and(|(first, last)| (first..=last).contains(&phase)) {
        text.push_str("each = \"part\"\n");
    }
    if dice.chance(50) {
        text.push_str("checks = [\"tests\"]\n");
    }
    if 0 < phase && dice.chance(15) {
        let required = dice.chance(50);
        let _ = writeln!(
            text,
            "model = {{ of = [\"opus\", \"sonnet\"], other_than = \"P0\", required = {required} }}"
        );
    }
    if dice.chance(30) {
        let exit = ["commits_made > 0", "verdict == \"APPROVE\"", "iteration >= 1"][dice.below(3) as usize];
        let _ = writeln!(text, "exit = '{exit}'");
    }
    match dice.below(4) {
        0 => text.push_str("signal = \"none\"\n"),
        1 => text.push_str("report = \"none\"\n"),
        2 => text.push_str("report = \"exit-signal\"\nsignal = [\"TASK_COMPLETE\", \"PLAN_COMPLETE\"]\n"),
        _ => (),
    }
    if dice.chance(25) {
        text.push_str("progress = {}\n");
    }
    if dice.chance(40) {
        let keys = ["no_progress", "same_error", "failures"];
        let mut given = Vec::new();
        for key in keys {
            if dice.chance(60) {
                given.push(format!("{key} = {}", 1 + dice.below(3)));
            }
        }
        if dice.chance(30) {
            given.push("then = \"pivot\"".to_owned());
        }
        let _ = writeln!(text, "breaker = {{ {} }}", given.join(", "));
    }
    let has_skills = dice.chance(30);
    if has_skills {
        let skills =
            ["[\"one\"]", "[\"one\", \"two\"]", "[\"one\", \"two\", \"six\"]"][dice.below(3) as usize];
        let _ = writeln!(text, "skills = {skills}");
    }
    if retries && dice.chance(30) {
        text.push_str("retries = false\n");
    }
    if dice.chance(30) {
        text.push_str("counted = false\n");
    }
    if has_skills || dice.chance(20) {
        // A phase can always be left within its cap: three skills need three iterations.
        let _ = writeln!(text, "iterations = {}", 3 + dice.below(4));
    }
    if gate && dice.chance(30) {
        let gates = ["[\"look\"]", "[{ name = \"look\", when = \"touches_security\" }]"];
        let _ = writeln!(text, "gates = {}", gates[dice.below(2) as usize]);
    }
    if dice.chance(35) {
        let go = dice.below(phases);
        let back = ["direct", "full"][dice.below(2) as usize];
        let then = ["ask", "halt"][dice.below(2) as usize];
        let when = ["verdict == \"REJECT\"", "files_changed > 1"][dice.below(2) as usize];
        let _ = writeln!(
            text,
            "reject = {{ when = '{when}', go = \"P{go}\", at_most = {}, then = \"{then}\", back = \"{back}\" }}",
            1 + dice.below(3)
        );
    }
}

/// Plays a run in which nobody answers; questions that have a deadline are left until then. Returns
/// how many calls were judged, how many items were listed, and whether it stopped.
fn play(workflow: &Workflow, seed: u64, most: u64) -> (u64, u64, bool) {
    let mut sim = Sim::new(Cast::Dice(Dice::new(seed)));
    let items = match workflow.items.as_ref().map(|it| &it.from) {
        Some(loop_core::workflow::model::ItemSource::List(names)) => names.len() as u32,
        Some(_) => Dice::new(seed ^ 7).below(4),
        None => 0,
    };
    sim.items = (0..items).map(|it| Item::new(format!("item-{it}"), format!("item {it}"))).collect();
    let begun = std::rc::Rc::new(std::cell::Cell::new(0_u64));
    let seen = begun.clone();
    sim.watch = Some(Box::new(move |_, effect| {
        if matches!(effect, Effect::Work(_)) {
            seen.set(seen.get() + 1);
            // Refused calls are not counted, so there may be more; ten times as many there are not.
            assert!(seen.get() < 10 * most + 1_000, "the run does not rest");
        }
    }));
    let mut run = Run::simulated(workflow.clone(), Memory::default());
    run.record(sim.now, Event::Opened(Opening { criteria: Some(1), ..Opening::default() }));
    loop {
        match drive(&mut run, &mut sim).expect("nothing fails here") {
            Rest::Waiting(question) if question.deadline.is_some_and(|it| sim.now < it) => {
                sim.now = question.deadline.expect("it has one");
            }
            Rest::Waiting(_) | Rest::Held(_) | Rest::Closed(_) => break,
            Rest::Elsewhere => unreachable!("everything is played here"),
        }
    }
    let judged = run.state.iterations_total;
    let events = run.into_memory().events;
    let worked = events.iter().filter(|(_, event)| match event {
        Event::Ended(ended) => !matches!(
            ended.ending,
            Ending::Limited { .. } | Ending::Refused { .. } | Ending::Unreachable { .. }
        ),
        _ => false,
    });
    assert_eq!(worked.count() as u64, u64::from(judged), "seed {seed}");
    (u64::from(judged), u64::from(items), true)
}

#[test]
fn no_run_exceeds_the_bound_of_its_workflow() {
    let times: u64 = std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let (mut bounded, mut tight, mut refused, mut invalid) = (0, 0, 0, 0);
    for seed in 0..WORKFLOWS * times {
        let mut dice = Dice::new(seed ^ 0xb0b0_0000);
        let text = any_workflow(&mut dice);
        let source = LayerSource { name: "workflow.toml".to_owned(), text: text.clone(), dir: None };
        let layers = Layers { project: Some(source), ..Layers::default() };
        let Ok(workflow) = resolve(&layers, &|_| Ok("work".to_owned())) else {
            invalid += 1;
            continue;
        };
        let bounds = explore(&workflow);
        if !bounds.ends {
            refused += 1;
            continue;
        }
        bounded += 1;
        let most =
            bounds.calls.calls(3).unwrap_or_else(|| panic!("seed {seed}: ends without a bound\n{text}"));
        let mut reached = false;
        for run in 0..RUNS {
            let (calls, items, _) = play(&workflow, seed << 8 | run, most);
            let bound = bounds.calls.calls(items).expect("it is bounded");
            assert!(
                calls <= bound,
                "seed {seed}, run {run}: {calls} calls, bound {:?}\n{text}",
                bounds.calls
            );
            reached |= calls == bound;
        }
        tight += u64::from(reached);
    }
    println!("{bounded} bounded, {tight} reached their bound, {refused} refused, {invalid} invalid");
    let all = WORKFLOWS * times;
    assert!(bounded * 10 > all * 6, "too few workflows are bounded to show anything: {bounded} of {all}");
    assert!(tight * 20 > bounded, "the bounds are far from what happens: {tight} of {bounded} are reached");
}

#[test]
fn presets_end_and_say_after_how_many_calls() {
    let mut shown = String::new();
    for name in preset::names() {
        let bounds = explore(&preset(name));
        let _ = writeln!(shown, "{name}: ends {}, {}", bounds.ends, bounds.calls);
        for why in &bounds.why {
            let _ = writeln!(shown, "  {why}");
        }
    }
    insta::assert_snapshot!(shown);
}

const PHASE: &str = "prompt = \"work\"\nclaims = [\"verdict\"]\n";

#[test]
fn ways_back_that_renew_each_other_are_found() {
    // B's direct way back passes A as a whole, which forgets how often A has rejected: A sends to B, B
    // to A, and neither count ever gets to its end.
    let text = format!(
        "[[phase]]\nname = \"A\"\n{PHASE}reject = {{ when = 'verdict == \"X\"', go = \"B\", at_most = 1, back = \"direct\" }}\n\
         [[phase]]\nname = \"B\"\n{PHASE}reject = {{ when = 'verdict == \"X\"', go = \"A\", at_most = 1 }}\n"
    );
    let endless = explore(&read(&text));
    assert_eq!((endless.ends, endless.calls), (false, Bound::Unknown));
    let capped = explore(&read(&format!("[limits]\niterations = 9\n{text}")));
    assert_eq!((capped.ends, capped.calls), (true, Bound::AtMost(9)));
}

#[test]
fn each_thing_that_bounds_a_run_counts() {
    let of = |text: &str| explore(&read(text)).calls;
    let one = |keys: &str| of(&format!("[[phase]]\nname = \"A\"\n{PHASE}{keys}"));
    assert_eq!(one(""), Bound::AtMost(100), "the usual cap");
    assert_eq!(one("iterations = 7\n"), Bound::AtMost(7));
    assert_eq!(one("progress = {}\n"), Bound::AtMost(3), "no progress is possible");
    assert_eq!(one("progress = {}\nbreaker = { no_progress = 4, then = \"pivot\" }\n"), Bound::AtMost(5));
    assert_eq!(one("signal = \"none\"\nbreaker = { failures = 2 }\n"), Bound::AtMost(2));
    assert_eq!(
        one("progress = {}\nreport = \"exit-signal\"\niterations = 9\n"),
        Bound::AtMost(9),
        "checkpoints that an autonomous run settles itself feed no breaker"
    );
    let items = |from: &str| {
        of(&format!(
            "[items]\nname = \"part\"\nfrom = {from}\n[[phase]]\nname = \"A\"\n{PHASE}each = \"part\"\niterations = 4\n"
        ))
    };
    assert_eq!(items("[\"a\", \"b\"]"), Bound::AtMost(8));
    assert_eq!(items("\"command:list\""), Bound::PerItem { once: 0, each: 4 });
    let back = |back: &str| {
        of(&format!(
            "[limits]\nphase_iterations = 2\n[[phase]]\nname = \"A\"\n{PHASE}[[phase]]\nname = \"B\"\n{PHASE}[[phase]]\nname = \"C\"\n{PHASE}\
             reject = {{ when = 'verdict == \"X\"', go = \"A\", at_most = 2, back = \"{back}\" }}\n"
        ))
    };
    assert_eq!(back("full"), Bound::AtMost(3 * 6));
    assert_eq!(back("direct"), Bound::AtMost(6 + 2 * 4));
}
