//! Reads the `LOOP-STATE.md` of another controller once: how far it had come. Every line that is used is
//! validated, and the first one that is wrong is named; nothing is written.

use super::loop_status::LoopStatus;
use loop_core::documents::planning::number::PhaseNumber;

/// No phase continues for longer; a larger number is a mistake.
const ITERATIONS_MOST: u32 = 10_000;

/// A moment, however it is written.
const STARTED_CHARS: usize = 60;

/// How far another controller had come.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedPlanning {
    pub phase: PhaseNumber,
    /// When it began, as it wrote that down.
    pub started: Option<String>,
    pub iterations: u32,
    /// How many it allowed itself, where it says so.
    pub max_iterations: Option<u32>,
    /// How many iterations in a row had failed.
    pub failures: u32,
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
                Err(format!("{name} is {value:?}, not a whole number from 0 to {ITERATIONS_MOST}"))
            }
        },
    };
    let phase = field("Phase").ok_or("Phase is missing")?;
    let number = PhaseNumber::prefix(phase.strip_prefix("Phase ").unwrap_or(phase));
    let (phase, _) =
        number.ok_or_else(|| format!("Phase is {phase:?}, which does not begin with a number"))?;
    let status = field("Status").ok_or("Status is missing")?;
    let reason = || field("Stuck reason").filter(|it| !it.is_empty()).unwrap_or("stuck").to_owned();
    let status = LoopStatus::named(status).ok_or_else(|| {
        format!("Status is {status:?}, not one of {}", LoopStatus::ALL.map(LoopStatus::word).join(", "))
    })?;
    let (stuck, is_complete) = match status {
        LoopStatus::Running | LoopStatus::Stopping | LoopStatus::Stopped | LoopStatus::MaxReached => {
            (None, false)
        }
        LoopStatus::Stuck => (Some(reason()), false),
        LoopStatus::Complete => (None, true),
    };
    let max_iterations = Some(count("Max iterations")?).filter(|it| *it != 0);
    let started =
        field("Started").filter(|it| !it.is_empty()).map(|it| it.chars().take(STARTED_CHARS).collect());
    Ok(ImportedPlanning {
        phase,
        started,
        iterations: count("Iteration")?,
        max_iterations,
        failures: count("Consecutive failures")?,
        gap_cycles: count("Gap closure cycle")?,
        stuck,
        is_complete,
    })
}

/// A row of its table that says that a task is done, and by which commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneRow {
    pub plan: String,
    pub task: String,
    pub commit: String,
}

/// Returns the rows that say that their task is done and name a commit.
pub fn done_rows(text: &str) -> Vec<DoneRow> {
    let row = |line: &String| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [_, plan, task, status, commit, ..] = cells.as_slice() else { return None };
        let commit = commit.trim_matches(['`', '[', ']']);
        let is_hash = (7..=64).contains(&commit.len()) && commit.bytes().all(|it| it.is_ascii_hexdigit());
        (is_hash && says_done(status)).then(|| DoneRow {
            plan: (*plan).to_owned(),
            task: (*task).to_owned(),
            commit: commit.to_owned(),
        })
    };
    rows(text).iter().filter_map(row).collect()
}

fn says_done(status: &str) -> bool {
    let word = status.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| word.contains(it));
    has(&["done", "complete", "pass", "success", "✓", "✔", "✅"])
        && !has(&["not ", "incomplete", "fail", "partial"])
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
    use super::{DoneRow, done_rows, read, rows};

    const FILE: &str = "# Loop State\n\nStarted: 2026-01-01\nPhase: 03 — Accounts\nStatus: stopped\nIteration: 7\nMax iterations: 50\n\
        Consecutive failures: 1\nGap closure cycle: 1\n\n## Task Progress\n\n| Iteration | Plan |\n|---|---|\n| 7 | 03-01 |\n";

    #[test]
    fn how_far_another_controller_came_is_read() {
        let found = read(FILE).expect("it is sound");
        assert_eq!((found.phase.to_string().as_str(), found.iterations, found.gap_cycles), ("3", 7, 1));
        assert_eq!((rows(FILE).as_slice(), done_rows(FILE).len()), (&["| 7 | 03-01 |".to_owned()][..], 0));
        assert_eq!((found.started.as_deref(), found.failures), (Some("2026-01-01"), 1));
        assert_eq!(found.max_iterations, Some(50));
        assert_eq!(
            read(&FILE.replace("iterations: 50", "iterations: 0")).expect("sound").max_iterations,
            None
        );
        let table = "## Task Progress\n| a |\n|---|\n| 1 | 03-01 | Log in | done | `abc1234` | TASK_COMPLETE |\n| 2 | 03-01 | x | failed | abc1234 | TASK_COMPLETE |\n\
            | 3 | 03-01 | y | done | - | TASK_COMPLETE |\n| 4 | 03-01 | z | incomplete | abc1234 | - |\n";
        let expected =
            DoneRow { plan: "03-01".to_owned(), task: "Log in".to_owned(), commit: "abc1234".to_owned() };
        assert_eq!(done_rows(table), [expected]);
        let stuck =
            read(&FILE.replace("Status: stopped", "Status: stuck\nStuck reason: db: gone")).expect("sound");
        assert_eq!(stuck.stuck.as_deref(), Some("db: gone"));
        assert!(read(&FILE.replace("stopped", "complete")).expect("sound").is_complete);
    }

    #[test]
    fn the_whole_word_of_a_status_is_read() {
        for word in ["running", "stopping", "stopped", "max_reached"] {
            let found = read(&FILE.replace("stopped", word)).expect(word);
            assert!(found.stuck.is_none() && !found.is_complete, "{word}");
        }
        assert!(read(&FILE.replace("stopped", "max")).is_err());
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
