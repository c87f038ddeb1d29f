//! Commands to a run: a row in the database, durable before its sender is told so, and a byte into
//! the FIFO of the run's folder, which wakes the owner. The byte says only how urgent it is; what is
//! asked for is read from the database. A lost byte costs a delay, never a command.

use super::error::StoreError;
use super::home::Home;
use crate::journal::run_row::find;
use loop_base::secret::redact;
use rusqlite::params;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

const FIFO: &str = "wake";

/// Interrupts a call or a wait.
pub const NOW: u8 = b'n';
/// Is looked at when the owner comes by.
pub const COMMAND: u8 = b'c';

impl Home {
    /// Stores a command for the owner of a run and returns its number. It is durable then.
    pub fn command(&self, run: &str, at: i64, body: &str) -> Result<i64, StoreError> {
        self.write(|transaction| {
            let key = find(transaction, run)?.key;
            transaction
                .prepare_cached("insert into command(run, at, body) values(?1, ?2, ?3)")?
                .execute(params![key, at, redact(body)])?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// Returns the commands to a run that nobody has taken yet, oldest first.
    pub fn untaken_commands(&self, run: &str) -> Result<Vec<(i64, String)>, StoreError> {
        self.read(|connection| {
            let key = find(connection, run)?.key;
            let mut query = connection.prepare_cached(
                "select id, body from command where run = ?1 and taken_seq is null order by id",
            )?;
            let rows = query.query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Takes a command back, unless somebody has taken it.
    pub fn withdraw_command(&self, number: i64) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached("delete from command where id = ?1 and taken_seq is null")?
                .execute([number])?;
            Ok(())
        })
    }
}

/// Wakes the owner of the run with this folder. Returns whether one is listening.
pub fn wake(folder: &Path, urgency: u8) -> Result<bool, StoreError> {
    let path = folder.join(FIFO);
    let failed = |error: Errno| StoreError::file(&path, &error.into());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fifo = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(fifo) => fifo,
        Err(Errno::NXIO | Errno::NOENT) => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    if !is_fifo(&fifo).map_err(failed)? {
        return Ok(false);
    }
    match rustix::io::write(&fifo, &[urgency]) {
        // A full FIFO wakes as well as one byte more would.
        Ok(_) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::PIPE) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// Returns whether somebody drives the run with this folder, whom we need not be able to see.
pub fn is_listening(folder: &Path) -> bool {
    listened_to(folder).is_some()
}

/// Waits until nobody listens for commands to the run with this folder, at most so long. The kernel
/// reports an error on our end when the last reader closes.
pub fn wait_for_listener_to_leave(folder: &Path, most: Duration) {
    let Some(fifo) = listened_to(folder) else { return };
    let end = Instant::now() + most;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return };
        match poll(&mut [PollFd::new(&fifo, PollFlags::empty())], Some(&timeout)) {
            Err(Errno::INTR) => (),
            Ok(_) | Err(_) => return,
        }
    }
}

/// Opens the FIFO of the run with this folder, if somebody reads it.
fn listened_to(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fifo = rustix::fs::open(folder.join(FIFO), flags, Mode::empty()).ok()?;
    is_fifo(&fifo).unwrap_or(false).then_some(fifo)
}

/// The owner's end of the FIFO; readable when somebody called.
#[derive(Debug)]
pub struct Wake(OwnedFd);

impl Wake {
    pub fn listen(folder: &Path) -> Result<Wake, StoreError> {
        let path = folder.join(FIFO);
        let failed = |error: Errno| StoreError::file(&path, &error.into());
        // Opened for both directions it never reports end of file when a sender goes away.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            match rustix::fs::open(&path, flags, Mode::empty()) {
                Ok(fifo) if is_fifo(&fifo).map_err(failed)? => return Ok(Wake(fifo)),
                Ok(_) | Err(Errno::LOOP) => rustix::fs::unlink(&path).map_err(failed)?,
                Err(Errno::NOENT) => make_fifo(&path).map_err(failed)?,
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Takes every byte that has arrived, without waiting.
    pub fn drain(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut part = [0; 64];
        while let Ok(length @ 1..) = rustix::io::read(&self.0, &mut part) {
            all.extend_from_slice(&part[..length]);
        }
        all
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn is_fifo(file: &OwnedFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode) == FileType::Fifo)
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(path: &Path) -> Result<(), Errno> {
    match rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

/// There is no safe call for it there.
#[cfg(target_vendor = "apple")]
fn make_fifo(_path: &Path) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}
