//! The words of a story that several of its lines use: numbers, durations, phases.

use loop_core::workflow::model::Workflow;

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a whole number"))
}

pub(super) fn fraction(text: &str) -> Result<(u32, u32), String> {
    let (passing, total) =
        text.split_once('/').ok_or_else(|| format!("\"{text}\" should be passing/total"))?;
    let (passing, total) = (number(passing)?, number(total)?);
    if total < passing {
        return Err(format!("{passing} of {total} tests cannot pass"));
    }
    Ok((passing, total))
}

pub(super) fn millis(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => return Err(format!("\"{other}\" is not a unit of time; one of: ms, s, m, h")),
    };
    Ok(number::<u64>(digits)? * unit)
}

pub(super) fn phase_id(workflow: &Workflow, name: &str) -> Result<usize, String> {
    let found = workflow.phases.iter().position(|it| it.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let names: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
        format!("no phase \"{name}\"; one of: {}", names.join(", "))
    })
}
