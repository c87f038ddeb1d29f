//! Commands that change something, from everywhere inside of an agent call, as rows: every command from
//! every place is refused with exit code 2, the journal keeps what was tried, and nothing has changed: the
//! run completes as it would have, and the gate of another run stays closed.

use crate::scene::{BUILD, BUILT, Scene, User, users};
use loop_harness::{COMMIT, PROMISE, skipped};

/// What is tried, and what the journal calls it.
const TRIED: [(&str, &str); 34] = [
    ("answer approve", "answer"),
    ("approve", "approve"),
    ("approve review --by boss", "approve"),
    ("reject no", "reject"),
    ("changes more", "changes"),
    ("waive built --reason fine", "waive"),
    ("answer waive fine", "answer"),
    ("skip docs --reason none", "skip"),
    ("guide hello", "guide"),
    ("cancel --yes", "cancel"),
    ("stop", "stop"),
    ("stop --now", "stop"),
    ("pause", "pause"),
    ("runs --prune --yes", "runs --prune"),
    ("runs --prune --yes --all", "runs --prune"),
    ("ship", "ship"),
    ("resume", "resume"),
    ("resume --reset", "resume"),
    ("run --reload", "run"),
    ("restore 1", "restore"),
    ("limits --clear claude", "limits --clear"),
    ("run another --agent-cmd true --check tests=true", "run"),
    ("run --nested --fresh another --agent-cmd true --check tests=true", "run"),
    ("setup --full", "setup"),
    ("hook install", "hook install"),
    ("hook remove", "hook remove"),
    ("doctor --fix", "doctor --fix"),
    ("design more", "design"),
    ("refine --add more", "refine"),
    ("next", "next"),
    ("init another", "init"),
    ("queue add more --domain core", "queue add"),
    ("queue accept --domain core", "queue add"),
    ("__controller --reset --unblock", "run"),
];

/// From where: words before the program, and how the script that tries them all is started.
struct From {
    name: &'static str,
    /// Stands before each command.
    before: &'static str,
    /// Starts the script `$ROOT/tries`; comes back when it is over.
    start: &'static str,
    tells: Tells,
}

/// What can be told of whoever is there.
#[derive(Clone, Copy, PartialEq)]
enum Tells {
    /// Which run it comes from.
    Run,
    /// That it may come from a call: only what is a person's own is refused.
    Perhaps,
    /// Nothing, so everything is refused.
    Nothing,
}

/// What two runs in containers may do beside each other.
fn is_harmless(words: &str) -> bool {
    let harmless =
        ["run ", "resume", "setup", "hook", "doctor", "design", "refine", "next", "init", "__controller"];
    harmless.iter().any(|it| words.starts_with(it))
}

/// Begins in namespaces of its own, where the kernel grants them.
const UNSHARED: &str =
    "env -i PATH=\"$PATH\" ROOT=\"$ROOT\" OUT=\"$OUT\" LOOP=\"$LOOP\" LOOP_HOME=\"$ROOT/home\"";

const PLACES: [From; 10] = [
    From { name: "the call itself", before: "", start: "sh \"$ROOT/tries\"", tells: Tells::Run },
    From {
        name: "a session of its own",
        before: "",
        start: "setsid -w sh \"$ROOT/tries\"",
        tells: Tells::Run,
    },
    From {
        name: "a daemon that forked twice",
        before: "",
        start: "(setsid sh -c 'sh \"$0\" < /dev/null > /dev/null 2>&1; echo over > \"$OUT/over\"' \"$ROOT/tries\" &)\n\
                read over < \"$OUT/over\"",
        tells: Tells::Run,
    },
    From {
        name: "without the mark",
        before: "env -u LOOP_RUN",
        start: "env -u LOOP_RUN sh \"$ROOT/tries\"",
        tells: Tells::Run,
    },
    From {
        name: "without any environment, from a daemon",
        before: "env -i PATH=\"$PATH\" LOOP_HOME=\"$ROOT/home\"",
        start: "env -i PATH=\"$PATH\" ROOT=\"$ROOT\" OUT=\"$OUT\" LOOP=\"$LOOP\" setsid -w sh -c \
                '(sh \"$ROOT/tries\" < /dev/null > /dev/null 2>&1; echo over > \"$OUT/over\") &'\n\
                read over < \"$OUT/over\"",
        tells: Tells::Run,
    },
    From {
        name: "with a home of its own",
        before: "env HOME=\"$ROOT/tmp\" LOOP_HOME=\"$ROOT/tmp/home\"",
        start: "sh \"$ROOT/tries\"",
        tells: Tells::Run,
    },
    From {
        name: "with a home of its own and without any environment",
        before: "env -i PATH=\"$PATH\" HOME=\"$ROOT/tmp\"",
        start: "sh \"$ROOT/tries\"",
        tells: Tells::Run,
    },
    From {
        name: "PID and control group namespaces of its own",
        before: "",
        start: "UNSHARED unshare -UrpfC --mount-proc sh \"$ROOT/tries\"",
        tells: Tells::Perhaps,
    },
    From {
        name: "something else in place of /proc",
        before: "",
        start: "UNSHARED unshare -UrmC sh -c 'mount -t tmpfs tmpfs /proc && exec sh \"$ROOT/tries\"'",
        tells: Tells::Nothing,
    },
    From {
        name: "the files of its supervisor covered",
        before: "",
        start: "UNSHARED SHIM=$PPID unshare -UrmC sh -c 'for it in cmdline environ; do mount --bind /dev/null /proc/$SHIM/$it; done; exec sh \"$ROOT/tries\"'",
        tells: Tells::Nothing,
    },
];

