//! Small repositories with seeded conflicts: systems that all begin at the same commit, change the same lines,
//! need what another takes away, and merge the target honestly, with one side only, or with a file left out,
//! another's or one that was there before. They land one after the other by the functions of this room, with real git.
//! Whatever they do, the target is green at every commit of its own line, and nobody's line is lost. What is
//! merged as git does it, without a conflict, is never taken for a loss.
//!
//! A failure prints its seed.

use super::advance::{Moved, advance};
use super::merge::{Work, commit, merged_tree, tip, tree_of};
use crate::sim::Dice;
use crate::tree::changes::is_ancestor;
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::tree::sample::Sample;
use loop_core::engine::{Landing, Merge, Worktree};
use loop_store::Home;
use std::collections::{BTreeMap, BTreeSet};

/// Seeds of the ordinary test run; the campaign takes ten times as many.
const SEEDS: u64 = 100;

const SYSTEMS: u32 = 3;

/// A tree: each file with its lines, all of which differ.
type TreeLines = BTreeMap<String, Vec<String>>;

/// The one check: whatever is used is defined.
fn is_green(model: &TreeLines) -> bool {
    let lines: BTreeSet<&str> = model.values().flatten().map(String::as_str).collect();
    lines
        .iter()
        .filter_map(|it| it.strip_prefix("use "))
        .all(|it| lines.contains(format!("def {it}").as_str()))
}

fn lines(model: &TreeLines) -> BTreeSet<String> {
    model.values().flatten().cloned().collect()
}

fn beginning(dice: &mut Dice) -> TreeLines {
    let mut model = TreeLines::new();
    for file in ["a", "b", "c"] {
        let defined = (0..2 + dice.below(3)).map(|it| format!("def {file}{it}"));
        model.insert(file.to_owned(), defined.collect());
    }
    model
}

/// Changes a tree as the work of a system would, without making it red.
fn worked(dice: &mut Dice, system: u32, before: &TreeLines) -> TreeLines {
    let mut model = before.clone();
    for number in 0..1 + dice.below(4) {
        let mut next = model.clone();
        let names: Vec<String> = next.keys().cloned().collect();
        let name = names[dice.below(names.len() as u32) as usize].clone();
        let file = next.get_mut(&name).expect("it is there");
        let at = dice.below(file.len() as u32 + 1) as usize;
        let line = format!("text {system}.{number}");
        match dice.below(8) {
            0 | 1 => file.insert(at, line),
            2 if at < file.len() => file[at] = line,
            3 if at < file.len() => drop(file.remove(at)),
            4 => drop(next.insert(format!("of{system}"), vec![line, format!("def s{system}")])),
            5 if 1 < names.len() => drop(next.remove(&name)),
            6 => {
                let content = next.remove(&name).expect("it is there");
                next.insert(format!("{name}{system}"), content);
            }
            _ => {
                let used = ["a0", "b0", "c0", "a1", "b1"][dice.below(5) as usize];
                file.insert(at, format!("use {used}"));
            }
        }
        let distinct = next.values().map(Vec::len).sum::<usize>() == lines(&next).len();
        if is_green(&next) && distinct && next.values().all(|it| !it.is_empty()) {
            model = next;
        }
    }
    model
}

/// A repository and what is known about it.
struct Scene {
    sample: Sample,
    git: Git,
    home: Home,
    /// Lines that somebody landed, and who may have taken which of them away again.
    landed: BTreeSet<String>,
    removed: BTreeSet<String>,
}

