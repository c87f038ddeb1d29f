//! Borrowed dependency folders, and the two that look right and would run the original tree.

use crate::project::Project;
use loop_harness::put;
use std::fs;
use std::os::unix::fs::symlink;

const NODE: [(&str, &str); 4] = [
    (".gitignore", "node_modules\nstate\n"),
    ("package.json", r#"{"name":"root","workspaces":["packages/*"]}"#),
    ("packages/pkg/package.json", r#"{"name":"pkg","main":"index.js"}"#),
    ("test.js", "if (require('pkg')() !== 1 || require('dep')() !== 2) process.exit(1)\n"),
];

fn workspace() -> Project {
    let project = Project::new(&NODE);
    project.write_all(&[("packages/pkg/index.js", "module.exports = () => 1\n")]);
    project.commit();
    project.write_all(&[
        ("node_modules/.package-lock.json", "{}"),
        ("node_modules/dep/index.js", "module.exports = () => 2\n"),
        ("node_modules/.cache/poison", "x"),
    ]);
    symlink(project.top().join("packages/pkg"), project.top().join("node_modules/pkg")).expect("a link");
    project
}

#[test]
fn a_workspace_link_leads_to_the_checkout() {
    let project = workspace();
    let proof = project.open();
    proof.baseline("node test.js && test ! -e node_modules/.cache").assert_green();
    project.write_all(&[("packages/pkg/index.js", "module.exports = () => 'broken'\n")]);
    let tree = project.commit();
    project.write_all(&[("packages/pkg/index.js", "module.exports = () => 1\n")]);
    assert!(project.passes_in_place("node test.js"));
    proof.clean(&tree, "node test.js").assert_red();
}

#[test]
fn without_a_mount_a_folder_that_leads_into_the_tree_is_not_borrowed() {
    let mut project = workspace();
    project.hides_a_toolchain = true;
    let answer = project.open().baseline("node test.js");
    assert!(!answer.is_mounted());
    answer.assert_red();
    assert!(answer.list("folders")[0].contains("leads"), "{}", answer.shown());
    fs::remove_file(project.top().join("node_modules/pkg")).expect("removed");
    symlink("../packages/pkg", project.top().join("node_modules/pkg")).expect("a link");
    project.open().baseline("node test.js").assert_green();
}

#[test]
fn a_folder_that_changed_is_not_borrowed_unless_only_its_times_did() {
    let project = workspace();
    let proof = project.open();
    let dep = project.top().join("node_modules/dep/index.js");
    proof.baseline("node test.js").assert_green();
    let tree = project.commit();
    put(&dep, "module.exports = () => 2\n");
    proof.clean(&tree, "node test.js").assert_green();
    put(&dep, "module.exports = () => 3\n");
    let answer = proof.clean(&tree, "node test.js; node -e 'require(\"dep\")'");
    answer.assert_red();
    assert!(answer.list("folders")[0].contains("changed"), "{}", answer.shown());
    put(&project.top().join(".venv/pyvenv.cfg"), "");
    let mut proof = project.open();
    proof.prepare = Some("mkdir -p node_modules/dep node_modules/pkg && echo 'module.exports=()=>2' > node_modules/dep/index.js && rm -r node_modules/pkg && ln -s ../packages/pkg node_modules/pkg".to_owned());
    proof.baseline("node test.js").assert_green();
}

#[test]
fn a_folder_without_a_mark_or_from_after_the_opening_stays_out() {
    let project = Project::new(&[(".gitignore", "node_modules\nvendor\n"), ("a", "1")]);
    project.write_all(&[("vendor/x", "1")]);
    let proof = project.open();
    project.write_all(&[("node_modules/.package-lock.json", "{}"), ("node_modules/x", "1")]);
    let answer = proof.baseline("test ! -e vendor && test ! -e node_modules");
    answer.assert_green();
    assert_eq!(answer.list("folders"), [r#"["node_modules","added"]"#]);
}

const PYTHON: [(&str, &str); 3] = [
    (".gitignore", ".venv\nstate\n__pycache__\n"),
    ("src/lib_under_test.py", "def value():\n    return 1\n"),
    ("test_it.py", "import lib_under_test\nassert lib_under_test.value() == 1\n"),
];

fn editable() -> Project {
    let project = Project::new(&PYTHON);
    crate::project::text(project.sh("python3 -m venv --without-pip .venv"));
    let script = "echo '$PWD/src' > $(echo .venv/lib/python*/site-packages)/__editable__.lib.pth";
    crate::project::text(project.sh(&script.replace("'$PWD/src'", "\"$PWD/src\"")));
    project
}

#[test]
fn an_editable_install_runs_the_checkout() {
    let project = editable();
    let proof = project.open();
    let check = ".venv/bin/python test_it.py";
    proof.baseline(check).assert_green();
    project.write_all(&[("src/lib_under_test.py", "def value():\n    return 2\n")]);
    let tree = project.commit();
    project.write_all(&[("src/lib_under_test.py", "def value():\n    return 1\n")]);
    assert!(project.passes_in_place(check));
    proof.clean(&tree, check).assert_red();
}

#[test]
fn without_a_mount_an_editable_install_is_not_borrowed() {
    let mut project = editable();
    project.hides_a_toolchain = true;
    let answer = project.open().baseline(".venv/bin/python test_it.py || exit 1");
    answer.assert_red();
    assert!(answer.list("folders")[0].contains("__editable__.lib.pth"), "{}", answer.shown());
}

#[test]
fn a_poisoned_compiled_file_is_not_used() {
    let project = Project::new(&PYTHON);
    let proof = project.open();
    project.write_all(&[
        ("src/lib_under_test.py", "def value():\n    return 2\n"),
        ("build/good.py", "def value():\n    return 1\n"),
    ]);
    let poison = "cd build && python3 -c \"import py_compile as p; p.compile('good.py', '../src/__pycache__/lib_under_test.'+__import__('sys').implementation.cache_tag+'.pyc', invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)\"";
    crate::project::text(project.sh(poison));
    let check = "PYTHONPATH=src python3 test_it.py";
    assert!(project.passes_in_place(check));
    let tree = project.commit();
    proof.clean(&tree, check).assert_red();
    // Not even when it is part of the tree.
    project.git(&["add", "-f", "src/__pycache__"]);
    let tree = project.commit();
    proof.clean(&tree, check).assert_red();
}

#[test]
fn only_the_baseline_writes_the_cache() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    let check = "mkdir -p $GOCACHE && test ! -e $GOCACHE/poison && if test -e $GOCACHE/baseline; then touch $GOCACHE/poison; else touch $GOCACHE/baseline; fi";
    proof.baseline(check).assert_green();
    for text in ["2", "3", "4"] {
        project.write_all(&[("a", text)]);
        let tree = project.commit();
        proof.clean(&tree, check).assert_green();
    }
}

#[test]
fn a_worktree_borrows_from_the_main_tree_and_is_seen_there() {
    let project = workspace();
    let place = project.beside("tree");
    project.git(&["worktree", "add", "-q", "-b", "side", place.to_str().expect("text")]);
    let proof = project.open_at(place.clone());
    let check = format!("test \"$PWD\" = {} && git status && node test.js", project.top().display());
    proof.baseline(&check).assert_green();
    put(&place.join("packages/pkg/index.js"), "module.exports = () => 'broken'\n");
    project.git_in(&place, &["commit", "-qam", "broken"]);
    let tree = project.git_in(&place, &["rev-parse", "HEAD^{tree}"]);
    proof.clean(&tree, &check).assert_red();
}

#[test]
fn a_cache_that_somebody_wrote_to_is_made_again() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    let check = "mkdir -p $GOCACHE && test ! -e $GOCACHE/poison";
    proof.baseline(check).assert_green();
    let folders = fs::read_dir(project.home.join("proof")).expect("there").flatten().map(|it| it.path());
    let cache =
        folders.into_iter().map(|it| it.join("cache/go/build")).find(|it| it.is_dir()).expect("a cache");
    put(&cache.join("poison"), "");
    let tree = project.commit();
    proof.clean(&tree, check).assert_green();
    assert!(!cache.join("poison").exists());
}
