//! Attacks on a gate that asks for a signature, as rows: what is done, and what is said. After each of them
//! the gate is still open, and at the end it is passed from another home by its approver.

use crate::scene::{BUILD, Scene, users};

/// One attack. The script runs in the project; `$ADA` may approve, `$EVE` may not.
struct Attack {
    name: &'static str,
    script: &'static str,
    code: i32,
    says: &'static str,
}

const fn attack(name: &'static str, script: &'static str, code: i32, says: &'static str) -> Attack {
    Attack { name, script, code, says }
}

/// Signs the file in `$1` with the key `$2`, in the namespace `$3`.
const SIGN: &str = "sign() { rm -f \"$1.sig\"; ssh-keygen -Y sign -q -n \"${3:-loop-approval}\" -f \"$2\" \"$1\" 2>/dev/null; }\n\
     statement() { \"$LOOP\" status --json | python3 -c 'import json,sys; \
     sys.stdout.write(json.load(sys.stdin)[\"question\"][\"sign\"][\"statement\"])'; }\n\
     ADA=\"$ROOT/ada\"; EVE=\"$ROOT/eve\"\n";

const ATTACKS: [Attack; 17] = [
    attack("no signature", "\"$LOOP\" approve", 2, "needs a signature"),
    attack("no signature, in a name", "\"$LOOP\" approve review --by ada", 2, "needs a signature"),
    attack("an answer", "\"$LOOP\" answer approve", 2, "needs a signature"),
    attack("a key of nobody", "\"$LOOP\" approve review --sign \"$EVE\"", 2, "no approver"),
    attack(
        "a key of nobody, who wrote themselves into the file",
        "echo \"eve $(cat $EVE.pub)\" > \"$ROOT/approvers\"; \"$LOOP\" approve review --sign \"$EVE\"",
        2,
        "no approver",
    ),
    attack(
        "no signature at all",
        "echo x > \"$ROOT/x\"; \"$LOOP\" approve --signature \"$ROOT/x\"",
        2,
        "does not pass",
    ),
    attack(
        "a program of its own in the place of ssh-keygen",
        "mkdir -p \"$ROOT/fake\"; printf '#!/bin/sh\\necho ada@example.org\\n' > \"$ROOT/fake/ssh-keygen\"; \
         chmod +x \"$ROOT/fake/ssh-keygen\"; echo x > \"$ROOT/x\"; PATH=\"$ROOT/fake:$PATH\" \"$LOOP\" approve --signature \"$ROOT/x\"",
        2,
        "does not pass",
    ),
    attack("no such file", "\"$LOOP\" approve --signature \"$ROOT/none\"", 2, "name the file"),
    attack(
        "a changed byte",
        "statement > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\"; sed -i '3s/./A/20;3s/./B/21' \"$ROOT/t.sig\"; \
         \"$LOOP\" approve --signature \"$ROOT/t.sig\"",
        2,
        "does not",
    ),
    attack(
        "a signature made for something else",
        "statement > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\" loop-record; \"$LOOP\" approve --signature \"$ROOT/t.sig\"",
        2,
        "does not",
    ),
    attack(
        "a signature for another gate",
        "statement | sed 's/review/release/' > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\"; \"$LOOP\" approve --signature \"$ROOT/t.sig\"",
        2,
        "does not",
    ),
    attack(
        "a signature for another run",
        "statement | sed 's/^run.*/run 11111111-1111-4111-8111-111111111111/' > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\"; \
         \"$LOOP\" approve --signature \"$ROOT/t.sig\"",
        2,
        "does not",
    ),
    attack(
        "an old signature after a new commit",
        "statement > \"$ROOT/old\"; sign \"$ROOT/old\" \"$ADA\"; echo x > more; git add more; git commit -q -m more; \
         \"$LOOP\" approve --signature \"$ROOT/old.sig\" > /dev/null; \"$LOOP\" run > /dev/null 2>&1; \
         \"$LOOP\" approve --signature \"$ROOT/old.sig\"",
        2,
        "does not",
    ),
    attack(
        "an approval in the database",
        "python3 - \"$LOOP_HOME/loop.db\" <<'E'\nimport sqlite3, sys\nit = sqlite3.connect(sys.argv[1])\n\
         it.execute(\"insert into command(run, at, body) select key, 1, '{\\\"answer\\\":{\\\"question\\\":2,\\\"choice\\\":\\\"approve\\\",\\\"by\\\":\\\"ada\\\"}}' from run\")\n\
         it.commit()\nE\n\"$LOOP\" run > /dev/null 2>&1; \"$LOOP\" log",
        0,
        "is void: it is not signed",
    ),
    attack(
        "another workflow file",
        "sed -i '/^sign/d;/^approvers/d' .loop/workflow.toml; \"$LOOP\" run --reload; code=$?; git checkout -q .loop; exit $code",
        2,
        "asks for a signature",
    ),
    attack(
        "a run with the gate left out",
        "sed -i '/^gates/d' .loop/workflow.toml; \"$LOOP\" run --reload; code=$?; git checkout -q .loop; exit $code",
        2,
        "asks for a signature",
    ),
    attack(
        "another home, that knows nothing of it",
        "LOOP_HOME=\"$ROOT/other\" HOME=\"$ROOT/tmp\" \"$LOOP\" approve review --sign \"$ADA\"",
        2,
        "no run in this project",
    ),
];

