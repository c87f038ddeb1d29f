//! Variables of a makefile, as far as they say which files a rule is about: `OBJS = verify.o price.o`, `SRCS =
//! $(wildcard *.c)`, `$(SRCS:.c=.o)`. Functions stay as they are written, with the words that they are about.

use std::collections::BTreeMap;

/// A variable of a variable of a variable, and so on; a variable may also name itself.
const DEPTH_LIMIT: usize = 6;

/// What a person writes into a line; variables that double each other end here.
const LENGTH_LIMIT: usize = 64 << 10;

#[derive(Default)]
pub(super) struct MakeVariables(BTreeMap<String, String>);

impl MakeVariables {
    pub(super) fn read(makefile: &str) -> MakeVariables {
        let mut variables = MakeVariables::default();
        for line in makefile.lines().filter(|it| !it.starts_with('\t')) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once('=') else { continue };
            let is_more = name.ends_with('+');
            let name = name.trim_end_matches([':', '?', '+', '!']).trim();
            let name =
                ["export ", "override "].iter().find_map(|it| name.strip_prefix(it)).unwrap_or(name).trim();
            if name.is_empty() || name.contains(|it: char| it.is_whitespace() || ":$(){}".contains(it)) {
                continue;
            }
            let known = variables.0.entry(name.to_owned()).or_default();
            // Which branch of a condition holds is not known here, so every value counts.
            if is_more || !known.is_empty() {
                known.push(' ');
            }
            known.push_str(value.trim());
        }
        variables
    }

    /// The text with the values of all variables that are known.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEPTH_LIMIT {
            let next = self.expand_once(&text);
            if next == text || next.len() > LENGTH_LIMIT {
                break;
            }
            text = next;
        }
        text
    }

    fn expand_once(&self, text: &str) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((inside, after)) = reference(rest) else {
                expanded.push('$');
                rest = &rest[1..];
                continue;
            };
            let (name, ends) = inside.split_once(':').map_or((inside, None), |(it, ends)| (it, Some(ends)));
            match self.0.get(name.trim()) {
                Some(value) => expanded.push_str(&with_ends(value, ends)),
                None => expanded.push_str(&rest[..rest.len() - after.len()]),
            }
            rest = after;
        }
        expanded.push_str(rest);
        expanded
    }
}

/// What stands in the innermost `$(…)` or `${…}` that begins here, and what follows it.
fn reference(text: &str) -> Option<(&str, &str)> {
    let close = match text.as_bytes().get(1)? {
        b'(' => ')',
        b'{' => '}',
        _ => return None,
    };
    let end = text.find(close)?;
    let inside = &text[2..end];
    (!inside.contains('$')).then_some((inside, &text[end + 1..]))
}

/// `$(SRCS:.c=.o)`.
fn with_ends(value: &str, ends: Option<&str>) -> String {
    let Some((from, to)) = ends.and_then(|it| it.split_once('=')) else { return value.to_owned() };
    let (from, to) = (from.trim_start_matches('%'), to.trim_start_matches('%'));
    let replaced = value.split_whitespace().map(|it| match it.strip_suffix(from) {
        Some(stem) => format!("{stem}{to}"),
        None => it.to_owned(),
    });
    replaced.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_for_their_names() {
        let makefile = "A = one.c\nA += two.c\nB := $(A:.c=.o)\nexport C ?= ${B} $(wildcard *.c)\nD = $(D) $(D)\nt: x = 1\n";
        let variables = MakeVariables::read(makefile);
        let expanded = |text: &str| variables.expand(text);
        assert_eq!(expanded("$(C) $@ $(CC)"), "one.o two.o $(wildcard *.c) $@ $(CC)");
        assert_eq!(expanded("$(addprefix build/,$(A))"), "$(addprefix build/,one.c two.c)");
        assert!(expanded("$(D)").len() < LENGTH_LIMIT);
    }
}
