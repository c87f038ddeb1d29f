//! What is wrong with a workflow, and where: the texts it was read from, places in them, and the plain
//! words that a person gets to see. Nothing here knows the language; it only points and prints. The
//! output has no colour and is the same on every machine, so that it can be compared and searched.

use crate::agent_table::AgentTable;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// The longest source line shown. Longer ones are cut around the place, because a prompt may stand on
/// one line and would fill the screen.
const SHOWN_COLUMNS: usize = 120;

/// Problems kept of one reading. Nobody repairs more than this before trying again.
const PROBLEMS_LIMIT: usize = 100;

/// Something that a person must repair before the workflow can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The path as shown, or what else it was read from, such as `command line`.
    pub file: String,
    /// `None`: not at any one place of a text.
    pub spot: Option<Spot>,
    pub says: String,
    /// What would be right.
    pub next: Option<String>,
}

/// A place in a text, as people count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spot {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The source line, without its end and without control characters.
    pub text: String,
    /// Where the mark begins in `text`, in characters from 0.
    pub mark: usize,
    /// How many characters are marked.
    pub width: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spot {
            None => write!(f, "{}: {}", self.file, self.says)?,
            Some(spot) => {
                let margin = spot.line.to_string();
                let blank = " ".repeat(margin.len());
                writeln!(f, "{}:{}:{}: {}", self.file, spot.line, spot.column, self.says)?;
                writeln!(f, "{blank} |")?;
                writeln!(f, "{margin} | {}", spot.text)?;
                write!(f, "{blank} | {}{}", " ".repeat(spot.mark), "^".repeat(spot.width.max(1)))?;
            }
        }
        match &self.next {
            None => Ok(()),
            Some(next) => write!(f, "\n  help: {next}"),
        }
    }
}

/// A part of one of the texts that a workflow is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The position in [`Sources`].
    pub source: usize,
    pub span: Range<usize>,
}

/// The texts in the order they were read, and the problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Whom the name of an agent can mean.
    pub agents: AgentTable,
    texts: Vec<(String, String)>,
    found: Vec<(Option<Place>, Problem)>,
    /// Keys that are there and could not be read, with the table that they stand in.
    unread: Vec<(Place, String)>,
    belongs: Option<Belongs>,
}

/// Says where a key belongs that stands in a section of this title.
type Belongs = fn(&str, &str) -> Option<String>;

impl Sources {
    pub(crate) fn knowing(agents: AgentTable) -> Sources {
        Sources { agents, ..Sources::default() }
    }