fn keys(scene: &Scene) {
    scene
        .script(
            "cd \"$ROOT\" && for it in ada eve; do ssh-keygen -q -t ed25519 -C $it -N '' -f $it; done && \
             echo \"ada@example.org $(cat ada.pub)\" > approvers",
        )
        .exits(0);
}

fn signed(scene: &Scene, more: &str) -> String {
    format!("{BUILD}sign = true\napprovers = \"{}\"\n{more}", scene.path("approvers").display())
}

#[test]
fn g28_a_signed_gate_is_passed_from_a_second_home_and_by_nobody_else() {
    for user in users("g28_a_signed_gate") {
        let scene = Scene::new(user);
        keys(&scene);
        scene.waits(&signed(&scene, ""));
        for Attack { name, script, code, says } in &ATTACKS {
            let done = scene.script(&format!("{SIGN}{script}"));
            let said = format!("{}{}", done.out, done.err);
            assert_eq!(done.code, *code, "{user:?}, {name}: {said}");
            assert!(said.contains(says), "{user:?}, {name}: no {says:?} in {said}");
            scene.gate_is_open(name);
        }
        // On another machine there is nothing but the text and the key.
        let elsewhere = "mkdir -p \"$ROOT/second\"; statement > \"$ROOT/second/text\"; cd \"$ROOT/second\"\n\
             env -i PATH=\"$PATH\" HOME=\"$ROOT/second\" ssh-keygen -Y sign -q -n loop-approval -f \"$ADA\" text\n\
             cd \"$ROOT/project\"; HOME=\"$ROOT/second\" \"$LOOP\" approve review --signature \"$ROOT/second/text.sig\"";
        scene.script(&format!("{SIGN}{elsewhere}")).exits(0);
        scene.act(&["run"]).exits(0);
        let log = scene.act(&["log"]).exits(0).out;
        assert!(log.contains("signed by ada@example.org"), "{log}");
        // Once: there is no gate any more that it could pass.
        scene.script("\"$LOOP\" approve review --signature \"$ROOT/second/text.sig\"").exits(2);
    }
}

#[test]
fn g28_presence_refuses_keys_that_ask_nobody() {
    for user in users("g28_presence_refuses_keys") {
        let scene = Scene::new(user);
        keys(&scene);
        scene.waits(&signed(&scene, "presence = true\n"));
        let elsewhere = "statement > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\"; \"$LOOP\" approve --signature \"$ROOT/t.sig\"";
        let in_agent = "eval $(ssh-agent) > /dev/null; ssh-add -q \"$ADA\"; \"$LOOP\" approve --sign \"$ADA.pub\"; \
             code=$?; kill $SSH_AGENT_PID; exit $code";
        let open = "\"$LOOP\" approve --sign \"$ADA\"";
        for (name, script) in
            [("an open key", open), ("one in an agent", in_agent), ("one elsewhere", elsewhere)]
        {
            let done = scene.script(&format!("{SIGN}{script}")).exits(2);
            assert!(done.err.contains("asks for a person"), "{user:?}, {name}: {}", done.err);
            scene.gate_is_open(name);
        }
    }
}

#[test]
fn g28_a_signature_that_comes_too_late_passes_nothing() {
    for user in users("g28_a_signature_that_comes_too_late") {
        let scene = Scene::new(user);
        keys(&scene);
        scene.waits(&signed(&scene, "expires = \"1s\"\n"));
        let late = "statement > \"$ROOT/t\"; sign \"$ROOT/t\" \"$ADA\"; timeout 1.2 tail -f /dev/null\n\
             \"$LOOP\" approve --signature \"$ROOT/t.sig\"";
        let done = scene.script(&format!("{SIGN}{late}")).exits(2);
        let is_late = ["could be approved until", "has expired"].iter().any(|it| done.err.contains(it));
        assert!(is_late, "{}", done.err);
        scene.gate_is_open("an approval that came too late");
    }
}
