//! What steps E and F lay over a plain checkout. E is the final tree with the baseline's protected
//! files; F is the baseline's tree with the final tests: the same plan with the sides exchanged.
//! Where the overlay does not build, there are two more tries: with the added test files kept, and
//! without the files that the output names. What is left then is not judged.

use crate::proof::overlay::added_modules;
use crate::proof::overlay::hunks::{PutBack, put_tests_back};
use crate::proof::overlay::plan::{Action, OverlayPlan};
use crate::proof::protecting::class::{Class, Mixed, mixed_path};
use crate::proof::protecting::finding::predeclared::redeclared;
use crate::proof::protecting::mixed::makefile_sources::only_gains_sources;
use crate::proof::protecting::mixed::parts;
use crate::proof::protecting::mixed::redirects;
use crate::proof::protecting::mixed::rust_tests;
use crate::proof::protecting::protected::ProtectedFiles;
use crate::proof::trees::{Contents, Direction, Side, TreeChange};

const LINK_MODE: u32 = 0o120000;
const SUBMODULE_MODE: u32 = 0o160000;

/// Plans the tree of step E or F.
pub fn plan_overlay(
    changes: &[TreeChange],
    rules: &ProtectedFiles,
    contents: &Contents<'_>,
    direction: Direction,
) -> OverlayPlan {
    let mut plan = OverlayPlan::default();
    let sides = match direction {
        Direction::BaseTestsOverFinal => (Side::Final, Side::Base),
        Direction::FinalTestsOverBase => (Side::Base, Side::Final),
    };
    for change in changes {
        // On the old code, a module of the run's own is the code that is missing there.
        if direction == Direction::FinalTestsOverBase && rules.hides_a_module(&change.path, contents) {
            continue;
        }
        let mode = change.final_mode.or(change.base_mode).unwrap_or(0);
        let class = [change.base_mode, change.final_mode]
            .into_iter()
            .flatten()
            .map(|mode| rules.classify(&change.path, mode, contents))
            .find(|it| *it != Class::Ordinary)
            .unwrap_or(Class::Ordinary);
        let is_plain = |mode: Option<u32>| mode.is_none_or(|it| !matches!(it, LINK_MODE | SUBMODULE_MODE));
        let plain = is_plain(change.base_mode) && is_plain(change.final_mode);
        match class {
            Class::Control if plain && builds_more(change, changes, rules, contents) => {}
            Class::Test | Class::Control => whole_file(&mut plan, change, class, sides.1),
            // A link in the place of a manifest is protected as a whole.
            Class::Mixed(_) if !plain => whole_file(&mut plan, change, class, sides.1),
            Class::Mixed(Mixed::RustSource) => rust_source(&mut plan, change, changes, contents, direction),
            Class::Mixed(kind) if is_redirected(kind, changes, contents, direction) => {
                whole_file(&mut plan, change, class, sides.1);
            }
            Class::Mixed(kind) => part(&mut plan, change, kind, contents, sides, direction),
            Class::Ordinary if mode & 0o170000 == 0o100000 => source(&mut plan, change, contents, direction),
            Class::Ordinary => {}
        }
    }
    if direction == Direction::FinalTestsOverBase {
        added_modules::add_tests(&mut plan, changes, contents);
    }
    let order = |it: &Action| match it {
        Action::Remove { .. } => 0,
        Action::Take { .. } | Action::Write { .. } => 1,
    };
    plan.actions.sort_by_key(order);
    plan
}

/// Tells whether a Makefile was changed only to build sources that the run added to the product.
fn builds_more(
    change: &TreeChange,
    changes: &[TreeChange],
    rules: &ProtectedFiles,
    contents: &Contents<'_>,
) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let lower = name(&change.path).to_lowercase();
    if !lower.ends_with("makefile") && !lower.ends_with(".mk") {
        return false;
    }
    let text = |side| contents(side, &change.path).and_then(|it| String::from_utf8(it).ok());
    let (Some(base), Some(now)) = (text(Side::Base), text(Side::Final)) else { return false };
    let is_product = |it: &&TreeChange| {
        let mode = it.final_mode.filter(|_| it.base_mode.is_none());
        mode.is_some_and(|mode| rules.classify(&it.path, mode, contents) == Class::Ordinary)
    };
    let added: Vec<String> = changes.iter().filter(is_product).map(|it| name(&it.path)).collect();
    only_gains_sources(&base, &now, &|it| added.iter().any(|name| name == it))
}

