//! Waiting for what gives no other sign than that it is so.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Whatever has not happened after this time never will.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks others get the processor: what is waited for may need it.
const PAUSE: Duration = Duration::from_millis(4);

/// Asks again and again until it is so; for what gives no other sign.
pub fn within(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if is_so() {
            return true;
        }
        if deadline < Instant::now() {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a file is there, for as long as the process that makes it lives.
#[track_caller]
pub fn until_there(path: &Path, child: &mut Child) {
    while !path.exists() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before {} was there", path.display());
        std::thread::sleep(PAUSE);
    }
}
