//! Every recording of a real program, and what is made of it. A recording is the standard output,
//! the end of standard error and the exit status of one run against a scripted model.

use crate::agent_table::{AgentRow, AgentTable};
use crate::agents::{AgentOutput, CallExit, StreamReader};
use jiff::tz::TimeZone;
use loop_base::time::Timestamp;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// About when a recording was made, on 2026-11-15.
fn now(name: &str) -> Timestamp {
    Timestamp(if name.starts_with("v325") { 1_794_738_300_000 } else { 1_794_726_000_000 })
}

fn folder(cli: &'static AgentRow) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/agents").join(cli.name)
}

struct Recording {
    name: String,
    stdout: Vec<u8>,
    stderr: String,
    rollout: String,
    exit: Option<i32>,
}

fn recordings(cli: &'static AgentRow) -> Vec<Recording> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder(cli)).expect("recordings").map(|it| it.expect("an entry").path()).collect();
    names.retain(|it| it.extension().is_some_and(|it| it == "stdout"));
    names.sort();
    let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let read = |path: &PathBuf| {
        let exit: i32 = text(path.with_extension("exit")).trim().parse().expect("a status");
        Recording {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            stdout: fs::read(path).expect("a recording"),
            stderr: text(path.with_extension("stderr")),
            rollout: text(path.with_extension("rollout.jsonl")),
            exit: (0 <= exit).then_some(exit),
        }
    };
    names.iter().map(read).collect()
}

fn said(cli: &'static AgentRow, recording: &Recording, chunk: usize) -> (AgentOutput, Vec<String>) {
    let mut reader = StreamReader::new(cli);
    let mut activities = Vec::new();
    for bytes in recording.stdout.chunks(chunk) {
        reader.bytes(bytes);
        let activity = reader.activity();
        if activity.is_some() && activity.as_ref() != activities.last() {
            activities.extend(activity);
        }
    }
    let complaints = &recording.stderr;
    let zone = TimeZone::UTC;
    let end = CallExit {
        exit: recording.exit,
        complaints,
        rollout: &recording.rollout,
        now: now(&recording.name),
        zone: &zone,
    };
    (reader.finish(&end), activities)
}

/// All that was said, one field a line; what is empty is left out.
fn shown(said: &AgentOutput, activities: &[String], now: Timestamp) -> String {
    let mut out = String::new();
    let usage = &said.usage;
    let done = if said.trouble.is_none() { "done" } else { "failed" };
    let _ = writeln!(out, "  {done}, terminal {}, error {}", said.terminal, said.error);
    for (name, value) in [
        ("message", (!said.message.is_empty()).then(|| format!("{:?}", said.message))),
        ("trouble", said.trouble.clone()),
        ("limit", said.limit.map(|it| format!("{it:?}"))),
        ("until", said.limit.and_then(|it| it.until(now)).map(|it| it.to_string())),
        ("model", said.model.clone()),
        ("session", said.session.clone()),
        ("denied", said.denied()),
        ("denials", (!said.denials.is_empty()).then(|| said.denials.join(" | "))),
        ("warning", said.warning.as_ref().map(|it| it.text.clone())),
        ("doing", (!activities.is_empty()).then(|| activities.join(" > "))),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "  {name}: {value}");
        }
    }
    if *usage != crate::agents::AgentUsage::default() {
        let _ = writeln!(
            out,
            "  usage: in {} write {} read {} out {} turns {} usd {:?}",
            usage.tokens.input,
            usage.tokens.cache_write,
            usage.tokens.cache_read,
            usage.tokens.output,
            usage.turns,
            usage.usd
        );
    }
    out
}

#[test]
fn every_recording_is_understood() {
    for cli in AgentTable::default().detected() {
        let name = cli.name;
        let mut out = String::new();
        for recording in recordings(cli) {
            let (whole, activities) = said(cli, &recording, 300);
            let _ = write!(
                out,
                "{} (exit {:?})\n{}\n",
                recording.name,
                recording.exit,
                shown(&whole, &activities, now(&recording.name))
            );
            for chunk in [1, 4096, usize::MAX] {
                assert_eq!(said(cli, &recording, chunk).0, whole, "{} in chunks of {chunk}", recording.name);
            }
        }
        insta::assert_snapshot!(format!("recordings_of_{name}"), out);
    }
}

/// Whatever is cut off the end, nothing is taken for success that was not.
#[test]
fn a_stream_that_breaks_off_never_counts_as_done() {
    for cli in AgentTable::default().detected() {
        for mut recording in recordings(cli) {
            let (whole, _) = said(cli, &recording, usize::MAX);
            let text = recording.stdout.trim_ascii_end();
            let last = text.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
            let middle = last + (text.len() - last) / 2;
            recording.stdout.truncate(middle);
            let (broken, _) = said(cli, &recording, usize::MAX);
            // The agent stopped twice there, and the first time is whole.
            if whole.terminal && recording.name != "v325-subagent" {
                assert!(broken.trouble.is_some(), "{} {}: {broken:?}", cli.name, recording.name);
            }
        }
    }
}
