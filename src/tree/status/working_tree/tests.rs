//! Looking at real repositories.

use super::*;
use crate::tree::repository::git::STARTED;
use crate::tree::sample::Sample;
use crate::tree::status::included_files::UNTRACKED_FILE_MOST;

fn dirty(status: &TreeStatus) -> Vec<&str> {
    status.uncommitted.iter().map(|it| it.to_str().expect("text")).collect()
}

/// What git itself would commit: the tree after adding everything in a fresh clone of the index.
fn tree_by_git(sample: &Sample) -> String {
    sample.user(&["add", "-A"]);
    sample.user(&["write-tree"])
}

#[test]
fn a_clean_tree_is_its_commit() {
    let sample = Sample::committed();
    let status = sample.tree().status().unwrap();
    let expected = TreeStatus {
        commit: Some(sample.user(&["rev-parse", "HEAD"])),
        branch: Some("main".to_owned()),
        tree: sample.user(&["rev-parse", "HEAD^{tree}"]),
        uncommitted: Rc::default(),
        filtered: BTreeMap::new(),
        left_out: vec![],
    };
    assert_eq!(status, expected);
}

#[test]
fn a_branch_without_commits_can_be_looked_at() {
    let sample = Sample::unborn();
    let mut tree = sample.tree();
    let empty = tree.status().unwrap();
    assert_eq!(
        (empty.commit.as_ref(), empty.branch.as_deref(), empty.is_clean()),
        (None, Some("main"), true)
    );
    sample.write("x", b"x");
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), dirty(&status)), (false, vec!["x"]));
    assert_eq!(tree.status().unwrap(), status);
    assert_eq!(status.tree, tree_by_git(&sample));
}

#[test]
fn detached_and_packed_heads_and_worktrees_are_found() {
    let sample = Sample::committed();
    let commit = sample.user(&["rev-parse", "HEAD"]);
    sample.user(&["pack-refs", "--all"]);
    assert_eq!(head(&sample.git()).unwrap(), (Some(commit.clone()), Some("main".to_owned())));
    let place = sample.outside("second");
    sample.user(&["worktree", "add", "-q", "-b", "side/one", place.to_str().unwrap()]);
    assert_eq!(head(&sample.git_at(&place)).unwrap(), (Some(commit.clone()), Some("side/one".to_owned())));
    sample.user(&["checkout", "-q", "--detach"]);
    assert_eq!(head(&sample.git()).unwrap(), (Some(commit), None));
}

#[test]
fn every_kind_of_change_is_seen_and_its_undoing_too() {
    let sample = Sample::committed();
    sample.write("d/f", b"x");
    sample.commit("more");
    let mut tree = sample.tree();
    let clean = tree.status().unwrap();
    type Act = fn(&Sample);
    let acts: [(&str, Act, Vec<&str>); 8] = [
        ("edit", |it| it.write("a.txt", b"b\n"), vec!["a.txt"]),
        ("untracked", |it| it.write("x/y", b"b\n"), vec!["x/y"]),
        ("deleted", |it| std::fs::remove_file(it.path("a.txt")).unwrap(), vec!["a.txt"]),
        (
            "staged",
            |it| {
                it.write("a.txt", b"c\n");
                it.user(&["add", "-A"]);
                it.write("a.txt", b"a\n");
            },
            vec!["a.txt"],
        ),
        (
            "folder to link",
            |it| {
                std::fs::rename(it.path("d"), it.path("e")).unwrap();
                std::os::unix::fs::symlink("e", it.path("d")).unwrap();
            },
            vec!["d", "d/f", "e/f"],
        ),
        (
            "file to folder",
            |it| {
                std::fs::remove_file(it.path("a.txt")).unwrap();
                it.write("a.txt/b", b"x");
            },
            vec!["a.txt", "a.txt/b"],
        ),
        (
            "file to empty folder",
            |it| {
                std::fs::remove_file(it.path("a.txt")).unwrap();
                std::fs::create_dir(it.path("a.txt")).unwrap();
            },
            vec!["a.txt"],
        ),
        (
            "intent to add",
            |it| {
                it.write("n", b"n");
                it.user(&["add", "-N", "n"]);
            },
            vec!["n"],
        ),
    ];
    for (name, act, expected) in acts {
        act(&sample);
        let status = tree.status().unwrap();
        assert_eq!((status.is_clean(), dirty(&status)), (false, expected), "{name}");
        assert_eq!(tree.status().unwrap(), status, "{name} again");
        if name != "staged" {
            assert_eq!(status.tree, tree_by_git(&sample), "{name}");
        }
        sample.user(&["reset", "-q", "--hard"]);
        sample.user(&["clean", "-qfd"]);
        assert_eq!(tree.status().unwrap(), clean, "{name} undone");
    }
}

