//! What outlived its call, and a session with our hook. The agent kills controller and shim, and leaves a
//! process behind that tries everything later; a session tries what is a person's word.

use crate::scene::{BUILD, BUILT, Scene, User, users};
use std::process::Stdio;

/// What a process tries that was left behind, in the shim's session and without any environment.
const LEFT: [&str; 11] = [
    "stop",
    "pause",
    "cancel --yes",
    "guide hello",
    "runs --prune --yes --all",
    "ship",
    "restore 1",
    "resume --reset",
    "run --reload",
    "run --nested",
    "__controller --reset --unblock",
];

/// Kills whoever keeps the first call; the second one does its work.
const KILLS: &str = "if [ \"$LOOP_CALL\" = 1 ]; then\n\
     LEAVE\n\
     shim=$PPID; controller=$(ps -o ppid= -p $shim); kill -9 $controller $shim; exit 0; fi\n";

/// An agent that leaves a process behind which was started by `before` and runs `$ROOT/left`.
fn leaver(before: &str) -> String {
    let leave = format!(
        "{before} env -i PATH=\"$PATH\" ROOT=\"$ROOT\" OUT=\"$OUT\" LOOP=\"$LOOP\" LOOP_HOME=\"$ROOT/home\" \
         sh \"$ROOT/left\" < /dev/null > /dev/null 2>&1 &"
    );
    format!("{}{BUILT}", KILLS.replace("LEAVE", &leave))
}

/// Waits for a word and tries these, one after the other, then waits again.
fn tries(words: &[&str]) -> String {
    let tries: Vec<String> = words
        .iter()
        .map(|it| {
            format!(
                "timeout 20 \"$LOOP\" -C \"$ROOT/project\" {it} >> \"$OUT/said\" 2>&1; echo \"$? {it}\" >> \"$OUT/codes\"\n"
            )
        })
        .collect();
    format!("read go < \"$OUT/go\"\n{}echo over > \"$OUT/over\"\n", tries.concat())
}

#[test]
fn g28_what_outlived_its_call_changes_nothing_and_passes_no_gate() {
    for user in users("g28_what_outlived_its_call_changes_nothing") {
        let scene = Scene::new(user);
        let (go, over) = (scene.fifo("go"), scene.fifo("over"));
        scene.file("left", format!("{}{}", tries(&LEFT), tries(&["approve", "answer approve"])));
        scene.workflow(BUILD);
        let agent = scene.plays(&leaver(""));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(1009);
        go.say();
        over.hear();
        let refused = |words: &[&str]| words.iter().map(|it| format!("2 {it}")).collect::<Vec<_>>();
        assert_eq!(scene.notes("codes"), refused(&LEFT), "{user:?}: {:?}", scene.notes("said"));
        let status = scene.stands();
        assert!(!["stopped", "paused", "cancelled"].iter().any(|it| status["status"] == *it), "{status}");
        scene.act(&["run"]).exits(3);
        scene.gate_is_open("the second call did the work");
        // Where it was kept in a control group it was ended with its call; where not, it tries again.
        if scene.processes().iter().any(|(_, line)| line.contains("/left")) {
            go.say();
            over.hear();
            let all = [&LEFT[..], &["approve", "answer approve"]].concat();
            assert_eq!(scene.notes("codes"), refused(&all), "{user:?}: {:?}", scene.notes("said"));
        }
        scene.gate_is_open("it was tried from what was left");
        let log = scene.remembers();
        for word in ["stop", "pause", "cancel", "runs --prune", "ship", "restore", "run"] {
            assert!(log.contains(&format!("refused inside an agent call: loop {word}")), "{word}:\n{log}");
        }
    }
}

