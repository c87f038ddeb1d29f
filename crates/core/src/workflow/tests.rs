use super::completion;
use super::model::{
    BreakerLimits, Check, Fact, Next, Phase, Progress, Protocol, Signal, SignalWord, Window, WindowThen,
    Workflow,
};
use super::preset;
use super::problem::Problem;
use super::resolve::{LayerSource, Layers, Overrides, parse_length, resolve};
use crate::proof::CountFormat;
use std::path::Path;

pub(super) fn no_files(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some("found.md") => Ok("Work on {{ input }}".to_owned()),
        Some("broken.md") => Ok("one\n{% if %}\n".to_owned()),
        Some(_) | None => Err("no such file".to_owned()),
    }
}

pub(super) fn project(text: &str) -> Layers {
    let source = LayerSource { name: "workflow.toml".to_owned(), text: text.to_owned(), dir: None };
    Layers { project: Some(source), ..Layers::default() }
}

pub(super) fn resolved(layers: &Layers) -> Workflow {
    resolve(layers, &no_files).unwrap_or_else(|problems| panic!("{}", printed(&problems)))
}

pub(super) fn printed(problems: &[Problem]) -> String {
    problems.iter().map(|it| format!("{it}\n")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_preset_resolves() {
    for preset in &preset::ALL {
        let layers = Layers { preset: Some(preset.name.to_uppercase()), ..Layers::default() };
        let mut workflow = resolved(&layers);
        assert_eq!(workflow.name, preset.name);
        // The texts of prompts have their own life; here only that each phase and skill has one.
        for phase in &mut workflow.phases {
            phase.prompt = format!("{} lines", phase.prompt.lines().count());
        }
        for prompt in workflow.skills.values_mut().filter_map(|it| it.prompt.as_mut()) {
            *prompt = format!("{} lines", prompt.lines().count());
        }
        let shown = serde_json::to_string_pretty(&workflow).expect("a workflow serialises");
        insta::assert_snapshot!(format!("preset_{}", preset.name), shown);
    }
}

/// Every file of the corpus is broken in its own way; what people get to see is kept beside it.
#[test]
fn every_broken_workflow_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/workflows");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let path = entry.expect("the corpus can be listed").path();
        if path.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(&path).expect("the corpus is text");
        let stem = path.file_stem().and_then(|it| it.to_str()).expect("names are plain").to_owned();
        let Err(problems) = resolve(&project(&text), &no_files) else { panic!("{stem} is not broken") };
        let settings = {
            let mut it = insta::Settings::clone_current();
            it.set_snapshot_path("../../../../tests/corpus/workflows");
            it.set_prepend_module_to_snapshot(false);
            it.set_omit_expression(true);
            it
        };
        settings.bind(|| insta::assert_snapshot!(stem, printed(&problems)));
    }
    assert!(count >= 60, "{count} files are too few to be the corpus");
}

const WORK: &str = "[[phase]]\nname = \"WORK\"\nprompt = \"work\"\n";

fn text_source(name: &str, text: &str) -> Option<LayerSource> {
    Some(LayerSource { name: name.to_owned(), text: text.to_owned(), dir: None })
}

fn phase<'a>(workflow: &'a Workflow, name: &str) -> &'a Phase {
    workflow.phases.iter().find(|it| it.name == name).expect(name)
}