#[test]
fn a_conflict_is_unclean_and_its_tree_is_what_the_files_hold() {
    let sample = Sample::committed();
    sample.user(&["checkout", "-qb", "other"]);
    sample.write("a.txt", b"other\n");
    sample.commit("other");
    sample.user(&["checkout", "-q", "main"]);
    sample.write("a.txt", b"main\n");
    sample.commit("main");
    let merged = std::panic::catch_unwind(|| sample.user(&["merge", "-q", "other"]));
    assert!(merged.is_err());
    let before = sample.fingerprint();
    let status = sample.tree().status().unwrap();
    assert_eq!((status.is_clean(), dirty(&status)), (false, vec!["a.txt"]));
    assert_eq!(sample.fingerprint(), before);
    assert_eq!(status.tree, tree_by_git(&sample));
}

#[test]
fn a_commit_makes_the_same_tree_clean() {
    let sample = Sample::committed();
    let mut tree = sample.tree();
    sample.write("a.txt", b"b\n");
    let changed = tree.status().unwrap();
    sample.commit("second");
    let committed = tree.status().unwrap();
    assert_eq!((&changed.tree, true), (&committed.tree, committed.is_clean()));
    sample.write("b.txt", b"b\n");
    sample.commit("unseen until committed");
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), status.tree), (true, sample.user(&["rev-parse", "HEAD^{tree}"])));
}

#[test]
fn what_becomes_ignored_is_forgotten_unless_it_is_tracked() {
    let sample = Sample::committed();
    let mut tree = sample.tree();
    for name in ["once", "forced", "a.txt"] {
        sample.write(name, b"x");
    }
    assert_eq!(dirty(&tree.status().unwrap()), ["a.txt", "forced", "once"]);
    sample.write(".gitignore", b"once\nforced\na.txt\n");
    sample.user(&["add", "-f", "forced"]);
    assert_eq!(dirty(&tree.status().unwrap()), [".gitignore", "a.txt", "forced"]);
    sample.user(&["add", ".gitignore"]);
    sample.user(&["commit", "-qam", "rules"]);
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), status.tree), (true, sample.user(&["rev-parse", "HEAD^{tree}"])));
    sample.user(&["rm", "-q", "--cached", "forced"]);
    sample.user(&["commit", "-qm", "untrack"]);
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), status.tree), (true, sample.user(&["rev-parse", "HEAD^{tree}"])));
}

#[test]
fn what_is_ignored_and_committed_all_the_same_is_committed() {
    let sample = Sample::committed();
    sample.write(".gitignore", b"dist/\nother\n");
    sample.commit("rules");
    let mut tree = sample.tree();
    sample.write("dist/a.js", b"a");
    sample.write("other", b"o");
    assert!(tree.status().unwrap().is_clean());
    sample.user(&["add", "-f", "dist/a.js"]);
    sample.user(&["commit", "-qm", "forced"]);
    let status = tree.status().unwrap();
    assert_eq!((dirty(&status), &status.tree), (vec![], &sample.user(&["rev-parse", "HEAD^{tree}"])));
    sample.write("dist/a.js", b"b");
    assert_eq!(dirty(&tree.status().unwrap()), ["dist/a.js"]);
}

#[test]
fn our_own_files_count_for_nothing() {
    let sample = Sample::committed();
    sample.write("state/tracked.json", b"1");
    sample.commit("state");
    let mut tree = sample.tree_with(&["state/", "*.mirror", ".planning/LOOP-STATE.md"]);
    let before = tree.status().unwrap();
    sample.write("state/tracked.json", b"2");
    sample.write("state/deep/other.json", b"2");
    sample.write("x.mirror", b"2");
    sample.write(".planning/LOOP-STATE.md", b"2");
    sample.user(&["add", "-A"]);
    assert_eq!(tree.status().unwrap(), before);
    assert!(before.is_clean());
    sample.write("src/x.mirror", b"2");
    assert_eq!(dirty(&tree.status().unwrap()), ["src/x.mirror"]);
    // A second process sees the same, also when the index was made without knowing of them.
    let mut other = sample.tree_with(&["state/", "*.mirror", ".planning/", "src/"]);
    assert_eq!(other.status().unwrap(), before);
}

