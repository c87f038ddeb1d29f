//! `loop evidence`: what the completion of a run stands on, and the record that says so elsewhere.

use crate::cli::Context;
use crate::cli::hint;
use crate::cli::looking::log::nothing;
use crate::desk::{self, Refusal};
use loop_base::text::{sanitise, shell_word};
use loop_core::engine::Status;

pub(crate) fn run(context: &Context) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let Some(written) = desk::write_record(&home, &row)? else {
        let (_, state) = desk::load(&home, &row)?;
        let text =
            format!("run {} is {}, and only a completed run has a record", &row.id[..8], Status::of(&state));
        return Err(Refusal::usage(text, "loop status"));
    };
    let record = &written.statement.predicate;
    if context.json {
        print!("{}", written.statement.text());
        return Ok(0);
    }
    let mut lines = vec![format!(
        "run {}  {}  {}",
        &row.id[..8],
        record.workflow,
        if record.verified { "verified" } else { "not verified" }
    )];
    lines.extend(record.closing.clone());
    lines.push(format!("tree {}", written.statement.digest("gitTree").unwrap_or_default()));
    lines.extend(written.statement.digest("gitCommit").map(|it| format!("commit {it}")));
    lines.extend(
        record.checks.iter().map(|it| format!("check {}: {}", it.name, it.command.replace('\n', "; "))),
    );
    lines.extend(record.approvals.iter().map(|it| {
        let signed =
            it.signer.as_ref().map_or("unsigned".to_owned(), |it| format!("signed by {}", it.principal));
        format!("gate {} approved by {}, {signed}", it.gate, it.by)
    }));
    lines.extend(record.waivers.iter().map(|it| format!("waived {}: {}", it.what, it.reason)));
    lines.extend(record.decisions.iter().cloned());
    lines.push(format!("record {}", written.path.display()));
    lines.extend(written.trouble.clone());
    lines.iter().for_each(|it| println!("{}", sanitise(it)));
    let step = format!("loop verify {}", shell_word(&sanitise(&written.path.display().to_string())));
    println!("next: {}", hint::pasteable(&step));
    Ok(0)
}
