//! A frame around lines, for a terminal: as wide as it has to be and never wider than the screen.
//! What does not fit is wrapped, so that nothing is lost; a letter that takes two cells counts as two.
//! It has no colour, and without a terminal the lines stand alone.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Beyond this a line is hard to read, and a frame does not make it easier.
const WIDEST: usize = 100;

/// Below this a frame takes more room than it is worth.
pub(super) const NARROWEST: usize = 24;

/// Draws a frame with a title around these lines, at most `columns` wide.
pub(crate) fn frame(title: &str, lines: &[String], columns: usize) -> String {
    let mut out = String::new();
    if columns < NARROWEST {
        for line in std::iter::once(title).chain(lines.iter().map(String::as_str)) {
            out.push_str(&format!("{line}\n"));
        }
        return out;
    }
    // A border and a space on either side.
    let room = columns.min(WIDEST) - 4;
    let rows: Vec<String> = lines.iter().flat_map(|it| wrapped(it, room)).collect();
    let title = wrapped(title, room);
    let width = rows.iter().chain(&title).map(|it| it.width()).max().unwrap_or(0);
    let rule = "═".repeat(width + 2);
    let row = |text: &str| format!("║ {text}{} ║\n", " ".repeat(width - text.width()));
    out.push_str(&format!("╔{rule}╗\n"));
    title.iter().for_each(|it| out.push_str(&row(it)));
    out.push_str(&format!("╠{rule}╣\n"));
    rows.iter().for_each(|it| out.push_str(&row(it)));
    out.push_str(&format!("╚{rule}╝\n"));
    out
}

/// Breaks a line at its spaces, or within a word that is too long for a row of its own. The rows that
/// follow are indented by two more cells than the line.
pub(super) fn wrapped(line: &str, room: usize) -> Vec<String> {
    let line = line.replace('\t', " ");
    if line.width() <= room {
        return vec![line];
    }
    let indent = line.len() - line.trim_start().len();
    let further = " ".repeat((indent + 2).min(room / 2));
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut last_space = None;
    'letters: for letter in line.chars() {
        // A word that moves to a row of its own may fill that row too.
        while room < row.width() + letter.width().unwrap_or(0) && !row.trim().is_empty() {
            // The word before it fills the row to its end.
            if letter == ' ' {
                rows.push(row.trim_end().to_owned());
                (row, last_space) = (further.clone(), None);
                continue 'letters;
            }
            let rest = match last_space.take() {
                Some(at) => row.split_off(at),
                None => String::new(),
            };
            rows.push(row.trim_end().to_owned());
            row = format!("{further}{}", rest.trim_start());
        }
        if letter == ' ' && !row.trim_start().is_empty() {
            last_space = Some(row.len());
        }
        row.push(letter);
    }
    if !row.trim().is_empty() {
        rows.push(row.trim_end().to_owned());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{frame, wrapped};
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_word_that_fills_its_row_leaves_no_space_behind() {
        assert_eq!(wrapped("ab cdefg hi jk", 7), ["ab", "  cdefg", "  hi jk"]);
        assert_eq!(wrapped("a bcdefghi", 7), ["a", "  bcdef", "  ghi"]);
    }

    fn lines() -> Vec<String> {
        let text = "  [GREEN] iteration 5 | 6/10 tests passing | status: running\n  input       docs/PRPs/挨拶-グリーティング.md\n    \
            RED       completed, 2 iterations\n    GREEN     in progress, 5 iterations\n    QA        pending\n    \
            ######.............. 32 %";
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn bp91_a_summary_fits_a_wide_and_a_narrow_screen() {
        insta::assert_snapshot!("frame_of_80", frame("run a1b2c3d4  tdd  running", &lines(), 80));
        insta::assert_snapshot!("frame_of_40", frame("run a1b2c3d4  tdd  running", &lines(), 40));
        assert_eq!(frame("a title", &["a line".to_owned()], 10), "a title\na line\n");
        let cut = frame("run a1b2c3d4  ralph  completed, unverified", &[], 40);
        assert!(cut.contains("completed,") && cut.contains("unverified"), "{cut}");
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_screen_and_no_word_is_lost(line in "[a-z語 ]{0,120}", columns in 24usize..120) {
            let drawn = frame("t", std::slice::from_ref(&line), columns);
            prop_assert!(drawn.lines().all(|it| it.width() <= columns), "{drawn}");
            let widths: std::collections::BTreeSet<usize> = drawn.lines().map(|it| it.width()).collect();
            prop_assert_eq!(widths.len(), 1, "{}", drawn);
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(plain(&wrapped(&line, columns).join(" ")), plain(&line));
        }
    }
}
