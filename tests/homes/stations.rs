//! One row for each recorded home: what it is found as, how a person goes on with it, and what it then
//! comes to.

use crate::place::{Station, archives};
use serde_json::Value;

/// One thing that a person does. `@` in a word is the folder of the station.
enum Act {
    /// `loop` with these words, and the exit code.
    Loop(&'static [&'static str], i32),
    /// The same, and it prints this.
    Says(&'static [&'static str], &'static str),
    /// A shell command in the project, which succeeds.
    Sh(&'static str),
    /// A session stops with these words, and may go.
    Stop(&'static str),
}
use Act::{Loop, Says, Sh, Stop};

struct Row {
    /// The status that it is found in, and the question, if there is one.
    found: (&'static str, Option<&'static str>),
    acts: &'static [Act],
    /// The status at the end, and whether it is verified: proven, which no older program did.
    ends: (&'static str, bool),
    /// The calls that agents were started for, each once, the recorded ones included.
    calls: &'static [u32],
    /// How many calls nobody knows the end of.
    lost: usize,
}

/// Every station is a test, and all of them together are checked against the archives.
macro_rules! stations {
    ($($name:ident = $row:expr),* $(,)?) => {
        $(#[test] fn $name() { go_on(stringify!($name), &$row); })*

        #[test]
        fn every_recorded_home_is_opened() {
            let mut rows: Vec<String> = [$(stringify!($name)),*].map(archive).to_vec();
            let files = std::fs::read_dir(archives()).expect("a folder").flatten();
            let mut files: Vec<String> = files
                .filter_map(|it| it.file_name().to_str()?.strip_suffix(".tar.gz").map(str::to_owned))
                .collect();
            rows.sort();
            files.sort();
            assert_eq!(rows, files);
        }
    };
}

fn archive(name: &str) -> String {
    name.replace('_', "-")
}

fn go_on(name: &str, row: &Row) {
    let station = Station::unpack(&archive(name));
    looked_at(&station);
    let status = station.status();
    assert_eq!((&status["status"], &status["question"]["kind"]), (&row.found.0.into(), &row.found.1.into()));
    for act in row.acts {
        match act {
            Loop(words, code) => drop(station.run(words).exits(*code)),
            Says(words, text) => {
                let done = station.run(words).exits(0);
                assert!(done.out.contains(text), "{words:?} does not say {text:?}:\n{}", done.out);
            }
            Sh(script) => drop(station.shell(script).exits(0)),
            Stop(said) => {
                let done = station.stop(said).exits(0);
                assert_eq!(done.out, "", "the session may go: {done:?}");
            }
        }
    }
    let status = station.status();
    assert_eq!(
        (&status["status"], &status["verified"]),
        (&row.ends.0.into(), &row.ends.1.into()),
        "{status:#}"
    );
    assert_eq!(station.starts(), row.calls, "no call is started twice, and none is left out");
    assert_eq!(lost(&station), row.lost, "{}", station.run(&["log"]).out);
    looked_at(&station);
    station.assert_nothing_runs();
}

/// Everything that only reads, over every run of the home.
fn looked_at(station: &Station) {
    let runs: Value = serde_json::from_str(&station.run(&["runs", "--json"]).exits(0).out).expect("JSON");
    let runs = runs.as_array().expect("a list");
    assert!(!runs.is_empty(), "{} has no run", station.name);
    for run in runs {
        let id = run["run"].as_str().expect("an id");
        let of = |words: &[&str]| station.run(&[words, &["--run", id]].concat()).exits(0).out;
        assert!(of(&["status"]).contains(&id[..8]));
        // A run that was killed before its first event has nothing else to show.
        let events = of(&["log", "--json"]).lines().count();
        for words in [["log"], ["show"], ["why"]] {
            assert!(events == 0 || !of(&words).is_empty(), "{words:?} says nothing");
        }
        assert!(of(&["verify"]).contains("is complete and unchanged"));
    }
}

/// Calls that are on record as lost.
fn lost(station: &Station) -> usize {
    station.events().iter().filter(|it| it.to_string().contains("\"lost\"")).count()
}

const RUN: Act = Loop(&["run"], 0);
const MEND: Act = Sh("touch $OUT/mended");
const COMPLETED: (&str, bool) = ("completed", true);
const FULFIL: Act =
    Sh("echo hello > hello.txt; sed -i 's/- \\[ \\]/- [x]/' DESIGN-*.md; git add -A; git commit -qm hello");
const PROMISE: &str = "It is done.\n\n<promise>FEATURE_COMPLETE</promise>";
const COUNT: [&str; 6] =
    ["run", "count to two", "--agent-cmd", "sh @/agent.sh", "--check", "tests=[ $(wc -l < steps) -ge 2 ]"];

const fn row(
    found: (&'static str, Option<&'static str>),
    acts: &'static [Act],
    calls: &'static [u32],
) -> Row {
    Row { found, acts, ends: COMPLETED, calls, lost: 0 }
}

/// The same for work that nothing proves: it was completed by an older program, or its check looks at
/// what lies outside of the tree or passed from the beginning, or its tests are data that it rewrites.
const fn unproven(
    found: (&'static str, Option<&'static str>),
    acts: &'static [Act],
    calls: &'static [u32],
) -> Row {
    Row { ends: ("completed", false), ..row(found, acts, calls) }
}

stations!(
    begun = row(("ready", None), &[Loop(&["resume"], 2), Loop(&COUNT, 0)], &[1, 2]),
    ready = row(("ready", None), &[RUN], &[1, 2]),
    ready_again = row(
        ("capped", None),
        &[Loop(&["run", "--max", "5"], 0), Says(&["show", "2", "--prompt"], "mind the gap")],
        &[1, 2]
    ),
    no_commit = row(("ready", None), &[RUN], &[1, 2]),
    working = Row { lost: 1, ..row(("running", None), &[RUN], &[1, 2]) },
    working_tdd = Row { lost: 1, ..unproven(("running", None), &[RUN], &[1, 2, 3, 4, 5, 6]) },
    // Of the second call there is only the intent, and whether it was started nobody can know any more.
    intended = Row { lost: 1, ..row(("running", None), &[RUN], &[1, 3]) },
    over = row(("running", None), &[RUN], &[1, 2]),
    measuring = row(("running", None), &[RUN], &[1, 2]),
    breaker = unproven(
        ("halted", Some("breaker")),
        &[Loop(&["run"], 4), MEND, Loop(&["answer", "reset"], 0), RUN],
        &[1, 2, 3]
    ),
    breaker_answered = unproven(
        ("halted", Some("breaker")),
        &[MEND, RUN, Says(&["show", "3", "--prompt"], "blue lever")],
        &[1, 2, 3]
    ),
    breaker_aborted =
        unproven(("halted", None), &[Loop(&["run"], 4), MEND, Loop(&["resume", "--reset"], 0)], &[1, 2, 3]),
    breaker_tdd = unproven(
        ("halted", Some("breaker")),
        &[Sh("rm $OUT/lazy"), Loop(&["answer", "modify", "work"], 0), RUN],
        &[1, 2, 3, 4, 5, 6, 7, 8]
    ),
    rejected = unproven(
        ("waiting", Some("rejected")),
        &[Sh("rm $OUT/strict"), Loop(&["answer", "fix", "greet somebody"], 0), RUN],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    ),
    hourly = unproven(("paused", Some("hourly")), &[Loop(&["answer", "continue"], 0), RUN], &[1, 2, 3, 4, 5]),
    hourly_over = unproven(("paused", Some("hourly")), &[RUN], &[1, 2, 3, 4, 5]),
    gate = row(
        ("waiting", Some("gate")),
        &[Loop(&["run"], 3), Loop(&["approve", "approval", "--by", "Ada"], 0), RUN],
        &[1, 2]
    ),
    blocked = row(
        ("halted", Some("blocked")),
        &[Loop(&["answer", "resume"], 0), Loop(&["run"], 3), Loop(&["approve"], 0), RUN],
        &[1, 2, 3]
    ),
    blocked_failure =
        row(("halted", Some("blocked")), &[Loop(&["run"], 4), Loop(&["answer", "resume"], 0), RUN], &[1, 2]),
    backoff = row(("running", None), &[RUN], &[1, 2]),
    checkpoint =
        unproven(("waiting", Some("checkpoint")), &[Loop(&["answer", "done", "blue"], 0), RUN], &[1, 2]),
    checkpoint_options =
        unproven(("waiting", Some("checkpoint")), &[Loop(&["answer", "green"], 0), RUN], &[1, 2]),
    // It waited for a merge that a run without a worktree has no branch for, and is told so.
    checkpoint_merge = Row {
        ends: ("cancelled", false),
        ..row(("waiting", Some("checkpoint")), &[Loop(&["run"], 4), Loop(&["cancel", "--yes"], 0)], &[1])
    },
    check = unproven(("waiting", Some("check")), &[Loop(&["answer", "command", "true"], 0), RUN], &[1, 2]),
    held = unproven(("running", None), &[Loop(&["limits", "--clear", "claude"], 0), RUN], &[1, 2]),
    capped = row(("capped", None), &[Loop(&["run"], 6), Loop(&["run", "--max", "5"], 0)], &[1, 2]),
    stopped = row(("stopped", None), &[RUN], &[1, 2]),
    paused = row(("paused", None), &[RUN], &[1, 2]),
    // Nothing was proven: `run` would open another run, and `resume` says so and opens none.
    completed = unproven(("completed", None), &[Loop(&["resume"], 2)], &[1, 2]),
    completed_design = unproven(("completed", None), &[Loop(&["resume"], 2)], &[1]),
    completed_tdd = unproven(("completed", None), &[Loop(&["resume"], 2)], &[1, 2, 3, 4, 5]),
    completed_skipped = unproven(("completed", None), &[], &[1, 2]),
    cancelled = row(("cancelled", None), &[Loop(&["resume"], 2), Loop(&COUNT, 0)], &[1, 1]),
    several = Row {
        ends: ("completed", false),
        ..row(("halted", Some("breaker")), &[Loop(&["answer", "skip"], 0), RUN], &[1, 1, 1, 2, 3])
    },
    unverified = unproven(("ready", None), &[RUN], &[1]),
    dirty = row(
        ("capped", None),
        &[
            Sh("grep -q draft draft; grep -q changed README.md; git add -A; git commit -qm mine"),
            Loop(&["run", "--max", "5"], 0)
        ],
        &[1, 2]
    ),
    imported_tdd = unproven(("paused", None), &[RUN], &[13, 14, 15, 16]),
    imported_ralph = row(("running", None), &[RUN], &[4]),
    hook = row(("running", None), &[FULFIL, Stop(PROMISE)], &[]),
    hook_measuring = row(("running", None), &[Stop("as I said")], &[]),
    worktree = row(("capped", None), &[Loop(&["run", "--max", "5"], 0), Sh("[ ! -e steps ]")], &[1, 2]),
    worktree_ready = row(("ready", None), &[RUN], &[1, 2]),
    worktree_working = Row { lost: 1, ..row(("running", None), &[RUN], &[1, 2]) },
    items = unproven(
        ("capped", None),
        &[Loop(&["run", "--max", "9"], 0), Sh("[ \"$(tail -n 1 $OUT/items)\" = 'LOOK dust' ]")],
        &[1, 2, 3, 4, 5, 6]
    ),
    items_working = Row { lost: 1, ..unproven(("running", None), &[RUN], &[1, 2, 3, 4, 5, 6, 7]) },
    skills = unproven(
        ("running", None),
        &[RUN, Sh("[ \"$(cat $OUT/skills)\" = \"$(printf 'plan\\nmake')\" ]")],
        &[1, 2]
    ),
    pivot = unproven(
        ("capped", None),
        &[Loop(&["run", "--max", "9"], 4), MEND, Loop(&["answer", "reset"], 0), RUN],
        &[1, 2, 3, 4]
    ),
    finishing = unproven(("running", None), &[RUN, Sh("[ $(grep -c 'pr create' $OUT/gh) = 1 ]")], &[1]),
    telling = unproven(
        ("halted", Some("breaker")),
        &[
            Loop(&["run"], 4),
            MEND,
            Loop(&["answer", "reset"], 0),
            RUN,
            Sh("[ \"$(tail -n 1 $OUT/told)\" = completed ]")
        ],
        &[1, 2, 3]
    ),
    proven = row(("completed", None), &[Loop(&["resume"], 0), Loop(&["evidence"], 0)], &[1, 2]),
    // The opening of a proof is true on one machine only, so it is not in the recordings.
    proving = Row { ends: ("running", false), ..row(("running", None), &[Loop(&["run"], 8)], &[1, 2]) },
    proof_question = Row {
        ends: ("running", false),
        ..row(
            ("waiting", Some("proof")),
            &[Loop(&["run"], 3), Loop(&["answer", "waive", "the test was wrong"], 0), Loop(&["run"], 8)],
            &[1, 2]
        )
    },
    unproven_question = row(
        ("waiting", Some("unproven")),
        &[Loop(&["run"], 3), Loop(&["answer", "accept", "a sentence"], 0), RUN],
        &[1]
    ),
    agent_question = unproven(
        ("halted", Some("agent")),
        &[Loop(&["run"], 4), MEND, Loop(&["answer", "retry"], 0), RUN],
        &[1, 2]
    ),
    plan_capped = unproven(("capped", None), &[Loop(&["run", "--max", "9"], 0)], &[1, 2, 3]),
    plan_working = Row { lost: 1, ..unproven(("running", None), &[RUN], &[1, 2, 3, 4]) },
);