/// In a session of its own it cannot be told from a person. Where there is no control group to end it by,
/// the run says that, and is not verified; a gate that asks for a signature stays closed.
#[test]
fn g09_what_nobody_can_recognise_makes_no_run_verified() {
    for (user, sign) in
        users("g09_what_nobody_can_recognise").into_iter().flat_map(|it| [(it, false), (it, true)])
    {
        let scene = Scene::new(user);
        let (go, over) = (scene.fifo("go"), scene.fifo("over"));
        scene.file("left", tries(&["approve", "run"]));
        scene.script("ssh-keygen -q -t ed25519 -N '' -f \"$ROOT/ada\" && echo \"ada $(cat $ROOT/ada.pub)\" > $ROOT/approvers").exits(0);
        let signed = format!("sign = true\napprovers = \"{}\"\n", scene.path("approvers").display());
        scene.workflow(&format!("{BUILD}{}", if sign { signed.as_str() } else { "" }));
        let agent = scene.plays(&leaver("setsid"));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(1009);
        scene.act(&["run"]).exits(3);
        let is_left = scene.processes().iter().any(|(_, line)| line.contains("/left"));
        if is_left {
            go.say();
            over.hear();
        }
        let status = scene.stands();
        if sign || !is_left {
            scene.gate_is_open("a process that was left tried to pass it");
            assert!(is_left || user == User::Self_, "an ordinary user has no control group here: {status}");
            continue;
        }
        assert_eq!(status["status"], "completed", "{user:?}: {:?}", scene.notes("said"));
        assert_eq!(status["verified"], false, "{status}");
        assert!(status["warnings"].to_string().contains("ruled out"), "{status}");
    }
}

/// What a session with our hook may not say for a person.
const WORDS: [(&str, &str); 7] = [
    ("answer go", "answer"),
    ("approve", "approve"),
    ("approve --run OTHER", "approve"),
    ("waive built --reason fine", "waive"),
    ("skip docs --reason none", "skip"),
    ("resume --reset", "resume --reset"),
    ("run --reload", "run --reload"),
];

#[test]
fn g28_a_session_with_our_hook_speaks_for_nobody() {
    for user in users("g28_a_session_with_our_hook") {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let agent = scene.plays(BUILT);
        scene.act(&["run", "a bridge", "--worktree", "--agent-cmd", &agent]).exits(3);
        let gated = scene.stands()["run"].as_str().expect("an id").to_owned();
        scene.write(
            "DESIGN-20260101-000000.md",
            "# Say hello\n\n**Task Type**: Feature\n\n## Acceptance Criteria\n\n- [ ] hello\n",
        );
        scene.give();
        scene.script("git add -A; git commit -q -m 'a design'").exits(0);
        let hooked = ["init", "--preset", "ralph", "--hook", "--check", "tests=test -f hello"];
        let opened = scene.act(&hooked).exits(0);
        let runs = scene.act(&["runs", "--json"]).exits(0).out;
        let runs: serde_json::Value = serde_json::from_str(&runs).expect("a list");
        let own = runs.as_array().expect("a list").iter().map(|it| it["run"].as_str().expect("an id"));
        let own = own.into_iter().find(|it| *it != gated).unwrap_or_else(|| panic!("{opened:?}")).to_owned();
        let mut script = format!("'{}' hook stop > \"$OUT/told\"\n", loop_harness::program());
        for (words, _) in WORDS {
            let named = if words.contains("OTHER") {
                words.replace("OTHER", &gated)
            } else {
                format!("{words} --run {own}")
            };
            script += &format!(
                "'{}' {named} >> \"$OUT/said\" 2>&1; echo \"$? {words}\" >> \"$OUT/codes\"\n",
                loop_harness::program()
            );
        }
        scene.file("session.sh", script);
        scene.give();
        let input = serde_json::json!({
            "session_id": "one", "transcript_path": scene.path("none"), "cwd": scene.project,
            "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "I have begun",
        });
        let mut session = scene.any("sh", &["../session.sh"]);
        session.stdin(Stdio::piped());
        scene.finish(session, &input.to_string()).exits(0);
        let expected: Vec<String> = WORDS.iter().map(|it| format!("2 {}", it.0)).collect();
        let said = scene.notes("said").join("\n");
        assert_eq!(scene.notes("codes"), expected, "{user:?}: {said}");
        for (words, called) in WORDS {
            let line = format!("only a person may use loop {called}");
            assert!(said.contains(&line), "{user:?}, {words}: no {line:?} in {said}");
        }
        let gate = scene.act(&["status", "--json", "--run", &gated]).exits(0).out;
        assert!(gate.contains("\"waiting\""), "{gate}");
    }
}
