//! `setup`, `check`, `presets` and `simulate` as a person meets them: the real binary in a folder of
//! its own.

use loop_harness::Sandbox;
use serde_json::{Value, json};
use std::path::PathBuf;

struct Folder(Sandbox);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let mut sandbox = Sandbox::empty();
        sandbox.variables.push(("PATH", sandbox.path("no-programs").into()));
        std::fs::create_dir(sandbox.project.join(".git")).expect("a folder");
        for (path, text) in files {
            sandbox.write(path, text);
        }
        Folder(sandbox)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.project.join(path)
    }

    fn read(&self, path: &str) -> String {
        self.0.read(path)
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let done = self.0.run(arguments);
        (done.code, done.out, done.err)
    }
}

const CARGO: (&str, &str) = ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n");

#[test]
fn setup_writes_a_few_lines_that_check_takes() {
    let folder = Folder::new(&[CARGO]);
    let (code, written, _) = folder.run(&["setup", "tdd", "--agent", "claude"]);
    assert_eq!((code, written.as_str()), (0, ".loop/workflow.toml\n"));
    assert_eq!(
        folder.read(".loop/workflow.toml"),
        "# What this project changes of the preset. All of it: loop presets show tdd\n\
         extends = \"tdd\"\n\n\
         [agent]\ncli = \"claude\"\n\n\
         [checks.build]\nrun = \"cargo build\"  # found in Cargo.toml\n\n\
         [checks.tests]\nrun = \"cargo test --no-fail-fast\"  # found in Cargo.toml\n"
    );
    let (code, said, _) = folder.run(&["check", "-q"]);
    assert_eq!(code, 0);
    assert_eq!(
        said,
        "tdd has no mistakes: Red, green, refactor, document, QA\n\
         RED -> GREEN -> REFACTOR -> DOCUMENT -> QA [back to GREEN] -> done\n\
         it ends or asks a person after at most 1300 agent calls\n"
    );
}

#[test]
fn setup_never_overwrites() {
    for arguments in [&["setup", "ralph"][..], &["setup", "tdd", "--full"], &["setup", "plan"]] {
        let folder = Folder::new(&[(".loop/workflow.toml", "mine")]);
        let (code, _, said) = folder.run(arguments);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(".loop/workflow.toml already exists"), "{said}");
        assert_eq!(folder.read(".loop/workflow.toml"), "mine");
        assert!(!folder.path(".loop/prompts").exists(), "all or nothing");
        assert!(!folder.path(".planning").exists(), "all or nothing");
    }
}

#[test]
fn a_full_copy_means_the_same_as_the_preset() {
    for (preset, files) in [("tdd", 6), ("engineering", 3), ("plan", 6), ("ralph", 2)] {
        let folder = Folder::new(&[]);
        let (code, written, said) = folder.run(&["setup", preset, "--full"]);
        assert_eq!((code, written.lines().count()), (0, files), "{written}{said}");
        let copied = folder.run(&["check", "--json"]);
        assert_eq!(copied, Folder::new(&[]).run(&["check", "--preset", preset, "--json"]));
    }
}

