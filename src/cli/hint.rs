//! Makes a next step work when it is pasted where the command was typed: it names the folder and the
//! home that were named there.

use crate::desk;
use loop_base::text::{sanitise, shell_word};
use loop_core::engine::State;
use loop_core::workflow::model::Workflow;
use loop_store::{Home, StoreError};

/// Flags of every command that say where it works, each in all its spellings.
const PLACES: [&[&str]; 2] = [&["-C", "--dir"], &["--home"]];

/// Returns the next step of a run as it can be pasted here.
pub(super) fn next_step(
    home: &Home,
    id: &str,
    workflow: &Workflow,
    state: &State,
) -> Result<String, StoreError> {
    Ok(pasteable(&desk::next_step(home, id, workflow, state)?))
}

/// Returns a command as it can be pasted here.
pub(super) fn pasteable(step: &str) -> String {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    placed(step, &typed)
}

/// Returns the command line as it was typed, to be pasted once more.
pub(super) fn again() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|it| shell_word(&it)).collect();
    sanitise(&format!("loop {}", words.join(" ")))
}

fn placed(step: &str, typed: &[String]) -> String {
    let Some(rest) = step.strip_prefix("loop ") else { return step.to_owned() };
    let mut words = String::new();
    let is_named = |flags: &[&str]| rest.split(' ').any(|word| flags.contains(&word));
    for flags in PLACES.iter().filter(|it| !is_named(it)) {
        if let Some(value) = flags.iter().find_map(|it| value(it, typed)) {
            words.push_str(&format!("{} {} ", flags[0], sanitise(&shell_word(value))));
        }
    }
    format!("loop {words}{rest}")
}

/// The value of a flag, written as one word or as two.
fn value<'a>(flag: &str, typed: &'a [String]) -> Option<&'a str> {
    let joined = |it: &'a String| {
        let rest = it.strip_prefix(flag)?;
        if flag.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
    };
    let typed = || typed.iter().take_while(|it| *it != "--");
    let next = typed().zip(typed().skip(1)).find(|it| it.0 == flag).map(|it| it.1.as_str());
    next.or_else(|| typed().filter_map(joined).find(|it| !it.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::placed;

    #[test]
    fn a_step_names_the_place_that_was_named() {
        let rows = [
            ("loop run", "status", "loop run"),
            ("loop approve review", "-C ../bridge run x", "loop -C ../bridge approve review"),
            ("loop run", "run --home=/h --dir /p", "loop -C /p --home /h run"),
            ("loop run x -C /p --max 5", "run x -C /p", "loop run x -C /p --max 5"),
            ("git init", "-C /p run", "git init"),
            ("loop run", "run -- -C x", "loop run"),
        ];
        for (step, typed, wanted) in rows {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(placed(step, &typed), wanted);
        }
    }
}
