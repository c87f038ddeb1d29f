//! Whether a call that has fallen silent waits for a person. Nobody answers an agent here: its input
//! is the prompt and then ends. It is asked only when a limit of silence is reached, and names that
//! end; nothing is ended earlier because of it. Two things count as evidence: a last line that is a
//! question to a person, and a process that sleeps in a read from a terminal. A quiet worker has
//! neither, and one that says its questions in JSON has ended its line.

use super::proc_stat::{Stat, descendants};
use loop_base::programs::SHELLS;
use rustix::process::getpid;
use std::fs;
use std::path::Path;

/// What is kept of the end of an output to look for a question in.
pub(crate) const LAST_BYTES: usize = 256;

/// Endings of a line that ask for an answer, wherever the cursor is.
const CHOICES: [&str; 14] = [
    "(y/n)",
    "[y/n]",
    "(yes/no)",
    "[yes/no]",
    "(y/n/a)",
    "(yes/no/[fingerprint])",
    "press enter",
    "press return",
    "press any key",
    "enter to continue",
    "hit enter",
    "return to continue",
    "[y]",
    "[n]",
];

/// Words that make a colon at the end of a line a question, while the cursor stands behind it; other
/// lines that end so announce work.
const WANTED: [&str; 13] = [
    "password",
    "passphrase",
    "username",
    "login",
    "email",
    "name",
    "token",
    "code",
    "key",
    "enter",
    "choose",
    "select",
    "choice",
];

#[cfg(target_arch = "x86_64")]
const READ: u64 = 0;
#[cfg(not(target_arch = "x86_64"))]
const READ: u64 = 63;

/// Returns what shows that the call waits for a person. `ends` are the last bytes of its outputs.
pub(crate) fn evidence(ends: [&[u8]; 2]) -> Option<String> {
    let asked = ends.into_iter().find_map(question).map(|it| format!("its last words are \"{it}\""));
    asked.or_else(|| at_terminal().map(|it| format!("{it} reads from a terminal where nobody types")))
}

/// Returns the last line if it asks for an answer.
fn question(end: &[u8]) -> Option<String> {
    let text = loop_base::text::sanitise(&String::from_utf8_lossy(end));
    let has_ended = text.ends_with('\n');
    let line = text.trim_end().lines().next_back()?.trim();
    // A line of a stream is no line for a person, and half of one that stands still is no question.
    if line.is_empty() || line.starts_with(['{', '[', '"']) {
        return None;
    }
    let lower = line.to_lowercase();
    let bare = lower.trim_end_matches([' ', ':', '?', '.', '…', '>']);
    let is_choice = CHOICES.iter().any(|it| bare.ends_with(it) || lower.ends_with(it));
    let is_question = line.ends_with('?') || line.contains('?') && line.ends_with([')', ']']);
    let is_wish = line.ends_with(':') && WANTED.iter().any(|it| lower.contains(it));
    let is_prompt = !has_ended && (is_question || is_wish);
    (is_choice || is_prompt)
        .then(|| line.chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect())
}

/// Returns the name of a process of the call that waits at a terminal. A shell that leads its session
/// sits at its prompt because its agent keeps it open, and asks nobody.
fn at_terminal() -> Option<String> {
    let all = Stat::all();
    let below = descendants(&all, getpid().as_raw_nonzero().get());
    let is_kept_shell = |it: &Stat| it.session == it.pid && SHELLS.contains(&it.name.as_str());
    below.into_iter().find(|it| reads_terminal(it.pid) && !is_kept_shell(it)).map(|it| it.name.clone())
}

/// The kernel tells in which call a process sleeps, and with which arguments.
fn reads_terminal(pid: i32) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/syscall")) else { return false };
    let mut words = text.split(' ');
    let number = words.next().and_then(|it| it.parse::<u64>().ok());
    let file = words.next().and_then(|it| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok());
    let (Some(READ), Some(file)) = (number, file) else { return false };
    let is_terminal = |it: &Path| {
        it.starts_with("/dev/pts") || it.starts_with("/dev/tty") || it.starts_with("/dev/console")
    };
    fs::read_link(format!("/proc/{pid}/fd/{file}")).is_ok_and(|it| is_terminal(&it))
}

#[cfg(test)]
mod tests {
    use super::question;

    #[test]
    fn questions_are_told_from_work() {
        for (end, asked) in [
            (&b"building\nProceed? "[..], Some("Proceed?")),
            (b"Password:", Some("Password:")),
            (b"Overwrite a.txt? [y/N] ", Some("Overwrite a.txt? [y/N]")),
            (b"Do you want to continue? (y/n)\n", Some("Do you want to continue? (y/n)")),
            (b"Press Enter to continue...\n", Some("Press Enter to continue...")),
            (b"Is this OK? (yes) ", Some("Is this OK? (yes)")),
            (b"\x1b[1mTrust this folder?\x1b[0m ", Some("Trust this folder?")),
            // Lines of a stream, and lines that have ended.
            (b"{\"type\":\"text\",\"text\":\"Shall I?\"}\n", None),
            (b"{\"type\":\"text\",\"text\":\"Shall I?", None),
            (b"What is a monad?\n", None),
            (b"The results are:\n", None),
            (b"compiling 14 of 20", None),
            (b"running the tests: ", None),
            (b"[=====>    ]", None),
            (b"downloading =====>", None),
            (b".....", None),
            (b"ready\n", None),
            (b"", None),
        ] {
            assert_eq!(question(end).as_deref(), asked, "{}", String::from_utf8_lossy(end));
        }
    }
}
