//! What users type. Every section and key of a workflow file is declared here, with the sentence that
//! the reference prints for it. All keys are optional at this border: `merge.rs` lays the layers over
//! each other, and `resolve.rs` says what is missing and fills in the defaults.

use super::file_words::AgentName;
use super::phase_file::{BreakerFile, PhaseFile, ProgressFile, RejectFile};
use super::shape::{DifferingFile, FrontmatterFile, GateUseFile};
use super::typed::{At, Key, Section, Typed, section};
use super::value_types::{Length, Named, Texts};
use crate::proof::Level;
use crate::workflow::grammar::condition::Condition;
use crate::workflow::grammar::problem::{Place, Sources};
use crate::workflow::model::ErrorClass;
use crate::workflow::model::{
    CleanWhen, InputKind, ItemSource, LostCall, MergeBy, MergeThrough, MirrorFormat, Permissions, Protocol,
    Ship, ShownKind, Signal, WindowThen, WorkPlace,
};
use toml::de::{DeTable, DeValue};

section! {
    /// The top of a workflow file.
    WorkflowFile "a workflow" {
        /// What the workflow is called. The same project, workflow name and input mean the same run.
        name: String,
        /// One line for people.
        about: String,
        /// The preset that this file changes: `tdd`, `engineering`, `plan` or `ralph`.
        extends: String,
        /// The autonomy mode in force, one of `[modes]`.
        mode: String,
        /// What a run works on.
        input: InputFile,
        /// Where it works.
        workspace: WorkspaceFile,
        /// Which agent works, and how it reports.
        agent: AgentFile,
        /// Which model each role asks for.
        models: ModelsFile,
        /// What a run may spend.
        limits: LimitsFile,
        /// Commands that are run to measure the work, by name.
        checks: Named<CheckFile>,
        /// Booleans about the run's changes, by name.
        facts: Named<FactFile>,
        /// What a group of phases is repeated for.
        items: ItemsFile,
        /// Calls that have a prompt and deliverables of their own, by name.
        skills: Named<SkillFile>,
        /// The phases, in the order they run.
        phase: Vec<At<PhaseFile>>,
        /// Questions to a person at the end of a phase, by name.
        gates: Named<GateFile>,
        /// Autonomy modes, by name.
        modes: Named<ModeFile>,
        /// How failures are retried.
        retries: RetriesFile,
        /// What is offered or done at the end.
        finish: FinishFile,
        /// How the work of a system is merged.
        merge: MergeFile,
        /// What must be shown before the work of a system is merged, besides its items, proof and gates.
        complete: Vec<At<CompleteFile>>,
        /// How the work is proven before the run is completed.
        proof: ProofFile,
        /// The state file in the format of another tool.
        mirror: MirrorFile,
        /// How a person is told.
        notify: NotifyFile,
    }
}

section! {
    /// The user's own configuration, for all projects.
    ConfigFile "the user configuration" {
        /// Which agent works, and how it reports.
        agent: AgentFile,
        /// What a run may spend.
        limits: LimitsFile,
        /// How a person is told.
        notify: NotifyFile,
    }
}

section! {
    /// What a run works on.
    InputFile "input" {
        /// A `file` with success criteria, a `job` of the queue, a `phase` of a roadmap, a `design` file
        /// or sentence, a `text`, or `none`. Without it, `text`.
        kind: InputKind,
        /// What is asked for when it is missing.
        about: String,
        /// The text is fixed when the run opens; ticking a checkbox is the only edit allowed. Off by
        /// default.
        lock: bool,
        /// A change of the locked text halts the run. Off by default: it is a warning.
        halt_on_edit: bool,
    }
}

section! {
    /// Where a run works.
    WorkspaceFile "[workspace]" {
        /// `here`, in the working tree of the project (the default), or in a `worktree` of its own.
        at: WorkPlace,
        /// The branch of that worktree, a template. By default `loop/{{ run }}`.
        branch: String,
        /// Removes the worktree once the run is completed. Off by default; the branch stays.
        cleanup: bool,
        /// Deletes the branch too, once it is merged. Off by default.
        delete_branch: bool,
        /// A command that is run once in a worktree that was just made, by `sh -c`.
        prepare: String,
        /// What happens to the files of a call that a crash ended: `judge` (the default: they stay, and the
        /// call is judged by them) or `undo` (they are saved in a snapshot, the tree is put back to the last
        /// commit, and the call does not count).
        lost_call: LostCall,
    }
}

