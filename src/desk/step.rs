//! What a person can do next: commands that work when they are pasted, or words where no command helps.

/// What a person can do about it. Commands stand alone on their lines, because people paste them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Commands that work when they are pasted, the most likely one first.
    Paste(Vec<String>),
    /// What no command does, in words.
    ByHand(String),
    /// A command that works when it is pasted, and in words what else would help.
    PasteOrByHand(String, String),
}

impl NextStep {
    pub(crate) fn by_hand(words: impl Into<String>) -> NextStep {
        NextStep::ByHand(words.into())
    }

    /// Returns the lines that a person reads.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            NextStep::Paste(commands) => {
                let mark = |index| if index == 0 { "next:" } else { "  or:" };
                commands.iter().enumerate().map(|(index, it)| format!("{} {it}", mark(index))).collect()
            }
            NextStep::ByHand(words) => vec![format!("help: {words}")],
            NextStep::PasteOrByHand(command, words) => {
                vec![format!("next: {command}"), format!("help: {words}")]
            }
        }
    }

    /// Returns the most likely command, else the words.
    pub(crate) fn first(&self) -> &str {
        self.command().or(self.words()).unwrap_or_default()
    }

    /// Returns the first command that works when it is pasted, if there is one.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            NextStep::Paste(commands) => commands.first().map(String::as_str),
            NextStep::PasteOrByHand(command, _) => Some(command),
            NextStep::ByHand(_) => None,
        }
    }

    /// Returns what helps in words, if there is something.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            NextStep::Paste(_) => None,
            NextStep::ByHand(words) | NextStep::PasteOrByHand(_, words) => Some(words),
        }
    }
}

impl From<&str> for NextStep {
    fn from(command: &str) -> NextStep {
        NextStep::Paste(vec![command.to_owned()])
    }
}

impl From<String> for NextStep {
    fn from(command: String) -> NextStep {
        NextStep::Paste(vec![command])
    }
}

impl<const N: usize> From<[&str; N]> for NextStep {
    fn from(commands: [&str; N]) -> NextStep {
        NextStep::Paste(commands.map(str::to_owned).into())
    }
}

impl<const N: usize> From<[String; N]> for NextStep {
    fn from(commands: [String; N]) -> NextStep {
        NextStep::Paste(commands.into())
    }
}
