//! Kills, signals, lost power, full disks, damaged databases, moved homes and many controllers at once: what was
//! there is still there, and each call is started once.

mod attach;
mod bounded;
mod crowd;
mod database;
mod homes;
mod kills;
mod moved;
mod power;
mod replaced;
mod signals;
mod starved;
mod states;
mod upheaval;

pub(crate) use starved::Mounted;
