//! Locks that are waited for, because whoever has one is soon done with it: the turn to write, and the
//! opening of a run in a tree. The kernel hands such a lock on in the order of asking, the moment that it
//! is free, and takes it from the dead. It does not take it from a process that was stopped, nor from a
//! program that is none of ours, so somebody who keeps it for very long is named instead of being waited
//! for without a word.

use super::error::StoreError;
use super::holder::Holder;
use loop_base::files::ours;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often it is looked who has the lock that we wait for.
const LOOK: Duration = Duration::from_secs(10);

/// At so many looks in a row one process may have it. A transaction of ours takes milliseconds, and on a
/// very slow disk some seconds; a queue of many that each take their time moves on between two looks.
const LOOKS: u32 = 3;

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldTurn(Arc<File>);

impl Drop for HeldTurn {
    fn drop(&mut self) {
        // Closing is not enough: a child that another thread is about to start shares the file until its exec.
        let _ = flock(&*self.0, FlockOperation::Unlock);
    }
}

/// Takes the lock, and waits as long as those who have it change.
pub(crate) fn take(file: &Arc<File>, path: &Path) -> Result<HeldTurn, StoreError> {
    take_looking(file, path, LOOK)
}

fn take_looking(file: &Arc<File>, path: &Path, look: Duration) -> Result<HeldTurn, StoreError> {
    let failed = |error: std::io::Error| StoreError::file(path, &error);
    match flock(&**file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(HeldTurn(Arc::clone(file))),
        Err(Errno::WOULDBLOCK | Errno::INTR) => {}
        Err(error) => return Err(failed(error.into())),
    }
    let Some(waiting) = wait_elsewhere(path) else {
        // No thread can be had; then there is no limit either.
        return lock(file).map(|()| HeldTurn(Arc::clone(file))).map_err(failed);
    };
    let (mut kept_by, mut looks) = (None, 0);
    loop {
        match waiting.recv_timeout(look) {
            Ok(taken) => return taken.map(|it| HeldTurn(Arc::new(it))).map_err(failed),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let by = Holder::of_lock(path, "FLOCK");
        looks = if by == kept_by { looks + 1 } else { 1 };
        if looks == LOOKS {
            return Err(StoreError::Busy { path: path.to_owned(), by });
        }
        kept_by = by;
    }
}

/// Waits in a thread, with a file of its own: whoever gives up lets go of whatever the thread gets later.
fn wait_elsewhere(path: &Path) -> Option<Receiver<std::io::Result<File>>> {
    let (tell, told) = channel();
    let path = path.to_owned();
    let wait = move || {
        let file = ours().write(true).create(true).truncate(false).open(&path);
        let _nobody_waits = tell.send(file.and_then(|file| lock(&file).map(|()| file)));
    };
    thread::Builder::new().name("turn".to_owned()).spawn(wait).ok().map(|_| told)
}

fn lock(file: &File) -> std::io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOKS, lock, take_looking};
    use crate::error::StoreError;
    use crate::holder::Holder;
    use std::fs::File;
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn whoever_keeps_a_lock_is_named_and_one_that_comes_free_is_taken() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("turnstile");
        let open = || {
            Arc::new(File::options().write(true).create(true).truncate(false).open(&path).expect("a file"))
        };
        let (ours, other) = (open(), open());
        lock(&other).expect("free");
        let look = Duration::from_millis(20);
        let began = Instant::now();
        match take_looking(&ours, &path, look) {
            Err(StoreError::Busy { by, .. }) => {
                assert_eq!(by.map(|it| it.pid), Some(Holder::this_process().pid))
            }
            it => panic!("{it:?}"),
        }
        assert!(look * LOOKS <= began.elapsed());
        // It is handed on to one who waits, and whoever gave up does not keep it.
        let waits = thread::spawn({
            let (ours, path) = (Arc::clone(&ours), path.clone());
            move || take_looking(&ours, &path, Duration::from_secs(60)).map(drop)
        });
        drop(other);
        waits.join().expect("no panic").expect("free again");
        take_looking(&ours, &path, Duration::from_secs(60)).expect("free again");
    }
}
