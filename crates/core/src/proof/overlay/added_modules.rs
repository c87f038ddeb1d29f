//! Rust files that the run added, with code and tests in them: step F puts their tests alone into the
//! baseline's tree and declares the module where the final tree declares it. A test that needs the new
//! code then does not build, and one that asserts nothing about it passes, which is no evidence.

use crate::proof::overlay::plan::{Action, OverlayPlan};
use crate::proof::protecting::class::{Class, Mixed};
use crate::proof::protecting::mixed::rust_tests;
use crate::proof::trees::{Contents, Side, TreeChange};

/// Adds the tests of added Rust files to the plan of step F.
pub(super) fn add_tests(plan: &mut OverlayPlan, changes: &[TreeChange], contents: &Contents<'_>) {
    let text = |side: Side, path: &str| contents(side, path).and_then(|it| String::from_utf8(it).ok());
    for change in changes.iter().filter(|it| it.base_mode.is_none() && it.path.ends_with(".rs")) {
        if plan.actions.iter().any(|it| it.path() == change.path) {
            continue;
        }
        let Some(now) = text(Side::Final, &change.path) else { continue };
        let has_tests = rust_tests::test_texts(&now).is_some_and(|it| !it.is_empty());
        let Some(tests) = rust_tests::with_tests_of("", &now).filter(|_| has_tests) else { continue };
        let Some((parents, module)) = parents_of(&change.path) else { continue };
        let declares = |path: &&String| {
            text(Side::Final, path).is_some_and(|it| rust_tests::declares_module(&it, &module))
                && text(Side::Base, path).is_some_and(|it| !rust_tests::declares_module(&it, &module))
        };
        let Some(parent) = parents.iter().find(declares) else { continue };
        let class = Class::Mixed(Mixed::RustSource);
        let planned = plan.actions.iter().position(|it| it.path() == parent);
        let before = match planned.map(|at| plan.actions.remove(at)) {
            Some(Action::Write { text, .. }) => text,
            Some(Action::Take { .. } | Action::Remove { .. }) | None => {
                text(Side::Base, parent).unwrap_or_default()
            }
        };
        let declared = format!("{}\n#[cfg(test)]\nmod {module};\n", before.trim_end_matches('\n'));
        plan.act(class, Action::Write { path: parent.clone(), text: declared });
        plan.act(class, Action::Write { path: change.path.clone(), text: tests });
    }
}

/// Returns the files that may declare a module, and its name.
fn parents_of(path: &str) -> Option<(Vec<String>, String)> {
    let (folder, file) = path.rsplit_once('/')?;
    let (folder, module) = match file.strip_suffix(".rs")? {
        "lib" | "main" => return None,
        "mod" => folder.rsplit_once('/')?,
        stem => (folder, stem),
    };
    let inside = ["lib.rs", "main.rs", "mod.rs"].map(|it| format!("{folder}/{it}"));
    Some((inside.into_iter().chain([format!("{folder}.rs")]).collect(), module.to_owned()))
}