/// Whether an agent can have namespaces here.
const GRANTED: &str = "unshare -UrpfmC --mount-proc true && unshare -Urm mount -t tmpfs tmpfs /proc";

#[test]
fn g28_no_command_from_inside_a_call_changes_anything() {
    for user in users("g28_no_command_from_inside_a_call") {
        let scene = Scene::new(user);
        // The gate of another run in the same home is tried from each place too.
        scene.script("git init -q -b main \"$ROOT/gated\" && mkdir \"$ROOT/gated/.loop\"").exits(0);
        scene.file("gated/.loop/workflow.toml", BUILD);
        let builds = scene.path("builds.sh");
        scene.file("builds.sh", BUILT);
        scene.give();
        scene.script("cd \"$ROOT/gated\"; git add -A; git commit -q -m 'a workflow'").exits(0);
        let (gated, builds) = (scene.path("gated").display().to_string(), format!("sh {}", builds.display()));
        scene.act(&["-C", &gated, "run", "a bridge", "--agent-cmd", &builds]).exits(3);
        let over = scene.fifo("over");
        // Where both are tried, root tries every second one.
        let step = if user == User::Self_ && rustix::process::geteuid().is_root() { 2 } else { 1 };
        for (number, place) in PLACES.iter().enumerate().step_by(step) {
            let is_granted = place.tells == Tells::Run || scene.script(GRANTED).code == 0;
            if !is_granted {
                skipped(
                    "g28_no_command_from_inside_a_call",
                    &format!("{user:?}, {}: not granted", place.name),
                );
                continue;
            }
            let is_tried = |words: &str| match place.tells {
                Tells::Run => true,
                Tells::Perhaps => !is_harmless(words),
                // A nested run is allowed, and the lock of the tree keeps it out of this one.
                Tells::Nothing => !words.contains("--nested"),
            };
            let tried: Vec<(&str, &str)> = TRIED.into_iter().filter(|it| is_tried(it.0)).collect();
            let mut tries = String::new();
            for (words, _) in &tried {
                for folder in ["project", "gated"] {
                    // What is a person's word is tried at the gate of the other run.
                    let is_gates = words.contains("approve");
                    if is_gates == (folder == "gated") {
                        tries += &format!(
                            "{} \"$LOOP\" -C \"$ROOT/{folder}\" {words} >> \"$OUT/said\" 2>&1; \
                             echo \"$? {words}\" >> \"$OUT/codes\"\n",
                            place.before
                        );
                    }
                }
            }
            scene.file("tries", tries);
            let script = format!(
                "export LOOP ROOT; rm -f \"$OUT/codes\"\n{}\ntouch work-{number}; {COMMIT}; {PROMISE}",
                place.start.replace("UNSHARED", UNSHARED)
            );
            let agent = scene.plays(&script);
            let input = format!("build it: {}", place.name);
            let check = format!("tests=test -f work-{number}");
            scene.act(&["run", &input, "--fresh", "--agent-cmd", &agent, "--check", &check]).exits(0);
            let expected: Vec<String> = tried.iter().map(|(words, _)| format!("2 {words}")).collect();
            assert_eq!(scene.notes("codes"), expected, "{user:?}, {}: {:?}", place.name, scene.notes("said"));
            let log = scene.act(&["log"]).exits(0).out;
            for (words, called) in tried.iter().filter(|_| place.tells != Tells::Nothing) {
                let line = format!("refused inside an agent call: loop {called}");
                assert!(log.contains(&line), "{user:?}, {}, {words}: no {line:?} in\n{log}", place.name);
            }
            let gate = scene.act(&["-C", &gated, "status", "--json"]).exits(0).out;
            assert!(gate.contains("\"waiting\"") && gate.contains("\"gate\""), "{}: {gate}", place.name);
        }
        drop(over);
    }
}