#[test]
fn lp37_setup_plan_adds_to_the_planning_folder() {
    let config = "{\n  \"mode\": \"yolo\",\n  \"depth\": {\"of\": 3}\n}\n";
    let folder = Folder::new(&[CARGO, (".planning/config.json", config)]);
    let (code, written, said) = folder.run(&["setup", "plan"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(written, ".loop/workflow.toml\n.planning/config.json\n.planning/LEARNINGS.md\n");
    let text = folder.read(".planning/config.json");
    assert!(
        text.starts_with("{\n  \"mode\": \"yolo\",\n  \"depth\": {\"of\": 3},\n"),
        "nothing moved: {text}"
    );
    let read: Value = serde_json::from_str(&text).expect("it is JSON");
    let commands = json!(["cargo build", "cargo test --no-fail-fast"]);
    let section = json!({
        "enabled": true, "max_iterations": 50, "stuck_threshold": 3, "parallel_waves": false,
        "validation_commands": commands,
    });
    assert_eq!(read, json!({ "mode": "yolo", "depth": { "of": 3 }, "loop": section }));
    let learnings = folder.read(".planning/LEARNINGS.md");
    for heading in
        ["Validation Commands", "Patterns", "Constraints", "Session Decisions", "Discovered Issues"]
    {
        assert!(learnings.contains(&format!("\n## {heading}\n")), "{heading} is missing");
    }
    assert!(learnings.contains("cargo build\ncargo test --no-fail-fast\n"));
}

/// The hint of a run that misses LEARNINGS.md works also where the workflow is set up already.
#[test]
fn setup_plan_adds_what_is_missing_and_names_the_phase_to_run() {
    let plan = (".planning/phases/03-a/03-01-PLAN.md", "- [ ] one\n");
    let roadmap = (".planning/ROADMAP.md", "### Phase 3: A\n");
    let folder = Folder::new(&[(".loop/workflow.toml", "extends = \"plan\"\n"), roadmap, plan]);
    let (code, written, said) = folder.run(&["setup", "plan"]);
    assert_eq!((code, written.as_str()), (0, ".planning/config.json\n.planning/LEARNINGS.md\n"), "{said}");
    assert!(said.ends_with("next: loop run 3\n"), "{said}");
    assert_eq!(folder.read(".loop/workflow.toml"), "extends = \"plan\"\n");
    assert_eq!(folder.run(&["setup", "plan"]).0, 2, "nothing is missing any more");
    let empty = Folder::new(&[CARGO]);
    let (code, _, said) = empty.run(&["setup", "plan"]);
    assert!(code == 0 && said.contains("help: write .planning/ROADMAP.md"), "{said}");
}

#[test]
fn setup_plan_keeps_what_a_person_configured() {
    let config = r#"{"loop": {"max_iterations": 7, "validation_commands": ["make"]}, "a": 1}"#;
    let folder = Folder::new(&[CARGO, (".planning/config.json", config), (".planning/LEARNINGS.md", "mine")]);
    assert_eq!(folder.run(&["setup", "plan"]).0, 0);
    let read: Value = serde_json::from_str(&folder.read(".planning/config.json")).expect("it is JSON");
    assert_eq!(read["a"], 1);
    assert_eq!(
        read["loop"],
        json!({
            "enabled": true, "max_iterations": 7, "stuck_threshold": 3, "parallel_waves": false,
            "validation_commands": ["make"],
        })
    );
    assert_eq!(folder.read(".planning/LEARNINGS.md"), "mine");
    let broken = Folder::new(&[(".planning/config.json", "{ no json")]);
    let (code, _, said) = broken.run(&["setup", "plan"]);
    assert_eq!(code, 2, "{said}");
    assert_eq!(broken.read(".planning/config.json"), "{ no json");
    assert!(!broken.path(".loop").exists(), "all or nothing");
}

/// Whatever the file looks like, it is the old one with lines put in.
#[test]
fn setup_plan_keeps_every_other_byte_of_the_configuration() {
    let odd = [
        "{\"z\":1 ,\r\n\t\"loop\" : {\"max_iterations\":7 }  , \"a\" :[ 1,2 ]}",
        "\u{feff}{\n    \"loop\": {\n        \"enabled\": true,\n        \"note\": \"a } in a text\"\n    },\n    \"x\": 1e3\n}",
        "{\"loop\":{}}\n\n",
        "{ }",
        "{\n\t\"mode\": \"yolo\", \"workflow\": {\"verifier\": true}\n}\n",
    ];
    for before in odd {
        let folder = Folder::new(&[CARGO, (".planning/config.json", before)]);
        let (code, _, said) = folder.run(&["setup", "plan"]);
        assert_eq!(code, 0, "{before}: {said}");
        let after = folder.read(".planning/config.json");
        let added = after.len() - before.len();
        let kept = (0..=before.len())
            .filter(|it| before.is_char_boundary(*it))
            .any(|at| after.starts_with(&before[..at]) && after.ends_with(&before[at..]) && 0 < added);
        assert!(kept, "{before}\nbecame\n{after}");
        let read: Value = serde_json::from_str(after.trim_start_matches('\u{feff}')).expect("it is JSON");
        assert_eq!(
            (&read["loop"]["stuck_threshold"], &read["loop"]["parallel_waves"]),
            (&json!(3), &json!(false))
        );
        std::fs::remove_dir_all(folder.path(".loop")).expect("it was written");
        assert_eq!(folder.run(&["setup", "plan"]).0, 0);
        assert_eq!(folder.read(".planning/config.json"), after, "a second time adds nothing");
    }
}

/// New keys stand like those that are there: tabs, four spaces, and the ends of line of another system.
#[test]
fn setup_plan_follows_the_indentation_of_the_configuration() {
    for (level, newline) in [("\t", "\n"), ("    ", "\n"), ("  ", "\r\n")] {
        let lines = ["{", "@\"a\": 1,", "@\"loop\": {", "@@\"max_iterations\": 7", "@}", "}", ""];
        let config = lines.join(newline).replace('@', level);
        let folder = Folder::new(&[CARGO, (".planning/config.json", &config)]);
        assert_eq!(folder.run(&["setup", "plan"]).0, 0);
        let text = folder.read(".planning/config.json");
        let line = format!("7,{newline}{level}{level}\"enabled\": true,{newline}{level}{level}\"");
        assert!(text.contains(&line), "{text:?}");
        let bare = ["{", "@\"a\": 1", "}", ""].join(newline).replace('@', level);
        let folder = Folder::new(&[CARGO, (".planning/config.json", &bare)]);
        assert_eq!(folder.run(&["setup", "plan"]).0, 0);
        let text = folder.read(".planning/config.json");
        let line = format!("{newline}{level}\"loop\": {{{newline}{level}{level}\"enabled\": true,{newline}");
        assert!(text.contains(&line), "{text:?}");
    }
}

#[test]
fn setup_plan_leaves_the_commands_of_the_learnings_in_force() {
    let learned = "## Validation Commands\n\n```sh\nmake check\n```\n";
    let folder = Folder::new(&[CARGO, (".planning/LEARNINGS.md", learned)]);
    assert_eq!(folder.run(&["setup", "plan"]).0, 0);
    let read: Value = serde_json::from_str(&folder.read(".planning/config.json")).expect("it is JSON");
    assert_eq!(read["loop"]["validation_commands"], json!([]));
}

#[test]
fn setup_refuses_what_would_be_no_workflow() {
    let folder = Folder::new(&[]);
    for arguments in [&["setup", "tddd"][..], &["setup", "tdd", "--agent", "cluade"]] {
        let (code, _, said) = folder.run(arguments);
        assert_eq!(code, 2, "{said}");
    }
    assert!(!folder.path(".loop").exists());
}

#[test]
fn check_says_everything_at_once() {
    let text = "extends = \"tdd\"\n[agent]\nmodle = \"x\"\n[[phase]]\nname = \"GREEN\"\nexit = \"tests_faling == 0\"\n";
    let folder = Folder::new(&[("mine.toml", text)]);
    let (code, out, said) = folder.run(&["check", "mine.toml"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        said,
        "mine.toml:3:1: [agent] has no key \"modle\"\n  |\n3 | modle = \"x\"\n  | ^^^^^\n  help: did you mean \"model\"?\n\n\
         mine.toml:6:9: nothing supplies \"tests_faling\" in this phase\n  |\n6 | exit = \"tests_faling == 0\"\n  |         \
         ^^^^^^^^^^^^\n  help: did you mean \"tests_failing\"?\n\n\
         loop: the workflow has 2 mistakes\n"
    );
    let (code, out, _) = folder.run(&["check", "mine.toml", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!((code, &shown["ok"], shown["problems"].as_array().map(Vec::len)), (2, &json!(false), Some(2)));
    assert_eq!(folder.run(&["check"]).0, 2, "there is no workflow here");
    assert_eq!(folder.run(&["check", "none.toml"]).0, 2);
}

#[test]
fn check_refuses_what_may_never_end() {
    let phase = |name: &str, go: &str, back: &str| {
        format!(
            "[[phase]]\nname = \"{name}\"\nprompt = \"x\"\n\
             reject = {{ when = 'verdict == \"NO\"', go = \"{go}\", at_most = 1, back = \"{back}\" }}\n"
        )
    };
    let text = phase("A", "B", "direct") + &phase("B", "A", "full");
    let folder =
        Folder::new(&[("mine.toml", &text), ("capped.toml", &format!("[limits]\niterations = 9\n{text}"))]);
    let (code, _, said) = folder.run(&["check", "mine.toml"]);
    assert_eq!(code, 2);
    assert!(said.contains("may never end"), "{said}");
    assert_eq!(folder.run(&["check", "capped.toml"]).0, 0);
    assert_eq!(folder.run(&["simulate", "mine.toml"]).0, 2, "and it is not played");
}

#[test]
fn presets_are_listed_and_shown() {
    let folder = Folder::new(&[]);
    let (code, out, _) = folder.run(&["presets", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("it is JSON");
    let names: Vec<&str> =
        shown.as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!((code, names), (0, vec!["tdd", "engineering", "plan", "ralph"]));
    let (code, out, _) = folder.run(&["presets", "show", "RALPH"]);
    assert_eq!(code, 0);
    assert!(out.contains("name  = \"ralph\"\n") && !out.contains("prompts/work.md\n\n"), "{out}");
    let (code, _, said) = folder.run(&["presets", "show", "rlaph"]);
    assert_eq!(code, 2);
    assert!(said.contains("tdd, engineering, plan, ralph"), "{said}");
}

#[test]
fn without_a_seed_a_preset_is_played_to_its_end() {
    let folder = Folder::new(&[]);
    for preset in ["ralph", "tdd", "plan"] {
        let (code, journal, _) = folder.run(&["simulate", "--preset", preset]);
        assert!(code == 0 && journal.contains("\n= completed"), "{preset}: {journal}");
    }
}

#[test]
fn the_same_seed_shows_the_same_way() {
    let folder = Folder::new(&[]);
    let one = folder.run(&["simulate", "--preset", "plan", "--seed", "4"]);
    assert_eq!(one.0, 0, "{}", one.2);
    assert_eq!(one, folder.run(&["simulate", "--preset", "plan", "--seed", "4"]));
    assert_ne!(one.1, folder.run(&["simulate", "--preset", "plan", "--seed", "5"]).1);
    assert!(one.1.contains("EXECUTE, item 1: call 1 begins"), "{}", one.1);
}

#[test]
fn a_story_that_does_not_fit_is_refused_with_its_line() {
    let folder =
        Folder::new(&[("x.story", "workflow ralph\nWORK says done\nexpect completed\nWORK says done\n")]);
    let (code, _, said) = folder.run(&["simulate", "--story", "x.story"]);
    assert_eq!(code, 2);
    assert!(said.contains("x.story: line 4: no call is made: completed"), "{said}");
}