impl Scene {
    fn new(model: &TreeLines) -> Scene {
        let sample = Sample::unborn();
        let home = Home::open(&sample.outside("state")).expect("a home");
        sample.user(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
        let git = sample.git();
        let mut scene = Scene { sample, git, home, landed: BTreeSet::new(), removed: BTreeSet::new() };
        let first = tip(&scene.git, "main").expect("git").expect("a commit");
        let base = scene.commit(model, &[&first]);
        scene.sample.user(&["reset", "-q", "--hard", &base]);
        scene.landed = lines(model);
        scene
    }

    /// Writes a tree and commits it, by one command.
    fn commit(&self, model: &TreeLines, parents: &[&str]) -> String {
        let mut stream = String::from(
            "commit refs/loop/seed\nmark :1\ncommitter somebody <s@localhost> 1700000000 +0000\ndata 5\nwork\n\n",
        );
        for (parent, word) in parents.iter().zip(["from", "merge"]) {
            stream.push_str(&format!("{word} {parent}\n"));
        }
        stream.push_str("deleteall\n");
        for (name, content) in model {
            let text = content.join("\n") + "\n";
            stream.push_str(&format!("M 100644 inline {name}\ndata {}\n{text}\n", text.len()));
        }
        stream.push_str("get-mark :1\n");
        let words = ["fast-import", "--quiet", "--force", "--cat-blob-fd=1"];
        let made = self.git.feed(words, stream.as_bytes()).expect("git");
        String::from_utf8_lossy(&made).trim().to_owned()
    }

    fn commit_tree(&self, tree: &str, parents: &[&str]) -> String {
        commit(&self.git, tree, parents, "work\n").expect("git").expect("a name")
    }

    fn model(&self, commit: &str) -> TreeLines {
        let listing = self.git.run(["grep", "--full-name", "-z", "-I", "", commit]).expect("git");
        let mut model = TreeLines::new();
        for line in String::from_utf8_lossy(&listing).lines() {
            let (path, text) = line.split_once('\0').expect("a path");
            let name = path.split_once(':').expect("a commit").1.to_owned();
            model.entry(name).or_default().push(text.to_owned());
        }
        model
    }

    /// The commit of a system: its own work, and maybe a merge of the target, done well or badly, and which of
    /// the two.
    fn system(&mut self, dice: &mut Dice, system: u32, base: &str, start: &TreeLines) -> (String, bool) {
        let own = worked(dice, system, start);
        let gone: Vec<String> = lines(start).difference(&lines(&own)).cloned().collect();
        self.removed.extend(gone);
        let head = self.commit(&own, &[base]);
        let target = tip(&self.git, "main").expect("git").expect("a commit");
        let way = dice.below(5);
        let commit = match way {
            // Only its own side.
            0 => self.commit(&own, &[&head, &target]),
            // A file of another's left out.
            1 => {
                let mut both = self.model(&target);
                let taken = both.keys().find(|it| it.starts_with("of")).cloned();
                taken.map(|it| both.remove(&it));
                both.extend(
                    own.iter()
                        .filter(|(name, _)| !start.contains_key(*name))
                        .map(|(k, v)| (k.clone(), v.clone())),
                );
                self.commit(&both, &[&head, &target])
            }
            // As git does it, or with a file left out that was there when it began.
            2 | 3 => match merged_tree(&self.git, &target, &head).expect("git") {
                Ok(tree) => {
                    let merged = self.commit_tree(&tree, &[&head, &target]);
                    match way {
                        2 => merged,
                        _ => self.without_an_old_file(&merged, start, &[&head, &target]),
                    }
                }
                Err(_) => head,
            },
            _ => head,
        };
        (commit, way == 2 || way == 4)
    }

    fn without_an_old_file(&self, merged: &str, start: &TreeLines, parents: &[&str]) -> String {
        let mut model = self.model(merged);
        let old = model.keys().find(|it| start.contains_key(*it)).cloned();
        old.map(|it| model.remove(&it));
        if model.is_empty() { merged.to_owned() } else { self.commit(&model, parents) }
    }

    /// Does what an honest system does with work that was sent back: the target as it is in the merge, and a
    /// change of its own after it.
    fn repaired(&mut self, system: u32, head: &str) -> String {
        let target = tip(&self.git, "main").expect("git").expect("a commit");
        let merged = self.commit_tree(&tree_of(&self.git, &target).expect("git"), &[head, &target]);
        let mut model = self.model(&target);
        model.insert(format!("again{system}"), vec![format!("text {system} again")]);
        self.commit(&model, &[&merged])
    }

    fn merge(&self, base: &str, branch: &str, head: &str) -> Result<Merge, Landing> {
        self.git.run(["update-ref", &format!("refs/heads/{branch}"), head]).expect("git");
        let plan = Worktree {
            root: self.sample.top().display().to_string(),
            place: "there".to_owned(),
            branch: branch.to_owned(),
            base: base.to_owned(),
            target: Some("main".to_owned()),
            existing: false,
        };
        let work = Work {
            run: "run",
            plan: &plan,
            target: "main",
            proven: head,
            subject: &format!("Merge {branch}"),
        };
        let from = tip(&self.git, "main").expect("git").expect("a commit");
        match work.landed_as(&self.git, &from).expect("git") {
            Some(commit) => Err(Landing::Merged { into: "main".to_owned(), commit }),
            None => work.merge_with(&self.git, &from).expect("git"),
        }
    }

    /// Whether git merges this with the target by itself.
    fn is_clean(&self, head: &str) -> bool {
        let target = tip(&self.git, "main").expect("git").expect("a commit");
        merged_tree(&self.git, &target, head).expect("git").is_ok()
    }

    /// Lands a system, or not, and says how often it was sent back. Only a tree that is green moves the target.
    fn land(&mut self, base: &str, system: u32, head: String, is_honest: bool) -> (u32, bool) {
        let mut head = head;
        for sent_back in 0..2 {
            match self.merge(base, &format!("sys-{system}"), &head) {
                Ok(merge) if is_green(&self.model(&merge.commit)) => {
                    let brought = lines(&self.model(&merge.commit));
                    let ours = Ours::read::<String>(&[]).expect("no patterns");
                    let moved = advance(&self.git, &self.home, &ours, &merge).expect("git");
                    assert!(matches!(moved, Moved::Done), "{moved:?}");
                    self.landed.extend(brought);
                    return (sent_back, true);
                }
                Err(Landing::Collides { why }) if is_honest && sent_back == 0 && self.is_clean(&head) => {
                    panic!("refused: {why:?}");
                }
                Ok(_) | Err(Landing::Collides { .. }) => head = self.repaired(system, &head),
                Err(Landing::Merged { .. }) => return (sent_back, true),
                Err(other) => panic!("{other:?}"),
            }
        }
        (2, false)
    }
}

/// Plays one seed. Returns how many systems were sent back and how many landed.
fn play(seed: u64) -> (u32, u32) {
    let mut dice = Dice::new(seed);
    let start = beginning(&mut dice);
    let mut scene = Scene::new(&start);
    let base = tip(&scene.git, "main").expect("git").expect("a commit");
    let (mut sent_back, mut landed) = (0, 0);
    for system in 1..=SYSTEMS {
        let (head, is_honest) = scene.system(&mut dice, system, &base, &start);
        let (times, is_landed) = scene.land(&base, system, head, is_honest);
        sent_back += times;
        landed += u32::from(is_landed);
    }
    let own = scene.git.run(["rev-list", "--first-parent", &format!("{base}..main")]).expect("git");
    for commit in String::from_utf8_lossy(&own).lines() {
        assert!(is_green(&scene.model(commit)), "seed {seed}: {commit} is red");
    }
    let now = scene.model("main");
    let lost: Vec<&String> =
        scene.landed.iter().filter(|it| !lines(&now).contains(*it) && !scene.removed.contains(*it)).collect();
    assert!(lost.is_empty(), "seed {seed}: lost {lost:?} in {now:?}");
    assert!(is_ancestor(&scene.git, &base, "main").expect("git"), "seed {seed}");
    assert_eq!(scene.sample.user(&["status", "--porcelain"]), "", "seed {seed}");
    (sent_back, landed)
}

#[test]
fn whatever_lands_the_target_is_green_and_nothing_is_lost() {
    let times = std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let (mut sent_back, mut landed) = (0, 0);
    for seed in 0..SEEDS * times {
        let (one, other) = std::panic::catch_unwind(|| play(seed)).unwrap_or_else(|_| panic!("seed {seed}"));
        sent_back += one;
        landed += other;
    }
    println!("{} seeds: {landed} systems landed, work was sent back {sent_back} times", SEEDS * times);
    // A generator without conflicts, or without anything that lands, would show nothing.
    assert!(SEEDS as u32 / 4 < sent_back, "{sent_back} were sent back");
    assert!((SEEDS as u32) < landed, "{landed} landed");
}
