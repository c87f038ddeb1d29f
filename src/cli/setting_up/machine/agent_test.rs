//! `loop agents test NAME`: runs an installed agent against a scripted model and prints what works. Each row
//! is one call that a real run of this program makes in a folder of its own, with a home of its own for the
//! agent too: no key of the person's is used, nothing is asked of a provider, and nothing is left behind.

use crate::cli::Context;
use crate::cli::temporary::TemporaryFolder;
use crate::desk::{NextStep, Refusal, meant};
use crate::tree::git::Git;
use crate::world::wait::now;
use loop_base::text::{counted, sanitise};
use loop_base::time::Timestamp;
use loop_core::agent_table::{AgentRow, TestWiring};
use loop_core::engine::{QuestionKind, Status};
use loop_model::{ModelServer, Options, Script};
use loop_supervise::foreground;
use loop_supervise::program_version::version;
use loop_supervise::which::executable;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest call is ended after a minute and a half by its own limits; the rest is for git, checks and a slow disk.
const CALL_MOST: Duration = Duration::from_secs(150);

/// How far ahead the scripted plan is used up: far enough that no pause of ours is taken for it.
const PLAN_S: u64 = 9000;

/// Times are told to the minute.
const PLAN_OFF_S: i64 = 90;

/// How well something went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Works,
    /// The agent does not report it, and a run copes with that.
    NotReported,
    Fails,
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Grade::Works => "works",
            Grade::NotReported => "not reported",
            Grade::Fails => "FAILS",
        }
    }
}

struct TestedRow {
    what: &'static str,
    grade: Grade,
    says: String,
}

pub(crate) fn run(context: &Context, name: &str) -> anyhow::Result<u8> {
    let agents = &context.caller.environment.agents;
    let Some(row) = agents.named(name).filter(|it| !it.is_any_program()) else {
        let known = agents.detected().map(|it| it.name);
        return Err(Refusal::usage(format!("no agent is called \"{name}\""), meant(name, known)));
    };
    let Some(wiring) = row.test else {
        let next = NextStep::by_hand("add a [test] section to its file; see docs/guide/agents.md");
        return Err(Refusal::usage(format!("nothing says how {name} is pointed at another model"), next));
    };
    let Some(program) = executable(row.program, None) else {
        let next = NextStep::by_hand(row.install);
        return Err(Refusal::usage(format!("{name} is not installed"), next));
    };
    let folder = TemporaryFolder::new("loop-agents-test")?;
    let version = version(&program).unwrap_or_else(|| "version unknown".to_owned());
    if !context.json {
        println!(
            "{name} {} ({}), against a scripted model; no key is used",
            sanitise(&version),
            program.display()
        );
    }
    let bench = TestBench { row, wiring, folder: folder.path().to_owned() };
    let mut rows = Vec::new();
    for case in CASES {
        let tested = bench.tried(case)?;
        if !context.json {
            for it in &tested {
                println!("  {:<12} {}: {}", it.grade.word(), it.what, sanitise(&it.says));
            }
        }
        rows.extend(tested);
    }
    let failed = rows.iter().filter(|it| it.grade == Grade::Fails).count();
    if context.json {
        let list: Vec<Value> = rows
            .iter()
            .map(|it| json!({"what": it.what, "result": it.grade.word().to_lowercase(), "says": it.says}))
            .collect();
        let whole = json!({"agent": name, "version": version, "ok": failed == 0, "rows": list});
        println!("{}", crate::cli::json::line(&whole));
    } else {
        let silent = rows.iter().filter(|it| it.grade == Grade::NotReported).count();
        let works = rows.len() - failed - silent;
        println!(
            "{name}: {works} of {} work, {silent} not reported, {failed} failed",
            counted(rows.len(), "row")
        );
    }
    Ok(if failed == 0 { 0 } else { 4 })
}

/// A call that is tried: what the model does, and what is looked at afterwards.
struct TestCase {
    name: &'static str,
    script: fn() -> Value,
    judge: fn(&CallSeen) -> Vec<TestedRow>,
    /// The agent is set up as for a plan.
    has_plan: bool,
    /// How long the agent may be silent.
    idle: &'static str,
}

const fn case(name: &'static str, script: fn() -> Value, judge: fn(&CallSeen) -> Vec<TestedRow>) -> TestCase {
    TestCase { name, script, judge, has_plan: false, idle: "40s" }
}

