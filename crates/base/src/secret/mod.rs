//! Secrets that this process knows, and their removal from everything that is written down or shown.
//! A secret is known by its value, in every form in which programs commonly print one: as it is, in
//! JSON, in base64, percent-encoded, in hexadecimal, and broken up by control sequences. Keys of the
//! well-known kinds are known by their shape, whoever they belong to. What is removed leaves
//! [`MARK`] behind. Short values are left alone: a password of four letters is in every log.

mod forms;
mod names;
mod redactor;
mod view;

pub use redactor::Redactor;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What stands where a secret stood. It is plain in JSON, TOML, Markdown and a shell.
pub(crate) const MARK: &str = "[redacted]";

/// What is looked for in a text, all of it at once. A table says of two bytes whether something may
/// begin at the first of them or one before it: nearly every two bytes of nearly every text are passed
/// over by one look into it, however many secrets there are.
pub struct Secrets {
    pairs: Box<[u8]>,
    /// By their first two bytes, the longest first.
    needles: BTreeMap<u16, Vec<Needle>>,
    /// The same texts in order, to see whether the end of a piece may be the beginning of one.
    sorted: Vec<Vec<u8>>,
    longest: usize,
}

struct Needle {
    text: Vec<u8>,
    sign: Sign,
}

/// Something that was found, and where.
#[derive(Clone, Copy)]
struct Found {
    start: usize,
    end: usize,
    sign: Sign,
}

/// What a text that was found stands for.
#[derive(Clone, Copy, Debug)]
enum Sign {
    /// A secret, or enough of it.
    Value,
    /// The beginning of a key, if so many characters of its kind follow.
    Key { of: names::Kind, least: usize, alone: bool },
    /// The first line of a private key.
    Pem,
    /// Something that a terminal does not show may stand inside of a secret here.
    Hidden,
}

/// The pair is the beginning of something.
const BEGIN: u8 = 1;
/// The pair is the beginning of something, or stands one byte after it.
const NEAR: u8 = 2;
/// One of the two is a control character.
const CONTROL: u8 = 4;

impl Secrets {
    /// Returns what is known about these values.
    fn of<'a>(values: impl IntoIterator<Item = &'a Vec<u8>>) -> Secrets {
        let mut needles: Vec<(Vec<u8>, Sign)> = Vec::new();
        for value in values {
            needles.extend(forms::of(value).into_iter().map(|it| (it, Sign::Value)));
        }
        needles.extend(names::KEYS.iter().map(|(prefix, of, least, alone)| {
            (prefix.as_bytes().to_vec(), Sign::Key { of: *of, least: *least, alone: *alone })
        }));
        needles.extend(names::PEM.iter().map(|it| (it.as_bytes().to_vec(), Sign::Pem)));
        needles.extend(view::HIDDEN.iter().map(|it| (it.as_bytes().to_vec(), Sign::Hidden)));
        let mut sorted: Vec<Vec<u8>> = needles.iter().map(|it| it.0.clone()).collect();
        sorted.sort();
        let control = |it: u8| if view::is_control(it) { CONTROL } else { 0 };
        let mut pairs: Box<[u8]> = (0..=u16::MAX)
            .map(|it| it.to_le_bytes())
            .map(|[one, other]| control(one) | control(other))
            .collect();
        let mut grouped: BTreeMap<u16, Vec<Needle>> = BTreeMap::new();
        for (text, sign) in needles {
            let pair = pair(&text, 0);
            pairs[usize::from(pair)] |= BEGIN | NEAR;
            // Behind something of two bytes anything may follow.
            let thirds = text.get(2).map_or(0..=u8::MAX, |it| *it..=*it);
            for third in thirds {
                pairs[usize::from(u16::from_le_bytes([text[1], third]))] |= NEAR;
            }
            grouped.entry(pair).or_default().push(Needle { text, sign });
        }
        for group in grouped.values_mut() {
            group.sort_by_key(|it| std::cmp::Reverse(it.text.len()));
        }
        let longest = sorted.iter().map(Vec::len).max().unwrap_or(0);
        Secrets { pairs, needles: grouped, sorted, longest }
    }

    /// Returns the first thing to be found from there on, and of several the longest.
    fn find(&self, bytes: &[u8], from: usize) -> Option<Found> {
        let mut at = from;
        while let Some(near) = self.next(bytes, at, NEAR) {
            if let Some(found) = self.begun(bytes, near - 1).or_else(|| self.begun(bytes, near)) {
                return Some(found);
            }
            at = near + 1;
        }
        self.begun_last(bytes, at)
    }

    /// Returns the next pair of this kind, of those that begin one, three, five… bytes from there.
    fn next(&self, bytes: &[u8], at: usize, kinds: u8) -> Option<usize> {
        let mut pairs = bytes.get(at + 1..)?.chunks_exact(2);
        pairs.position(|it| self.pairs[usize::from(pair(it, 0))] & kinds != 0).map(|it| at + 1 + 2 * it)
    }

    /// Returns the longest that begins there.
    fn begun(&self, bytes: &[u8], at: usize) -> Option<Found> {
        if !self.may_begin(&bytes[at..]) {
            return None;
        }
        let group = &self.needles[&pair(bytes, at)];
        let it = group.iter().find(|it| bytes[at..].starts_with(&it.text))?;
        Some(Found { start: at, end: at + it.text.len(), sign: it.sign })
    }

    /// The last two bytes may have been between two looks.
    fn begun_last(&self, bytes: &[u8], from: usize) -> Option<Found> {
        let last = bytes.len().checked_sub(2).filter(|it| from <= *it)?;
        self.begun(bytes, last)
    }

    fn may_begin(&self, bytes: &[u8]) -> bool {
        self.pairs[usize::from(pair(bytes, 0))] & BEGIN != 0
    }

    /// Returns the text without secrets.
    pub fn redact<'a>(self: &Arc<Secrets>, text: &'a str) -> Cow<'a, str> {
        if self.is_clean(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let mut redactor = Redactor::new(Arc::clone(self));
        redactor.push(text.as_bytes(), &mut |it| out.extend_from_slice(it));
        redactor.finish(&mut |it| out.extend_from_slice(it));
        if out == text.as_bytes() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8(out).unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into()))
    }

    /// Whether nothing here is or hides a secret; most text is so, and this is fast.
    fn is_clean(&self, bytes: &[u8]) -> bool {
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return true };
        if view::is_control(*first) || view::is_control(*last) {
            return false;
        }
        let mut at = 0;
        while let Some(near) = self.next(bytes, at, NEAR | CONTROL) {
            if self.pairs[usize::from(pair(bytes, near))] & CONTROL != 0
                || self.begun(bytes, near - 1).is_some()
                || self.begun(bytes, near).is_some()
            {
                return false;
            }
            at = near + 1;
        }
        self.begun_last(bytes, at).is_none()
    }

    /// Returns where the end of this piece may be the beginning of something to be found.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let first = (bytes.len() + 1).saturating_sub(self.longest).min(bytes.len());
        let line = bytes[first..].iter().rposition(|it| *it == b'\n').map_or(first, |it| first + it + 1);
        let begins = |from: &usize| {
            let end = &bytes[*from..];
            if 2 <= end.len() && !self.may_begin(end) {
                return false;
            }
            let next = self.sorted.partition_point(|it| it.as_slice() < end);
            self.sorted.get(next).is_some_and(|it| it.starts_with(end))
        };
        (line..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
}

