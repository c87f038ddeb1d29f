//! Makes a next step work when it is pasted where the command was typed: it names the folder and the
//! home that were named there.

use crate::desk::{self, NextStep};
use loop_base::text::{sanitise, shell_word};
use loop_core::engine::{QuestionKind, State};
use loop_core::workflow::model::Workflow;
use loop_store::{Home, StoreError, as_typed};

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

/// Returns the command that accepts what an open question about the proof is about: the next step only shows it.
pub(super) fn other_step(home: &Home, id: &str, state: &State) -> Result<Option<String>, StoreError> {
    let word = match state.question().map(|it| &it.kind) {
        Some(QuestionKind::Proof) => "waive",
        Some(QuestionKind::Unproven) => "accept",
        Some(_) | None => return Ok(None),
    };
    if desk::untaken(home, id)?.answer_to(state).is_some() {
        return Ok(None);
    }
    let step = desk::naming_run(home, id, format!("loop answer {word} \"REASON\""))?;
    Ok(Some(pasteable(&step)))
}

/// Returns what has to be done before the next step, where it would fail again as it did. What was told above is not
/// said again.
pub(super) fn before_next(state: &State, told: &str) -> Option<String> {
    let said = state.repair_first()?.lines().next().unwrap_or_default();
    let said = if told.contains(said) { String::new() } else { format!(" ({})", sanitise(said)) };
    Some(format!("help: repair what the agent says first{said}, then:"))
}

/// Returns a command as it can be pasted here.
pub(super) fn pasteable(step: &str) -> String {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let here = std::env::current_dir().map(|it| it.to_string_lossy().into_owned());
    placed(&shortened(step, &here.unwrap_or_default()), &typed)
}

/// A command that writes a file names its folder; here that is not needed.
fn shortened(step: &str, here: &str) -> String {
    if here.is_empty() || !step.starts_with("printf ") {
        return step.to_owned();
    }
    let here = shell_word(here);
    step.replace(&format!(" -C {here} "), " ").replace(&format!(" {here}/"), " ")
}

/// Returns the line that proposes a command.
pub(super) fn next(step: &str) -> String {
    format!("next: {}", sanitise(&pasteable(step)))
}

/// Returns the line that proposes another command.
pub(super) fn or(step: &str) -> String {
    format!("  or: {}", sanitise(&pasteable(step)))
}

/// Returns the same step with commands that can be pasted here.
pub(super) fn pasteable_step(step: NextStep) -> NextStep {
    match step {
        NextStep::Paste(commands) => NextStep::Paste(commands.iter().map(|it| pasteable(it)).collect()),
        NextStep::ByHand(words) => NextStep::ByHand(words),
        NextStep::PasteOrByHand(command, words) => NextStep::PasteOrByHand(pasteable(&command), words),
    }
}

/// Returns the command line as it was typed, to be pasted once more.
pub(super) fn again() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|it| shell_word(as_typed(&it))).collect();
    sanitise(&format!("loop {}", words.join(" ")))
}

fn placed(step: &str, typed: &[String]) -> String {
    // A command of ours may have such words in an argument; it stands alone or last.
    if let Some((before, after)) = step.split_once(" && ").filter(|_| !step.starts_with("loop ")) {
        return format!("{} && {}", placed(before, typed), placed(after, typed));
    }
    if let Some(rest) = step.strip_prefix("git ") {
        return git_placed(rest, typed);
    }
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

/// Git knows the folder by a flag of the same name. A command that names its folder already needs none.
fn git_placed(rest: &str, typed: &[String]) -> String {
    let folder = PLACES[0].iter().find_map(|it| value(it, typed));
    let names_folder = rest.starts_with("-C ") || rest.contains(" /") || rest.contains("--global");
    match folder.filter(|_| !names_folder) {
        Some(folder) => format!("git -C {} {rest}", sanitise(&shell_word(folder))),
        None => format!("git {rest}"),
    }
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
    use super::{placed, shortened};

    #[test]
    fn a_file_in_this_folder_is_named_without_it() {
        let step = "printf 'a/\\n' >> /p/.gitignore && git -C /p add .gitignore && loop answer reset";
        let short = "printf 'a/\\n' >> .gitignore && git add .gitignore && loop answer reset";
        assert_eq!(shortened(step, "/p"), short);
        assert_eq!(shortened(step, "/q"), step);
    }

    #[test]
    fn a_step_names_the_place_that_was_named() {
        let rows = [
            ("loop run", "status", "loop run"),
            ("loop approve review", "-C ../bridge run x", "loop -C ../bridge approve review"),
            ("loop run", "run --home=/h --dir /p", "loop -C /p --home /h run"),
            ("loop run x -C /p --max 5", "run x -C /p", "loop run x -C /p --max 5"),
            ("git init", "-C /p run", "git -C /p init"),
            ("git init /p/x", "-C /p run", "git init /p/x"),
            ("git add --all && git commit -m x", "-C p run", "git -C p add --all && git -C p commit -m x"),
            ("ulimit -n 1024 && loop run", "run --home h", "ulimit -n 1024 && loop --home h run"),
            ("loop run --check t=\"a && git b\"", "-C p run", "loop -C p run --check t=\"a && git b\""),
            ("loop run", "run -- -C x", "loop run"),
        ];
        for (step, typed, wanted) in rows {
            let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(placed(step, &typed), wanted);
        }
    }
}
