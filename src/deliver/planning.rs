//! The end of a phase of a planning folder: it is ticked in the roadmap with its date and with what is
//! open about it, the position moves on, and the state file says that it is complete. All of it can be
//! done twice.

use crate::clock::now;
use crate::measure::planning;
use crate::tree::git::Git;
use loop_base::files;
use loop_core::documents::planning::number::PhaseNumber;
use loop_core::documents::planning::{roadmap, state_file};
use loop_core::workflow::model::ItemSource;
use loop_store::Home;
use loop_store::mirror::planning::LoopState;
use loop_store::run::Run;
use std::path::Path;

const ROADMAP: &str = ".planning/ROADMAP.md";
const STATE: &str = ".planning/STATE.md";

/// Closes the phase that the run worked on, and returns the command that continues after it.
pub(crate) fn close_phase(run: &Run, home: &Home, place: &Path) -> anyhow::Result<Option<String>> {
    let Some(ItemSource::Plans(folder)) = run.workflow.items.as_ref().map(|it| &it.from) else {
        return Ok(None);
    };
    let Some(number) = PhaseNumber::read(&run.state.opening.input) else { return Ok(None) };
    for name in [ROADMAP, STATE] {
        bring_back(run, place, name)?;
    }
    // What is not read byte for byte is not written again.
    let read = |name: &str| planning::readable(place, name).ok().flatten();
    let Some(text) = read(ROADMAP) else { return Ok(None) };
    let date = now().to_string().chars().take(10).collect::<String>();
    let mark = if run.state.is_proven() {
        ""
    } else if run.state.left_to_person.is_empty() {
        "unverified"
    } else {
        "notes"
    };
    let plans =
        planning::read_phase(place, folder, &run.state.refused_plans).map(|it| it.plans).unwrap_or_default();
    let plans: Vec<&str> = plans.iter().map(|it| it.id.as_str()).collect();
    let ticked = roadmap::tick(&text, &number, &date, mark, &plans);
    replace(place, ROADMAP, &text, &ticked)?;
    let phases = roadmap::phases(&text);
    if let Some(text) = read(STATE) {
        // A position that was moved on already, or by a person, stays.
        if state_file::current_phase(&text).is_none_or(|it| it == number) {
            let how = if mark.is_empty() { String::new() } else { format!(" ({mark})") };
            replace(place, STATE, &text, &state_file::moved_on(&text, &phases, &number, &date, &how))?;
        }
    }
    if let Some(mut mirror) = LoopState::open(home, &run.id, &run.workflow, place)? {
        mirror.write_complete(&run.workflow)?;
    }
    Ok(roadmap::next_after(&phases, &number).map(|it| format!("loop run {}", it.number)))
}

/// Puts a document back that somebody removed, as it was committed last, else as it was when the run began: the
/// commit that ends a run must not take it away.
fn bring_back(run: &Run, place: &Path, name: &str) -> anyhow::Result<()> {
    let path = place.join(name);
    if path.symlink_metadata().is_ok() || !path.parent().is_some_and(Path::is_dir) {
        return Ok(());
    }
    let git = Git::around(place)?;
    let base = run.state.baseline.as_ref().map(|it| it.facts.tree.as_str());
    let known = ["HEAD"].into_iter().chain(base.filter(|it| !it.is_empty()));
    let found = known.filter_map(|it| git.run(["cat-file", "blob", &format!("{it}:{name}")]).ok()).next();
    if let Some(text) = found.and_then(|it| String::from_utf8(it).ok()) {
        files::replace(&path, &text)?;
    }
    Ok(())
}

fn replace(place: &Path, name: &str, before: &str, after: &str) -> std::io::Result<()> {
    if before == after { Ok(()) } else { files::replace(&place.join(name), after) }
}
