//! The hash chain over a run's events, and its anchor. Each event's hash covers the hash before it,
//! the run, and every column, each framed by its length, so that no two different rows give the same
//! bytes. The anchor is a small file in the run's folder that repeats the head of the chain: a
//! database that was put back to an older copy is consistent in itself, and only something outside
//! of it can tell. The chain has no key: it finds damage and careless edits, not a forger who
//! recomputes it.

use crate::error::StoreError;
use loop_base::files::ours;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) type Hash = [u8; 32];

/// What the first event of every run follows.
pub(crate) const ORIGIN: Hash = [0; 32];

/// One event as it enters the chain.
pub(crate) struct Link<'a> {
    pub run: &'a str,
    pub seq: i64,
    pub epoch: i64,
    pub at: i64,
    pub kind: &'a str,
    pub body: &'a str,
}

impl Link<'_> {
    pub(crate) fn hash(&self, prev: &Hash) -> Hash {
        let mut sha = Sha256::new_with_prefix(b"loop event 1\0");
        sha.update(prev);
        framed(&mut sha, self.run);
        for number in [self.seq, self.epoch, self.at] {
            sha.update(number.to_be_bytes());
        }
        framed(&mut sha, self.kind);
        framed(&mut sha, self.body);
        sha.finalize().into()
    }
}

/// The hash of a snapshot: it belongs to one run and to one place of that run's chain.
pub(crate) fn state_hash(run: &str, seq: i64, head: &Hash, state: &str) -> Hash {
    let mut sha = Sha256::new_with_prefix(b"loop state 1\0");
    sha.update(head);
    framed(&mut sha, run);
    sha.update(seq.to_be_bytes());
    framed(&mut sha, state);
    sha.finalize().into()
}

pub(crate) fn framed(sha: &mut Sha256, text: &str) {
    sha.update((text.len() as u64).to_be_bytes());
    sha.update(text.as_bytes());
}

pub(super) fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The head of a chain as the anchor remembers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Head {
    pub seq: i64,
    pub epoch: i64,
    pub hash: Hash,
}

const ANCHOR: &str = "head";

/// Two numbers and a hash; a longer line is not ours.
const HEAD_MOST: usize = 4096;

/// The open anchor file of a run.
#[derive(Debug)]
pub(crate) struct Anchor(File);

impl Head {
    /// Returns it as one line of text.
    pub(crate) fn line(&self) -> String {
        let hash = hex(&self.hash);
        // All numbers have one width, so a write replaces exactly what the last one wrote.
        format!("{:020} {:020} {hash}\n", self.seq, self.epoch)
    }
}

impl Anchor {
    pub(crate) fn open(folder: &Path) -> Result<Anchor, StoreError> {
        let path = folder.join(ANCHOR);
        ours()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map(Anchor)
            .map_err(|error| StoreError::file(&path, &error))
    }

    /// Repeats the head. It is called after the commit that it repeats, is never synced, and its
    /// failure is not an error: an anchor that is behind is right about what it says.
    pub(crate) fn set(&self, head: &Head) {
        let _ = self.0.write_all_at(head.line().as_bytes(), 0);
    }
}

/// Reads the anchor of a run. A missing or empty one (lost power right after it was created) is
/// `None`; one that cannot be read is damage.
pub(crate) fn anchored(folder: &Path) -> Result<Option<Head>, StoreError> {
    let path = folder.join(ANCHOR);
    let bytes = match loop_base::files::read(&path, HEAD_MOST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::file(&path, &error)),
    };
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(&bytes).ok().and_then(parse_head);
    parsed.map(Some).ok_or(StoreError::Damaged { path, what: "it is not the head of a chain".into() })
}

pub(crate) fn parse_head(text: &str) -> Option<Head> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let seq = words.next()?.parse().ok()?;
    let epoch = words.next()?.parse().ok()?;
    let digits = words.next()?;
    if words.next().is_some() || digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    let mut hash = ORIGIN;
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(Head { seq, epoch, hash })
}

/// Stands in the folder of a run whose rows are about to go.
pub(crate) const PRUNED: &str = "pruned";

/// Whether a run with this folder, that is not in the list, should be there: it had a journal, and nobody
/// was about to delete it.
pub(crate) fn is_lost(folder: &Path) -> bool {
    !folder.join(PRUNED).exists() && !matches!(anchored(folder), Ok(None))
}
