//! `loop why`: the decision in plain words, with the values that decided it.

use super::log::nothing;
use crate::cli::context::show;
use crate::cli::{Context, values};
use crate::desk::{Refusal, load};
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_core::engine::{Effect, Event, Judgement, Metric, Source, Verdict};
use loop_core::event_line::line;
use loop_core::workflow::condition::Truth;
use loop_core::workflow::model::{PhaseId, Workflow};
use loop_store::{Home, Row};

#[derive(Args)]
pub(crate) struct WhyFlags {
    /// The event, as `loop log` numbers it (default: the last judgement)
    #[arg(value_parser = values::number)]
    seq: Option<i64>,
}

pub(crate) fn run(context: &Context, flags: &WhyFlags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let (workflow, state) = load(&home, &row)?;
    let Some(Explained { seq, phase, judgement }) = find(&home, &row, flags.seq)? else {
        if let Some(seq) = flags.seq {
            return other_event(&home, &row, &workflow, seq);
        }
        show(&format!("no iteration has been judged yet: {}", sanitise(&state.reason(&workflow))));
        return Ok(0);
    };
    if context.json {
        let object = serde_json::json!({ "seq": seq, "judgement": judgement });
        println!("{}", crate::cli::json::pretty(&object));
        return Ok(0);
    }
    let phase = judgement.phase.or(phase).and_then(|it| workflow.phases.get(it));
    let name = phase.map_or("the phase", |it| it.name.as_str());
    show(&format!("event {seq}: {name} {}", word(&judgement)));
    for why in &judgement.why {
        show(&format!("  because     {}", sanitise(why)));
    }
    show(&format!("  condition   {}", truth(judgement.exit)));
    show(&format!("  signal      {}", if judgement.signal { "given" } else { "not given" }));
    for note in &judgement.notes {
        show(&format!("  noted       {}", sanitise(note)));
    }
    show(&format!("  progress    {}", if judgement.progress { "yes" } else { "no" }));
    if let Some(error) = &judgement.error {
        show(&format!(
            "  error       {} ({})",
            sanitise(error.text.lines().next().unwrap_or("")),
            error.class
        ));
    }
    let decisive = |name: &str, metric: &Metric| match metric.source {
        Source::Measured | Source::Claimed => true,
        Source::Engine => metric.claimed.is_some() || phase.is_none_or(|it| it.asks_for(name)),
    };
    let (shown, rest): (Vec<_>, Vec<_>) =
        judgement.metrics.iter().partition(|(name, metric)| context.verbose || decisive(name, metric));
    if load(&home, &row)?.1.hold.is_some() || state.question().is_some() {
        show(&format!("  now         {}", sanitise(&state.reason(&workflow))));
    }
    // Names are for whoever writes workflows; everything that a person has to know stands above them.
    show("  values, by their names in conditions");
    let value = |name: &str| judgement.metrics.get(name).map(|it| it.value.clone());
    for term in phase.and_then(|it| it.exit.as_ref()).map(|it| it.explain(&value)).unwrap_or_default() {
        show(&format!("    {}", sanitise(&term)));
    }
    for (name, metric) in shown {
        let source = match metric.source {
            Source::Measured => "measured",
            Source::Engine => "by loop",
            Source::Claimed => "claimed",
        };
        let claimed =
            metric.claimed.as_ref().map(|it| format!(", the agent claimed {it}")).unwrap_or_default();
        show(&format!("    {name} = {} ({source}{claimed})", sanitise(&metric.value.to_string())));
    }
    if !rest.is_empty() {
        show(&format!("    (loop why -v lists {})", counted(rest.len(), "more value")));
    }
    Ok(0)
}

/// A judgement, and the phase of the call that it is about.
struct Explained {
    seq: i64,
    phase: Option<PhaseId>,
    judgement: Judgement,
}

fn find(home: &Home, row: &Row, seq: Option<i64>) -> anyhow::Result<Option<Explained>> {
    let (mut found, mut phase) = (None, None);
    let mut next = 1;
    loop {
        let page = home.events(&row.id, next, 1000)?;
        let Some(last) = page.last() else { return Ok(found) };
        next = last.seq + 1;
        for recorded in page {
            if seq.is_some_and(|it| it < recorded.seq) {
                return Ok(found);
            }
            if !matches!(recorded.kind.as_str(), Event::BEGAN | Event::JUDGED) {
                continue;
            }
            match serde_json::from_str(&recorded.body) {
                Ok(Event::Began(Effect::Work(call))) => phase = Some(call.phase),
                Ok(Event::Judged(judgement)) if seq.is_none_or(|it| it == recorded.seq) => {
                    found = Some(Explained { seq: recorded.seq, phase, judgement: *judgement });
                }
                Ok(_) | Err(_) => (),
            }
        }
    }
}

fn other_event(home: &Home, row: &Row, workflow: &Workflow, seq: i64) -> anyhow::Result<u8> {
    let page = home.events(&row.id, seq, 1)?;
    let Some(recorded) = page.first().filter(|it| it.seq == seq) else {
        return Err(Refusal::usage(format!("run {} has no event {seq}", &row.id[..8]), "loop log"));
    };
    let event: Event = serde_json::from_str(&recorded.body)?;
    let text = line(workflow, &event).unwrap_or_else(|| recorded.kind.clone());
    show(&format!("event {seq}: {}", sanitise(&text)));
    println!("{}", sanitise(&serde_json::to_string_pretty(&event)?));
    Ok(0)
}

fn word(judgement: &Judgement) -> &str {
    match &judgement.verdict {
        Verdict::Leave => "passed",
        Verdict::Step => "continues with the next skill",
        Verdict::Again => "is not done",
        Verdict::Fail => "failed",
        Verdict::Reject => "rejected the work",
        Verdict::Stuck(_) => "is stuck",
        Verdict::Checkpoint(_) => "needs a person",
    }
}

fn truth(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "met",
        Truth::False => "not met",
        Truth::Unknown => "unknown, counts as not met",
    }
}
