//! What the next controller finds of a call that was begun and not concluded: never started, under
//! way, ended, or lost. Asking twice gives the same, and a crash while asking is harmless. No answer
//! ever allows the same call to start a second time.

use crate::contain::identity::Identity;
use crate::records::claim;
use crate::records::exit_records;
use crate::records::protocol::{Force, OrderEnd};
use crate::records::unstarted;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};
use std::io;
use std::path::Path;

/// What became of a call.
#[derive(Debug)]
pub enum PreviousCall {
    /// It was never started, and never will be.
    NotStarted,
    /// It is under way, in the hands of a shim whose controller is dead.
    Live(Attached),
    Ended(OrderEnd),
    /// It was started, or may have been, and nobody saw its end.
    Lost(String),
}

/// A shim that somebody else started. Readable when it has gone; `find` then says how its call ended.
#[derive(Debug)]
pub struct Attached {
    shim: OwnedFd,
}

impl Attached {
    /// Asks for the end of its call.
    pub fn interrupt(&self, force: Force) -> io::Result<()> {
        let signal = match force {
            Force::Soft => Signal::TERM,
            Force::Hard => Signal::QUIT,
        };
        // An agent can stop its shim, which then hears nothing until it continues.
        for signal in [signal, Signal::CONT] {
            match pidfd_send_signal(&self.shim, signal) {
                // It is gone, and so is its call.
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl AsFd for Attached {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shim.as_fd()
    }
}

/// Finds out about the call of this stem, which the controller of this epoch had begun. `journaled` is the
/// digest of the proof that it was not started; calls of older versions have none.
pub fn find(run_dir: &Path, stem: &str, epoch: u64, journaled: Option<&str>) -> io::Result<PreviousCall> {
    let shim = Identity::read(run_dir, epoch)?;
    let is_same_boot = shim.as_ref().map_or(Ok(true), Identity::is_of_this_boot)?;
    // First whether the shim lives, then its record: a shim that ends in between has written one. The
    // record proves that the call ran, whatever the agent did to its claim.
    let live = shim.as_ref().map_or(Ok(None), Identity::open_shim)?;
    if let Some(ending) = exit_records::find(run_dir, stem)? {
        return Ok(PreviousCall::Ended(ending));
    }
    // After a restart of the machine a missing file proves nothing: it may not have reached the disk.
    let lost_records = match journaled {
        Some(digest) => !claim::exists(run_dir, stem) && !unstarted::holds(run_dir, digest),
        None => shim.is_some() && !exit_records::exist(run_dir),
    };
    let may_be_void = !lost_records && journaled.is_none_or(|it| unstarted::holds(run_dir, it));
    let is_void = may_be_void
        && !exit_records::was_claimed(run_dir, stem)?
        && ((is_same_boot && claim::void(run_dir, stem)?) || claim::is_void(run_dir, stem)?);
    Ok(match live {
        // Also where a shim lives: one that was never sent the call, or that came too late for it.
        _ if is_void => PreviousCall::NotStarted,
        Some(shim) => PreviousCall::Live(Attached { shim }),
        None if is_same_boot && lost_records => {
            PreviousCall::Lost("the records of the run's calls were removed".to_owned())
        }
        // A shim is known on disk before it claims anything.
        None if shim.is_none() => {
            PreviousCall::Lost("the run's folder was removed during the call".to_owned())
        }
        None if is_same_boot => PreviousCall::Lost("the shim died without an exit record".to_owned()),
        None => PreviousCall::Lost("the machine restarted during the call".to_owned()),
    })
}

/// Whether the machine was restarted since the shim of this epoch began: then nothing of it lives.
pub fn before_restart(run_dir: &Path, epoch: u64) -> io::Result<bool> {
    let shim = Identity::read(run_dir, epoch)?;
    shim.as_ref().map_or(Ok(false), |it| it.is_of_this_boot().map(|it| !it))
}

#[cfg(test)]
mod tests {
    use super::{Identity, OrderEnd, PreviousCall, claim, find};
    use crate::process::proc_stat::Stat;
    use crate::records::exit_records;
    use crate::records::protocol::EndReason;
    use crate::records::unstarted;
    use std::io::Read;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// What a shim leaves before it claims anything.
    fn shim_was_here(dir: &Path, identity: &Identity) {
        exit_records::Ledger::open(dir).expect("writable");
        identity.write(dir, 7).expect("written");
    }

    fn found(dir: &Path) -> String {
        format!("{:?}", find(dir, "call-1", 7, None).expect("possible"))
    }

    #[test]
    fn what_nobody_claimed_was_not_started_and_stays_so() {
        let dir = tempfile::tempdir().expect("a folder");
        for _ in 0..3 {
            assert_eq!(found(dir.path()), "NotStarted");
        }
        assert!(claim::take(&dir.path().join("call-1.out")).expect("possible").is_none());
    }

    #[test]
    fn a_claim_without_shim_or_record_is_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        let gone = Identity { pid: i32::MAX, ..Identity::mine().expect("an identity") };
        shim_was_here(dir.path(), &gone);
        claim::take(&dir.path().join("call-1.out")).expect("possible").expect("ours");
        for _ in 0..2 {
            assert_eq!(found(dir.path()), r#"Lost("the shim died without an exit record")"#);
        }
    }

    #[test]
    fn a_call_whose_claim_and_records_were_removed_is_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        let gone = Identity { pid: i32::MAX, ..Identity::mine().expect("an identity") };
        shim_was_here(dir.path(), &gone);
        assert_eq!(found(dir.path()), "NotStarted");
        for name in ["call-1.out", "calls.log"] {
            std::fs::remove_file(dir.path().join(name)).expect("removed");
        }
        for _ in 0..2 {
            assert_eq!(found(dir.path()), r#"Lost("the records of the run's calls were removed")"#);
        }
    }

    /// An agent can remove and write every file of the folder, and knows no text with the journaled digest.
    #[test]
    fn a_call_whose_files_are_all_gone_is_not_taken_for_one_that_never_started() {
        let dir = tempfile::tempdir().expect("a folder");
        let gone = Identity { pid: i32::MAX, ..Identity::mine().expect("an identity") };
        for (number, is_shim_known) in [(1, true), (2, false)] {
            let stem = format!("call-{number}");
            let digest = unstarted::issue(dir.path(), &stem);
            if is_shim_known {
                shim_was_here(dir.path(), &gone);
            }
            let found = |epoch| {
                let found = find(dir.path(), &stem, epoch, Some(&digest)).expect("possible");
                format!("{found:?}")
            };
            let epoch = if is_shim_known { 7 } else { 8 };
            for _ in 0..2 {
                assert_eq!(found(epoch), "NotStarted");
            }
            std::fs::remove_file(dir.path().join(format!("{stem}.out"))).expect("removed");
            unstarted::revoke(dir.path()).expect("wiped");
            for _ in 0..2 {
                assert_eq!(found(epoch), r#"Lost("the records of the run's calls were removed")"#);
            }
        }
    }

    #[test]
    fn after_a_restart_an_open_call_is_lost_even_without_its_claim() {
        let dir = tempfile::tempdir().expect("a folder");
        let before = Identity { boot: "before".to_owned(), ..Identity::mine().expect("an identity") };
        before.write(dir.path(), 7).expect("written");
        for _ in 0..2 {
            assert_eq!(found(dir.path()), r#"Lost("the machine restarted during the call")"#);
        }
        let ending = OrderEnd::without_exit(EndReason::TimedOut);
        exit_records::Ledger::open(dir.path()).expect("writable").append("call-1", &ending).expect("written");
        assert!(
            matches!(find(dir.path(), "call-1", 7, None).expect("possible"), PreviousCall::Ended(it) if it == ending)
        );
    }

    #[test]
    fn a_claim_whose_shim_lives_is_live_until_its_record() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut shim = Command::new("sh");
        let shim = shim.args(["-c", "echo; read x", "__shim"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shim = shim.spawn().expect("sh");
        // A process that was just started has no command line yet; one that writes has.
        shim.stdout.take().expect("its output").read_exact(&mut [0]).expect("it runs");
        let pid = i32::try_from(shim.id()).expect("a pid");
        let start = Stat::read(pid).expect("readable").expect("alive").start;
        let identity = Identity { pid, start, ..Identity::mine().expect("an identity") };
        shim_was_here(dir.path(), &identity);
        claim::take(&dir.path().join("call-1.out")).expect("possible").expect("ours");
        assert!(matches!(find(dir.path(), "call-1", 7, None).expect("possible"), PreviousCall::Live(_)));
        let ending = OrderEnd::without_exit(EndReason::Exited);
        exit_records::Ledger::open(dir.path()).expect("writable").append("call-1", &ending).expect("written");
        assert!(
            matches!(find(dir.path(), "call-1", 7, None).expect("possible"), PreviousCall::Ended(it) if it == ending)
        );
        drop(shim.stdin.take());
        shim.wait().expect("collected");
    }

    #[test]
    fn a_record_without_a_claim_is_an_end_and_a_claim_without_a_shim_is_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        let ending = OrderEnd::without_exit(EndReason::Exited);
        exit_records::Ledger::open(dir.path()).expect("writable").append("call-1", &ending).expect("written");
        assert!(
            matches!(find(dir.path(), "call-1", 7, None).expect("possible"), PreviousCall::Ended(it) if it == ending)
        );
        exit_records::Ledger::open(dir.path()).expect("writable").claim("call-3").expect("written");
        assert!(matches!(find(dir.path(), "call-3", 7, None).expect("possible"), PreviousCall::Lost(_)));
        assert!(!dir.path().join("call-3.out").exists());
        claim::take(&dir.path().join("call-2.out")).expect("possible").expect("ours");
        for _ in 0..2 {
            let found = format!("{:?}", find(dir.path(), "call-2", 7, None).expect("possible"));
            assert_eq!(found, r#"Lost("the run's folder was removed during the call")"#);
        }
    }

    #[test]
    fn a_process_that_is_no_shim_is_never_taken_for_one() {
        let dir = tempfile::tempdir().expect("a folder");
        shim_was_here(dir.path(), &Identity::mine().expect("an identity"));
        claim::take(&dir.path().join("call-1.out")).expect("possible").expect("ours");
        assert_eq!(found(dir.path()), r#"Lost("the shim died without an exit record")"#);
    }
}
