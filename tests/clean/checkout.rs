//! What a clean checkout holds.

use crate::project::Project;
use std::fs;

#[test]
fn files_that_git_ignores_are_not_there() {
    let project = Project::new(&[(".gitignore", "helper.py\n"), ("main.py", "import helper\n")]);
    project.write_all(&[("helper.py", "")]);
    let check = "python3 main.py";
    assert!(project.passes_in_place(check));
    project.open().baseline(check).assert_red();
}

#[test]
fn files_with_export_ignore_are_there() {
    let project = Project::new(&[(".gitattributes", "data export-ignore\n"), ("data", "x")]);
    project.open().baseline("test -s data").assert_green();
}

#[test]
fn no_hook_filter_or_monitor_of_the_repository_runs() {
    let project = Project::new(&[(".gitattributes", "*.txt filter=own\n"), ("a.txt", "plain\n")]);
    let marker = project.beside("marker");
    let touch = format!("#!/bin/sh\ntouch {}\n", marker.display());
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        project.program("work/.git/hooks", hook, &touch);
    }
    for setting in ["filter.own.smudge", "filter.own.clean", "core.fsmonitor"] {
        project.git(&["config", setting, &format!("touch {}; cat", marker.display())]);
    }
    let _ = fs::remove_file(&marker);
    let proof = project.open();
    proof.baseline("grep -q plain a.txt").assert_green();
    assert!(!marker.exists());
}

#[test]
fn every_file_is_newer_than_the_original() {
    let project = Project::new(&[("old.txt", "x")]);
    project.sh("touch -d 2001-01-01 old.txt");
    project.sh("touch mark");
    project.git(&["clean", "-fdq"]);
    let stamp = project.beside("stamp");
    fs::write(&stamp, "").expect("written");
    let check = format!("test old.txt -nt {}", stamp.display());
    assert!(!project.passes_in_place(&check));
    project.open().baseline(&check).assert_green();
}

#[test]
fn git_works_in_the_checkout_and_the_tree_is_clean() {
    let project = Project::new(&[("a", "1"), ("run.sh", "#!/bin/sh\n")]);
    project.sh("chmod +x run.sh && ln -s a link");
    project.commit();
    project.git(&["tag", "v1.0"]);
    let tree = project.commit();
    let proof = project.open();
    let check = r#"test -z "$(git status --porcelain)" && git log -1 && git cat-file -p HEAD:a &&
        git tag | grep -q v1.0 && test -x run.sh && test -L link"#;
    proof.clean(&tree, check).assert_green();
}

#[test]
fn a_tree_that_was_never_committed_is_checked_out() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    project.write_all(&[("a", "2"), ("new/b", "3")]);
    project.git(&["add", "-A"]);
    let tree = project.git(&["write-tree"]);
    project.git(&["reset", "-q", "--hard"]);
    proof.clean(&tree, "grep -q 2 a && grep -q 3 new/b").assert_green();
}

#[test]
fn a_shallow_clone_is_proven() {
    let project = Project::new(&[("a", "1")]);
    project.write_all(&[("a", "2")]);
    project.commit();
    let copy = Project::new(&[]);
    fs::remove_dir_all(copy.top()).expect("removed");
    let source = format!("file://{}", project.top().display());
    copy.git_in(&copy.beside("."), &["clone", "-q", "--depth", "1", &source, "project"]);
    copy.open().baseline("grep -q 2 a && git fsck && git log").assert_green();
}

#[test]
fn what_a_partial_clone_lacks_is_fetched() {
    let project = Project::new(&[("a", "1"), ("b", "the first text")]);
    project.git(&["config", "uploadpack.allowFilter", "true"]);
    project.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let first = project.git(&["rev-parse", "HEAD^{tree}"]);
    project.write_all(&[("b", "the second text")]);
    project.commit();
    let copy = Project::new(&[]);
    fs::remove_dir_all(copy.top()).expect("removed");
    let source = format!("file://{}", project.top().display());
    copy.git_in(&copy.beside("."), &["clone", "-q", "--filter=blob:none", &source, "project"]);
    copy.open().clean(&first, "grep -q first b").assert_green();
}

