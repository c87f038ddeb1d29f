//! The sections whose meaning is only their defaults, each argued where it is not in the name. They
//! are pure: file struct in, model out, nothing to go wrong.

use crate::proof::{CountFormat, Level};
use crate::workflow::model::{
    Agent, Backoff, Check, CleanWhen, Finish, Input, InputKind, Limits, MINUTE, MergeRules, Millis, Mirror,
    ProofRules, TESTS_CHECK, Window, WindowThen, WorkPlace, Workspace, context_bytes,
};
use crate::workflow::syntax::file::{
    AgentFile, BackoffFile, CheckFile, FinishFile, InputFile, LimitsFile, MergeFile, MirrorFile, ProofFile,
    WindowFile, WorkspaceFile,
};
use crate::workflow::syntax::typed::At;
use crate::workflow::syntax::value_types::{Length, Named};
use std::collections::BTreeMap;

const SECOND: Millis = 1_000;

pub(crate) fn input(file: &InputFile) -> Input {
    Input {
        kind: plain(&file.kind).unwrap_or(InputKind::Text),
        about: text(&file.about).unwrap_or_default(),
        lock: plain(&file.lock).unwrap_or(false),
        halt_on_edit: plain(&file.halt_on_edit).unwrap_or(false),
    }
}

pub(crate) fn workspace(file: &WorkspaceFile) -> Workspace {
    Workspace {
        at: plain(&file.at).unwrap_or(WorkPlace::Here),
        branch: text(&file.branch).unwrap_or_else(|| "loop/{{ run }}".to_owned()),
        // A worktree may hold something that its owner wants to look at.
        cleanup: plain(&file.cleanup).unwrap_or(false),
        delete_branch: plain(&file.delete_branch).unwrap_or(false),
        prepare: text(&file.prepare),
        lost_call: plain(&file.lost_call).unwrap_or_default(),
    }
}

pub(crate) fn agent(file: &AgentFile) -> Agent {
    let usual = Agent::new(file.cli.as_ref().map(|it| it.value.0.into()).unwrap_or_default());
    Agent {
        model: text(&file.model),
        permissions: plain(&file.permissions).unwrap_or(usual.permissions),
        timeout: length(&file.timeout).unwrap_or(usual.timeout),
        idle_timeout: length(&file.idle_timeout).unwrap_or(usual.idle_timeout),
        first_timeout: length(&file.first_timeout).unwrap_or(usual.first_timeout),
        memory_mb: plain(&file.memory_mb),
        processes: plain(&file.processes),
        namespace: plain(&file.namespace).unwrap_or(usual.namespace),
        env: texts(file.env.as_ref().map(|it| &it.value)),
        pass_env: list(&file.pass_env),
        args: list(&file.args),
        cli: usual.cli,
    }
}

pub(crate) fn limits(file: &LimitsFile) -> Limits {
    Limits {
        iterations: plain(&file.iterations),
        // A phase that has not come to its end in a hundred calls will not do so in the next one.
        phase_iterations: plain(&file.phase_iterations).unwrap_or(100),
        window: file.window.as_ref().map(|it| window(&it.value)),
        // Providers count by the hour or by five hours, and a try in vain costs little.
        provider_wait: length(&file.provider_wait).unwrap_or(60 * MINUTE),
        usd: plain(&file.usd),
        tokens: plain(&file.tokens),
        call_usd: plain(&file.call_usd),
        call_turns: plain(&file.call_turns),
        phase_usd: plain(&file.phase_usd),
        day_usd: plain(&file.day_usd),
        slots: plain(&file.slots),
        time: length(&file.time),
        context_bytes: plain(&file.context_bytes).unwrap_or_else(context_bytes),
    }
}

fn window(file: &WindowFile) -> Window {
    Window {
        calls: plain(&file.calls).unwrap_or(100),
        every: length(&file.every).unwrap_or(60 * MINUTE),
        then: plain(&file.then).unwrap_or(WindowThen::Ask),
    }
}