fn pair(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The values that this process has learnt, and what was built of them.
static VALUES: Mutex<BTreeSet<Vec<u8>>> = Mutex::new(BTreeSet::new());
static KNOWN: RwLock<Option<Arc<Secrets>>> = RwLock::new(None);

/// Learns the secrets among these variables.
pub fn learn(variables: impl IntoIterator<Item = (String, Vec<u8>)>) {
    let mut values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let before = values.len();
    values.extend(variables.into_iter().flat_map(|(name, value)| names::secrets(&name, &value)));
    if before < values.len() {
        *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns everything that was learnt.
pub fn known() -> Arc<Secrets> {
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Arc::clone(known);
    }
    let values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let built = Arc::new(Secrets::of(values.iter()));
    *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&built));
    built
}

/// Returns the text without the secrets that this process knows.
pub fn redact(text: &str) -> Cow<'_, str> {
    known().redact(text)
}

/// Returns plain data without secrets, as it would be read again from the text that it is written as.
pub fn redact_data<T: serde::Serialize + serde::de::DeserializeOwned>(data: T) -> (T, String) {
    let secrets = known();
    let text = serde_json::to_string(&data).expect("plain data");
    if secrets.is_clean(text.as_bytes()) {
        return (data, text);
    }
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("it was just written");
    redact_strings(&secrets, &mut value);
    // A secret that is spelled like one of our own words would make it unreadable.
    match serde_json::from_value(value) {
        Ok(data) => {
            let text = serde_json::to_string(&data).expect("plain data");
            (data, text)
        }
        Err(_) => (data, text),
    }
}

fn redact_strings(secrets: &Arc<Secrets>, value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            if let Cow::Owned(clean) = secrets.redact(text) {
                *text = clean;
            }
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(|it| redact_strings(secrets, it)),
        serde_json::Value::Object(members) => {
            let named = std::mem::take(members).into_iter().map(|(name, mut value)| {
                redact_strings(secrets, &mut value);
                (secrets.redact(&name).into_owned(), value)
            });
            *members = named.collect();
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => (),
    }
}

#[cfg(test)]
mod tests;
