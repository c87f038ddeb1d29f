//! Several systems of a queue at once. A pool owns no run and starts no agent: it asks the desk to open
//! the next ready system, gives it a controller of its own, and follows it. Everything that it needs to
//! know is in the queue and in the runs, so a pool that is killed leaves nothing behind but work that goes
//! on, and the next one finds it. It prints nothing; whoever started it is told what happens.

mod caps;
mod end;
mod follow;
mod turns;

pub(crate) use end::{PoolEnd, SystemEnd};
pub(crate) use follow::{PoolNews, PoolSystemNow, PoolTotal};
pub(crate) use turns::{Pool, PoolRequest};
