//! A whole domain at once: everything that goes wrong between systems, in one queue, and a main branch that is green
//! after every merge.

use crate::domain::{Domain, system};
use loop_harness::{Done, Sandbox};

/// Which system does what, by how often it was called to build:
/// 001 fails its checks first, 002 is stuck until a person mends it, 003 waits at the security gate, 004 is killed and
/// then takes a file of 005 away in its merge, 005 changes the same line as 001 and then merges with `-s ours`, and
/// 002 and 006 are green alone and red together.
const SCENE: &str = r#"
n=$(($(cat "$OUT/calls-$id" 2>/dev/null || echo 0) + 1))
owner() { echo "owner: $id" > owner.txt; }
keep() { git add -A; git commit -qm "feat: $id, call $n"; }
step() { case $id:$n in
  sys-001:1) echo 'false' > tests/sys-001.sh; owner; keep;;
  sys-001:*) build;;
  sys-002:1|sys-006:1) echo "$id" > "parts/$id"; build;;
  sys-002:*|sys-006:*) git merge -q --no-edit main; : > parts/.joined; build; keep;;
  sys-004:1) build; git merge -q --no-commit --no-ff main; git rm -qf sys-005.txt tests/sys-005.sh; git commit -qm "merge main";;
  sys-004:*) git checkout -q main -- sys-005.txt tests/sys-005.sh; keep;;
  sys-005:1) owner; build;;
  sys-005:2) git merge -q -s ours -m "merge main" main;;
  sys-005:*) mv tests/sys-005.sh sys-005.txt "$OUT"; git checkout -q main -- .; mv "$OUT/sys-005.sh" tests; mv "$OUT/sys-005.txt" .; keep; owner; keep;;
  *) build;; esac; }
case $LOOP_PHASE in
  BUILD) [ -e "$OUT/passed-$id" ] || { hold; : > "$OUT/passed-$id"; }
    if [ $id = sys-002 ] && [ ! -e "$OUT/mended" ]; then stuck 'the key is missing'; exit; fi
    echo $n > "$OUT/calls-$id"; step >&2;;
esac
say done "$LOOP_PHASE"
"#;

#[test]
fn six_systems_that_get_in_each_others_way_leave_a_green_main() {
    let mut systems: Vec<_> = (1..=6).map(|it| system(&format!("sys-00{it}"), 1, &[])).collect();
    systems[2]["autonomy"] = serde_json::json!({ "mode": "hybrid" });
    systems[3] = system("sys-004", 3, &["sys-001"]);
    systems[4]["priority"] = 2.into();
    systems[5]["priority"] = 2.into();
    let domain = Domain::new(&systems);
    let sandbox = &domain.sandbox;
    sandbox.write("owner.txt", "owner: nobody\n");
    sandbox.write("parts/base", "");
    sandbox.write("tests/parts.sh", "[ \"$(ls parts | wc -l)\" -le 2 ] || [ -e parts/.joined ]\n");
    sandbox.commit("what they share");
    let go: Vec<_> = (1..=6).map(|it| domain.held(&format!("sys-00{it}"))).collect();

    let pool = domain.pool(3, SCENE, &[]);
    let mut first = [domain.hear(), domain.hear(), domain.hear()];
    first.sort();
    assert_eq!(first, ["sys-001", "sys-002", "sys-003"]);
    // The one that is blocked and the one that waits at its gate make room for two others.
    go[1].say();
    assert_eq!(domain.hear(), "sys-005");
    let blocked = domain.run_that_is("sys-002", "halted");
    go[2].say();
    assert_eq!(domain.hear(), "sys-006");
    let asks = domain.run_that_is("sys-003", "waiting");
    // The first lands after its second call, and what needs it begins.
    go[0].say();
    assert_eq!(domain.hear(), "sys-004");
    domain.until_complete("sys-001");
    domain.kill_all_of("sys-004");
    assert_eq!(domain.hear(), "sys-004", "it is tried again");
    go[4].say();
    domain.until_complete("sys-005");
    go[3].say();
    domain.until_complete("sys-004");
    sandbox.run(&["approve", "security", "--run", &asks, "--by", "ann"]).exits(0);
    std::fs::write(sandbox.note("mended"), "").expect("written");
    sandbox.run(&["answer", "resume", "--run", &blocked]).exits(0);
    domain.until_complete("sys-002");
    domain.until_complete("sys-003");
    // Green alone, and red together with what was merged meanwhile.
    go[5].say();
    let done = pool.wait().exits(0).says("6 of 6 systems complete");
    told(done);

    for id in 1..=6 {
        assert_eq!(domain.system(&format!("sys-00{id}"))["status"], "complete", "sys-00{id}");
    }
    assert_eq!(sandbox.read("owner.txt"), "owner: sys-005\n");
    assert!(
        sandbox.project.join("tests/sys-005.sh").exists()
            && sandbox.project.join("tests/sys-001.sh").exists()
    );
    let merges = green_at_every_merge(sandbox);
    assert_eq!(merges, 6, "one merge for each system");
    domain.assert_nothing_left();
    // Nothing of the person's own was touched.
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ".", ":!domain-memory"]), "");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), "main");
}

/// What went wrong is told by the pool.
fn told(done: Done) {
    let done = done.says("sys-005: ").says("owner.txt").says("sys-004: ");
    let said = |system: &str, words: &str| {
        let found = done.err.lines().any(|it| it.starts_with(system) && it.contains(words));
        assert!(found, "no {words:?} of {system} in\n{}", done.err);
    };
    said("sys-005: ", "changes the same lines");
    said("sys-004: ", "sys-005");
    said("sys-006: ", "back to BUILD");
    said("sys-002: ", "the key is missing");
}

/// Checks every commit of the main line in a clean clone, and returns how many of them are merges.
fn green_at_every_merge(sandbox: &Sandbox) -> usize {
    let clone = sandbox.path("clone");
    let place = clone.display().to_string();
    sandbox.git(&["clone", "-q", "--no-local", ".", &place]);
    // There is nothing to check in the first commit.
    let commits = sandbox.git(&["rev-list", "--first-parent", "--min-parents=1", "main"]);
    for commit in commits.lines() {
        sandbox.git(&["-C", &place, "checkout", "-q", "--detach", commit]);
        assert_eq!(sandbox.git(&["-C", &place, "status", "--porcelain"]), "");
        let mut test = sandbox.furnished("sh", &["test.sh"]);
        let green = Done::of(test.current_dir(&clone).output().expect("sh"));
        assert_eq!(green.code, 0, "{commit} is red:\n{}", green.out);
    }
    sandbox.git(&["rev-list", "--first-parent", "--merges", "main"]).lines().count()
}