const CASES: &[TestCase] = &[
    case("work", work, judge_work),
    TestCase { has_plan: true, ..case("plan", || refusal("plan"), judge_plan) },
    case("key", || refusal("key"), |it| asked(it, "a key that is not accepted")),
    case("credit", || refusal("credit"), |it| stopped(it, "no credit")),
    case("model", || refusal("model"), |it| asked(it, "an unknown model")),
    case("context", || refusal("context"), |it| asked(it, "a prompt that is too long")),
    case("refusal", || refusal("policy"), |it| asked(it, "a task that is refused")),
    case("overloaded", || refusal("overloaded"), |it| stopped(it, "an overloaded provider")),
    TestCase { idle: "8s", ..case("stop", endless, judge_stop) },
];

fn refusal(kind: &str) -> Value {
    json!({"turns": [{"times": -1, "fails": kind, "seconds": PLAN_S}]})
}

fn work() -> Value {
    json!({"turns": [
        {"text": "I will write it.", "tools": [{"write": {"path": "made.txt", "content": "made\n"}}]},
        {"tools": [{"sh": "git add -A && git commit -qm made"}]},
        {"text": "Done.\n\n<promise>TASK_COMPLETE</promise>"},
    ]})
}

fn endless() -> Value {
    json!({"turns": [{"tools": [{"sh": "echo $$ > ../begun; exec sleep 600"}]}], "after": "error"})
}

/// What a call came to.
struct CallSeen {
    began: Timestamp,
    took: Duration,
    status: Value,
    story: String,
    log: String,
    /// The folder around the project.
    place: PathBuf,
}

impl CallSeen {
    /// Why the call did not work, in the words that a person sees.
    fn why(&self) -> String {
        let told = |it: &&str| it.contains("call 1 ");
        let line = self.log.lines().rev().find(told).or_else(|| self.log.lines().last());
        line.unwrap_or("the run said nothing").trim().to_owned()
    }

    fn wait(&self) -> Option<i64> {
        let until = self.status["limits"]["waiting_until"].as_str()?.parse::<jiff::Timestamp>().ok()?;
        Some((until.as_millisecond() - self.began.0) / 1000)
    }

    fn is_completed(&self) -> bool {
        self.status["status"] == Status::Completed.word()
    }

    /// Whether a person is asked about the agent.
    fn is_asked(&self) -> bool {
        self.status["question"]["kind"] == QuestionKind::Agent.word()
    }

    fn is_no_iteration(&self) -> bool {
        self.status["iterations_total"] == 0 && self.status["calls_total"] == 1
    }
}

fn graded(what: &'static str, is_good: bool, says: String) -> TestedRow {
    TestedRow { what, grade: if is_good { Grade::Works } else { Grade::Fails }, says }
}

fn told(what: &'static str, says: Option<String>) -> TestedRow {
    let grade = if says.is_some() { Grade::Works } else { Grade::NotReported };
    TestedRow { what, grade, says: says.unwrap_or_else(|| "the agent does not report it".to_owned()) }
}

fn judge_work(seen: &CallSeen) -> Vec<TestedRow> {
    let is_done = seen.is_completed();
    let seconds = format!("{:.1} s", seen.took.as_secs_f64());
    let has_tools = seen.story.contains("made.txt") && seen.story.contains("git commit -qm made");
    let budget = &seen.status["budget"];
    let tokens: u64 = budget["tokens"].as_object().into_iter().flatten().filter_map(|it| it.1.as_u64()).sum();
    let source = budget["usd"]["source"].as_str().filter(|it| *it != "unknown");
    let amount = budget["usd"]["amount"].as_f64().unwrap_or_default();
    let cost = source.map(|it| format!("${amount:.4} ({it})"));
    let session = seen.story.lines().find_map(|it| it.trim().strip_prefix("open this session: "));
    let model = seen.status["models"]["WORK"].as_str().map(str::to_owned);
    vec![
        graded("starts and ends", is_done, if is_done { seconds } else { seen.why() }),
        graded(
            "final message",
            seen.story.contains("<promise>TASK_COMPLETE</promise>"),
            "read from its stream".to_owned(),
        ),
        graded("tools", has_tools, "each one with what it is used on".to_owned()),
        told("tokens", (0 < tokens).then(|| tokens.to_string())),
        told("cost", cost),
        told("model", model),
        told("session", session.map(|_| "can be opened again".to_owned())),
    ]
}

fn judge_plan(seen: &CallSeen) -> Vec<TestedRow> {
    let what = "a used-up plan";
    let waits = seen.wait().filter(|_| seen.is_no_iteration());
    vec![match waits {
        None => graded(what, false, seen.why()),
        Some(waits) if (waits - PLAN_S as i64).abs() <= PLAN_OFF_S => {
            graded(what, true, "waits until the time that the provider named".to_owned())
        }
        Some(_) => told(what, None).saying("waits; the agent does not say until when"),
    }]
}

impl TestedRow {
    fn saying(self, says: &str) -> TestedRow {
        TestedRow { says: says.to_owned(), ..self }
    }
}

