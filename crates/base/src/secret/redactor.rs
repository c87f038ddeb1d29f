//! Removes secrets from a stream that comes in pieces. What may be the beginning of a secret at the
//! end of a piece is kept back until more comes, which is at most one form of the longest secret and
//! whatever colours it; everything else is passed on at once, and clean pieces are not copied.
//!
//! A piece is looked at as it is, and where something in it is not seen on a terminal, once more as
//! it is seen: a sequence may stand inside of a secret, or swallow its first letter.

use super::names::IsKeyByte;
use super::view::{DecodedText, has_controls};
use super::{MARK, MatchSign, SecretMatch, Secrets};
use std::borrow::Cow;
use std::sync::Arc;

/// Nothing that is kept back is longer; a key that continues beyond is no key.
const HELD_MOST: usize = 16 << 10;

/// What is not clean is looked at in parts of this size: that takes several times their memory.
const PART_MOST: usize = 16 << 10;

/// Private keys of every kind in use are below this.
const PEM_MOST: usize = 16 << 10;

pub struct Redactor {
    secrets: Arc<Secrets>,
    as_it_is: Stage,
    as_seen: Stage,
}

type Out<'a> = &'a mut dyn FnMut(&[u8]);

impl Redactor {
    pub fn new(secrets: Arc<Secrets>) -> Redactor {
        Redactor { secrets, as_it_is: Stage::default(), as_seen: Stage::default() }
    }

    /// Takes the next piece and passes on what is safe.
    pub fn push(&mut self, bytes: &[u8], out: Out<'_>) {
        if self.push_clean(bytes, out) {
            return;
        }
        for part in bytes.chunks(PART_MOST) {
            if !self.push_clean(part, out) {
                self.push_unclean(part, out);
            }
        }
    }

    /// Returns whether the piece could be passed on as it is; otherwise nothing was done.
    fn push_clean(&mut self, bytes: &[u8], out: Out<'_>) -> bool {
        let Redactor { secrets, as_it_is, as_seen } = self;
        if as_it_is.inside.is_some() {
            return false;
        }
        let held = as_it_is.held.len();
        let piece = as_it_is.joined(bytes);
        if secrets.is_clean(&piece) {
            let keep = secrets.open_end(&piece);
            as_it_is.remember(&piece[..keep]);
            as_seen.pass_on(secrets, &piece[..keep], true, out);
            as_it_is.held.extend_from_slice(&piece[keep..]);
            return true;
        }
        if let Cow::Owned(mut piece) = piece {
            piece.truncate(held);
            as_it_is.held = piece;
        }
        false
    }

    fn push_unclean(&mut self, bytes: &[u8], out: Out<'_>) {
        let Redactor { secrets, as_it_is, as_seen } = self;
        let piece = as_it_is.joined(bytes);
        let mut left = Vec::with_capacity(piece.len());
        let sees_all = as_it_is
            .look(secrets, &DecodedText::plain(&piece), &piece, false, &mut |it| left.extend_from_slice(it));
        if sees_all && !has_controls(&left) {
            return as_seen.pass_on(secrets, &left, false, out);
        }
        let piece = as_seen.joined(&left);
        as_seen.look(secrets, &DecodedText::seen(&piece), &piece, false, out);
    }

    /// Passes on what was kept back.
    pub fn finish(&mut self, out: Out<'_>) {
        let Redactor { secrets, as_it_is, as_seen } = self;
        let piece = std::mem::take(&mut as_it_is.held);
        let mut left = std::mem::take(&mut as_seen.held);
        as_it_is
            .look(secrets, &DecodedText::plain(&piece), &piece, true, &mut |it| left.extend_from_slice(it));
        as_seen.look(secrets, &DecodedText::seen(&left), &left, true, out);
    }
}

/// One look at the stream.
#[derive(Default)]
struct Stage {
    held: Vec<u8>,
    inside: Option<OpenMatch>,
    /// The two bytes before what is held.
    before: [u8; 2],
}

/// What was begun and marked already.
#[derive(Clone, Copy)]
enum OpenMatch {
    Key(IsKeyByte),
    /// A private key, of which at most so much is left.
    Pem(usize),
}