/// Plans the next try of an overlay that did not build: first with the added test files kept, then
/// also without the test files that the output names; nothing when there is no other try. `plan` is
/// the first plan in both cases.
pub fn retry_without(plan: &OverlayPlan, try_number: u32, output: &str) -> Option<OverlayPlan> {
    let is_test = |path: &str| match plan.classes.get(path) {
        Some(Class::Test | Class::Mixed(Mixed::RustSource) | Class::Ordinary) => true,
        Some(Class::Control | Class::Mixed(_)) | None => false,
    };
    let mut next = plan.clone();
    next.actions.retain(|it| !matches!(it, Action::Remove { path } if is_test(path)));
    match try_number {
        1 => (next.actions.len() < plan.actions.len()).then_some(next),
        2 => {
            let named = |it: &Action| is_test(it.path()) && names(output, it.path());
            let left: Vec<&Action> = next.actions.iter().filter(|it| named(it)).collect();
            if left.is_empty() {
                return None;
            }
            let left: Vec<String> = left.into_iter().map(|it| it.path().to_owned()).collect();
            next.actions.retain(|it| !left.iter().any(|path| path == it.path()));
            for path in left {
                next.leave(&path, "its original version does not build with the final code");
            }
            Some(next)
        }
        _ => None,
    }
}

/// Tells whether the output names the file: by its path, or as a Python module.
fn names(output: &str, path: &str) -> bool {
    if output.contains(path) {
        return true;
    }
    let Some(stem) = path.strip_suffix(".py") else {
        // Runners that change into a package print paths below it.
        let mut below = path;
        while let Some((_, rest)) = below.split_once('/') {
            if rest.contains('/') && output.contains(rest) {
                return true;
            }
            below = rest;
        }
        return false;
    };
    let module = stem.rsplit('/').next().unwrap_or(stem);
    output.contains(&stem.replace('/', ".")) || output.contains(&format!("_FailedTest.{module}"))
}

fn whole_file(plan: &mut OverlayPlan, change: &TreeChange, class: Class, side: Side) {
    let mode = match side {
        Side::Base => change.base_mode,
        Side::Final => change.final_mode,
    };
    let path = change.path.clone();
    let action = match mode {
        Some(mode) => Action::Take { path, side, mode },
        None => Action::Remove { path },
    };
    plan.act(class, action);
}

/// Tells whether this is a lock file whose manifest takes a dependency from somewhere else now.
fn is_redirected(lock: Mixed, changes: &[TreeChange], contents: &Contents<'_>, direction: Direction) -> bool {
    let Some(manifest) = redirects::manifest_of(lock).filter(|_| direction == Direction::BaseTestsOverFinal)
    else {
        return false;
    };
    let text = |side: Side, path: &str| contents(side, path).and_then(|it| String::from_utf8(it).ok());
    changes.iter().filter(|it| mixed_path(&it.path) == Some(manifest)).any(|it| {
        let both = text(Side::Base, &it.path).zip(text(Side::Final, &it.path));
        both.is_some_and(|(base, now)| parts::is_redirected(manifest, &base, &now))
    })
}

fn part(
    plan: &mut OverlayPlan,
    change: &TreeChange,
    kind: Mixed,
    contents: &Contents<'_>,
    (ground, protected): (Side, Side),
    direction: Direction,
) {
    let text = |side: Side| contents(side, &change.path).map(String::from_utf8);
    let (rest, from) = match (text(ground), text(protected)) {
        (Some(Ok(rest)), Some(Ok(from))) => (rest, from),
        (Some(Ok(rest)), None) => (rest, String::new()),
        (None, Some(_)) if matches!(kind, Mixed::Pyproject | Mixed::SetupCfg) => {
            return whole_file(plan, change, Class::Mixed(kind), protected);
        }
        // A manifest without its package would only break the build.
        (None, _) => return,
        (Some(Err(_)), _) | (_, Some(Err(_))) => return plan.leave(&change.path, "is not text"),
    };
    match parts::merged(kind, &rest, &from, direction) {
        Some(text) if text == rest => {}
        Some(text) => plan.act(Class::Mixed(kind), Action::Write { path: change.path.clone(), text }),
        None => plan.leave(&change.path, "cannot be read, so its test settings are unknown"),
    }
}

