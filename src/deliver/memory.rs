//! What a completed system leaves in the memory of its domain: the documents that its last stages wrote, which
//! are no part of its branch, the interfaces that it changed, and a handoff that is compiled from facts.

use crate::clock::now;
use crate::deliver::completion::{CompletionBox, boxes};
use crate::tree::git::Git;
use crate::tree::git_text::{bytes_to_path, listed_paths};
use loop_base::files;
use loop_core::engine::Status;
use loop_core::workflow::model::MirrorFormat;
use loop_store::mirror::domain_memory::{FOLDER, STATE, queue_file, system_folder};
use loop_store::run::Run;
use loop_store::{Home, Job, QueueKey};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Documents of one system that are collected; a stage writes a handful.
const FILES_MOST: usize = 200;

/// A document that people read.
const FILE_MOST: usize = 4 << 20;

/// Collects what the last stages wrote, writes the handoff, and returns the command that continues.
pub(crate) fn close_system(run: &Run, home: &Home, place: &Path) -> anyhow::Result<Option<String>> {
    if run.workflow.mirror.format != Some(MirrorFormat::DomainMemory) {
        return Ok(None);
    }
    let opening = &run.state.opening;
    let (Some(domain), Some(plan)) = (&opening.beginning.domain, &opening.worktree) else { return Ok(None) };
    let root = Path::new(&plan.root);
    let folder = system_folder(domain, &opening.input);
    if place.exists() && place != root {
        collect(run, root, place, &folder)?;
    }
    let changed = changed_files(run, root);
    write_interfaces(run, root, &folder, &changed)?;
    let file = queue_file(root, domain);
    let queue = QueueKey { project: &plan.root, domain, file: &file };
    // This system is not complete yet, so those that wait for nothing else count as ready.
    let mut ready: Vec<Job> = home.next_ready(queue)?.into_iter().collect();
    for id in home.dependants(queue, &opening.input)? {
        let is_last = home.job_waits_for(queue, &id)? == [opening.input.as_str()];
        ready.extend(home.job(queue, &id)?.filter(|it| is_last && it.system.status.is_startable()));
    }
    let next = ready.into_iter().min_by_key(|it| it.system.priority);
    let next = next.map(|it| format!("loop run {}", it.system.id));
    let continues = next.as_deref().unwrap_or("loop queue");
    write_handoff(run, root, domain, "complete", Some(continues), &changed)?;
    Ok(next)
}

/// Copies what is not committed below the folder of the system, and takes it out of the worktree. What git ignores is
/// collected, too: it is in no commit, and would go with the worktree.
fn collect(run: &Run, root: &Path, place: &Path, folder: &str) -> anyhow::Result<()> {
    let git = Git::reopen(place)?.trusting(run.state.opening.git_programs());
    // What is staged counts as what it is in the worktree: new, or changed since an earlier round committed it.
    git.run(["reset", "--quiet", "HEAD", "--", folder])?;
    let listing = git.run(["ls-files", "-z", "-t", "--others", "--modified", "--", folder])?;
    // The state file is ours, and not what somebody made of it there.
    let is_ours = |it: &Path| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(STATE));
    let mut committed: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in listing.split(|it| *it == 0).take(FILES_MOST) {
        let Some((tag, path)) = entry.split_at_checked(2) else { continue };
        let path = bytes_to_path(path);
        if is_ours(&path) {
            continue;
        }
        let from = place.join(&path);
        let Ok(bytes) = files::read(&from, FILE_MOST) else { continue };
        let to = root.join(&path);
        if let Some(above) = to.parent() {
            std::fs::create_dir_all(above)?;
        }
        files::replace_bytes(&to, &bytes)?;
        if tag == b"? " {
            std::fs::remove_file(&from)?;
        } else {
            // An earlier round committed it. What was written since is in the project now.
            committed.insert(path);
        }
    }
    if !committed.is_empty() {
        let head = ["checkout", "--quiet", "HEAD", "--"].map(OsString::from);
        git.run(head.into_iter().chain(committed.into_iter().map(PathBuf::into_os_string)))?;
    }
    Ok(())
}