section! {
    /// Which agent works, and how it reports.
    AgentFile "[agent]" {
        /// `claude`, `codex`, `gemini`, `opencode`, `copilot`, `qwen`, `pi`, one that a file of yours describes,
        /// or `command`. Without it, the only one installed.
        cli: AgentName,
        /// The model for every phase that names none.
        model: String,
        /// `all` (the default: everything, without asking), `edit` (changes files of the working tree and
        /// cannot commit, with every agent) or `agent` (what the agent's own configuration says).
        permissions: Permissions,
        /// The longest call. By default 45m.
        timeout: Length,
        /// A call without output, while none of its processes works, is ended after this. By default 10m.
        idle_timeout: Length,
        /// A call that has printed nothing at all is ended after this. By default 5m.
        first_timeout: Length,
        /// Mebibytes of memory for everything that a call starts. It is enforced where loop may use the
        /// memory controller of cgroup v2; elsewhere the call says that it is not. Without it, no limit.
        memory_mb: u64,
        /// Processes and threads of a call. Without the pids controller of cgroup v2 it counts those of
        /// the user that the call adds, and root is not limited. By default 4096.
        processes: u64,
        /// Each call gets a PID namespace of its own where the kernel grants one, so that nothing of it can
        /// outlive it. Programs that change the user, such as `sudo`, do not work there. Off by default.
        namespace: bool,
        /// The report protocol of every phase that names none. By default `json`.
        report: Protocol,
        /// The signal of every phase that names none.
        signal: Signal,
        /// Environment variables of every call.
        env: Named<String>,
        /// Names of your own variables that the agent gets in addition to those that it needs. A name that
        /// is not set here is not passed on.
        pass_env: Vec<At<String>>,
        /// Further arguments. For `command`, the program and its arguments.
        args: Vec<At<String>>,
    }
}

section! {
    /// Which model each role asks for.
    ModelsFile "[models]" {
        /// The profile in force.
        profile: String,
        /// For each profile a table of roles and their models.
        profiles: Named<Named<String>>,
        /// Models of roles, whatever the profile.
        roles: Named<String>,
    }
}

section! {
    /// What a run may spend.
    LimitsFile "[limits]" {
        /// Iterations of the run, over all restarts. Without it there is no such limit.
        iterations: u32,
        /// Iterations of one visit to a phase. By default 100.
        phase_iterations: u32,
        /// A limit on calls per time, over all runs of the project.
        window: WindowFile,
        /// How long to wait for a provider that names no time. By default 60m.
        provider_wait: Length,
        /// Money, in US dollars.
        usd: f64,
        /// Tokens of all classes: input, cache writes, cache reads and output.
        tokens: u64,
        /// The most that one call may cost, in US dollars; a call of unknown cost counts as this much.
        call_usd: f64,
        /// Requests to the model in one call.
        call_turns: u32,
        /// Money for all calls of one phase, in US dollars.
        phase_usd: f64,
        /// Money for all runs of this home on one day, in US dollars. A day begins at midnight local time.
        day_usd: f64,
        /// Calls of one account at once, over all runs of this home; a run that finds none free waits in line.
        slots: u32,
        /// Time at work; waiting for a person does not count.
        time: Length,
        /// Bytes of documents that a prompt contains as `{{ context }}`. By default 65536.
        context_bytes: u64,
    }
}

section! {
    /// A limit on calls per time.
    WindowFile "window" {
        /// How many calls. By default 100.
        calls: u32,
        /// The time that it applies to. By default 60m.
        every: Length,
        /// What happens then: `ask` (the default; without a terminal the run pauses), `wait`, `pause` or
        /// `abort`.
        then: WindowThen,
    }
}

section! {
    /// A command that is run to measure the work. It passes when it exits with 0.
    CheckFile "[checks.NAME]" {
        /// The command, run by `sh -c`. For `build`, `tests`, `lint`, `types` and `validation` it is
        /// found in the project where it is missing.
        run: String,
        /// How its summary is read: `auto`, or the name of a format. If it is given, a result without
        /// tests is a failure.
        counts: String,
        /// The longest it may take. By default 15m.
        timeout: Length,
        /// How often in a row it has to pass: a pass is repeated at once. By default 1.
        repeat: u32,
        /// Metrics that count files which were added or changed since the run began: name and glob.
        files: Named<String>,
        /// A command that a fresh checkout needs first.
        prepare: String,
        /// Whether it is part of the proof. On by default; a slow check may be left out.
        proof: bool,
    }
}

section! {
    /// A boolean about the run's changes: one of `path` and `diff`.
    FactFile "[facts.NAME]" {
        /// True when a changed path matches this glob, or one of these.
        path: Texts,
        /// True when an added line matches this regular expression.
        diff: String,
    }
}

section! {
    /// What a group of phases is repeated for.
    ItemsFile "[items]" {
        /// What one is called; phases say `each = "…"`.
        name: String,
        /// A list of names, or a text: `queue:FIELD` of the job, `plans:FOLDER` (tasks of plan files
        /// without a summary), `json:FILE#/POINTER` (an entry is a name, or an object with `id`,
        /// `name`, `kind`, `group`, `order` and `body`), or `command:COMMAND` (one item a line).
        from: ItemSource,
        /// Globs of files that only record the work. A commit of nothing else does not count as work,
        /// unless the item consists of such files only.
        bookkeeping: Vec<At<String>>,
    }
}

