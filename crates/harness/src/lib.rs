//! What the tests and measurements of the real program share. A [`Sandbox`] is a project, a home and a
//! person's folder below a temporary directory, and every command in it knows nothing else of the
//! machine; a [`Fifo`] is how a test and an agent wait for each other; a [`Terminal`] is what a person
//! sees; a [`Scripted`] project plays the phases of a workflow; the [`zoo`] holds programs that
//! misbehave; [`bench`] is what the measurements share. Only tests and measurements depend on this crate.

pub mod agent_programs;
pub mod bench;
mod done;
mod fifo;
pub mod hints;
pub mod namespace;
pub mod processes;
mod sandbox;
mod scripted;
mod seeded_random;
mod terminal;
mod waiting;
pub mod zoo;

pub use done::{Done, Running};
pub use fifo::Fifo;
pub use sandbox::{CHECK, COMMIT, PROMISE, Sandbox, WORK, put, stuck};
pub use scripted::{PRP, Scripted};
pub use seeded_random::SeededRandom;
pub use terminal::{Terminal, steady};
pub use waiting::{PATIENCE, until_there, within};

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Returns the path of the program `loop`: what `LOOP_PROGRAM` names, else the one that cargo built
/// beside this test. Cargo tells its own name for it only while it compiles an integration test.
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let beside = || built_folder().join("loop");
        let path = std::env::var_os("LOOP_PROGRAM").map_or_else(beside, PathBuf::from);
        assert!(path.is_file(), "{} is not built; cargo test and cargo bench build it", path.display());
        path.into_os_string().into_string().expect("a path that is text")
    });
    &PROGRAM
}

/// The folder that cargo builds programs into; a test lies in its folder `deps`.
fn built_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.ancestors().nth(2).expect("target/PROFILE").to_owned()
}

/// A folder for what tests make once and keep, below cargo's own.
pub(crate) fn kept_folder() -> PathBuf {
    let folder = built_folder().parent().expect("target").join("tmp");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The top of the source tree.
pub fn source_tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/harness lies two below")
}

/// How often the expensive tests repeat themselves.
pub fn times() -> u32 {
    std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// Says why a test did nothing, where the machine does not allow it.
pub fn skipped(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
}
