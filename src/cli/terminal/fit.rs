//! Lines that fit. A line is made of parts that give way when there is little room: the least
//! important ones say it in fewer words first, then they go, and what is left is cut. Widths are
//! those of a terminal, where a letter may take two cells.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a part is set apart. It never says anything by itself: without colour nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    long: String,
    short: String,
    ink: Ink,
    /// 0 stays to the end.
    rank: u8,
}

/// What is painted: texts in a row, each in its ink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaintedLine(Vec<(String, Ink)>);

impl Part {
    pub(crate) fn new(rank: u8, ink: Ink, long: impl Into<String>) -> Part {
        let long = long.into();
        Part { short: long.clone(), long, ink, rank }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.long.is_empty()
    }

    /// The same in fewer words.
    pub(crate) fn or(self, short: impl Into<String>) -> Part {
        Part { short: short.into(), ..self }
    }
}

impl PaintedLine {
    pub(crate) fn push(&mut self, ink: Ink, text: impl Into<String>) {
        self.0.push((text.into(), ink));
    }

    pub(crate) fn extend(&mut self, other: PaintedLine) {
        self.0.extend(other.0);
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| text.width()).sum()
    }

    /// Returns the line, no wider than this.
    pub(crate) fn cut(self, width: usize) -> PaintedLine {
        if self.width() <= width {
            return self;
        }
        let mut left = width.saturating_sub(1);
        let mut line = PaintedLine::default();
        for (text, ink) in self.0 {
            let kept = head(&text, left);
            left -= kept.width();
            let is_whole = kept.len() == text.len();
            line.push(ink, kept);
            if !is_whole {
                line.push(ink, if width == 0 { "" } else { "…" });
                break;
            }
        }
        line
    }

    /// Returns the line as a terminal takes it.
    pub(crate) fn painted(&self, in_colour: bool) -> String {
        let mut out = String::new();
        for (text, ink) in self.0.iter().filter(|it| !it.0.is_empty()) {
            let code = match ink {
                Ink::Plain => "",
                Ink::Bold => "\u{1b}[1m",
                Ink::Dim => "\u{1b}[2m",
                Ink::Good => "\u{1b}[32m",
                Ink::Bad => "\u{1b}[31m",
            };
            if in_colour && !code.is_empty() {
                out.extend([code, text, "\u{1b}[0m"]);
            } else {
                out.push_str(text);
            }
        }
        out
    }
}

/// Joins the parts with dots between them so that they fit into this many cells.
pub(crate) fn fit(parts: &[Part], width: usize) -> PaintedLine {
    const GAP: &str = " · ";
    let mut kept: Vec<(Part, bool)> = parts.iter().map(|it| (it.clone(), false)).collect();
    let cells = |kept: &[(Part, bool)]| -> usize {
        let text = |(part, short): &(Part, bool)| if *short { part.short.width() } else { part.long.width() };
        kept.iter().map(text).sum::<usize>() + GAP.width() * kept.len().saturating_sub(1)
    };
    let mut ranks: Vec<u8> = parts.iter().map(|it| it.rank).collect();
    ranks.sort_unstable_by(|a, b| b.cmp(a));
    ranks.dedup();
    for rank in &ranks {
        if width < cells(&kept) {
            kept.iter_mut().filter(|it| it.0.rank == *rank).for_each(|it| it.1 = true);
        }
    }
    for rank in ranks.iter().filter(|it| **it != 0) {
        if width < cells(&kept) {
            kept.retain(|it| it.0.rank != *rank);
        }
    }
    let mut line = PaintedLine::default();
    for (at, (part, short)) in kept.into_iter().enumerate() {
        if at != 0 {
            line.push(Ink::Dim, GAP);
        }
        line.push(part.ink, if short { part.short } else { part.long });
    }
    line.cut(width)
}

/// Returns the beginning of a text that takes at most this many cells.
pub(crate) fn head(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if cells < used {
            return &text[..at];
        }
    }
    text
}

/// Returns the end of a text that takes at most this many cells.
pub(crate) fn end(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if cells < used {
            return &text[at + character.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Ink, PaintedLine, Part, end, fit, head};

    fn plain(line: &PaintedLine) -> String {
        line.painted(false)
    }

    #[test]
    fn parts_give_way_by_their_rank() {
        let parts = [
            Part::new(0, Ink::Bold, "GREEN"),
            Part::new(1, Ink::Plain, "iteration 3").or("3"),
            Part::new(2, Ink::Plain, "41 passed, 2 failed").or("41/43"),
        ];
        let texts: Vec<String> = [60, 30, 20, 8, 4].iter().map(|it| plain(&fit(&parts, *it))).collect();
        assert_eq!(
            texts,
            [
                "GREEN · iteration 3 · 41 passed, 2 failed",
                "GREEN · iteration 3 · 41/43",
                "GREEN · 3 · 41/43",
                "GREEN",
                "GRE…"
            ]
        );
    }

    #[test]
    fn wide_letters_take_two_cells() {
        assert_eq!((head("漢字ab", 3), end("ab漢字", 3)), ("漢", "字"));
        let mut line = PaintedLine::default();
        line.push(Ink::Plain, "漢字漢字");
        assert_eq!(
            (line.width(), plain(&line.clone().cut(6)), plain(&line.cut(8))),
            (8, "漢字…".into(), "漢字漢字".into())
        );
    }

    #[test]
    fn without_colour_there_are_no_codes() {
        let line = fit(&[Part::new(0, Ink::Good, "a"), Part::new(1, Ink::Dim, "b")], 20);
        assert_eq!(plain(&line), "a · b");
        assert_eq!(line.painted(true), "\u{1b}[32ma\u{1b}[0m\u{1b}[2m · \u{1b}[0m\u{1b}[2mb\u{1b}[0m");
    }
}
