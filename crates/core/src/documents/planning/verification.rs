//! `NN-VERIFICATION.md`: what a verifier found. The front matter has the status, the gaps and what only a
//! person can judge; the truths stand there too, or in a table of the body. All of it is a claim.

use super::front_matter::{self, Node};
use super::{DocumentMistake, cells, plain_lines};
use serde::{Deserialize, Serialize};

/// Entries that are kept of each list.
const ENTRIES_MOST: usize = 100;
const TEXT_CHARS: usize = 400;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    pub gaps: Vec<String>,
    /// What a person has to look at, one line each.
    pub for_person: Vec<String>,
    pub truths: Vec<VerifiedTruth>,
}

/// What a verifier says about the whole. A workflow's own verifier may have other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationStatus {
    Passed,
    GapsFound,
    /// Something is left that only a person can judge.
    HumanNeeded,
}

impl VerificationStatus {
    const ALL: [VerificationStatus; 3] =
        [VerificationStatus::Passed, VerificationStatus::GapsFound, VerificationStatus::HumanNeeded];

    pub fn word(self) -> &'static str {
        match self {
            VerificationStatus::Passed => "passed",
            VerificationStatus::GapsFound => "gaps_found",
            VerificationStatus::HumanNeeded => "human_needed",
        }
    }

    pub fn named(word: &str) -> Option<VerificationStatus> {
        VerificationStatus::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// What a verifier says about one thing that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedTruth {
    /// The id or the text of the requirement.
    pub about: String,
    pub holds: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// Reads a report, or says what is wrong with its front matter.
pub fn read(text: &str) -> Result<Verification, DocumentMistake> {
    let parts = front_matter::read(text)?;
    let head = &parts.head;
    let mut truths: Vec<VerifiedTruth> = head.list("truths").into_iter().filter_map(truth).collect();
    truths.extend(table(parts.body));
    truths.truncate(ENTRIES_MOST);
    Ok(Verification {
        gaps: head.list("gaps").into_iter().filter_map(gap).take(ENTRIES_MOST).collect(),
        for_person: head
            .list("human_verification")
            .into_iter()
            .filter_map(for_person)
            .take(ENTRIES_MOST)
            .collect(),
        truths,
    })
}

fn gap(node: &Node) -> Option<String> {
    let said = match node {
        Node::Text(text) => text.as_str(),
        Node::Map(_) => node.text("truth").or_else(|| node.text("reason"))?,
        Node::List(_) => return None,
    };
    (!said.is_empty()).then(|| cut(said))
}

fn for_person(node: &Node) -> Option<String> {
    let said = match node {
        Node::Text(text) => text.clone(),
        Node::Map(_) => {
            let test = node.text("test").or_else(|| node.text("truth"))?;
            let expected = node.text("expected").map(|it| format!("; expected: {it}"));
            format!("{test}{}", expected.unwrap_or_default())
        }
        Node::List(_) => return None,
    };
    (!said.is_empty()).then(|| cut(&said))
}

fn truth(node: &Node) -> Option<VerifiedTruth> {
    let about = node.text("id").or_else(|| node.text("truth")).or_else(|| node.text("requirement"))?;
    let status = node.text("status").unwrap_or_default();
    Some(VerifiedTruth {
        about: cut(about),
        holds: says_yes(status),
        evidence: cut(node.text("evidence").unwrap_or_default()),
    })
}

/// Rows of tables with a column for the truth or the requirement and one for its status.
fn table(body: &str) -> Vec<VerifiedTruth> {
    let mut columns: Option<(usize, usize, Option<usize>)> = None;
    let mut found = Vec::new();
    for (_, line) in plain_lines(body) {
        if !line.trim_start().starts_with('|') {
            columns = None;
            continue;
        }
        let Some(cells) = cells(line) else { continue };
        let column = |names: &[&str]| {
            cells.iter().position(|it| names.contains(&it.trim_matches('*').to_lowercase().as_str()))
        };
        match columns {
            None => {
                let about = column(&["truth", "requirement", "id", "criterion"]);
                columns =
                    about.zip(column(&["status", "result"])).map(|it| (it.0, it.1, column(&["evidence"])));
            }
            Some((about, status, evidence)) => {
                let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
                let about = cell(about).trim_matches(['*', '`', '"', ' ']);
                if !about.is_empty() {
                    let evidence = evidence.map(cell).unwrap_or_default();
                    found.push(VerifiedTruth {
                        about: cut(about),
                        holds: says_yes(cell(status)),
                        evidence: cut(evidence),
                    });
                }
            }
        }
    }
    found
}

fn says_yes(status: &str) -> bool {
    let word = status.to_lowercase();
    let no = [
        "fail",
        "not ",
        "miss",
        "partial",
        "block",
        "gap",
        "uncertain",
        "human",
        "unverified",
        "unsatisfied",
        "pending",
        "✗",
        "✘",
        "❌",
    ];
    let yes = ["verified", "satisfied", "pass", "holds", "true", "✓", "✔", "✅", "yes", "done", "met"];
    !no.iter().any(|it| word.contains(it)) && yes.iter().any(|it| word.contains(it))
}

fn cut(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{VerifiedTruth, read};

    #[test]
    fn gaps_truths_and_what_a_person_must_see_are_read() {
        let text = "---\nstatus: gaps_found\nverified: 2026-01-16T10:15:00Z\ngaps:\n  - truth: \"People can log out\"\n    status: failed\n    missing:\n      - a button\n\
            human_verification:\n  - test: Look at it\n    expected: it is blue\ntruths:\n  - {id: AUTH-01, status: verified, evidence: src/a.rs}\n---\n\n\
            ### Observable Truths\n\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n| 1 | People can log in | ✓ VERIFIED | a test |\n| 2 | People can log out | ✗ FAILED | none |\n\n\
            | Requirement | Status | Issue |\n|---|---|---|\n| AUTH-02 | ✓ SATISFIED | - |\n";
        let found = read(text).expect("it is sound");
        assert_eq!(found.gaps, ["People can log out"]);
        assert_eq!(found.for_person, ["Look at it; expected: it is blue"]);
        let truth = |about: &str, holds, evidence: &str| VerifiedTruth {
            about: about.into(),
            holds,
            evidence: evidence.into(),
        };
        let expected = [
            truth("AUTH-01", true, "src/a.rs"),
            truth("People can log in", true, "a test"),
            truth("People can log out", false, "none"),
            truth("AUTH-02", true, ""),
        ];
        assert_eq!(found.truths, expected);
        assert!(read("---\nstatus: [\n---\n").is_err());
    }
}