/// Files that say how others use a system, by their places and names.
fn is_interface(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('/').collect();
    let (name, folders) = parts.split_last().unwrap_or((&"", &[]));
    let is_contract =
        folders.iter().any(|it| matches!(*it, "interfaces" | "api" | "proto" | "schemas" | "contracts"));
    is_contract || name.ends_with(".proto") || name.starts_with("openapi") || name.starts_with("asyncapi")
}

/// Every path that the run changed. The list that the state keeps is cut for display.
fn changed_files(run: &Run, root: &Path) -> Vec<String> {
    let base = run.state.baseline.as_ref().map_or("", |it| it.facts.tree.as_str());
    let (from, to) = (base, run.state.seen.tree.as_str());
    let asked = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"];
    let found = Git::reopen(root).and_then(|git| git.run(asked));
    let paths = |bytes: Vec<u8>| listed_paths(&bytes).map(|it| it.to_string_lossy().into_owned()).collect();
    // A tree that git does not have any more leaves what the state knows.
    found.map_or_else(|_| run.state.seen.files.clone(), paths)
}

fn write_interfaces(run: &Run, root: &Path, folder: &str, all: &[String]) -> anyhow::Result<()> {
    let changed: Vec<&String> = all.iter().filter(|it| is_interface(it)).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let mut text = format!("# Interfaces that {} changed\n\n", run.state.opening.input);
    changed.iter().for_each(|it| {
        let _ = writeln!(text, "- {it}");
    });
    std::fs::create_dir_all(root.join(folder))?;
    files::replace(&root.join(folder).join("INTERFACES.md"), &text)?;
    Ok(())
}

/// Writes the handoff of a system whose run rests without being done.
pub(crate) fn hand_over(run: &Run) {
    let opening = &run.state.opening;
    let (Some(domain), Some(plan)) = (&opening.beginning.domain, &opening.worktree) else { return };
    let status = Status::of(&run.state);
    let is_over = matches!(status, Status::Halted | Status::Paused | Status::Stopped | Status::Capped);
    if is_over && !run.workflow.mirror.off {
        // The journal has all of it; a folder that cannot be written harms nobody.
        let root = Path::new(&plan.root);
        let _harmless = write_handoff(run, root, domain, status.word(), None, &changed_files(run, root));
    }
}

