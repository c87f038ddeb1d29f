//! The facts: every name that the controller itself supplies to conditions, one row each. What
//! conditions may name, what a report may claim, what the hook can tell without git, what a simulated
//! world says and the table in `docs/reference/conditions.md` are all derived from here.
//!
//! A new fact is a row, and a line where its supplier measures it. A row whose measuring was forgotten
//! has no value, which makes conditions unknown; it is never taken from a report instead, unless its
//! row says that it may be claimed. Facts that a workflow defines itself (`[facts]`, `files` of a check)
//! are not here.

use loop_base::value::{Value, ValueKind};

/// What is known about a fact before anything runs.
#[derive(Clone, Copy, Debug)]
pub struct FactRow {
    pub name: &'static str,
    pub kind: ValueKind,
    pub supplier: Supplier,
    /// What a count or a change is compared with.
    pub since: Since,
    pub claim: Claim,
    /// Only git can tell; a look at the file system is not enough.
    pub needs_git: bool,
    pub simulated: Simulated,
    /// One line for the reference.
    pub about: &'static str,
    /// How people and agents are told of it; they never see the name.
    pub words: FactWords,
}

/// What a fact is called in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactWords {
    /// What is counted, to stand before a colon and a number; and what is so at 0.
    Count { label: &'static str, none: &'static str },
    /// What is so, and what is so otherwise.
    State { is: &'static str, is_not: &'static str },
    /// What has one of several values, and what is so without any.
    Text { label: &'static str, none: &'static str },
}

/// Where the value of a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supplier {
    /// The engine's own counting.
    Engine,
    /// The tests that the phase's checks count, added up.
    TestCounts,
    /// How the phase's checks ended.
    Checks,
    /// The list of items, where the workflow has one.
    Items,
    /// The input as it was when the run was opened.
    Opening,
    /// What is measured after each call: the tree, the repository, the input as it is.
    World,
    /// As `World`, for the engine alone; conditions cannot name it.
    WorldUnnamed,
    /// `[facts]` of the workflow, else of the preset that defines it.
    Patterns,
    /// The agent's report.
    Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The run began.
    Run,
    /// The phase was entered.
    Visit,
    /// The iteration began, so that any amount is more than before.
    Iteration,
    /// The work on the current item began.
    Item,
    /// Compared with nothing: so it is at the moment.
    Now,
}

/// Whether an agent's report may bring the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Never,
    /// Where the run was opened with `--unverified` and no check counts.
    Unverified,
    Always,
}

/// What a simulated world says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// Nothing: the engine, the checks, the items or the report bring it there too.
    Not,
    /// This number as a rule, and from 0 to `most` where dice decide.
    Count {
        usual: u32,
        most: u32,
    },
    Is(bool),
}

impl Simulated {
    /// Returns what is so where nobody says otherwise.
    pub fn usual(self) -> Option<Value> {
        match self {
            Simulated::Not => None,
            Simulated::Count { usual, .. } => Some(usual.into()),
            Simulated::Is(it) => Some(it.into()),
        }
    }
}

const fn count(usual: u32, most: u32) -> Simulated {
    Simulated::Count { usual, most }
}

const fn is(usual: bool) -> Simulated {
    Simulated::Is(usual)
}

const NO: Simulated = Simulated::Not;

const fn number(label: &'static str, none: &'static str) -> FactWords {
    FactWords::Count { label, none }
}

const fn state(is: &'static str, is_not: &'static str) -> FactWords {
    FactWords::State { is, is_not }
}

macro_rules! facts {
    ($($fact:ident $name:literal $kind:ident $supplier:ident $since:ident $claim:ident $git:literal $simulated:expr, $about:literal, $words:expr;)*) => {
        /// The facts that the controller supplies.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FactName {
            $($fact),*
        }

        impl FactName {
            pub const ALL: &[FactName] = &[$(FactName::$fact),*];

            /// Returns the row of this fact.
            pub const fn row(self) -> FactRow {
                match self {
                    $(FactName::$fact => FactRow {
                        name: $name,
                        kind: ValueKind::$kind,
                        supplier: Supplier::$supplier,
                        since: Since::$since,
                        claim: Claim::$claim,
                        needs_git: $git,
                        simulated: $simulated,
                        about: $about,
                        words: $words,
                    }),*
                }
            }
        }
    };
}

