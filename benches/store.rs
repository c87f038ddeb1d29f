//! P6, P7, P8 and P12: opening a run of a million events, listing ten thousand runs, the next of a hundred
//! thousand jobs, and one durable step, beside their floors. The store is private to the crate, so its measurements are tests
//! that do a hundredth of the work elsewhere; this runs them whole and optimised, and shows what they print.
//!
//!     cargo bench --bench store

use std::process::Command;

fn main() {
    let done = Command::new(env!("CARGO"))
        .args(["test", "--release", "--quiet", "-p", "loop-store", "--lib", "tests::measure"])
        .args(["--", "--nocapture", "--test-threads=1"])
        .env("LOOP_MEASURE", "1")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo");
    assert!(done.success());
}