#[test]
fn g22_flags_in_the_users_index_hide_nothing() {
    let sample = Sample::committed();
    sample.write("b.txt", b"b\n");
    sample.commit("b");
    sample.user(&["update-index", "--assume-unchanged", "a.txt"]);
    sample.user(&["update-index", "--skip-worktree", "b.txt"]);
    let mut tree = sample.tree();
    assert!(tree.status().unwrap().is_clean());
    sample.write("a.txt", b"changed\n");
    sample.write("b.txt", b"changed\n");
    assert_eq!(sample.user(&["status", "--porcelain"]), "");
    assert_eq!(dirty(&tree.status().unwrap()), ["a.txt", "b.txt"]);
}

#[test]
fn g22_hiding_untracked_files_after_the_first_look_does_not_work() {
    let sample = Sample::committed();
    let mut tree = sample.tree();
    tree.status().unwrap();
    sample.write(".git/info/exclude", b"*\n");
    sample.user(&["config", "core.excludesFile", sample.path(".git/info/exclude").to_str().unwrap()]);
    sample.write("hidden", b"x");
    assert_eq!(sample.user(&["status", "--porcelain"]), "");
    assert_eq!(dirty(&tree.status().unwrap()), ["hidden"]);
}

#[test]
fn ignore_files_line_endings_and_sparse_checkouts_are_respected() {
    let sample = Sample::committed();
    sample.write("home-ignored", b"x");
    std::fs::create_dir(sample.outside("home/git")).unwrap();
    std::fs::write(sample.outside("home/git/ignore"), "home-ignored\n").unwrap();
    sample.write(".gitignore", b"target/\n");
    sample.write("target/x", b"x");
    sample.write(".gitattributes", b"*.bat text eol=crlf\n");
    sample.write("x.bat", b"one\r\ntwo\r\n");
    sample.write("far/away", b"x");
    sample.commit("settings");
    std::fs::remove_file(sample.path("x.bat")).unwrap();
    sample.user(&["checkout", "x.bat"]);
    sample.user(&["sparse-checkout", "set", "--no-cone", "/*", "!/far/"]);
    assert!(!sample.path("far/away").exists());
    let mut tree = sample.tree();
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), dirty(&status)), (true, vec![]));
    assert_eq!(status.tree, sample.user(&["rev-parse", "HEAD^{tree}"]));
    sample.write("x.bat", b"one\r\n");
    assert_eq!(dirty(&tree.status().unwrap()), ["x.bat"]);
}

#[test]
fn nested_repositories_huge_files_and_pipes_are_named() {
    let sample = Sample::committed();
    sample.write("b", b"b");
    sample.commit("b");
    let mut tree = sample.tree();
    let before = tree.status().unwrap();
    sample.write("nested/file", b"x");
    sample.user_in(&sample.path("nested"), &["init", "-q"]);
    let huge = fs::File::create(sample.path("huge")).unwrap();
    huge.set_len(UNTRACKED_FILE_MOST + 1).unwrap();
    let status = tree.status().unwrap();
    assert_eq!(
        status.left_out,
        ["huge (untracked and larger than 50 MiB)", "nested/ (a repository of its own)"]
    );
    assert_eq!((status.tree, dirty(&tree.status().unwrap())), (before.tree.clone(), vec!["huge", "nested/"]));
    std::fs::remove_file(sample.path("b")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(sample.path("b")).status().unwrap().success());
    let status = tree.status().unwrap();
    assert_eq!(status.left_out[0], "b (neither a file nor a link)");
    assert_ne!(status.tree, before.tree);
}