/// Writes what the next session has to know, from what was measured and said.
fn write_handoff(
    run: &Run,
    root: &Path,
    domain: &str,
    how: &str,
    next: Option<&str>,
    files: &[String],
) -> anyhow::Result<()> {
    let (state, workflow) = (&run.state, &run.workflow);
    let id = &state.opening.input;
    let name = state.opening.beginning.title.as_deref().unwrap_or(id);
    let date: String = now().to_string().chars().take(10).collect();
    let mut text = format!("# Handoff: {name} ({id})\n\n| | |\n|---|---|\n");
    let branch = state.branch.as_deref().unwrap_or("-");
    let rows = [
        ("Status", how.to_owned()),
        ("Stage", workflow.phases[state.phase].name.clone()),
        ("Run", run.id.clone()),
        ("Branch", branch.to_owned()),
        ("Commit", state.delivered.clone().unwrap_or_else(|| state.seen.commit.clone())),
        ("Date", now().to_string()),
    ];
    for (key, value) in rows {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    let _ =
        writeln!(text, "\n## Proof\n\n{}", state.closing(workflow).unwrap_or_else(|| "none yet".to_owned()));
    section(&mut text, "Complete when", boxes(workflow, state).iter().map(CompletionBox::line));
    section(
        &mut text,
        "Capabilities",
        state.item_list().into_iter().flat_map(|list| {
            list.all().map(|(item, done)| format!("[{}] {}", if done { "x" } else { " " }, item.name))
        }),
    );
    let is_ours = |it: &&String| it.starts_with(FOLDER);
    section(&mut text, "Files to review", files.iter().filter(|it| !is_ours(it)).take(50).cloned());
    section(&mut text, "Documents", files.iter().filter(is_ours).take(50).cloned());
    section(&mut text, "Decisions", decisions(run, files));
    section(
        &mut text,
        "Failures and how they were resolved",
        state.troubles.failures.iter().map(|it| {
            let first = it.text.lines().next().unwrap_or_default();
            let end = match (&it.resolution, &it.tried) {
                (Some(resolution), _) => resolution.clone(),
                (None, Some(tried)) => format!("open; tried: {}", first_line(tried)),
                (None, None) => "open".to_owned(),
            };
            format!("{}: {first} ({end})", workflow.phases[it.phase].name)
        }),
    );
    let documents = Documents::of(run);
    let sent_back = state.troubles.failures.iter().filter(|it| it.gate.is_some());
    let sent_back = sent_back.map(|it| format!("not as it was when changes were asked for: {}", it.text));
    section(&mut text, "Rejected alternatives", documents.under("rejected").into_iter().chain(sent_back));
    let skipped = state.skipped.iter().map(|(skill, why)| format!("the skill {skill} was skipped: {why}"));
    section(&mut text, "Deferred", skipped.chain(documents.under("deferred")));
    section(&mut text, "Open questions", state.question().map(|it| first_line(&it.text)).into_iter());
    section(
        &mut text,
        "Commands to run first",
        run.workflow.checks.iter().filter_map(|(name, it)| {
            let command = it.run.as_ref().or(state.commands.get(name))?;
            Some(format!("`{command}` ({name})"))
        }),
    );
    section(&mut text, "Notes", state.warnings.iter().cloned());
    let next = next.map_or_else(|| state.next_step(workflow), str::to_owned);
    let _ = writeln!(text, "\n## Next\n\n{next}");
    let folder = root.join(FOLDER).join(domain).join("sessions");
    std::fs::create_dir_all(&folder)?;
    files::replace(&folder.join(format!("{date}-{id}.md")), &loop_base::secret::redact(&text))?;
    Ok(())
}

/// What people decided on the way, and where the agents wrote down what they did.
fn decisions(run: &Run, changed: &[String]) -> impl Iterator<Item = String> {
    let state = &run.state;
    let gates = state.gates_passed.iter().map(|(gate, by)| format!("gate {gate}: approved by {by}"));
    let waived = state.waivers.iter().map(|it| format!("accepted: {}: {}", it.what, it.reason));
    let written = changed.iter().filter(|it| it.ends_with("/ADR.md") || it.contains("/decisions/"));
    let all: Vec<String> = gates.chain(waived).chain(written.map(|it| format!("see {it}"))).collect();
    all.into_iter()
}

/// What the agents wrote for others, as far as headings say what it is about.
struct Documents(Vec<String>);

/// Lines that are taken over from under a heading.
const LINES_MOST: usize = 20;

impl Documents {
    fn of(run: &Run) -> Documents {
        let opening = &run.state.opening;
        let folder = opening.beginning.domain.as_deref().map(|it| system_folder(it, &opening.input));
        let root = opening.worktree.as_ref().map(|it| Path::new(&it.root));
        let place = run.state.place.as_deref().map(Path::new).filter(|it| it.exists()).or(root);
        let texts = place.zip(folder).map(|(place, folder)| {
            let written = run.workflow.deliverables().filter(|it| it.starts_with(&folder));
            let read = written.filter_map(|it| files::read(&place.join(it), FILE_MOST).ok());
            read.map(|it| String::from_utf8_lossy(&it).into_owned()).collect()
        });
        Documents(texts.unwrap_or_default())
    }

    /// Returns the lines below the headings that contain a word.
    fn under(&self, word: &str) -> Vec<String> {
        let mut found = Vec::new();
        for text in &self.0 {
            let mut is_inside = false;
            for line in text.lines().map(str::trim) {
                match line.starts_with('#') {
                    true => is_inside = line.to_lowercase().contains(word),
                    false if is_inside && !line.is_empty() => {
                        let line = line.trim_start_matches(['-', '*', ' ']).to_owned();
                        if !found.contains(&line) {
                            found.push(line);
                        }
                    }
                    false => (),
                }
            }
        }
        found.truncate(LINES_MOST);
        found
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}
