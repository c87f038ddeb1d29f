//! What this process knows stays in it: the secrets of its environment are learnt before anything is
//! written, a crash leaves no image of its memory, and no other process of the user may look into it.

use loop_base::secret;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::ffi::OsStringExt;

/// Is called once, before anything is read or written but what needs our own files in `/proc`.
pub fn keep_to_ourselves() {
    let all = std::env::vars_os();
    secret::learn(all.map(|(name, value)| (name.to_string_lossy().into_owned(), value.into_vec())));
    // The hard limit stays: a check of the user's may want its own core dumps and can ask for them.
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    let _as_it_was = setrlimit(Resource::Core, limit);
    // It ends with the next program that is executed, so agents and checks have nothing of it.
    #[cfg(target_os = "linux")]
    let _as_it_was = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    std::panic::set_hook(Box::new(|panic| {
        use std::io::Write;
        let text =
            format!("loop: a bug in this program: {panic}\nwhat was recorded is safe\nnext: loop status\n");
        let _nobody_reads = std::io::stderr().write_all(secret::redact(&text).as_bytes());
    }));
}