#[test]
fn a_submodule_counts_with_what_is_inside_it() {
    let sample = Sample::committed();
    let other = Sample::committed();
    let from = other.top();
    let mut early = sample.tree();
    assert!(early.status().unwrap().is_clean());
    sample.user(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        from.to_str().unwrap(),
        "sub",
    ]);
    assert_eq!(dirty(&early.status().unwrap()), [".gitmodules", "sub/"]);
    sample.commit("submodule");
    let added = early.status().unwrap();
    assert_eq!((dirty(&added), added.left_out.len()), (vec![], 0));
    assert_eq!(added.tree, sample.user(&["rev-parse", "HEAD^{tree}"]));
    let canary = format!("touch {}; cat", sample.marker().display());
    sample.user_in(&sample.path("sub"), &["config", "filter.bad.clean", &canary]);
    let mut tree = sample.tree();
    let before = tree.status().unwrap();
    assert!(before.is_clean());
    sample.write("sub/.gitattributes", b"* filter=bad\n");
    sample.write("sub/a.txt", b"b\n");
    let changed = tree.status().unwrap();
    assert_eq!(dirty(&changed), ["sub", "sub/.gitattributes", "sub/a.txt"]);
    assert_ne!(changed.tree, before.tree);
    assert_eq!(tree.status().unwrap(), changed);
    sample.write("sub/a.txt", b"c\n");
    assert_ne!(tree.status().unwrap().tree, changed.tree);
    sample.write("sub/a.txt", b"a\n");
    std::fs::remove_file(sample.path("sub/.gitattributes")).unwrap();
    assert_eq!(tree.status().unwrap(), before);
    assert!(!sample.marker().exists());
    sample.user_in(&sample.path("sub"), &["commit", "-q", "--allow-empty", "-m", "inner"]);
    let status = tree.status().unwrap();
    assert_eq!((status.is_clean(), dirty(&status), status.tree != before.tree), (false, vec!["sub"], true));
}

#[test]
fn names_may_hold_any_byte() {
    use std::os::unix::ffi::OsStrExt;
    let sample = Sample::committed();
    let mut tree = sample.tree();
    for name in [&b"line\nbreak"[..], b"\"quoted\"", b"\xff\xfe", b" lead", b":(top)x", b"-n", b"*"] {
        std::fs::write(sample.top().join(std::ffi::OsStr::from_bytes(name)), name).unwrap();
    }
    let status = tree.status().unwrap();
    assert_eq!((status.uncommitted.len(), status.left_out.len()), (7, 0));
    assert_eq!(status.tree, tree_by_git(&sample));
}

