//! Rows of the database as plain data: an event, a question.

/// An event as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub seq: i64,
    pub epoch: i64,
    pub at: i64,
    pub kind: String,
    pub body: String,
}

/// A question that waits for a person. `choices` is a JSON list.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionRow {
    pub id: String,
    pub kind: String,
    pub text: String,
    pub choices: String,
    pub asked_at: i64,
}
