//! What a person approves at a gate: this commit, this tree, these changes, under this workflow, until
//! then. An approval that was given for something else is void. Where a gate asks for a signature, the
//! signed text is made from the same facts, so that whoever signs on another machine signs the same
//! bytes.

use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The namespace of our signatures: one that was made for something else is not ours.
pub const SIGNATURE_NAMESPACE: &str = "loop-approval";

/// What exactly a gate asks about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Empty where nothing is committed yet.
    pub commit: String,
    pub tree: String,
    /// The tree that the run began with.
    pub base: String,
    /// SHA-256 of the line `BASE..TREE`, which names the changes between them.
    pub changes: String,
    /// SHA-256 of the workflow that is in force.
    pub policy: String,
    /// An approval that is taken later than this is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

impl Subject {
    /// Returns the line that the question shows.
    pub fn line(&self) -> String {
        let commit =
            if self.commit.is_empty() { "no commit".to_owned() } else { short("commit", &self.commit) };
        let expires = self.expires.map(|it| format!(", until {it}")).unwrap_or_default();
        format!("{commit}, {}, changes sha256:{}{expires}", short("tree", &self.tree), &self.changes[..16])
    }

    /// Returns the bytes that are signed. Every line is needed: none of it may be another's.
    pub fn statement(&self, run: &str, gate: &str) -> String {
        let expires = self.expires.map(|it| it.to_string()).unwrap_or_else(|| "never".to_owned());
        let mut text = String::from("loop approval 1\n");
        let lines = [
            ("run", run),
            ("gate", gate),
            ("commit", if self.commit.is_empty() { "none" } else { &self.commit }),
            ("tree", &self.tree),
            ("base", &self.base),
            ("changes", &self.changes),
            ("policy", &self.policy),
            ("expires", &expires),
        ];
        for (name, value) in lines {
            let _ = writeln!(text, "{name} {}", value.replace(['\n', '\r'], " "));
        }
        text
    }

    /// Says what differs between what was asked about and what is there now.
    pub fn changed(&self, now: &Subject) -> Option<String> {
        let pairs = [
            ("commit", &self.commit, &now.commit),
            ("tree", &self.tree, &now.tree),
            ("base", &self.base, &now.base),
            ("workflow", &self.policy, &now.policy),
        ];
        let (name, was, is) = pairs.into_iter().find(|(_, was, is)| was != is)?;
        let known = |it: &str| if it.is_empty() { "none".to_owned() } else { it.chars().take(12).collect() };
        Some(format!("the {name} was {} and is {}", known(was), known(is)))
    }
}

/// A signature that came with an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// As `ssh-keygen -Y sign` writes it.
    pub armored: String,
    /// What asked a person for it, as the one who took it says. It proves nothing.
    pub presence: Presence,
}

/// What stood between the key and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// A security key that was touched; the signature itself says so.
    Touch,
    /// A key file that asks for its passphrase.
    Passphrase,
    /// Nothing is known of it: it was made elsewhere, or by an agent that holds the key.
    Unknown,
    /// A key file that anybody can use who can read it.
    None,
}

impl Presence {
    pub fn words(self) -> &'static str {
        match self {
            Presence::Touch => "a security key, which asks for a touch",
            Presence::Passphrase => "a key file, which asks for its passphrase",
            Presence::Unknown => "a key that may sign without asking anybody",
            Presence::None => "a key file without a passphrase, which signs without asking anybody",
        }
    }

    /// Whether the signature shows that a person was there. That a key file asks for a passphrase is seen only where
    /// it lies, and not in what it signs.
    pub fn is_shown(self) -> bool {
        match self {
            Presence::Touch => true,
            Presence::Passphrase | Presence::Unknown | Presence::None => false,
        }
    }
}

/// Who signed an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signer {
    /// As the file of approvers names the key.
    pub principal: String,
    pub presence: Presence,
    /// The signature, so that whoever reads the journal can check it again.
    pub armored: String,
}

/// Why an approval is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Void {
    /// What is there is not what was asked about.
    Changed { commit: String, tree: String },
    /// It came too late.
    Expired,
    /// The gate asks for a signature, and this one does not hold.
    Unsigned,
}

fn short(name: &str, id: &str) -> String {
    format!("{name} {}", id.chars().take(16).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::Subject;
    use loop_base::time::Timestamp;

    fn subject() -> Subject {
        let text = |it: &str| it.to_owned();
        let (commit, tree, base) = (text("c1"), text("t1"), text("t0"));
        let (changes, policy) = (crate::digest::sha256("t0..t1\n"), text("p"));
        Subject { commit, tree, base, changes, policy, expires: Some(Timestamp(0)) }
    }

    #[test]
    fn a_statement_differs_by_every_part() {
        let text = subject().statement("r", "g");
        assert!(text.starts_with("loop approval 1\nrun r\ngate g\ncommit c1\ntree t1\n"), "{text}");
        let mut others = vec![subject().statement("x", "g"), subject().statement("r", "x")];
        let changes: [fn(&mut Subject); 6] = [
            |it| it.commit.clear(),
            |it| it.tree.push('x'),
            |it| it.base.push('x'),
            |it| it.changes.push('x'),
            |it| it.policy.push('x'),
            |it| it.expires = None,
        ];
        for change in changes {
            let mut other = subject();
            change(&mut other);
            others.push(other.statement("r", "g"));
        }
        assert!(others.iter().all(|it| *it != text));
        assert_eq!(subject().statement("r\nrun q", "g").lines().count(), text.lines().count());
    }

    #[test]
    fn what_differs_is_named() {
        let mut now = subject();
        assert_eq!(subject().changed(&now), None);
        now.tree = "t2".to_owned();
        assert_eq!(subject().changed(&now), Some("the tree was t1 and is t2".to_owned()));
    }
}