#[test]
fn g29_nothing_of_the_repository_runs_and_nothing_of_it_is_written() {
    let sample = Sample::committed();
    sample.write("kept", b"x");
    sample.commit("kept");
    sample.write("kept", b"stashed");
    sample.user(&["stash", "-q"]);
    let canary = sample.outside("canary");
    std::fs::write(&canary, format!("#!/bin/sh\ntouch {}\ncat\n", sample.marker().display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&canary, mode).unwrap();
    let canary = canary.to_str().unwrap();
    for hook in
        ["pre-commit", "post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"]
    {
        std::os::unix::fs::symlink(canary, sample.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    for scope in ["--local", "--global"] {
        for key in
            ["core.fsmonitor", "filter.bad.clean", "filter.bad.smudge", "filter.bad.process", "diff.external"]
        {
            sample.user(&["config", scope, key, canary]);
        }
        for key in [
            "diff.bad.textconv",
            "diff.bad.command",
            "core.pager",
            "core.alternateRefsCommand",
            "gpg.program",
        ] {
            sample.user(&["config", scope, key, canary]);
        }
        sample.user(&["config", scope, "commit.gpgSign", "true"]);
    }
    sample.write(".gitattributes", b"* filter=bad diff=bad\n");
    sample.write("a.txt", b"changed\n");
    sample.write("fresh.txt", b"fresh\n");
    let before = sample.fingerprint();
    let mut tree = sample.tree();
    let status = tree.status().unwrap();
    assert_eq!(dirty(&status), [".gitattributes", "a.txt", "fresh.txt"]);
    let first = crate::tree::snapshots::snapshot::take(&tree.pinned, &status, "run-1").unwrap();
    sample.write("a.txt", b"again\n");
    let snapshot = crate::tree::snapshots::snapshot::list(&tree.pinned, "run-1").unwrap().remove(0);
    assert_eq!(snapshot.name, first.name);
    let restored = crate::tree::snapshots::snapshot::restore(&mut tree, "run-1", &snapshot).unwrap();
    assert_eq!(restored.written, [PathBuf::from("a.txt")]);
    assert_eq!(std::fs::read(sample.path("a.txt")).unwrap(), b"changed\n");
    assert!(!sample.marker().exists());
    assert_eq!(sample.fingerprint(), before);
}

#[test]
fn a_damaged_or_split_index_is_made_anew() {
    let sample = Sample::committed();
    sample.user(&["update-index", "--split-index"]);
    let mut tree = sample.tree();
    assert!(tree.status().unwrap().is_clean());
    sample.write("b", b"b");
    let status = tree.status().unwrap();
    std::fs::write(tree.pinned.index(), b"damaged").unwrap();
    assert_eq!(tree.status().unwrap(), status);
    std::fs::write(tree.pinned.index(), b"damaged").unwrap();
    std::fs::write(tree.pinned.index().with_extension("lock"), b"").unwrap();
    assert_eq!(sample.tree().status().unwrap(), status);
}

#[test]
fn a_look_starts_git_seldom() {
    let sample = Sample::committed();
    let mut tree = sample.tree();
    tree.status().unwrap();
    let mut cost = |act: &dyn Fn(&Sample)| {
        act(&sample);
        let before = STARTED.get();
        tree.status().unwrap();
        STARTED.get() - before
    };
    let unchanged = cost(&|_| {});
    let edited = cost(&|it| it.write("a.txt", b"b\n"));
    let still_dirty = cost(&|_| {});
    let edited_again = cost(&|it| it.write("a.txt", b"longer\n"));
    let committed = cost(&|it| it.commit("second"));
    let edited_and_committed = cost(&|it| {
        it.write("a.txt", b"third time\n");
        it.commit("third");
    });
    // So soon after a change the kernel's times cannot prove that nothing has changed.
    assert!(unchanged <= 1 && still_dirty <= 1, "{unchanged} {still_dirty}");
    assert_eq!([edited, edited_again, committed, edited_and_committed], [3, 4, 2, 5]);
}

#[test]
fn a_look_at_a_tree_that_stands_still_starts_no_git() {
    let sample = Sample::committed();
    let mut tree = sample.tree();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let cost = |tree: &mut WorkingTree| {
        let before = STARTED.get();
        let status = tree.status().unwrap();
        (STARTED.get() - before, status)
    };
    let (_, first) = cost(&mut tree);
    // The clock that stamps files has to tick once.
    while cost(&mut tree).0 > 0 {
        assert!(std::time::Instant::now() < deadline, "git was started at every look");
    }
    assert_eq!(cost(&mut tree), (0, first.clone()));
    sample.write("a.txt", b"b\n");
    let (started, changed) = cost(&mut tree);
    assert!(started > 0 && changed.tree != first.tree);
    let before = cost(&mut tree).1;
    sample.commit("second");
    assert_ne!(cost(&mut tree).1, before);
}

#[test]
fn p14_the_next_controller_knows_a_tree_from_its_books() {
    let sample = Sample::committed();
    sample.write("untracked.txt", b"one\n");
    let first = sample.tree().status().unwrap();
    let cost = || {
        let pinned = sample.pinned();
        let before = STARTED.get();
        let status = WorkingTree::open(pinned, Ours::read::<&str>(&[]).unwrap()).unwrap().status().unwrap();
        (STARTED.get() - before, status)
    };
    // So soon after a change git looks at the files again, and says what of ours is ignored.
    let (starts, again) = cost();
    assert!(starts <= 2, "{starts}");
    assert_eq!(again, first);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while cost().0 > 0 {
        assert!(std::time::Instant::now() < deadline, "git was started at every opening");
    }
    assert_eq!(cost(), (0, first.clone()));

    let changes: [&dyn Fn(); 5] = [
        &|| sample.write("untracked.txt", b"two\n"),
        &|| sample.write("a.txt", b"changed\n"),
        &|| drop(sample.user(&["add", "a.txt"])),
        &|| sample.commit("second"),
        &|| sample.write("a.txt", b"changed again\n"),
    ];
    for (number, change) in changes.iter().enumerate() {
        change();
        let status = cost().1;
        std::fs::remove_dir_all(sample.pinned().beside("")).unwrap();
        assert_eq!(status, cost().1, "after change {number} the cached status says something else than git");
    }
}

#[test]
fn p14_a_page_that_is_no_page_is_not_read() {
    let sample = Sample::committed();
    let first = sample.tree().status().unwrap();
    let page = sample.pinned().beside("page.json");
    let written = std::fs::read(&page).unwrap();
    for content in [&b""[..], b"{}", b"[1,2]", &written[..written.len() / 2], b"\xff"] {
        std::fs::write(&page, content).unwrap();
        assert_eq!(sample.tree().status().unwrap(), first);
    }
    std::fs::remove_file(&page).unwrap();
    std::fs::create_dir(&page).unwrap();
    assert_eq!(sample.tree().status().unwrap(), first);
    // What belongs to the run is another tree.
    assert!(page.is_file(), "a folder in its place is replaced");
    std::fs::write(&page, &written).unwrap();
    assert_ne!(sample.tree_with(&["a.txt"]).status().unwrap().tree, first.tree);
    assert_eq!(sample.tree().status().unwrap(), first);
}
