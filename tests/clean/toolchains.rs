//! Builds that trust times and caches: cargo and Go, with what the user has downloaded already.

use crate::project::Project;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::Path;

const CRATE: [(&str, &str); 3] = [
    (".gitignore", "/target\n"),
    (
        "Cargo.toml",
        "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"1\"\n[workspace]\n",
    ),
    ("src/lib.rs", LIBRARY),
];

const LIBRARY: &str = "pub fn text() -> String { itoa::Buffer::new().format(1).to_owned() }
#[test]
fn it_is_one() { assert_eq!(text(), \"1\"); }
";

#[test]
fn cargo_builds_with_the_users_archives_and_rebuilds_what_changed() {
    let project = Project::new(&CRATE);
    crate::project::text(project.sh("cargo generate-lockfile --offline"));
    project.commit();
    let proof = project.open();
    let check = "cargo test --offline --locked";
    let before = registry(&project);
    let first = proof.baseline(check);
    first.assert_green();
    project.write_all(&[("src/lib.rs", &LIBRARY.replace("format(1)", "format(2)"))]);
    project.sh("touch -d 2001-01-01 src/lib.rs");
    let tree = project.commit();
    let second = proof.clean(&tree, check);
    second.assert_red();
    assert!(second.shown().contains("it_is_one"), "{}", second.shown());
    assert!(!second.shown().contains("Compiling itoa"), "the cache was not used: {}", second.shown());
    assert_eq!(registry(&project), before);
}

/// The unpacked sources that the user's cargo has.
fn registry(project: &Project) -> String {
    crate::project::text(project.sh("ls -R $CARGO_HOME/registry/src | sort | sha256sum"))
}

/// Gives the home the library that other tests compile into theirs, which takes 20 seconds once.
fn share_library(project: &Project) {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cheats/go-library");
    let proofs = project.home.join("proof");
    for folder in [&library, &proofs] {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("a folder");
    }
    symlink(library, proofs.join("go")).expect("a link");
}

#[test]
fn go_builds_with_a_cache_of_its_own() {
    let project = Project::new(&[
        ("go.mod", "module sample\n\ngo 1.20\n"),
        ("a.go", "package sample\n\nfunc One() int { return 1 }\n"),
        (
            "a_test.go",
            "package sample\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestOne(t *testing.T) {\n\tos.WriteFile(os.Getenv(\"GOCACHE\")+\"/planted\", nil, 0o600)\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
        ),
    ]);
    if !project.passes_in_place("go version") {
        eprintln!("go is not installed: nothing to prove here");
        return;
    }
    share_library(&project);
    let proof = project.open();
    proof.baseline("go test ./...").assert_green();
    // What other projects of the home get was compiled before anything of this one ran.
    let library = project.home.join("proof/go/cache");
    let packages = fs::read_to_string(library.join("packages")).expect("a list");
    assert!(packages.lines().any(|it| it == "testing"), "{packages}");
    assert!(!library.join("planted").exists());
    project.write_all(&[("a.go", "package sample\n\nfunc One() int { return 2 }\n")]);
    let tree = project.commit();
    proof.clean(&tree, "go test ./...").assert_red();
    assert!(
        fs::read_dir(project.beside("user")).expect("there").flatten().all(|it| it.file_name() != ".cache")
    );
}