// fact | name | kind | supplier | since | a report may claim it | needs git | simulated | meaning | in a sentence
facts! {
    Iteration "iteration" Number Engine Visit Never false NO,
        "the iteration that is judged, from 1 in this visit to the phase",
        number("iterations of this phase", "no iteration of this phase");
    ChecksFailing "checks_failing" Number Engine Now Never false NO,
        "how many of the phase's checks failed after this call",
        number("failing checks", "no check fails");
    ConsecutiveGreenRuns "consecutive_green_runs" Number Checks Run Unverified false NO,
        "full passes of the tests since the last failure; `repeat` adds to it",
        number("full passes of the tests in a row", "the tests have not passed in full");
    TestsTotal "tests_total" Number TestCounts Now Unverified false NO,
        "tests counted by the phase's checks, without those that failed before the run began",
        number("tests", "no test ran");
    TestsPassing "tests_passing" Number TestCounts Now Unverified false NO,
        "those that pass",
        number("passing tests", "no test passes");
    TestsFailing "tests_failing" Number TestCounts Now Unverified false NO,
        "those that fail, without those that failed before the run began",
        number("failing tests", "no test fails");
    TestsSkipped "tests_skipped" Number TestCounts Now Unverified false NO,
        "those that were skipped",
        number("skipped tests", "no test was skipped");
    TestsGenerated "tests_generated" Number TestCounts Run Unverified false NO,
        "tests added since the run began",
        number("tests added in this run", "no test was added in this run");
    CommitsMade "commits_made" Number World Iteration Never false count(1, 2),
        "commits made in this iteration",
        number("commits in this iteration", "nothing was committed in this iteration");
    ItemCommits "item_commits" Number World Item Never true count(1, 2),
        "commits of work that the calls on the current item made and that were not undone",
        number("commits of this task", "nothing was committed for this task");
    FilesChanged "files_changed" Number World Iteration Never false count(1, 2),
        "files changed in this iteration",
        number("files changed in this iteration", "no file was changed in this iteration");
    TreeChanged "tree_changed" Bool World Iteration Never false is(true),
        "whether this iteration changed any file",
        state("files were changed in this iteration", "no file was changed in this iteration");
    TreeClean "tree_clean" Bool World Now Never true is(true),
        "nothing is uncommitted that was not there when the run began; what is inside submodules counts",
        state("everything is committed", "there are uncommitted changes");
    WorkCommitted "work_committed" Bool World Now Never true is(true),
        "like `tree_clean`, without the files of `[items] bookkeeping` and what the checks leave behind",
        state("all work is committed", "there is uncommitted work");
    CriteriaCount "criteria_count" Number Opening Now Never false NO,
        "checkboxes in the input, below headings that contain \"criteria\"",
        number("acceptance criteria", "the input has no acceptance criteria");
    CriteriaOpen "criteria_open" Number World Now Never false count(0, 2),
        "those of them that are not ticked",
        number("acceptance criteria not ticked", "every acceptance criterion is ticked");
    InputChanged "input_changed" Bool WorldUnnamed Run Never false NO,
        "the locked input is no longer what it was, checkboxes aside",
        state("the locked input was changed", "the locked input is unchanged");
    DocsGenerated "docs_generated" Number World Run Never true count(0, 5),
        "Markdown files changed since the run began, under docs/ or at the root",
        number("documents written in this run", "no document was written in this run");
    HasAdr "has_adr" Bool World Run Never true is(false),
        "whether a decision record is among them",
        state("a decision record was written", "no decision record was written");
    NewPlans "new_plans" Number World Iteration Never true count(0, 2),
        "plan files that appeared in this iteration",
        number("plans added in this iteration", "no plan was added in this iteration");
    PlanSummarised "plan_summarised" Bool World Item Never true is(false),
        "the plan of the task that was worked on has its summary",
        state("the plan has its summary", "the plan has no summary");
    SummaryDue "summary_due" Bool World Item Never true is(false),
        "the task is to write the summary of its plan, and it is not there yet",
        state("the summary of the plan is still to be written", "no summary is still to be written");
    PrMerged "pr_merged" Bool World Run Never true is(true),
        "the pull request of the run is merged",
        state("the pull request is merged", "the pull request is not merged");
    Autonomous "autonomous" Bool Engine Run Never false NO,
        "the mode is `autonomous`",
        state("the mode is autonomous", "the mode is not autonomous");
    ItemsCompleted "items_completed" Number Items Run Never false NO,
        "items that are done, where the workflow has `[items]`",
        number("items done", "no item is done");
    ItemsRemaining "items_remaining" Number Items Now Never false NO,
        "remaining items",
        number("items still to do", "no items remain");
    TouchesSecurity "touches_security" Bool Patterns Run Never true is(false),
        "the run's changes touch authentication, permissions or secrets; `[facts]` can define it more precisely",
        state(
            "the changes touch authentication, permissions or secrets",
            "the changes touch no authentication, permissions or secrets",
        );
    SchemaChanges "schema_changes" Bool Patterns Run Never true is(false),
        "they change a database schema or a migration",
        state("the changes alter a database schema", "the changes alter no database schema");
    ExternalApis "external_apis" Bool Patterns Run Never true is(false),
        "they name addresses or keys of services outside",
        state("the changes use services outside", "the changes use no services outside");
    NewPatterns "new_patterns" Bool Patterns Run Never true is(false),
        "they add a decision record, or change how the project is built and run",
        state("the changes set a pattern for the project", "the changes set no pattern for the project");
    RequirementsOpen "requirements_open" Number Engine Run Never false NO,
        "requirements of the run that are not shown to be met, apart from those that only a person can judge",
        number("requirements that nothing shows to be met", "every requirement is shown to be met");
    Signal "signal" Text Engine Iteration Never false NO,
        "the signal that the report gave",
        FactWords::Text { label: "signal", none: "the agent gave no signal" };
    Verdict "verdict" Text Report Iteration Always false NO,
        "the decision in the report; in `json` and `prp-status` reports always in capitals",
        FactWords::Text { label: "verdict", none: "the agent reported no verdict" };
    CriticalFindings "critical_findings" Number Report Iteration Always false NO,
        "critical security findings that the report counts",
        number("critical security findings", "no critical security finding");
    HighFindings "high_findings" Number Report Iteration Always false NO,
        "security findings of high severity that the report counts",
        number("security findings of high severity", "no security finding of high severity");
    PerfTargetsMet "perf_targets_met" Bool Report Iteration Always false NO,
        "the report says that every stated performance target is met",
        state("the performance targets are met", "the performance targets are not met");
    PerfTargetsTotal "perf_targets_total" Number Report Iteration Always false NO,
        "performance targets that the requirements state",
        number("performance targets", "no performance target is stated");
}

