//! What the desk cannot settle without a person, as a value. Whoever asked puts it to one and comes
//! back with the same request and the answer in it, or takes the refusal where nobody can be asked.

use super::refusal::Refusal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestQuestion {
    pub about: About,
    /// What there is to know, line by line.
    pub lines: Vec<String>,
    /// What it comes to where nobody can be asked.
    pub unasked: Refusal,
    /// What it comes to when the person wants nothing of it.
    pub aborted: Refusal,
}

/// What a question is about, and so which answers it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// A run of this input rested: resume, new, abort.
    Resume,
    /// The tree has uncommitted changes: go, abort.
    Dirty,
    /// An unfinished run of another input is in the way: new, abort.
    OtherInput,
    /// A run is about to be cancelled for good: yes, no.
    Cancel,
}

/// What a person can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PersonReply {
    Resume,
    New,
    Go,
    Yes,
    No,
    Abort,
}

impl PersonReply {
    pub(crate) fn word(self) -> &'static str {
        match self {
            PersonReply::Resume => "resume",
            PersonReply::New => "new",
            PersonReply::Go => "go",
            PersonReply::Yes => "yes",
            PersonReply::No => "no",
            PersonReply::Abort => "abort",
        }
    }
}

impl About {
    /// What most people want, where it takes nothing away.
    pub(crate) fn usual(self) -> Option<PersonReply> {
        match self {
            About::Resume => Some(PersonReply::Resume),
            About::Dirty | About::OtherInput | About::Cancel => None,
        }
    }

    pub(crate) fn choices(self) -> &'static [PersonReply] {
        match self {
            About::Resume => &[PersonReply::Resume, PersonReply::New, PersonReply::Abort],
            About::Dirty => &[PersonReply::Go, PersonReply::Abort],
            About::OtherInput => &[PersonReply::New, PersonReply::Abort],
            About::Cancel => &[PersonReply::Yes, PersonReply::No],
        }
    }
}