impl Stage {
    /// Returns what was kept back together with what follows it.
    fn joined<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.held.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut piece = std::mem::take(&mut self.held);
        piece.extend_from_slice(bytes);
        Cow::Owned(piece)
    }

    /// Takes bytes that hide nothing. If they are clean too, only together with what was kept back
    /// they may not be.
    fn pass_on(&mut self, secrets: &Secrets, bytes: &[u8], clean: bool, out: Out<'_>) {
        let piece = self.joined(bytes);
        let alone = matches!(piece, Cow::Borrowed(_));
        if self.inside.is_none() && (alone && clean || secrets.is_clean(&piece)) {
            let keep = secrets.open_end(&piece);
            self.remember(&piece[..keep]);
            out(&piece[..keep]);
            self.held.extend_from_slice(&piece[keep..]);
            return;
        }
        let view = if alone { DecodedText::plain(&piece) } else { DecodedText::seen(&piece) };
        self.look(secrets, &view, &piece, false, out);
    }

    /// Notes what stands before whatever comes next.
    fn remember(&mut self, text: &[u8]) {
        match text {
            [] => (),
            [one] => self.before = [self.before[1], *one],
            [.., one, other] => self.before = [*one, *other],
        }
    }

    /// Returns whether nothing was met that hides something. `done` counts in the piece, everything
    /// else in the text that is seen of it.
    fn look(
        &mut self,
        secrets: &Secrets,
        view: &DecodedText<'_>,
        piece: &[u8],
        last: bool,
        out: Out<'_>,
    ) -> bool {
        let text = view.text.as_ref();
        let (mut done, mut at, mut sees_all) = (0, 0, true);
        let stop = loop {
            if let Some(inside) = self.inside {
                let (length, over) = inside.leave(&text[at..], last);
                at += length;
                done = view.place_after(at).max(done);
                self.inside = if over { None } else { Some(inside.shortened(length)) };
                if !over {
                    done = view.place(at);
                    break at;
                }
            }
            let Some(SecretMatch { start, end, sign }) = secrets.find(text, at) else {
                break at.max(secrets.open_end(text));
            };
            let begin = view.place(start).max(done);
            match sign {
                MatchSign::Hidden => (sees_all, at) = (false, end),
                MatchSign::Value => {
                    mark(&piece[done..begin], out);
                    (done, at) = (view.place_after(end), end);
                }
                MatchSign::Pem => {
                    mark(&piece[done..begin], out);
                    self.inside = Some(OpenMatch::Pem(PEM_MOST));
                    (done, at) = (view.place_after(end), end);
                }
                MatchSign::Key { of, least, alone } => {
                    let length = text[end..].iter().take_while(|it| of(**it)).count();
                    let goes_on = end + length == text.len() && !last;
                    if alone && self.is_inside_word(text, start) || (length < least && !goes_on) {
                        at = end;
                    } else if length < least {
                        break start;
                    } else {
                        mark(&piece[done..begin], out);
                        self.inside = goes_on.then_some(OpenMatch::Key(of));
                        at = end + length;
                        done = view.place_after(at);
                    }
                }
            }
        };
        let keep = if last { piece.len() } else { view.place(stop).max(done) };
        self.remember(&text[..stop]);
        out(&piece[done..keep]);
        if HELD_MOST < piece.len() - keep {
            self.remember(&text[stop..]);
            out(&piece[keep..]);
        } else {
            self.held.extend_from_slice(&piece[keep..]);
        }
        sees_all
    }

    fn is_inside_word(&self, text: &[u8], start: usize) -> bool {
        match start {
            0 => is_inside_word(&self.before),
            1 => is_inside_word(&[self.before[1], text[0]]),
            _ => is_inside_word(&text[..start]),
        }
    }
}

/// Whether what follows these bytes, of which there are at least two, is the middle of a word: a
/// letter before it makes it so, unless it is the `n` of an escaped newline.
pub(super) fn is_inside_word(before: &[u8]) -> bool {
    let [.., first, second] = before else { return false };
    let is_escape = *first == b'\\' && matches!(second, b'n' | b't' | b'r');
    second.is_ascii_alphanumeric() && !is_escape
}

fn mark(before: &[u8], out: Out<'_>) {
    out(before);
    out(MARK.as_bytes());
}

impl OpenMatch {
    /// Returns how far what was begun reaches, and whether it is over.
    fn leave(self, text: &[u8], last: bool) -> (usize, bool) {
        match self {
            OpenMatch::Key(of) => {
                let length = text.iter().take_while(|it| of(**it)).count();
                (length, last || length < text.len())
            }
            OpenMatch::Pem(left) => {
                let find = |from: usize, wanted: &[u8]| {
                    text[from..].windows(wanted.len()).position(|it| it == wanted).map(|it| from + it)
                };
                let end = find(0, b"-----END").and_then(|it| find(it + 8, b"-----")).map(|it| it + 5);
                match end {
                    Some(end) => (end, true),
                    None if last || left < text.len() => (text.len().min(left), true),
                    // The end may have begun: it is looked for again with what follows.
                    None => (find(0, b"-----").unwrap_or(text.len().saturating_sub(4)), false),
                }
            }
        }
    }

    fn shortened(self, by: usize) -> OpenMatch {
        match self {
            OpenMatch::Key(of) => OpenMatch::Key(of),
            OpenMatch::Pem(left) => OpenMatch::Pem(left.saturating_sub(by)),
        }
    }
}