section! {
    /// A call that has a prompt and deliverables of its own.
    SkillFile "[skills.NAME]" {
        /// What it is for, in one line; part of its prompt.
        about: String,
        /// The prompt, a template. Without it, the prompt of the phase.
        prompt: String,
        /// A file with the prompt, beside the workflow.
        prompt_file: String,
        /// Files that it must leave behind: there, not empty, changed in this run.
        deliverables: Vec<At<String>>,
        /// Names that its report must contain; if one is missing, the skill is not done.
        reports: Vec<At<String>>,
        /// What only a person can say before it is called, such as `a deploy target`. It is asked once for a
        /// project; the answer is the `target`, or `skip`.
        needs: String,
        /// What it needs, so that nobody is asked.
        target: String,
    }
}

section! {
    /// A question to a person at the end of a phase.
    GateFile "[gates.NAME]" {
        /// The question.
        ask: String,
        /// Who should answer it.
        by: String,
        /// The phase at whose end it asks; it is then not listed in that phase's `gates`.
        at: String,
        /// The condition for asking in any mode. Unknown counts as true. A fact about the change that becomes true
        /// after that phase is asked about where the proof is taken.
        when: Condition,
        /// Always asked, whatever the mode and the condition say. Off by default.
        required: bool,
        /// How long to wait for the answer before the run halts. By default forever.
        timeout: Length,
        /// The phase that "changes" sends the work to. By default the phase of the gate.
        changes_to: String,
        /// Only an approval that one of the approvers signed counts. Off by default.
        sign: bool,
        /// Takes only security keys, whose signature shows that a person touched them. Needs `sign`. Off by default.
        presence: bool,
        /// Who may sign: a file in the format of `ssh-keygen` for allowed signers, relative to the
        /// project. It is read once, when the run is opened.
        approvers: String,
        /// How long an approval is accepted before the gate asks again. By default forever, for
        /// signed gates 24 hours.
        expires: Length,
        /// Accounts of the code host whose review or comment on the pull request answers the gate. Our own
        /// account never does. By default none: the gate is asked here only.
        logins: Vec<At<String>>,
        /// Who is asked for a review on the pull request.
        reviewers: Vec<At<String>>,
    }
}

section! {
    /// An autonomy mode.
    ModeFile "[modes.NAME]" {
        /// The gates that are always asked in this mode.
        gates: Vec<At<String>>,
    }
}

section! {
    /// How failures are retried.
    RetriesFile "[retries]" {
        /// How often one failure is retried. By default 3.
        at_most: u32,
        /// The run halts when the same error occurs this often in a row. By default 3.
        same_error: u32,
        /// Failures that the whole run may have. By default 10.
        total: u32,
        /// The skill that diagnoses a failure before the next try.
        with: String,
        /// A different error starts the count again. On by default.
        reset_on_different: bool,
        /// Classes of errors that are never retried.
        never: Vec<At<ErrorClass>>,
        /// Classes of errors that go away with time, and how long to wait for them.
        backoff: Named<BackoffFile>,
    }
}

section! {
    /// Waits between tries, each twice as long as the one before.
    BackoffFile "backoff" {
        /// The first wait. By default 1s.
        first: Length,
        /// The longest. By default 30s.
        most: Length,
        /// How many. By default 5.
        tries: u32,
    }
}

section! {
    /// What is offered or done at the end.
    FinishFile "[finish]" {
        /// Branch, commit, push and pull request: `off` (the default), `offer` or `auto`.
        ship: Ship,
        /// The run's own documents are committed. Off by default.
        commit_docs: bool,
        /// The last line of loop's own commits, such as `Co-Authored-By: …`. None by default.
        commit_trailer: String,
        /// Begins the next ready system of the queue once this one is complete. Off by default.
        begin_next: bool,
    }
}

section! {
    /// How the work of a system is merged.
    MergeFile "[merge]" {
        /// `gh` (a pull request), `push` (a merge that is pushed to the remote), `local` (a merge in this repository
        /// only) or `auto` (the default: `gh` where it is installed and the remote is on GitHub, else `push` where a
        /// remote has the branch, else `local`).
        through: MergeThrough,
        /// Who merges the pull request: `loop` (the default), once the merged tree is proven, or `people`.
        by: MergeBy,
        /// Labels of the pull request.
        labels: Vec<At<String>>,
        /// Who is asked to review the pull request.
        reviewers: Vec<At<String>>,
    }
}

