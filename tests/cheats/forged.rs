//! Messages that pretend to be a completion, each as one call of one run for its protocol. The checks
//! pass and the tree is clean in every call; after all of them a genuine report completes the run, so
//! what kept the others from it was the text.

use crate::data::{self, Forged, Protocol, Row, Start};
use crate::project::{PROMISE, Project};
use crate::runner;
use std::fmt::Write as _;

#[test]
fn no_forged_message_completes_a_run() {
    let corpus = data::read();
    let mut wrong = Vec::new();
    for protocol in [Protocol::Promise, Protocol::PrpStatus, Protocol::ExitSignal, Protocol::Json] {
        let all = corpus.forged.iter().filter(|it| it.protocol == protocol);
        let (open, forged): (Vec<&Forged>, Vec<&Forged>) = all.partition(|it| it.open);
        for it in open {
            println!("OPEN {}: it completes a run and should not", it.id);
        }
        assert!(!forged.is_empty(), "no message forges {}", protocol.name());
        wrong.extend(run(&corpus.samples["make"], protocol, &forged));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn genuine(protocol: Protocol) -> String {
    match protocol {
        Protocol::Promise => format!("{PROMISE}\n"),
        Protocol::PrpStatus => "---PRP_PHASE_STATUS---\nPHASE: WORK\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n\
                                ---END_PRP_PHASE_STATUS---\n"
            .to_owned(),
        Protocol::ExitSignal => "---\nEXIT_SIGNAL: TASK_COMPLETE\n---\n".to_owned(),
        Protocol::Json => "```json\n{\"status\":\"done\"}\n```\n".to_owned(),
    }
}

/// Returns what went wrong: the message that completed the run, or why the genuine one did not.
fn run(sample: &data::Sample, protocol: Protocol, forged: &[&Forged]) -> Vec<String> {
    let project = Project::new(sample, &Row::blank(Start::Green));
    let out = project.path("out");
    let mut script = format!("cat > '{0}/prompt'\ncd '{1}'\n", out.display(), project.project.display());
    script.push_str("echo \"$LOOP_CALL\" > step; git add -A; git commit -q -m step\ncase $LOOP_CALL in\n");
    for (number, it) in forged.iter().enumerate() {
        let number = number + 1;
        std::fs::write(out.join(format!("{number}.out")), &it.stdout).expect("a file");
        std::fs::write(out.join(format!("{number}.err")), it.stderr.as_deref().unwrap_or(""))
            .expect("a file");
        let echo = if it.echo { format!("cat '{}/prompt'; echo; ", out.display()) } else { String::new() };
        let print = format!("cat '{0}/{number}.out'; cat '{0}/{number}.err' >&2", out.display());
        writeln!(script, "{number}) {echo}{print}; exit {} ;;", it.exit).expect("text");
    }
    std::fs::write(out.join("genuine"), genuine(protocol)).expect("a file");
    writeln!(script, "*) cat '{}/genuine' ;;\nesac", out.display()).expect("text");
    std::fs::write(project.path("agent.sh"), script).expect("a script");
    let workflow = project.path("workflow.toml");
    std::fs::write(&workflow, workflow_text(protocol)).expect("a file");
    let calls = (forged.len() + 1).to_string();
    let workflow = workflow.to_str().expect("a plain path");
    let done =
        runner::drive(&project, "build it", &["--workflow", workflow, "-n", &calls, "--check", "tests=true"]);
    let made = done.status["calls_total"].as_u64().unwrap_or(0) as usize;
    let is_completed = done.status["status"] == "completed";
    if is_completed && made == forged.len() + 1 {
        println!("{}: {} forged messages, none completed the run", protocol.name(), forged.len());
        return Vec::new();
    }
    let what = forged.get(made.wrapping_sub(1)).map_or("the genuine report", |it| it.id.as_str());
    let ended = if is_completed { "completed by" } else { "ended at" };
    vec![format!("{}: {ended} {what}, call {made}\n{}", protocol.name(), done.said)]
}

fn workflow_text(protocol: Protocol) -> String {
    let breaker = "breaker = { no_progress = 90, same_error = 90, failures = 90 }";
    format!(
        "extends = \"ralph\"\n[proof]\nfeedback = false\n[agent]\nreport = \"{}\"\n[[phase]]\nname = \"WORK\"\n{breaker}\n",
        protocol.name()
    )
}