fn rust_source(
    plan: &mut OverlayPlan,
    change: &TreeChange,
    changes: &[TreeChange],
    contents: &Contents<'_>,
    direction: Direction,
) {
    let text = |side: Side| contents(side, &change.path).and_then(|it| String::from_utf8(it).ok());
    let class = Class::Mixed(Mixed::RustSource);
    match (text(Side::Base), text(Side::Final), direction) {
        (Some(base), Some(now), Direction::BaseTestsOverFinal) => {
            let Some(merged) = rust_tests::with_tests_of(&now, &base) else {
                // Without a test in either version there is nothing to judge.
                if [&base, &now].iter().any(|it| it.contains("test")) {
                    plan.leave(&change.path, "its tests cannot be told from its code");
                }
                return;
            };
            let merged = match put_tests_back(&change.path, &base, &merged) {
                PutBack::Unchanged => merged,
                PutBack::Restored(text) => text,
                PutBack::Mixed => {
                    plan.leave(&change.path, "code and doctests changed together");
                    merged
                }
            };
            if merged != now {
                plan.act(class, Action::Write { path: change.path.clone(), text: merged });
            }
        }
        (Some(base), Some(now), Direction::FinalTestsOverBase) => {
            if let Some(text) = rust_tests::with_tests_of(&base, &now).filter(|it| *it != base) {
                plan.act(class, Action::Write { path: change.path.clone(), text });
            }
        }
        (Some(base), None, Direction::BaseTestsOverFinal) => {
            let tests = rust_tests::test_texts(&base);
            let lost = match tests {
                Some(tests) => tests.iter().any(|test| !moved(test, changes, contents)),
                // What cannot be read as Rust, and never says the word, had no test to lose.
                None => base.contains("test"),
            };
            if lost {
                plan.leave(&change.path, "was deleted with its tests");
            }
        }
        (None, _, _) | (Some(_), None, Direction::FinalTestsOverBase) => {}
    }
}

/// Tells whether a test item stands unchanged in a Rust file that was added or changed.
fn moved(test: &str, changes: &[TreeChange], contents: &Contents<'_>) -> bool {
    let candidates = changes.iter().filter(|it| it.final_mode.is_some() && it.path.ends_with(".rs"));
    candidates
        .filter_map(|it| contents(Side::Final, &it.path).and_then(|it| String::from_utf8(it).ok()))
        .filter_map(|it| rust_tests::test_texts(&it))
        .any(|it| it.iter().any(|other| other == test))
}