section! {
    /// A row of the completion list. It is open until its phase has passed, and an open row blocks the merge.
    CompleteFile "[[complete]]" {
        /// What the list calls it.
        name: String,
        /// The phase that must pass.
        phase: String,
        /// A skill of that phase; the row does not apply where it was skipped for a reason.
        skill: String,
        /// Which result of the phase the list quotes: `tests`, `checks` (the default), `security`, `performance` or
        /// `review`.
        shows: ShownKind,
    }
}

section! {
    /// How the work is proven before the run is completed.
    ProofFile "[proof]" {
        /// The least that a completed run needs: `red-to-green`, `new-test`, `approved`,
        /// `unchanged-green` or `none`, the default. Less is a question to a person.
        require: Level,
        /// When the checks run in a clean checkout: `completion` (the default) or `never`.
        clean: CleanWhen,
        /// A command that a clean checkout needs first, such as `npm ci`.
        prepare: String,
        /// Globs of further files that only a person may change.
        protect: Vec<At<String>>,
        /// Ignored folders that a clean checkout gets a copy of, beside those that package managers
        /// mark.
        borrow: Vec<At<String>>,
        /// Variables that checks in a clean checkout see, beside the usual ones.
        env: Vec<At<String>>,
        /// Whether checks in a clean checkout may use the network. On by default.
        network: bool,
        /// The proof is taken before this phase ends. By default the last.
        at: String,
        /// The phase that the run goes back to, once, when the proof finds something. By default the first.
        go: String,
        /// Tells the agent once when nothing measures its work. Off by default.
        feedback: bool,
        /// Ships and merges unverified runs, and starts what depends on them. Off by default.
        accept_unverified: bool,
        /// The SSH key that signs the record of a completed run.
        sign_key: String,
    }
}

section! {
    /// The state file in the format of another tool. It is written and never read back.
    MirrorFile "[mirror]" {
        /// `prp-session`, `domain-memory`, `planning` or `task-state`.
        format: MirrorFormat,
        /// Where it is written, a template.
        dir: String,
        /// Writes none.
        off: bool,
    }
}

section! {
    /// How a person is told.
    NotifyFile "[notify]" {
        /// A command, run by `sh -c` at a question, a halt, a provider limit and the end, with `LOOP_RUN`,
        /// `LOOP_STATUS`, `LOOP_REASON` and `LOOP_NEXT_STEP`.
        run: String,
    }
}

/// Every section with its keys, for the reference.
pub fn reference() -> Vec<(&'static str, &'static [&'static str], &'static [Key])> {
    fn entry<T: Section>() -> (&'static str, &'static [&'static str], &'static [Key]) {
        (T::TITLE, T::ABOUT, T::KEYS)
    }
    vec![
        entry::<WorkflowFile>(),
        entry::<InputFile>(),
        entry::<WorkspaceFile>(),
        entry::<AgentFile>(),
        entry::<ModelsFile>(),
        entry::<LimitsFile>(),
        entry::<WindowFile>(),
        entry::<CheckFile>(),
        entry::<FactFile>(),
        entry::<ItemsFile>(),
        entry::<SkillFile>(),
        entry::<PhaseFile>(),
        entry::<DifferingFile>(),
        entry::<FrontmatterFile>(),
        entry::<ProgressFile>(),
        entry::<BreakerFile>(),
        entry::<RejectFile>(),
        entry::<GateUseFile>(),
        entry::<GateFile>(),
        entry::<ModeFile>(),
        entry::<RetriesFile>(),
        entry::<BackoffFile>(),
        entry::<FinishFile>(),
        entry::<MergeFile>(),
        entry::<CompleteFile>(),
        entry::<ProofFile>(),
        entry::<MirrorFile>(),
        entry::<NotifyFile>(),
    ]
}

/// Returns the JSON Schema of a workflow file, as it is published.
pub fn schema_text() -> String {
    let mut schema = WorkflowFile::schema();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A workflow of loop".into();
    format!("{schema:#}\n")
}

/// Reads a whole file. What cannot be read is reported and left out.
pub(crate) fn read_file<T: Typed + Default>(text: &str, source: usize, sources: &mut Sources) -> T {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        sources.refuse(&Place { source, span }, format!("not TOML: {}", error.message()));
    }
    if !errors.is_empty() {
        return T::default();
    }
    sources.suggest_by(belongs);
    let whole = Place { source, span: 0..0 };
    T::read(&DeValue::Table(table.into_inner()), &whole, sources).unwrap_or_default()
}

/// Says where a key belongs that stands in the wrong section.
fn belongs(key: &str, title: &str) -> Option<String> {
    let homes: Vec<&str> = reference()
        .into_iter()
        .filter(|(it, _, keys)| *it != title && keys.iter().any(|it| it.name == key))
        .map(|(it, _, _)| it)
        .collect();
    match homes.as_slice() {
        [] => None,
        homes => Some(format!("\"{key}\" belongs to {}", homes.join(" or "))),
    }
}
