//! What the stream formats have in common: lines of JSON of which only a few keys matter. Keys are
//! looked up wherever they stand and unknown ones are skipped without being built in memory. A line
//! that cannot be read is no event; nothing here fails.

use loop_base::text::sanitise;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// An activity fits on one line of a terminal beside a phase and a clock.
const SHORT_MOST: usize = 80;

/// A sentence of a provider; the longest that were recorded have 280 characters.
const EXCERPT_MOST: usize = 400;

/// Returns the line as text that may be parsed. Of a line that was cut, the members that are
/// complete make up an object of their own.
pub(super) fn readable(line: &[u8], cut: bool) -> Cow<'_, str> {
    // Nearly every line is text, and this check is many times faster than the repair.
    let text = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    };
    if cut { Cow::Owned(mend(&text)) } else { text }
}

/// Ends an object before the last comma between its own members.
fn mend(text: &str) -> String {
    let (mut depth, mut in_string, mut escaped, mut end) = (0_usize, false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => (),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => end = at,
            _ => (),
        }
    }
    let mut mended = String::with_capacity(end + 1);
    mended.push_str(&text[..end]);
    mended.push('}');
    mended
}

/// The first elements of a list, and how many there are: what is kept does not grow with the list.
#[derive(Debug)]
pub(super) struct Few<T> {
    pub first: Vec<T>,
    pub total: usize,
}

impl<T> Few<T> {
    /// A stream event has one block of content in practice; nobody reads more refusals than this.
    const MOST: usize = 32;
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { first: Vec::new(), total: 0 }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T>, D::Error> {
        struct List<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Few<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
                let mut few = Few::default();
                while few.first.len() < Few::<T>::MOST {
                    let Some(element) = list.next_element()? else { return Ok(few) };
                    few.first.push(element);
                    few.total += 1;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    few.total += 1;
                }
                Ok(few)
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}

/// A count as an agent writes it. What cannot be a count is none: it must not spoil the other counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        // A number that is not one of ours (a text, a list) is skipped whole by the raw value.
        let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?;
        let number = raw.get();
        Ok(Count(number.parse().ok().or_else(|| number.parse().ok().map(whole)).unwrap_or(0)))
    }
}

/// Returns a number as a count. A part of a token counts as one, so that many of them reach a cap.
pub(super) fn whole(number: f64) -> u64 {
    // A cast of what is too large stays at the largest number, and one of what is below 0 at 0.
    if number.is_finite() { number.ceil() as u64 } else { 0 }
}

/// Returns the line with `null` for the words that some languages write into JSON where a number is none.
pub(super) fn without_nan(text: Cow<'_, str>) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    if !text.contains("NaN") && !text.contains("Infinity") {
        return text;
    }
    let mut json = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut rest) = (false, false, text.as_ref());
    while let Some(character) = rest.chars().next() {
        let word = WORDS.iter().find(|it| !in_string && rest.starts_with(**it));
        let taken = word.map_or(character.len_utf8(), |it| it.len());
        json.push_str(if word.is_some() { "null" } else { &rest[..taken] });
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => (),
        }
        rest = &rest[taken..];
    }
    Cow::Owned(json)
}

/// Returns the text on one short line that is safe to show.
pub(super) fn short(text: &str) -> String {
    one_line(text, SHORT_MOST)
}

/// Returns a message of a program or provider on one line that is safe to show and to keep: a
/// provider that does not know a key may quote it.
pub(super) fn excerpt(text: &str) -> String {
    let line = one_line(text, EXCERPT_MOST);
    let is_key = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_' || it == '*';
    let mut parts = line.split("sk-");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A word that only ends in these letters, like "task-", is no key.
        let begins_word = !kept.ends_with(|it: char| it.is_ascii_alphanumeric());
        kept.push_str(if begins_word { "sk-…" } else { "sk-" });
        kept.push_str(if begins_word { part.trim_start_matches(is_key) } else { part });
    }
    kept
}

/// Returns as much of a text as [`short`] looks at.
pub(super) fn beginning(text: &str) -> &str {
    let text = text.trim_start();
    let mut end = text.len().min(SHORT_MOST * 4 * 4);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn one_line(text: &str, most: usize) -> String {
    // A character takes at most four bytes, and white space at the front is rare.
    let head: String = text.trim_start().chars().take(most * 4).collect();
    let clean = sanitise(&head);
    let mut words = clean.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let mut line: String = words.by_ref().take(most).collect();
    if words.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// What a tool is used on, whatever the tool.
#[derive(Deserialize)]
pub(super) struct Target<'a> {
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "filePath", alias = "absolute_path", alias = "notebook_path")]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pattern: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    query: Option<Cow<'a, str>>,
    #[serde(borrow)]
    skill: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
}

impl<'a> Target<'a> {
    pub(super) fn read(input: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
        let it: Target<'_> = value(input)?;
        let places = it.file_path.or(it.pattern).or(it.path);
        it.command.or(places).or(it.url).or(it.query).or(it.skill).or(it.description)
    }
}

/// Reads a value that may be absent or of another type than it was.
pub(super) fn value<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.and_then(|it| serde_json::from_str(it.get()).ok())
}
