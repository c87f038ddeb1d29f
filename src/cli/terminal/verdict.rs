//! The last lines of a run: how it ended and what to do next. A completed run says what was proven,
//! what changed, and what it took; any other end says why, shows the end of what failed, and the open
//! question with its choices. The whole story is `loop show`.

use super::time_taken::time_taken;
use crate::measure::uncommitted::{self, git_status_now};
use crate::tree::git::Git;
use crate::tree::git_text::{is_object_id, listed_paths};
use crate::tree::tree_status::shown;
use crate::world::question_text::QuestionText;
use crate::world::real::VIEW;
use crate::world::wait::now;
use loop_base::text::{counted, sanitise};
use loop_base::time::length;
use loop_base::value::Value;
use loop_core::agent_table::AgentRow;
use loop_core::documents::input;
use loop_core::engine::{CheckOutcome, CheckResult, FileCounts, Landing, Source, State, Status};
use loop_core::facts::FactName;
use loop_core::proof::is_test_path;
use loop_core::workflow::model::Workflow;
use loop_supervise::tail::tail;
use std::collections::BTreeMap;
use std::path::Path;

/// What stands before a line of what a program printed.
pub(crate) const QUOTED: &str = "  | ";

/// Lines of an end that is not a completion. They fit on a terminal of 24 rows with its prompt.
const LINES_MOST: usize = 20;

/// Lines that are shown of what failed; the log has all of them.
const OUTPUT_LINES: usize = 6;

/// Warnings at a completion, the newest, so that it stays within nine lines.
const WARNINGS_SHOWN: usize = 2;

/// Files that are named; the report lists more.
const FILES_NAMED: usize = 3;

/// Files whose lines are counted; more would not fit into a command line.
const FILES_COUNTED: usize = 500;

/// The end of an agent's complaints that is read for its last lines.
const COMPLAINTS_READ: u64 = 4 << 10;

/// What a verdict is about.
pub(crate) struct RestingRun<'a> {
    pub workflow: &'a Workflow,
    pub state: &'a State,
    /// The working tree.
    pub place: &'a Path,
    /// The run's folder, where the output of its calls lies.
    pub folder: &'a Path,
    /// The question that was put to the person here.
    pub asked: Option<u32>,
    /// The command that comes next.
    pub next: &'a str,
    /// Another command that many people want instead.
    pub other: Option<String>,
    /// Whether that command is told; one that is offered in a question right after is told when the
    /// answer is no.
    pub tells_next: bool,
    /// What the run's kind of work adds to its end, a line each.
    pub more: &'a [String],
}