impl FactName {
    /// Returns the fact of this name.
    pub fn named(name: &str) -> Option<FactName> {
        FactName::ALL.iter().copied().find(|it| it.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the facts of one supplier.
    pub(crate) fn supplied_by(supplier: Supplier) -> impl Iterator<Item = FactName> {
        FactName::ALL.iter().copied().filter(move |it| it.row().supplier == supplier)
    }

    /// Whether this name begins again with each iteration.
    pub fn is_of_one_iteration(name: &str) -> bool {
        FactName::named(name).is_some_and(|it| it.row().since == Since::Iteration)
    }
}

impl std::fmt::Display for Supplier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Supplier::Engine => "the engine",
            Supplier::TestCounts | Supplier::Checks => "the checks",
            Supplier::Items => "the items",
            Supplier::Opening => "the input",
            Supplier::World | Supplier::WorldUnnamed => "measured after the call",
            Supplier::Patterns => "`[facts]`",
            Supplier::Report => "the report",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, FactName, Simulated, Supplier};
    use loop_base::value::{Value, ValueKind};

    #[test]
    fn every_row_has_a_name_of_its_own_and_a_value_of_its_kind() {
        for fact in FactName::ALL {
            let row = fact.row();
            assert_eq!(FactName::named(row.name), Some(*fact), "{} is listed twice", row.name);
            match (row.simulated.usual(), row.kind) {
                (None, _)
                | (Some(Value::Int(_)), ValueKind::Number)
                | (Some(Value::Bool(_)), ValueKind::Bool) => {}
                (Some(value), kind) => panic!("{} is {kind}, simulated as {value}", row.name),
            }
        }
    }

    /// What we look up ourselves is never a matter of trust, and simulated worlds say all of it.
    #[test]
    fn only_counts_of_tests_and_what_a_report_decides_can_be_claimed() {
        for fact in FactName::ALL {
            let row = fact.row();
            let claim = match row.supplier {
                Supplier::TestCounts | Supplier::Checks => Claim::Unverified,
                Supplier::Report => Claim::Always,
                Supplier::Engine
                | Supplier::Items
                | Supplier::Opening
                | Supplier::World
                | Supplier::WorldUnnamed
                | Supplier::Patterns => Claim::Never,
            };
            assert_eq!(row.claim, claim, "{}", row.name);
            let told = matches!(row.supplier, Supplier::World | Supplier::Patterns);
            assert_eq!(row.simulated != Simulated::Not, told, "{}", row.name);
        }
    }
}