fn source(plan: &mut OverlayPlan, change: &TreeChange, contents: &Contents<'_>, direction: Direction) {
    if direction == Direction::FinalTestsOverBase {
        return;
    }
    let text = |side: Side| contents(side, &change.path).and_then(|it| String::from_utf8(it).ok());
    if change.path.ends_with(".go") {
        let now = text(Side::Final).unwrap_or_default();
        if let Some(name) = redeclared(&text(Side::Base).unwrap_or_default(), &now) {
            let why =
                format!("it declares `{name}` anew, which changes what the assertions of its package mean");
            plan.leave(&change.path, &why);
        }
    }
    let (Some(base), Some(now)) = (text(Side::Base), text(Side::Final)) else { return };
    match put_tests_back(&change.path, &base, &now) {
        PutBack::Unchanged => {}
        PutBack::Restored(text) => {
            plan.act(Class::Ordinary, Action::Write { path: change.path.clone(), text })
        }
        PutBack::Mixed => plan.leave(&change.path, "code and tests changed together in one hunk"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::overlay::plan::NotJudged;

    const FILE: u32 = 0o100644;

    /// A path with its text on both sides.
    type Files<'a> = &'a [(&'a str, Option<&'a str>, Option<&'a str>)];

    fn plan(files: Files<'_>, direction: Direction) -> OverlayPlan {
        let contents = |side: Side, path: &str| {
            let (_, base, now) = files.iter().find(|(it, _, _)| *it == path)?;
            match side {
                Side::Base => base,
                Side::Final => now,
            }
            .map(|it| it.as_bytes().to_vec())
        };
        let change = |(path, base, now): &(&str, Option<&str>, Option<&str>)| TreeChange {
            path: (*path).to_owned(),
            base_mode: base.map(|_| FILE),
            final_mode: now.map(|_| FILE),
        };
        let changes: Vec<TreeChange> =
            files.iter().filter(|(_, base, now)| base != now).map(change).collect();
        let rules = ProtectedFiles::new(&[], &[], &[], &[], &contents).expect("no globs");
        plan_overlay(&changes, &rules, &contents, direction)
    }

    fn take(path: &str, side: Side) -> Action {
        Action::Take { path: path.to_owned(), side, mode: FILE }
    }

    fn remove(path: &str) -> Action {
        Action::Remove { path: path.to_owned() }
    }

    #[test]
    fn the_tests_of_an_added_module_come_alone() {
        let tax = "pub fn tax() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { super::tax(); }\n}\n";
        let files: Files<'_> = &[
            ("src/lib.rs", Some("pub mod a;\n"), Some("pub mod a;\npub mod tax;\n")),
            ("src/tax.rs", None, Some(tax)),
        ];
        let overlay = plan(files, Direction::FinalTestsOverBase);
        let texts: Vec<(&str, &str)> = overlay
            .actions
            .iter()
            .map(|it| match it {
                Action::Write { path, text } => (path.as_str(), text.as_str()),
                Action::Take { .. } | Action::Remove { .. } => panic!("{it:?}"),
            })
            .collect();
        assert_eq!(texts[0], ("src/lib.rs", "pub mod a;\n#[cfg(test)]\nmod tax;\n"));
        assert!(texts[1].0 == "src/tax.rs" && texts[1].1.contains("fn one()"), "{texts:?}");
        assert!(!texts[1].1.contains("pub fn tax") && overlay.touches_tests, "{texts:?}");
    }

    #[test]
    fn lays_the_baseline_over_the_final_tree() {
        let files: Files<'_> = &[
            ("src/calc.py", Some("a\n"), Some("b\n")),
            ("tests/test_calc.py", Some("old\n"), Some("new\n")),
            ("tests/test_more.py", None, Some("new\n")),
            ("tests/test_gone.py", Some("old\n"), None),
            ("conftest.py", None, Some("cheat\n")),
            ("Makefile", Some("test:\n"), Some("test: ;\n")),
        ];
        let overlay = plan(files, Direction::BaseTestsOverFinal);
        let expected = [
            remove("tests/test_more.py"),
            remove("conftest.py"),
            take("tests/test_calc.py", Side::Base),
            take("tests/test_gone.py", Side::Base),
            take("Makefile", Side::Base),
        ];
        assert_eq!(overlay.actions, expected);
        assert!(overlay.touches_tests && overlay.not_judged.is_empty());
        let old_code = plan(files, Direction::FinalTestsOverBase);
        let expected = [
            remove("tests/test_gone.py"),
            take("tests/test_calc.py", Side::Final),
            take("tests/test_more.py", Side::Final),
            take("conftest.py", Side::Final),
            take("Makefile", Side::Final),
        ];
        assert_eq!(old_code.actions, expected);
    }

    #[test]
    fn needs_no_overlay_where_only_code_changed() {
        let files: Files<'_> = &[
            (
                "src/lib.rs",
                Some("fn a() {}\n#[cfg(test)] mod t {}\n"),
                Some("fn b() {}\n#[cfg(test)] mod t {}\n"),
            ),
            ("package.json", Some("{\"name\":\"a\"}"), Some("{\"name\":\"b\"}")),
        ];
        assert_eq!(plan(files, Direction::BaseTestsOverFinal), OverlayPlan::default());
    }

    #[test]
    fn exchanges_tests_inside_rust_files_in_both_directions() {
        let base = "fn a() {}\n#[cfg(test)] mod t { fn x() {} }\n";
        let now = "fn b() {}\n#[cfg(test)] mod t { fn y() {} }\n";
        let files: Files<'_> = &[("src/lib.rs", Some(base), Some(now))];
        let write = |text: &str| Action::Write { path: "src/lib.rs".to_owned(), text: text.to_owned() };
        let overlay = plan(files, Direction::BaseTestsOverFinal);
        assert_eq!(overlay.actions, [write("fn b() {}\n#[cfg(test)] mod t { fn x() {} }\n")]);
        let old_code = plan(files, Direction::FinalTestsOverBase);
        assert_eq!(old_code.actions, [write("fn a() {}\n#[cfg(test)] mod t { fn y() {} }\n")]);
    }

    #[test]
    fn a_deleted_source_file_is_judged_where_its_tests_moved() {
        let file = "fn a() {}\n#[cfg(test)] mod t { fn x() {} }\n";
        let moved: Files<'_> = &[("src/a.rs", Some(file), None), ("src/a/mod.rs", None, Some(file))];
        assert_eq!(plan(moved, Direction::BaseTestsOverFinal).not_judged, []);
        let weaker = "fn a() {}\n#[cfg(test)] mod t { }\n";
        let lost: Files<'_> = &[("src/a.rs", Some(file), None), ("src/a/mod.rs", None, Some(weaker))];
        let expected =
            NotJudged { path: "src/a.rs".to_owned(), why: "was deleted with its tests".to_owned() };
        assert_eq!(plan(lost, Direction::BaseTestsOverFinal).not_judged, [expected]);
    }

    #[test]
    fn a_deleted_source_file_that_cannot_be_read_is_a_loss_only_where_it_may_have_had_tests() {
        let plain: Files<'_> = &[("a.rs", Some("no ( rust"), None)];
        assert_eq!(plan(plain, Direction::BaseTestsOverFinal).not_judged, []);
        let doubtful: Files<'_> = &[("a.rs", Some("#[test] no ( rust"), None)];
        assert_eq!(plan(doubtful, Direction::BaseTestsOverFinal).not_judged.len(), 1);
    }

    #[test]
    fn removes_a_link_before_it_fills_the_folder() {
        let files = |_: Side, _: &str| None;
        let changes = [
            TreeChange { path: "pkg/tests/a.py".to_owned(), base_mode: Some(FILE), final_mode: None },
            TreeChange { path: "pkg/tests".to_owned(), base_mode: None, final_mode: Some(LINK_MODE) },
        ];
        let rules = ProtectedFiles::new(&[], &[], &[], &[], &files).expect("no globs");
        let plan = plan_overlay(&changes, &rules, &files, Direction::BaseTestsOverFinal);
        assert_eq!(plan.actions, [remove("pkg/tests"), take("pkg/tests/a.py", Side::Base)]);
    }

    #[test]
    fn tries_twice_more() {
        let files: Files<'_> = &[
            ("tests/helper.py", None, Some("h\n")),
            ("tests/test_a.py", Some("old\n"), Some("new\n")),
            ("tests/test_b.py", Some("old\n"), Some("new\n")),
            ("Makefile", Some("a:\n"), Some("b:\n")),
        ];
        let first = plan(files, Direction::BaseTestsOverFinal);
        let second = retry_without(&first, 1, "").expect("helper.py is kept");
        let kept = [
            take("tests/test_a.py", Side::Base),
            take("tests/test_b.py", Side::Base),
            take("Makefile", Side::Base),
        ];
        assert_eq!(second.actions, kept);
        let output = "ERROR collecting tests/test_a.py\nMakefile:3: error";
        let third = retry_without(&first, 2, output).expect("test_a.py is named");
        assert_eq!(third.actions, [kept[1].clone(), kept[2].clone()]);
        let paths: Vec<&str> = third.not_judged.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["tests/test_a.py"]);
        assert_eq!(retry_without(&first, 2, "no file is named"), None);
        assert_eq!(retry_without(&first, 3, output), None);
        assert!(names("ERROR: test_a (unittest.loader._FailedTest.test_a)", "tests/test_a.py"));
        assert!(names("--> tests/b.rs:1:18", "crates/x/tests/b.rs"));
        assert!(!names("b.rs", "tests/b.rs"));
    }
}