fn names(workflow: &Workflow) -> Vec<&str> {
    workflow.phases.iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn a_file_of_two_phases_and_a_gate_needs_no_preset() {
    let workflow = resolved(&project(
        r#"
        [[phase]]
        name = "BUILD"
        prompt = "build it"
        checks = ["unit"]
        exit = "tests_failing == 0"
        gates = ["approval"]

        [[phase]]
        name = "POLISH"
        prompt_file = "found.md"
        signal = "none"

        [checks.unit]
        run = "make test"

        [gates.approval]
        ask = "Good?"
        "#,
    ));
    let shown = serde_json::to_string_pretty(&workflow).expect("a workflow serialises");
    insta::assert_snapshot!(shown);
    let read: Workflow = serde_json::from_str(&shown).expect("a copy in the run can be read again");
    assert_eq!(read, workflow);
}

#[test]
fn later_layers_win_key_by_key() {
    let layers = Layers {
        user: text_source(
            "config.toml",
            "[agent]\nmodel = \"user\"\ntimeout = \"1h\"\n[limits]\nusd = 5\n[notify]\nrun = \"user\"\n",
        ),
        overrides: Overrides {
            model: Some("flag".to_owned()),
            agent_args: Some(vec!["fake-agent".to_owned(), "--fast".to_owned()]),
            max: Some(7),
            time: Some(60_000),
            calls_per_hour: Some(3),
            checks: vec![("tests".to_owned(), "make check".to_owned())],
            ..Overrides::default()
        },
        ..project(
            r#"
            extends = "TDD"
            name = "ours"
            [agent]
            model = "project"
            idle_timeout = "1m"
            [limits]
            window = { then = "wait" }
            [notify]
            run = "project"
            [[phase]]
            name = "GREEN"
            breaker = { no_progress = 9 }
            checks = ["tests"]
            prompt = "make it pass"
            "#,
        )
    };
    let workflow = resolved(&layers);
    assert_eq!(workflow.name, "ours");
    assert_eq!(workflow.agent.cli.name(), "command");
    assert_eq!(workflow.agent.args, ["fake-agent", "--fast"]);
    assert_eq!(workflow.agent.model.as_deref(), Some("flag"));
    assert_eq!(workflow.agent.timeout, 3_600_000);
    assert_eq!(workflow.agent.idle_timeout, 60_000);
    assert_eq!(workflow.limits.usd, Some(5.0));
    assert_eq!(workflow.limits.iterations, Some(7));
    assert_eq!(workflow.limits.time, Some(60_000));
    assert_eq!(workflow.limits.window, Some(Window { calls: 3, every: 3_600_000, then: WindowThen::Wait }));
    assert_eq!(workflow.notify.as_deref(), Some("project"));
    assert_eq!(workflow.checks["tests"].run.as_deref(), Some("make check"));
    assert_eq!(workflow.checks["tests"].repeat, 2, "a flag changes only the command");
    let green = phase(&workflow, "GREEN");
    assert_eq!(green.checks, ["tests"], "lists replace");
    assert_eq!((green.breaker.no_progress, green.breaker.same_error), (Some(9), Some(3)));
    assert_eq!(green.prompt, "make it pass", "a file's own prompt replaces the preset's file");
    assert_eq!(green.weight, 45);
}

#[test]
fn a_preset_by_flag_keeps_agent_checks_limits_and_notify() {
    let layers = Layers {
        preset: Some("ralph".to_owned()),
        ..project(
            r#"
            name = "ours"
            extends = "tdd"
            mode = "loud"
            [agent]
            model = "haiku"
            report = "json"
            signal = "done"
            [checks.tests]
            run = "make test"
            [limits]
            usd = 2.5
            [notify]
            run = "ring"
            [modes.loud]
            [mirror]
            off = true
            [[phase]]
            name = "MINE"
            after = "QA"
            prompt = "x"
            "#,
        )
    };
    let workflow = resolved(&layers);
    assert_eq!(names(&workflow), ["WORK"]);
    assert_eq!((&workflow.phases[0].report, &workflow.phases[0].signal), (&Protocol::Promise, &Signal::Own));
    assert_eq!((workflow.name.as_str(), workflow.mode.as_ref()), ("ralph", None));
    assert_eq!(workflow.agent.model.as_deref(), Some("haiku"));
    assert_eq!(workflow.checks["tests"].run.as_deref(), Some("make test"));
    assert_eq!((workflow.limits.usd, workflow.limits.iterations), (Some(2.5), Some(25)));
    assert_eq!(workflow.notify.as_deref(), Some("ring"));
    assert!(!workflow.mirror.off);
}

#[test]
fn phases_are_added_moved_and_removed() {
    let workflow = resolved(&project(
        r#"
        extends = "tdd"
        [[phase]]
        name = "LINT"
        after = "GREEN"
        prompt = "lint"
        [[phase]]
        name = "TYPES"
        after = "GREEN"
        prompt = "types"
        [[phase]]
        name = "REFACTOR"
        off = true
        [[phase]]
        name = "RED"
        weight = 20
        "#,
    ));
    assert_eq!(names(&workflow), ["RED", "GREEN", "LINT", "TYPES", "DOCUMENT", "QA"]);
    assert_eq!(phase(&workflow, "LINT").weight, (20 + 45 + 15 + 15) / 4);
    assert_eq!(phase(&workflow, "RED").weight, 20);
    assert_eq!(phase(&workflow, "QA").reject.as_ref().map(|it| it.go), Some(1));
    assert_eq!(phase(&workflow, "TYPES").next, Next::Phase(4));
    assert_eq!(phase(&workflow, "QA").next, Next::Done);
}

#[test]
fn a_completion_row_without_its_phase_does_not_apply() {
    let workflow = resolved(&project(
        r#"
        extends = "engineering"
        [[phase]]
        name = "DOCUMENT"
        off = true
        [[phase]]
        name = "VALIDATE"
        skills = ["code-validation"]
        "#,
    ));
    let rows = completion::rows(&workflow);
    let of = |stage: &str| rows.iter().filter(|it| it.stage == stage).map(|it| it.phase).collect::<Vec<_>>();
    assert_eq!((of("DOCUMENT"), of("REVIEW")), (vec![None], vec![Some(6)]));
    assert_eq!(of("VALIDATE"), [Some(5); 3]);
}

#[test]
fn a_stored_workflow_without_completion_rows_gets_those_of_the_presets() {
    let of = |name: &str| resolved(&Layers { preset: Some(name.to_owned()), ..Layers::default() });
    let today = of("engineering");
    let mut stored = serde_json::to_value(&today).expect("a workflow serialises");
    assert!(stored.as_object_mut().is_some_and(|it| it.remove("complete").is_some()));
    let older: Workflow = serde_json::from_value(stored.clone()).expect("an older program wrote it");
    assert_eq!(completion::rows(&older), completion::rows(&today));
    assert_eq!(completion::rows(&today).len(), 7);
    assert_eq!(serde_json::to_value(&older).expect("it serialises"), stored, "its hash stays");
    assert_eq!(completion::rows(&of("tdd")).len(), 0);
}

#[test]
fn the_user_configuration_holds_only_what_suits_every_project() {
    let layers = Layers {
        user: text_source("config.toml", "[checks.tests]\nrun = \"x\"\n[agent]\nmodle = \"x\"\n"),
        preset: Some("ralph".to_owned()),
        ..Layers::default()
    };
    let problems = resolve(&layers, &no_files).expect_err("refused");
    insta::assert_snapshot!(printed(&problems));
}

#[test]
fn flags_are_refused_without_a_place() {
    let layers = Layers {
        preset: Some("tdd".to_owned()),
        overrides: Overrides {
            agent: Some("cluade".to_owned()),
            mode: Some("hybrid".to_owned()),
            max: Some(0),
            usd: Some(f64::NAN),
            checks: vec![("my-check".to_owned(), "x".to_owned())],
            ..Overrides::default()
        },
        ..Layers::default()
    };
    let problems = resolve(&layers, &no_files).expect_err("refused");
    insta::assert_snapshot!(printed(&problems));
    let unknown = Layers { preset: Some("rlaph".to_owned()), ..Layers::default() };
    assert_eq!(
        printed(&resolve(&unknown, &no_files).expect_err("refused")),
        "workflow: there is no preset \"rlaph\"\n  help: did you mean \"ralph\"?\n"
    );
    let nothing = resolve(&Layers::default(), &no_files).expect_err("refused");
    assert_eq!(printed(&nothing), "workflow: there is no workflow\n  help: loop setup, or --preset NAME\n");
}

#[test]
fn a_check_given_by_flag_runs_wherever_checks_run() {
    let given = |preset: &str, check: &str| {
        let overrides =
            Overrides { checks: vec![(check.to_owned(), "true".to_owned())], ..Overrides::default() };
        let workflow = resolved(&Layers { preset: Some(preset.to_owned()), overrides, ..Layers::default() });
        let runs = |it: &&Phase| it.checks.iter().any(|it| it == check);
        workflow.phases.iter().filter(runs).map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(given("tdd", "smoke"), ["GREEN", "REFACTOR", "DOCUMENT", "QA"]);
    assert_eq!(given("engineering", "lint"), ["VERIFY"], "a check that a phase names stays there");
    assert_eq!(given("plan", "smoke"), ["EXECUTE"]);
}

#[test]
fn only_checks_whose_counts_are_needed_must_count() {
    let must_count = |text: &str| {
        let workflow = resolved(&project(text));
        let row = |(name, it): (String, Check)| (name, it.counts.map(CountFormat::word), it.must_count);
        let it: Vec<_> = workflow.checks.into_iter().map(row).collect();
        format!("{it:?}")
    };
    let checks = "[checks.unit]\nrun = \"a\"\n[checks.e2e]\nrun = \"b\"\ncounts = \"jest\"\n";
    assert_eq!(
        must_count(&format!("{WORK}checks = [\"tests\", \"lint\"]\nexit = \"checks_failing == 0\"\n")),
        r#"[("lint", None, false), ("tests", Some("auto"), false)]"#
    );
    assert_eq!(
        must_count(&format!("{WORK}checks = [\"tests\", \"build\"]\nexit = \"tests_total > 2\"\n")),
        r#"[("build", None, false), ("tests", Some("auto"), true)]"#
    );
    assert_eq!(
        must_count(&format!("{WORK}checks = [\"unit\", \"e2e\"]\nexit = \"unit_failing == 0\"\n{checks}")),
        r#"[("e2e", Some("jest"), true), ("unit", Some("auto"), true)]"#
    );
    assert_eq!(
        must_count(&format!("{WORK}checks = [\"unit\", \"build\"]\nexit = \"tests_passing > 0\"\n{checks}")),
        r#"[("build", None, false), ("e2e", Some("jest"), true), ("unit", Some("auto"), true)]"#
    );
}

#[test]
fn defaults_depend_on_what_is_said() {
    let text = r#"
        [retries]
        [agent]
        signal = "done"
        [[phase]]
        name = "A"
        prompt = "x"
        [[phase]]
        name = "B"
        prompt = "x"
        retries = false
        report = { frontmatter = "*.md" }
        [[phase]]
        name = "C"
        prompt = "x"
        report = "promise"
        signal = "own"
        breaker = { failures = 2, then = "pivot" }
        progress = { up = ["iteration"] }
        gates = ["g"]
        [gates.g]
        when = "touches_security"
        "#;
    let workflow = resolved(&project(text));
    let off = BreakerLimits::default();
    let usual = BreakerLimits { no_progress: Some(3), same_error: Some(5), ..BreakerLimits::default() };
    let pivot = BreakerLimits { failures: Some(2), pivot: true, ..BreakerLimits::default() };
    let said: Vec<_> = workflow.phases.iter().map(|it| (it.breaker.clone(), it.signal.clone())).collect();
    let done = Signal::Words(vec![SignalWord::Done]);
    assert_eq!(said, [(off, done), (usual, Signal::None), (pivot, Signal::Own)]);
    assert_eq!(
        phase(&workflow, "C").progress,
        Progress { up: vec!["iteration".to_owned()], down: Vec::new() }
    );
    let usual_progress = Progress {
        up: ["commits_made", "files_changed", "tests_passing"].map(str::to_owned).to_vec(),
        down: ["tests_failing", "checks_failing"].map(str::to_owned).to_vec(),
    };
    assert_eq!(phase(&workflow, "A").progress, usual_progress);
    assert!(
        matches!(workflow.facts.get("touches_security"), Some(Fact::Diff(_))),
        "a standard fact comes by itself where a condition uses it"
    );
    assert_eq!(workflow.facts.len(), 1);
}

#[test]
fn lengths_of_time() {
    let read = |text: &str| parse_length(text);
    assert_eq!(read("500ms"), Ok(500));
    assert_eq!(read("90s"), Ok(90_000));
    assert_eq!(read(" 45 m "), Ok(45 * 60_000));
    assert_eq!(read("2h"), Ok(7_200_000));
    assert_eq!(read("1d"), Ok(86_400_000));
    assert_eq!(read("1h30m"), Ok(5_400_000));
    assert_eq!(read("1h 30m"), Ok(5_400_000));
    for text in
        ["", "5", "m", "-5m", "1.5h", "1h30", "m1h", "0s", "9999999999999999999999d", "400d", "5M", "٣m"]
    {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn the_reference_describes_every_key() {
    for (title, about, keys) in super::file::reference() {
        assert!(!title.is_empty() && !about.is_empty());
        for key in keys {
            let text = key.about.join(" ");
            assert!(text.trim_end().ends_with('.'), "{title} {} is a sentence: {text}", key.name);
        }
    }
    let words: Vec<String> = super::file::reference()
        .into_iter()
        .map(|(title, _, keys)| {
            let keys: Vec<&str> = keys.iter().map(|it| it.name).collect();
            format!("{title}: {}", keys.join(" "))
        })
        .collect();
    insta::assert_snapshot!(words.join("\n"));
}

#[test]
fn prompts_of_presets_render() {
    for preset in &preset::ALL {
        for (path, text) in preset.prompts {
            let environment = minijinja::Environment::new();
            let bare = environment.render_str(text, minijinja::context! { input => "DESIGN-1.md" });
            let full = environment.render_str(
                text,
                minijinja::context! {
                    input => "DESIGN-1.md", phase => "WORK", iteration => 3, promise => "FEATURE_COMPLETE",
                    feedback => "two tests fail", guidance => "use the parser", deliverables => ["a.md"],
                    item => "login", skill => "spec", skill_about => "write it", max => 25,
                },
            );
            let full = full.unwrap_or_else(|it| panic!("{} {path}: {it}", preset.name));
            assert!(bare.is_ok(), "{} {path} renders without what may be missing", preset.name);
            assert!(full.contains("DESIGN-1.md") && full.contains("two tests fail"), "{path}: {full}");
            assert!(full.contains("use the parser") && !full.contains("{{"), "{path}: {full}");
        }
    }
    let work = preset::find("ralph").expect("there").prompts[0].1;
    assert!((50..=80).contains(&work.lines().count()), "the prompt is short: {}", work.lines().count());
    assert!(work.contains("\n<promise>{{ promise }}</promise>\n"));
}

#[test]
fn a_preset_copied_into_the_project_means_the_same() {
    for preset in &preset::ALL {
        let read = |path: &Path| {
            let found = preset.prompts.iter().find(|it| Path::new(it.0) == path);
            found.map(|it| it.1.to_owned()).ok_or_else(|| "no such file".to_owned())
        };
        let copied = resolve(&project(preset.text), &read).unwrap_or_else(|it| panic!("{}", printed(&it)));
        let mut built_in = resolved(&Layers { preset: Some(preset.name.to_owned()), ..Layers::default() });
        // The models of a copy are the user's own.
        built_in.models.presets.clear();
        assert_eq!(copied, built_in);
    }
}

#[test]
fn a_check_given_by_flag_has_to_run_somewhere() {
    let given = |text: &str, check: &str| {
        let overrides =
            Overrides { checks: vec![(check.to_owned(), "true".to_owned())], ..Overrides::default() };
        let layers = Layers { overrides, ..project(text) };
        resolve(&layers, &no_files).map(|_| ()).map_err(|it| printed(&it))
    };
    let mistyped = "command line: no phase runs a check \"test\"\n  help: did you mean \"tests\"?\n";
    assert_eq!(given(&format!("{WORK}checks = [\"tests\"]\n"), "test"), Err(mistyped.to_owned()));
    let nowhere = "command line: no phase of this workflow runs checks, so \"smoke\" would never be run\n  \
                   help: write checks = [\"smoke\"] in a phase\n";
    assert_eq!(given(WORK, "smoke"), Err(nowhere.to_owned()));
    assert_eq!(given(&format!("{WORK}checks = [\"tests\"]\n"), "smoke"), Ok(()));
}

/// Names that prompts of presets may use and that are filled where the run knows them.
const SOMETIMES: [&str; 1] = ["context"];

#[test]
fn every_name_of_a_prompt_is_supplied() {
    let mut workflow = resolved(&project(WORK));
    let names = super::template::NAMES.iter().map(|it| it.0).filter(|it| !SOMETIMES.contains(it));
    let names: Vec<&str> = names.collect();
    workflow.phases[0].prompt =
        names.iter().map(|it| format!("{{% if {it} is undefined %}}{it} {{% endif %}}")).collect();
    let state = crate::engine::State::new(&workflow);
    let call = crate::engine::Call {
        number: 1,
        attempt: 1,
        phase: 0,
        iteration: 1,
        step: crate::engine::Step::Main,
        item: None,
        model: None,
        other_model: None,
        epoch: 1,
        unstarted: None,
    };
    let text = crate::prompt::render(&workflow, &state, &call, "");
    let missing: Vec<&&str> = names
        .iter()
        .filter(|it| text.lines().next().is_some_and(|line| line.split(' ').any(|word| word == **it)))
        .collect();
    assert!(missing.is_empty(), "nothing supplies {missing:?}:\n{text}");
}
