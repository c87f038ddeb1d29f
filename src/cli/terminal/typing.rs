//! A line that a person types, key by key. The terminal hands out keys at once and shows nothing by
//! itself, so that what is shown around the line can move; Ctrl-C and Ctrl-Z stay signals.

use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io;

/// An answer with a text is a few sentences; more is not typed.
const LONGEST: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Typing {
    pub text: String,
    /// Bytes of a letter that is not complete.
    open: Vec<u8>,
    sequence: Sequence,
}

/// Keys without a letter arrive as sequences, which are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    Escaped,
    Open,
}

/// What keys came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedKeys {
    /// The line continues.
    More,
    Line(String),
    /// End of file on an empty line.
    End,
}

impl Typing {
    /// Takes keys; what comes after the end of a line is dropped.
    pub(crate) fn keys(&mut self, bytes: &[u8]) -> TypedKeys {
        for byte in bytes {
            match (self.sequence, byte) {
                (Sequence::Escaped, b'[' | b'O') => self.sequence = Sequence::Open,
                (Sequence::Escaped, _) => self.sequence = Sequence::None,
                (Sequence::Open, 0x40..=0x7e) => self.sequence = Sequence::None,
                (Sequence::Open, _) => (),
                (Sequence::None, 0x1b) => self.sequence = Sequence::Escaped,
                (Sequence::None, b'\r' | b'\n') => return TypedKeys::Line(std::mem::take(&mut self.text)),
                (Sequence::None, 0x04) if self.text.is_empty() => return TypedKeys::End,
                (Sequence::None, 0x7f | 0x08) => drop(self.text.pop()),
                (Sequence::None, 0x15) => self.text.clear(),
                (Sequence::None, 0x17) => self.erase_word(),
                (Sequence::None, b'\t') => self.letter(b' '),
                (Sequence::None, 0..0x20) => (),
                (Sequence::None, _) => self.letter(*byte),
            }
        }
        TypedKeys::More
    }

    fn letter(&mut self, byte: u8) {
        self.open.push(byte);
        match std::str::from_utf8(&self.open) {
            Ok(text) => {
                if self.text.len() < LONGEST {
                    self.text.push_str(&loop_base::text::sanitise(text));
                }
                self.open.clear();
            }
            Err(error) if error.error_len().is_some() => self.open.clear(),
            Err(_) => (),
        }
    }

    fn erase_word(&mut self) {
        let kept = self.text.trim_end().rfind(' ').map_or(0, |it| it + 1);
        self.text.truncate(kept);
    }
}

/// A terminal that hands out keys; it is as it was before when this goes.
pub(crate) struct Keys {
    before: Termios,
    during: Termios,
}

impl Keys {
    /// Whatever was typed before the question is no answer to it, and is dropped.
    pub(crate) fn take() -> io::Result<Keys> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut during = before.clone();
        during.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &during)?;
        Ok(Keys { before, during })
    }

    /// Takes them again where a shell took them away while we were stopped.
    pub(crate) fn hold(&self) -> io::Result<()> {
        if tcgetattr(rustix::stdio::stdin())?.local_modes.contains(LocalModes::ICANON) {
            tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.during)?;
        }
        Ok(())
    }

    /// Reads what there is; nothing is the end of file.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 1024];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut bytes[..]));
        // A terminal that is gone says so in its own way.
        let count = if read == Err(Errno::IO) { 0 } else { read? };
        bytes.truncate(count);
        Ok(bytes)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _the_terminal_may_be_gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::{TypedKeys, Typing};

    #[test]
    fn keys_become_a_line() {
        let mut typing = Typing::default();
        assert_eq!(typing.keys("modifx\u{7f}y grü".as_bytes()), TypedKeys::More);
        assert_eq!(typing.text, "modify grü");
        // Arrows, a half letter, erased words.
        let bytes = [b"\x1b[1;5D\x1bOA n\xc3", &b"\xbc word\x17\x17x\r"[..]];
        assert_eq!(typing.keys(bytes[0]), TypedKeys::More);
        assert_eq!(typing.keys(bytes[1]), TypedKeys::Line("modify grü x".to_owned()));
        assert_eq!(typing.keys(b"abc\x15"), TypedKeys::More);
        assert_eq!(typing.keys(b"\x04"), TypedKeys::End);
        assert_eq!(typing.keys(b"\xff\xfe\x00a\n"), TypedKeys::Line("a".to_owned()));
    }
}