pub(crate) fn check(name: &str, file: &CheckFile) -> Check {
    Check {
        run: text(&file.run),
        // The summary of a check called `tests` is read where it can be, for the progress shown.
        counts: text(&file.counts)
            .and_then(|it| CountFormat::named(&it))
            .or((name == TESTS_CHECK).then_some(CountFormat::Auto)),
        must_count: file.counts.is_some(),
        timeout: length(&file.timeout).unwrap_or(15 * MINUTE),
        repeat: plain(&file.repeat).unwrap_or(1),
        files: texts(file.files.as_ref().map(|it| &it.value)),
        prepare: text(&file.prepare),
        proof: plain(&file.proof).unwrap_or(true),
    }
}

pub(crate) fn waits(file: &BackoffFile) -> Backoff {
    Backoff {
        first: length(&file.first).unwrap_or(SECOND),
        most: length(&file.most).unwrap_or(30 * SECOND),
        tries: plain(&file.tries).unwrap_or(5),
    }
}

pub(crate) fn finish(file: &FinishFile) -> Finish {
    Finish {
        ship: plain(&file.ship).unwrap_or_default(),
        commit_docs: plain(&file.commit_docs).unwrap_or(false),
        commit_trailer: text(&file.commit_trailer),
        begin_next: plain(&file.begin_next).unwrap_or(false),
    }
}

pub(crate) fn merge(file: &MergeFile) -> MergeRules {
    MergeRules {
        through: plain(&file.through).unwrap_or_default(),
        by: plain(&file.by).unwrap_or_default(),
        labels: list(&file.labels),
        reviewers: list(&file.reviewers),
    }
}

/// `at` and `go` are names of phases and are looked up by the caller.
pub(crate) fn proof(file: &ProofFile) -> ProofRules {
    ProofRules {
        require: plain(&file.require).unwrap_or(Level::None),
        clean: plain(&file.clean).unwrap_or(CleanWhen::Completion),
        prepare: text(&file.prepare),
        protect: list(&file.protect),
        borrow: list(&file.borrow),
        env: list(&file.env),
        // As the checks in place, which may use it too.
        network: plain(&file.network).unwrap_or(true),
        feedback: plain(&file.feedback).unwrap_or(false),
        accept_unverified: plain(&file.accept_unverified).unwrap_or(false),
        sign_key: text(&file.sign_key),
        ..ProofRules::default()
    }
}

pub(crate) fn mirror(file: &MirrorFile) -> Mirror {
    Mirror { format: plain(&file.format), dir: text(&file.dir), off: plain(&file.off).unwrap_or(false) }
}

/// Returns a section, or an empty one.
pub(crate) fn section<T: Clone + Default>(file: &Option<At<T>>) -> T {
    file.as_ref().map(|it| it.value.clone()).unwrap_or_default()
}

pub(crate) fn plain<T: Copy>(value: &Option<At<T>>) -> Option<T> {
    value.as_ref().map(|it| it.value)
}

pub(crate) fn text(value: &Option<At<String>>) -> Option<String> {
    value.as_ref().map(|it| it.value.clone())
}

pub(crate) fn length(value: &Option<At<Length>>) -> Option<Millis> {
    value.as_ref().map(|it| it.value.0)
}

pub(crate) fn list(value: &Option<At<Vec<At<String>>>>) -> Vec<String> {
    value.as_ref().map(|it| strings(&it.value)).unwrap_or_default()
}

pub(crate) fn strings(values: &[At<String>]) -> Vec<String> {
    values.iter().map(|it| it.value.clone()).collect()
}

pub(crate) fn texts(named: Option<&Named<String>>) -> BTreeMap<String, String> {
    let entries = named.iter().flat_map(|it| &it.0);
    entries.map(|(name, text)| (name.clone(), text.value.clone())).collect()
}

pub(crate) fn entries<T>(named: &Option<At<Named<T>>>) -> impl Iterator<Item = (&String, &At<T>)> {
    named.iter().flat_map(|it| &it.value.0)
}