/// What only a person can mend is asked at once.
fn asked(seen: &CallSeen, what: &'static str) -> Vec<TestedRow> {
    let is_asked = seen.is_asked() && seen.is_no_iteration();
    vec![graded(what, is_asked, if is_asked { "asks a person".to_owned() } else { seen.why() })]
}

/// What may pass is waited for, or asked where it does not; it is no iteration.
fn stopped(seen: &CallSeen, what: &'static str) -> Vec<TestedRow> {
    let is_asked = seen.is_asked();
    let is_good = (is_asked || seen.wait().is_some()) && seen.is_no_iteration();
    let says = if is_asked { "asks a person" } else { "waits and tries again" };
    vec![graded(what, is_good, if is_good { says.to_owned() } else { seen.why() })]
}

fn judge_stop(seen: &CallSeen) -> Vec<TestedRow> {
    let what = "ended in the middle of a tool";
    let pid = std::fs::read_to_string(seen.place.join("begun")).ok();
    let Some(pid) = pid.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()) else {
        return vec![graded(what, false, format!("its tool did not begin: {}", seen.why()))];
    };
    let is_gone = !Path::new("/proc").join(&pid).exists();
    let says = if is_gone { "nothing is left running" } else { "its tool is still running" };
    vec![graded(what, is_gone && !seen.is_completed(), says.to_owned())]
}

/// Where calls are tried.
struct TestBench {
    row: &'static AgentRow,
    wiring: &'static TestWiring,
    folder: PathBuf,
}

impl TestBench {
    fn tried(&self, case: &TestCase) -> anyhow::Result<Vec<TestedRow>> {
        let place = self.folder.join(case.name);
        let (project, agent_home) = (place.join("project"), place.join("agent"));
        std::fs::create_dir_all(project.join(".loop"))?;
        std::fs::create_dir_all(&agent_home)?;
        let script = Script::read(&(case.script)().to_string()).map_err(anyhow::Error::msg)?;
        let cwd = Some(project.to_string_lossy().into_owned());
        let server = ModelServer::start(script, &Options { cwd, ..Options::default() })?;
        let fill =
            |text: &str| text.replace("{url}", server.url()).replace("{home}", &agent_home.to_string_lossy());
        for (name, text) in self.wiring.files {
            let path = agent_home.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&agent_home))?;
            std::fs::write(path, fill(text))?;
        }
        std::fs::write(project.join(".loop/workflow.toml"), self.workflow(case, &fill)?)?;
        let git = Git::init(&project)?;
        for words in [["config", "user.name", "test"], ["config", "user.email", "test@localhost"]] {
            git.run(words)?;
        }
        git.run(["add", "-A"])?;
        git.run(["commit", "-q", "-m", "begin"])?;
        let seen = self.call(&place, &project)?;
        server.close();
        Ok((case.judge)(&seen))
    }

    fn workflow(&self, case: &TestCase, fill: &dyn Fn(&str) -> String) -> anyhow::Result<String> {
        let plan = if case.has_plan { self.wiring.plan_env } else { &[] };
        let mut env = serde_json::Map::new();
        let home = [("HOME", "{home}"), ("NO_PROXY", "127.0.0.1,localhost")];
        for (name, value) in home.iter().chain(self.wiring.env).chain(plan) {
            env.insert((*name).to_owned(), json!(fill(value)));
        }
        let args: Vec<String> = self.wiring.args.iter().map(|it| fill(it)).collect();
        let mut agent = json!({
            "cli": self.row.name, "args": args, "env": env, "permissions": "all",
            "first_timeout": "60s", "idle_timeout": case.idle, "timeout": "90s",
        });
        if let Some(model) = self.wiring.model {
            agent["model"] = json!(model);
        }
        Ok(toml::to_string(&json!({"extends": "ralph", "agent": agent}))?)
    }

    /// Makes one call as a run does, in a process of its own.
    fn call(&self, place: &Path, project: &Path) -> anyhow::Result<CallSeen> {
        let program = std::env::current_exe()?;
        let program = program.to_string_lossy();
        let home = place.join("home");
        let ours = |words: &[&str]| {
            let home = home.to_string_lossy();
            let words = [words, &["--home", &home]].concat();
            foreground::run(&program, words, project, Vec::new(), CALL_MOST)
        };
        let (began, clock) = (now(), Instant::now());
        ours(&["next", "Write made.txt", "--check", "tests=test -f made.txt", "--nested"])?;
        let took = clock.elapsed();
        let status = serde_json::from_str(&ours(&["status", "--json"])?.output).unwrap_or_default();
        let (story, log) = (ours(&["show", "1"])?.output, ours(&["log"])?.output);
        Ok(CallSeen { began, took, status, story, log, place: place.to_owned() })
    }
}
