//! Secrets that this process knows, and their removal from everything that is written down or shown.
//! A secret is known by its value, in every form in which programs commonly print one: as it is, in
//! JSON, in base64, percent-encoded, in hexadecimal, and broken up by control sequences. Keys of the
//! well-known kinds are known by their shape, whoever they belong to. What is removed leaves
//! [`MARK`] behind. Short values are left alone: a password of four letters is in every log.

mod forms;
mod names;
mod redactor;
mod view;

pub(crate) use redactor::Redactor;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What stands where a secret stood. It is plain in JSON, TOML, Markdown and a shell.
pub(crate) const MARK: &str = "[redacted]";

/// What is looked for in a text, all of it at once. The first two bytes of everything that is looked
/// for stand in a table: nearly every place of nearly every text is passed over by one look into it,
/// however many secrets there are.
pub(crate) struct Secrets {
    begins: Box<[bool]>,
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
        let mut begins = vec![false; 1 << 16].into_boxed_slice();
        let mut grouped: BTreeMap<u16, Vec<Needle>> = BTreeMap::new();
        for (text, sign) in needles {
            let pair = pair(&text, 0);
            begins[usize::from(pair)] = true;
            grouped.entry(pair).or_default().push(Needle { text, sign });
        }
        for group in grouped.values_mut() {
            group.sort_by_key(|it| std::cmp::Reverse(it.text.len()));
        }
        let longest = sorted.iter().map(Vec::len).max().unwrap_or(0);
        Secrets { begins, needles: grouped, sorted, longest }
    }

    /// Returns the first thing to be found from there on, and of several the longest.
    fn find(&self, bytes: &[u8], from: usize) -> Option<Found> {
        let mut at = from;
        loop {
            at = self.next_begin(bytes, at)?;
            let group = &self.needles[&pair(bytes, at)];
            if let Some(it) = group.iter().find(|it| bytes[at..].starts_with(&it.text)) {
                return Some(Found { start: at, end: at + it.text.len(), sign: it.sign });
            }
            at += 1;
        }
    }

    /// Returns the next place where something may begin.
    fn next_begin(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut pairs = bytes.get(at..)?.windows(2).map(|it| u16::from_le_bytes([it[0], it[1]]));
        pairs.position(|it| self.begins[usize::from(it)]).map(|it| at + it)
    }

    /// Returns the text without secrets.
    pub(crate) fn redact<'a>(self: &Arc<Secrets>, text: &'a str) -> Cow<'a, str> {
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
        if view::has_controls(bytes) {
            return false;
        }
        let mut from = 0;
        while let Some(found) = self.find(bytes, from) {
            // "sk-" is in every task-state.json; what stands inside of a word is no key.
            match found.sign {
                Sign::Key { alone: true, .. }
                    if 2 <= found.start && redactor::is_inside_word(&bytes[..found.start]) =>
                {
                    from = found.start + 1;
                }
                Sign::Key { .. } | Sign::Value | Sign::Pem | Sign::Hidden => return false,
            }
        }
        true
    }

    /// Returns where the end of this piece may be the beginning of something to be found.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let line = bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        let first = line.max((bytes.len() + 1).saturating_sub(self.longest));
        let begins = |from: &usize| {
            let end = &bytes[*from..];
            let next = self.sorted.partition_point(|it| it.as_slice() < end);
            self.sorted.get(next).is_some_and(|it| it.starts_with(end))
        };
        (first..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
}

fn pair(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The values that this process has learnt, and what was built of them.
static VALUES: Mutex<BTreeSet<Vec<u8>>> = Mutex::new(BTreeSet::new());
static KNOWN: RwLock<Option<Arc<Secrets>>> = RwLock::new(None);

/// Learns the secrets among these variables.
pub(crate) fn learn(variables: impl IntoIterator<Item = (String, Vec<u8>)>) {
    let mut values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let before = values.len();
    values.extend(variables.into_iter().flat_map(|(name, value)| names::secrets(&name, &value)));
    if before < values.len() {
        *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns everything that was learnt.
pub(crate) fn known() -> Arc<Secrets> {
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Arc::clone(known);
    }
    let values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let built = Arc::new(Secrets::of(values.iter()));
    *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&built));
    built
}

/// Returns the text without the secrets that this process knows.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    known().redact(text)
}

/// Returns plain data without secrets, as it would be read again from the text that it is written as.
pub(crate) fn redact_data<T: serde::Serialize + serde::de::DeserializeOwned>(data: T) -> (T, String) {
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