    /// Adds a text; one without any content is never quoted.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        self.texts.push((name.to_owned(), text.to_owned()));
        self.texts.len() - 1
    }

    pub(crate) fn refuse(&mut self, place: &Place, says: impl Into<String>) {
        self.report(Some(place), says.into(), None);
    }

    pub(crate) fn refuse_with(&mut self, place: &Place, says: impl Into<String>, next: impl Into<String>) {
        self.report(Some(place), says.into(), Some(next.into()));
    }

    pub(crate) fn report(&mut self, place: Option<&Place>, says: String, next: Option<String>) {
        let (file, spot) = match place {
            None => ("workflow".to_owned(), None),
            Some(place) => {
                let (name, text) = &self.texts[place.source];
                (name.clone(), (!text.is_empty()).then(|| spot(text, &place.span)))
            }
        };
        let problem = Problem { file, spot, says: printable(&says), next: next.map(|it| printable(&it)) };
        if self.found.len() < PROBLEMS_LIMIT && !self.found.iter().any(|(_, it)| *it == problem) {
            self.found.push((place.cloned(), problem));
        }
    }

    /// Takes over who knows the sections of the file that is read.
    pub(crate) fn suggest_by(&mut self, belongs: Belongs) {
        self.belongs = Some(belongs);
    }

    /// Returns where a key belongs that stands in the wrong section.
    pub(crate) fn belongs(&self, key: &str, title: &str) -> Option<String> {
        self.belongs.and_then(|it| it(key, title))
    }

    /// Remembers a key whose value was refused.
    pub(crate) fn leave_out(&mut self, table: &Place, key: &str) {
        self.unread.push((table.clone(), key.to_owned()));
    }

    /// Keys that were refused in `table` count as present in `other` too.
    pub(crate) fn stands_for(&mut self, table: &Place, other: &Place) {
        let keys: Vec<String> =
            self.unread.iter().filter(|it| it.0 == *table).map(|it| it.1.clone()).collect();
        self.unread.extend(keys.into_iter().map(|it| (other.clone(), it)));
    }

    /// Reports that a table lacks a key, unless it has the key and its value was refused before.
    pub(crate) fn lacks(&mut self, table: &Place, keys: &[&str], says: impl Into<String>, next: &str) {
        if !self.unread.iter().any(|(place, key)| place == table && keys.contains(&key.as_str())) {
            self.report(Some(table), says.into(), Some(next.to_owned()));
        }
    }

    /// Returns the place of a part of a text value, such as a name in a condition. A value that is
    /// written with escapes has no such place and is marked as a whole.
    pub(crate) fn inside(&self, place: &Place, value: &str, part: &Range<usize>) -> Place {
        let written = self.texts[place.source].1.get(place.span.clone()).unwrap_or_default();
        match written.find(value) {
            None => place.clone(),
            Some(offset) => {
                let start = place.span.start + offset;
                Place { source: place.source, span: start + part.start..start + part.end }
            }
        }
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.found.is_empty()
    }

    /// Returns what was found, in the order of the texts.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|(place, _)| {
            place.as_ref().map_or((usize::MAX, 0), |it| (it.source, it.span.start))
        });
        self.found.into_iter().map(|(_, problem)| problem).collect()
    }
}

/// Returns the one of `known` that was probably meant, in any case of letters.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may differ: `gren` is `green`, `lint` is not `tests`, and of one or two
    // letters each matters.
    within(word.chars().count() / 3, word, known)
}

/// Returns the nearest one where no name is shorter than three letters: of two that were typed one may be missing.
pub fn nearest_of_few_letters<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within((word.chars().count() / 3).max(1), word, known)
}

fn within<'a>(allowed: usize, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let distance = |it: &str| strsim::damerau_levenshtein(&folded, &it.to_lowercase());
    known
        .into_iter()
        .map(|it| (distance(it), it))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// Returns `did you mean …?` where something is near, else the list of what there is.
pub(crate) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => Some(format!("did you mean \"{near}\"?")),
        None if known.is_empty() => None,
        None => Some(format!("write one of: {}", known.join(", "))),
    }
}

fn spot(source: &str, span: &Range<usize>) -> Spot {
    let start = floor(source, span.start);
    let end = floor(source, span.end).max(start);
    let line_start = source[..start].rfind('\n').map_or(0, |it| it + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |it| start + it);
    let line = printable(source[line_start..line_end].trim_end_matches('\r'));
    let before = source[line_start..start].chars().count();
    let marked = source[start..end.min(line_end)].trim_end().chars().count();
    let length = line.chars().count();
    let (cut, text) = if length <= SHOWN_COLUMNS {
        (0, line)
    } else {
        let cut = before.saturating_sub(SHOWN_COLUMNS / 2).min(length - SHOWN_COLUMNS);
        (cut, line.chars().skip(cut).take(SHOWN_COLUMNS).collect())
    };
    let mark = before - cut;
    let width = marked.min(text.chars().count().saturating_sub(mark)).max(1);
    Spot { line: source[..start].matches('\n').count() + 1, column: before + 1, text, mark, width }
}

/// Returns the nearest place at or before `at` that begins a character.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A workflow may come with a repository that somebody else wrote, and a terminal obeys control
/// characters; each becomes a space, so that columns stay where they are.
fn printable(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}