/// Git compares no id with what it reads, so a folder may be given another list of files.
#[test]
fn a_folder_whose_entries_are_not_what_its_id_says_is_refused() {
    let project = Project::new(&[("a", "1"), ("deep/tests/t", "the test"), ("deep/other/t", "true")]);
    let proof = project.open();
    project.write_all(&[("a", "2")]);
    let tree = project.commit();
    proof.clean(&tree, "grep -q 'the test' deep/tests/t").assert_green();
    let object = |folder: &str| {
        let id = project.git(&["rev-parse", &format!("HEAD:{folder}")]);
        project.top().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))
    };
    let (tests, other) = (object("deep/tests"), object("deep/other"));
    fs::remove_file(&tests).expect("an object of its own");
    fs::copy(other, &tests).expect("another list of files");
    let said = proof.command("clean", &tree, "true").output().expect("loop");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("a tree of this run"), "{said}");
}

#[test]
fn a_submodule_commit_that_was_never_pushed_is_there() {
    let inner = Project::new(&[("inner.txt", "pushed")]);
    let project = Project::new(&[("a", "1")]);
    project.git(&["submodule", "--quiet", "add", inner.top().to_str().expect("text"), "deep/sub"]);
    project.commit();
    let proof = project.open();
    project.write_all(&[("deep/sub/inner.txt", "only here")]);
    project.git_in(&project.top().join("deep/sub"), &["commit", "-qam", "local"]);
    let tree = project.commit();
    let answer = proof.clean(&tree, "grep -q 'only here' deep/sub/inner.txt && git -C deep/sub log");
    answer.assert_green();
    fs::remove_dir_all(project.top().join(".git/modules")).expect("removed");
    fs::remove_dir_all(project.top().join("deep/sub")).expect("removed");
    let gone = proof.clean(&tree, "test ! -e deep/sub/inner.txt");
    gone.assert_green();
    assert!(gone.list("notes")[0].starts_with("submodule deep/sub stays empty"), "{}", gone.shown());
}

#[test]
fn large_files_are_filled_from_the_local_store() {
    let hash = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 2\n");
    let other = pointer.replace("87428f", "000000");
    let project = Project::new(&[
        (".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"),
        ("a.bin", &pointer),
        ("b.bin", &other),
    ]);
    let place = format!(".git/lfs/objects/87/42/{hash}");
    project.write_all(&[(&place, "a\n")]);
    let answer = project.open().baseline("test \"$(cat a.bin)\" = a && grep -q oid b.bin");
    answer.assert_green();
    assert!(answer.list("notes")[0].starts_with("b.bin: only the LFS pointer is here"), "{}", answer.shown());
}

#[test]
fn a_run_that_changes_the_tree_is_named() {
    let project = Project::new(&[("data.txt", "1\n"), (".gitignore", "out\n")]);
    let proof = project.open();
    project.write_all(&[("other", "x")]);
    let tree = project.commit();
    let check = "echo x > out; echo y > beside; test ! -e other || echo 2 > data.txt";
    assert_eq!(*proof.baseline(check).touched(), serde_json::json!([]));
    assert_eq!(*proof.clean(&tree, check).touched(), serde_json::json!(["data.txt"]));
}

#[test]
fn a_step_is_never_taken_twice() {
    let project = Project::new(&[("a", "1")]);
    let proof = project.open();
    let count = project.beside("count");
    let check = format!("echo x >> {}", count.display());
    let first = proof.baseline(&check).0;
    assert_eq!(proof.baseline(&check).0, first);
    assert_eq!(fs::read_to_string(count).expect("there"), "x\n");
    let left = fs::read_dir(project.home.join("proof")).expect("there").flatten();
    assert!(left.into_iter().all(|it| !it.path().join("work").exists()));
}

#[test]
fn a_home_inside_the_tree_does_not_lend_the_tree_to_the_checkout() {
    let mut project = Project::new(&[(".gitignore", "state\nnode_modules\n"), ("a", "1")]);
    project.home = project.top().join("state");
    fs::create_dir(&project.home).expect("made");
    project.hides_a_toolchain = true;
    project.write_all(&[("node_modules/dep/index.js", "")]);
    let check = "node -e 'require(\"dep\")'";
    assert!(project.passes_in_place(check));
    project.open().baseline(check).assert_red();
}
