//! A run or a working tree that another controller holds. The commands about that controller name its
//! run where several are unfinished, because without a name they would ask which one is meant.

use crate::desk::caller::{Caller, naming_run};
use crate::desk::refusal::{NextStep, Refusal};
use loop_store::{Holder, Locked, StoreError};

/// What can be done with a run that another process drives.
const ABOUT_THE_HOLDER: [&str; 2] = ["loop attach", "loop stop"];

/// Turns an error into a refusal, and names the run of the process that is in the way.
pub(crate) fn refusal(caller: &Caller, error: anyhow::Error) -> Refusal {
    let holder = holder(&error).cloned();
    let mut refusal = Refusal::from(error);
    if let Some(run) = holder.and_then(|it| run_of(caller, &it))
        && let Some(NextStep::Paste(commands)) = &mut refusal.next
    {
        let about = commands.iter_mut().filter(|it| ABOUT_THE_HOLDER.contains(&it.as_str()));
        about.for_each(|it| *it = named(caller, &run, it));
    }
    refusal
}

fn holder(error: &anyhow::Error) -> Option<&Holder> {
    match error.downcast_ref::<StoreError>()? {
        StoreError::Held { what: Locked::Run(_) | Locked::Tree(_), by } => by.as_ref(),
        _ => None,
    }
}

/// Returns the run that this process drives.
fn run_of(caller: &Caller, holder: &Holder) -> Option<String> {
    let home = caller.home_to_look_at().ok()??;
    let runs = caller.runs_of_project(&home).ok()?;
    let is_driven =
        |id: &str| home.holder(id).is_some_and(|it| (it.pid, it.start) == (holder.pid, holder.start));
    runs.into_iter().map(|it| it.id).find(|it| is_driven(it))
}

fn named(caller: &Caller, run: &str, command: &str) -> String {
    let home = caller.home_to_look_at().ok().flatten();
    let named = home.and_then(|it| naming_run(&it, run, command.to_owned()).ok());
    named.unwrap_or_else(|| command.to_owned())
}
