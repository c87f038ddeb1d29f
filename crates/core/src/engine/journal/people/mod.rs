//! What a person is asked, what they say, and what an approval is about.

pub(in crate::engine) mod approval;
pub(in crate::engine) mod command;
pub(in crate::engine) mod question;
