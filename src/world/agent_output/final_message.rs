//! What a call left behind, read: the agent's output as its adapter understands it, and the report
//! in its last message or in the file that its protocol names.

use crate::measure::report_file;
use crate::tree::changes::Change;
use crate::tree::git::GitError;
use crate::world::agent_output::codex_rollout;
use crate::world::wait::now;
use loop_base::files;
use loop_base::secret::redact;
use loop_core::agent_table::Stream;
use loop_core::agents;
use loop_core::engine::Call;
use loop_core::facts::FactName;
use loop_core::prompt;
use loop_core::report::{self, Expected, Report};
use loop_core::workflow::model::{Agent, Protocol};
use loop_store::run::Run;
use loop_supervise::tail::tail;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Complaints explain a failure in their last lines.
const COMPLAINTS_MOST: u64 = 16 << 10;

/// opencode's log is there too, with some ten lines a request.
pub(crate) const LOG_MOST: u64 = 256 << 10;

/// The output of a call as far as it has been read, in memory that does not grow with it.
pub(crate) struct Hearing {
    stem: String,
    path: PathBuf,
    file: Option<std::fs::File>,
    pub(crate) reader: agents::StreamReader,
}

impl Hearing {
    pub(crate) fn of(folder: &Path, agent: &Agent, call: &Call) -> Hearing {
        let row = agent.cli.row().expect("it could be started");
        let stem = call.stem();
        let path = folder.join(format!("{stem}.out"));
        Hearing { stem, path, file: None, reader: agents::StreamReader::new(row) }
    }

    /// Reads on to where the output ends at the moment.
    pub(crate) fn read_on(&mut self) {
        if self.file.is_none() {
            // A call that just begins has no output yet. The agent knows the folder, and may have put a pipe
            // or a device in its place.
            self.file = files::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else { return };
        let mut chunk = vec![0; 64 << 10];
        // An output that cannot be read any further ends there.
        while let Ok(count @ 1..) = file.read(&mut chunk) {
            self.reader.bytes(&chunk[..count]);
        }
    }
}

/// Reads the whole output of a call; what was heard of it before is not read again.
pub(crate) fn read(
    folder: &Path,
    agent: &Agent,
    call: &Call,
    code: Option<i32>,
    heard: Option<Hearing>,
) -> agents::AgentOutput {
    let row = agent.cli.row().expect("it could be started");
    let heard = heard.filter(|it| it.stem == call.stem());
    let mut hearing = heard.unwrap_or_else(|| Hearing::of(folder, agent, call));
    hearing.read_on();
    let reader = hearing.reader;
    let most = if row.stream == Stream::Opencode { LOG_MOST } else { COMPLAINTS_MOST };
    let complaints = tail(&folder.join(format!("{}.err", call.stem())), most);
    let rollout = match row.stream {
        Stream::Codex => codex_rollout::read(codex_home(agent).as_deref(), reader.session()),
        Stream::Claude | Stream::Gemini | Stream::Opencode | Stream::Text | Stream::Described(_) => {
            String::new()
        }
    };
    let zone = agents::zone(agent, &jiff::tz::TimeZone::system());
    reader.finish(&agents::CallExit {
        exit: code,
        complaints: &complaints.unwrap_or_default(),
        rollout: &rollout,
        now: now(),
        zone: &zone,
    })
}

/// Where Codex keeps its records: as the agent's process sees it.
pub(crate) fn codex_home(agent: &Agent) -> Option<PathBuf> {
    set(agent, "CODEX_HOME").or_else(|| set(agent, "HOME").map(|it| it.join(".codex")))
}

/// A variable that names a folder, as the agent's process sees it.
fn set(agent: &Agent, name: &str) -> Option<PathBuf> {
    let own = agent.env.get(name).map(PathBuf::from);
    own.or_else(|| std::env::var_os(name).map(PathBuf::from))
}

/// Reads the report of a call: from its last message, or from where its protocol has it.
pub(crate) fn report(
    folder: &Path,
    place: &Path,
    run: &Run,
    call: &Call,
    message: &str,
    changes: Option<Result<Vec<Change>, GitError>>,
) -> Report {
    let phase = &run.workflow.phases[call.phase];
    let promise = run.state.opening.promise.as_deref().unwrap_or_default();
    let prompt = match &phase.report {
        Protocol::Promise => redact(&prompt::render(&run.workflow, &run.state, call, "")).into_owned(),
        Protocol::Json
        | Protocol::Frontmatter(_)
        | Protocol::PrpStatus
        | Protocol::ExitSignal
        | Protocol::None => String::new(),
    };
    let generates_tests = phase.asks_for(FactName::TestsGenerated.name());
    let expected = Expected { phase: &phase.name, promise, prompt: &prompt, generates_tests };
    match &phase.report {
        Protocol::Json => {
            let written = files::text(&result_file(folder, call));
            report::read(&phase.report, expected, written.as_deref().unwrap_or(message))
        }
        Protocol::Frontmatter(pattern) => match changes {
            Some(Ok(changes)) => report_file::read(place, &changes, pattern, &phase.report, expected),
            Some(Err(error)) => Report {
                notes: vec![format!("the changes of the call could not be determined: {error}")],
                ..Report::default()
            },
            None => Report::default(),
        },
        Protocol::PrpStatus | Protocol::ExitSignal | Protocol::Promise | Protocol::None => {
            report::read(&phase.report, expected, message)
        }
    }
}

/// Takes secrets out of what the agent wrote there, once it was read.
pub(crate) fn redact_result_file(folder: &Path, call: &Call) {
    let path = result_file(folder, call);
    let Ok(text) = files::text(&path) else { return };
    if let Cow::Owned(clean) = redact(&text) {
        let _stays_as_it_was = files::replace_ours(&path, &clean);
    }
}

/// Where an agent may write its report instead of saying it.
pub(crate) fn result_file(folder: &Path, call: &Call) -> PathBuf {
    folder.join(format!("{}.result.json", call.stem()))
}
