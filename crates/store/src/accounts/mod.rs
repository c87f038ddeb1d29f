//! What runs share of an account: calls of a window, holds of a provider, what days cost and what is set
//! aside for calls that are running, and who may call at once. A run's own counts are in its journal.

pub(crate) mod ledger;
pub(crate) mod slots;
pub(crate) mod spending;
