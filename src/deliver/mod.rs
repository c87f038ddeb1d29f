//! What happens to finished work: documents, branch, commit, push, pull request, and tidying up. Each
//! step asks first whether it was done already.

pub(crate) mod completion;
pub(crate) mod finish;
pub(crate) mod github;
pub(crate) mod land;
pub(crate) mod memory;
pub(crate) mod merged;
pub(crate) mod planning;
pub(crate) mod pull_request;
pub(crate) mod remote;
pub(crate) mod ship;
pub(crate) mod train;
