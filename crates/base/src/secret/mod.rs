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

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What stands where a secret stood. It is plain in JSON, TOML, Markdown and a shell.
pub(crate) const MARK: &str = "[redacted]";

/// What is looked for in a text, all of it at once.
pub struct Secrets {
    automaton: AhoCorasick,
    /// What each text of the automaton stands for.
    signs: Vec<MatchSign>,
    /// The same texts in order, to see whether the end of a piece may be the beginning of one.
    sorted: Vec<Vec<u8>>,
    longest: usize,
}

/// Something that was found, and where.
#[derive(Clone, Copy)]
struct SecretMatch {
    start: usize,
    end: usize,
    sign: MatchSign,
}

/// What a text that was found stands for.
#[derive(Clone, Copy, Debug)]
enum MatchSign {
    /// A secret, or enough of it.
    Value,
    /// The beginning of a key, if so many characters of its kind follow.
    Key { of: names::IsKeyByte, least: usize, alone: bool },
    /// The first line of a private key.
    Pem,
    /// Something that a terminal does not show may stand inside of a secret here.
    Hidden,
}

impl Secrets {
    /// Returns what is known about these values.
    fn of<'a>(values: impl IntoIterator<Item = &'a Vec<u8>>) -> Secrets {
        let mut needles: Vec<(Vec<u8>, MatchSign)> = Vec::new();
        for value in values {
            needles.extend(forms::of(value).into_iter().map(|it| (it, MatchSign::Value)));
        }
        needles.extend(names::KEYS.iter().map(|(prefix, of, least, alone)| {
            (prefix.as_bytes().to_vec(), MatchSign::Key { of: *of, least: *least, alone: *alone })
        }));
        needles.extend(names::PEM.iter().map(|it| (it.as_bytes().to_vec(), MatchSign::Pem)));
        needles.extend(view::HIDDEN.iter().map(|it| (it.as_bytes().to_vec(), MatchSign::Hidden)));
        // Every command builds this once, so it is the kind that is built fastest of those that search
        // at full speed.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(needles.iter().map(|it| &it.0))
            .expect("the forms of a person's secrets fit into four gigabytes");
        let (mut sorted, signs): (Vec<Vec<u8>>, Vec<MatchSign>) = needles.into_iter().unzip();
        sorted.sort();
        let longest = sorted.iter().map(Vec::len).max().unwrap_or(0);
        Secrets { automaton, signs, sorted, longest }
    }

    /// Returns the first thing to be found from there on, and of several the longest.
    fn find(&self, bytes: &[u8], from: usize) -> Option<SecretMatch> {
        let found = self.automaton.find(Input::new(bytes).range(from.min(bytes.len())..))?;
        Some(SecretMatch {
            start: found.start(),
            end: found.end(),
            sign: self.signs[found.pattern().as_usize()],
        })
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
        !view::has_controls(bytes) && !self.automaton.is_match(bytes)
    }

    /// Returns where the end of this piece may be the beginning of something to be found.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let first = (bytes.len() + 1).saturating_sub(self.longest).min(bytes.len());
        let line = bytes[first..].iter().rposition(|it| *it == b'\n').map_or(first, |it| first + it + 1);
        let begins = |from: &usize| {
            let end = &bytes[*from..];
            let next = self.sorted.partition_point(|it| it.as_slice() < end);
            self.sorted.get(next).is_some_and(|it| it.starts_with(end))
        };
        (line..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
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

/// Learns the secrets that a command for a shell sets or names: `TOKEN=…`, `--password …`, and
/// passwords in addresses.
pub fn learn_command(command: &str) {
    let words: Vec<&str> = command.split_ascii_whitespace().map(unquoted).collect();
    let set = words.iter().filter_map(|it| it.split_once('='));
    let flags = words.windows(2).filter(|it| it[0].starts_with("--")).map(|it| (it[0], it[1]));
    let places = words.iter().map(|it| ("", *it));
    learn(set.chain(flags).chain(places).map(|(name, value)| {
        let name = name.trim_start_matches('-').replace('-', "_");
        // What the shell puts in is no secret itself; its value is in the environment.
        let value = if value.starts_with('$') { "" } else { unquoted(value) };
        (name, value.as_bytes().to_vec())
    }));
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\'', ';'])
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

/// Whether a text stays as it is when it is printed: it has no secret in it, and no mark where one stood.
pub fn is_printable_whole(text: &str) -> bool {
    !has_mark(text) && redact(text) == text
}

/// Whether a mark stands in a text in the place of a secret: as a command it is not the one that it was.
pub fn has_mark(text: &str) -> bool {
    text.contains(MARK)
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