impl RestingRun<'_> {
    /// Returns the lines, without the next step, which is the last of all.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = match Status::of(self.state) {
            Status::Completed => self.completed(),
            Status::Ready
            | Status::Running
            | Status::Waiting
            | Status::Paused
            | Status::Halted
            | Status::Stopped
            | Status::Capped
            | Status::Cancelled => self.not_completed(),
        };
        lines.iter().map(|it| sanitise(it)).collect()
    }

    fn completed(&self) -> Vec<String> {
        let state = self.state;
        let verified = if state.verified() { "" } else { " (unverified)" };
        let input = state.opening.input.lines().next().unwrap_or_default();
        let mut lines = vec![format!("completed{verified}: {input}")];
        lines.push(state.reason(self.workflow));
        lines.extend(self.more.iter().cloned());
        lines.extend(self.design());
        lines.push(self.changed());
        lines.extend(self.committed_too());
        lines.extend(state.shipped.as_ref().map(|it| format!("shipped: {it}")));
        lines.push(self.spent());
        let warnings: Vec<&String> =
            state.warnings.iter().filter(|it| !self.is_skip_told_by(&lines[1], it)).collect();
        let hidden = warnings.len().saturating_sub(WARNINGS_SHOWN);
        lines.extend(warnings[hidden..].iter().map(|it| format!("warning: {it}")));
        if 0 < hidden {
            lines.push(format!("{} more; all of them: loop log", counted(hidden, "earlier warning")));
        }
        lines
    }

    /// Whether a warning says of a skipped phase what the line about the proof has said.
    fn is_skip_told_by(&self, reason: &str, warning: &str) -> bool {
        self.workflow.phases.iter().any(|it| {
            reason.ends_with(&format!("a person skipped {}", it.name))
                && warning.starts_with(&format!("{} was skipped by a person: ", it.name))
        })
    }

    fn not_completed(&self) -> Vec<String> {
        let (state, status) = (self.state, Status::of(self.state));
        let reason = state.reason(self.workflow);
        let mut reason = reason.lines();
        let reason_line = reason.next().unwrap_or_default();
        let mut lines = vec![match status {
            // One iteration was asked for, and there is more to do.
            Status::Running | Status::Ready => format!("not finished; next is {reason_line}"),
            status => format!("{}: {reason_line}", status.word()),
        }];
        let findings: Vec<String> = reason.map(|it| format!("  {it}")).collect();
        let question = state.question();
        let text = question.map(|it| QuestionText::of(self.workflow, state, it));
        let choices = match (&text, question) {
            (Some(text), Some(question)) if self.asked != Some(question.id) => text.choices(),
            (Some(_) | None, _) => Vec::new(),
        };
        let mut told: Vec<String> = findings;
        told.extend(self.more.iter().map(|it| format!("  {it}")));
        told.extend(text.iter().flat_map(|it| &it.evidence).map(|it| format!("  {it}")));
        // The headline, the choices with their title, what it took and the next step have their places.
        let taken = 3 + choices.len() + usize::from(!choices.is_empty());
        let room = LINES_MOST.saturating_sub(taken);
        let wait = self.wait(&lines[0]);
        if let (None, Some(trouble)) = (question, &state.last_trouble)
            && !lines.iter().chain(&wait).any(|it| it.contains(&trouble.why))
            && (reason_line.is_empty() || !trouble.why.starts_with(reason_line))
        {
            lines.push(format!("  call {} went wrong: {}", trouble.call, trouble.why));
            let complaint = trouble.complaint.iter().filter(|it| !trouble.why.contains(*it));
            lines.extend(complaint.map(|it| format!("{QUOTED}{it}")));
        }
        lines.extend(wait);
        let said: Vec<&String> = lines.iter().chain(&told).collect();
        let most = room.saturating_sub(told.len()).clamp(3, OUTPUT_LINES + 1);
        let output = self.failing_output(most, &said);
        let more = (told.len() + output.len()).saturating_sub(room);
        if 0 < more {
            told.truncate(told.len().saturating_sub(more + 1));
            told.push("  … more: loop show".to_owned());
        }
        lines.extend(told);
        lines.extend(output);
        if let Some(question) = question.filter(|_| !choices.is_empty()) {
            lines.push(format!("question {}, answer with one of:", question.id));
            lines.extend(choices);
        }
        lines.push(self.spent());
        lines
    }

    /// Until when a run that was paused makes no call, so that nobody continues it only to wait.
    fn wait(&self, headline: &str) -> Option<String> {
        let now = now();
        let (until, why) = self.state.no_call_before(now).filter(|it| !headline.contains(it.1))?;
        Some(format!("  no call before {until} ({} left): {why}", length(until.since(now))))
    }

    /// The end of what a check or the agent printed before the run stopped, without the last lines that
    /// were said already: the cause is usually the last line of an agent's complaints.
    fn failing_output(&self, most: usize, said: &[&String]) -> Vec<String> {
        let shows = match Status::of(self.state) {
            Status::Halted | Status::Capped => true,
            Status::Ready
            | Status::Running
            | Status::Waiting
            | Status::Paused
            | Status::Stopped
            | Status::Completed
            | Status::Cancelled => false,
        };
        let Some(feedback) = self.state.feedback.as_ref().filter(|_| shows && 1 < most) else {
            return Vec::new();
        };
        let is_shown = |it: &&CheckResult| {
            matches!(it.outcome, CheckOutcome::Failed(_)) && !it.excerpt.trim().is_empty()
        };
        let failed = feedback.failing.iter().find(is_shown);
        let (mut title, text) = match (&feedback.trouble, failed) {
            (Some(_), _) => {
                let file = self.folder.join(format!("call-{}.err", self.state.calls_total));
                (
                    "last lines of the agent's error output".to_owned(),
                    tail(&file, COMPLAINTS_READ).unwrap_or_default(),
                )
            }
            (None, Some(check)) => (format!("last lines of {}", check.name), check.excerpt.clone()),
            (None, None) => return Vec::new(),
        };
        let mut lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
        if feedback.trouble.is_some() {
            let is_said = |line: &str| said.iter().any(|it| it.contains(line.trim_start()));
            while lines.pop_if(|it| is_said(it)).is_some() {
                title = "the agent's error output before that".to_owned();
            }
        }
        if lines.is_empty() {
            return Vec::new();
        }
        let last = lines[lines.len().saturating_sub(most - 1)..].iter();
        std::iter::once(format!("  {title}:")).chain(last.map(|it| format!("{QUOTED}{it}"))).collect()
    }

    /// What became of the design that the run worked on.
    fn design(&self) -> Option<String> {
        let state = self.state;
        let known = |name: FactName| state.seen.values.get(name.name());
        let name = self.workflow.input.lock.then(|| state.opening.document())?;
        let text = state.opening.path.as_ref().and_then(|it| loop_base::files::text(Path::new(it)).ok());
        let total = text.map(|it| i64::from(input::criteria(&it).total));
        let criteria = match (total, known(FactName::CriteriaOpen)) {
            (Some(count @ 1..), Some(Value::Int(open))) => {
                format!(", {} of {count} criteria met", count - open)
            }
            _ => String::new(),
        };
        let git = known(FactName::TreeClean).map(|_| format!(", {}", self.git_state())).unwrap_or_default();
        Some(format!("design: {name}{criteria}{git}"))
    }

    /// What `git status` says now. A run may be complete although it lists something: files that were
    /// there before the run, and what the checks left before the first call.
    fn git_state(&self) -> String {
        let status =
            match git_status_now(self.place, &self.folder.join(VIEW), self.state.opening.git_programs()) {
                Ok(status) => status,
                Err(_) => return "git status unknown".to_owned(),
            };
        let mut parts = Vec::new();
        if !status.by_checks.is_empty() {
            parts.push(format!("{} (left by the checks)", shown(&status.by_checks, FILES_NAMED)));
        }
        if !status.others.is_empty() {
            parts.push(shown(&status.others, FILES_NAMED));
        }
        if parts.is_empty() {
            return "git status clean".to_owned();
        }
        format!("uncommitted: {}", parts.join(", "))
    }

    fn changed(&self) -> String {
        let is_merged = matches!(self.state.landing, Some(Landing::Merged { .. }));
        let merged = if is_merged { self.committed_files() } else { None };
        let is_told = |it: &&str| merged.as_ref().is_none_or(|all| all.contains_key(*it));
        let files: Vec<&str> = self.state.changed_files(self.workflow).into_iter().filter(is_told).collect();
        if files.is_empty() {
            return "changed: nothing".to_owned();
        }
        let total = merged.as_ref().map_or(files.len(), BTreeMap::len);
        let named = files.iter().take(FILES_NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = total.saturating_sub(FILES_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let commits = match self.commits() {
            0 if is_merged => "committed".to_owned(),
            0 => "not committed".to_owned(),
            count => counted(count, "commit"),
        };
        let branch = self.state.branch.clone().or_else(|| branch(self.place));
        let branch = match (&self.state.landing, branch) {
            (Some(Landing::Merged { into, .. }), _) => format!(", merged into {into}"),
            (_, Some(branch)) => format!(" on {branch}"),
            (_, None) => String::new(),
        };
        let counts = match &merged {
            Some(merged) => Some(counts_of(merged)),
            None => self.state.seen.changed.as_ref().map(|it| it.run),
        };
        let counts =
            counts.map(|it| [(it.created, "created"), (it.modified, "modified"), (it.deleted, "deleted")]);
        let counts = counts.into_iter().flatten().filter(|it| 0 < it.0);
        let mut kinds: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        kinds.extend(self.changed_lines());
        kinds.extend(self.tests_added());
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        format!("changed: {}{kinds}, {commits}{branch}: {named}{more}", counted(total, "file"))
    }

    /// The files that the commits of the run changed, with git's letter for how. What was written beside them is in no
    /// merge.
    fn committed_files(&self) -> Option<BTreeMap<String, char>> {
        let base = self.state.baseline.as_ref()?.facts.commit.as_str();
        let last = self.state.seen.commit.as_str();
        if ![base, last].iter().all(|it| is_object_id(it)) {
            return None;
        }
        let words = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", base, last, "--"];
        let output = Git::reopen(self.repository()).ok()?.run(words).ok()?;
        let fields: Vec<String> = listed_paths(&output).map(|it| it.to_string_lossy().into_owned()).collect();
        Some(fields.chunks_exact(2).filter_map(|it| Some((it[1].clone(), it[0].chars().next()?))).collect())
    }

    /// Where git can be asked about the run's commits: a worktree is gone once its work is merged.
    fn repository(&self) -> &Path {
        let root = self.state.opening.worktree.as_ref().map(|it| Path::new(&it.root));
        root.filter(|_| !self.place.exists()).unwrap_or(self.place)
    }

    /// How many lines the commits of the run added and removed in the files that it changed.
    fn changed_lines(&self) -> Option<String> {
        let (base, last) =
            (self.state.baseline.as_ref()?.facts.commit.as_str(), self.state.seen.commit.as_str());
        if base == last || ![base, last].iter().all(|it| is_object_id(it)) {
            return None;
        }
        let files = self.state.seen.files.iter().take(FILES_COUNTED).cloned();
        let words = ["diff", "--numstat", "--no-renames", base, last, "--"].map(str::to_owned);
        let output = Git::reopen(self.repository()).ok()?.run(words.into_iter().chain(files)).ok()?;
        let text = String::from_utf8_lossy(&output);
        // Of files that are no text, git counts no lines.
        let counted = text.lines().filter_map(|it| {
            let mut fields = it.split('\t');
            Some((fields.next()?.parse::<u64>().ok()?, fields.next()?.parse::<u64>().ok()?))
        });
        let (added, removed) = counted.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        (0 < added + removed).then(|| format!("+{added} -{removed} lines"))
    }

    /// How many tests the run added, where a check counted them before and after and a file changed that
    /// may hold them: one that stopped before all of its tests ran says nothing about their number.
    fn tests_added(&self) -> Option<String> {
        let before = self.state.baseline.as_ref()?.results.iter().any(|it| it.counts.is_some());
        let may_hold_tests = |it: &String| is_test_path(it) || it.ends_with(".rs");
        if !before || !self.state.seen.files.iter().any(may_hold_tests) {
            return None;
        }
        let metric = self.state.visit.metrics.get(FactName::TestsGenerated.name())?;
        match metric.value {
            Value::Int(count @ 1..) if metric.source != Source::Claimed => {
                Some(format!("{} added", counted(count as u64, "test")))
            }
            _ => None,
        }
    }

    /// Files of a person that were uncommitted when the run began and are part of its commits.
    fn committed_too(&self) -> Vec<String> {
        let Some(baseline) = &self.state.baseline else { return Vec::new() };
        let view = self.folder.join(VIEW);
        let found = uncommitted::committed_since(self.place, &view, &baseline.facts.commit);
        let found = found.unwrap_or_default();
        let parts =
            [(found.others, "uncommitted before the run"), (found.by_checks, "written by the checks")];
        let told = parts.iter().filter(|it| !it.0.is_empty());
        told.map(|(files, what)| format!("committed with it: {} ({what})", shown(files, FILES_NAMED)))
            .collect()
    }

    /// Returns how many commits came since the run began; none where git cannot tell.
    fn commits(&self) -> usize {
        let Some(base) = self.state.baseline.as_ref().map(|it| it.facts.commit.as_str()) else { return 0 };
        let last = self.state.seen.commit.as_str();
        if last.is_empty() || base == last || ![base, last].iter().all(|it| it.is_empty() || is_object_id(it))
        {
            return 0;
        }
        let range = if base.is_empty() { last.to_owned() } else { format!("{base}..{last}") };
        let count =
            Git::reopen(self.repository()).and_then(|git| git.run(["rev-list", "--count", &range, "--"]));
        String::from_utf8_lossy(&count.unwrap_or_default()).trim().parse().unwrap_or(0)
    }

    fn spent(&self) -> String {
        let state = self.state;
        let mut parts = vec![time_taken(state)];
        parts.push(counted(state.iterations_told(self.workflow), "iteration"));
        parts.push(counted(state.calls_total, "call"));
        let is_program = self.workflow.agent.cli.row().is_some_and(AgentRow::is_any_program);
        parts.extend(if is_program { state.spent.words_if_reported() } else { state.spent.words() });
        let tokens = state.spent.tokens.total();
        if tokens != 0 {
            parts.push(counted(tokens, "token"));
        }
        format!("took: {}", parts.join(", "))
    }
}

fn counts_of(files: &BTreeMap<String, char>) -> FileCounts {
    let of = |letters: &[char]| files.values().filter(|it| letters.contains(it)).count() as u32;
    FileCounts { created: of(&['A']), modified: of(&['M', 'T']), deleted: of(&['D']) }
}

/// Returns the branch of a working tree; none where HEAD is on no branch.
fn branch(place: &Path) -> Option<String> {
    let name = Git::reopen(place).ok()?.run(["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()?;
    Some(String::from_utf8_lossy(&name).trim().to_owned()).filter(|it| !it.is_empty())
}
