//! Reads the `LOOP-STATE.md` of another controller once: how far it had come. Every line that is used is
//! validated, and the first one that is wrong is named; nothing is written.

use loop_core::documents::planning::number::PhaseNumber;

/// No phase continues for longer; a larger number is a mistake.
const ITERATIONS_MOST: u32 = 10_000;

/// How far another controller had come.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedPlanning {
    pub phase: PhaseNumber,
    pub iterations: u32,
    pub gap_cycles: u32,
    /// Why it was stuck, if it was.
    pub stuck: Option<String>,
    pub is_complete: bool,
}

/// Reads the file, or says which line is wrong.
pub fn read(text: &str) -> Result<ImportedPlanning, String> {
    let field = |name: &str| {
        text.lines()
            .find_map(|it| {
                it.trim()
                    .trim_start_matches('*')
                    .strip_prefix(name)?
                    .trim_start_matches('*')
                    .strip_prefix(':')
            })
            .map(|it| it.trim_start_matches('*').trim())
    };
    let count = |name: &str| match field(name) {
        None | Some("") => Ok(0),
        Some(value) => match value.parse::<u32>() {
            Ok(count) if count <= ITERATIONS_MOST => Ok(count),
            Ok(_) | Err(_) => {
                Err(format!("{name} is {value:?}, no whole number from 0 to {ITERATIONS_MOST}"))
            }
        },
    };
    let phase = field("Phase").ok_or("Phase is missing")?;
    let number = PhaseNumber::prefix(phase.strip_prefix("Phase ").unwrap_or(phase));
    let (phase, _) = number.ok_or_else(|| format!("Phase is {phase:?}, which begins with no number"))?;
    let status = field("Status").ok_or("Status is missing")?;
    let reason = || field("Stuck reason").filter(|it| !it.is_empty()).unwrap_or("stuck").to_owned();
    let (stuck, is_complete) = match status {
        "running" | "stopping" | "stopped" | "max_reached" => (None, false),
        "stuck" => (Some(reason()), false),
        "complete" => (None, true),
        other => {
            return Err(format!(
                "Status is {other:?}, none of running, stopping, stopped, complete, stuck, max_reached"
            ));
        }
    };
    count("Max iterations")?;
    count("Consecutive failures")?;
    Ok(ImportedPlanning {
        phase,
        iterations: count("Iteration")?,
        gap_cycles: count("Gap closure cycle")?,
        stuck,
        is_complete,
    })
}

/// Returns the rows of its table.
pub fn rows(text: &str) -> Vec<String> {
    let table = text
        .lines()
        .skip_while(|it| !it.contains("Task Progress"))
        .filter(|it| it.trim_start().starts_with('|'));
    table.skip(2).map(|it| it.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{read, rows};

    const FILE: &str = "# Loop State\n\nStarted: 2026-01-01\nPhase: 03 — Accounts\nStatus: stopped\nIteration: 7\nMax iterations: 50\n\
        Consecutive failures: 1\nGap closure cycle: 1\n\n## Task Progress\n\n| Iteration | Plan |\n|---|---|\n| 7 | 03-01 |\n";

    #[test]
    fn how_far_another_controller_came_is_read() {
        let found = read(FILE).expect("it is sound");
        assert_eq!((found.phase.to_string().as_str(), found.iterations, found.gap_cycles), ("3", 7, 1));
        assert_eq!(rows(FILE), ["| 7 | 03-01 |"]);
        let stuck =
            read(&FILE.replace("Status: stopped", "Status: stuck\nStuck reason: db: gone")).expect("sound");
        assert_eq!(stuck.stuck.as_deref(), Some("db: gone"));
        assert!(read(&FILE.replace("stopped", "complete")).expect("sound").is_complete);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, says) in [
            ("Iteration: 7", "Iteration: seven", "Iteration is \"seven\""),
            ("Status: stopped", "Status: happy", "Status is \"happy\""),
            ("Phase: 03", "Phase: none", "Phase is \"none"),
            ("Status: stopped\n", "", "Status is missing"),
        ] {
            let error = read(&FILE.replacen(from, to, 1)).expect_err(says);
            assert!(error.contains(says), "{error}");
        }
    }
}
