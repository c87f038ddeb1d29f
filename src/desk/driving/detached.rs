//! A controller of its own for a run that nobody holds: this program again, without the terminal of
//! whoever asked for it.

use crate::desk::caller::Caller;
use crate::desk::driving::resume::Going;
use crate::desk::inside_call;
use loop_store::Home;
use loop_supervise::detached::{self, Started};
use std::ffi::OsString;

/// What the controller does beside driving.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DetachedWays {
    /// It ends at a question; otherwise it waits there for the answer.
    pub exits_at_question: bool,
    pub json: bool,
    pub quiet: bool,
}

/// Starts a controller for a run, and waits until it owns it or says why it does not.
pub(crate) fn start_controller(
    caller: &Caller,
    home: &Home,
    id: &str,
    going: &Going,
    ways: DetachedWays,
) -> std::io::Result<Started> {
    let mut words: Vec<OsString> = vec!["__controller".into(), "--run".into(), id.into()];
    words.extend(["-C".into(), caller.dir.clone().into(), "--home".into(), home.path().into()]);
    words.extend(going.phase.into_iter().flat_map(|it| ["--phase".into(), it.to_string().into()]));
    words.extend(going.most.into_iter().flat_map(|it| ["--most".into(), it.to_string().into()]));
    words.extend(going.retries.into_iter().flat_map(|it| ["--retries".into(), it.to_string().into()]));
    let switches = [
        ("--reset", going.reset),
        ("--unblock", going.unblock),
        ("--now", going.now),
        // Whoever came this far inside of a call has said so.
        ("--nested", inside_call::is_inside_call(caller)),
        ("--exit-at-question", ways.exits_at_question),
        ("--json", ways.json),
        ("--quiet", ways.quiet),
    ];
    words.extend(switches.iter().filter(|it| it.1).map(|it| it.0.into()));
    detached::start(&words)
}
