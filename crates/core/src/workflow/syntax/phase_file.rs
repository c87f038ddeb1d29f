//! What users type about a phase; the sections around it are in `file.rs`.

use super::file_words::{BreakerThen, Expect};
use super::shape::{GateEntry, ModelFile};
use super::typed::{At, Key, Section, Typed, section};
use crate::workflow::grammar::condition::Condition;
use crate::workflow::grammar::problem::{Place, Sources};
use crate::workflow::model::{Back, PhaseProof, Protocol, RejectThen, Signal};
use toml::de::DeValue;

section! {
    /// A phase. It ends when its exit condition is met and its signal given in the same iteration, and its
    /// skills, deliverables, checks and gates allow it.
    PhaseFile "[[phase]]" {
        /// What it is called: letters, digits, `_` and `-`.
        name: String,
        /// A phase of your own in a file that extends a preset: the phase before it.
        after: String,
        /// Removes the preset's phase of this name.
        off: bool,
        /// The goal, in one line; part of the prompt.
        goal: String,
        /// The agent's role, and the key to its model in `[models]`.
        role: String,
        /// Its calls, in order, one iteration each; the exit is judged after the last.
        skills: Vec<At<String>>,
        /// Files that it must leave behind: there, not empty, changed in this run.
        deliverables: Vec<At<String>>,
        /// The prompt, a template.
        prompt: String,
        /// A file with the prompt, beside the workflow.
        prompt_file: String,
        /// Documents that are in the prompt as `{{ context }}`: paths in the working tree, `FILE#HEADING`
        /// for one section, a glob for the newest of its files, `item` for the item's own document,
        /// `requirements` for the table of requirements.
        context: Vec<At<String>>,
        /// A model's name, or `{ of = […], other_than = "PHASE", unknown = "MODEL" }`.
        model: ModelFile,
        /// How the agent reports: `prp-status`, `exit-signal`, `promise`, `json`, `none`, or
        /// `{ frontmatter = "GLOB" }`.
        report: Protocol,
        /// What the agent must say to end the phase: a word or a list of words of its report, `own` (the
        /// default) or `none`.
        signal: Signal,
        /// The checks that are run after each iteration.
        checks: Vec<At<String>>,
        /// `failing`: failing tests are expected here and are not an error. By default `passing`.
        expect: Expect,
        /// The condition for ending the phase. Without it: all skills done and `checks_failing == 0`.
        exit: Condition,
        /// Metrics that show progress. By default up `commits_made`, `files_changed` and
        /// `tests_passing`, down `tests_failing` and `checks_failing`.
        progress: ProgressFile,
        /// When a phase without progress is stopped. By default after 3 iterations without progress or 5
        /// with the same error, never where `[retries]` applies.
        breaker: BreakerFile,
        /// Its share of the progress shown. By default the mean of the other phases.
        weight: u32,
        /// The name of the items that it is repeated for. Phases with the same name follow one another.
        each: String,
        /// Gates at its end: names, or `{ name = "NAME", when = "CONDITION" }`.
        gates: Vec<At<GateEntry>>,
        /// The phase that follows, or `done`. By default the next one in the file.
        next: String,
        /// The way back when it rejects what came before.
        reject: RejectFile,
        /// Failures here follow `[retries]`, where there is such a section. On by default.
        retries: bool,
        /// Names from its report that conditions may use.
        claims: Vec<At<String>>,
        /// Its iterations count against `limits.iterations`. On by default.
        counted: bool,
        /// Its own limit, instead of `limits.phase_iterations`.
        iterations: u32,
        /// `tree` (the default: checks run in place) or `clean` (in a fresh checkout).
        proof: PhaseProof,
        /// Checks that must have a command before it ends; a person is asked for a missing one.
        require: Vec<At<String>>,
    }
}

section! {
    /// Metrics that show progress.
    ProgressFile "progress" {
        /// Names that rise.
        up: Vec<At<String>>,
        /// Names that fall.
        down: Vec<At<String>>,
    }
}

section! {
    /// When a phase without progress is stopped. Only the reasons that are named here stop it.
    BreakerFile "breaker" {
        /// Iterations in a row without progress.
        no_progress: u32,
        /// Iterations in a row with the same error.
        same_error: u32,
        /// Iterations in a row without a report, or with a claim that was not confirmed.
        failures: u32,
        /// `halt` (the default), or `pivot`: first one fresh call that is told what was tried.
        then: BreakerThen,
        /// The reason shown when it opens, instead of what it counted.
        reason: String,
    }
}

section! {
    /// The way back when a phase rejects what came before.
    RejectFile "reject" {
        /// The condition for it.
        when: Condition,
        /// The phase that repairs it.
        go: String,
        /// How often it may go back; after that, `then` applies.
        at_most: u32,
        /// `ask` (the default: a person decides) or `halt`.
        then: RejectThen,
        /// `full` (the default) repeats the phases in between, `direct` returns as soon as `go` has passed.
        back: Back,
        /// The reason that is shown when it has gone back too often.
        reason: String,
    }
}
